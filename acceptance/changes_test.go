package acceptance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const changesPath = "/api/v1/changes"

// wireFeed is a page of the changes.
type wireFeed struct {
	Items []struct {
		Position, Action, ID string
		At                   time.Time
		Record               json.RawMessage
	}
	Next string
	More bool
}

func (c client) changes(t *testing.T, after string, limit int) (feed wireFeed) {
	t.Helper()
	decode(t, c.do(t, "GET", fmt.Sprintf("%s?after=%s&limit=%d", changesPath, url.QueryEscape(after), limit), "").wants(t, 200).body, &feed)
	return feed
}

// follow updates a copy and returns the next position.
func (c client) follow(t *testing.T, copied map[string]string, after string, limit int) string {
	t.Helper()
	for {
		feed := c.changes(t, after, limit)
		if len(feed.Items) > limit || feed.More && len(feed.Items) == 0 {
			t.Fatalf("%d changes, %t", len(feed.Items), feed.More)
		}
		for _, item := range feed.Items {
			if copied[item.ID] = string(item.Record); string(item.Record) == "null" {
				delete(copied, item.ID)
			}
		}
		if after = feed.Next; !feed.More {
			return after
		}
	}
}

// TestChanges checks that a copy that follows the changes matches the service's records after
// each kind of write.
func TestChanges(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	copied := map[string]string{}
	same := func(about string) {
		t.Helper()
		var list struct {
			Data struct{ Items []json.RawMessage }
		}
		must(t, json.Unmarshal([]byte(s.do(t, "GET", collection+"?pageSize=100", "").body), &list))
		have := map[string]bool{}
		for _, record := range copied {
			have[record] = true
		}
		for _, record := range list.Data.Items {
			if !have[string(record)] {
				t.Errorf("%s: the copy does not have %s", about, record)
			}
		}
		if len(copied) != len(list.Data.Items) {
			t.Errorf("%s: the copy has %d people, want %d", about, len(copied), len(list.Data.Items))
		}
	}
	position := s.follow(t, copied, "", 3)
	same("at first")
	ids := []string{s.create(t, ana), s.create(t, ana), s.create(t, ana), s.create(t, ana)}
	other.create(t, ana)
	position = s.follow(t, copied, position, 3)
	same("created")
	s.do(t, "PUT", collection+"/"+ids[0], `{"firstName":"Eva","lastName":"B"}`).wants(t, 200)
	s.do(t, "PATCH", collection+"/"+ids[0], `{"lastName":"C"}`).wants(t, 200)
	s.do(t, "DELETE", collection+"/"+ids[1], "").wants(t, 204)
	s.do(t, "DELETE", collection+"/"+ids[2], "").wants(t, 204)
	works(t, "undelete", ids[2], "--db", s.db, "--tenant", "default")
	works(t, "purge", "--yes", ids[1], "--db", s.db, "--tenant", "default")
	number := s.importPeople(t, "", csvOf(5))
	if feed := s.changes(t, position, 5); len(feed.Items) == 0 || feed.Items[0].ID != ids[0] || !strings.Contains(string(feed.Items[0].Record), `"C"`) ||
		time.Since(feed.Items[0].At) > time.Hour || feed.Items[0].At.After(time.Now()) {
		t.Errorf("%+v", feed)
	}
	position = s.follow(t, copied, position, 2)
	same("after many changes")
	s.do(t, "DELETE", fmt.Sprint(importsPath, "/", number), "").wants(t, 200)
	position = s.follow(t, copied, position, 1000)
	same("import undone")
	if feed := s.changes(t, position, 100); len(feed.Items) > 0 || feed.More || feed.Next != position {
		t.Errorf("changes after the last position: %+v", feed)
	}
	whole := map[string]string{}
	s.follow(t, whole, "", 1)
	if fmt.Sprint(whole) != fmt.Sprint(copied) {
		t.Errorf("copy in one go: %v, step by step: %v", whole, copied)
	}
	s.stop(t)
	again := startOn(t, s.db).as(s.key)
	if feed := again.changes(t, position, 100); len(feed.Items) > 0 {
		t.Errorf("after a restart: %+v", feed)
	}
}

// TestChangesLimit checks that a page has 100 changes by default and at most 1000.
func TestChangesLimit(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.importPeople(t, "", csvOf(1010))
	for query, want := range map[string]int{"": 100, "after=": 100, "limit=": 100, "limit=7": 7, "limit=1000": 1000, "limit=1001": 1000,
		"limit=99999999999999999999": 1000} {
		var feed wireFeed
		decode(t, s.do(t, "GET", changesPath+"?"+query, "").wants(t, 200).body, &feed)
		if len(feed.Items) != want || !feed.More {
			t.Errorf("%s: %d changes, %t", query, len(feed.Items), feed.More)
		}
	}
	for query, want := range map[string]string{"limit=0": "limit out_of_range", "limit=-1": "limit out_of_range", "limit=x": "limit invalid",
		"limit=1&limit=2": "limit duplicate", "after=a&after=b": "after duplicate"} {
		if got := s.do(t, "GET", changesPath+"?"+query, "").wants(t, 400).faults(t); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	plain, zipped := s.do(t, "GET", changesPath, ""), s.do(t, "GET", changesPath, "", "Accept-Encoding", "gzip")
	if zipped.header.Get("Content-Encoding") != "gzip" || zipped.unzipped(t) != plain.body || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%v", zipped.header)
	}
}

// TestPositionGone checks that a position of another history, or an unknown position, returns
// a separate error.
func TestPositionGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	s.create(t, ana)
	position := s.changes(t, "", 100).Next
	gone := func(name string, c client) {
		t.Helper()
		if p := c.do(t, "GET", changesPath+"?after="+url.QueryEscape(position), "").wants(t, 410).problem(t); p.Code != "position" || !strings.Contains(p.Detail, "without after") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	gone("the position of another department", other)
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", s.db)
	s.stop(t)
	works(t, "restore", saved, "--db", s.db)
	key := s.key
	s = startOn(t, s.db)
	s.key = key
	gone("a position from before a restore", s.client)
	for _, after := range []string{"x", "0", "-1", "%00", "%ff", position + "x", strings.Repeat("9", 1000)} {
		s.do(t, "GET", changesPath+"?after="+after, "").wants(t, 410)
	}
	s.changes(t, "", 100)
}
