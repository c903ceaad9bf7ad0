package acceptance

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The people of the recorded requests: those of the tests of package dav.
var recordedPeople = map[string]string{
	"ana": ana, "eric": `{"firstName":"Éric","lastName":"Strauß","phoneNumber":"+33 6 12 34 56 78"}`,
	"ilay": `{"firstName":"İlay","lastName":"Horvat, Jr.; B&B","email":"ILAY@example.com"}`, "mia": `{"firstName":"Mia","lastName":"Kovač"}`,
}

// TestRecordedRequests sends to the program what clients send, from the set-up of an account
// to later syncs. The answers are those that package dav has beside the requests.
func TestRecordedRequests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../internal/web/dav/testdata/*.txtar")
	must(t, err)
	clients := map[string][]string{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		clients[name] = append(clients[name], file)
	}
	if len(clients) < 8 {
		t.Errorf("there are only the clients %q", slices.Collect(maps.Keys(clients)))
	}
	for name, files := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRecorded(t)
			for _, file := range files {
				if strings.Contains(file, "-later-") && r.words["token.later"] == "" {
					r.change(t)
				}
				r.replay(t, file)
			}
		})
	}
}

// recorded is a service to which recorded requests are sent.
type recorded struct {
	api   client
	phone davClient
	words map[string]string // what stands in the files in braces
}

func startRecorded(t *testing.T) *recorded {
	t.Helper()
	s := start(t)
	const department = "Engine 7 & <Co>"
	r := &recorded{s.as(newKey(t, s.db, department)), s.device(newKey(t, s.db, department, "--scope", "phone", "--birthdays")), map[string]string{}}
	for _, word := range []string{"ana", "eric", "ilay"} {
		r.words[word] = r.api.create(t, recordedPeople[word])
	}
	r.look(t, "token")
	return r
}

// change changes the list as between two syncs.
func (r *recorded) change(t *testing.T) {
	t.Helper()
	r.api.do(t, "PUT", collection+"/"+r.words["ana"], strings.Replace(ana, "091 234 5678", "098 765 432", 1)).wants(t, 200)
	r.api.do(t, "DELETE", collection+"/"+r.words["eric"], "").wants(t, 204)
	r.words["mia"] = r.api.create(t, recordedPeople["mia"])
	r.look(t, "token.later")
}

// look notes the state of the book by a word, and the tags of the cards.
func (r *recorded) look(t *testing.T, word string) {
	t.Helper()
	for _, of := range r.phone.propfind(t, davBook, "1", "<D:getetag/><D:sync-token/>").Responses {
		if token := of.text("sync-token"); token != "" {
			r.words[word] = strings.TrimPrefix(token, "data:,")
		}
		for name, id := range r.words {
			if of.href() == cardPath(id) {
				r.words[name+".etag"] = of.text("getetag")
			}
		}
	}
}

var (
	partToken = regexp.MustCompile(`data:,[\w-]+`)
	revision  = regexp.MustCompile(`REV:[0-9TZ:-]+`)
)

// replay sends the request of a file, and compares the answer.
func (r *recorded) replay(t *testing.T, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	must(t, err)
	request, want := string(archive.Files[0].Data), string(archive.Files[1].Data)
	for word, value := range r.words {
		request = strings.ReplaceAll(request, "{"+word+"}", value)
	}
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(strings.TrimSuffix(lines[0], " HTTP/1.1"), " ")
	var headers []string
	for _, line := range lines[1:] {
		if name, value, _ := strings.Cut(line, ": "); name != "Host" { // the service listens on this machine alone
			headers = append(headers, name, value)
		}
	}
	a := r.phone.send(t, method, path, body, headers...)
	head, _, _ = strings.Cut(want, "\n\n")
	got := fmt.Sprintf("HTTP/1.1 %d\n", a.status)
	for _, line := range strings.Split(head, "\n")[1:] {
		name, _, _ := strings.Cut(line, ": ")
		got += name + ": " + strings.Join(a.header.Values(name), ", ") + "\n"
	}
	got += "\n" + a.body
	for word, value := range r.words {
		got = strings.ReplaceAll(got, value, "{"+word+"}")
	}
	got = partToken.ReplaceAllString(got, "data:,{token.part}")
	if revision.ReplaceAllString(got, "REV") != revision.ReplaceAllString(want, "REV") {
		t.Errorf("%s: the answer is\n%s\nnot\n%s", file, got, want)
	}
}
