package database

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// file returns an error about a database in a folder of the test.
func file(op string, err error) error {
	return &sqlite.FileError{Op: op, Path: "dir/x.db", Err: err}
}

// target returns an error about a backup in a folder of the test.
func target(op string, err error) error {
	return &backup.Error{Op: op, Path: "dir/saved.db", Err: err}
}

// TestAdvice checks errors that the acceptance tests do not cause.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err        error
		text, hint string
	}{
		{&sqlite.FileError{Op: "reading", Path: `C:\new\x.db`, Err: sqlite.ErrNotExist}, `there is no database "C:\new\x.db"`, "name another file with --db"},
		{file("locking", errors.New("no locks here")), `locking database "dir/x.db": no locks here`, ""},
		{file("purging", sqlite.ErrBusy), `purging database "dir/x.db": the database is locked by another program`, ""},
		{errors.Join(file("purging", sqlite.ErrInUse), nil), `the database "dir/x.db" is in use: another firefighters serves it`, "to open its page: firefighters open --db dir/x.db"},
		{file("renaming", &store.TakenError{Name: "b", Existing: "B"}),
			`a department "B" already exists, and "b" differs from it only in case, accents or spaces`, "to use this name anyway, add --new"},
		{&store.NoTenantError{Name: "defualt", Names: []string{"Engine 7", "default"}, CanCreate: true}, `there is no department "defualt"`,
			"--department default\nto create the department, add --new"},
		{&store.NoTenantError{}, "the database has no department", "firefighters keys create --db x.db"},
		{file("reading", &record.DamagedError{ID: "0a"}), `the record "0a" is damaged: its fields do not match their checksum`, "firefighters check --db x.db"},
		{target(backup.OpWrite, fs.ErrInvalid), `writing the backup "dir/saved.db": invalid argument`, ""},
		{target(backup.OpRead, fs.ErrInvalid), `reading the backup "dir/saved.db": invalid argument`, ""},
		{errors.New("it broke"), "it broke", ""},
		{cli.Usage("that is wrong", "this"), "that is wrong", "this"},
	} {
		err := (Schema{}).Advise(t.Context(), tt.err, "x.db", "")
		if err.Error() != tt.text || cli.HintOf(err) != tt.hint || !errors.Is(err, tt.err) {
			t.Errorf("%v:\n%v\nTry: %s\nwant:\n%s\nTry: %s", tt.err, err, cli.HintOf(err), tt.text, tt.hint)
		}
	}
	err := (Schema{}).Advise(t.Context(), &store.SeveralTenantsError{Names: []string{"A", "B"}}, "x.db", "")
	if usage, ok := errors.AsType[*cli.UsageError](err); !ok || *usage != (cli.UsageError{What: "the database has 2 departments", Hint: "name one, such as --department A"}) {
		t.Errorf("several departments: %v", err)
	}
}
