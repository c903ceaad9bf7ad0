package store_test

// This test calls a store at random and compares its answers with a simple model.

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

var (
	modelSeed  = flag.Uint64("model.seed", 7, "seed of the random run of TestModel")
	modelSteps = flag.Int("model.steps", 600, "calls of TestModel")
)

// model is the expected state of a department.
type model struct {
	tenant  record.TenantID
	records []*modelRecord
	deleted []*modelRecord
	created int
	version int64
	done    []store.Entry // action, id and earlier record
}

// modelRecord is a record and its number in the order of creation.
type modelRecord struct {
	record.Firefighter
	order int
}

// addChange adds a change to a record. before is the earlier record, or nil if the history does not
// contain it.
func (d *model) addChange(action, id string, before *modelRecord) {
	ch := store.Entry{Action: action, ID: id}
	if before != nil {
		ch.Before = before.AppendJSON(nil)
	}
	d.done = append(d.done, ch)
	d.version++
}

// modelRun is a random run over two departments.
type modelRun struct {
	*testing.T
	random      *rand.Rand
	store       *store.Store
	departments [2]*model
}

// TestModel uses small departments and one that is large enough for the index.
func TestModel(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"small": 0, "large": 220} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { runModel(t, size) })
		})
	}
}

func runModel(t *testing.T, size int) {
	m := &modelRun{T: t, random: rand.New(rand.NewPCG(*modelSeed, uint64(size))), store: newStore(t)}
	m.departments = [2]*model{{tenant: ours}, {tenant: theirs}}
	for range size {
		m.create(m.departments[0])
	}
	t.Logf("-model.seed=%d -model.steps=%d", *modelSeed, *modelSteps)
	for step := range *modelSteps {
		if m.step(); m.Failed() {
			m.Fatalf("at step %d of seed %d", step, *modelSeed)
		}
	}
	time.Sleep(rest)
	for _, d := range m.departments {
		m.walk(d)
		m.history(d)
	}
	if size > 0 && !byIndex(t, m.store) {
		m.Error("the index does not answer")
	}
	checkCounts(t, m.store)
}

func (m *modelRun) step() {
	m.Helper()
	i := m.random.IntN(2)
	d, other := m.departments[i], m.departments[1-i]
	switch n := m.random.IntN(100); {
	case n < 18:
		m.create(d)
	case n < 26:
		m.replace(d)
	case n < 38:
		m.delete(d)
	case n < 42:
		m.undelete(d)
	case n < 43:
		m.purge(d)
	case n < 48:
		m.get(d)
	case n < 52:
		m.missing(d, other)
	case n < 53:
		m.platform(d)
	default:
		m.list(d, m.query())
		if n > 90 { // the index is up to date for some lists
			time.Sleep(rest)
		}
	}
}

// The vocabulary is small, so many values are equal or similar.
var (
	firstNames = []string{"Ana", "ANA", "ána", "Čedo", "Cedo", "c\u030cedo", "Đuro", "duro", "Łukasz", "Straße", "STRASSE",
		"  Ana Marija ", "O'Neil", "%", "_a", `"q" \`, "*", "Ωμέγα", "ωμεγα", "Ｆｉｒｅ", "ﬁre", "\u0301", "İvo", "ıvo", "王", "Jürgen", "JUERGEN", "Ju\u0308rg",
		strings.Repeat("\U00020bb7", 100), strings.Repeat("\U00020bb7", 99) + "🚒"}
	lastNames = []string{"Čović", "Covic", "ČOVIĆ", "C\u030covic\u0301", "Babić", "babic", "Ivić", "Ćosić-Ivić", "de la Ñ", "Æsop",
		"Aesop", "A", "a", "Z", "Ž", "<b>&amp;", "100%", "\u00a0Horvat\t", "Müller", "Mueller", "Muller", "Größe-Ćosić", "Groesse",
		strings.Repeat("\U00020bb7", 100), strings.Repeat("\U00020bb7", 99) + "🚒"}
	phones = []string{"", "", "", "091 234 5678", "(091)234-5678", "0912345678", "091-234", "+385 91 234 5678", "+385912345678", "Ext. A-7",
		"ext. a-7", "Čović 12", "112", "١٢٣", "０９１", "5", "none", " 112 ", " ",
		"091 BÜRO", "00385 91 234 5678", "+385 (0)91 234 5678", "+386 91 234 5678", "912345678"}
	emails = []string{"", "", "", "ana@example.com", "Ana@Example.com", "ANA@EXAMPLE.COM", "čović@example.com", "covic@example.com",
		"a.b+112@x.hr", "o'neil@x.hr", "_@x.hr", "%@x.hr", "234@x.hr", " ana@example.com "}
	births = []string{"", "", "", "1990-05-15", "1990-05-15T00:00:00Z", "1990-05-15T02:00:00+02:00", "1990-05-14T23:00:00-01:00",
		"1990-05-15T00:00:00.000000001Z", "1990-05-15T00:00:00.5", "1990-05-15T00:00:00+02:00", "1900-01-01", "1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00Z", "1999-02-28T12:00:00+14:00", "1995-07-01t00:00:00z"}
	searches = []string{"Čović, Ana", "ana.", "091; 234",
		"ana", "ANA", "čov", "cov ana", "ana cov 091", "091 234", "(091)234", "091-234", "112", "1 2", "234@", "@", ".com",
		"%", "_", `"`, `\`, "*", "'", "a", "A-7", "a-7", "7", "ext.", "Ext.", "ß", "ss", "ſs", "ﬁ", "fi", "ae", "ñ", "\u0301", "ω", "Σ",
		"+385", "-", "ana\u00a0marija", "ana\u3000ČOVIĆ", "９１", "١", "12.", "zzz", "i", "İ", "ı", "b& <", "amp;", "王", "none 5",
		"mueller", "MÜLLER", "juerg", "jürgen mueller", "groesse-ćosić", "ue", "oe", "el", "büro", "buero 91", "0912345678", "+385 91 234 5678",
		"(+385)(0)912345678", "00385912345678", "091 - 2345678", "0912345", "+386 912345678", "091 2345 %", "- -"}
)

func (m *modelRun) pick(from []string) string { return from[m.random.IntN(len(from))] }

// fields returns fields as sent and as stored.
func (m *modelRun) fields() (sent, stored record.Fields) {
	m.Helper()
	sent = record.Fields{FirstName: m.pick(firstNames), LastName: m.pick(lastNames), PhoneNumber: m.pick(phones),
		Email: m.pick(emails), DateOfBirth: m.pick(births)}
	stored, errs := sent.Normalize(time.Now())
	must(m, errs.Err())
	return sent, stored
}

func (m *modelRun) same(about string, got, want any) {
	m.Helper()
	if !reflect.DeepEqual(got, want) {
		m.Errorf("%s\ngot  %+v\nwant %+v", about, got, want)
	}
}

// anyRecord returns a random record, or nil.
func (m *modelRun) anyRecord(from []*modelRecord) *modelRecord {
	if len(from) == 0 {
		return nil
	}
	return from[m.random.IntN(len(from))]
}

func (m *modelRun) create(d *model) {
	m.Helper()
	sent, want := m.fields()
	f := create(m, m.store, d.tenant, sent)
	m.same("create", f.Fields, want)
	d.created++
	d.records = append(d.records, &modelRecord{f, d.created})
	d.addChange("create", f.ID, nil)
}

func (m *modelRun) replace(d *model) {
	m.Helper()
	if r := m.anyRecord(d.records); r != nil {
		m.replaceOne(d, r)
	}
}

func (m *modelRun) replaceOne(d *model, r *modelRecord) {
	m.Helper()
	sent, want := m.fields()
	f, err := m.store.Replace(d.tenant, 0, r.ID, sent, asIs)
	must(m, err)
	d.addChange("replace", r.ID, r)
	r.Fields, r.UpdatedAt = want, time.Now().UnixMilli()
	m.same("replace", f, r.Firefighter)
}

func (m *modelRun) delete(d *model) {
	m.Helper()
	if r := m.anyRecord(d.records); r != nil {
		m.deleteOne(d, r)
	}
}

func (m *modelRun) deleteOne(d *model, r *modelRecord) {
	m.Helper()
	must(m, m.store.Delete(d.tenant, 0, r.ID, asIs))
	d.addChange("delete", r.ID, r)
	d.records = without(d.records, r)
	d.deleted = append(d.deleted, r)
}

func without(from []*modelRecord, r *modelRecord) []*modelRecord {
	return slices.DeleteFunc(from, func(other *modelRecord) bool { return other == r })
}

func (m *modelRun) undelete(d *model) {
	m.Helper()
	if r := m.anyRecord(d.deleted); r != nil {
		m.undeleteOne(d, r)
	}
}

func (m *modelRun) undeleteOne(d *model, r *modelRecord) {
	m.Helper()
	must(m, m.store.Undelete(d.tenant, 0, []string{r.ID}))
	d.addChange("undelete", r.ID, nil)
	d.deleted = without(d.deleted, r)
	d.records = append(d.records, r)
}

func (m *modelRun) purge(d *model) {
	m.Helper()
	if r := m.anyRecord(d.deleted); r != nil {
		m.purgeOne(d, r)
	}
}

func (m *modelRun) purgeOne(d *model, r *modelRecord) {
	m.Helper()
	erased, err := m.store.Purge(d.tenant, 0, stored(m, m.store, d.tenant, r.ID), nil)
	must(m, err)
	m.same("erased", erased, 1)
	d.done = slices.DeleteFunc(d.done, func(ch store.Entry) bool { return ch.ID == r.ID })
	d.addChange("purge", r.ID, nil)
	d.deleted = without(d.deleted, r)
}

func (m *modelRun) get(d *model) {
	m.Helper()
	if r := m.anyRecord(d.records); r != nil {
		f, err := m.store.Get(d.tenant, r.ID)
		must(m, err)
		m.same("get", f, r.Firefighter)
	}
}

// missing requests a record that is deleted, unknown or in another department.
func (m *modelRun) missing(d, other *model) {
	m.Helper()
	all := []string{nobody}
	for _, r := range slices.Concat(d.deleted, other.records, other.deleted) {
		all = append(all, r.ID)
	}
	id, fields := m.pick(all), record.Fields{FirstName: "A", LastName: "B"}
	_, got := m.store.Get(d.tenant, id)
	_, replaced := m.store.Replace(d.tenant, 0, id, fields, asIs)
	for _, err := range []error{got, replaced, m.store.Delete(d.tenant, 0, id, asIs)} {
		if !errors.Is(err, store.ErrNotFound) {
			m.Errorf("%s: %v", id, err)
		}
	}
}

// platform writes the columns that the service only reads.
func (m *modelRun) platform(d *model) {
	m.Helper()
	if r := m.anyRecord(d.records); r != nil {
		status, user := m.pick(lastNames), fmt.Sprintf("%08x-0000-4000-8000-000000000000", m.random.Uint32())
		exec(m, m.store, `UPDATE firefighters SET invitation_status = ?, user_id = ? WHERE id = ?`, status, user, r.ID)
		r.InvitationStatus, r.UserID = &status, &user
		d.version++
	}
}

func (m *modelRun) query() string {
	values := url.Values{"sortBy": {m.pick([]string{"", "createdAt", "firstName", "lastName", "email", "phoneNumber", "dateOfBirth", "updatedAt"})},
		"sortDir": {m.pick([]string{"", "asc", "desc"})}}
	switch m.random.IntN(8) {
	case 0, 1, 2, 3:
		values.Set("search", m.pick(searches))
	case 4:
		values.Set("search", m.pick(searches)+" "+m.pick(searches))
	case 5: // a part of an existing or possible value
		text := []rune(m.pick(slices.Concat(firstNames, lastNames, phones, emails)))
		from := m.random.IntN(len(text) + 1)
		values.Set("search", string(text[from:from+m.random.IntN(len(text)-from+1)]))
	}
	if m.random.IntN(3) == 0 {
		m.narrow(values)
	}
	if m.random.IntN(2) == 0 {
		values.Set("page", fmt.Sprint(1+m.random.IntN(4)))
	}
	if m.random.IntN(2) == 0 {
		values.Set("pageSize", m.pick([]string{"1", "2", "3", "7", "50", "100", "1000"}))
	}
	return values.Encode()
}

// narrow adds one or two filters.
func (m *modelRun) narrow(values url.Values) {
	for range 1 + m.random.IntN(2) {
		switch name := m.pick([]string{"email", "phoneNumber", "id", "birthMonth", "hasEmail", "hasPhoneNumber", "hasDateOfBirth", "updatedSince"}); name {
		case "email":
			if email := m.pick(emails); email != "" {
				values.Set(name, []func(string) string{strings.ToUpper, strings.ToLower, strings.Clone}[m.random.IntN(3)](email))
			}
		case "phoneNumber":
			if phone := m.pick(phones); onlyDigits(phone) != "" {
				values.Set(name, phone)
			}
		case "id":
			for _, d := range m.departments {
				for range m.random.IntN(3) {
					if r := m.anyRecord(slices.Concat(d.records, d.deleted)); r != nil {
						values.Add(name, strings.ToUpper(r.ID))
					}
				}
			}
		case "birthMonth":
			values.Set(name, fmt.Sprint(1+m.random.IntN(12)))
		case "updatedSince":
			if r := m.anyRecord(m.departments[0].records); r != nil {
				values.Set(name, time.UnixMilli(r.UpdatedAt+int64(m.random.IntN(2))).UTC().Format(time.RFC3339Nano))
			}
		default:
			values.Set(name, m.pick([]string{"true", "false"}))
		}
	}
}

func (m *modelRun) list(d *model, query string) {
	m.Helper()
	got := list(m, m.store, d.tenant, query)
	if len(got.Items) == 0 {
		got.Items = nil
	}
	q := parse(m, query)
	if follows := q.Offset()+int64(len(got.Items)) < got.Total; (got.Next != "") != (follows && got.Items != nil) {
		m.Errorf("%s: the next cursor is %q", query, got.Next)
	}
	got.Next = ""
	m.same(query, got, d.page(query, q))
}

// walk reads every list page by page.
func (m *modelRun) walk(d *model) {
	m.Helper()
	for _, field := range record.SortFields {
		for page := range len(d.records)/50 + 2 {
			m.list(d, fmt.Sprintf("sortBy=%s&page=%d&pageSize=50", field, page+1))
			m.list(d, fmt.Sprintf("sortBy=%s&page=%d&pageSize=50&sortDir=asc", field, page+1))
		}
	}
}

// history compares the history with the changes in the model.
func (m *modelRun) history(d *model) {
	m.Helper()
	got := history(m, m.store, d.tenant, "")
	for i := range got {
		got[i].At = ""
	}
	m.same("the history", got, d.done)
}

// page returns the expected page for a query.
func (d *model) page(query string, q record.Query) (p store.Page) {
	values, _ := url.ParseQuery(query)
	var found []*modelRecord
	for _, r := range d.records {
		if r.matches(values.Get("search")) && r.lets(values) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *modelRecord) int { return compare(q, a, b) })
	p.Department = map[record.TenantID]string{ours: "Engine 7", theirs: "Ladder 1"}[d.tenant]
	p.Total, p.People, p.Version = int64(len(found)), int64(len(d.records)), d.version
	for i := (q.Page - 1) * q.PageSize; i < min(q.Page*q.PageSize, p.Total); i++ {
		p.Items = append(p.Items, found[i].Firefighter)
	}
	return p
}

// compare is the order of a list. Records without a value are last in both directions.
func compare(q record.Query, a, b *modelRecord) int {
	texts := func(of ...func(*modelRecord) string) (by int) {
		for _, text := range of {
			by = cmp.Or(by, slices.Compare([]rune(fold.String(text(a))), []rune(fold.String(text(b)))))
		}
		return by
	}
	first, last := func(r *modelRecord) string { return r.FirstName }, func(r *modelRecord) string { return r.LastName }
	by, noneA, noneB := 0, false, false
	switch q.SortBy {
	case record.ByFirstName:
		by = texts(first, last)
	case record.ByLastName:
		by = texts(last, first)
	case record.ByEmail:
		by, noneA, noneB = texts(func(r *modelRecord) string { return r.Email }), a.Email == "", b.Email == ""
	case record.ByPhoneNumber:
		by, noneA, noneB = texts(func(r *modelRecord) string { return r.PhoneNumber }), a.PhoneNumber == "", b.PhoneNumber == ""
	case record.ByDateOfBirth:
		by, noneA, noneB = a.Born().Compare(b.Born()), a.DateOfBirth == "", b.DateOfBirth == ""
	case record.ByUpdatedAt:
		by = cmp.Compare(a.UpdatedAt, b.UpdatedAt)
	}
	if noneA != noneB {
		return map[bool]int{true: 1, false: -1}[noneA]
	}
	if by = cmp.Or(by, cmp.Compare(a.order, b.order)); q.Descending {
		return -by
	}
	return by
}

// matches reports whether the record contains every term of a search, or its phone number matches
// all terms together.
func (r *modelRecord) matches(search string) bool {
	search = strings.NewReplacer(",", " ", ";", " ").Replace(search) + " "
	for strings.Contains(search, ". ") {
		search = strings.ReplaceAll(search, ". ", " ")
	}
	terms := strings.Fields(search)
	missing := slices.ContainsFunc(terms, func(term string) bool {
		isNumber := onlyDigits(term) != "" && !strings.ContainsFunc(term, unicode.IsLetter)
		return !r.hasText(term) && !(isNumber && r.hasNumber(term))
	})
	whole := onlyDigits(search) != "" && strings.Trim(strings.Join(terms, ""), "0123456789+-/.()") == ""
	return !missing || whole && r.hasNumber(search)
}

// lets reports whether the record passes all filters.
func (r *modelRecord) lets(values url.Values) bool {
	for name, texts := range values {
		value, has := texts[0], ""
		switch name {
		case "email":
			if !strings.EqualFold(strings.TrimSpace(value), r.Email) && value != "" {
				return false
			}
		case "phoneNumber":
			if onlyDigits(value) != onlyDigits(r.PhoneNumber) {
				return false
			}
		case "id":
			if !slices.Contains(texts, strings.ToUpper(r.ID)) {
				return false
			}
		case "birthMonth":
			if r.DateOfBirth == "" || strings.TrimLeft(r.DateOfBirth[len("1990-"):len("1990-05")], "0") != value {
				return false
			}
		case "updatedSince":
			if since, _ := time.Parse(time.RFC3339, value); time.UnixMilli(r.UpdatedAt).Before(since) {
				return false
			}
		case "hasEmail":
			has = r.Email
		case "hasPhoneNumber":
			has = r.PhoneNumber
		case "hasDateOfBirth":
			has = r.DateOfBirth
		}
		if strings.HasPrefix(name, "has") && (has != "") != (value == "true") {
			return false
		}
	}
	return true
}

// hasText reports whether a text of the record contains a term, as written or with ae, oe and ue
// for the umlauts.
func (r *modelRecord) hasText(term string) bool {
	if fold.String(term) == "" {
		return true
	}
	with := strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "ae", "Ö", "oe", "Ü", "ue").Replace
	expanded := fold.String(with(norm.NFC.String(term)))
	hasUmlaut := umlauts.MatchString(expanded)
	return slices.ContainsFunc([]string{r.FirstName, r.LastName, r.Email, r.PhoneNumber}, func(text string) bool {
		return strings.Contains(fold.String(text), fold.String(term)) ||
			hasUmlaut && strings.Contains(fold.String(with(norm.NFC.String(text))), expanded)
	})
}

var umlauts = regexp.MustCompile("[aou]e")

// forms are the forms of a number in this test: its country and its national number.
var forms = regexp.MustCompile(`^(?:\+|00)(38[56])0?(\d{7,})|^0?(\d{7,})`)

var laterPlus, noNumber = regexp.MustCompile(`(\d)\+*`), regexp.MustCompile(`[^0-9+]`)

// hasNumber reports whether the phone number contains the digits of a term, or starts with the same
// number in another form.
func (r *modelRecord) hasNumber(term string) bool {
	if strings.Contains(onlyDigits(r.PhoneNumber), onlyDigits(term)) {
		return true
	}
	plain := func(s string) string { // digits, after a plus if that comes first
		return laterPlus.ReplaceAllString(noNumber.ReplaceAllString(s, ""), "$1")
	}
	typed, stored := forms.FindStringSubmatch(plain(term)), forms.FindStringSubmatch(plain(r.PhoneNumber))
	if typed == nil || stored == nil || !strings.ContainsAny(plain(term)[:1], "0+") {
		return false
	}
	return (typed[1] == stored[1] || typed[1] == "" || stored[1] == "") && strings.HasPrefix(stored[2]+stored[3], typed[2]+typed[3])
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
