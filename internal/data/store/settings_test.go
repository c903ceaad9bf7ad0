package store_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestSettings checks that settings are stored with the log of their changes, which keeps the last
// ten, and that a restore separates them from their PC.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if got, err := s.Settings(); err != nil || !reflect.DeepEqual(got, store.Settings{}) {
		t.Errorf("of a new database: %+v, %v", got, err)
	}
	want := store.Settings{Folder: "/mnt/stick", Recipients: []string{"age1a", "age1b"}, Network: true, Machine: "this"}
	must(t, s.SetSettings(want, store.SettingChange{Who: "Ana", What: "folder", Value: "/mnt/stick"}))
	if got, err := s.Settings(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for i := range 11 {
		must(t, s.LogSetting(store.SettingChange{Who: "Eva", What: "name", Value: fmt.Sprint(i)}))
	}
	log, err := s.SettingChanges()
	if err != nil || len(log) != 10 || log[0].Value != "10" || log[9].Value != "1" || log[0].Who != "Eva" || log[0].At == 0 {
		t.Errorf("the log is %+v, %v", log, err)
	}
	must(t, s.RenewHistory())
	want.Machine = ""
	if got, err := s.Settings(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after a restore: %+v, %v", got, err)
	}
}
