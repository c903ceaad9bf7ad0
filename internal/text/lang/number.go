package lang

import "strconv"

// form is a plural category of CLDR.
type form int

const (
	one form = iota
	few
	other
)

// formNames are the names of the forms in the files of messages.
var formNames = [...]string{one: "one", few: "few", other: "other"}

// pluralRule tells which form of a message belongs to a number.
type pluralRule struct {
	form      func(n int) form
	few       bool // the language has the form few
	oneIsMore bool // the form one also stands for numbers other than 1
}

// of returns the form for n, which may be negative.
func (r pluralRule) of(n int) form { return r.form(max(n, -n)) }

// has reports whether the language has a form.
func (r pluralRule) has(f form) bool { return f == one || f == other || f == few && r.few }

func oneOther(n int) form {
	if n == 1 {
		return one
	}
	return other
}

func zeroToo(n int) form {
	if n <= 1 {
		return one
	}
	return other
}

func oneFewOther(n int) form {
	units, teen := n%10, n%100/10 == 1
	switch {
	case units == 1 && !teen:
		return one
	case 2 <= units && units <= 4 && !teen:
		return few
	}
	return other
}

// grouping is how a language groups the digits of a number in threes.
type grouping struct {
	separator string
	from      int // numbers below are not grouped
}

// append appends n in groups of three digits.
func (g grouping) append(b []byte, n int) []byte {
	if -g.from < n && n < g.from {
		return strconv.AppendInt(b, int64(n), 10)
	}
	var buffer [20]byte
	digits := strconv.AppendInt(buffer[:0], int64(n), 10)
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b = append(b, g.separator...)
		}
		b = append(b, digit)
	}
	return b
}
