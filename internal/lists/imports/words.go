package imports

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

//go:embed messages.json
var files embed.FS

// messages are the sentences about files and their rows, by the codes of errors
// and notes. A key that ends in ".do" is of what to do about it.
var messages = sync.OnceValue(func() lang.Catalog { return lang.MustLoad("messages.json", files) })

// Words turns errors, notes and faults of rows into sentences.
type Words struct {
	Language *lang.Language
	Show     func(text string) string // how a text of a file stands in a sentence
	Quote    func(text string) string // likewise, in quotation marks
	Field    func(name string) string // what a field is called
}

// English are the words of the command line and of the API. Their numbers are not
// grouped: people and programs look for row 1200 by these digits.
var English = Words{Language: lang.ByTag("en").Ungrouped(), Show: asIs, Quote: strconv.Quote, Field: asIs}

func asIs(text string) string { return text }

// text returns a message. Arguments that are texts of a file are shown or quoted.
func (w Words) text(key string, args ...any) string {
	return messages().Text(w.Language, key, w.shown(args)...)
}

// count returns the message for a number of things.
func (w Words) count(key string, n int, args ...any) string {
	return messages().Count(w.Language, key, n, w.shown(args)...)
}

func (w Words) shown(args []any) []any {
	all := slices.Clone(args)
	for i, arg := range all {
		switch text := arg.(type) {
		case sheet.Places:
			all[i] = w.places(text)
		case sheet.Quoted:
			all[i] = w.Quote(string(text))
		case mapping.FieldName:
			all[i] = w.Field(string(text))
		case mapping.Headers:
			all[i] = w.list("list.and", w.quoted(text))
		case string:
			all[i] = w.Show(text)
		}
	}
	return all
}

// quoted returns texts of a file in quotation marks.
func (w Words) quoted(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = w.Quote(text)
	}
	return all
}

// places lists texts with the numbers of their rows.
func (w Words) places(some sheet.Places) string {
	var texts []string
	for _, p := range some.First {
		texts = append(texts, messages().Text(w.Language, "list.place", w.Quote(p.Text), strconv.Itoa(p.Row)))
	}
	all := strings.Join(texts, ", ")
	if some.More {
		all = messages().Text(w.Language, "list.more", all)
	}
	return all
}

// list joins texts with the word of the message key, "list.and" or "list.or",
// before the last.
func (w Words) list(key string, texts []string) string {
	n := len(texts) - 1
	if n < 1 {
		return strings.Join(texts, "")
	}
	return messages().Text(w.Language, key, strings.Join(texts[:n], ", "), texts[n])
}

// Note returns a note as a sentence. One that begins with a number counts.
func (w Words) Note(n sheet.Note) string {
	if len(n.Args) > 0 {
		if count, ok := n.Args[0].(int); ok {
			return w.count("note."+n.Code, count, n.Args[1:]...)
		}
	}
	return w.text("note."+n.Code, n.Args...)
}

// SameFile says that a file was imported before. day is the day of that in words.
func (w Words) SameFile(number int64, day string) string {
	return w.text("same", strconv.FormatInt(number, 10), day)
}

// Explain returns what is wrong with a file as a whole, and what to do where no
// option helps: a sentence each. do may be empty. ok is false for an error that is
// not about a file.
func (w Words) Explain(err error) (what, do string, ok bool) {
	if e, ok := errors.AsType[*sheet.FileError](err); ok {
		what, do = w.file(e)
		return what, do, true
	}
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok {
		what, do = w.columns(e)
		return what, do, true
	}
	if e, ok := errors.AsType[*mapping.DatesError](err); ok {
		return w.dates(e), "", true
	}
	if e, ok := errors.AsType[*EncodingError](err); ok {
		const none = "If none of these is right, save the list as .xlsx in the program it comes from."
		return uncertain, strings.Join(append(e.sentences(), none), " "), true
	}
	if e, ok := errors.AsType[*RowsError](err); ok {
		return messages().Text(w.Language, "rows."+e.Code, strconv.Itoa(e.Row)), "", true
	}
	return "", "", false
}

// Say returns what Explain does in one text.
func (w Words) Say(err error) string {
	what, do, _ := w.Explain(err)
	return strings.TrimSpace(what + " " + do)
}

func (w Words) file(e *sheet.FileError) (what, do string) {
	key, args := "file."+e.Code, e.Args
	if e.Code == sheet.FileTooMany { // of what is part of the key: languages bend the word
		key, args = fmt.Sprint(key, ".", args[0]), args[1:]
	}
	if do = w.text("file." + e.Code + ".do"); do == "file."+e.Code+".do" {
		do = ""
	}
	if what = w.text(key, args...); e.Code == sheet.FileDamaged && w.Language.Tag == "en" && len(args) > 0 {
		what = fmt.Sprintf("%s: %s.", strings.TrimSuffix(what, "."), w.shown(args)[0]) // the libraries say it in English
	}
	return what, do
}

func (w Words) columns(e *mapping.ColumnsError) (what, do string) {
	headers := w.quoted(e.Headers)
	all := w.list("list.and", headers)
	switch {
	case e.Code == mapping.ColumnsTwice:
		return messages().Text(w.Language, "columns.twice", w.Field(e.Field), all), ""
	case e.Code == mapping.ColumnsNoName && slices.Contains(e.Headers, ""):
		return messages().Text(w.Language, "columns.noHeaders", all), ""
	case e.Code == mapping.ColumnsNoName && len(headers) == 1:
		do = messages().Text(w.Language, "columns.oneNoName.do", w.Field(mapping.FullName))
		return messages().Text(w.Language, "columns.oneNoName", all), do
	case e.Code == mapping.ColumnsNoName:
		return messages().Text(w.Language, "columns.noName", all),
			messages().Text(w.Language, "columns.noName.do", w.Field("firstName"), w.Field("lastName"), w.Field(mapping.FullName))
	}
	return messages().Text(w.Language, "columns."+e.Code, all), ""
}

func (w Words) dates(e *mapping.DatesError) string {
	if e.Other != "" {
		return w.text("dates.conflict", sheet.Quoted(e.Header), sheet.Quoted(e.Example), sheet.Quoted(e.Other))
	}
	return w.text("dates.unsettled", sheet.Quoted(e.Header), sheet.Quoted(e.Example))
}

// uncertain has no message, nor have the sentences: the page shows the candidates as a
// choice instead.
const uncertain = "The encoding is not certain."

// sentences returns a sentence for each candidate.
func (e *EncodingError) sentences() (all []string) {
	for _, c := range e.Candidates {
		all = append(all, fmt.Sprintf("In %s: %s.", c.Encoding, c.Text()))
	}
	return all
}

// Text returns the names of the candidate, in quotes.
func (c Candidate) Text() string {
	quoted := make([]string, len(c.Names))
	for i, name := range c.Names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// Row returns why a row is refused that means somebody who is not certain. ok is
// false for every other fault.
func (w Words) Row(e record.FieldError, row *Row) (sentence string, ok bool) {
	if e.Field != mapping.FullName {
		return "", false
	}
	people, others := make([]string, len(row.People)), make([]string, len(row.Others))
	for i, person := range row.People {
		people[i] = w.Show(person)
	}
	for i, number := range row.Others {
		others[i] = strconv.Itoa(number)
	}
	could, rows := w.list("list.or", people), w.list("list.and", others)
	several := min(len(others), 2) // the sentences list the rows: in Croatian 21 is singular only where it stands there
	switch {
	case e.Code == record.Duplicate && len(people) > 0:
		return messages().Count(w.Language, "row.both", several, could, rows), true
	case e.Code == record.Duplicate:
		return messages().Count(w.Language, "row.duplicate", several, rows), true
	case e.Code == Exists:
		return messages().Text(w.Language, "row.exists", could), true
	case e.Code == Ambiguous && len(people) == 1:
		return messages().Text(w.Language, "row.unsure", could), true
	case e.Code == Ambiguous:
		return messages().Text(w.Language, "row.ambiguous", could), true
	}
	return "", false
}

// Why says in a few words why a row could be somebody, or how its name stands out.
func (w Words) Why(code string) string { return messages().Text(w.Language, "why."+code) }

// warnings returns what people should know about a file, in sentences. The first are about
// the candidates of Unsure.
func (f *File) warnings(r *Outcome) []string {
	all := []string{}
	if f.Unsure != nil {
		for _, candidate := range f.Unsure.sentences() {
			all = append(all, uncertain+" "+candidate)
		}
	}
	if r.Same != nil {
		all = append(all, English.SameFile(r.Same.Number, r.Same.At.Format("2 January 2006")))
	}
	for _, n := range r.Notes {
		all = append(all, English.Note(n))
	}
	return all
}

// fault returns what is wrong with a row beside the department and the other
// rows.
func fault(row *Row, v *verdict) record.FieldError {
	e := record.FieldError{Field: mapping.FullName, Code: v.fault}
	switch {
	case v.fault == record.Unknown && row.Deleted != "":
		e.Field, e.Detail = mapping.ID, "id is that of a person who was deleted."
	case v.fault == record.Unknown:
		e.Field, e.Detail = mapping.ID, "id is that of nobody in this department."
	default:
		e.Detail, _ = English.Row(e, row)
	}
	return e
}

// short returns a text for a sentence. The sentences of many rows may name the same
// people.
func short(text string) string { return lang.Short(text, 60) }

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
