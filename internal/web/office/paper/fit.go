package paper

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// fitting is a size of a list on one sheet, which must fit A4 and Letter. CSS cannot choose a font
// size by content, so fit selects a fitting. The classes fit-N of office.css have the same values.
type fitting struct {
	columns int     // per sheet
	points  float64 // font size
	padding float64 // of a row: top, bottom and border, in mm
}

// Sizes of the lists, largest first.
var (
	phoneFits = []fitting{{2, 12, 3.9}, {2, 11, 1.9}, {2, 10, .9}, {2, 9, .7}, {3, 8, .7}, {3, 7, .5}}
	fullFits  = []fitting{{1, 9, 1.9}, {1, 8.5, 1.3}, {1, 8, .9}, {1, 7.5, .7}, {1, 7, .5}, {1, 6, .3}}
)

// Dimensions in mm. The sheet has the smaller sides of A4 and Letter, without margins, heading and
// code.
const (
	sheetWidth, sheetHeight = 180, 215
	columnGap               = 8
	cellPadding             = 2
	blankWidth              = 6.5 // of an empty column
	headingPoints           = 8   // of its rotated heading
	lineHeight              = 1.1
	millimetres             = 25.4 / 72 // in a point
)

// Longer texts, in characters, are too rare to make other columns narrow.
const longName, longEmail = 32, 48

func hasLongTexts(p view.Person) bool {
	return utf8.RuneCountInString(p.LastName) > longName || utf8.RuneCountInString(p.FirstName) > longName ||
		utf8.RuneCountInString(p.Email) > longEmail
}

// fit returns the number, from 1, of the largest size in which all people fit on one sheet. If
// none fits, it returns the smallest.
func fit(people []view.Person, headings []string, full bool) int {
	fits, columns, height := phoneFits, []paperColumn{{}, {whole: true}}, float64(sheetHeight)
	if full {
		fits, columns = fullFits, []paperColumn{{}, {}, {whole: true}, {}, {whole: true}, {whole: true}}
	}
	for _, heading := range headings {
		height = min(height, sheetHeight-textWidth(heading)*headingPoints*millimetres)
	}
	for _, p := range people {
		cells := []string{p.LastName + " " + p.FirstName, p.Phone}
		if full {
			cells = []string{p.LastName, p.FirstName, p.Phone, p.Email, p.Born, "100"}
		}
		for i, text := range cells {
			columns[i].widths = append(columns[i].widths, textWidth(text))
		}
	}
	for i, f := range fits {
		if len(headings) > 0 {
			f.columns = min(f.columns, 2)
		}
		em := f.points * millimetres
		width := (sheetWidth-float64(columnGap*(f.columns-1)))/float64(f.columns) - float64(len(headings))*blankWidth
		sum, highest := 0.0, 0.0
		for _, lines := range linesOf(columns, width/em, cellPadding/em) {
			row := float64(lines)*em*lineHeight + f.padding
			sum, highest = sum+row, max(highest, row)
		}
		if sum/float64(f.columns)+float64(f.columns-1)*highest/2 <= height {
			return i + 1
		}
	}
	return len(fits)
}

// paperColumn is a column of a list, with the width of each text in ems.
type paperColumn struct {
	whole  bool // texts do not wrap
	widths []float64
	share  float64 // width of the column
}

// linesOf returns the number of lines of each row of a table. Columns that wrap share the
// remaining width in proportion to their longest texts, approximately as in browsers.
func linesOf(columns []paperColumn, width, padding float64) []int {
	const longest = 16 // numbers are shorter
	sharing := 0.0
	for i := range columns {
		c := &columns[i]
		c.share = min(slices.Max(append(c.widths, 0)), longest)
		width -= padding
		if c.whole {
			width -= c.share
		} else {
			sharing += c.share
		}
	}
	lines := make([]int, len(columns[0].widths))
	for i := range lines {
		lines[i] = 1
		for _, c := range columns {
			room := c.share
			if !c.whole {
				room = max(1, width*c.share/sharing)
			}
			if text := c.widths[i]; text > room {
				const ragged = 1.2 // lines break between words
				lines[i] = max(lines[i], int(math.Ceil(text*ragged/room)))
			}
		}
	}
	return lines
}

// textWidth returns the approximate width of a text in ems.
func textWidth(text string) (ems float64) {
	for _, r := range text {
		switch {
		case r >= 0x1100: // Korean, Chinese, Japanese
			ems++
		case unicode.IsUpper(r):
			ems += .7
		default:
			ems += .55
		}
	}
	return ems
}
