package lang

import "strings"

// Phone formats a phone number for display: groups of digits separated by spaces, +385 instead of
// 00385, no trunk zero after a country code, and long runs of digits grouped as is usual in the
// language. It keeps the writer's groups, and the digits to dial never change. Phone returns text
// unchanged unless it is clearly one number: text with words, two numbers or an extension after a
// slash stays the same.
func (l *Language) Phone(text string) string {
	number := strings.TrimSpace(text)
	if zeros, abroad := strings.CutPrefix(number, "00"); abroad {
		number = "+" + strings.TrimLeft(zeros, " ")
	}
	rest, abroad := strings.CutPrefix(number, "+")
	if abroad {
		rest = strings.Replace(rest, "(0)", " ", 1)
	}
	isForeign := func(r rune) bool { return !isDigit(r) && !strings.ContainsRune(phoneSeparators, r) }
	if strings.ContainsFunc(rest, isForeign) || perhapsTwo(rest, abroad) {
		return text
	}
	groups := strings.FieldsFunc(rest, func(r rune) bool { return !isDigit(r) })
	digits := len(strings.Join(groups, ""))
	if digits < leastDigits || digits > mostDigits {
		return text
	}
	var all []string
	if abroad {
		code := min(CountryCodeLength(groups[0]), len(groups[0]))
		all = append(all, "+"+groups[0][:code])
		if groups[0] = groups[0][code:]; groups[0] == "" {
			groups = groups[1:]
		}
	}
	for _, group := range groups {
		all = append(all, l.cut(group)...)
	}
	return strings.Join(all, " ")
}

// phoneSeparators are the characters allowed between digits.
const phoneSeparators = " \u00a0\u202f-\u2010\u2011\u2013./()"

// Limits on the digits of a full number. Shorter numbers are extensions or emergency numbers;
// longer numbers do not exist.
const leastDigits, mostDigits = 6, 15

// perhapsTwo reports whether number has several slashes, or one that does not follow an area code.
func perhapsTwo(number string, abroad bool) bool {
	area, rest, slash := strings.Cut(number, "/")
	if !slash {
		return false
	}
	longest := 6 // 03729 in Germany, plus one digit
	if abroad {
		longest += 2
	}
	return digitsIn(area) > longest || digitsIn(rest) < 4 || strings.Contains(rest, "/")
}

func digitsIn(text string) (count int) {
	for _, r := range text {
		if isDigit(r) {
			count++
		}
	}
	return count
}

// twoDigitCodes are the two-digit country codes. Codes 1 and 7 have one digit, all others three.
const twoDigitCodes = " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 " +
	"60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 "

// CountryCodeLength returns the length of the country code of a number that starts with digits. It
// may exceed the length of digits.
func CountryCodeLength(digits string) int {
	switch {
	case strings.HasPrefix(digits, "1"), strings.HasPrefix(digits, "7"):
		return 1
	case len(digits) > 1 && strings.Contains(twoDigitCodes, " "+digits[:2]+" "):
		return 2
	}
	return 3
}

// cut splits a long run of digits into groups.
func (l *Language) cut(run string) (groups []string) {
	sizes, own := l.phone[len(run)]
	if !own {
		sizes = phoneGroups[len(run)]
	}
	for _, size := range sizes {
		groups = append(groups, run[:size])
		run = run[size:]
	}
	if run != "" {
		groups = append(groups, run)
	}
	return groups
}

// phoneGroups are group sizes by number of digits: an area code followed by seven or eight digits.
var phoneGroups = map[int][]int{7: {3, 4}, 8: {4, 4}, 9: {2, 3, 4}, 10: {3, 3, 4}, 11: {4, 3, 4}, 12: {5, 3, 4}}
