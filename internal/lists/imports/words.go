package imports

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// warnings returns what people should know about a file, in sentences.
func (f *File) warnings(r *Report) []string {
	all := []string{}
	if r.Same != nil {
		all = append(all, fmt.Sprintf("This file was imported before: import %d on %s.", r.Same.Number, r.Same.At.Format("2 January 2006")))
	}
	for _, d := range f.Differs {
		all = append(all, explainEncoding(d))
	}
	for _, n := range r.Notes {
		all = append(all, warning(n))
	}
	return all
}

// noteWords are the sentences of notes: for one, and for several where they
// count.
var noteWords = map[string][2]string{
	sheet.NoteHiddenSheets:  {"Sheets that are hidden were not read: %s."},
	sheet.NoteMergedHeader:  {"Cells of the header are merged: %s. Only the first column of them has the header."},
	sheet.NoteTitle:         {"%d row above the header was left out: %q.", "%d rows above the header were left out. They begin with %q."},
	sheet.NoteHiddenRows:    {"%d row is hidden in the workbook. It was read like the others.", "%d rows are hidden in the workbook. They were read like the others."},
	mapping.NoteTwoDigits:   {"The year of %d date has two digits. It was read as the latest that is not in the future.", "The years of %d dates have two digits. Each was read as the latest that is not in the future."},
	mapping.NoteSplit:       {"%q was read as the first name %q and the last name %q."},
	mapping.NoteGuessedName: {"%d name has more than two words. Check where it was split.", "%d names have more than two words. Check where they were split."},
	mapping.NoteNoDate:      {"%d cell with %q was read as no date.", "%d cells with %q were read as no date."},
	mapping.NoteNotOurID:    {"The column %q was left out: it holds no ids of this service."},
}

// warning returns a note as a sentence.
func warning(n sheet.Note) string {
	words := noteWords[n.Code]
	format := words[0]
	if len(n.Args) > 0 && words[1] != "" && n.Args[0] != 1 {
		format = words[1]
	}
	return fmt.Sprintf(format, n.Args...)
}

// fileWords are the sentences of a *sheet.FileError: what the file is, and how to
// save it instead.
var fileWords = map[string]struct{ what, do string }{
	sheet.FileEmpty:     {"The file has no row below a header.", "Save the list with a row of headers, and below it a row for each person."},
	sheet.FileTooLarge:  {"The file is larger than %v MB.", "Save the list of people alone, without pictures and other sheets."},
	sheet.FileOldExcel:  {"This is an Excel 97–2003 workbook (.xls).", "Open it in Excel or LibreOffice and save it as .xlsx."},
	sheet.FileEncrypted: {"This workbook has a password.", "Open it in Excel or LibreOffice and save a copy as .xlsx without a password."},
	sheet.FileODS:       {"This is an OpenDocument spreadsheet (.ods).", "Open it in LibreOffice or Excel and save it as .xlsx."},
	sheet.FilePDF:       {"This is a PDF.", "Ask for the list as a spreadsheet, or copy its table into one and save it as .xlsx."},
	sheet.FileNumbers:   {"This is an Apple Numbers spreadsheet.", "Open it in Numbers and export it to Excel (.xlsx) or CSV."},
	sheet.FileZip:       {"This is a ZIP archive and no workbook.", "Unpack it and take the file in it."},
	sheet.FileXLSB:      {"This is a binary workbook (.xlsb).", "Open it in Excel or LibreOffice and save it as .xlsx."},
	sheet.FileXML:       {"This is an XML file.", "Open it in Excel or LibreOffice and save it as .xlsx."},
	sheet.FileBinary:    {"This is no spreadsheet, vCard or text.", "Save the list as .xlsx, .csv or .vcf."},
	sheet.FileHTML:      {"This is a web page.", "Open it in Excel or LibreOffice and save it as .xlsx."},
	sheet.FileDamaged:   {"The file is damaged: %v.", "Open it in the program that wrote it and save it again."},
	sheet.FileBomb:      {"The workbook unpacks to more than %v MB, or to more than a list of 100,000 people needs.", "Save the list of people alone as .xlsx or .csv."},
	sheet.FileCell:      {"The cell %v has more than %v characters.", "Shorten or delete it, and save the workbook again."},
	sheet.FileEncoding:  {"The file is not valid in the encoding %v.", ""},
	sheet.FileQuote:     {"The quote that begins in row %v does not end.", "Correct that row, or save the list as .xlsx."},
	sheet.FileTooMany:   {"The file has too many %v: the limit is %v.", "Save the list of people alone."},
	sheet.FileSheet:     {"The workbook has no sheet %q. It has %v.", ""},
	sheet.FileSheets:    {"The workbook has several sheets: %v.", ""},
	sheet.FileNoSheet:   {"All sheets of the workbook are empty or hidden.", "Show the sheet with the people, and save the workbook again."},
}

// Explain returns what is wrong with a file as a whole, and what to do where no
// option helps: a sentence each. do may be empty. ok is false for an error that is
// not about a file.
func Explain(err error) (what, do string, ok bool) {
	var file *sheet.FileError
	var columns *mapping.ColumnsError
	var dates *mapping.DatesError
	var encoding *EncodingError
	switch {
	case errors.As(err, &file):
		words := fileWords[file.Code]
		return fmt.Sprintf(words.what, file.Args...), words.do, true
	case errors.As(err, &columns):
		return explainColumns(columns), "", true
	case errors.As(err, &dates):
		return explainDates(dates), "", true
	case errors.As(err, &encoding):
		return explainEncoding(encoding.Differs[0]), "", true
	}
	return "", "", false
}

// Words returns what Explain does in one text.
func Words(err error) string {
	what, do, _ := Explain(err)
	return strings.TrimSpace(what + " " + do)
}

func explainEncoding(d Difference) string {
	return fmt.Sprintf("The encoding is not certain: row %d is %q in windows-1252, and %q in windows-1250.", d.Row, d.As1252, d.As1250)
}

func explainColumns(e *mapping.ColumnsError) string {
	headers := quoted(e.Headers)
	switch e.Code {
	case mapping.ColumnsTwice:
		if sameNames(e.Headers) {
			return fmt.Sprintf("Several columns could be %s, and all are called %q. Give them different headers, or remove those that are not meant.", e.Field, e.Headers[0])
		}
		return fmt.Sprintf("Several columns could be %s: %s.", e.Field, headers)
	case mapping.ColumnsNoName:
		if slices.Contains(e.Headers, "") {
			return fmt.Sprintf("No column has names. The headers are %s. If the real ones stand in a row below, remove the rows above it.", headers)
		}
		return fmt.Sprintf("No column has names. The columns are %s. Say which of them are firstName and lastName, or name.", headers)
	case mapping.ColumnsNoHeader:
		return "The first row is not a header: it has an e-mail address, a date or a phone number. Add a row above it that says what each column is."
	}
	return fmt.Sprintf("The file has no column %s.", headers)
}

func explainDates(e *mapping.DatesError) string {
	if e.Other != "" {
		return fmt.Sprintf("The dates in the column %q are written in different orders: %q and %q.", e.Header, e.Example, e.Other)
	}
	return fmt.Sprintf("The dates in the column %q, such as %q, could be day first or month first.", e.Header, e.Example)
}

// quoted lists texts for people.
func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = fmt.Sprintf("%q", text)
	}
	return listed(all, "and")
}

// listed joins texts as a sentence does.
func listed(texts []string, last string) string {
	if n := len(texts) - 1; n > 0 {
		return strings.Join(texts[:n], ", ") + " " + last + " " + texts[n]
	}
	return strings.Join(texts, "")
}

// mapReversed is what --map calls mapping.LastFirst.
const mapReversed = "nameReversed"

// SuggestMap returns an example of what --map could say to settle an error.
func SuggestMap(e *mapping.ColumnsError) string {
	if len(e.Headers) == 0 || slices.Contains(e.Headers, "") || len(e.Headers) > 1 && sameNames(e.Headers) {
		return ""
	}
	switch first := quoteHeader(e.Headers[0]); {
	case e.Code == mapping.ColumnsTwice && e.Field == mapping.LastFirst:
		return first + "=" + mapReversed
	case e.Code == mapping.ColumnsTwice:
		return first + "=" + e.Field
	case e.Code == mapping.ColumnsNoName && len(e.Headers) > 1:
		return first + "=firstName," + quoteHeader(e.Headers[1]) + "=lastName"
	case e.Code == mapping.ColumnsNoName:
		return first + "=" + mapping.FullName
	}
	return ""
}

// sameNames reports whether all headers are one, so that --map cannot tell them
// apart.
func sameNames(headers []string) bool {
	return !slices.ContainsFunc(headers, func(h string) bool { return !strings.EqualFold(h, headers[0]) })
}

// quoteHeader returns a header as --map takes it.
func quoteHeader(header string) string {
	if strings.ContainsAny(header, `,="`) {
		return `"` + strings.ReplaceAll(header, `"`, `""`) + `"`
	}
	return header
}

// fault returns what is wrong with a row beside the department and the other
// rows.
func (d *decision) fault(row *Row, p *mapping.Person, v *verdict) record.FieldError {
	switch {
	case v.fault == record.Unknown && d.deleted[p.ID]:
		return record.FieldError{Field: mapping.ID, Code: record.Unknown, Detail: "id is that of a person who was deleted."}
	case v.fault == record.Unknown:
		return record.FieldError{Field: mapping.ID, Code: record.Unknown, Detail: "id is that of nobody in this department."}
	}
	return record.FieldError{Field: mapping.FullName, Code: v.fault, Detail: explainMatch(row, v.fault)}
}

// apart says what would settle whom a row means.
const apart = "An e-mail address or a date of birth would tell."

func explainMatch(row *Row, fault string) string {
	others := fmt.Sprintf("rows %s", listed(strings.Fields(strings.Trim(fmt.Sprint(row.Others), "[]")), "and"))
	if len(row.Others) == 1 {
		others = fmt.Sprintf("row %d", row.Others[0])
	}
	people := listed(row.People, "or")
	switch {
	case fault == record.Duplicate && len(row.People) > 0:
		return fmt.Sprintf("The row could mean %s, and so could %s. %s", people, others, apart)
	case fault == record.Duplicate:
		return fmt.Sprintf("The row and %s mean the same person.", others)
	case len(row.People) == 1:
		return fmt.Sprintf("The row could mean %s, or somebody else of this name. %s", people, apart)
	}
	return fmt.Sprintf("The row could mean %s. %s", people, apart)
}

// short returns a text for a sentence. The sentences of many rows may name the same
// people.
func short(text string) string {
	const most = 60
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}

// describe returns what tells people of one name apart.
func describe(f record.Fields) string {
	var more []string
	if f.DateOfBirth != "" {
		more = append(more, f.Born().Format(time.DateOnly))
	}
	if f.Email != "" {
		more = append(more, short(f.Email))
	}
	name := short(f.FirstName + " " + f.LastName)
	if len(more) == 0 {
		return name
	}
	return name + " (" + strings.Join(more, ", ") + ")"
}
