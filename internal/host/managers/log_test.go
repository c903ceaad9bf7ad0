package managers

import "testing"

func TestErrorInLog(t *testing.T) {
	t.Parallel()
	for log, want := range map[string][2]string{
		"Try: w\nError: one\nTry: x\nError: two\nTry: y\nTry: z\n": {"two", "y"}, "Error: one\nTry: x\nError: two": {"two", ""}, "nothing": {},
	} {
		if got, hint := errorInLog(log); got != want[0] || hint != want[1] {
			t.Errorf("in %q the last error is %q, with the hint %q", log, got, hint)
		}
	}
}
