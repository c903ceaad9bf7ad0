//go:build unix

package acceptance

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestColumnHints checks that the hint for unclear columns is a sentence, or a command that answers the
// question. If there are more questions, the hint of that command answers the next.
func TestColumnHints(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		typed []string // flags
		want  []string // people after the commands; nil if the hint is a sentence
	}{
		"two first names": {"Vorname;Rufname;Nachname\nAna Maria;Ana;Čović\n", nil, []string{"Ana Maria | Čović | - | - | -"}},
		"each of them twice": {"Vorname;Rufname;Nachname;Familienname;Geburtsdatum;geb.\nAna;Anica;Čović;Novak;1990-05-15;1990-05-16\n", nil,
			[]string{"Ana | Čović | - | - | 1990-05-15T00:00:00Z"}},
		"typed, and others": {"Vorname;Nachname;Spind;DOB;geb.\nAna;Čović;091;;1990-05-15\nEva;Kos;;1990-05-16;\n", []string{"--map", "Spind=phoneNumber"}, []string{"Ana | Čović | 091 | - | -", "Eva | Kos | - | - | 1990-05-16T00:00:00Z"}},
		"quotes":            {"\"Name, 'Vorname'\";Prezime i ime;Handy\n\"Čović, Ana\";Čović Ana;091\n", nil, []string{"Ana | Čović | 091 | - | -"}},
		"two phones":        {"Vorname;Nachname;geb.;DOB;Mobil;Dienst\nAna;Čović;1990-05-15;1990-05-15;091 234 567;01 234 567\n", nil, []string{"Ana | Čović | 091 234 567 | - | 1990-05-15T00:00:00Z"}},
		"no names":          {"Spind;Mail\nChief;a@example.com\n", nil, nil},
		"one header":        {"Vorname;Nachname;geb.;geb.\nAna;Čović;1990-05-15;1990-05-16\n", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newEngine7(t)
			code, _, stderr := runCommand(t, into("import", list(t, "my list.csv", tt.text), db, append(tt.typed, "--apply")...)...)
			_, try, _ := strings.Cut(stderr, "\nTry: ")
			line, _, _ := strings.Cut(try, "\n")
			if command := strings.HasPrefix(line, "firefighters "); code != 1 || command != (tt.want != nil) {
				t.Fatalf("code %d, stderr:\n%s", code, stderr)
			}
			if tt.want == nil {
				return
			}
			for isAsked := true; isAsked; {
				out, _ := exec.CommandContext(t.Context(), "/bin/sh", "-c", `firefighters() { "$0" "$@"; }; `+line, program).CombinedOutput()
				var next string
				_, next, isAsked = strings.Cut(string(out), "\nTry: ")
				next, _, _ = strings.Cut(next, "\n")
				if next == line {
					t.Fatalf("%s has no effect: %s", line, out)
				}
				line = next
			}
			if got := peopleOf(t, db); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
