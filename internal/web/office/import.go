package office

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// An import: bringList keeps the list (import_kept.go) and leads to its page. There
// checkImport says how the list was read (import_reading.go) and what would become of
// each row, and applyImport imports it. A comparison (compare.go) begins in the same way.

// Addresses of the pages on which people bring lists in, take them out, and compare
// them with theirs.
const (
	importPath  = site.Root + "import"
	exportPath  = site.Root + "export"
	comparePath = site.Root + "compare"
)

// setReturn sets the address to which a choice of another language leads.
func (v visit) setReturn(address string) {
	if v.R.Method == http.MethodPost {
		v.R.PostForm.Set("next", address)
	}
}

// broughtList is a list that somebody has brought, as it was read.
type broughtList struct {
	*keptList // nil: there is none
	content   []byte
	options   imports.Options
	file      *imports.File // nil where it cannot be read at all
	faults    []view.Fault
	sheets    []string // to choose from
	asked     string   // a question: which of them; empty: it was settled
	released  bool     // the cells of the file are gone
}

// isRead reports whether the people of the list are known.
func (l *broughtList) isRead() bool { return l.file != nil && len(l.faults) == 0 }

// release frees the cells of a list that is too long to be corrected on the page. They take
// more memory than the people.
func (l *broughtList) release() {
	const mostCells = 200_000
	if rows := len(l.file.Table.Rows); rows*len(l.file.Table.Header) > mostCells {
		l.released = true
		l.file.Release()
	}
}

// status returns the status of a page that shows the list. stale is empty, or says why
// the list was not imported.
func (l *broughtList) status(stale string) int {
	if stale != "" || len(l.faults) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// bringList keeps a list, and leads to the page at path, which shows it. Without a list
// it answers with missing.
func bringList(path string, missing func(visit) error) func(visit) error {
	return func(v visit) error {
		u := v.receivedList()
		if u == nil {
			return missing(v)
		}
		form := v.form()
		if _, err := v.lists.answer(u, form); err != nil {
			return err
		}
		if number := form.Get("leaveOut"); number != "" { // a button that leaves out a column
			form.Set(columnField+number, mapping.LeftOut)
		}
		return v.Redirect(v.readingPath(path, u))
	}
}

// receivedList returns the list that the form has, its file or its text, or the one
// with its token. nil is none.
func (v visit) receivedList() *keptList {
	form, tenant := v.form(), v.Session.Tenant
	var text *upload.File
	switch {
	case v.Upload != nil && v.Upload.File != nil:
		file := v.Upload.File
		v.Upload.File = nil // the visit does not close it
		return v.lists.add(&keptList{tenant: tenant, name: strings.ToValidUTF8(file.Name, "\uFFFD"), file: file})
	case v.Upload != nil && v.Upload.Text != nil:
		text, v.Upload.Text = v.Upload.Text, nil
	case strings.TrimSpace(form.Get("text")) != "":
		text = upload.FromText(int64(tenant), form.Get("text"))
	default:
		return v.lists.find(tenant, form.Get("token"))
	}
	return v.lists.add(&keptList{tenant: tenant, name: v.Text("import.pasted"), pasted: true, file: text})
}

// form returns the fields of the form that was sent, or of an address that has the same.
func (v visit) form() url.Values {
	if v.R.Method == http.MethodPost {
		return v.R.PostForm
	}
	return v.Query()
}

// onList returns a handler that waits for a place to work on the list that the form
// names. Where there is no such list it does not wait.
func onList(handle func(visit) error) func(visit) error {
	return func(v visit) error {
		l := v.lists.find(v.Session.Tenant, v.form().Get("token"))
		if l == nil {
			return handle(v)
		}
		return v.Work(upload.Reading, func() error { return handle(v) })
	}
}

// openList reads the list with the token of the form. There is none yet where the
// visitor only came to the page.
func (v visit) openList() (*broughtList, error) {
	l, err := &broughtList{options: v.readingOptions(), sheets: v.form()["sheets"]}, error(nil)
	l.keptList, l.content, err = v.lists.read(v.Session.Tenant, v.form().Get("token"))
	if err != nil {
		return nil, err
	}
	if l.keptList == nil {
		switch {
		case v.form().Get("token") != "":
			l.faults = []view.Fault{{Name: "file", Fault: v.Text("import.fault.gone")}}
		case v.form().Has("token") || v.R.Method == http.MethodPost:
			l.faults = []view.Fault{{Name: "file", Fault: v.Text("import.fault.missing")}}
		}
		return l, nil
	}
	said := url.Values{}
	if v.R.Method == http.MethodPost {
		said = v.form()
	}
	answers, err := v.lists.answer(l.keptList, said)
	if err != nil {
		return nil, err
	}
	takeAnswers(&l.options, answers)
	l.options.Name = l.name
	now := v.Store.Clock().Now()
	list, err := imports.Read(v.R.Context(), l.content, l.options, now)
	if err == nil {
		l.file, err = list.Map(v.R.Context(), l.options, now)
	}
	return l, l.explain(v, err)
}

// columnField begins the names of the fields that say what a column is. byHeading
// is the value of one that leaves it to the heading.
const (
	columnField = "column."
	byHeading   = "byHeading"
)

// readingOptions returns how the form asks to read a list. What it says of columns holds
// for the sheet that it was made of.
func (v visit) readingOptions() imports.Options {
	form := v.form()
	o := imports.Options{Languages: []string{v.Lang.Tag, osutil.Language()}, Sheet: form.Get("sheet"), Encoding: form.Get("encoding"), Dates: form.Get("dates"), Names: form.Get("names"),
		Update: form.Get("update") != "", Spelling: form.Get("spelling") != "", SkipBad: form.Get("skipBad") != "",
		Zero: form.Get("zero") != "", LeaveOutBad: form.Get("leaveOutBad") != "", AddPerhaps: form.Get("addPerhaps") != ""}
	if !form.Has("sheet") || o.Sheet == form.Get("was.sheet") {
		o.Columns = columnsOf(form)
	}
	return o
}

// columnsOf returns what each column is, by its number.
func columnsOf(form url.Values) map[int]string {
	columns := map[int]string{}
	for name := range form {
		if digits, ok := strings.CutPrefix(name, columnField); ok && form.Get(name) != byHeading {
			if number, err := strconv.Atoi(digits); err == nil {
				columns[number] = form.Get(name)
			}
		}
	}
	return columns
}

// importPage is the Data of import.html.
type importPage struct {
	Reading reading
	Outcome *importOutcome // nil: there is nothing to say about the rows yet
	Checked string         // digest of the outcome that the page shows
	Stale   string         // a sentence: why nothing was imported; empty: nobody asked for that
}

// broughtRows are the rows of a list on the page.
type broughtRows struct {
	Like        []broughtRow // perhaps somebody who is there
	RefusedRows rowTable
	Rows        rowTable // all others
	More        int      // rows that are not shown
}

// rowTable is a table of rows below a heading with an id.
type rowTable struct {
	Heading string
	Rows    []broughtRow
}

// importOutcome is what an import would do.
type importOutcome struct {
	Added, Changed, Left, Refused, Perhaps, Differ, LeftOut int

	Ready   int    // people who go in when the button is pressed; 0: the button cannot be pressed
	Without string // the button that leaves out all other rows; empty: there is none
	Why     string // a sentence: why the button cannot be pressed; empty: it can
	Same    string // a sentence: the list was imported before; empty: it was not

	Unknown  int    // rows with an id that nobody has
	Deleted  int    // rows with the id of somebody who was deleted
	IDColumn string // number of the column of the ids

	broughtRows
}

// checkImport asks for a list, or says what an import of it would do. It changes nothing.
func checkImport(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	return v.renderCheck(l, "")
}

// renderCheck answers with what an import would do. stale says why it was not
// done.
func (v visit) renderCheck(l *broughtList, stale string) error {
	if !l.isRead() {
		return v.renderImport(l, stale, nil)
	}
	l.release()
	found, err := l.file.Check(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	return v.renderImport(l, stale, found)
}

// renderImport answers with the page. found may be nil.
func (v visit) renderImport(l *broughtList, stale string, found *imports.Outcome) error {
	data := importPage{Reading: v.reading(l), Stale: stale}
	if found != nil {
		data.Outcome = v.importOutcome(l, found)
		data.Reading.Ticks, data.Reading.Names = append(v.importTicks(l, found), v.readingTicks(l, found)...), v.nameOrders(l, found)
		data.Reading.Notes = v.notes(found.Notes)
		data.Checked = string(found.Digest())
	}
	v.setReturn(v.readingPath(importPath, l.keptList))
	p := site.Page{Title: v.Text("import.title"), Section: "import", Wrong: stale != "" || len(data.Reading.Faults) > 0, Data: data}
	return v.Render(l.status(stale), "import", p)
}

func (v visit) importOutcome(l *broughtList, found *imports.Outcome) *importOutcome {
	r := &importOutcome{Added: found.Added, Changed: found.Changed, Left: found.LeftPeople(), Refused: found.Refused, Perhaps: found.Perhaps,
		Differ: found.Differ, LeftOut: found.LeftOut}
	r.broughtRows = v.broughtRows(l, found.All)
	r.addUnknown(l, found)
	if same := found.Same; same != nil {
		r.Same = v.words().SameFile(same.Number, v.Lang.Moment(same.At.Local()))
	}
	switch {
	case l.file.Unsure != nil:
		r.Why = v.Text("import.why.encoding")
	case found.Refused+found.Perhaps > 0:
		var why, without []string
		if found.Perhaps > 0 {
			why = append(why, v.Count("import.why.perhaps", found.Perhaps, v.Text("import.again")))
			without = append(without, v.Count("import.without.perhaps", found.Perhaps))
		}
		if found.Refused > 0 {
			key := "import.why.refused"
			if l.released {
				key = "import.why.tooMany"
			}
			why = append(why, v.Count(key, found.Refused, v.Text("import.again")))
			without = append(without, v.Count("import.without.refused", found.Refused))
		}
		r.Why = strings.Join(why, " ")
		if ready := found.Added + found.Changed; ready > 0 {
			r.Without = v.Count("import.do.without", ready, strings.Join(without, v.Text("import.without.and")))
		}
	case found.Added+found.Changed == 0 && r.Left > 0 && !l.options.Update:
		r.Why = v.Text("import.why.left")
		if found.Differ > 0 {
			r.Why += " " + v.Text("import.why.differ", v.Text("import.update"), v.Text("import.again"))
		}
	case found.Added+found.Changed == 0:
		r.Why = v.Text("import.why.nothing")
	default:
		r.Ready = found.Added + found.Changed
	}
	return r
}

// ticks are choices that can be ticked.
type ticks []view.Choice

// add adds one that matters, or was ticked.
func (t *ticks) add(name, label string, chosen, matters bool) {
	if chosen || matters {
		*t = append(*t, view.Choice{Value: name, Label: label, Chosen: chosen})
	}
}

// readingTicks returns the choices about how a list is read.
func (v visit) readingTicks(l *broughtList, found *imports.Outcome) (t ticks) {
	t.add("zero", v.Text("import.zero"), l.options.Zero, l.file.Mapped.NoZero > 0)
	t.add("leaveOutBad", v.Text("import.leaveOutBad"), l.options.LeaveOutBad, slices.ContainsFunc(found.All, func(row imports.Row) bool { return row.CouldGoWithout() }))
	return t
}

// importTicks returns the choices about what becomes of the rows.
func (v visit) importTicks(l *broughtList, found *imports.Outcome) (t ticks) {
	o := l.options
	isAsked := func(row imports.Row) bool { return l.isAsked(&row) }
	t.add("update", v.Text("import.update"), o.Update, found.Left+found.Changed > 0 || slices.ContainsFunc(found.All, isAsked))
	t.add("spelling", v.Text("import.spelling"), o.Spelling, slices.ContainsFunc(found.Notes, isSpelling))
	t.add("addPerhaps", v.Text("import.perhaps.all"), o.AddPerhaps, found.Perhaps > manyPerhaps)
	return t
}

// isSpelling reports whether a note says that spellings are kept.
func isSpelling(n sheet.Note) bool { return n.Code == imports.NoteSpelling }

// manyPerhaps is the number of rows that are perhaps somebody who is there from which on
// one tick can answer for all.
const manyPerhaps = 5

// nameOrders returns how the names without a comma can be read, with some of them. It
// returns nothing where nobody has to say.
func (v visit) nameOrders(l *broughtList, found *imports.Outcome) (orders []view.Choice) {
	asked, column := l.options.Names != "", slices.IndexFunc(l.file.Mapped.Columns, mapping.Column.IsFullName)
	var firstLast, lastFirst []string
	for i, row := range found.All {
		mixed := slices.ContainsFunc(row.Like, func(like imports.Like) bool { return like.Why == imports.MixedNames })
		asked = asked || mixed
		if len(firstLast) == shownSamples || column < 0 || l.released || strings.Contains(l.file.CellText(i, column), ",") {
			continue
		}
		one, other := mapping.Name{First: row.Fields.FirstName, Last: row.Fields.LastName}, mapping.Name{First: row.Fields.LastName, Last: row.Fields.FirstName}
		if mixed {
			one, other = row.Like[0].Readings[0], row.Like[0].Readings[1]
		}
		if l.options.Names == mapping.LastFirstName || l.file.Mapped.Columns[column].Field == mapping.LastFirst {
			one, other = other, one
		}
		firstLast = append(firstLast, v.Text("import.names.sample", quoted(one.First), quoted(one.Last)))
		lastFirst = append(lastFirst, v.Text("import.names.sample", quoted(other.First), quoted(other.Last)))
	}
	if !asked {
		return nil
	}
	for i, samples := range [][]string{firstLast, lastFirst} {
		order := mapping.NameOrders[i]
		orders = append(orders, view.Choice{Value: order, Label: strings.Join(samples, "; "), Chosen: order == l.options.Names})
	}
	return orders
}

// isUnknown reports whether an error is that of an id that nobody has now.
func isUnknown(e record.FieldError) bool { return e.Field == mapping.ID && e.Code == record.Unknown }

const shownSamples = 3

// addUnknown adds the rows with ids that nobody has now.
func (r *importOutcome) addUnknown(l *broughtList, found *imports.Outcome) {
	for _, row := range found.All {
		switch {
		case !slices.ContainsFunc(row.Errors, isUnknown), l.answered(row.Row) != "": // by no id of the list
		case row.Deleted != "":
			r.Deleted++
		default:
			r.Unknown++
		}
	}
	r.IDColumn = strconv.Itoa(slices.IndexFunc(l.file.Mapped.Columns, func(c mapping.Column) bool { return c.Field == mapping.ID }))
}

// applyImport imports a list that was checked. Where something else would come of it than
// the page has shown, because of other choices or changed people, it shows that instead.
func applyImport(v visit) error {
	token, checked := v.R.PostForm.Get("token"), v.R.PostForm.Get("checked")
	key := v.IdempotencyKey("import-", token, checked)
	if number, err := v.importMadeWith(key); err != nil {
		return err
	} else if number != 0 {
		return v.Redirect(importedPath(number))
	}
	l, err := v.openList()
	switch {
	case err != nil:
		return err
	case !l.isRead():
		return v.renderCheck(l, "")
	case v.Resumed():
		return v.renderCheck(l, v.Text("import.resumed"))
	case l.file.Unsure != nil:
		return v.renderCheck(l, v.Text("import.why.encoding"))
	}
	l.file.Options.Said = []byte(checked)
	return v.imported(l, key)
}

// imported imports a list.
func (v visit) imported(l *broughtList, key *store.IdempotencyKey) error {
	l.release()
	found, err := l.file.Apply(v.R.Context(), v.Store, v.Session.Tenant, v.Session.ID, key)
	switch {
	case errors.As(err, new(*store.RepeatedError)):
		return applyImport(v) // which finds the import now
	case err != nil:
		return err
	case !found.Applied:
		return v.renderImport(l, v.Text("import.stale"), found)
	case found.Number == nil:
		return v.Redirect(view.ImportsPath + "?nothing=1")
	}
	return v.Redirect(importedPath(*found.Number))
}

// importMadeWith returns the number of the import that was made with an idempotency key,
// 0 if none was.
func (v visit) importMadeWith(key *store.IdempotencyKey) (number int64, err error) {
	_, body, err := v.Store.Replay(v.Session.Tenant, key)
	if err != nil || body == nil {
		return 0, err
	}
	var answer struct{ Number int64 }
	err = json.Unmarshal(body, &answer)
	return answer.Number, err
}

// reportImport answers with the whole list, with what becomes of each row and why, so
// that the refused rows can be corrected and brought again.
func reportImport(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	if !l.isRead() {
		return v.renderCheck(l, "")
	}
	found, err := l.file.Check(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	format := sheet.XLSX
	if l.file.Table.Format == sheet.CSV {
		format = sheet.CSV
	}
	header := []string{v.Text("import.result"), v.Text("import.reason")}
	return v.sendReportFile("import.file", format, func(to io.Writer) error {
		return imports.WriteReport(to, format, l.file, found, header, v.reportCells)
	})
}

// sendReportFile answers with a file about a list, within Work. name is the key of its name.
func (v visit) sendReportFile(name, format string, write func(io.Writer) error) error {
	upload.Attachment{Name: v.Text(name) + "." + format, ContentType: sheet.ContentType(format)}.Describe(v.W.Header())
	return write(v.W)
}

// reportCells say of a row what the page says of it: what becomes of it, and why.
func (v visit) reportCells(row imports.Row) []string {
	shown, result := v.broughtRow(row), v.Text("import.result."+row.Result)
	if row.Twin != 0 && row.Result == imports.Left {
		result = v.Text("import.twin", row.Twin)
	}
	var like []string
	for _, one := range row.Like {
		like = append(like, fmt.Sprintf("%s (%s)", v.words().Why(one.Why), v.describe(one)))
	}
	return []string{result, strings.Join(slices.Concat(like, shown.LeftOut, shown.Reasons), " ")}
}

// describe names the person whom a row could be, or how its name could be read.
func (v visit) describe(like imports.Like) string {
	if like.ID != nil {
		return strings.TrimSuffix(view.NameOf(like.Person)+", "+v.Birth(like.Person), ", ")
	}
	var readings []string
	for _, name := range like.Readings {
		readings = append(readings, v.Text("import.names.sample", name.First, name.Last))
	}
	return strings.Join(readings, "; ")
}
