package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firefighters/internal/demo"
)

// ordersBySQL are the orders of a list, as one would write them by hand.
var ordersBySQL = map[string][2]string{
	"createdAt":   {"row", "row DESC"},
	"firstName":   {"first_key, last_key, row", "first_key DESC, last_key DESC, row DESC"},
	"lastName":    {"last_key, first_key, row", "last_key DESC, first_key DESC, row DESC"},
	"email":       {"email IS NULL, email_key, row", "email IS NULL, email_key DESC, row DESC"},
	"phoneNumber": {"phone_number IS NULL, phone_key, row", "phone_number IS NULL, phone_key DESC, row DESC"},
	"dateOfBirth": {"date_of_birth IS NULL, born_at, row", "date_of_birth IS NULL, born_at DESC, row DESC"},
}

// rollTest is a server with a department that is large enough for a roll.
type rollTest struct {
	*testServer
	db string
	c  client
}

// newRollTest has a department of so many records, whose roll is there.
func newRollTest(t *testing.T, records int, rest time.Duration) *rollTest {
	t.Helper()
	db := invented(t, 1, records)
	s := openServer(t, db, time.Now)
	s.server.store.rolls.rest = rest
	r := &rollTest{s, db, s.as(newKey(t, db, demo.Department(0)))}
	r.lists(t, "sortBy=email")
	r.lists(t, "sortBy=email")
	if r.followed(t); t.Failed() {
		t.FailNow()
	}
	return r
}

func (r *rollTest) lists(t *testing.T, query string) wireList { t.Helper(); return r.c.list(t, query) }

// followed fails unless the roll is of the newest version. Where the rest
// between readings is long, that is because it has followed each change.
func (r *rollTest) followed(t *testing.T) {
	t.Helper()
	var version int64
	scanSQL(t, r.db, `SELECT version FROM tenants WHERE id = 1`, &version)
	if d := r.server.store.rolls.of(1); d == nil || d.roll == nil || d.roll.version != version {
		t.Errorf("the roll is not of version %d: %+v", version, d)
	}
}

// equal compares the whole list in every order, and some searches, with what
// SQL says.
func (r *rollTest) equal(t *testing.T) {
	t.Helper()
	db := openSQL(t, r.db)
	defer db.Close()
	for name, both := range ordersBySQL {
		r.equals(t, db, "", name, "asc", both[0])
		r.equals(t, db, "", name, "desc", both[1])
	}
	r.equals(t, db, "ana", "firstName", "asc", ordersBySQL["firstName"][0])
	r.equals(t, db, "09", "phoneNumber", "desc", ordersBySQL["phoneNumber"][1])
}

func (r *rollTest) equals(t *testing.T, db *sql.DB, search, sortBy, sortDir, order string) {
	t.Helper()
	rows, err := db.Query(`SELECT id FROM firefighters WHERE tenant_id = 1 AND deleted_at IS NULL
		AND (instr(search_text, ?1) OR instr(phone_digits, ?1) AND ?1 GLOB '[0-9]*') ORDER BY `+order, search)
	must(t, err)
	var want, got []string
	for rows.Next() {
		var id string
		must(t, rows.Scan(&id))
		want = append(want, id)
	}
	must(t, rows.Err())
	for page, more := 1, true; more; page++ {
		l := r.lists(t, fmt.Sprintf("search=%s&sortBy=%s&sortDir=%s&pageSize=90&page=%d", search, sortBy, sortDir, page))
		for _, f := range l.Data.Items {
			got = append(got, f.ID)
		}
		if more = l.Data.HasNextPage; l.TotalCount != int64(len(want)) {
			t.Fatalf("%q by %s %s: %d in all, not %d", search, sortBy, sortDir, l.TotalCount, len(want))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q by %s %s:\ngot  %v\nwant %v", search, sortBy, sortDir, got, want)
	}
}

// TestRollFollows: many write and many read, and the roll follows all of it.
func TestRollFollows(t *testing.T) {
	t.Parallel()
	r := newRollTest(t, 300, time.Hour)
	var writers, readers sync.WaitGroup
	var stop atomic.Bool
	for i := range 6 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			var mine []string
			for n := range 30 {
				body := fmt.Sprintf(`{"firstName":"Ana%d","lastName":"%c","phoneNumber":"09%d"}`, n%7, 'A'+random.IntN(26), random.IntN(1000))
				at := 0
				if len(mine) > 0 {
					at = random.IntN(len(mine))
				}
				switch action := random.IntN(3); {
				case action == 0 || len(mine) == 0:
					a, err := r.c.try(t, "POST", collection, strings.NewReader(body))
					if err != nil || a.status != 201 {
						t.Errorf("%v %+v", err, a)
						return
					}
					mine = append(mine, strings.TrimPrefix(a.header.Get("Location"), collection+"/"))
				case action == 1:
					if a, err := r.c.try(t, "PUT", collection+"/"+mine[at], strings.NewReader(body)); err != nil || a.status != 200 {
						t.Errorf("%v %+v", err, a)
					}
				default:
					if a, err := r.c.try(t, "DELETE", collection+"/"+mine[at], nil); err != nil || a.status != 204 {
						t.Errorf("%v %+v", err, a)
					}
					mine = slices.Delete(mine, at, at+1)
				}
			}
		})
		readers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 2))
			for !stop.Load() {
				query := []string{"search=ana&sortBy=firstName", "sortBy=email&page=3", "sortBy=phoneNumber&sortDir=asc", "page=12",
					"search=09&pageSize=100", "sortBy=dateOfBirth&page=2&pageSize=100", "sortBy=lastName&page=14"}[random.IntN(7)]
				if a, err := r.c.try(t, "GET", collection+"?"+query, nil); err != nil || a.status != 200 {
					t.Errorf("%s: %v %+v", query, err, a)
					return
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	r.equal(t)
	r.followed(t)
}

// TestRollAfterFailures: a transaction that was not committed is not in it.
func TestRollAfterFailures(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]time.Duration{"read anew": 0, "left alone": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRollTest(t, 260, rest)
			limit := func(pages int) { // as if the disk had room for no more
				_, err := r.server.store.writer.conn.queryNumber(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
				must(t, err)
			}
			limit(1)
			var clients sync.WaitGroup
			for range 4 { // so that some share a transaction
				clients.Go(func() {
					for full := 0; full < 4; {
						a, err := r.c.try(t, "POST", collection, strings.NewReader(ana))
						if err != nil || a.status != 201 && a.status != http.StatusInsufficientStorage {
							t.Errorf("%v %+v", err, a)
							return
						}
						if a.status == http.StatusInsufficientStorage {
							full++
						}
						if a, err := r.c.try(t, "GET", collection+"?search=ana", nil); err != nil || a.status != 200 {
							t.Errorf("%v %+v", err, a)
						}
					}
				})
			}
			clients.Wait()
			r.equal(t)
			limit(1 << 30)
			r.c.create(t, ana)
			r.equal(t)
			r.server.store.rolls.rest = 0
			r.equal(t)
			r.followed(t)
		})
	}
}

// TestRollAndOthers: what another process writes is seen at once.
func TestRollAndOthers(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]time.Duration{"read anew": 0, "left alone": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRollTest(t, 260, rest)
			department := []string{"--db", r.db, "--tenant", demo.Department(0)}
			id, gone := r.c.create(t, ana), r.c.create(t, ana)
			for _, id := range []string{id, gone} {
				r.c.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
			}
			r.lists(t, "search=ana")
			works(t, append([]string{"undelete", id}, department...)...)
			if l := r.lists(t, "search=ana@example.com+čović"); l.TotalCount != 1 || l.Data.Items[0].ID != id {
				t.Errorf("after undelete: %+v", l)
			}
			r.c.do(t, "PUT", collection+"/"+id, `{"firstName":"Zzz","lastName":"Q"}`).wants(t, 200)
			r.equal(t)
			works(t, append([]string{"purge", "--yes", gone}, department...)...)
			r.c.create(t, ana)
			r.equal(t)
			execSQL(t, r.db, `UPDATE firefighters SET invitation_status = 'sent' WHERE id = ?`, id)
			if l := r.lists(t, "search=zzz"); l.TotalCount != 1 || *l.Data.Items[0].InvitationStatus != "sent" {
				t.Errorf("after the platform's change: %+v", l)
			}
			r.equal(t)
			if rest == 0 {
				r.followed(t)
			}
		})
	}
}

// TestRollUnread: steps that nobody takes do not pile up, and are not missed.
func TestRollUnread(t *testing.T) {
	t.Parallel()
	r := newRollTest(t, 260, 0)
	store := r.server.store
	f := wireRecord{}
	decode(t, r.c.do(t, "GET", collection+"/"+r.lists(t, "pageSize=1").Data.Items[0].ID, "").body, &f)
	const each = 900
	for range maxSteps/each + 2 {
		must(t, store.write(func(tx *transaction) error {
			row, err := tx.queryNumber(`SELECT row FROM firefighters WHERE id = ?`, f.ID)
			for range each { // as if it were changed again and again
				tx.touch(1, row)
			}
			if err == nil {
				_, err = tx.exec(`UPDATE tenants SET version = version + ? WHERE id = 1`, int64(each))
			}
			return err
		}))
		if d := store.rolls.of(1); len(d.steps) > maxSteps {
			t.Fatalf("%d steps wait", len(d.steps))
		}
	}
	r.c.do(t, "DELETE", collection+"/"+f.ID, "").wants(t, 204)
	r.equal(t)
	r.followed(t)
}

// TestRollOfAShrinkingDepartment: one that is small again has no roll, and not
// its old one either.
func TestRollOfAShrinkingDepartment(t *testing.T) {
	t.Parallel()
	r := newRollTest(t, largeDepartment+1, time.Hour)
	for live := int64(largeDepartment + 1); live > largeDepartment-3; live-- {
		items := r.lists(t, "sortBy=lastName&pageSize=1").Data.Items
		r.c.do(t, "DELETE", collection+"/"+items[0].ID, "").wants(t, 204)
		if l := r.lists(t, "sortBy=lastName&pageSize=1"); l.TotalCount != live-1 || l.Data.Items[0].ID == items[0].ID {
			t.Errorf("%d records, not %d: %+v", l.TotalCount, live-1, l.Data.Items)
		}
	}
	r.equal(t)
	for range 10 {
		r.c.create(t, ana)
		r.lists(t, "search=ana")
	}
	r.equal(t)
	r.server.store.rolls.rest = 0
	r.equal(t)
	r.followed(t)
}
