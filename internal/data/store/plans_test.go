package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// slowPlans are the plans that read a whole table or sort, and why they may.
var slowPlans = []struct{ query, plan, why string }{
	{"FROM firefighters\n\tWHERE row BETWEEN", "USE TEMP B-TREE FOR ORDER BY", "a small department; a large one has the index"},
	{"substr(last_key, 1, 1)", "USE TEMP B-TREE FOR GROUP BY", "the letters of a small department; a large one has the index"},
	{"json_each", "SCAN json_each VIRTUAL TABLE INDEX 1:", "the rows of a page, or the records of a purge"},
	{"GROUP BY record_id", "USE TEMP B-TREE FOR GROUP BY", "the changes since a device last looked, of which most are few"},
	{"GROUP BY record_id ORDER BY last", "USE TEMP B-TREE FOR ORDER BY", "the same"},
	{"ORDER BY place", "USE TEMP B-TREE FOR ORDER BY", "the rows of a page, in their order"},
	{"DELETE FROM replays WHERE record_id", "SCAN replays", "a purge, in which nobody waits"},
	{"FROM keys k", "SCAN k", "all keys are wanted, or those of a department, in which nobody waits"},
	{"FROM service", "SCAN service", "the table has one row"},
	{"UPDATE service", "SCAN service", "the table has one row"},
	{"EXISTS (SELECT 1 FROM tenants)", "SCAN tenants USING COVERING INDEX sqlite_autoindex_tenants_1", "it ends at the first row"},
	{"FROM tenants ORDER BY", "SCAN tenants", "all departments are wanted"},
	{"FROM tenants WHERE id <>", "SCAN tenants USING COVERING INDEX sqlite_autoindex_tenants_1", "a department gets a name, which others may be like"},
	{"DELETE FROM replays WHERE tenant_id", "SCAN replays", "a department is removed, which is rare"},
	{"FROM keys WHERE tenant_id", "SCAN keys", "the same"},
	{"FROM invitations WHERE tenant_id", "SCAN invitations", "the same"},
	{"DELETE FROM tenants WHERE", "SCAN keys", "the same: SQLite looks for references"},
	{"DELETE FROM tenants", "SCAN firefighters", "the same"},
	{"DELETE FROM tenants WHERE id", "SCAN invitations", "the same"},
	{"UPDATE invitations", "SCAN invitations", "few invitations are open at a time"},
	{"FROM invitations WHERE expires_at", "SCAN invitations", "the same"},
	{"FROM f, c", "SCAN f", "the first and the last row: one row"},
	{"f, c", "SCAN c", "the same"},
	{"FROM sqlite_schema", "SCAN sqlite_schema", "it has a few rows and is read once"},
}

// TestQueryPlans: no query of the store reads a whole table or sorts, but for
// those of slowPlans.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLarge(t, 300)
		useRecords(t, s)
		useKeys(t, s)
		for _, field := range record.SortFields {
			for _, direction := range []string{"asc", "desc"} {
				order := fmt.Sprintf("sortBy=%s&sortDir=%s", field, direction)
				list(t, s, theirs, order)
				list(t, s, theirs, order+"&search=an+091")
				list(t, s, theirs, order+"&id="+nobody)
				for _, more := range []string{"", "&search=a"} {
					order := order + "&pageSize=1" + more
					for p := list(t, s, theirs, order); p.Next != ""; {
						p = list(t, s, theirs, order+"&cursor="+p.Next)
					}
				}
			}
		}
		_, err := s.List(theirs, record.Query{Page: 1, PageSize: 1, SortBy: record.ByLastName, Letters: true})
		must(t, err)
		queries := prepared(t, s)
		if len(queries) < 50 {
			t.Errorf("only %d queries", len(queries))
		}
		used := map[string]bool{}
		must(t, s.DB().Write(func(tx *sqlite.Tx) error {
			for query := range queries {
				checkPlan(t, tx.Conn, query, used)
			}
			return nil
		}))
		if len(used) != len(slowPlans) {
			t.Errorf("only these slow plans are in use: %v", used)
		}
	})
}

// useRecords uses all methods on records.
func useRecords(t *testing.T, s *store.Store) {
	t.Helper()
	key := keyFor(1, "a", "x")
	f := createWith(t, s, ours, key)
	checkStored(t, s, ours, key, f)
	for range 2 { // by SQL, and the index finds it
		list(t, s, ours, "search=ana")
		time.Sleep(rest)
	}
	_, err := s.Get(ours, f.ID)
	must(t, err)
	_, err = s.Version(ours)
	must(t, err)
	_, err = s.Replace(ours, 0, f.ID, eva, asIs)
	must(t, err)
	must(t, s.Delete(ours, 0, f.ID, asIs))
	must(t, s.Undelete(ours, 0, []string{f.ID}))
	must(t, s.Delete(ours, 0, f.ID, asIs))
	_, err = s.GetDeleted(ours, f.ID)
	must(t, err)
	history(t, s, ours, f.ID)
	_, err = s.Edits(ours, store.EditQuery{Records: []string{f.ID}, Keys: []store.KeyID{0}}, 9)
	must(t, err)
	_, err = s.GetEdit(ours, 1)
	must(t, err)
	_, err = s.Editors(ours)
	must(t, err)
	_, _, err = s.ChangedSince(ours, 0)
	must(t, err)
	changes(t, s, ours, changes(t, s, ours, "", 1).Next, 9)
	waiting := awaitNext(t, s, ours)
	must(t, s.WakeWaiting())
	waiting.cancel()
	_, err = s.HasChanged(ours, "")
	must(t, err)
	syncBook(t, s, ours, syncBook(t, s, ours, "", 1).Token, 1)
	syncBook(t, s, theirs, syncBook(t, s, theirs, "", 0).Token, 1)
	before := syncBook(t, s, ours, "", 0)
	byName := list(t, s, ours, "sortBy=lastName")
	create(t, s, ours, ana)
	list(t, s, ours, "sortBy=lastName&cursor="+byName.Next)
	syncBook(t, s, ours, before.Token, 1)
	_, err = s.SyncToken(ours)
	must(t, err)
	_, err = s.Members(ours, []string{f.ID})
	must(t, err)
	imports(t, s, ours, adding(store.Person{Fields: ana}))
	_, err = s.Imports(ours)
	must(t, err)
	_, err = s.SameFile(ours, hash)
	must(t, err)
	must(t, s.ReadRoster(ours, func(r store.Roster) error { _, err := r.Deleted([]string{nobody}); return err }))
	takeBack(t, s, 1)
	exec(t, s, `UPDATE replays SET created_at = 0`)
	must(t, s.EraseOldReplays(t.Context()))
	_, err = s.Purge(ours, 0, stored(t, s, ours, f.ID))
	must(t, err)
}

// useKeys uses all methods on keys and departments.
func useKeys(t *testing.T, s *store.Store) {
	t.Helper()
	id := newKey(t, s, "Engine 7", "")
	allKeys(t, s)
	listedKeys(t, s, "Engine 7")
	_, err := s.KeyInfo(id)
	must(t, err)
	_, err = s.HasKey(store.KeyHash{})
	must(t, err)
	_, err = s.KeysVersion()
	must(t, err)
	must(t, s.WriteKeyUses(map[store.KeyID]int64{id: 1}))
	_, err = s.KeysOf(ours)
	must(t, err)
	useSessions(t, s)
	_, err = s.RevokeKey(store.AnyTenant, id)
	must(t, err)
	_, err = s.TenantName(ours)
	must(t, err)
	_, err = s.Tenant("Engine 7")
	must(t, err)
	_, err = s.Empty()
	must(t, err)
	must(t, s.Tenants(func(store.TenantInfo) {}))
	must(t, s.CreateKey(store.NewKey{Tenant: "Rescue 3", Scope: store.ScopeRead}, func(string) error { return nil }))
	rescue, err := s.Tenant("Rescue 3")
	must(t, err)
	must(t, s.RenameTenant(rescue, "Rescue 4", false))
	_, err = s.RemoveTenant(rescue)
	must(t, err)
	must(t, s.Ping())
	must(t, s.DB().Read(store.ReadSample))
}

// useSessions uses all methods on sessions, invitations and the service.
func useSessions(t *testing.T, s *store.Store) {
	t.Helper()
	must(t, s.SetAddress("http://localhost"))
	_, err := s.Address()
	must(t, err)
	code := invite(t, s, ours, "Ana", 0)
	invite(t, s, ours, "Eva", 0)
	invitations(t, s, ours)
	must(t, s.Withdraw(ours, 2))
	_, k := openSession(t, s, code)
	must(t, s.EndSession(k))
	addPhone(t, s, store.NewPhone{Tenant: ours, Name: "A", Birthdays: true})
	must(t, s.UsePhoneInvitation(invitePhone(t, s, store.NewInvitation{Name: "A"}), func(store.Phone) error { return nil }))
}

// prepared returns the queries that the connections have prepared.
func prepared(t *testing.T, s *store.Store) map[string]bool {
	t.Helper()
	queries := map[string]bool{}
	add := func(c *sqlite.Conn) error {
		for _, text := range reflect.ValueOf(c).Elem().FieldByName("statements").MapKeys() {
			queries[text.String()] = true
		}
		return nil
	}
	must(t, s.DB().Write(func(tx *sqlite.Tx) error { return add(tx.Conn) }))
	for range 64 { // the connections take turns
		must(t, s.DB().Read(add))
	}
	return queries
}

// checkPlan fails unless the plan of a query is fast or among slowPlans. Of the table
// of changes none may read those of other departments.
func checkPlan(t *testing.T, c *sqlite.Conn, query string, used map[string]bool) {
	t.Helper()
	if !strings.Contains(query, "FROM ") && !strings.Contains(query, "UPDATE ") && !strings.Contains(query, "INSERT ") {
		return // BEGIN, COMMIT or PRAGMA
	}
	args := make(sqlite.Args, 100) // more than any query has
	must(t, c.Query("EXPLAIN QUERY PLAN "+query, args, func(row sqlite.Row) {
		plan := row.Text(3)
		if _, how, reads := strings.Cut(plan, " changes "); reads && how != "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" && how != "USING INTEGER PRIMARY KEY (rowid=?)" {
			t.Errorf("%s\n%s", plan, query)
		}
		if strings.Contains(query, "AND id IN") && strings.HasPrefix(plan, "SEARCH firefighters") && !strings.Contains(plan, "(id=? AND") {
			t.Errorf("%s\n%s", plan, query)
		}
		if !strings.HasPrefix(plan, "SCAN") && !strings.Contains(plan, "TEMP B-TREE") || plan == "SCAN CONSTANT ROW" {
			return
		}
		for _, slow := range slowPlans {
			if strings.Contains(query, slow.query) && plan == slow.plan {
				used[slow.query] = true
				return
			}
		}
		t.Errorf("%s\n%s", plan, query)
	}))
}
