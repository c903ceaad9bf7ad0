package acceptance

// A random run of requests is sent to the program and to a model of the
// contract. Both must answer alike.
// The contract's lists in a few lines of plain Go, for TestModel.

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

var (
	modelSeed  = flag.Uint64("model.seed", 7, "seed of the random run of TestModel")
	modelSteps = flag.Int("model.steps", unlessRace(1500, 400), "requests of TestModel")
)

// did notes a change, and what the record was before.
func (d *model) did(action, id string, before *wireRecord) {
	text, _ := json.Marshal(before)
	d.done = append(d.done, wireChange{Action: action, ID: id, Before: []byte(withLater(string(text)))})
}

// modelRun is one random run over two departments.
type modelRun struct {
	*testing.T
	random      *rand.Rand
	db          string
	departments [2]*model
}

// TestModel has a small department and one that is large enough for the index.
func TestModel(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := &modelRun{T: t, random: rand.New(rand.NewPCG(*modelSeed, 0)), db: s.db}
	m.departments = [2]*model{{client: s.client}, {client: s.as(newKey(t, s.db, "other"))}}
	for range 250 {
		m.create(m.departments[0])
	}
	for step := range *modelSteps {
		if m.step(); t.Failed() {
			t.Fatalf("at step %d of -model.seed=%d -model.steps=%d", step, *modelSeed, *modelSteps)
		}
	}
	m.walkAll()
	s.stop(t)
	m.checkDatabase()
}

// walkAll reads every list to its end.
func (m *modelRun) walkAll() {
	for _, d := range m.departments {
		for _, order := range []string{"", "createdAt", "firstName", "lastName", "email", "phoneNumber", "dateOfBirth"} {
			m.walk(d, order, "asc")
			m.walk(d, order, "desc")
		}
	}
}

// checkDatabase looks at what the service has left.
func (m *modelRun) checkDatabase() {
	checkCounts(m.T, m.db)
	for i, d := range m.departments {
		var live int
		scanSQL(m.T, m.db, fmt.Sprintf(`SELECT live_count FROM tenants WHERE id = %d`, i+1), &live)
		if live != len(d.records) {
			m.Errorf("department %d has the live_count %d, not %d", i+1, live, len(d.records))
		}
	}
	m.history()
	if code, stdout, stderr := runCommand(m.T, "check", "--db", m.db); code != 0 {
		m.Errorf("check: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// history compares the history with what was done, and undoes it all. Then
// nothing is left.
func (m *modelRun) history() {
	m.Helper()
	for i, d := range m.departments {
		var name string
		scanSQL(m.T, m.db, fmt.Sprintf(`SELECT name FROM tenants WHERE id = %d`, i+1), &name)
		changes := historyOf(m.T, m.db, name)
		if len(changes) != len(d.done) {
			m.Fatalf("department %d: the history has %d changes, not %d", i+1, len(changes), len(d.done))
		}
		records := map[string]wireRecord{}
		for _, r := range d.records {
			records[r.ID] = r.wireRecord
		}
		for n := len(changes) - 1; n >= 0; n-- {
			change, done := changes[n], d.done[n]
			m.same([]any{change.Action, change.ID, *change.Key}, []any{done.Action, done.ID, int64(i + 1)}, "the history")
			var was, should *wireRecord
			decode(m.T, string(change.Before), &was)
			decode(m.T, string(done.Before), &should)
			m.same(was, should, "before")
			if _, is := records[change.ID]; is == (change.Action == "delete") {
				m.Errorf("%s of %s, which cannot be", change.Action, change.ID)
			}
			if delete(records, change.ID); was != nil {
				records[change.ID] = *was
			}
		}
		if len(records) > 0 {
			m.Errorf("department %d: the history does not have the creation of %v", i+1, records)
		}
	}
}

func (m *modelRun) step() {
	m.Helper()
	i := m.random.IntN(2)
	d, other := m.departments[i], m.departments[1-i]
	switch n := m.random.IntN(100); {
	case n < 22:
		m.create(d)
	case n < 29:
		m.replace(d)
	case n < 32:
		m.patch(d)
	case n < 46:
		m.delete(d)
	case n < 52:
		m.get(d)
	case n < 56:
		m.missing(d, other)
	case n < 57:
		m.platform(d)
	default:
		m.list(d, m.query())
	}
}

// The vocabulary is small, so that much is equal, or nearly.
var (
	firstNames = []string{"Ana", "ANA", "ána", "Čedo", "Cedo", "c\u030cedo", "Đuro", "duro", "Łukasz", "Straße", "STRASSE",
		"  Ana Marija ", "O'Neil", "%", "_a", `"q" \`, "*", "Ωμέγα", "ωμεγα", "Ｆｉｒｅ", "ﬁre", "\u0301", "İvo", "ıvo", "王"}
	lastNames = []string{"Čović", "Covic", "ČOVIĆ", "C\u030covic\u0301", "Babić", "babic", "Ivić", "Ćosić-Ivić", "de la Ñ", "Æsop",
		"Aesop", "A", "a", "Z", "Ž", "<b>&amp;", "100%", "\u00a0Horvat\t"}
	phones = []string{"091 234 5678", "(091)234-5678", "0912345678", "091-234", "+385 91 234 5678", "+385912345678", "Ext. A-7",
		"ext. a-7", "Čović 12", "112", "١٢٣", "０９１", "5", "none", " 112 ", ""}
	emails = []string{"ana@example.com", "Ana@Example.com", "ANA@EXAMPLE.COM", "čović@example.com", "covic@example.com",
		"a.b+112@x.hr", "o'neil@x.hr", "_@x.hr", "%@x.hr", "234@x.hr", " ana@example.com "}
	births = []string{"1990-05-15", "1990-05-15T00:00:00Z", "1990-05-15T02:00:00+02:00", "1990-05-14T23:00:00-01:00",
		"1990-05-15T00:00:00.000000001Z", "1990-05-15T00:00:00.5", "1990-05-15T00:00:00+02:00", "1900-01-01", "1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00Z", "2000-02-29T12:00:00+14:00", "2005-07-01t00:00:00z"}
	searches = []string{"ana", "ANA", "čov", "cov ana", "ana cov 091", "091 234", "(091)234", "091-234", "112", "1 2", "234@", "@", ".com",
		"%", "_", `"`, `\`, "*", "'", "a", "A-7", "a-7", "7", "ext.", "Ext.", "ß", "ss", "ſs", "ﬁ", "fi", "ae", "ñ", "\u0301", "ω", "Σ",
		"+385", "-", "ana\u00a0marija", "ana\u3000ČOVIĆ", "９１", "١", "12.", "zzz", "i", "İ", "ı", "b& <", "amp;", "王", "none 5"}
)

func (m *modelRun) pick(from []string) string { return from[m.random.IntN(len(from))] }

// maybe returns no value every third time, and the empty text some of these times.
func (m *modelRun) maybe(from []string) any {
	switch m.random.IntN(9) {
	case 0, 1:
		return nil
	case 2:
		return "  "
	}
	return m.pick(from)
}

// fields returns a body and the record that should come of it.
func (m *modelRun) fields() (body string, want wireRecord) {
	m.Helper()
	values := map[string]any{"firstName": m.pick(firstNames), "lastName": m.pick(lastNames), "phoneNumber": m.maybe(phones),
		"email": m.maybe(emails), "dateOfBirth": m.maybe(births), "id": nobody, "userId": "me"}
	want.FirstName = strings.TrimSpace(values["firstName"].(string))
	want.LastName = strings.TrimSpace(values["lastName"].(string))
	want.PhoneNumber = optional(values["phoneNumber"])
	want.Email = optional(values["email"])
	if want.DateOfBirth = optional(values["dateOfBirth"]); want.DateOfBirth != nil {
		*want.DateOfBirth = birthForm(*want.DateOfBirth)
	}
	for name, value := range values {
		if value == nil && m.random.IntN(2) == 0 {
			delete(values, name) // which is as good as null
		}
	}
	text, err := json.Marshal(values)
	must(m.T, err)
	return string(text), want
}

func optional(value any) *string {
	text, _ := value.(string)
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return &text
}

// birthForm is the form in which the births above come back.
func birthForm(born string) string {
	born = strings.ToUpper(born)
	if !strings.Contains(born, "T") {
		born += "T00:00:00"
	}
	if !strings.ContainsAny(born[10:], "Z+-") {
		born += "Z"
	}
	return born
}

func (m *modelRun) create(d *model) {
	m.Helper()
	body, want := m.fields()
	a := d.do(m.T, "POST", collection, body).wants(m.T, http.StatusCreated)
	var got wireRecord
	decode(m.T, a.body, &got)
	want.ID = got.ID
	m.same(got, want, body)
	d.created++
	d.records = append(d.records, &modelRecord{want, d.created})
	d.did("create", want.ID, nil)
}

func (m *modelRun) same(got, want any, about string) {
	m.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		m.Errorf("%s\ngot  %s\nwant %s", about, g, w)
	}
}

// any returns one of the department's records, nil if there is none.
func (m *modelRun) any(d *model) *modelRecord {
	if len(d.records) == 0 {
		return nil
	}
	return d.records[m.random.IntN(len(d.records))]
}

func (m *modelRun) replace(d *model) {
	m.Helper()
	r := m.any(d)
	if r == nil {
		return
	}
	body, want := m.fields()
	want.ID, want.InvitationStatus, want.UserID = r.ID, r.InvitationStatus, r.UserID
	var got wireRecord
	decode(m.T, d.do(m.T, "PUT", collection+"/"+r.ID, body).wants(m.T, http.StatusOK).body, &got)
	m.same(got, want, "PUT "+body)
	d.did("replace", r.ID, &r.wireRecord)
	r.wireRecord = want
}

// patch sends some members of a record.
func (m *modelRun) patch(d *model) {
	m.Helper()
	r := m.any(d)
	if r == nil {
		return
	}
	body, with := m.fields()
	var members map[string]any
	decode(m.T, body, &members)
	want := r.wireRecord
	for _, name := range slices.Sorted(maps.Keys(members)) { // so that a seed says it all
		if m.random.IntN(2) == 0 {
			delete(members, name)
		}
	}
	for name, set := range map[string]func(){
		"firstName": func() { want.FirstName = with.FirstName }, "lastName": func() { want.LastName = with.LastName },
		"phoneNumber": func() { want.PhoneNumber = with.PhoneNumber }, "email": func() { want.Email = with.Email },
		"dateOfBirth": func() { want.DateOfBirth = with.DateOfBirth },
	} {
		if _, given := members[name]; given {
			set()
		}
	}
	text, err := json.Marshal(members)
	must(m.T, err)
	var got wireRecord
	decode(m.T, d.do(m.T, "PATCH", collection+"/"+r.ID, string(text)).wants(m.T, http.StatusOK).body, &got)
	m.same(got, want, "PATCH "+string(text))
	d.did("replace", r.ID, &r.wireRecord)
	r.wireRecord = want
}

func (m *modelRun) delete(d *model) {
	m.Helper()
	r := m.any(d)
	if r == nil {
		return
	}
	d.do(m.T, "DELETE", collection+"/"+r.ID, "").wants(m.T, http.StatusNoContent)
	d.records = slices.DeleteFunc(d.records, func(other *modelRecord) bool { return other == r })
	d.deleted = append(d.deleted, r.ID)
	d.did("delete", r.ID, &r.wireRecord)
}

func (m *modelRun) get(d *model) {
	m.Helper()
	if r := m.any(d); r != nil {
		var got wireRecord
		decode(m.T, d.do(m.T, "GET", collection+"/"+r.ID, "").wants(m.T, http.StatusOK).body, &got)
		m.same(got, r.wireRecord, "GET")
	}
}

// missing asks for a deleted record, another department's or nobody's.
func (m *modelRun) missing(d, other *model) {
	m.Helper()
	ids := append([]string{nobody}, d.deleted...)
	for _, r := range other.records {
		ids = append(ids, r.ID)
	}
	body, _ := m.fields()
	d.do(m.T, m.pick([]string{"GET", "PUT", "PATCH", "DELETE"}), collection+"/"+m.pick(ids), body).wants(m.T, http.StatusNotFound)
}

// platform writes the columns that the API only shows.
func (m *modelRun) platform(d *model) {
	m.Helper()
	if r := m.any(d); r != nil {
		status, user := m.pick(lastNames), fmt.Sprintf("%08x-0000-4000-8000-000000000000", m.random.Uint32())
		execSQL(m.T, m.db, `UPDATE firefighters SET invitation_status = ?, user_id = ? WHERE id = ?`, status, user, r.ID)
		r.InvitationStatus, r.UserID = &status, &user
	}
}

func (m *modelRun) query() modelQuery {
	q := modelQuery{
		sortBy:  m.pick([]string{"", "createdAt", "firstName", "lastName", "email", "phoneNumber", "dateOfBirth"}),
		sortDir: m.pick([]string{"", "asc", "desc", "ASC"}),
	}
	switch m.random.IntN(8) {
	case 0, 1, 2, 3:
		q.search = m.pick(searches)
	case 4:
		q.search = m.pick(searches) + " " + m.pick(searches)
	case 5: // a piece of something that is there, or could be
		text := []rune(m.pick(slices.Concat(firstNames, lastNames, phones, emails)))
		from := m.random.IntN(len(text) + 1)
		q.search = string(text[from : from+m.random.IntN(len(text)-from+1)])
	}
	if m.random.IntN(2) == 0 {
		q.page = 1 + m.random.Int64N(4)
	}
	if m.random.IntN(2) == 0 {
		q.pageSize = []int64{1, 2, 3, 7, 50, 100, 1000}[m.random.IntN(7)]
	}
	return q
}

func (m *modelRun) list(d *model, q modelQuery) {
	m.Helper()
	m.same(d.client.list(m.T, q.String()), d.answer(q), q.String())
}

// walk reads a whole list page by page.
func (m *modelRun) walk(d *model, sortBy, sortDir string) {
	m.Helper()
	for page := range int64(len(d.records)/9 + 2) {
		m.list(d, modelQuery{sortBy: sortBy, sortDir: sortDir, page: page + 1, pageSize: 9})
	}
}

// modelRecord is a record and its place in the order of creation.
type modelRecord struct {
	wireRecord
	order int
}

// model is what a department should have.
type model struct {
	client
	records []*modelRecord
	deleted []string // ids
	created int
	done    []wireChange // what the history should have: action, id and before
}

// modelQuery is a list's query.
type modelQuery struct {
	search, sortBy, sortDir string
	page, pageSize          int64 // 0 is absent
}

func (q modelQuery) String() string {
	values := url.Values{"search": {q.search}, "sortBy": {q.sortBy}, "sortDir": {q.sortDir}}
	if q.page > 0 {
		values.Set("page", fmt.Sprint(q.page))
	}
	if q.pageSize > 0 {
		values.Set("pageSize", fmt.Sprint(q.pageSize))
	}
	return values.Encode()
}

// answer returns the page that the contract asks for.
func (d *model) answer(q modelQuery) (l wireList) {
	var found []*modelRecord
	for _, r := range d.records {
		if r.matches(q.search) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, q.compare)
	page, size, total := cmp.Or(q.page, 1), min(cmp.Or(q.pageSize, 20), 100), int64(len(found))
	l.Data.Items = []wireRecord{}
	for i := (page - 1) * size; i < min(page*size, total); i++ {
		l.Data.Items = append(l.Data.Items, found[i].wireRecord)
	}
	l.TotalCount, l.Data.TotalCount = total, total
	l.Data.Page, l.Data.PageSize, l.Data.TotalPages = page, size, (total+size-1)/size
	l.Data.HasPreviousPage, l.Data.HasNextPage = page > 1, page < l.Data.TotalPages
	return l
}

// compare is the order of section 2 of the contract.
func (q modelQuery) compare(a, b *modelRecord) int {
	by := 0
	switch q.sortBy {
	case "firstName":
		by = cmp.Or(compareText(&a.FirstName, &b.FirstName), compareText(&a.LastName, &b.LastName))
	case "lastName":
		by = cmp.Or(compareText(&a.LastName, &b.LastName), compareText(&a.FirstName, &b.FirstName))
	case "email":
		if n := compareNull(a.Email, b.Email); n != 0 {
			return n
		}
		by = compareText(a.Email, b.Email)
	case "phoneNumber":
		if n := compareNull(a.PhoneNumber, b.PhoneNumber); n != 0 {
			return n
		}
		by = compareText(a.PhoneNumber, b.PhoneNumber)
	case "dateOfBirth":
		if n := compareNull(a.DateOfBirth, b.DateOfBirth); n != 0 {
			return n
		}
		by = instant(a.DateOfBirth).Compare(instant(b.DateOfBirth))
	}
	by = cmp.Or(by, cmp.Compare(a.order, b.order))
	if strings.EqualFold(q.sortDir, "asc") {
		return by
	}
	return -by
}

// compareNull puts what has no value last, in both directions.
func compareNull(a, b *string) int {
	switch {
	case a == nil && b != nil:
		return 1
	case a != nil && b == nil:
		return -1
	}
	return 0
}

func compareText(a, b *string) int {
	if a == nil || b == nil {
		return 0
	}
	return slices.Compare(foldedRunes(*a), foldedRunes(*b))
}

// foldedTexts are the few texts of the model, folded once.
var foldedTexts sync.Map // of []rune by text

func foldedRunes(s string) []rune {
	folded, known := foldedTexts.Load(s)
	if !known {
		folded, _ = foldedTexts.LoadOrStore(s, []rune(fold.String(s)))
	}
	return folded.([]rune)
}

func instant(born *string) time.Time {
	if born == nil {
		return time.Time{}
	}
	at, _ := time.Parse(time.RFC3339Nano, *born)
	return at
}

// matches reports whether every term of a search is found in the record, or all of them
// together are its phone number.
func (r *modelRecord) matches(search string) bool {
	terms := strings.Fields(search)
	missing := slices.ContainsFunc(terms, func(term string) bool {
		isNumber := onlyDigits(term) != "" && !strings.ContainsFunc(term, unicode.IsLetter)
		return !r.hasText(term) && !(isNumber && r.hasNumber(term))
	})
	whole := onlyDigits(search) != "" && strings.Trim(strings.Join(terms, ""), "0123456789+-/.()") == ""
	return !missing || whole && r.hasNumber(search)
}

// hasText reports whether a term is in a text of the record, as both are written, or with
// ae, oe and ue for the umlauts.
func (r *modelRecord) hasText(term string) bool {
	with := strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "ae", "Ö", "oe", "Ü", "ue").Replace
	expanded := fold.String(with(norm.NFC.String(term)))
	return slices.ContainsFunc([]string{r.FirstName, r.LastName, text(r.Email), text(r.PhoneNumber)}, func(text string) bool {
		return strings.Contains(fold.String(text), fold.String(term)) ||
			umlaut.MatchString(expanded) && strings.Contains(fold.String(with(norm.NFC.String(text))), expanded)
	})
}

// hasNumber reports whether the digits of a term are in the phone number, or whether both
// are the same number, or the term is the beginning of it.
func (r *modelRecord) hasNumber(term string) bool {
	phone := text(r.PhoneNumber)
	if strings.Contains(onlyDigits(phone), onlyDigits(term)) {
		return true
	}
	plain := func(s string) string { return laterPlus.ReplaceAllString(noDigit.ReplaceAllString(s, ""), "$1") }
	typed, stored := forms.FindStringSubmatch(plain(term)), forms.FindStringSubmatch(plain(phone))
	if typed == nil || stored == nil || !strings.ContainsAny(plain(term)[:1], "0+") {
		return false
	}
	return (typed[1] == stored[1] || typed[1] == "" || stored[1] == "") && strings.HasPrefix(stored[2]+stored[3], typed[2]+typed[3])
}

var (
	umlaut    = regexp.MustCompile("[aou]e")
	noDigit   = regexp.MustCompile(`[^0-9+]`)
	laterPlus = regexp.MustCompile(`(\d)\++`)
	forms     = regexp.MustCompile(`^(?:\+|00)(385)0?(\d{7,})|^0?(\d{7,})`) // country, and what stands behind it
)

// text returns a text of a record, nothing for null.
func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

func onlyDigits(s string) string {
	var digits []byte
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits = append(digits, s[i])
		}
	}
	return string(digits)
}
