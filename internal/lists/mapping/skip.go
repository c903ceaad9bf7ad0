package mapping

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Reasons to leave out a row.
const (
	SkipChosen   = "chosen"   // by a person
	SkipTotal    = "total"    // a total, or only numbers
	SkipGroup    = "group"    // the heading of a group of rows
	SkipNote     = "note"     // a note about the list
	SkipRepeated = "repeated" // the header row again
	SkipEmpty    = "empty"    // nothing in the columns that are imported
	SkipNoPerson = "noperson" // a vCard of a group or an organization, or an emergency contact
	SkipStruck   = "struck"   // struck through

	SkipContinued = "continued" // about the person above, because the cells with the name are merged
)

// Words of rows that are no people, folded. A total begins with a total word, and a note with a note
// word or, whatever follows, a remark word. The heading of a group begins or ends with a group word, or
// consists of words with a group stem.
var (
	totalWords = words(`gesamt gesamtzahl insgesamt summe zwischensumme anzahl total totals totaux totale totaal subtotal
		sum suma somme count nombre numero ukupno sveukupno zbroj medjuzbroj skupaj razem liczba aantal effectif`)
	noteWords = words(`stand aktualisiert quelle legende seite updated source page note notes legend as stanje stranica edite fuente nota
		pagina leyenda strona stran datum date`)
	remarkWords = words(`hinweis hinweise anmerkung anmerkungen bemerkung bemerkungen erstellt gedruckt ausgedruckt unterschrift printed
		created signature napomena napomene izradio izradila ispisano azurirano potpis remarque remarques imprime etabli elaborado
		actualizado impreso aggiornato stampato uwaga uwagi sporzadzil podpis opomba opombe opmerking opmerkingen handtekening`)
	groupWords = words(`gruppe group groupe grupo gruppo grupa skupina groep zug loschzug loschgruppe trupp abteilung jugendgruppe
		section sektion seccion sezione sektor equipe equipo squad squadra platoon shift crew brigade brigada battalion company engine
		ladder team station turno odjel odjeljenje desetina vod ekipa smjena posadka druzyna ploeg wache kommando vorstand ausschuss
		mannschaft aktive aktiv passive reserve mitglieder members membres miembros clanovi clanova
		clanov soci czlonkow leden personen persons people personas personnes osoba officers offiziere jugend bestuur zarzad
		czlonkowie allievi jsp retraites actifs honoraires`)
)

const groupStems = `mitglied gruppe jugend feuerwehr mannschaft offizier vorstand kommand reserv aktiv veteran clanovi member officer
	cadet kadet mladez pricuv bombero pompier vatrogas gasilc strazak brandweer voluntari abteilung zug
	honorar ehren pionir anwart aspirant rekrut recrut probation starjesin pripravni zapovjed mlodziez pomlad podmlad mlajsi starejsi jeugd`

// skips returns the reason to leave out each row, or nil if no row is left out. Keep and Skip of the
// options override what the rows look like. In an export of this program, only Skip does.
func (o Options) skips(t *sheet.Table, columns []Column) (all []string) {
	spreadsheet := !t.Ours && (t.Format == sheet.CSV || t.Format == sheet.XLSX)
	names := map[string]bool{}
	for _, header := range t.Header {
		names[header] = true
	}
	allStruck := !slices.ContainsFunc(t.Rows, func(row sheet.Row) bool { return !row.IsStruck() })
	for i, row := range t.Rows {
		why := ""
		_, noPerson := slices.BinarySearch(t.Organizations, row.Number)
		skip := o.Skip[row.Number]
		switch {
		case o.Keep[row.Number] && !skip:
		case noPerson || !t.Ours && (isEmergency(row, t.Header, columns) || isCompany(row, columns)):
			why = SkipNoPerson
		case spreadsheet:
			if why = skipOf(row, t.Header, names, columns); why == "" && !allStruck && row.IsStruck() {
				why = SkipStruck
			}
		}
		if skip && why == "" {
			why = SkipChosen
		}
		if why != "" && all == nil {
			all = make([]string, len(t.Rows))
		}
		if why != "" {
			all[i] = why
		}
	}
	return all
}

// isEmergency reports whether a name has the mark for the contact of an emergency: "ICE Mama".
func isEmergency(row sheet.Row, header []string, columns []Column) bool {
	for at, cell := range row.Cells[:min(len(row.Cells), len(columns))] {
		if (columns[at].IsName() || header[at] == "FN") && len(cell.Text) <= shownName && emergencyForm().MatchString(cell.Text) {
			return true
		}
	}
	return false
}

var emergencyForm = lazy(`(?:^|[ (])(?:ICE|I\.C\.E\.)\d?(?:$|[ :_)-])`)

// isCompany reports whether a row of an address book has a company instead of a name.
func isCompany(row sheet.Row, columns []Column) (company bool) {
	for at, cell := range row.Cells[:min(len(row.Cells), len(columns))] {
		if cell.Text != "" && columns[at].IsName() {
			return false
		}
		company = company || cell.Text != "" && columns[at].Field == LeftOut && companyWords[letters(columns[at].Header)]
	}
	return company
}

var companyWords = words(`organizationname company firma societe empresa tvrtka`)

// withoutSkipped returns the table with empty cells in rows that are left out, so that they influence
// no other row.
func withoutSkipped(t *sheet.Table, skips []string) *sheet.Table {
	if skips == nil {
		return t
	}
	other := *t
	other.Rows = slices.Clone(t.Rows)
	for i, why := range skips {
		if why != "" {
			other.Rows[i].Cells = nil
		}
	}
	return &other
}

// skipOf returns the reason why a row does not look like a person, or an empty text. names has the
// texts of the header.
func skipOf(row sheet.Row, header []string, names map[string]bool, columns []Column) string {
	var words []string // cells with letters
	filled, lines, labels, counts, repeated := 0, 0, 0, 0, 0
	data, digits, values, named, isUsed := false, false, false, false, false
	for at, cell := range row.Cells {
		if cell.Text == "" {
			continue
		}
		filled++
		data = data || strings.Contains(cell.Text, "@") || isNumber(cell.Text)
		if at < len(header) && cell.Text == header[at] {
			repeated++
		}
		used := at >= len(columns) || columns[at].Field != LeftOut // cells beyond the header row are an error
		isUsed, values = isUsed || used, values || used && at < len(columns) && !columns[at].IsName()
		switch {
		case strings.ContainsFunc(cell.Text, unicode.IsLetter):
			words, named = append(words, cell.Text), named || names[cell.Text]
			if strings.HasSuffix(cell.Text, ":") {
				labels++
			}
		case strings.Trim(cell.Text, "-_=*–—. ") == "":
			lines++
		default:
			digits = digits || record.Digits(cell.Text) != ""
			if n, err := strconv.Atoi(cell.Text); err == nil && 0 < n && n < 10_000 && cell.Text[0] != '0' {
				counts++
			}
		}
	}
	switch {
	case repeated == filled && (filled > 1 || len(columns) == 1), named && !data && areHeaders(words, filled):
		return SkipRepeated
	case data && isUsed && (filled > 2 || len(words) == 0):
		return ""
	case lines == filled, labels > 0 && labels == len(words):
		return SkipNote
	case !isUsed && (filled > 1 || len(words) == 0):
		return SkipEmpty
	case !isUsed:
		return cmp.Or(skipText(words[0], filled, data), SkipGroup)
	case len(words) == 0 && digits && !values:
		return SkipTotal
	case len(words) == 1 && counts > 0 && counts+1 == filled && totalWords[firstWord(words[0])]:
		return SkipTotal
	case len(words) == 1:
		return skipText(words[0], filled, data)
	case !data && filled < 4 && len(words) > 1:
		switch first := firstWord(words[0]); {
		case remarkWords[first]:
			return SkipNote
		case groupWords[first] && record.Digits(words[0]) != "":
			return SkipGroup
		}
	}
	return ""
}

// firstWord returns the letters of the first word of a text, folded.
func firstWord(text string) string {
	first, _, _ := strings.Cut(text, " ")
	return letters(first)
}

// areHeaders reports whether most of the filled cells of a row, and at least two, are known column
// names.
func areHeaders(texts []string, filled int) bool {
	others := filled - len(texts)
	for _, text := range texts {
		if 2*others >= filled || filled-others < 2 {
			return false
		}
		if fieldOf(text) == LeftOut {
			others++
		}
	}
	return 2*others < filled && filled-others > 1
}

// skipText returns the reason for a row in which only one of the filled cells has letters. data
// reports whether a cell is an email address, date or phone number.
func skipText(text string, filled int, data bool) string {
	all := strings.FieldsFunc(fold.String(text), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(all) == 0 || strings.Contains(text, "@") {
		return ""
	}
	digits, colon := len(record.Digits(text)), strings.Contains(text, ":")
	first, last := all[0], all[len(all)-1]
	lone := filled == 1 && !data
	isGroup := groupWords[first] || groupWords[last]
	switch {
	case totalWords[first] && (digits > 0 || colon || len(all) == 1 && !data):
		return SkipTotal
	case filled > 2:
		return ""
	case isGroup && lone, lone && !particles[last] && !slices.ContainsFunc(all, isNoGroupWord):
		return SkipGroup
	case colon, remarkWords[first], noteWords[first] && (digits > 0 || filled == 2 && len(all) == 1), lone && isRemark(text):
		return SkipNote
	case lone && digits > 0 && digits < fewestDigits && strings.Contains(text, " ") &&
		(len(all) == 1 || record.Digits(alike.WithoutRemarks(text, 1)) != ""): // unlike "1. Ana Kos"
		return SkipGroup
	}
	return ""
}

// isNoGroupWord reports whether a folded word does not name a group.
func isNoGroupWord(word string) bool {
	return !groupWords[word] && !particles[word] &&
		!slices.ContainsFunc(strings.Fields(groupStems), func(stem string) bool { return strings.Contains(word, stem) })
}

// isRemark reports whether text begins with a mark for a footnote, or is longer than a name and has
// several words in small letters.
func isRemark(text string) bool {
	if strings.HasPrefix(text, "*") || strings.HasPrefix(text, "(") {
		return true
	}
	all, small := strings.Fields(text), 0
	for _, word := range all {
		if first := []rune(word)[0]; unicode.IsLower(first) && !particles[fold.String(word)] {
			small++
		}
	}
	return len(all) > 3 && small > 1 && small < len(all)
}
