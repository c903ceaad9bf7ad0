package imports

import (
	"cmp"
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
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

//go:embed messages.json
var files embed.FS

// messages are the messages for error and note codes. A key with the suffix ".do" is advice on what
// to do.
var messages = sync.OnceValue(func() lang.Catalog { return lang.MustLoad("messages.json", files) })

// Words formats errors, notes and row errors as sentences.
type Words struct {
	Language *lang.Language
	Show     func(text string) string // formats text from a file
	Quote    func(text string) string // quotes text from a file
	Field    func(name string) string // returns the name of a field
}

// English formats messages for the command line and the API. It does not group digits, so that row
// 1200 can be found by its number.
var English = Words{Language: lang.ByTag("en").Ungrouped(), Show: asIs, Quote: strconv.Quote, Field: asIs}

func asIs(text string) string { return text }

func (w Words) text(key string, args ...any) string {
	return messages().Text(w.Language, key, w.shown(args)...)
}

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
		case sheet.Examples:
			all[i] = strings.Join(w.quoted(text), ", ")
		case sheet.ReadDay:
			all[i] = messages().Text(w.Language, "ask.day", w.Quote(text.Text), w.Language.Day(text.Day))
		case []mapping.Name:
			all[i] = w.names(text)
		case mapping.Headers:
			all[i] = w.list("list.and", w.quoted(text))
		case string:
			all[i] = w.Show(text)
		}
	}
	return all
}

func (w Words) quoted(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = w.Quote(text)
	}
	return all
}

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

// list joins texts, using the message key "list.and" or "list.or" before the last.
func (w Words) list(key string, texts []string) string {
	n := len(texts) - 1
	if n < 1 {
		return strings.Join(texts, "")
	}
	return messages().Text(w.Language, key, strings.Join(texts[:n], ", "), texts[n])
}

// Note returns a note as a sentence. A note whose first argument is a number is a plural message.
func (w Words) Note(n sheet.Note) string {
	if len(n.Args) > 0 {
		if count, ok := n.Args[0].(int); ok {
			return w.count("note."+n.Code, count, n.Args[1:]...)
		}
	}
	return w.text("note."+n.Code, n.Args...)
}

// SameFile returns a sentence about an earlier import of the same file. day is the formatted date.
func (w Words) SameFile(number int64, day string) string {
	return w.text("same", strconv.FormatInt(number, 10), day)
}

// Explain returns a sentence about an error in a file and advice on what to do, which may be empty.
// It returns false for an error that is not about a file.
func (w Words) Explain(err error) (what, do string, ok bool) {
	if e, ok := errors.AsType[*sheet.FileError](err); ok {
		what, do = w.file(e)
		return what, do, true
	}
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok {
		what, do = w.columns(e)
		return what, do, true
	}
	if e, ok := errors.AsType[*RowsError](err); ok {
		return messages().Text(w.Language, "rows."+e.Code, strconv.Itoa(e.Row)), "", true
	}
	return "", "", false
}

// Say returns the sentences of Explain as one text.
func (w Words) Say(err error) string {
	what, do, _ := w.Explain(err)
	return strings.TrimSpace(what + " " + do)
}

func (w Words) file(e *sheet.FileError) (what, do string) {
	key, args := "file."+e.Code, e.Args
	if e.Code == sheet.FileTooMany { // the unit is part of the key because languages inflect it
		key, args = fmt.Sprint(key, ".", args[0]), args[1:]
	}
	do = w.known("file." + e.Code + ".do")
	if e.Code == sheet.FileOldExcel || e.Code == sheet.FileODS {
		do = w.text("file.saveAs.do")
	}
	if what = w.text(key, args...); e.Code == sheet.FileDamaged && w.Language.Tag == "en" && len(args) > 0 {
		what = fmt.Sprintf("%s: %s.", strings.TrimSuffix(what, "."), w.shown(args)[0]) // libraries report errors in English
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

// Question returns a question as a sentence.
func (w Words) Question(q sheet.Question) string { return w.text("ask."+q.Kind, q.Args...) }

// IfNone returns what to do if no option of a question is right, or an empty text.
func (w Words) IfNone(q sheet.Question) string { return w.known("ask." + q.Kind + ".do") }

// Option returns the label of an option, and an example of what the list then means, which may be
// empty.
func (w Words) Option(kind string, o sheet.Option) (label, example string) {
	if o.Example != nil {
		example, _ = w.shown([]any{o.Example})[0].(string)
	}
	return cmp.Or(w.known("ask."+kind+"."+o.Value), w.Show(o.Value)), example
}

// known returns the text of a key, or an empty text if it has none.
func (w Words) known(key string) string {
	if text := w.text(key); text != key {
		return text
	}
	return ""
}

// Name returns a name, with a label for each part.
func (w Words) Name(name mapping.Name) string { return w.text("ask.name", name.First, name.Last) }

func (w Words) names(all []mapping.Name) string {
	texts := make([]string, len(all))
	for i, name := range all {
		texts[i] = w.Name(name)
	}
	return strings.Join(texts, "; ")
}

// Row returns a sentence about an ambiguous row. It returns false for other errors.
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
	candidates, rows := w.list("list.or", people), w.list("list.and", others)
	several := min(len(others), 2) // sentences list rows instead of counting them; in Croatian, 21 would be singular
	switch {
	case e.Code == record.Duplicate && len(people) > 0:
		return messages().Count(w.Language, "row.both", several, candidates, rows), true
	case e.Code == record.Duplicate:
		return messages().Count(w.Language, "row.duplicate", several, rows), true
	case e.Code == Exists:
		return messages().Text(w.Language, "row.exists", candidates), true
	case e.Code == Ambiguous && len(people) == 1:
		return messages().Text(w.Language, "row.unsure", candidates), true
	case e.Code == Ambiguous:
		return messages().Text(w.Language, "row.ambiguous", candidates), true
	}
	return "", false
}

// generation is the number of years from which different dates of birth suggest father and son.
const generation = 15

// Why returns a short reason why a row is a possible duplicate or has an unclear name, and the
// contradiction if people with one name were born on different days.
func (w Words) Why(row *Row, like Like) string {
	theirs, ours := row.Fields.Born(), like.Person.Born()
	if like.Why != SameName || theirs.IsZero() || ours.IsZero() {
		return messages().Text(w.Language, "why."+like.Why)
	}
	if years := theirs.Year() - ours.Year(); years >= generation || years <= -generation {
		return messages().Text(w.Language, "why.generations", strconv.Itoa(ours.Year()), strconv.Itoa(theirs.Year()))
	}
	return messages().Text(w.Language, "why.born", w.Language.Day(calendar.Of(ours)), w.Language.Day(calendar.Of(theirs)))
}

// Skip returns a short reason why a row is left out.
func (w Words) Skip(why string) string { return messages().Text(w.Language, "skip."+why) }

// Kind returns the reason for all possible duplicates of a kind.
func (w Words) Kind(kind string) string { return messages().Text(w.Language, "why."+kind) }

// warnings returns the notes about a file as sentences.
func (f *File) warnings(r *Outcome) []string {
	all := []string{}
	if r.Same != nil {
		all = append(all, English.SameFile(r.Same.Number, r.Same.At.Format("2 January 2006")))
	}
	for _, n := range r.Notes {
		all = append(all, English.Note(n))
	}
	return all
}

// fault returns the error for a row that conflicts with the department or other rows.
func fault(row *Row, v *verdict) record.FieldError {
	e := record.FieldError{Field: mapping.FullName, Code: v.fault}
	switch {
	case v.fault == record.Unknown && row.Deleted != "":
		e.Field, e.Detail = mapping.ID, "id belongs to a deleted person."
	case v.fault == record.Unknown:
		e.Field, e.Detail = mapping.ID, "id does not belong to a person in this department."
	default:
		e.Detail, _ = English.Row(e, row)
	}
	return e
}

// short truncates text, because the messages of many rows may name the same people.
func short(text string) string { return lang.Short(text, 60) }

// describe returns a name with date of birth and email address, to tell namesakes apart.
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
