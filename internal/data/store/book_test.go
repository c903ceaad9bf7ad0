package store_test

import (
	"encoding/base64"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// noLimit is higher than the number of people in any test.
const noLimit = 1 << 20

func syncBook(t testing.TB, s *store.Store, tenant record.TenantID, token string, limit int) store.Sync {
	t.Helper()
	y, err := s.Sync(tenant, token, limit)
	must(t, err)
	if y.Token == "" {
		t.Error("Sync returned no token")
	}
	return y
}

// syncText returns the end of the id and the last name of each member.
func syncText(y store.Sync) string {
	var all []string
	for _, m := range y.Members {
		name := "-"
		if m.Record != nil {
			name = m.Record.LastName
		}
		all = append(all, m.ID[32:]+" "+name)
	}
	if y.More {
		all = append(all, "more")
	}
	return strings.Join(all, ", ")
}

// TestSyncToken checks that the token changes with every change in a department and not with
// changes in others.
func TestSyncToken(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var f record.Firefighter
	seen := map[string]int{}
	for i, change := range []func(){
		func() {},
		func() { f = create(t, s, ours, ana) },
		func() { f = replace(t, s, ours, f.ID, ana) },
		func() { must(t, s.Delete(ours, 0, f.ID, asIs)) },
		func() { must(t, s.Undelete(ours, 0, []string{f.ID})) },
		func() { must(t, s.Delete(ours, 0, f.ID, asIs)) },
		func() { purge(t, s, ours, f.ID) },
	} {
		change()
		create(t, s, theirs, ana)
		token, err := s.SyncToken(ours)
		must(t, err)
		if before, ok := seen[token]; ok {
			t.Errorf("the token after change %d is the same as after %d", i, before)
		}
		seen[token] = i
		if y := syncBook(t, s, ours, token, 1); y.Token != token || y.Members != nil || y.More {
			t.Errorf("after change %d: %+v", i, y)
		}
		if y := syncBook(t, s, ours, "", noLimit); y.Token != token {
			t.Errorf("after change %d the initial sync ends with %q, want %q", i, y.Token, token)
		}
	}
	if _, err := s.SyncToken(99); !errors.Is(err, store.ErrRemoved) {
		t.Errorf("an unknown department: %v", err)
	}
}

// TestForeignTokens checks that Sync rejects tokens of another history, another department, and
// invalid ones.
func TestForeignTokens(t *testing.T) {
	t.Parallel()
	s, other := newStore(t), newStore(t)
	for _, s := range []*store.Store{s, other} {
		create(t, s, ours, ana)
		create(t, s, ours, ana)
	}
	own := syncBook(t, s, ours, "", noLimit).Token
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{32}$`).MatchString(own) { // it is part of a URI
		t.Errorf("the token is %q", own)
	}
	invalid := []string{syncBook(t, other, ours, "", noLimit).Token, syncBook(t, s, theirs, "", noLimit).Token, syncBook(t, other, ours, "", 1).Token,
		changes(t, s, ours, "", 1).Next, "0", own + "A", own[:31], own + "=", " " + own, own[:9] + "\n" + own[9:], "data:," + own, strings.Repeat("A", 32), strings.Repeat("A", 1<<16)}
	bits, err := base64.RawURLEncoding.DecodeString(own)
	must(t, err)
	for i := range bits {
		bits[i] ^= 1
		invalid = append(invalid, base64.RawURLEncoding.EncodeToString(bits))
		bits[i] ^= 1
	}
	part := syncBook(t, s, ours, "", 1).Token
	refused := func(token string) {
		t.Helper()
		if y, err := s.Sync(ours, token, noLimit); !errors.Is(err, store.ErrPosition) || y.Token != "" || y.Members != nil {
			t.Errorf("%.50q: %+v, %v", token, y, err)
		}
	}
	for _, token := range invalid {
		refused(token)
	}
	if _, err := s.Changes(ours, own, 1); !errors.Is(err, store.ErrPosition) {
		t.Errorf("a token used as a position: %v", err)
	}
	syncBook(t, s, ours, own, noLimit)
	syncBook(t, s, ours, part, noLimit)
	must(t, s.RenewHistory()) // as a restore does
	refused(own)
	refused(part)
}

// TestDamagedMember checks that a damaged record is reported rather than left out.
func TestDamagedMember(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	whole := create(t, s, ours, ana)
	token := syncBook(t, s, ours, "", noLimit).Token
	f := create(t, s, ours, ana)
	exec(t, s, `UPDATE firefighters SET last_name = 'X' WHERE id = ?`, f.ID)
	_, first := s.Sync(ours, "", noLimit)
	_, later := s.Sync(ours, token, noLimit)
	_, members := s.Members(ours, []string{whole.ID, f.ID})
	for _, err := range []error{first, later, members} {
		if damaged, ok := errors.AsType[*record.DamagedError](err); !ok || damaged.ID != f.ID {
			t.Errorf("%v", err)
		}
	}
	if got, err := s.Members(ours, []string{whole.ID}); err != nil || *got[whole.ID] != whole {
		t.Errorf("%v, %v", got, err)
	}
	replace(t, s, ours, f.ID, eva)
	if y := syncBook(t, s, ours, token, noLimit); syncText(y) != f.ID[32:]+" B" {
		t.Errorf("after the repair: %s", syncText(y))
	}
}

var (
	copySeed  = flag.Uint64("copy.seed", 7, "seed of the random run of TestCopies")
	copySteps = flag.Int("copy.steps", 1000, "calls of TestCopies")
)

// bookCopy is the copy that a device keeps: people by id, and a token.
type bookCopy struct {
	tenant record.TenantID
	people map[string]record.Firefighter
	token  string
	whole  bool // whether the last part was the final one
}

// take applies the next changes to the copy.
func (b *bookCopy) take(t *testing.T, s *store.Store, limit int) {
	t.Helper()
	y, err := s.Sync(b.tenant, b.token, limit)
	if errors.Is(err, store.ErrPosition) { // after a restore
		*b = bookCopy{tenant: b.tenant, people: map[string]record.Firefighter{}}
		y, err = s.Sync(b.tenant, "", limit)
	}
	must(t, err)
	seen := map[string]bool{}
	for _, m := range y.Members {
		if seen[m.ID] {
			t.Errorf("%s occurs twice in one part", m.ID)
		}
		seen[m.ID] = true
		if m.Record == nil {
			delete(b.people, m.ID)
		} else {
			b.people[m.ID] = *m.Record
		}
	}
	if len(y.Members) > limit {
		t.Errorf("%d people, limit %d", len(y.Members), limit)
	}
	b.token, b.whole = y.Token, !y.More
}

// TestCopies makes random changes to two departments and checks that each complete copy equals the
// list, whatever the sizes of its parts were.
func TestCopies(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*copySeed, 0))
	t.Logf("-copy.seed=%d -copy.steps=%d", *copySeed, *copySteps)
	s := newStore(t)
	var copies []*bookCopy
	for i := range 6 {
		copies = append(copies, &bookCopy{tenant: []record.TenantID{ours, theirs}[i%2], people: map[string]record.Firefighter{}})
	}
	compared := 0
	for step := range *copySteps {
		if random.IntN(3) > 0 {
			changeBook(t, s, random, []record.TenantID{ours, theirs}[random.IntN(2)])
			continue
		}
		b := copies[random.IntN(len(copies))]
		if b.take(t, s, []int{noLimit, 1, 2, 5, 50}[random.IntN(5)]); !b.whole {
			continue
		}
		compared++
		want := map[string]record.Firefighter{}
		must(t, s.Each(b.tenant, parse(t, ""), func(f *record.Firefighter) error { want[f.ID] = *f; return nil }))
		if !maps.Equal(b.people, want) {
			t.Fatalf("at step %d of seed %d the copy is\n%+v\nand the list is\n%+v", step, *copySeed, b.people, want)
		}
	}
	if compared < *copySteps/20 {
		t.Errorf("only %d copies were complete", compared)
	}
}

// changeBook makes a random change to a department.
func changeBook(t *testing.T, s *store.Store, random *rand.Rand, tenant record.TenantID) {
	t.Helper()
	var live []string
	must(t, s.Each(tenant, parse(t, ""), func(f *record.Firefighter) error { live = append(live, f.ID); return nil }))
	slices.Sort(live)
	deleted, err := s.Deleted(tenant, time.UnixMilli(1<<53))
	must(t, err)
	fields := people(40)[random.IntN(40)]
	pick := func() string { return live[random.IntN(len(live))] }
	switch n := random.IntN(100); {
	case n < 30 || len(live) == 0:
		create(t, s, tenant, fields)
	case n < 50:
		replace(t, s, tenant, pick(), fields)
	case n < 70:
		must(t, s.Delete(tenant, 0, pick(), asIs))
	case n < 80 && len(deleted) > 0:
		must(t, s.Undelete(tenant, 0, []string{deleted[random.IntN(len(deleted))].ID}))
	case n < 84 && len(deleted) > 0:
		purge(t, s, tenant, deleted[random.IntN(len(deleted))].ID)
	case n < 93:
		imports(t, s, tenant, adding(store.Person{Fields: fields}, store.Person{ID: pick(), Fields: fields}, store.Person{Fields: fields}))
	case n < 98:
		all, err := s.Imports(tenant)
		must(t, err)
		if len(all) > 0 && all[0].UndoneAt.IsZero() {
			_, err := s.UndoImport(tenant, 0, all[0].Number, nil)
			must(t, err)
		}
	default:
		must(t, s.RenewHistory()) // as a restore does
	}
}
