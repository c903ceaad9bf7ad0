package mapping

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestFirstNames checks that common first names show the order of names without a comma, and that an
// answer and a header override them.
func TestFirstNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o                   Options
		header, cells, want string
	}{
		{Options{}, "Name", "Huber Josef|Berger Anna|Xy Zett", "Josef/Huber; Anna/Berger; Zett/Xy"},
		{Options{}, "Name", "Josef Huber|Anna Berger|Xy Zett", "Josef/Huber; Anna/Berger; Xy/Zett"},
		{Options{}, "Ime", "Horvat Željko|Kos Ana Marija|Perić Marko ml.", "Željko/Horvat; Ana Marija/Kos; Marko/Perić ml."},
		{Options{}, "Name", "Dr. Huber Hans-Peter|van den Berg Kees", "Dr. Hans-Peter/Huber; Kees/van den Berg"},
		{Options{}, "Name", "Tyrone Andrew|Dwayne Victor" + strings.Repeat("|Xy Zett", 5), "Tyrone/Andrew; Dwayne/Victor; Xy/Zett"},
		{Options{}, "Name", "Huber Josef|Xy Zett", "Huber/Josef; Xy/Zett"},
		{Options{}, "Name", "Franz Josef|Karl Anna|Berger Anna", "Franz/Josef; Karl/Anna; Berger/Anna"},
		{Options{}, "Name", "Huber Josef|Berger Anna|Moser, Karl", "Josef/Huber; Anna/Berger; Karl/Moser"},
		{Options{}, "Name", "Huber Josef, OBI|Berger Anna, HFM", "Josef/Huber; Anna/Berger"},
		{Options{Answers: sheet.Answers{AskNames: FirstLast}}, "Name", "Huber Josef|Berger Anna", "Huber/Josef; Berger/Anna"},
	} {
		if got := readings(t, tt.o, tt.header, strings.Split(tt.cells, "|")...); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.cells, got, tt.want)
		}

	}
	for _, field := range []string{FullName, LastFirst} {
		o := Options{Now: now, Columns: map[int]string{0: field, 1: field}}
		r, err := Map(t.Context(), tableOf("Titel|Name", "Dr.|Huber Josef", "|Berger Anna", "|Moser, Karl"), o)
		if err != nil || r.Columns[1].Field != field || (r.People[0].Fields.FirstName == "Dr. Josef") != (field == LastFirst) {
			t.Errorf("%s: %+v, %v", field, r.People, err)
		}
	}
}
