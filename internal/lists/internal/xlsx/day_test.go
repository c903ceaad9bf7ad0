package xlsx

import "testing"

// TestDay checks the dates of serial numbers, and that a low number is not a date.
func TestDay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		serial   string
		date1904 bool
		want     string
	}{
		{"33008", false, "1990-05-15"},
		{"31546", true, "1990-05-15"},
		{"33008.3541666667", false, "1990-05-15T08:30:00"},
		{"33008.000000001", false, "1990-05-15"},
		{"33007.999999999", false, "1990-05-15"},
		{"33008.9999", false, "1990-05-15T23:59:51"},
		{"1", false, "1900-01-01"},
		{"59", false, "1900-02-28"},
		{"60", false, ""},
		{"60.5", false, ""},
		{"61", false, "1900-03-01"},
		{"0", true, "1904-01-01"},
		{"60", true, "1904-03-01"},
		{"0", false, ""},
		{"0.5", false, ""},
		{"-1", false, ""},
		{"2958465", false, "9999-12-31"},
		{"2958466", false, ""},
		{"2957003", true, "9999-12-31"},
		{"NaN", false, ""},
		{"1e300", false, ""},
		{"", false, ""},
		{"x", false, ""},
	} {
		if got, ok := date(test.serial, test.date1904); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("serial %s, 1904 %t: got %s, %t, want %s", test.serial, test.date1904, got, ok, test.want)
		}
	}
	for serial, want := range map[string]bool{"1985": false, "2999.9": false, "3000": true, "33008": true, "x": false} {
		if _, got := Day(serial, false); got != want {
			t.Errorf("%s is a date: %t, want %t", serial, got, want)
		}
	}
}
