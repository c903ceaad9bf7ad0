package phone

import "testing"

func TestCallingCode(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]string{
		"AD": "376", "HR": "385", "US": "1", "GB": "44", "ZW": "263", "UK": "", "EN": "", "hr": "", "H": "", "": "", "D4": "", "8 ": "",
	} {
		if got := CallingCode(country); got != want {
			t.Errorf("%q: %q, want %q", country, got, want)
		}
	}
}
