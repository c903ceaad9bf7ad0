package record

import (
	"strings"
	"testing"
)

func TestNormalizeBirth(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{ // want is the normalized date or an error code
		{"", ""},
		{" \n", ""},
		{"1990-05-15", "1990-05-15T00:00:00Z"},
		{"\u200e1990-05-15\u202c", "1990-05-15T00:00:00Z"},
		{"1990-05-15T00:00:00", "1990-05-15T00:00:00Z"},
		{"1990-05-15t07:08:09z", "1990-05-15T07:08:09Z"},
		{" 1990-05-15T00:00:00.000Z\n", "1990-05-15T00:00:00Z"},
		{"1990-05-15T00:00:00+02:00", "1990-05-15T00:00:00+02:00"},
		{"1990-05-15T23:59:59.999999999-11:30", "1990-05-15T23:59:59.999999999-11:30"},
		{"1990-05-15T00:00:00." + strings.Repeat("9", 32) + "Z", "1990-05-15T00:00:00." + strings.Repeat("9", 32) + "Z"},
		{"1990-05-15T00:00:00." + strings.Repeat("9", 33) + "Z", "invalid"},
		{"1990-05-15T00:00:00.120", "1990-05-15T00:00:00.120Z"},
		{"1990-05-15T00:00:00+00:00", "1990-05-15T00:00:00+00:00"},
		{"2000-02-29", "2000-02-29T00:00:00Z"},
		{"1900-01-01", "1900-01-01T00:00:00Z"},
		{"1900-01-01T00:00:00+14:00", "1900-01-01T00:00:00+14:00"},
		{"2026-07-02T12:00:00Z", "2026-07-02T12:00:00Z"},
		{"2026-07-02T14:00:00+02:00", "2026-07-02T14:00:00+02:00"},
		{"2026-07-02T12:00:00.000000001Z", "out_of_range"},
		{"2026-07-02T13:59:59+01:00", "out_of_range"},
		{"9999-12-31", "out_of_range"},
		{"1899-12-31T23:59:59Z", "out_of_range"},
		{"0000-01-01", "out_of_range"},
		{"1900-02-29", "invalid"},
		{"1990-02-30", "invalid"},
		{"1990-13-01", "invalid"},
		{"1990-00-01", "invalid"},
		{"1990-05-00", "invalid"},
		{"1990-05-15T24:00:00Z", "invalid"},
		{"1990-05-15T00:60:00Z", "invalid"},
		{"1990-05-15T00:00:00+24:00", "invalid"},
		{"1990-05-15T00:00:00+0200", "invalid"},
		{"1990-05-15T00:00:00,5Z", "invalid"},
		{"1990-05-15T00:00:00.Z", "invalid"},
		{"1990-05-15 00:00:00Z", "invalid"},
		{"1990-05-15T00:00Z", "invalid"},
		{"1990-05-15Z", "invalid"},
		{"1990-5-15", "invalid"},
		{"90-05-15", "invalid"},
		{"-1990-05-15", "invalid"},
		{"15.05.1990", "invalid"},
		{"١٩٩٠-٠٥-١٥", "invalid"},
		{"1990-05-15\n1990-05-15", "invalid"},
		{"1990-05-15T00:00:00Z\x00", "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, errs := Fields{FirstName: "A", LastName: "B", DateOfBirth: tt.in}.Normalize(today)
			if len(errs) > 0 && errs[0].Field == "dateOfBirth" {
				got.DateOfBirth = errs[0].Code
			}
			if got.DateOfBirth != tt.want || len(errs) > 1 {
				t.Errorf("got %q with %v, want %q", got.DateOfBirth, errs, tt.want)
			}
		})
	}
}
