package xlsx

import (
	"fmt"
	"strings"
	"testing"
)

// TestShow checks that formats with leading zeros, a plus or dialing groups apply to numbers, and
// that all other formats leave them unchanged.
func TestShow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ format, number, want string }{
		{`0#" "##" "##" "##" "##`, "612345678", "06 12 34 56 78"},
		{`0#" "##" "##" "##" "##`, "12345", "0 1 23 45"},
		{`0#\ ##\ ##\ ##\ ##`, "612345678", "06 12 34 56 78"},
		{`0000 0000000`, "9123456", "0000 9123456"},
		{`0000 0000000`, "8001234567", "0800 1234567"},
		{`0000 0000000`, "385912345678", "38591 2345678"},
		{`"+"0`, "385912345678", "+385912345678"},
		{`+0`, "385912345678", "+385912345678"},
		{`\+0`, "385912345678", "+385912345678"},
		{`+0;-0;0`, "385912345678", "+385912345678"},
		{`+0;-0;0`, "0", "0"},
		{`"+"General`, "385912345678", "+385912345678"},
		{`"+"#" "##" "###" "####`, "385912345678", "+385 91 234 5678"},
		{`[$-407]"+"0`, "49301234", "+49301234"},
		{`[Red]\(0\)`, "49301234", "49301234"},
		{`[Red]"+"0`, "49301234", "+49301234"},
		{`"00"0`, "385912345678", "00385912345678"},
		{`00000`, "1234", "01234"},
		{`00000;-00000;;@`, "1234", "01234"},
		{`00000_-`, "1234", "01234"},
		{`* 00000`, "1234", "01234"},
		{`0"/"000000`, "30123456", "30/123456"},
		{`00\/000000`, "30123456", "30/123456"},
		{`0000"/"000000`, "301234567", "0301/234567"},
		{`[<=9999999]###-####;(###) ###-####`, "5551234", "555-1234"},
		{`[<=9999999]###\-####;\(###\)\ ###\-####`, "2125551234", "(212) 555-1234"},
		{`[<=9999999]000-0000;000 000 0000`, "555123", "055-5123"},
		{`[<=9999999]000-0000;000 000 0000`, "112345678", "011 234 5678"},
		{`[>9999999]"0"0;"091 "0`, "5551234", "091 5551234"},
		{`[<10]"a"00;[<100]"b"00;"c"000`, "50", "b50"},
		{`[<10]"a"00;[<100]"b"00;"c"000`, "500", "c500"},
		{`[<10]"a"00;[<100]"b"00`, "500", "500"},
		{`[=7]"+"0;[<>8]"0"0;00`, "8", "08"},
		{`[>=7]"+"0;00`, "7", "+7"},
		{`000-00-0000`, "12345678", "012-34-5678"},
		{`"Ä"00`, "5", "Ä05"},
		{`00 00`, "5", "00 05"},

		{`General`, "612345678", "612345678"},
		{``, "612345678", "612345678"},
		{`0`, "612345678", "612345678"},
		{`#`, "612345678", "612345678"},
		{`@`, "612345678", "612345678"},
		{`0" €"`, "612345678", "612345678"},
		{`#,##0`, "612345678", "612345678"},
		{`# ##0`, "612345678", "612345678"},
		{`#\ ###\ ##0`, "612345678", "612345678"},
		{`#,##0.00`, "612345678", "612345678"},
		{`00000.00`, "12", "12"},
		{`000%`, "12", "12"},
		{`0.00E+00`, "612345678", "612345678"},
		{`00E+00`, "612345678", "612345678"},
		{`# ?/?`, "12", "12"},
		{`dd.mm.yyyy`, "33008", "33008"},
		{`[$-407]dd/mm/yyyy`, "33008", "33008"},
		{`yyyy"-"00`, "33008", "33008"},
		{`[hh]:00`, "33008", "33008"},
		{`[DBNum1]00000`, "12", "12"},
		{`[<x]00000`, "12", "12"},
		{`_-* #,##0_-;-* #,##0_-`, "12", "12"},
		{`00000`, "33008", "33008"},
		{`00000`, "-12", "-12"},
		{`00000`, "1.5", "1.5"},
		{`00000000000000000000`, "1234567890123456", "1234567890123456"},
		{`"`, "12", "12"},
		{`\`, "12", "12"},
		{`[`, "12", "12"},
		{strings.Repeat("0", 2000), "12", "12"},
	} {
		if got := parseFormat(test.format).show(test.number); got != test.want {
			t.Errorf("%s as %s is %q, want %q", test.number, test.format, got, test.want)
		}
	}
}

// TestStyles checks that each number gets the format of its style, in workbooks of various
// programs.
func TestStyles(t *testing.T) {
	t.Parallel()
	styles := func(formats, cells string) parts {
		return parts{
			"xl/styles.xml": `<styleSheet><numFmts count="1">` + formats + `</numFmts><cellStyleXfs count="1"><xf numFmtId="164"/></cellStyleXfs>` +
				`<cellXfs>` + cells + `</cellXfs><dxfs><dxf><numFmt numFmtId="164" formatCode="0"/></dxf></dxfs></styleSheet>`,
		}
	}
	const phone, cell = `<numFmt numFmtId="164" formatCode="&quot;0&quot;#&quot; &quot;###"/>`, `<xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="14"/>`
	const row = `<row><c><v>91234</v></c><c s="0"><v>91234</v></c><c s="1"><v>91234</v></c><c s="2"><v>91234</v></c><c s="9"><v>91234</v></c>` +
		`<c s="1" t="str"><v>91234</v></c><c s="1"><f>A1</f><v>9.1234E4</v></c><c s="1"><v>91234.5</v></c></row>`
	plain, shown := Cell{Text: "91234", Kind: Number}, Cell{Text: "091 234"}
	want := cells(plain, plain, shown, Cell{Text: "2149-10-14", Kind: Date}, plain, "91234", shown, Cell{Text: "91234.5", Kind: Number})
	without := cells(plain, plain, plain, plain, plain, "91234", plain, Cell{Text: "91234.5", Kind: Number})
	broken := styles(phone, cell)
	broken["xl/styles.xml"] = strings.Replace(broken["xl/styles.xml"], "<cellXfs>", "<cellXfs", 1)
	missing := styles(phone, cell)
	missing["xl/styles.xml"] = ""
	for name, test := range map[string]struct {
		parts parts
		want  []Cell
	}{"sound": {styles(phone, cell), want}, "broken": {broken, without}, "missing": {missing, without}} {
		rows, err := rowsOf(book(row, test.parts).zip(t))
		if err != nil || len(rows) != 1 || fmt.Sprint(rows[0].Cells) != fmt.Sprint(test.want) {
			t.Errorf("%s: got %v (%v), want %v", name, rows, err, test.want)
		}
	}
	for name, p := range map[string]parts{
		"styles":  styles(phone, strings.Repeat("<xf/>", maxStyles+1)),
		"formats": styles(strings.Repeat(`<numFmt numFmtId="1" formatCode="0"/>`, 10), strings.Repeat("<a/>", 1<<20)),
	} {
		if _, err := limited(t, book(row, p), limits{unpacked: 8 << 20, text: 1 << 20, marks: 1 << 20}); err != ErrTooLarge && !strings.Contains(fmt.Sprint(err), ErrTooLarge.Error()) {
			t.Errorf("too many %s: got the error %v", name, err)
		}
	}
}

// TestLowDates checks that a number that may be a year is a date only if its format shows one.
func TestLowDates(t *testing.T) {
	t.Parallel()
	const formats = `<numFmt numFmtId="164" formatCode="dd.mm.yyyy"/><numFmt numFmtId="165" formatCode="0&quot; day&quot;\d[$-de-DE]"/>`
	p := parts{"xl/styles.xml": `<styleSheet><numFmts count="2">` + formats + `</numFmts>` +
		`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`}
	const row = `<row><c s="0"><v>1985</v></c><c s="1"><v>1</v></c><c s="2"><v>1985</v></c><c s="2"><v>33008</v></c><c s="3"><v>1985</v></c></row>`
	want := cells(Cell{Text: "1985", Kind: Number}, Cell{Text: "1900-01-01"}, Cell{Text: "1905-06-07", Kind: Date},
		Cell{Text: "1990-05-15", Kind: Date}, Cell{Text: "1985", Kind: Number})
	if rows, err := rowsOf(book(row, p).zip(t)); err != nil || len(rows) != 1 || fmt.Sprint(rows[0].Cells) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", rows, err, want)
	}
}

// TestUncalculated checks that only formulas without a stored value are counted, not those with an
// empty text.
func TestUncalculated(t *testing.T) {
	t.Parallel()
	for xml, want := range map[string]int{
		`<c><f>A2</f></c><c><f>A2</f><v></v></c><c><f>A2</f><v/></c>`:                         3,
		`<c t="str"><f>A2</f></c><c t="n"><f t="shared" si="0"/></c>`:                         2,
		`<c t="str"><f>""</f><v></v></c><c><f>1</f><v>0</v></c><c t="e"><f>A</f><v>#</v></c>`: 0,
		`<c><v>1</v></c><c/><f>A2</f><c/>`:                                                    0,
	} {
		rows, err := rowsOf(book("<row>"+xml+"</row>", nil).zip(t))
		if err != nil || len(rows) != 1 || rows[0].Uncalculated != want {
			t.Errorf("%s: got %+v (%v), want %d", xml, rows, err, want)
		}
	}
}

// FuzzFormat checks that a format keeps all digits of a number in order.
func FuzzFormat(f *testing.F) {
	for _, format := range []string{`0#" "##`, `[<=99]00-00;(##) ##`, `"+"General`, `[$€-407]#,##0`, `\0_)*-;;;@`, `[Red`, `"`} {
		f.Add(format, uint64(612345678))
	}
	f.Fuzz(func(t *testing.T, format string, number uint64) {
		text := fmt.Sprint(number % 1_000_000_000_000_000)
		shown := parseFormat(format).show(text)
		for _, digit := range strings.TrimLeft(text, "0") {
			_, rest, found := strings.Cut(shown, string(digit))
			if shown = rest; !found {
				t.Fatalf("%s as %q lost a digit", text, format)
			}
		}
	})
}
