package lang

import (
	"strconv"
	"time"
)

// languages starts with English, the fallback of Negotiate.
var languages = []*Language{
	{
		Tag: "en", Name: "English",
		grouping: grouping{separator: ",", from: 1000},
		dates: dateForm{
			months: []string{"January", "February", "March", "April", "May", "June",
				"July", "August", "September", "October", "November", "December"},
			afterDay: " ", beforeYear: " ", beforeTime: ", ", eitherOrder: true,
			fillers: []string{"of", "st", "nd", "rd", "th"},
		},
	},
	{
		Tag: "de", Name: "Deutsch",
		grouping: grouping{separator: ".", from: 1000},
		dates: dateForm{
			months: []string{"Januar", "Februar", "März", "April", "Mai", "Juni",
				"Juli", "August", "September", "Oktober", "November", "Dezember"},
			afterDay: ". ", beforeYear: " ", beforeTime: ", ", afterTime: " Uhr",
			variants: map[string]time.Month{"janner": time.January, "jaenner": time.January, "feber": time.February,
				"maerz": time.March, "mrz": time.March},
		},
	},
	{
		Tag: "fr", Name: "Français",
		grouping: grouping{separator: "\u202f", from: 1000}, // narrow no-break space
		dates: dateForm{
			months: []string{"janvier", "février", "mars", "avril", "mai", "juin",
				"juillet", "août", "septembre", "octobre", "novembre", "décembre"},
			afterFirst: "er", afterDay: " ", beforeYear: " ", beforeTime: " à ",
			fillers: []string{"er", "de"},
		},
	},
	{
		Tag: "es", Name: "Español",
		grouping: grouping{separator: ".", from: 10_000},
		dates: dateForm{
			months: []string{"enero", "febrero", "marzo", "abril", "mayo", "junio",
				"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
			afterDay: " de ", beforeYear: " de ", beforeTime: ", ",
			fillers:  []string{"de", "del"},
			variants: map[string]time.Month{"setiembre": time.September},
		},
	},
	{
		Tag: "hr", Name: "Hrvatski",
		grouping: grouping{separator: ".", from: 1000},
		dates: dateForm{
			months: []string{"siječanj", "veljača", "ožujak", "travanj", "svibanj", "lipanj",
				"srpanj", "kolovoz", "rujan", "listopad", "studeni", "prosinac"},
			genitives: []string{"siječnja", "veljače", "ožujka", "travnja", "svibnja", "lipnja",
				"srpnja", "kolovoza", "rujna", "listopada", "studenoga", "prosinca"},
			afterDay: ". ", beforeYear: " ", afterYear: ".", beforeTime: " u ",
			fillers: []string{"god", "godine"},
		},
	},
}

// grouping describes how a language groups digits in threes.
type grouping struct {
	separator string
	from      int // smaller numbers are not grouped
}

func (g grouping) format(n int) string {
	digits := strconv.Itoa(n)
	if -g.from < n && n < g.from {
		return digits
	}
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + g.separator + digits[at:]
	}
	return digits
}
