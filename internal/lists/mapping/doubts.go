package mapping

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

// askDoubts adds questions about dates that programs seem to have changed, and changes the dates
// unless the answer is to keep them.
func (b *births) askDoubts(header string, o Options) {
	if b.table.Ours {
		return
	}
	b.askAbout(AskSwapped, header, o, b.swapped(), func(day calendar.Date) date {
		day.Month, day.Day = time.Month(day.Day), int(day.Month)
		return date{kind: itself, iso: day.String()}
	})
	b.askAbout(AskMidnight, header, o, b.late(), func(day calendar.Date) date {
		return date{kind: itself, iso: time.Date(day.Year, day.Month, day.Day+1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)}
	})
	b.askAbout(AskUnknown, header, o, b.repeated(), func(calendar.Date) date { return date{} })
}

// askAbout adds a question whether to change the dates of some rows.
func (b *births) askAbout(kind, header string, o Options, rows []int, change func(calendar.Date) date) {
	if len(rows) == 0 {
		return
	}
	text := b.table.Rows[rows[0]].Cell(b.column).Text
	before, _ := b.dayOf(b.dates[rows[0]])
	if strings.Trim(text, "0123456789.") == "" && !strings.Contains(text, ".") {
		text = before.String() // a serial number
	}
	q := sheet.Question{Kind: kind, Columns: []string{header}, Args: []any{sheet.Quoted(header), len(rows), sheet.Quoted(text)},
		Options: []sheet.Option{{Value: Change}, {Value: Keep, Example: sheet.ReadDay{Text: text, Day: before}}}, Answer: o.Answers[kind],
		Changes: map[int]bool{}}
	if after, ok := b.dayOf(change(before)); ok {
		q.Options[0].Example = sheet.ReadDay{Text: text, Day: after}
	}
	for _, i := range rows {
		q.Changes[b.table.Rows[i].Number] = true
	}
	b.questions = append(b.questions, q)
	if q.Answer == Keep {
		return
	}
	for _, i := range rows {
		day, _ := b.dayOf(b.dates[i])
		b.dates[i] = change(day)
	}
}

// dayOf returns the day of a date without its time. It returns false if there is no such day.
func (b *births) dayOf(d date) (day calendar.Date, ok bool) { return b.dayIn(d, b.orders[d.separator]) }

// dayIn is dayOf for dates in an order.
func (b *births) dayIn(d date, order string) (day calendar.Date, ok bool) {
	switch d.kind {
	case itself:
		at, err := time.Parse(time.DateOnly, d.iso[:len(time.DateOnly)])
		return calendar.Of(at), err == nil
	case yearFirst, numbers:
		day, ok = b.in(d, order)
	}
	return day, ok && day.Exists()
}

// swapped returns the rows of dates whose day and month a spreadsheet may have swapped. It
// recognizes 5/6/1990 as a date, and leaves 26/6/1990 as text if it expects the month first.
// Therefore no date has a day above 12, and every text has one.
func (b *births) swapped() (rows []int) {
	texts, different := 0, false
	for i, d := range b.dates {
		cell := b.table.Rows[i].Cell(b.column)
		switch settled := d.settles(); {
		case d.kind == itself && (cell.Kind == sheet.Number || isoForm().MatchString(cell.Text)):
			day, _ := b.dayOf(d)
			if day.Day > 12 {
				return nil
			}
			rows, different = append(rows, i), different || day.Day != int(day.Month)
		case settled == DMY || settled == MDY:
			texts++
		case d.kind == numbers:
			return nil
		}
	}
	if texts == 0 || texts+len(rows) < 3 || !different {
		return nil
	}
	return rows
}

// late returns the rows of dates with a time after noon UTC, if most times of the column are the
// same one or two hours: midnight east of Greenwich, in winter and summer. In London it is 00:00 and
// 23:00 UTC.
func (b *births) late() (rows []int) {
	all, midnights, count := 0, 0, map[string]int{}
	for i, d := range b.dates {
		_, clock, found := strings.Cut(d.iso, "T")
		if _, known := b.dayOf(d); !known || !found {
			continue
		}
		all++
		zone := strings.TrimLeft(clock, "0123456789:.,")
		switch hour := clock[:5]; {
		case strings.Trim(zone, "Zz+-0:") != "":
		case "12:00" < hour && hour < "24:00":
			count[hour]++
			rows = append(rows, i)
		case hour == "00:00":
			midnights++
		}
	}
	if count["23:00"] > 0 {
		count["23:00"] += midnights
	}
	most := slices.Sorted(maps.Values(count))
	if slices.Reverse(most); len(rows)*oddOnes <= all || (most[0]+slices.Max(append(most[1:], 0)))*2 <= all {
		return nil
	}
	return rows
}

// repeated returns the rows of dates that repeat more often than by chance, so that they may stand
// for an unknown date: 1 January, or a day on which no member was born.
func (b *births) repeated() (rows []int) {
	all, same, januaries, today := 0, map[calendar.Date]int{}, 0, calendar.Of(b.now)
	suspect := func(d date) (day calendar.Date, ok bool) {
		day, ok = b.dayOf(d)
		return day, ok && (day.Month == time.January && day.Day == 1 || day.Year <= record.EarliestYear || today.Before(day))
	}
	for _, d := range b.dates {
		if d.kind != noDate {
			all++
		}
		if day, ok := suspect(d); ok {
			if same[day]++; day.Month == time.January && day.Day == 1 {
				januaries++
			}
		}
	}
	many := januaries >= 3 && januaries*10 >= all
	for i, d := range b.dates {
		day, ok := suspect(d)
		if n := same[day]; ok && (n >= 2 && n*50 >= all || many && day.Month == time.January) {
			rows = append(rows, i)
		}
	}
	return rows
}
