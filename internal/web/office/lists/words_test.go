package lists

import "testing"

func TestColumnUse(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{{"Handy", "Phone", "Handy (Phone)"}, {"phone", "Phone", "Phone"}} {
		if got := columnUse(tt[0], tt[1]); got != tt[2] {
			t.Errorf("columnUse(%q): got %q, want %q", tt[:2], got, tt[2])
		}
	}
}
