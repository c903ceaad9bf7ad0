package lang

// languages has English first, because it is what Negotiate falls back to.
var languages = numbered([]*Language{
	{
		tag: "en", name: "English",
		plural:   pluralRule{form: oneOther},
		grouping: grouping{separator: ",", from: 1000},
		calendar: calendar{
			months: []string{"January", "February", "March", "April", "May", "June",
				"July", "August", "September", "October", "November", "December"},
			afterDay: " ", beforeYear: " ", beforeTime: ", ", eitherOrder: true,
		},
	},
	{
		tag: "de", name: "Deutsch",
		plural:   pluralRule{form: oneOther},
		grouping: grouping{separator: ".", from: 1000},
		calendar: calendar{
			months: []string{"Januar", "Februar", "März", "April", "Mai", "Juni",
				"Juli", "August", "September", "Oktober", "November", "Dezember"},
			afterDay: ". ", beforeYear: " ", beforeTime: ", ", afterTime: " Uhr",
		},
	},
	{
		tag: "fr", name: "Français",
		plural:   pluralRule{form: zeroToo, oneIsMore: true},
		grouping: grouping{separator: "\u202f", from: 1000}, // narrow no-break space
		calendar: calendar{
			months: []string{"janvier", "février", "mars", "avril", "mai", "juin",
				"juillet", "août", "septembre", "octobre", "novembre", "décembre"},
			afterFirst: "er", afterDay: " ", beforeYear: " ", beforeTime: " à ",
		},
	},
	{
		tag: "es", name: "Español",
		plural:   pluralRule{form: oneOther},
		grouping: grouping{separator: ".", from: 10_000},
		calendar: calendar{
			months: []string{"enero", "febrero", "marzo", "abril", "mayo", "junio",
				"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
			afterDay: " de ", beforeYear: " de ", beforeTime: ", ",
		},
	},
	{
		tag: "hr", name: "Hrvatski",
		plural:   pluralRule{form: oneFewOther, few: true, oneIsMore: true},
		grouping: grouping{separator: ".", from: 1000},
		calendar: calendar{
			months: []string{"siječanj", "veljača", "ožujak", "travanj", "svibanj", "lipanj",
				"srpanj", "kolovoz", "rujan", "listopad", "studeni", "prosinac"},
			genitives: []string{"siječnja", "veljače", "ožujka", "travnja", "svibnja", "lipnja",
				"srpnja", "kolovoza", "rujna", "listopada", "studenoga", "prosinca"},
			afterDay: ". ", beforeYear: " ", afterYear: ".", beforeTime: " u ",
		},
	},
})

// numbered sets what follows from the rest of the table.
func numbered(table []*Language) []*Language {
	for i, l := range table {
		l.index = i
		if l.calendar.genitives == nil {
			l.calendar.genitives = l.calendar.months
		}
	}
	return table
}
