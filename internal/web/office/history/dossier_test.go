package history

import (
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestErased checks the JSON of a purged person: the record is null, and empty lists are not.
func TestErased(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	purge := store.Edit{At: at, Action: "purge", ID: "x"}
	d := dossier{PersonalData: store.PersonalData{ID: "x", Department: "Engine <7>", At: at, ErasedAt: at, Edits: []store.Edit{purge}}}
	var text strings.Builder
	if err := d.writeJSON(&text); err != nil {
		t.Fatal(err)
	}
	const want = `{"madeAt":"2026-11-24T09:30:00.000Z","department":"Engine<7>","id":"x","deletedAt":null,"erasedAt":"2026-11-24T09:30:00.000Z","damaged":false,` +
		`"record":null,"history":[{"at":"2026-11-24T09:30:00.000Z","action":"purge","key":null,"label":null,"import":null,"before":null,"mergedWith":null}],"distinctFrom":[],"imports":[],"readers":[],"storedResponses":[],"backups":{"folder":"ok","files":[],"unread":[]}}`
	if got := strings.Join(strings.Fields(text.String()), ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestImports checks that each import is listed once, oldest first.
func TestImports(t *testing.T) {
	t.Parallel()
	one, two := &store.Import{Number: 1}, &store.Import{Number: 2}
	d := dossier{PersonalData: store.PersonalData{Edits: []store.Edit{{Import: two}, {}, {Import: one}, {Import: one}, {}}}}
	if all := d.Imports(); len(all) != 2 || all[0].Number != 1 || all[1].Number != 2 {
		t.Errorf("Imports() = %v, want 1 and 2", all)
	}
}
