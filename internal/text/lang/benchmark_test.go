package lang

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

func BenchmarkText(b *testing.B) {
	c, l := mustLoad(b), speak(b, "hr")
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			c.Text(l, "list.title")
		}
	})
	b.Run("arguments", func(b *testing.B) {
		for b.Loop() {
			c.Text(l, "welcome", "Ana", 17_000)
		}
	})
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			c.Count(l, "list.count", 17_000)
		}
	})
}

func BenchmarkDay(b *testing.B) {
	l := speak(b, "hr")
	for b.Loop() {
		l.Day(calendar.Date{Year: 1990, Month: time.May, Day: 15})
	}
}

func BenchmarkMoment(b *testing.B) {
	l, moment := speak(b, "hr"), time.Date(2026, 11, 22, 14, 5, 0, 0, time.UTC)
	for b.Loop() {
		l.Moment(moment)
	}
}

func BenchmarkParseDay(b *testing.B) {
	l := speak(b, "hr")
	for _, text := range []string{"15. svibnja 1990.", "15 février 1990", "1990-05-15"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.ParseDay(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNegotiate(b *testing.B) {
	for b.Loop() {
		Negotiate("hr-HR,hr;q=0.9,en-US;q=0.8,en;q=0.7")
	}
}
