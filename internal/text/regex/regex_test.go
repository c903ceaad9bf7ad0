package regex

import "testing"

func TestLazy(t *testing.T) {
	t.Parallel()
	digits := Lazy(`^\d+$`)
	if once := digits(); !once.MatchString("12") || once.MatchString("a") || digits() != once {
		t.Error("wrong, or compiled twice")
	}
}
