package mapping

import (
	"cmp"
	"net/mail"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

// askColumns adds a question whether to use columns that would be left out although they look like a
// field that no other column has. It uses them unless the answer is to leave them out.
func (c *choice) askColumns(assigned map[int]string, o Options) {
	if c.table.Format == sheet.VCard || c.table.Ours || c.isSupplied(ID) {
		return
	}
	q := sheet.Question{Kind: AskColumns, Answer: o.Answers[AskColumns]}
	var headers Headers
	var examples sheet.Examples
	for _, f := range record.AllFields()[record.NameFields:] {
		if c.isSupplied(f.Name) {
			continue
		}
		for at := range c.columns {
			if _, ok := assigned[at]; ok || !c.filled[at] || c.columns[at].Field != LeftOut || !c.looksLike(at, f.Name, o) {
				continue
			}
			first := c.firstValue(at)
			headers, examples = append(headers, cmp.Or(c.columns[at].Header, first)), append(examples, first)
			if c.columns[at].Asked = true; q.Answer != Keep {
				c.use(at, f)
			}
			if !f.Several {
				break
			}
		}
	}
	if headers != nil {
		q.Columns, q.Args = headers, []any{firstHeaders(headers)}
		q.Options = []sheet.Option{{Value: Change, Example: examples[:min(len(examples), shownExamples)]}, {Value: Keep}}
		c.questions = append(c.questions, q)
	}
}

// isSupplied reports whether a column with values has a field.
func (c *choice) isSupplied(field string) bool {
	for at, column := range c.columns {
		if column.Field == field && c.filled[at] {
			return true
		}
	}
	return false
}

// use assigns a column to a field that no column with values has.
func (c *choice) use(at int, f record.Field) {
	for i := range c.columns {
		if c.columns[i].Field == f.Name && !f.Several {
			c.columns[i].Field = LeftOut
		}
	}
	c.columns[at].Field = f.Name
}

func (c *choice) firstValue(at int) string {
	for _, row := range c.table.Rows {
		if cell := row.Cell(at); cell.Text != "" && !hasNoValue(cell) {
			return cell.Text
		}
	}
	return ""
}

// Parts of the headers of values of emergency contacts and parents, of all people and companies with a phone
// number, of others that are not the person's own, of other numbers, and of other dates, folded.
const (
	ofContacts = `emerg|notf|urgen|hitn|nood|parent|elter|mutter|vater|mother|father|padre|madre|mere|pere|rodit|majk|otac` +
		`|(?:^|[^h]r|[^r])angehor` + // but not of Wehrangehörige
		`|anhorig|kin$|^nok|^ice|guardian|tutor|familiar|srodni|rodbin|kontaktpers|contactpers|kontakt.{0,3}os[eo]b` +
		`|osoba(?:za|do)kontakt|ertesitend|prevenir`
	ofRelatives = ofContacts + `|spouse|partner|gatt|ehe|frau|wife|husband|conjoint|epou|conyug|suprug|supruz` +
		`|firm|compan|entrepr|empres|tvrtk|arbeitgeb|employer|employeur|poslodav|arzt|doctor|physician|medecin|lijecnik`
)

var (
	contacts  = lazy(ofContacts)
	relatives = lazy(ofRelatives)
	ofOthers  = lazy(ofRelatives + `|person|fax|faks|pager|chef|chief|manager|assist|vorges` +
		`|station|wache|komand`)
	otherNumbers = lazy(`num|nr$|no$|^no|broj|^n$|id$|code|badge|ausweis|spind|locker|konto|account|iban|svnr|oib|jmbg|dni|nif|secu|insur` +
		`|card|kart|licen`)
	otherDates = lazy(`entr|beitr|join|hire|start|begin|since|seit|depuis|desde|adhes|ingres|alta|pristup|uclan|upis|kurs|cours|curs|tecaj` +
		`|pruf|exam|ispit|valid|gultig|ablauf|expir|caduc|vazi|istek|untersuch|medic|pregled|lehrg|ausbild|format|befor|promo|austr|exit` +
		`|bis|until|death|gestorb|wedding|hochzeit|mariage|update|create|geand|stand|issu|ausgest|service|dienst|tritt|jahrest|anniv|jubil|impf`)
)

// looksLike reports whether most cells of a column look like a field, and its header does not say
// that they are something else.
func (c *choice) looksLike(at int, field string, o Options) bool {
	header, sure, all := letters(c.columns[at].Header), 0, 0
	if len(c.columns[at].Header) > maxHeader || ofOthers().MatchString(header) ||
		field == "phoneNumber" && otherNumbers().MatchString(header) || field == "dateOfBirth" && otherDates().MatchString(header) {
		return false
	}
	b := &births{table: c.table, now: o.Now, country: o.Country}
	most := c.most(at, func(cell sheet.Cell) bool {
		all++
		switch digits := len(record.Digits(cell.Text)); field {
		case "phoneNumber":
			if clearNumber().MatchString(cell.Text) {
				sure++
			}
			return cell.Kind != sheet.Error && isNumber(cell.Text) && !dateAlone().MatchString(cell.Text) && 7 <= digits && digits <= 15
		case "email":
			sure++
			address, err := mail.ParseAddress(cell.Text)
			return err == nil && strings.Contains(address.Address, ".")
		case "dateOfBirth":
			sure++
			return cell.Kind != sheet.Number && b.hasAge(cell)
		}
		return false
	})
	return most && (sure*2 > all || fieldOf(c.columns[at].Header) == field) // leaveToContacts has left it out
}

// Ages of members, by which dates of birth differ from other dates.
const (
	youngest = 10
	oldest   = 100
)

// hasAge reports whether a cell has a date on which a member may be born.
func (b *births) hasAge(cell sheet.Cell) bool {
	d := b.read(cell)
	for _, order := range Orders {
		if day, ok := b.dayIn(d, order); ok {
			age := day.AgeOn(calendar.Of(b.now))
			return youngest <= age && age <= oldest
		}
	}
	return false
}

// isBirth reports whether a cell for a phone number has a date of birth. 24-10-55 is a number.
func (b *births) isBirth(cell sheet.Cell) bool {
	return dateAlone().MatchString(cell.Text) && !b.read(cell).twoDigits && b.hasAge(cell)
}
