package mapping

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// particles begin a last name: "van der Berg", "de la Cruz".
var particles = words(`von van vom zu zum zur de der den des del della di da dal do dos das du la le les
	af av ten ter te op bin ibn el`)

// salutations precede a name. They are folded and without periods.
var salutations = words(`mr mrs ms miss mx herr herrn frau hr monsieur madame mademoiselle mme mlle sr sra srta senor senora senorita
	gosp gospodin gospodja gospoda gda gdja gdica gospodica`)

// degrees follow a first and a last name. They are folded and without periods. After a last name
// only, they are initials, as in "Müller, M.A.".
var degrees = words(`ba ma md mba bba mph rn esq dds dmd dvm jd edd cpa bed med beng meng`)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

type nameForm uint8

const (
	oneName  nameForm = iota // first or last name missing
	noComma                  // "Hans Müller", or "Müller Hans"
	comma                    // "Müller, Hans"
	titleMid                 // "Müller Dr. Hans"
)

type fullName struct {
	form    nameForm
	name    Name
	other   Name // the reading with the last name at the other end
	guessed bool // more than two words without a comma
	titles  []string
}

// splitName splits a full name. A comma ends the last name. Without a comma, the last name is the
// last word, or the first word if lastFirst is set, with the particles before it. A single word is
// the first name, unless it has a title, suffix or comma. Titles are removed; a generational suffix
// belongs to the last name.
func splitName(cell string, lastFirst, french bool) (n fullName) {
	var parts [][]string // words of names between commas
	var suffix []string
	bare := true // only titles and suffixes were removed
	for i, text := range strings.Split(cell, ",") {
		part := n.strip(text, parts, french)
		suffix = append(suffix, part.suffix...)
		if i == 0 && strings.TrimSpace(text) == "" || len(part.words) > 0 {
			parts = append(parts, part.words)
		}
		bare = bare && (i == 0 || len(part.words) == 0 && strings.TrimSpace(text) != "")
		if part.between {
			n.form = titleMid
		}
	}
	switch {
	case len(parts) == 0:
		n.name.Last = strings.Join(suffix, " ")
		return n
	case len(parts) > 1 || !bare:
		n.withComma(parts)
	default:
		n.withoutComma(parts[0], lastFirst, len(suffix)+len(n.titles) > 0)
		n.guessed = n.form != oneName && len(parts[0])+len(suffix) > 2
	}
	for _, last := range []*string{&n.name.Last, &n.other.Last} {
		if *last != "" {
			*last = strings.Join(append([]string{*last}, suffix...), " ")
		}
	}
	return n
}

func (n *fullName) withComma(parts [][]string) {
	var first []string
	for _, part := range parts[1:] {
		first = append(first, strings.Join(part, " "))
	}
	n.name = Name{strings.Join(first, ", "), strings.Join(parts[0], " ")}
	n.other = Name{n.name.Last, n.name.First}
	n.form = comma
	if n.name.First == "" || n.name.Last == "" {
		n.form = oneName
	}
}

// withoutComma handles a name without a comma. titled reports whether a title or suffix was
// removed.
func (n *fullName) withoutComma(all []string, lastFirst, titled bool) {
	if titled && endOfLast(all) >= len(all)-1 && (len(all) == 1 || particles[fold.String(all[0])]) {
		n.name.Last = strings.Join(all, " ")
		n.form = oneName
		return
	}
	start, end := startOfLast(all), endOfLast(all)
	n.name = Name{strings.Join(all[:start], " "), strings.Join(all[start:], " ")}
	n.other = Name{strings.Join(all[end:], " "), strings.Join(all[:end], " ")}
	if lastFirst {
		n.name, n.other = n.other, n.name
	}
	if len(all) < 2 {
		n.form = oneName
	} else if n.form == oneName {
		n.form = noComma
	}
}

// withTitles returns a full name with the last name at the end, keeping titles and suffixes in
// place.
func withTitles(cell string, lastFirst bool) string {
	all := strings.Fields(cell)
	if last, first, ok := strings.Cut(cell, ","); ok {
		all = slices.Concat(strings.Fields(first), strings.Fields(last))
	} else if lastFirst {
		end := endOfLast(all)
		all = slices.Concat(all[end:], all[:end])
	}
	return strings.Join(all, " ")
}

// startOfLast returns the index where the last name starts if the first name comes first. At least
// one word is the first name.
func startOfLast(all []string) int {
	at := len(all) - 1
	for at > 1 && particles[fold.String(all[at-1])] {
		at--
	}
	return max(at, min(1, len(all)))
}

// endOfLast returns the index where the last name ends if it comes first.
func endOfLast(all []string) int {
	at := 0
	for at < len(all)-2 && particles[fold.String(all[at])] {
		at++
	}
	if len(all) < 2 {
		return 0
	}
	return at + 1
}

type namePart struct {
	words   []string // words of the name
	suffix  []string // generational suffixes
	between bool     // a title is between the words
}

// strip removes titles and suffixes from a part of a name. before are the preceding parts with
// words.
func (n *fullName) strip(text string, before [][]string, french bool) (p namePart) {
	all := alike.Words(text)
	if len(before) > 0 && len(before[0]) > 1 && allDegrees(all) {
		n.leaveOut(all)
		return p
	}
	start, end := 0, len(all)
	for start < end && (all[start].Title == alike.Academic || isSalutation(all[start:], len(before) > 0, french)) {
		start++
	}
	for end > start {
		last, count := all[end-1], end-start
		title := last.Title != alike.NoTitle && !(count == 2 && isLoneName(last))
		if !title && !(count > 2 && isDegree(last, false)) {
			break
		}
		end--
	}
	n.leaveOut(all[:start])
	for i, word := range all[start:] {
		switch {
		case start+i < end && word.Title != alike.Academic:
			p.words = append(p.words, word.Text)
		case word.Title == alike.Generation:
			p.suffix = append(p.suffix, word.Text)
		default:
			p.between = p.between || start+i < end
			n.leaveOut(all[start+i : start+i+1])
		}
	}
	return p
}

func (n *fullName) leaveOut(titles []alike.Word) {
	for _, title := range titles {
		n.titles = append(n.titles, title.Text)
	}
}

// isSalutation reports whether all starts with a salutation, or with a title that can be a name
// elsewhere. A single word is a salutation only after a name.
func isSalutation(all []alike.Word, behind, french bool) bool {
	word := fold.String(all[0].Text)
	if len(all) == 1 && (!behind || all[0].Title != alike.NoTitle) {
		return false
	}
	switch {
	case word == "m.":
		return french
	case all[0].Text == "DI": // Diplomingenieur; "DI MARIO" is a name
		return len(all) > 2 && strings.ToUpper(all[1].Text) != all[1].Text
	}
	return salutations[strings.Trim(word, ".")] || word == "fr."
}

func allDegrees(all []alike.Word) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(w alike.Word) bool { return w.Title != alike.Academic && !isDegree(w, true) })
}

// isDegree reports whether a word is a degree written with periods or, if capitals is set, in
// capitals.
func isDegree(word alike.Word, capitals bool) bool {
	plain := strings.ReplaceAll(word.Text, ".", "")
	return (plain != word.Text || capitals && strings.ToUpper(plain) == plain) && degrees[fold.String(plain)]
}

// isLoneName reports whether a suffix is a name after a single word, as in "Neymar Junior".
func isLoneName(word alike.Word) bool {
	folded := fold.String(word.Text)
	return folded == "junior" || folded == "senior"
}

// isTitleAlone reports whether a name consists only of titles and suffixes.
func isTitleAlone(name string) bool {
	all := alike.Words(name)
	return len(all) > 0 && !slices.ContainsFunc(all, func(w alike.Word) bool { return w.Title == alike.NoTitle || isLoneName(w) })
}

// names parses the names of a table and collects notes.
type names struct {
	lastFirst bool     // order of names without a comma
	sure      bool     // the order was set by an answer or a header
	rarer     nameForm // rarer format of full names if the column mixes formats and its header sets no order; oneName: none
	french    bool     // "M." is a salutation because the column contains "Mme"

	plain, doubtful []sheet.Note // examples of split names
	guessed         int

	titles, capitals examples

	question sheet.Question // about rows with two readings; without options: none
}

// readNames determines the format of full names in a table. The error is the error of ctx.
func readNames(ctx context.Context, t *sheet.Table, columns []Column, o Options) (*names, error) {
	answer := o.Answers[AskNames]
	n := &names{lastFirst: answer == LastFirstName, sure: answer != ""}
	at := slices.IndexFunc(columns, Column.IsFullName)
	if at < 0 {
		return n, nil
	}
	byHeader := columns[at].Field == LastFirst && !n.sure
	if byHeader {
		n.lastFirst, n.sure = true, true
	} else {
		n.question = sheet.Question{Kind: AskNames, Columns: []string{columns[at].Header}, Answer: answer}
	}
	commas := false
	for _, row := range t.Rows {
		text := row.Cell(at).Text
		word, _, _ := strings.Cut(text, " ")
		n.french = n.french || slices.Contains([]string{"mme", "mlle"}, strings.ToLower(strings.Trim(word, ".")))
		commas = commas || strings.Contains(text, ",")
	}
	if byHeader || !commas {
		return n, nil
	}
	count := map[nameForm]int{}
	for _, row := range t.Rows {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if cell := row.Cell(at); cell.Kind != sheet.Error {
			count[splitName(cell.Text, n.lastFirst, n.french).form]++
		}
	}
	switch {
	case count[comma] == 0 || count[noComma] == 0:
	case count[comma] < count[noComma]:
		n.rarer = comma
	default:
		n.rarer = noComma
	}
	return n, nil
}

// full splits a full name. If the reading is unclear, it stores both readings.
func (n *names) full(p *Person, f *record.Fields, cell string) {
	name := splitName(cell, n.lastFirst, n.french)
	f.FirstName, f.LastName = name.name.First, name.name.Last
	if len(name.titles) > 0 {
		n.titles.add(strings.Join(name.titles, " "), p.Row)
	}
	if titled := withTitles(cell, n.lastFirst); titled != strings.TrimSpace(name.name.First+" "+name.name.Last) {
		p.Titled = titled
	}
	doubt := name.form != oneName && name.form == n.rarer || name.form == titleMid
	if doubt && name.name != name.other {
		n.ask(name, p.Row)
		if !n.sure {
			p.Readings = []Name{name.name, name.other}
			return
		}
	}
	list := &n.plain
	if name.guessed {
		n.guessed++
		list = &n.doubtful
	}
	if len(*list) < shownExamples && len(cell) <= shownName {
		args := []any{sheet.Quoted(cell), sheet.Quoted(name.name.First), sheet.Quoted(name.name.Last)}
		*list = append(*list, sheet.Note{Code: NoteSplit, Args: args})
	}
}

// ask adds a row with two readings to the question for the order of names.
func (n *names) ask(name fullName, row int) {
	q := &n.question
	if q.Kind == "" {
		return
	}
	if q.Options == nil {
		q.Options = []sheet.Option{{Value: FirstLast, Example: []Name(nil)}, {Value: LastFirstName, Example: []Name(nil)}}
	}
	readings := []Name{name.name, name.other}
	if n.lastFirst {
		slices.Reverse(readings)
	}
	for i := range q.Options {
		if all := q.Options[i].Example.([]Name); len(all) < shownExamples {
			q.Options[i].Example = append(all, readings[i])
		}
	}
	if !n.sure {
		q.Rows = append(q.Rows, row)
	}
}

// questions returns the question for the order of names, if rows have two readings.
func (n *names) questions() []sheet.Question {
	if n.question.Options == nil {
		return nil
	}
	return []sheet.Question{n.question}
}

// clear empties names that consist only of titles.
func (n *names) clear(p *Person, f *record.Fields) {
	for _, name := range []*string{&f.FirstName, &f.LastName} {
		if isTitleAlone(*name) {
			n.titles.add(*name, p.Row)
			*name = ""
		}
	}
}

func (n *names) look(p *Person) {
	if inCapitals(p.Fields.FirstName) || inCapitals(p.Fields.LastName) {
		n.capitals.add(p.Name(), p.Row)
	}
}

// inCapitals reports whether a name is all capitals. Initials do not count.
func inCapitals(name string) bool {
	capitals := 0
	for _, r := range name {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			capitals++
		}
	}
	return capitals > 2
}

const (
	shownExamples = 3   // names
	shownName     = 200 // characters of a name
)

type examples struct {
	count int
	first []sheet.Place
}

func (e *examples) add(text string, row int) {
	if e.count++; len(e.first) == shownExamples {
		return
	}
	e.first = append(e.first, sheet.Place{Text: lang.Short(text, shownName), Row: row})
}

func (e *examples) notes(code string) []sheet.Note {
	return countNote(code, e.count, sheet.Places{First: e.first, More: e.count > len(e.first)})
}

// notes returns up to three split names, doubtful ones first, and the other notes about names.
func (n *names) notes() []sheet.Note {
	all := slices.Concat(n.doubtful, n.plain)
	return slices.Concat(all[:min(len(all), shownExamples)],
		countNote(NoteGuessedName, n.guessed), n.titles.notes(NoteTitles), n.capitals.notes(NoteCapitals))
}
