package acceptance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// csvOf returns a CSV of invented people.
func csvOf(count int) string {
	var b strings.Builder
	b.WriteString("Vorname;Nachname;Handy;E-Mail;Geburtsdatum;Spind\r\n")
	for i := range count {
		fmt.Fprintf(&b, "Ana;Person %d;091 %d;ana%d@example.com;26.%02d.%d;Chief\r\n", i, i, i, i%12+1, 1990-i/12%60)
	}
	return b.String()
}

// csvOfOne returns a CSV of one person.
func csvOfOne(first, last string) string {
	return "First name,Last name\n" + strconv.Quote(first) + "," + strconv.Quote(last) + "\n"
}

// wireReport is the report of an import.
type wireReport struct {
	Number                        *int64
	Applied                       bool
	Added, Changed, Left, Refused int
	Perhaps, Differ, LeftOut      int
	SpellingOnly                  int
	File                          struct{ Format, Encoding, Delimiter, Sheet *string }
	Dates                         *string
	Columns                       []struct {
		Header string
		Field  *string
	}
	Rows []struct {
		Row    int
		Result string
		ID     *string
		Errors []struct{ Field, Code, Detail string }
		Why    string
		Text   string
		Like   []struct {
			ID       *string
			Why      string
			Readings []struct{ FirstName, LastName string }
		}
		LeftOut []struct{ Field, Code, Detail string }
	}
	Warnings  []string
	Skipped   int
	Questions []struct {
		Kind, Text string
		Columns    []string
		Rows       []int
		Options    []struct {
			Value, Label string
			Example      *string
		}
		Answer *string
	}
}

// questions returns the kinds of the questions, each with its rows, options and answer.
func (r wireReport) questions() string {
	var all []string
	for _, q := range r.Questions {
		text := q.Kind
		for _, row := range q.Rows {
			text += fmt.Sprint(" ", row)
		}
		for _, o := range q.Options {
			text += " " + o.Value
		}
		if q.Answer != nil {
			text += "=" + *q.Answer
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// report decodes the report of an answer with this status.
func (a answer) report(t *testing.T, status int) (r wireReport) {
	t.Helper()
	if a.wants(t, status); status == 422 {
		p := struct {
			problemDetails
			wireReport
		}{}
		decode(t, a.body, &p)
		r = p.wireReport
	} else {
		decode(t, a.body, &r)
	}
	if r.Applied != (status == 201 || status == 200 && r.Applied && r.Added+r.Changed == 0) || (r.Number != nil) != (status == 201) {
		t.Errorf("%d: %s", status, a.body)
	}
	return r
}

// counts returns the numbers of added, changed, unchanged and refused rows.
func (r wireReport) counts() string { return fmt.Sprint(r.Added, r.Changed, r.Left, r.Refused) }

// importPeople imports a file and returns the number of the import.
func (c client) importPeople(t *testing.T, query, content string) int64 {
	t.Helper()
	a := c.do(t, "POST", importsPath+"?apply=true&"+query, content)
	r := a.report(t, 201)
	if want := importsPath + "/" + strconv.FormatInt(*r.Number, 10); a.header.Get("Location") != want {
		t.Errorf("Location is %s, want %s", a.header.Get("Location"), want)
	}
	return *r.Number
}

// TestImport checks that a preview changes nothing and that the import matches the preview.
func TestImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, `{"firstName":"ANA","lastName":"person 1","email":"Ana1@example.com"}`)
	counted := s.contentOf(t)
	for _, query := range []string{"", "?apply=", "?apply=false", "?apply=0&update=1"} {
		r := s.do(t, "POST", importsPath+query, csvOf(40)).report(t, 200)
		if changed := strings.HasSuffix(query, "update=1"); changed != (r.counts() == "39 1 0 0") || !changed && r.counts() != "39 0 1 0" || s.contentOf(t) != counted {
			t.Errorf("%s: %+v", query, r)
		}
	}
	a := s.do(t, "POST", importsPath+"?apply=true", csvOf(40))
	r := a.report(t, 201)
	if *r.Number != 1 || r.counts() != "39 0 1 0" || a.header.Get("Location") != importsPath+"/1" || s.list(t, "").TotalCount != 40 {
		t.Errorf("%+v, %v", r, a.header)
	}
	if *r.File.Format+*r.File.Encoding+*r.File.Delimiter != "csvutf-8;" || r.File.Sheet != nil || *r.Dates != "dmy" || len(r.Rows) != 0 {
		t.Errorf("%s", a.body)
	}
	if len(r.Columns) != 6 || *r.Columns[1].Field != "lastName" || r.Columns[5].Header != "Spind" || r.Columns[5].Field != nil {
		t.Errorf("%s", a.body)
	}
	if f := s.list(t, "search=person+39").Data.Items[0]; *f.DateOfBirth != "1987-04-26T00:00:00Z" || *f.PhoneNumber != "091 39" {
		t.Errorf("%+v", f)
	}
	again := s.do(t, "POST", importsPath+"?apply=true", csvOf(40)).report(t, 200)
	if again.counts() != "0 0 40 0" || len(again.Warnings) == 0 {
		t.Errorf("again: %+v", again)
	}
	updated := s.do(t, "POST", importsPath+"?apply=true&update=true", csvOf(41)).report(t, 201)
	if updated.counts() != "1 1 39 0" || *updated.Number != 2 || len(updated.Rows) != 1 || updated.Rows[0].Result != "changed" || updated.Rows[0].ID == nil {
		t.Errorf("updated: %+v", updated)
	}
}

// TestImportRefusesRows checks that a bad row stops the whole import unless skipBad is set.
func TestImportRefusesRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := csvOf(3) + "Eva;;;eva@;26.01.1990;\r\n"
	counted := s.contentOf(t)
	for path, status := range map[string]int{importsPath: 200, importsPath + "?apply=true": 422} {
		r := s.do(t, "POST", path, bad).report(t, status)
		if r.counts() != "3 0 0 1" || len(r.Rows) != 1 || r.Rows[0].Row != 5 || r.Rows[0].Result != "refused" || r.Rows[0].ID != nil || s.contentOf(t) != counted {
			t.Errorf("%s: %+v", path, r)
		}
		var faults []string
		for _, e := range r.Rows[0].Errors {
			faults = append(faults, e.Field+" "+e.Code)
		}
		if got := strings.Join(faults, ", "); got != "lastName required, email invalid" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if r := s.do(t, "POST", importsPath+"?apply=true&skipBad=true", bad).report(t, 201); r.counts() != "3 0 0 1" || s.list(t, "").TotalCount != 3 {
		t.Errorf("%+v", r)
	}
}

// TestImportRows checks that the report has the id of every record, including added ones, that
// a repeated request returns the same report, and that a rejected import is a problem that
// contains the report.
func TestImportRows(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, `{"firstName":"Ana","lastName":"Person 1","email":"ana1@example.com"}`)
	const query = "?rows=all&zero=true&spelling=false&leaveOutBadFields=1&names=last-first&same=&add="
	ids := func(a answer, status int) (list []string) {
		t.Helper()
		for _, row := range a.report(t, status).Rows {
			id := "-"
			if row.ID != nil {
				var f wireRecord
				decode(t, s.do(t, "GET", collection+"/"+*row.ID, "").wants(t, 200).body, &f)
				id = *f.Email
			}
			list = append(list, fmt.Sprint(row.Row, " ", row.Result, " ", id))
		}
		return list
	}
	if got := ids(s.do(t, "POST", importsPath+query, csvOf(3)), 200); fmt.Sprint(got) != "[2 added - 3 left ana1@example.com 4 added -]" {
		t.Errorf("preview: %q", got)
	}
	for range 2 {
		a := s.do(t, "POST", importsPath+query+"&apply=true", csvOf(3), idempotencyKey, "rows")
		if got := ids(a, 201); fmt.Sprint(got) != "[2 added ana0@example.com 3 left ana1@example.com 4 added ana2@example.com]" {
			t.Errorf("import: %q", got)
		}
	}
	a := s.do(t, "POST", importsPath+"?apply=true", csvOf(4)+"Eva;;;;;\r\n")
	if p := a.wants(t, 422).problem(t); p.Detail != "Nothing was imported: 1 row is refused. Set skipBad=true to import the others." || a.report(t, 422).Rows[0].Row != 6 {
		t.Errorf("%v %s", a.header, a.body)
	}
	for wrong, want := range map[string]string{"rows=bad": "rows invalid", "names=first": "names invalid", "zero=x": "zero invalid", "same=12": "same invalid",
		"same=0:" + nobody: "same invalid", "same=2:" + nobody + "&same=2:" + nobody[:35] + "f": "same invalid", "add=-1": "add invalid", "add=%2B2": "add invalid", "add=1000000000": "add invalid",
		"same=%2B2:" + nobody: "same invalid", "same=2:{" + nobody + "}": "same invalid", "same=2:urn:uuid:" + nobody: "same invalid", "add=all": "add invalid", "leaveOutBadFields=y": "leaveOutBadFields invalid", "spelling=2": "spelling invalid"} {
		if got := s.do(t, "POST", importsPath+"?"+wrong, csvOf(1)).wants(t, 400).faults(t); got != want {
			t.Errorf("%s: %s", wrong, got)
		}
	}
}

// TestImportPossibleDuplicates checks that a possible duplicate stops the import until the request
// decides about it.
func TestImportPossibleDuplicates(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.importPeople(t, "", "firstName,lastName,phone,email,dateOfBirth\nAna,Čović,,ana@example.com,1990-05-15\nEva,Novak,091 234 5678,,1985-02-01\n"+
		"Jürgen,Müller,,,\nIvan,Horvat,,,\nMia,Babić,,,1999-03-04\nLea,Lis,1,,\n")
	const list = "Name,phone,email,dateOfBirth\n\"Kos, Anna\",,ana@example.com,1990-05-15\n\"Novakova, Iva\",0912345678,,1985-02-01\n\"Mueller, Juergen\",,,\n" +
		"\"Ivan, Horvat\",,,\n\"Babić-Kos, Mia\",,,1999-03-04\n\"Lis, Lea\",2,,\nSteiner Maria,,,\n\"Rak, Tea\",,tea@,\n"
	read := func(query string, status int) wireReport {
		t.Helper()
		r := s.do(t, "POST", importsPath+"?rows=all&leaveOutBadFields=true"+query, list).report(t, status)
		return r
	}
	r := read("&apply=true", 422)
	var got []string
	same := url.Values{}
	for _, row := range r.Rows {
		text := fmt.Sprint(row.Row, " ", row.Result)
		for _, like := range row.Like {
			text += " " + like.Why
			if like.ID != nil {
				same.Add("same", fmt.Sprint(row.Row, ":", *like.ID))
			} else {
				text += fmt.Sprint(like.Readings)
			}
		}
		for _, e := range row.LeftOut {
			text += " without " + e.Field + " " + e.Code
		}
		got = append(got, text)
	}
	const want = "2 perhaps email_and_birth, 3 perhaps phone_and_birth, 4 left, 5 perhaps swapped, 6 perhaps birth_and_name, 7 perhaps name, " +
		"8 perhaps mixed_names[{Steiner Maria} {Maria Steiner}], 9 added without email invalid"
	if all := strings.Join(got, ", "); all != want || r.Perhaps != 6 || r.Differ != 0 || r.LeftOut != 1 || r.counts() != "1 0 1 0" {
		t.Errorf("%+v\n%s", r, all)
	}
	if r := read("&names=last-first&update=true&spelling=true&"+same.Encode(), 200); r.counts() != "2 6 0 0" || r.Perhaps != 0 {
		t.Errorf("with same for each row: %+v", r)
	}
	if r := read("&same=all&update=true", 200); r.counts() != "1 5 1 0" || r.Perhaps != 1 {
		t.Errorf("with same=all: %+v", r)
	}
	if r := read("&add=2,3&add=8&"+url.Values{"same": {strings.Join(same["same"][2:], ",")}}.Encode(), 200); r.counts() != "4 0 4 0" {
		t.Errorf("with add for some rows: %+v", r)
	}
	if r := read("&apply=true&add=perhaps&skipBad=true", 201); r.counts() != "6 0 1 0" || r.Perhaps != 1 {
		t.Errorf("with add=perhaps: %+v", r)
	}
	s.importPeople(t, "", "firstName,lastName\nAna Marija,Kos\n")
	r = s.do(t, "POST", importsPath, "firstName,lastName\nAna-Marija,Kos\n").report(t, 200)
	if len(r.Rows) != 1 || len(r.Rows[0].Like) != 1 || r.Rows[0].Like[0].Why != "spelling" {
		t.Errorf("another spelling: %+v", r)
	}
	for wrong, want := range map[string]string{"same=99:" + nobody: "same unknown", "add=99": "add unknown", "add=2&same=2:" + nobody: "same invalid"} {
		if got := s.do(t, "POST", importsPath+"?"+wrong, list).wants(t, 400).faults(t); got != want {
			t.Errorf("%s: %s", wrong, got)
		}
	}
}

// form returns a form and its Content-Type. Each part is a name, the name of a file or "", and
// its content.
func form(parts ...[3]string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, part := range parts {
		if part[1] == "" {
			w.WriteField(part[0], part[2])
			continue
		}
		file, _ := w.CreateFormFile(part[0], part[1])
		file.Write([]byte(part[2]))
	}
	w.Close()
	return b.String(), w.FormDataContentType()
}

// TestImportBodies checks that the content decides the format of a file, and that a form can
// contain the file.
func TestImportBodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, contentType := range []string{"", "text/csv", "text/csv; charset=utf-8; header=present", "application/octet-stream", "application/json", "nonsense"} {
		s.do(t, "POST", importsPath, csvOf(1), "Content-Type", contentType).report(t, 200)
	}
	body, contentType := form([3]string{"list", "members č.csv", csvOf(2)})
	s.do(t, "POST", importsPath+"?apply=true", body, "Content-Type", contentType).report(t, 201)
	s.importPeople(t, "", csvOfOne("Ana", "Unnamed"))
	var list struct {
		Items []struct{ File *string }
	}
	if err := json.Unmarshal([]byte(s.do(t, "GET", importsPath, "").body), &list); err != nil || list.Items[0].File != nil || *list.Items[1].File != "members č.csv" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, tt := range []struct {
		parts [][3]string
		want  string
	}{
		{nil, "file required"},
		{[][3]string{{"apply", "", "true"}, {"file", "a.csv", csvOf(1)}}, "apply unknown"},
		{[][3]string{{"file", "a.csv", csvOf(1)}, {"file", "b.csv", csvOf(1)}}, "file duplicate"},
	} {
		body, contentType := form(tt.parts...)
		if got := s.do(t, "POST", importsPath, body, "Content-Type", contentType).wants(t, 400).faults(t); got != tt.want {
			t.Errorf("%v: %s", tt.parts, got)
		}
	}
	body, contentType = form([3]string{"file", "a.csv", csvOf(1)})
	for _, text := range []string{body[:len(body)-10], "x", ""} {
		if p := s.do(t, "POST", importsPath, text, "Content-Type", contentType).wants(t, 400).problem(t); p.Code != "malformed" {
			t.Errorf("%q: %s", text, p.Code)
		}
	}
	s.do(t, "POST", importsPath, csvOf(1), "Content-Type", "application/x-www-form-urlencoded").wants(t, 415)
	s.do(t, "POST", importsPath, csvOf(1), "Content-Type", "text/csv", "Content-Type", "application/json").wants(t, 400)
	s.do(t, "POST", importsPath, csvOf(1), "Content-Encoding", "gzip").wants(t, 415)
}

// TestImportSizes checks the limit of 10 MB for files, and that other limits do not change.
func TestImportSizes(t *testing.T) {
	t.Parallel()
	s := start(t)
	const limit = 10 << 20
	file := csvOf(9) + "Ana;Horvat;;;;"
	file += strings.Repeat("x", limit-len(file)) // in a column that is not imported
	if r := s.do(t, "POST", importsPath, file).report(t, 200); r.counts() != "10 0 0 0" {
		t.Errorf("%+v", r)
	}
	s.do(t, "POST", importsPath, file+"x").wants(t, 413)
	body, contentType := form([3]string{"file", "a.csv", file})
	s.do(t, "POST", importsPath, body, "Content-Type", contentType).report(t, 200)
	body, contentType = form([3]string{"file", "a.csv", file + "\n"})
	s.do(t, "POST", importsPath, body, "Content-Type", contentType).wants(t, 413)
	body, contentType = form([3]string{"file", "a.csv", file}, [3]string{"more", "", strings.Repeat("x", 64<<10)})
	s.do(t, "POST", importsPath, body, "Content-Type", contentType).wants(t, 413)
	chunked := func(text string) int {
		a, err := s.try(t, "POST", importsPath, struct{ *strings.Reader }{strings.NewReader(text)})
		must(t, err)
		return a.status
	}
	if got := fmt.Sprint(chunked(file), chunked(file+"x")); got != "200 413" {
		t.Errorf("without a Content-Length: %s", got)
	}
	s.do(t, "POST", collection, largeBody(maxBody+1)).wants(t, 413)
	s.as(newKey(t, s.db, "default", "--scope", "read")).do(t, "POST", importsPath, file).wants(t, 403)
}

// TestImportRefused checks the reasons for which a whole file is rejected.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	counted := s.contentOf(t)
	for _, tt := range []struct {
		query, content string
		status         int
		want           string // the faults, or the code
	}{
		{"apply=yes&update=2&skipBad=TRUE&encoding=latin1&dates=iso&map=x", "", 400,
			"apply invalid, update invalid, skipBad invalid, encoding invalid, dates invalid, map invalid"},
		{"apply=true&apply=false", csvOf(1), 400, "apply duplicate"},
		{"", "", 400, "file required"},
		{"", "Vorname;Nachname\n", 400, "file required"},
		{"answer=x:y&answer=dates&answer=dates:iso,zero:2", csvOf(1), 400, "answer unknown, answer invalid, answer invalid, answer invalid"},
		{"answer=dates:dmy&dates=mdy", csvOf(1), 400, "answer duplicate"},
		{"", "Farbe;Form\nrot;rund\n", 400, "map required"},
		{"", "Vorname;Nachname;Geburtstag;Geburtsdatum\nAna;Horvat;1990-01-01;1991-01-01\n", 400, "map required"},
		{"map=Spind=email,Farbe=email", csvOf(1), 400, "map unknown"},
		{"headerRow=3", "Vorname;Nachname\nAna;Kos\n", 400, "headerRow unknown"},
		{"headerRow=2", "Vorname;Telefon\nAna;0664 123456\nEva;\n", 400, "headerRow invalid"},
		{"encoding=utf-8", "Vorname;Nachname\nAna;\xe8ovi\xe6\n", 400, "encoding invalid"},
		{"", "Vorname;Nachname\n\"Ana;Horvat\n", 400, "file invalid"},
		{"", "%PDF-1.7\n%\xe2\xe3\n", 415, "content_type"},
		{"", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600), 415, "content_type"},
		{"", strings.Repeat("\x00\x01\x02\xff", 500), 415, "content_type"},
	} {
		a := s.do(t, "POST", importsPath+"?"+tt.query, tt.content).wants(t, tt.status)
		got := a.faults(t)
		if tt.status != 400 {
			got = a.problem(t).Code
		}
		if got != tt.want || s.contentOf(t) != counted {
			t.Errorf("%s %.40q: got %s, want %s: %s", tt.query, tt.content, got, tt.want, a.body)
		}
	}
	for query, content := range map[string]string{
		"headerRow=2": "Namen;x\nVorname;Nachname\nAna;Babić\n",
		"dates=mdy":   "Vorname;Nachname;Geburtstag\nAna;Horvat;01/02/1990\n",
		"map=Farbe=firstName,Form=lastName&update=&sheet=&encoding=&dates=": "Farbe;Form\nrot;rund\n",
		"encoding=windows-1250": "Vorname;Nachname\nAna;\xe8ovi\xe6\n",
	} {
		s.importPeople(t, query, content)
	}
	if s.list(t, "search="+"%C4%8Dovi%C4%87").TotalCount != 1 {
		t.Error("čović is not found")
	}
}

// TestImportQuestions checks that a preview lists the questions about a file, that an open one about
// columns or the whole list prevents its import, and that each answer has two forms.
func TestImportQuestions(t *testing.T) {
	t.Parallel()
	s := start(t)
	counted := s.contentOf(t)
	for _, tt := range []struct{ list, questions, answer, alias, answered, born string }{
		{"Vorname;Nachname;Geburtstag\nAna;Horvat;01/02/1990\n", "dates dmy mdy", "dates:mdy", "dates=mdy", "dates dmy mdy=mdy", "1990-01-02"},
		{"Vorname;Nachname;Geburtstag\nAna;\xe8ovi\xe6;1990-01-02\n", "encoding windows-1252 windows-1250 cp850 cp852 macintosh windows-1251 koi8-r windows-1253",
			"encoding:windows-1250", "encoding=Windows-1250", "", "1990-01-02"},
		{"Vorname;Nachname;Handy;geboren\nAna;Horvat;0911 222 333;1990-01-02\nEva;Kos;911222333;\n", "zero false true=false", "zero:true", "zero=1", "zero false true=true", "1990-01-02"},
		{"Vorname;Nachname;geboren\nAna;Horvat;1990-01-01T23:00:00Z\n", "midnight change keep", "midnight:change", "answer=midnight:change", "midnight change keep=change", "1990-01-02"},
		{"Vorname;Nachname;wann\nAna;Horvat;1990-01-02\n", "columns change keep", "columns:change", "answer=columns:change", "columns change keep=change", "1990-01-02"},
		{"Name;geboren\n\"Kos, Eva\";\n\"Kos, Mia\";\nSteiner Maria;1990-01-02\n", "names 4 first-last last-first", "names:last-first", "names=last-first",
			"names first-last last-first=last-first", ""},
	} {
		tried := s.do(t, "POST", importsPath, tt.list).report(t, 200)
		if got := tried.questions(); got != tt.questions {
			t.Errorf("%q asks %s, want %s", tt.list, got, tt.questions)
		}
		if blocks := !strings.Contains(tt.questions, "=") && tried.Perhaps == 0; blocks {
			p := s.do(t, "POST", importsPath+"?apply=true&skipBad=true", tt.list).wants(t, 422)
			if problem := p.problem(t); problem.Code != "rows_refused" || !strings.Contains(problem.Detail, "1 question is open ("+tt.questions[:5]) ||
				p.report(t, 422).questions() != tt.questions || s.contentOf(t) != counted {
				t.Errorf("%s", p.body)
			}
		}
		for _, query := range []string{"answer=" + tt.answer, tt.alias} {
			r := s.do(t, "POST", importsPath+"?apply=true&rows=all&"+query, tt.list).report(t, 201)
			if got := r.questions(); got != tt.answered || r.Added != len(r.Rows) {
				t.Errorf("%s: %s, %+v", query, got, r)
			}
			s.do(t, "DELETE", fmt.Sprint(importsPath, "/", *r.Number), "").wants(t, 200)
			counted = s.contentOf(t)
		}
	}
}

// TestImportSkips checks that rows that look like no people are left out without preventing an import,
// and that a request can take them, or leave out others.
func TestImportSkips(t *testing.T) {
	t.Parallel()
	s := start(t)
	const list = "Name;Telefon\nGruppe 1;\n\"Kos, Ana\";1\nx;2;3;4\nName;Telefon\n\"Kos, Eva\";2\nGesamt: 2;\nStand: 3.11.;\n"
	rows := func(query string, status int) string {
		t.Helper()
		r := s.do(t, "POST", importsPath+"?rows=all"+query, list).report(t, status)
		text := fmt.Sprint(r.counts(), " ", r.Skipped, ":")
		for _, row := range r.Rows {
			if text += fmt.Sprint(" ", row.Row, " ", row.Result); row.Why != "" {
				text += fmt.Sprintf(" %s %q", row.Why, row.Text)
			}
		}
		return text
	}
	for _, tt := range []struct {
		query string
		want  string
	}{
		{"", `2 0 0 1 4: 2 skipped group "Gruppe 1" 3 added 4 refused 5 skipped repeated "Name · Telefon" 6 added 7 skipped total "Gesamt: 2" 8 skipped note "Stand: 3.11."`},
		{"&skip=4&keep=2", `2 0 0 0 4: 2 perhaps 3 added 4 skipped chosen "x · 2 · 3 · 4" 5 skipped repeated "Name · Telefon" 6 added 7 skipped total "Gesamt: 2" 8 skipped note "Stand: 3.11."`},
	} {
		if got := rows(tt.query, 200); got != tt.want {
			t.Errorf("%s: %s", tt.query, got)
		}
	}
	if got := rows("&apply=true&skip=4,6", 201); !strings.HasPrefix(got, "1 0 0 0 6: ") || s.list(t, "").TotalCount != 1 {
		t.Errorf("imported: %s", got)
	}
	for wrong, want := range map[string]string{"skip=9": "skip unknown", "keep=9": "keep unknown", "skip=x&keep=0": "skip invalid, keep invalid"} {
		if got := s.do(t, "POST", importsPath+"?"+wrong, list).wants(t, 400).faults(t); got != want {
			t.Errorf("%s: %s", wrong, got)
		}
	}
}

// workbook returns a workbook with a sheet for each first name.
func workbook(t *testing.T, sheets map[string]string) string {
	t.Helper()
	book := excelize.NewFile()
	for name, first := range sheets {
		_, err := book.NewSheet(name)
		must(t, err)
		must(t, book.SetSheetRow(name, "A1", &[]string{"First name", "Last name"}))
		must(t, book.SetSheetRow(name, "A2", &[]string{first, "Horvat"}))
	}
	must(t, book.DeleteSheet("Sheet1"))
	content, err := book.WriteToBuffer()
	must(t, err)
	return content.String()
}

// TestImportSheets checks that a workbook with several sheets needs the parameter sheet.
func TestImportSheets(t *testing.T) {
	t.Parallel()
	s := start(t)
	book := workbook(t, map[string]string{"Active": "Ana", "Old": "Eva"})
	for query, want := range map[string]string{"": "sheet required", "sheet=None": "sheet unknown"} {
		if got := s.do(t, "POST", importsPath+"?"+query, book).wants(t, 400).faults(t); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	if r := s.do(t, "POST", importsPath+"?sheet=Old", book).report(t, 200); *r.File.Sheet != "Old" || *r.File.Format != "xlsx" || r.File.Encoding != nil || r.Added != 1 {
		t.Errorf("%+v", r)
	}
}

// TestImportOnce checks that an import that is repeated with the same key is applied once,
// whatever happened in between.
func TestImportOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	send := func(query, content string, status int) answer {
		t.Helper()
		return s.do(t, "POST", importsPath+"?"+query, content, idempotencyKey, "a").wants(t, status)
	}
	send("apply=false", csvOf(3), 200)
	send("apply=true", csvOf(3)+";;;x;;\n", 422)
	first := send("apply=true", csvOf(3), 201)
	s.do(t, "DELETE", importsPath+"/1", "").wants(t, 200)
	second := send("apply=true", csvOf(3), 201)
	if second.body != first.body || second.header.Get("Location") != importsPath+"/1" || second.header.Get("Idempotency-Replayed") != "true" || s.list(t, "").TotalCount != 0 {
		t.Errorf("%v %s, want %s", second.header, second.body, first.body)
	}
	for _, p := range []problemDetails{send("apply=true&update=true", csvOf(3), 422).problem(t), send("apply=true", csvOf(4), 422).problem(t),
		s.post(t, "a", ana).wants(t, 422).problem(t)} {
		if p.Code != "key_reused" {
			t.Errorf("%+v", p)
		}
	}
	s.post(t, "b", ana).wants(t, 201)
	s.do(t, "POST", importsPath+"?apply=true", csvOf(3), idempotencyKey, "b").wants(t, 422)
	s.do(t, "POST", importsPath+"?apply=true", csvOf(3), idempotencyKey, "č").wants(t, 400)
	body, contentType := form([3]string{"file", "a.csv", csvOf(5)})
	other, otherType := form([3]string{"file", "a.csv", csvOf(5)})
	for i, request := range [][2]string{{body, contentType}, {other, otherType}} { // another boundary
		a := s.do(t, "POST", importsPath+"?apply=true", request[0], "Content-Type", request[1], idempotencyKey, "c").wants(t, 201)
		if replayed := a.header.Get("Idempotency-Replayed") != ""; replayed != (i == 1) {
			t.Errorf("%d: %v", i, a.header)
		}
	}
	if s.list(t, "").TotalCount != 6 {
		t.Errorf("%d people", s.list(t, "").TotalCount)
	}
}

// TestUndoImportOfErased checks that undoing an import does not name a permanently deleted
// person, and does not restore a damaged previous record.
func TestUndoImportOfErased(t *testing.T) {
	t.Parallel()
	s := start(t)
	kept := s.create(t, `{"firstName":"Ana","lastName":"Person 0","email":"ana0@example.com"}`)
	number := s.importPeople(t, "update=true", csvOf(2))
	erased := s.list(t, "search=person+1").Data.Items[0].ID
	s.do(t, "DELETE", collection+"/"+erased, "").wants(t, 204)
	works(t, "purge", "--yes", erased, "--tenant", "default", "--db", s.db)
	execSQL(t, s.db, `UPDATE changes SET before = '{' WHERE record_id = ? AND action = 'replace'`, kept)
	a := s.do(t, "DELETE", fmt.Sprint(importsPath, "/", number), "").wants(t, 200)
	want := fmt.Sprintf(`{"number":%d,"deleted":0,"restored":0,"left":[{"id":%q,"name":"Ana Person 0","action":null},{"id":null,"name":null,"action":"purge"}]}`, number, kept)
	if a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
}

// TestUndoImport checks that undoing an import works once and skips records that have changed
// since.
func TestUndoImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	old := s.create(t, `{"firstName":"Ana","lastName":"Person 0","email":"ana0@example.com"}`)
	before := s.do(t, "GET", collection+"/"+old, "").body
	number := s.importPeople(t, "update=true", csvOf(4))
	changed := s.list(t, "search=person+2").Data.Items[0].ID
	deleted := s.list(t, "search=person+3").Data.Items[0].ID
	s.do(t, "PATCH", collection+"/"+changed, `{"lastName":"Horvat"}`).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+deleted, "").wants(t, 204)
	path := fmt.Sprint(importsPath, "/", number)
	a := s.do(t, "DELETE", path, "").wants(t, 200)
	want := fmt.Sprintf(`{"number":%d,"deleted":1,"restored":1,"left":[{"id":%q,"name":"Ana Horvat","action":"replace"},{"id":%q,"name":"Ana Person 3","action":"delete"}]}`,
		number, changed, deleted)
	if a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
	if after := s.do(t, "GET", collection+"/"+old, "").body; after != before || s.list(t, "").TotalCount != 2 {
		t.Errorf("%s became %s; %d people", before, after, s.list(t, "").TotalCount)
	}
	if p := s.do(t, "DELETE", path, "").wants(t, 409).problem(t); p.Code != "taken_back" {
		t.Errorf("again: %+v", p)
	}
	for number, status := range map[string]int{"2": 404, "99999999999999999999": 404, "0": 400, "x": 400, "-1": 400, "1.5": 400, "00": 400} {
		for _, method := range []string{"GET", "DELETE"} {
			a := s.do(t, method, importsPath+"/"+number, "").wants(t, status)
			if status == 400 && a.faults(t) != "number invalid" || status == 404 && a.problem(t).Code != "import" {
				t.Errorf("%s %s: %s", method, number, a.body)
			}
		}
	}
}

// TestImportList checks that the newest import comes first and that each department has
// separate numbers.
func TestImportList(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := s.as(newKey(t, s.db, "default", "--label", "front desk"))
	other := s.as(newKey(t, s.db, "other"))
	if body := s.do(t, "GET", importsPath, "").wants(t, 200).body; body != `{"items":[]}` {
		t.Errorf("at first: %s", body)
	}
	s.importPeople(t, "", csvOfOne("Ana", "A"))
	desk.importPeople(t, "", csvOf(3))
	if number := other.importPeople(t, "", csvOf(2)); number != 1 {
		t.Errorf("the other department begins with %d", number)
	}
	s.do(t, "DELETE", importsPath+"/1", "").wants(t, 200)
	type entry struct {
		Number         int64
		At             time.Time
		Key            *int64
		Label, File    *string
		Added, Changed int
		UndoneAt       *time.Time `json:"takenBackAt"`
	}
	var list struct{ Items []entry }
	decode(t, s.do(t, "GET", importsPath, "").body, &list)
	first, last := list.Items[1], list.Items[0]
	if len(list.Items) != 2 || last.Number != 2 || *last.Label != "front desk" || *last.Key != 2 || last.Added != 3 || last.UndoneAt != nil ||
		first.Number != 1 || first.UndoneAt == nil || first.UndoneAt.Before(first.At) || last.At.Before(first.At) {
		t.Errorf("%+v", list)
	}
	for _, item := range list.Items {
		var one entry
		if decode(t, s.do(t, "GET", fmt.Sprint(importsPath, "/", item.Number), "").body, &one); !reflect.DeepEqual(one, item) {
			t.Errorf("got %+v, want %+v as in the list", one, item)
		}
	}
	other.do(t, "GET", importsPath+"/2", "").wants(t, 404)
	other.do(t, "DELETE", importsPath+"/2", "").wants(t, 404)
}

// TestImportTooLarge checks that a client that sends a whole file that is too large before it
// reads receives the answer.
func TestImportTooLarge(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, size := range []int{upload.MaxFile + 1, upload.MaxBody + 1, 2 * upload.MaxBody} {
		conn := s.dial(t)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", importsPath, s.key, size)
		if _, err := conn.Write(bytes.Repeat([]byte("x"), size)); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		status, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || status != "HTTP/1.1 413 Request Entity Too Large\r\n" {
			t.Errorf("%d bytes: %q, %v", size, status, err)
		}
	}
}

// TestSlowUploads checks that clients that send a list slowly do not block others. When a
// department has too many of them, its next list is rejected until one ends.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	long := csvOf(1000) // too long for memory
	slow := func() net.Conn {
		conn := s.dial(t)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", importsPath, s.key, len(long)+1, long)
		return conn
	}
	var all []net.Conn
	for range 4 {
		all = append(all, slow())
	}
	s.do(t, "POST", importsPath, long).wants(t, 200)
	eventually(t, "a rejected list", func() bool {
		all = append(all, slow()) // some of these may also be rejected
		a := s.do(t, "POST", importsPath, long)
		return a.status == 503 && a.header.Get("Retry-After") != "" && a.problem(t).Code == "busy"
	})
	other.do(t, "POST", importsPath, long).wants(t, 200)
	all[0].Close()
	eventually(t, "a free place", func() bool { return s.do(t, "POST", importsPath, long).status == 200 })
}

// TestImportDisconnected checks that a client that disconnects while it sends a list, or while the
// service processes it, causes no error in the log, and that an incomplete request changes
// nothing.
func TestImportDisconnected(t *testing.T) {
	t.Parallel()
	form, formType := form([3]string{"file", "a.csv", csvOf(3000)})
	for _, request := range []struct{ contentType, body string }{{"text/csv", csvOf(3000)}, {formType, form}} {
		s := start(t)
		head := fmt.Sprintf("POST %s?apply=true&update=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
			importsPath, s.key, request.contentType, len(request.body))
		for _, part := range []int{0, len(request.body) / 2, len(request.body) - 1} {
			conn := s.dial(t)
			io.WriteString(conn, head+request.body[:part])
			conn.Close()
		}
		if all := s.list(t, "").TotalCount; all != 0 {
			t.Fatalf("an incomplete list added %d people", all)
		}
		for _, wait := range []time.Duration{0, 2, 5, 10, 20, 50, 100} {
			conn := s.dial(t)
			io.WriteString(conn, head+request.body)
			time.Sleep(wait * time.Millisecond)
			conn.(*net.TCPConn).SetLinger(0) // a reset
			conn.Close()
			if all := s.list(t, "").TotalCount; all != 0 && all != 3000 {
				t.Fatalf("%d people", all)
			}
		}
		s.importPeople(t, "", csvOfOne("Eva", "Last"))
	}
}

// TestPostsWhileImporting checks that the service keeps writing while a command imports many
// people. Writes wait at most 15 seconds for another program. The list is shorter with the race
// detector, which slows the import.
func TestPostsWhileImporting(t *testing.T) {
	s := start(t)
	people := unlessRace(17_000, 1_000)
	path := list(t, "list.csv", csvOf(people))
	done := make(chan bool)
	var posts sync.WaitGroup
	posts.Go(func() {
		for waiting := true; waiting; {
			select {
			case <-done:
				waiting = false
			case <-time.After(50 * time.Millisecond):
			}
			posts.Go(func() {
				a, err := s.try(t, "POST", collection, strings.NewReader(ana))
				if err != nil || a.status != 201 {
					t.Errorf("%d %s, %v", a.status, a.body, err)
				}
			})
		}
	})
	works(t, "import", path, "--tenant", firstDepartment, "--db", s.db, "--apply")
	close(done)
	posts.Wait()
	if total := int(s.list(t, "").TotalCount); total <= people {
		t.Errorf("%d people", total)
	}
}

// TestImportWithoutTemporaryFolder checks that an import reports that the folder for temporary files is
// missing, in the API and on the page.
func TestImportWithoutTemporaryFolder(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	cmd, _ := process(t, "--db", filepath.Join(t.TempDir(), "x.db"), "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "TMPDIR="+none, "TMP="+none, "TEMP="+none)
	s := startedProcess(t, cmd)
	list := csvOf(2000)
	a := s.do(t, "POST", importsPath, list).wants(t, 503)
	p := a.problem(t)
	if p.Code != "temp_files" || !strings.Contains(p.Detail, "temporary files") || a.header.Get("Retry-After") != "" {
		t.Errorf("%+v, %v", p, a.header)
	}
	b := s.signIn(t, s.key, "en")
	b.upload(t, "/office/import", "people.csv", list, nil).wants(t, 503).says(t, "Temporary files cannot be written")
	s.do(t, "POST", importsPath, csvOf(2)).wants(t, 200) // needs no file
}
