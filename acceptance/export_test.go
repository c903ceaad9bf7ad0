package acceptance

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

const exportPath = "/api/v1/export"

// strange are names that a file format could change.
var strange = []string{"Čović", "=1+1", "'=x", "''", "+385", "@home", "-5", `a "b", c;d`, "王小明", "محمد", "\u200fשלום\u200f", "👩\u200d🚒", "a  b",
	"O'Neil", "sep=;", "NULL", "007", "1/2/2000", "#N/A", "\\n", "Ωμέγα", "<b>&amp;", "e\u0301"}

// TestExport checks that an export in each format can be imported without a loss.
func TestExport(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, name := range strange {
		s.create(t, fmt.Sprintf(`{"firstName":%q,"lastName":%q,"phoneNumber":"'+%d","dateOfBirth":"1990-05-15T00:00:00+02:00"}`, name, name, i))
	}
	s.create(t, ana)
	execSQL(t, s.db, `UPDATE firefighters SET invitation_status = 'sent', user_id = '`+nobody+`' WHERE first_name = 'Ana'`)
	for format, contentType := range map[string]string{"": "text/csv; charset=utf-8", "csv": "text/csv; charset=utf-8", "vcf": "text/vcard; charset=utf-8",
		"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "jsonl": "application/x-ndjson"} {
		a := s.do(t, "GET", exportPath+"?format="+format, "").wants(t, 200)
		name := regexp.MustCompile(`^attachment; filename="people-(\d{4}-\d\d-\d\d)\.(\w+)"$`).FindStringSubmatch(a.header.Get("Content-Disposition"))
		if !strings.HasPrefix(a.header.Get("Content-Type"), strings.Split(contentType, ";")[0]) || name == nil || name[2] != cmp.Or(format, "csv") {
			t.Errorf("%s: %v", format, a.header)
		}
		if day := time.Now().Format(time.DateOnly); name[1] > day || name[1] < "2020" {
			t.Errorf("%s: the date is %s", format, name[1])
		}
		counted := s.contentOf(t)
		r := s.do(t, "POST", importsPath+"?apply=true&update=true", a.body).report(t, 200)
		if r.counts() != fmt.Sprint(0, 0, len(strange)+1, 0) || s.contentOf(t) != counted {
			t.Errorf("%s: %+v", format, r)
		}
		head := s.do(t, "HEAD", exportPath+"?format="+format, "").wants(t, 200)
		if head.header.Get("Content-Type") != a.header.Get("Content-Type") || head.header.Get("Content-Disposition") != a.header.Get("Content-Disposition") {
			t.Errorf("HEAD %s: %v", format, head.header)
		}
	}
}

// namesInCSV returns the last names in a CSV.
func namesInCSV(t *testing.T, text string) string {
	t.Helper()
	text, marked := strings.CutPrefix(text, "\ufeff")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !marked || !strings.Contains(text, "userId\r\n") {
		t.Fatalf("%q: %v", text, err)
	}
	var names []string
	for _, row := range rows[1:] {
		names = append(names, row[2])
	}
	return strings.Join(names, " ")
}

// TestExportSelects checks that search and order of an export work as in a list, except for
// the default order.
func TestExportSelects(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"Čović", "Babić", "Zorić", "Covic", "Ana"} {
		s.create(t, fmt.Sprintf(`{"firstName":"A","lastName":%q}`, name))
	}
	s.as(newKey(t, s.db, "other")).create(t, `{"firstName":"A","lastName":"Other"}`)
	for query, want := range map[string]string{"": "Čović Babić Zorić Covic Ana", "sortDir=desc": "Ana Covic Zorić Babić Čović",
		"sortBy=lastName": "Ana Babić Čović Covic Zorić", "sortBy=lastName&sortDir=DESC": "Zorić Covic Čović Babić Ana",
		"search=cov": "Čović Covic", "search=nobody": "", "search=": "Čović Babić Zorić Covic Ana"} {
		if got := namesInCSV(t, s.do(t, "GET", exportPath+"?"+query, "").wants(t, 200).body); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	for _, method := range []string{"GET", "HEAD"} {
		a := s.do(t, method, exportPath+"?format=pdf&sortBy=name&sortDir=up&search="+strings.Repeat("x", 101), "").wants(t, 400)
		if method == "GET" && a.faults(t) != "format invalid, search too_long, sortBy invalid, sortDir invalid" {
			t.Errorf("%s", a.faults(t))
		}
	}
	book, err := excelize.OpenReader(strings.NewReader(s.do(t, "GET", exportPath+"?format=xlsx&search=zor", "").wants(t, 200).body))
	must(t, err)
	rows, err := book.GetRows(book.GetSheetName(0))
	if err != nil || len(rows) != 2 || rows[1][2] != "Zorić" {
		t.Errorf("%q, %v", rows, err)
	}
}

// TestExportOfMany checks an export that does not fit into memory, while some clients stop
// reading.
func TestExportOfMany(t *testing.T) {
	t.Parallel()
	people := unlessRace(12_000, 2_000)
	s := startInvented(t, people)
	for range 6 {
		conn := s.dial(t)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", exportPath, s.key)
		io.ReadFull(conn, make([]byte, 100))
	}
	whole := s.do(t, "GET", exportPath+"?sortBy=lastName", "").wants(t, 200)
	if rows := bytes.Count([]byte(whole.body), []byte("\r\n")); rows != people+1 || len(whole.body) < people*80 {
		t.Errorf("%d rows of %d bytes", rows, len(whole.body))
	}
	s.create(t, ana)
}
