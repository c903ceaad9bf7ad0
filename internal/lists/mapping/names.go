package mapping

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/text/regex"
)

// particles begin a last name: "van der Berg", "de la Cruz".
var particles = words(`von van vom zu zum zur de der den des del della di da dal do dos das du la le les
	af av ten ter te op bin ibn el`)

// salutations and ranks that are no names precede a name. They are folded and without periods.
var salutations = words(`mr mrs ms miss mx herr herrn frau hr monsieur madame mademoiselle mme mlle sr sra srta senor senora senorita dna
	sig sigra signa signor signora signorina dhr mevr mevrouw mw pani gosp gospodin gospodja gospoda gda gdja gdica gospodica
	ff lt lieut capt cpt sgt`)

// degrees follow a first and a last name. They are folded and without periods. After a last name
// only, they are initials, as in "Müller, M.A.".
var degrees = words(`ba di ma md mba bba mph rn esq dds dmd dvm jd edd cpa bed med beng meng`)

var words = fold.Words
var lazy = regex.Lazy

type nameForm uint8

const (
	oneName  nameForm = iota // first or last name missing
	noComma                  // "Hans Müller", or "Müller Hans"
	comma                    // "Müller, Hans"
	titleMid                 // "Müller Dr. Hans"
	capitals                 // "MÜLLER Hans": the last name is in capitals
)

type fullName struct {
	form    nameForm
	name    Name
	other   Name     // the reading with the last name at the other end
	guessed bool     // more than two words without a comma
	clear   bool     // the last name in capitals is no rank
	removed []string // salutations and ranks
}

// nameWord is a word of a name.
type nameWord struct {
	plain string
	text  string // with the titles before it
}

func joined(all []nameWord) string {
	texts := make([]string, len(all))
	for i, word := range all {
		texts[i] = word.text
	}
	return strings.Join(texts, " ")
}

// split splits a full name. A comma ends the last name. Without a comma, the last name is the words
// in capitals, or else the last word, or the first word if n.lastFirst is set, with the particles
// before it. A single word is the first name, unless it has a title, suffix or comma. Titles keep
// their place, and what follows the name stays with the last name: "Kos, dipl. ing.", "Kos ml.".
// Salutations, ranks and remarks are removed.
func (n *names) split(cell string) (s fullName) {
	text, rank := n.withoutRank(alike.WithoutRemarks(cell, 2))
	if rank != "" {
		s.removed = []string{rank}
	}
	var parts [][]nameWord // words of names between commas
	tail, suffixes := "", 0
	bare, titled := true, rank != "" // only titles and suffixes follow a comma; something was removed
	for i, text := range strings.Split(text, ",") {
		part := s.part(text, parts, n.mister)
		tail, suffixes, titled = tail+part.tail, suffixes+part.suffixes, titled || part.titled
		empty := strings.TrimSpace(text) == ""
		if i == 0 && empty || len(part.words) > 0 {
			parts = append(parts, part.words)
		}
		bare = bare && (i == 0 || len(part.words) == 0 && !empty)
		if part.between {
			s.form = titleMid
		}
	}
	switch {
	case len(parts) == 0:
		s.name.Last = strings.TrimLeft(tail, ", ")
		return s
	case len(parts) > 1 || !bare:
		s.withComma(parts)
	default:
		s.withoutComma(parts[0], n, titled)
		s.guessed = s.form != oneName && s.form != capitals && len(parts[0])+suffixes > 2
	}
	for _, name := range []*Name{&s.name, &s.other} {
		if *name != (Name{}) {
			name.Last = strings.TrimLeft(name.Last+tail, ", ")
		}
	}
	return s
}

func (s *fullName) withComma(parts [][]nameWord) {
	if len(parts) > 2 && allParticles(joined(parts[1])) { // "Berg, van den, Jan"
		parts = slices.Concat([][]nameWord{slices.Concat(parts[1], parts[0])}, parts[2:])
	}
	if len(parts) == 2 { // "Berg, Jan van den"
		given := parts[1]
		at := len(given)
		for at > 1 && particles[given[at-1].text] {
			at--
		}
		parts = [][]nameWord{slices.Concat(given[at:], parts[0]), given[:at]}
	}
	var first []string
	for _, part := range parts[1:] {
		first = append(first, joined(part))
	}
	s.name = Name{strings.Join(first, ", "), joined(parts[0])}
	s.other = Name{s.name.Last, s.name.First}
	s.form = comma
	if s.name.First == "" || s.name.Last == "" {
		s.form = oneName
	}
}

// withoutComma handles a name without a comma. titled reports whether it has a title or suffix, or
// had something that was removed.
func (s *fullName) withoutComma(all []nameWord, n *names, titled bool) {
	if start, end, clear := lastInCapitals(all); end > start && (clear || n.capitalized) {
		s.form, s.clear = capitals, clear
		s.name = Name{joined(slices.Concat(all[:start], all[end:])), joined(all[start:end])}
		s.other = s.name
		return
	}
	if titled && endOfLast(all) >= len(all)-1 && (len(all) == 1 || particles[fold.String(all[0].plain)]) {
		s.name.Last = joined(all)
		s.form = oneName
		return
	}
	start, end := startOfLast(all), endOfLast(all)
	if n.twoLast && start > 1 && end > 0 {
		if !isFirstName(all[start-1].plain) {
			start = startOfLast(all[:start])
		}
		if !isFirstName(all[end].plain) {
			end += endOfLast(all[end:])
		}
	}
	s.name = Name{joined(all[:start]), joined(all[start:])}
	titles := ""
	if end > 0 { // "Dr. Kos Ana" is "Dr. Ana Kos"
		titles = strings.TrimSuffix(all[0].text, all[0].plain)
	}
	s.other = Name{titles + joined(all[end:]), strings.TrimPrefix(joined(all[:end]), titles)}
	if n.lastFirst {
		s.name, s.other = s.other, s.name
	}
	if len(all) < 2 {
		s.form = oneName
	} else if s.form == oneName {
		s.form = noComma
	}
}

// lastInCapitals returns the range of the last name if only it is in capitals, at one end of the
// name, with the particles before it. clear reports that it is no rank and no initials.
func lastInCapitals(all []nameWord) (start, end int, clear bool) {
	isUpper := func(w nameWord) bool { return !strings.Contains(w.plain, ".") && capitalLetters(w.plain) > 1 }
	start = slices.IndexFunc(all, isUpper)
	if start < 0 {
		return 0, 0, false
	}
	for end = start; end < len(all) && isUpper(all[end]); end++ {
		clear = clear || end > start || utf8.RuneCountInString(all[end].plain) > maxRank
	}
	for start > 0 && particles[fold.String(all[start-1].plain)] && (start > 1 || end < len(all)) {
		start--
	}
	if (start > 0) == (end < len(all)) || slices.ContainsFunc(all[end:], isUpper) {
		return 0, 0, false
	}
	return start, end, clear
}

// maxRank is the maximum number of letters of a rank.
const maxRank = 4

// withoutRank splits a rank from the end of a name: a short word in capitals after a comma, as in
// "Huber Franz, OBI", unless the whole name is in capitals. Two letters are initials, unless most
// commas of the column precede a rank.
func (n *names) withoutRank(name string) (rest, rank string) {
	at := strings.LastIndexByte(name, ',')
	if at < 0 || strings.ToUpper(name[:at]) == name[:at] {
		return name, ""
	}
	all := alike.Words(name[at:])
	if len(all) == 0 || slices.ContainsFunc(all[1:], func(w alike.Word) bool { return !strings.Contains(w.Text, ".") }) { // "BI d.F."
		return name, ""
	}
	text, letters := all[0].Text, utf8.RuneCountInString(all[0].Text)
	isLetter := func(r rune) bool { return unicode.IsUpper(r) }
	if strings.TrimFunc(text, isLetter) != "" || letters < 2 || letters > maxRank || letters == 2 && !n.ranks ||
		all[0].Title != alike.NoTitle || isDegree(all[0], true) {
		return name, ""
	}
	return strings.TrimSpace(name[:at]), strings.TrimSpace(name[at+1:])
}

// startOfLast returns the index where the last name starts if the first name comes first. At least
// one word is the first name.
func startOfLast(all []nameWord) int {
	at := len(all) - 1
	for at > 1 && particles[fold.String(all[at-1].plain)] {
		at--
	}
	return max(at, min(1, len(all)))
}

// endOfLast returns the index where the last name ends if it comes first.
func endOfLast(all []nameWord) int {
	at := 0
	for at < len(all)-2 && particles[fold.String(all[at].plain)] {
		at++
	}
	if len(all) < 2 {
		return 0
	}
	return at + 1
}

type namePart struct {
	words    []nameWord
	tail     string // titles and suffixes after the words
	suffixes int    // generational suffixes
	between  bool   // a title is between the words
	titled   bool   // it has other words
}

// part reads a part of a name. before are the preceding parts with words.
func (s *fullName) part(text string, before [][]nameWord, mister string) (p namePart) {
	all := alike.Words(text)
	titles, end := "", len(all) // titles before the next word
	isBehind := len(before) > 0
	if isBehind && len(before[0]) > 1 && allDegrees(all) {
		end = 0
	}
	start := 0
	for ; start < end; start++ {
		if word := all[start]; isSalutation(all[start:end], isBehind, mister) {
			s.removed = append(s.removed, word.Text)
		} else if word.Title == alike.Academic || isEngineer(all[start:end]) {
			titles += word.Text + " "
		} else {
			break
		}
	}
	for end > start {
		last, count := all[end-1], end-start
		title := last.Title != alike.NoTitle && !(count == 2 && isLoneName(last))
		if !title && !(count > 2 && isDegree(last, false)) {
			break
		}
		end--
	}
	for _, word := range all[start:end] {
		switch {
		case word.Title == alike.Academic:
			p.between = true
			titles += word.Text + " "
		case word.Title == alike.Generation && !isLoneName(word):
			p.tail += " " + word.Text
			p.suffixes++
		default:
			p.words = append(p.words, nameWord{word.Text, titles + word.Text})
			titles = ""
		}
	}
	titles = strings.TrimSuffix(titles, " ")
	for _, word := range all[end:] {
		if word.Title == alike.Generation {
			p.suffixes++
		}
		titles = strings.TrimPrefix(titles+" "+word.Text, " ")
	}
	if titles != "" {
		p.tail += " " + titles
	}
	if isBehind && len(p.words) == 0 && p.suffixes == 0 && p.tail != "" {
		p.tail = "," + p.tail
	}
	p.titled = len(all) > len(p.words)
	return p
}

// isSalutation reports whether all starts with a salutation. A single word is a salutation only
// after a name. "mr." is the Croatian title magistar, "Mr." a salutation.
func isSalutation(all []alike.Word, behind bool, mister string) bool {
	word := fold.String(all[0].Text)
	if len(all) == 1 && (!behind || all[0].Title != alike.NoTitle) || word == all[0].Text && all[0].Title == alike.Academic {
		return false
	}
	return salutations[strings.ReplaceAll(word, ".", "")] || word == "fr." || word == mister
}

// isEngineer reports whether all starts with DI (Diplomingenieur). "DI MARIO" is a name.
func isEngineer(all []alike.Word) bool {
	return len(all) > 2 && all[0].Text == "DI" && (all[1].Title != alike.NoTitle || strings.ToUpper(all[1].Text) != all[1].Text)
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
	lastFirst   bool     // order of names without a comma
	sure        bool     // the order was set by an answer or a header
	rarer       nameForm // rarer format of full names if the column mixes formats and its header sets no order; oneName: none
	mister      string   // a letter that is a salutation: "m." in a column with Mme, "d." with Dña
	twoLast     bool     // the last name has two words, as a Spanish header or the country suggests
	ranks       bool     // most commas precede a short word in capitals
	capitalized bool     // a last name is in capitals and the first name is not
	literal     bool     // the names are from this program and are not changed

	plain, doubtful []sheet.Note // examples of split names
	byCapitals      bool         // a name was split by capitals
	notes           *tally

	question sheet.Question // about rows with two readings; without options: none
}

// readNames determines the format of full names in a table. The error is the error of ctx.
func readNames(ctx context.Context, t *sheet.Table, columns []Column, o Options, notes *tally) (*names, error) {
	answer := o.Answers[AskNames]
	n := &names{lastFirst: answer == LastFirstName, sure: answer != "", literal: t.Ours, notes: notes}
	at := -1
	for i, column := range columns { // a joined column of titles is empty
		if column.IsFullName() && (at < 0 || slices.ContainsFunc(t.Rows, func(row sheet.Row) bool { return row.Cell(i).Text != "" })) {
			at = i
		}
	}
	if at < 0 {
		return n, nil
	}
	byHeader := columns[at].Field == LastFirst && !n.sure
	if byHeader {
		n.lastFirst, n.sure = true, true
	} else {
		n.question = sheet.Question{Kind: AskNames, Columns: []string{columns[at].Header}, Answer: answer}
	}
	header := fold.String(columns[at].Header)
	n.twoLast = strings.Contains(header, "nombre") || strings.Contains(header, "apellido") ||
		o.Country != "" && strings.Contains("BO CL CO CR CU DO EC ES GT HN MX NI PA PE PR PY SV UY VE", o.Country)
	ranks := 0 // minus the number of other commas
	for _, row := range t.Rows {
		text := row.Cell(at).Text
		word, _, _ := strings.Cut(text, " ")
		switch strings.ToLower(strings.Trim(word, ".")) {
		case "mme", "mlle":
			n.mister = "m."
		case "dña", "dª":
			n.mister = "d."
		}
		switch rest, rank := (&names{ranks: true}).withoutRank(text); {
		case rank == "" && strings.Contains(text, ","):
			ranks--
		case rank != "" && (len(rank) > 2 || strings.Contains(rest, " ")):
			ranks++
		}
	}
	n.ranks = ranks > 0
	count := map[nameForm]int{}
	for _, row := range t.Rows {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if cell := row.Cell(at); cell.Kind != sheet.Error {
			name := n.split(cell.Text)
			count[name.form]++
			n.capitalized = n.capitalized || name.clear
		}
	}
	switch {
	case byHeader || count[comma] == 0 || count[noComma] == 0:
	case count[comma] < count[noComma]:
		n.rarer = comma
	default:
		n.rarer = noComma
	}
	return n, nil
}

// full splits a full name. If the reading is unclear, it stores both readings.
func (n *names) full(p *Person, f *record.Fields, cell string) {
	name := n.split(cell)
	f.FirstName, f.LastName = name.name.First, name.name.Last
	if len(name.removed) > 0 {
		n.notes.countPlace(NoteTitles, strings.Join(name.removed, " "), p.Row)
	}
	whole, quoted := strings.TrimSpace(name.name.First+" "+name.name.Last), sheet.Quoted(lang.Short(cell, shownName))
	remark := alike.WithoutRemarks(cell, 2) != cell
	if remark {
		n.notes.count(NoteRemarks, quoted, sheet.Quoted(whole))
	}
	doubt := name.form != oneName && name.form == n.rarer || name.form == titleMid
	if doubt && name.name != name.other {
		n.ask(name, p.Row)
		if !n.sure {
			p.Readings = []Name{name.name, name.other}
			return
		}
	}
	if name.form == noComma && !n.sure {
		p.Reversed = name.other
	}
	args := []any{quoted, sheet.Quoted(name.name.First), sheet.Quoted(name.name.Last)}
	if name.form == capitals {
		n.byCapitals = true
		n.notes.count(NoteByCapitals, args...)
		return
	}
	list := &n.plain
	if name.guessed {
		n.notes.count(NoteGuessedName)
		list = &n.doubtful
	} else if remark {
		return
	}
	if len(*list) < shownExamples && len(cell) <= shownName {
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

// tidy empties names that consist only of titles, and removes remarks and ranks from names with
// columns of their own. A date, a phone number or an e-mail address is no name.
func (n *names) tidy(p *Person, f *record.Fields) {
	for d, name := range f.Each {
		if !d.Required {
			break
		}
		if isTitleAlone(*name) {
			n.notes.countPlace(NoteTitles, *name, p.Row)
			*name = ""
		}
		if n.literal {
			continue
		}
		rest, rank := n.withoutRank(*name)
		if rank != "" {
			n.notes.countPlace(NoteTitles, rank, p.Row)
		}
		if *name = alike.WithoutRemarks(rest, 1); *name != rest {
			n.notes.count(NoteRemarks, sheet.Quoted(lang.Short(rest, shownName)), sheet.Quoted(*name))
		}
		if last, particle, ok := strings.Cut(*name, ","); ok && allParticles(particle) && strings.TrimSpace(particle) != "" { // "Vries, de"
			*name = strings.TrimSpace(particle) + " " + last
		}
		if strings.Contains(*name, "@") || isNumber(*name) || dateAlone().MatchString(*name) {
			p.misplaced(d.Name, *name)
		}
	}
}

func (n *names) look(p *Person) {
	if capitalLetters(p.Fields.FirstName) > 2 || capitalLetters(p.Fields.LastName) > 2 && !n.byCapitals {
		n.notes.countPlace(NoteCapitals, p.Name(), p.Row)
	}
}

// capitalLetters returns the number of capital letters, or 0 if text has other letters. ß and the
// prefixes Mc and Mac count as capitals.
func capitalLetters(text string) (n int) {
	for _, r := range strings.TrimPrefix(strings.TrimPrefix(text, "Mac"), "Mc") {
		if unicode.IsLower(r) && r != 'ß' {
			return 0
		}
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n
}

const (
	shownExamples = 3   // names
	shownName     = 200 // characters of a name
)

// examples returns up to three split names, doubtful ones first.
func (n *names) examples() []sheet.Note {
	all := slices.Concat(n.doubtful, n.plain)
	return all[:min(len(all), shownExamples)]
}
