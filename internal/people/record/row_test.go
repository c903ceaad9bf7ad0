package record

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/text/fold"
)

const anaID = "01a1f83c-64f7-795d-bc35-4c6516093415"

var ana = Fields{FirstName: "Ana", LastName: "Čović", PhoneNumber: "091 234 5678", Email: "Ana.Covic@example.com",
	DateOfBirth: "1990-05-15T00:00:00+02:00"}

// anaSum is the checksum of ana in department 7. Changing it, or another checksum in this file,
// would make every existing database damaged.
const anaSum = 3589889097

func TestChecksum(t *testing.T) {
	t.Parallel()
	least := Fields{FirstName: "Ana", LastName: "Čović"}
	tests := []struct {
		name string
		got  int64
		want int64
	}{
		{"all fields", Checksum(7, anaID, &ana, false), anaSum},
		{"deleted", Checksum(7, anaID, &ana, true), ^anaSum},
		{"names alone", Checksum(7, anaID, &least, false), 1557791092},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// TestChecksumOfNewField checks that a new field changes only the checksums of records with a
// value. It modifies the table of fields and must not run in parallel.
func TestChecksumOfNewField(t *testing.T) {
	rank, before := "", fields
	t.Cleanup(func() { fields = before })
	fields = append(slices.Clone(fields), Field{Name: "rank", Of: func(*Fields) *string { return &rank }})
	if sum := Checksum(7, anaID, &ana, false); sum != anaSum {
		t.Errorf("checksum %d without a value", sum)
	}
	rank = "Captain"
	if sum := Checksum(7, anaID, &ana, false); sum == anaSum {
		t.Error("the checksum ignores the value")
	}
}

// anaRow is the database row of ana.
func anaRow() []driver.Value {
	row := []driver.Value{int64(7<<32 | 1), int64(anaSum), anaID}
	return append(append(row, ana.Values()...), "Sent", nil, int64(98), int64(99))
}

func scan(tenant TenantID, deleted bool, row []driver.Value) (s Stored) {
	Scan(tenant, deleted, row, &s)
	return s
}

func TestScan(t *testing.T) {
	t.Parallel()
	deleted := anaRow()
	deleted[1] = int64(^anaSum)
	for _, s := range []Stored{scan(7, false, append(anaRow(), "more")), scan(7, true, deleted)} {
		if s.Damaged || s.Err() != nil || s.ID != anaID || s.Fields != ana || s.Row != 7<<32|1 || s.CreatedAt != 98 || s.UpdatedAt != 99 {
			t.Errorf("got %+v", s)
		}
		if s.UserID != nil || s.InvitationStatus == nil || *s.InvitationStatus != "Sent" {
			t.Errorf("platform columns: %v, %v", s.InvitationStatus, s.UserID)
		}
	}
	if n := strings.Count(Columns, ",") + 1; n != len(anaRow()) {
		t.Errorf("%d columns, but Scan reads %d", n, len(anaRow()))
	}
}

// TestScanDamaged checks that a change of any covered column, or another department, invalidates
// the checksum.
func TestScanDamaged(t *testing.T) {
	t.Parallel()
	if s := scan(8, false, anaRow()); !s.Damaged {
		t.Error("a row of another department is not damaged")
	}
	if s := scan(7, true, anaRow()); !s.Damaged {
		t.Error("a deleted row read as not deleted is not damaged")
	}
	names := strings.Split(Columns, ", ")
	for column := 1; column < 3+len(fields); column++ {
		row := anaRow()
		switch v := row[column].(type) {
		case int64:
			row[column] = v ^ 1
		case string:
			row[column] = v[:len(v)-1] + "\x00"
		case nil:
			row[column] = "x"
		}
		s := scan(7, false, row)
		var damaged *DamagedError
		if !errors.As(s.Err(), &damaged) || damaged.ID != s.ID {
			t.Errorf("%s = %v: %+v, %v", names[column], row[column], s, s.Err())
		}
	}
}

func TestValuesAndKeys(t *testing.T) {
	t.Parallel()
	bornAt := ana.Born().UnixNano()
	tests := []struct {
		name         string
		f            Fields
		values, keys []driver.Value
	}{
		{"all", ana,
			[]driver.Value{"Ana", "Čović", "091 234 5678", "Ana.Covic@example.com", "1990-05-15T00:00:00+02:00"},
			[]driver.Value{"ana", "covic", "ana.covic@example.com", "091 234 5678", bornAt,
				"ana\ncovic\nana.covic@example.com\n091 234 5678", "0912345678"}},
		{"names alone", Fields{FirstName: "Ana", LastName: "Čović"},
			[]driver.Value{"Ana", "Čović", nil, nil, nil},
			[]driver.Value{"ana", "covic", nil, nil, nil, "ana\ncovic\n\n", ""}},
		{"keys that are empty", Fields{FirstName: "\u0301", LastName: "\u0301", PhoneNumber: "\u0301"},
			[]driver.Value{"\u0301", "\u0301", "\u0301", nil, nil},
			[]driver.Value{"", "", nil, "", nil, "\n\n\n\u0301", ""}},
		{"phone number as it is", Fields{FirstName: "A", LastName: "B", PhoneNumber: "Ext. 7/١"},
			[]driver.Value{"A", "B", "Ext. 7/١", nil, nil},
			[]driver.Value{"a", "b", nil, "ext. 7/١", nil, "a\nb\n\nExt. 7/١", "7"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.values = append(tt.values, make([]driver.Value, len(fields)-len(tt.values))...) // fields added later
			if got := tt.f.Values(); !slices.Equal(got, tt.values) {
				t.Errorf("values %q, want %q", got, tt.values)
			}
			if got := tt.f.Keys(); !slices.Equal(got, tt.keys) {
				t.Errorf("keys %q, want %q", got, tt.keys)
			}
		})
	}
	if n := strings.Count(KeyColumns, ",") + 1; n != len(ana.Keys()) {
		t.Errorf("%d key columns, but %d keys", n, len(ana.Keys()))
	}
}

// TestKeysVersion checks that a change to the keys also changes the version of the folding, with which
// a start computes them again.
func TestKeysVersion(t *testing.T) {
	t.Parallel()
	hash := fnv.New64a()
	for _, f := range []Fields{ana, {FirstName: "Đuro", LastName: "O’Brien‑Müller"}, {FirstName: "A", LastName: "B", PhoneNumber: "+385 (0)91/Büro ５",
		Email: "ß@x.hr"}} {
		fmt.Fprintf(hash, "%q\n", f.Keys())
	}
	const want = 0xa3c0c7e646bacb9a
	if got := hash.Sum64(); fold.Version != 1 || got != want {
		t.Errorf("the keys have the hash %#x: raise fold.Version, and change this test", got)
	}
}
