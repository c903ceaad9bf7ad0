package lists

import (
	"strings"
	"testing"
)

func TestQuoted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("č", longest)
	if got, want := quoted("\u202e"+long), "\u2068\u202e"+strings.TrimSuffix(long, "č")+"…\u2069"; got != want {
		t.Errorf("quoted: got %q, want %q", got, want)
	}
}

func TestColumnUse(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{{"Handy", "Phone", "Handy (Phone)"}, {"phone", "Phone", "Phone"}, {"\u202ex", "Phone", "\u2068\u202ex\u2069 (Phone)"}} {
		if got := columnUse(tt[0], tt[1]); got != tt[2] {
			t.Errorf("columnUse(%q): got %q, want %q", tt[:2], got, tt[2])
		}
	}
}
