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

// slowPlans are the permitted plans that read a whole table or sort, with the reason.
var slowPlans = []struct{ query, plan, why string }{
	{"FROM firefighters\n\tWHERE row BETWEEN", "USE TEMP B-TREE FOR ORDER BY", "a small department; a large one has the index"},
	{"substr(last_key, 1, 1)", "USE TEMP B-TREE FOR GROUP BY", "the letters of a small department; a large one has the index"},
	{"json_each", "SCAN json_each VIRTUAL TABLE INDEX 1:", "the rows of a page, or the records of a purge"},
	{"GROUP BY record_id", "USE TEMP B-TREE FOR GROUP BY", "the changes since the last sync of a device, usually few"},
	{"GROUP BY record_id ORDER BY last", "USE TEMP B-TREE FOR ORDER BY", "the same"},
	{"DELETE FROM replays WHERE record_id", "SCAN replays", "a purge, which may be slow"},
	{"UPDATE replays", "SCAN replays", "the same"},
	{"imports", "SCAN imports", "the same: a few rows"},
	{"FROM keys k", "SCAN k", "all keys, or a list that may be slow"},
	{"FROM service", "SCAN service", "the table has one row"},
	{"UPDATE service", "SCAN service", "the table has one row"},
	{"EXISTS (SELECT 1 FROM tenants)", "SCAN tenants USING COVERING INDEX sqlite_autoindex_tenants_1", "ends at the first row"},
	{"FROM tenants ORDER BY", "SCAN tenants", "all departments"},
	{"FROM tenants WHERE id <>", "SCAN tenants USING COVERING INDEX sqlite_autoindex_tenants_1", "a search for similar names of departments"},
	{"DELETE FROM replays WHERE tenant_id", "SCAN replays", "the removal of a department, which is rare"},
	{"FROM keys WHERE tenant_id", "SCAN keys", "the same"},
	{"FROM invitations WHERE tenant_id", "SCAN invitations", "the same"},
	{"DELETE FROM tenants WHERE", "SCAN keys", "the same: SQLite looks for references"},
	{"DELETE FROM tenants", "SCAN firefighters", "the same"},
	{"DELETE FROM tenants WHERE id", "SCAN invitations", "the same"},
	{"UPDATE invitations", "SCAN invitations", "few invitations are open at a time"},
	{"FROM invitations WHERE expires_at", "SCAN invitations", "the same"},
	{"FROM f, c", "SCAN f", "the first and the last row: one row"},
	{"f, c", "SCAN c", "the same"},
	{"FROM settings", "SCAN settings", "the table has one row"},
	{"FROM setting_changes", "SCAN setting_changes", "ends after ten rows"},
	{"FROM sqlite_schema", "SCAN sqlite_schema", "a few rows, read once"},
}

// TestQueryPlans checks that no query reads a whole table or sorts, except those in slowPlans.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queries := map[string]bool{}
		w := newWorld(t)
		for _, write := range w.writes() {
			s := w.open(t, ``)
			must(t, write(s))
			addPrepared(t, s, queries)
			must(t, s.Close())
		}
		s := w.open(t, ``)
		for _, read := range w.reads() {
			_, err := read(s)
			must(t, err)
			addPrepared(t, s, queries) // before the statements leave the cache
		}
		waiting := awaitNext(t, s, ours)
		must(t, s.WakeWaiting())
		waiting.cancel()
		must(t, s.DB().Read(store.ReadSample))
		addPrepared(t, s, queries)

		s = newLarge(t, 300)
		for range 2 { // the index is built, then follows
			create(t, s, ours, ana)
			list(t, s, ours, "search=ana")
			time.Sleep(rest)
		}
		byName := list(t, s, ours, "sortBy=lastName")
		create(t, s, ours, ana)
		list(t, s, ours, "sortBy=lastName&cursor="+byName.Next)
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
		addPrepared(t, s, queries)
		if len(queries) < 100 {
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
			t.Errorf("only these slow plans are used: %v", used)
		}
	})
}

// addPrepared adds the queries that the connections of a store have prepared.
func addPrepared(t *testing.T, s *store.Store, queries map[string]bool) {
	t.Helper()
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
}

// checkPlan checks that the plan of a query is fast or in slowPlans. No query may read the changes
// in other departments.
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
