package acceptance

// A random run changes two departments in all ways that there are. Devices of several kinds
// keep copies of their address books meanwhile.

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	davSeed  = flag.Uint64("dav.seed", 33, "seed of the random run of TestBookCopies")
	davSteps = flag.Int("dav.steps", unlessRace(enoughSteps, 100), "changes of TestBookCopies")
)

// enoughSteps are so many that everything happens in a run.
const enoughSteps = 300

// davRun is one random run.
type davRun struct {
	*testing.T
	random      *rand.Rand
	db          string
	service     *testService
	departments [2]*davDepartment
	copies      []*davCopy
	backups     []string
	history     string         // the number of it, which each restore changes
	did         map[string]int // how often each change took effect
}

// The vocabulary is small, so that many values are equal or nearly equal.
var (
	firstNames = []string{"Ana", "ANA", "Čedo", "c\u030cedo", "  Ana Marija ", "O'Neil", `"q" \`, "Ωμέγα", "Ｆｉｒｅ", "\u0301", "王"}
	lastNames  = []string{"Čović", "Covic", "C\u030covic\u0301", "de la Ñ", "A", "Ž", "<b>&amp;", "100%", "\u00a0Horvat\t"}
	phones     = []string{"091 234 5678", "+385 91 234 5678", "Ext. A-7", "Čović 12", "112", "١٢٣", "none", " 112 ", ""}
	emails     = []string{"ana@example.com", "ANA@EXAMPLE.COM", "čović@example.com", "a.b+112@x.hr", "o'neil@x.hr", " ana@example.com "}
	births     = []string{"1990-05-15", "1990-05-15T02:00:00+02:00", "1990-05-15T00:00:00.5", "1900-01-01", "2000-02-29T12:00:00+14:00"}
)

func pick(random *rand.Rand, from []string) string { return from[random.IntN(len(from))] }

// randomPerson returns the body of a create.
func randomPerson(random *rand.Rand) string {
	person := map[string]any{"firstName": pick(random, firstNames), "lastName": pick(random, lastNames)}
	for _, field := range []struct {
		name   string
		values []string
	}{{"phoneNumber", phones}, {"email", emails}, {"dateOfBirth", births}} {
		switch random.IntN(9) {
		case 0, 1:
			person[field.name] = nil
		case 2:
			person[field.name] = "  "
		default:
			person[field.name] = pick(random, field.values)
		}
	}
	text, _ := json.Marshal(person) // cannot fail
	return string(text)
}

// davDepartment is a department whose people change.
type davDepartment struct {
	client
	name    string
	number  int // in the database
	office  *browser
	imports []int64
	tags    map[string]string // of cards, by the history and their text
}

// davCopy is a device with its copy of the book of a department.
type davCopy struct {
	davClient
	of        *davDepartment
	kind      string
	birthdays bool
	take      func(*davRun, *davCopy) // brings the copy up to date, or nearer to that
	byTag     bool                    // it reads a card again only if that has another tag

	davState
	saved    davState // of earlier
	whole    bool     // the copy has everything
	compared int      // how often
}

// davState is what a device keeps.
type davState struct {
	cards   map[string]davCard // by the ids
	state   string             // what the last answer gave it to ask with
	history string             // the history that gave it
	files   int                // how often a file had been put back then
}

// davCard is a card that a device has.
type davCard struct{ tag, text string }

// TestBookCopies: each copy that is up to date is the department, however the device keeps
// it. After a restore no copy has anybody who is not there.
func TestBookCopies(t *testing.T) {
	t.Parallel()
	t.Logf("-dav.seed=%d -dav.steps=%d", *davSeed, *davSteps)
	r, step := newDavRun(t), 0
	defer func() {
		if t.Failed() {
			t.Logf("at step %d of -dav.seed=%d -dav.steps=%d", step, *davSeed, *davSteps)
		}
	}()
	var change func(*davDepartment)
	for step, change = range r.plan() {
		change(r.departments[r.random.IntN(2)])
		for range r.random.IntN(3) {
			c := r.copies[r.random.IntN(len(r.copies))]
			r.setBack(c)
			r.update(c)
		}
		if t.Failed() {
			return
		}
	}
	for _, c := range r.copies {
		for c.whole = false; !c.whole; {
			r.update(c)
		}
		if c.compared < *davSteps/100 {
			t.Errorf("the copy of a device %s was compared only %d times", c.kind, c.compared)
		}
	}
	t.Logf("what happened: %v", r.did)
	for _, what := range []string{"add", "PUT", "PATCH", "DELETE", "import people", "import changes", "take an import back", "bring back", "put back", "purge", "restore", "put a file back",
		"refuse a token", "ask for others", "see no change", "ask with an old state"} {
		if r.did[what] == 0 && *davSteps >= enoughSteps {
			t.Errorf("the run does not %s", what)
		}
	}
}

func newDavRun(t *testing.T) *davRun {
	t.Helper()
	s := start(t)
	r := &davRun{T: t, random: rand.New(rand.NewPCG(*davSeed, 0)), db: s.db, service: s, did: map[string]int{}}
	r.departments[0] = &davDepartment{client: s.client, name: firstDepartment, number: 1, tags: map[string]string{}}
	r.departments[1] = &davDepartment{client: s.as(newKey(t, s.db, "other")), name: "other", number: 2, tags: map[string]string{}}
	for _, d := range r.departments {
		plain, full := newKey(t, s.db, d.name, "--scope", "phone"), newKey(t, s.db, d.name, "--scope", "phone", "--birthdays")
		for i, kind := range []davCopy{
			{kind: "that goes by tokens", take: (*davRun).takeByToken},
			{kind: "that goes by tokens, in parts", take: (*davRun).takePart},
			{kind: "that lists the tags", take: (*davRun).takeByTags, byTag: true},
			{kind: "that looks whether anything has changed", take: (*davRun).takeIfChanged},
		} {
			c := kind
			c.of, c.birthdays = d, i%2 == d.number%2
			c.forget()
			c.saved = davState{cards: map[string]davCard{}}
			if c.davClient = s.device(plain); c.birthdays {
				c.key = full
			}
			r.copies = append(r.copies, &c)
		}
	}
	r.history = r.texts(`SELECT history FROM service`)[0]
	r.openOffices()
	r.backUp(nil)
	return r
}

// plan returns so many changes in random order. Each kind of change is among them.
func (r *davRun) plan() (plan []func(*davDepartment)) {
	for _, kind := range []struct {
		share int // of a thousand
		do    func(*davDepartment)
	}{
		{250, r.addPerson}, {120, r.replacePerson}, {120, r.patchPerson}, {150, r.deletePerson}, {90, r.importList}, {60, r.takeImportBack},
		{70, r.bringBack}, {80, r.putBack}, {20, r.purge}, {14, r.backUp}, {17, r.restore}, {7, r.putFileBack}, {4, r.restart},
	} {
		for range max(1, *davSteps*kind.share/1000) {
			plan = append(plan, kind.do)
		}
	}
	r.random.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	return plan
}

// openOffices signs in to the page of each department.
func (r *davRun) openOffices() {
	for _, d := range r.departments {
		d.office = d.signIn(r.T, d.key, "en")
	}
}

// texts reads texts from the database as another program.
func (r *davRun) texts(query string, args ...any) (all []string) {
	r.Helper()
	db := openSQL(r.T, r.db)
	defer db.Close()
	rows, err := db.Query(query, args...)
	must(r.T, err)
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		must(r.T, rows.Scan(&text))
		all = append(all, text.String)
	}
	must(r.T, rows.Err())
	return all
}

// somebody returns the id of a person who is alive, or was deleted, "" if there is none.
func (r *davRun) somebody(d *davDepartment, alive bool) string {
	r.Helper()
	ids := r.texts(`SELECT id FROM firefighters WHERE tenant_id = ? AND (deleted_at IS NULL) = ? ORDER BY row`, d.number, alive)
	if len(ids) == 0 {
		return ""
	}
	return pick(r.random, ids)
}

func (r *davRun) addPerson(d *davDepartment) {
	body := randomPerson(r.random)
	d.create(r.T, body)
	r.did["add"]++
}

// send changes somebody who is alive.
func (r *davRun) send(d *davDepartment, method, body string, status int) {
	r.Helper()
	if id := r.somebody(d, true); id != "" {
		d.do(r.T, method, collection+"/"+id, body).wants(r.T, status)
		r.did[method]++
	}
}

func (r *davRun) replacePerson(d *davDepartment) {
	body := randomPerson(r.random)
	r.send(d, "PUT", body, http.StatusOK)
}

func (r *davRun) patchPerson(d *davDepartment) {
	body := pick(r.random, []string{`{}`, `{"phoneNumber":null}`, `{"email":"new@example.com"}`, `{"dateOfBirth":"1999-01-01"}`, `{"dateOfBirth":""}`,
		`{"lastName":"Ivić"}`, `{"firstName":"A;B,C\\D","phoneNumber":"tel:112"}`})
	r.send(d, "PATCH", body, http.StatusOK)
}

func (r *davRun) deletePerson(d *davDepartment) { r.send(d, "DELETE", "", http.StatusNoContent) }

// importList brings a list with new people, and with some who are there.
func (r *davRun) importList(d *davDepartment) {
	var list strings.Builder
	w := csv.NewWriter(&list)
	w.Write([]string{"id", "firstName", "lastName", "phoneNumber", "email", "dateOfBirth"})
	listed := map[string]bool{}
	for range 1 + r.random.IntN(4) {
		id := ""
		if r.random.IntN(2) == 0 {
			id = r.somebody(d, true)
		}
		if id != "" && listed[id] {
			continue
		}
		listed[id] = true
		w.Write([]string{id, "Ana", "Person " + fmt.Sprint(r.random.IntN(1000)), pick(r.random, []string{"", "112", "091 234 5678"}), pick(r.random, []string{"", "a@example.com"}), pick(r.random, []string{"", "1990-05-15"})})
	}
	w.Flush()
	a := d.do(r.T, "POST", importsPath+"?apply=true&update=true&add=perhaps&skipBad=true", list.String())
	if a.status == http.StatusOK { // there was nothing new in it
		return
	}
	report := a.report(r.T, http.StatusCreated)
	d.imports = append(d.imports, *report.Number)
	if report.Added > 0 {
		r.did["import people"]++
	}
	if report.Changed > 0 {
		r.did["import changes"]++
	}
}

// takeImportBack takes one of the last imports back. It may be gone since a restore.
func (r *davRun) takeImportBack(d *davDepartment) {
	if len(d.imports) == 0 {
		return
	}
	number := d.imports[max(0, len(d.imports)-1-r.random.IntN(3))]
	switch a := d.do(r.T, "DELETE", fmt.Sprint(importsPath, "/", number), ""); a.status {
	case http.StatusOK:
		r.did["take an import back"]++
	case http.StatusNotFound, http.StatusConflict:
	default:
		a.wants(r.T, http.StatusOK)
	}
}

// bringBack brings back a person who was deleted.
func (r *davRun) bringBack(d *davDepartment) {
	if id := r.somebody(d, false); id != "" {
		d.office.post(r.T, personPath(id)+"/undelete", url.Values{}).wants(r.T, http.StatusSeeOther)
		r.did["bring back"]++
	}
}

// putBack presses "Put this back" in an entry of the history, which may have no such button.
func (r *davRun) putBack(d *davDepartment) {
	numbers := r.texts(`SELECT id & 0xffffffff FROM changes WHERE id >> 32 = ? ORDER BY id`, d.number)
	if len(numbers) == 0 {
		return
	}
	switch p := d.office.post(r.T, "/office/history/"+pick(r.random, numbers)+"/put-back", url.Values{}); p.status {
	case http.StatusSeeOther:
		r.did["put back"]++
	case http.StatusNotFound, http.StatusConflict:
	default:
		p.wants(r.T, http.StatusSeeOther)
	}
}

// purge erases somebody who was deleted, if need be just now.
func (r *davRun) purge(d *davDepartment) {
	id := r.somebody(d, false)
	if id == "" {
		id = d.create(r.T, ana)
		d.do(r.T, "DELETE", collection+"/"+id, "").wants(r.T, http.StatusNoContent)
	}
	works(r.T, "purge", "--yes", id, "--tenant", d.name, "--db", r.db)
	r.did["purge"]++
}

func (r *davRun) backUp(*davDepartment) {
	file := filepath.Join(r.TempDir(), "saved.db")
	works(r.T, "backup", file, "--db", r.db)
	r.backups = append(r.backups, file)
}

// restore makes the database one of the backups, while the service is down.
func (r *davRun) restore(*davDepartment) {
	r.service.stop(r.T)
	works(r.T, "restore", pick(r.random, r.backups), "--db", r.db)
	before := r.history
	if r.serve(); r.history == before {
		r.Errorf("a restore goes on with the history")
	}
	r.did["restore"]++
}

// putFileBack writes one of the backups over the database, as somebody does who does not
// know of the command. The next start notices, unless nothing was changed since.
func (r *davRun) putFileBack(*davDepartment) {
	r.service.stop(r.T)
	for _, name := range []string{"-wal", "-shm"} {
		os.Remove(r.db + name)
	}
	copyOf(r.T, pick(r.random, r.backups), r.db)
	r.did["put a file back"]++
	r.serve()
}

// restart goes on with the same history.
func (r *davRun) restart(*davDepartment) {
	r.service.stop(r.T)
	r.serve()
}

// serve starts the service again. It listens at another port.
func (r *davRun) serve() {
	r.Helper()
	r.service = startOn(r.T, r.db)
	r.history = r.texts(`SELECT history FROM service`)[0]
	for _, d := range r.departments {
		d.client = r.service.as(d.key)
	}
	for _, c := range r.copies {
		c.davClient = r.service.device(c.key)
	}
	r.openOffices()
}

// setBack sometimes makes a device new, or what it was earlier. What it is now it may be
// again.
func (r *davRun) setBack(c *davCopy) {
	switch r.random.IntN(30) {
	case 0:
		c.forget()
	case 1, 2, 3:
		if c.saved.state != "" {
			r.did["ask with an old state"]++
		}
		c.davState, c.saved = c.saved, c.davState
	}
}

// update lets a device ask for what its copy lacks. If it has everything then, it must be
// the department.
func (r *davRun) update(c *davCopy) {
	r.Helper()
	if c.take(r, c); !c.whole {
		return
	}
	c.compared++
	want := r.people(c.of)
	now := map[string]string{}
	for _, response := range c.report(r.T, "C:addressbook-query", "<C:address-data/>", "").multistatus(r.T).Responses {
		card, _ := response.find("address-data")
		now[response.href()] = card.Text
	}
	for id, person := range want {
		card, has := c.cards[id]
		if !has {
			r.Errorf("a device %s lacks %+v", c.kind, cardOf(person, true))
			continue
		}
		read := readCard(r.T, card.text)
		if read.changed == "" {
			r.Errorf("it is not said when %s was changed", id)
		}
		if read.changed = ""; read != cardOf(person, c.birthdays) {
			r.Errorf("a device %s has\n%+v, not\n%+v", c.kind, read, cardOf(person, c.birthdays))
		}
		known := r.history + card.text // a restored database has other tags
		if tag := c.of.tags[known]; tag == "" {
			c.of.tags[known] = card.tag
		} else if tag != card.tag {
			r.Errorf("a device %s has the tag %s, and another one %s, of\n%s", c.kind, card.tag, tag, card.text)
		}
		if is := now[cardPath(id)]; is != card.text {
			r.Errorf("a device %s has\n%s, and the book\n%s", c.kind, card.text, is)
		}
	}
	if len(c.cards) != len(want) || len(now) != len(want) {
		r.Errorf("a device %s has %d people, the book %d, and the department %d: %q", c.kind, len(c.cards), len(now), len(want), slices.Sorted(maps.Keys(c.cards)))
	}
}

// people returns who is alive in a department, as the API has it.
func (r *davRun) people(d *davDepartment) map[string]wireRecord {
	r.Helper()
	all := map[string]wireRecord{}
	for line := range strings.Lines(d.do(r.T, "GET", exportPath+"?format=jsonl", "").wants(r.T, http.StatusOK).body) {
		var person wireRecord
		decode(r.T, line, &person)
		all[person.ID] = person
	}
	return all
}

// forget makes a copy that of a new device.
func (c *davCopy) forget() { c.davState = davState{cards: map[string]davCard{}} }

// keep notes what an answer has of a card.
func (c *davCopy) keep(t *testing.T, response davResponse) {
	t.Helper()
	id, isCard := strings.CutPrefix(strings.TrimSuffix(response.href(), ".vcf"), davBook)
	card, has := response.find("address-data")
	switch {
	case !isCard:
		t.Errorf("%s is no card", response.href())
	case response.status() == "404":
		delete(c.cards, id)
	case !has || response.text("getetag") == "":
		t.Errorf("%+v", response)
	default:
		c.cards[id] = davCard{response.text("getetag"), card.Text}
	}
}

// changes asks for what has changed, in one request, and returns which cards are there and
// which are gone. A token of before a restore is refused. One of before a file was put back
// may be refused, and no other. After a refusal the device begins anew.
func (r *davRun) changes(c *davCopy, props, limit string) davAnswer {
	r.Helper()
	a := c.sync(r.T, c.state, props, limit)
	mustRefuse, mayRefuse := c.history != r.history, c.files != r.did["put a file back"]
	if c.state != "" && (mustRefuse || mayRefuse && a.status == http.StatusForbidden) {
		if a.status != http.StatusForbidden || a.condition(r.T) != "valid-sync-token" {
			r.Fatalf("a device %s asks with a token of before a restore: %d %s", c.kind, a.status, a.body)
		}
		c.forget()
		r.did["refuse a token"]++
		a = c.sync(r.T, "", props, limit)
	}
	m, had := a.multistatus(r.T), c.state
	c.state, c.history, c.files, c.whole = m.Token, r.history, r.did["put a file back"], true
	m.Responses = slices.DeleteFunc(m.Responses, func(response davResponse) bool {
		if response.href() != davBook {
			return false
		}
		if c.whole = false; response.status() != "507" || limit == "" || m.Token == had {
			r.Errorf("%+v", response)
		}
		return true
	})
	return m
}

// takeByToken asks for all cards that have changed.
func (r *davRun) takeByToken(c *davCopy) {
	for _, response := range r.changes(c, "<D:getetag/><C:address-data/>", "").Responses {
		c.keep(r.T, response)
	}
}

// takePart asks for a few tags that have changed, and then for their cards. What is left it
// asks for the next time, when more may have changed.
func (r *davRun) takePart(c *davCopy) {
	limit := 1 + r.random.IntN(20)
	m := r.changes(c, "<D:getetag/>", fmt.Sprintf("<D:limit><D:nresults>%d</D:nresults></D:limit>", limit))
	if len(m.Responses) > limit {
		r.Errorf("%d people, and at most %d were asked for", len(m.Responses), limit)
	}
	var hrefs []string
	for _, response := range m.Responses {
		if response.status() == "404" {
			c.keep(r.T, response)
		} else {
			hrefs = append(hrefs, response.href())
		}
	}
	r.fetch(c, hrefs)
}

// fetch asks for cards. Those of the other department are not there, if they are asked for.
func (r *davRun) fetch(c *davCopy, hrefs []string) {
	r.Helper()
	if len(hrefs) == 0 {
		return
	}
	if foreign := r.somebody(r.departments[2-c.of.number], true); foreign != "" {
		hrefs = append(hrefs, cardPath(foreign))
		r.did["ask for others"]++
	}
	answered := c.multiget(r.T, hrefs...)
	if !slices.Equal(answered.hrefs(), hrefs) {
		r.Errorf("asked for %q, there is %q", hrefs, answered.hrefs())
	}
	for _, response := range answered.Responses {
		c.keep(r.T, response)
	}
}

// takeByTags lists all tags and asks for the cards that have others.
func (r *davRun) takeByTags(c *davCopy) {
	gone, hrefs := maps.Clone(c.cards), []string(nil)
	for _, response := range c.propfind(r.T, davBook, "1", "<D:getetag/>").Responses {
		id, isCard := strings.CutPrefix(strings.TrimSuffix(response.href(), ".vcf"), davBook)
		if isCard && id != "" && c.cards[id].tag != response.text("getetag") {
			hrefs = append(hrefs, response.href())
		}
		delete(gone, id)
	}
	for id := range gone {
		delete(c.cards, id)
	}
	r.fetch(c, hrefs)
	c.whole = true
}

// takeIfChanged asks for all cards again if anything has changed.
func (r *davRun) takeIfChanged(c *davCopy) {
	c.whole = true
	tag := c.propfind(r.T, davBook, "0", "<CS:getctag/>").one(r.T).text("getctag")
	if tag == c.state && tag != "" {
		r.did["see no change"]++
		return
	}
	c.forget()
	for _, response := range c.report(r.T, "C:addressbook-query", "<D:getetag/><C:address-data/>", "").multistatus(r.T).Responses {
		c.keep(r.T, response)
	}
	c.state = tag
}

// TestBookWhileWriting: devices that ask while others write end with the department.
func TestBookWhileWriting(t *testing.T) {
	t.Parallel()
	r := newDavRun(t)
	var writing sync.WaitGroup
	for i, d := range r.departments {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(*davSeed, uint64(i)))
			var ids []string
			for len(ids) < 30 {
				body := randomPerson(random)
				id := d.create(t, body)
				ids = append(ids, id)
				d.do(t, "PUT", collection+"/"+pick(random, ids), body)
				if random.IntN(2) == 0 {
					d.do(t, "DELETE", collection+"/"+pick(random, ids), "")
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	for ended := false; !ended; {
		select {
		case <-written:
			ended = true
		default:
		}
		for _, c := range r.copies {
			c.take(r, c)
		}
	}
	for _, c := range r.copies {
		for c.whole = false; !c.whole; {
			r.update(c)
		}
	}
}
