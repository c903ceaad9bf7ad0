package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// importRun kills imports, and the undoing of imports, in one department. The
// other departments are under load while the database is served.
type importRun struct {
	*check
	db, file string
	truths   []*truth // of the departments under load
	own      [][]string
	people   map[string]person // of the department of the imports, by id
	number   int               // of the last import

	took, tookBack time.Duration // an import and its undoing, without a kill
	kills          [2]int        // of imports and of undoing
	whole          [2]int        // of those: it was done
	loaded         int           // kills beside a service under load
}

const importing = "Rescue 1" // the department of the imports

// killImports kills the commands import and import undo at random moments, alone
// and beside a service under load. Each must have been done as a whole or not at
// all, and the service must answer everything.
func killImports(c *check) error {
	r := &importRun{check: c, db: filepath.Join(c.folder, "imports.db"), file: filepath.Join(c.folder, "people.csv"), own: make([][]string, 8)}
	var err error
	if r.truths, err = c.departments(r.db, 2); err != nil {
		return err
	}
	if _, err = c.key(r.db, importing); err != nil {
		return err
	}
	if err := r.measure(); err != nil {
		return err
	}
	rounds := c.choose(4, 60)
	for n := range rounds {
		if c.ctx.Err() != nil {
			return nil
		}
		if err := r.served(n%2 == 0, r.round); err != nil {
			return err
		}
		r.runCheck(fmt.Sprintf("after round %d", n), r.db)
	}
	c.summary = fmt.Sprintf("%d kills of imports of %d people, of which %d were done; %d kills of undoing, of which %d were done; "+
		"%d of the kills beside a service under %d clients; an import took %v, undoing it %v", r.kills[0], importSize, r.whole[0],
		r.kills[1], r.whole[1], r.loaded, len(r.own), r.took.Round(time.Millisecond), r.tookBack.Round(time.Millisecond))
	return nil
}

const importSize = 2500 // people

// measure imports people that stay, and notes how long that takes.
func (r *importRun) measure() error {
	if err := r.write(r.plan()); err != nil {
		return err
	}
	began := time.Now()
	if err := r.apply(); err != nil {
		return err
	}
	r.took = time.Since(began)
	began, r.number = time.Now(), 1
	if err := r.undo(); err != nil {
		return err
	}
	r.tookBack = time.Since(began)
	if err := r.apply(); err != nil {
		return err
	}
	list, err := r.list()
	r.people, r.number = list, 2
	if err == nil && len(list) != importSize {
		err = fmt.Errorf("the department has %d people", len(list))
	}
	return err
}

// served calls do, while the database is served under load if under is set.
func (r *importRun) served(under bool, do func(kill func(time.Duration, ...string) (bool, error)) error) error {
	if !under {
		return do(r.killed)
	}
	s, err := r.serve(r.db)
	if err != nil {
		return err
	}
	prune(r.truths, r.own)
	l := r.startLoad(s, r.truths, r.own)
	err = do(func(limit time.Duration, args ...string) (bool, error) {
		r.loaded++
		return r.killed(limit, args...)
	})
	l.end(func() {})
	if err == nil {
		r.verifyAll("beside imports", s, r.truths, r.rand)
	}
	if stopped := s.stop(); stopped != nil {
		r.wrong("beside imports: %v", stopped)
	}
	r.checkText("the log", s.log.String())
	return err
}

// round kills an import, completes it, kills its undoing, and completes that.
func (r *importRun) round(kill func(time.Duration, ...string) (bool, error)) error {
	next := r.plan()
	if err := r.write(next); err != nil {
		return err
	}
	answered, err := kill(r.took, r.arguments()...)
	if err != nil {
		return err
	}
	after, done, err := r.compare("killed in an import", 0, answered, next)
	if err == nil && !done {
		if err = r.apply(); err == nil {
			after, _, err = r.compare("after the import", -1, true, next)
		}
	}
	if err != nil {
		return err
	}
	r.number++
	answered, err = kill(r.tookBack, "import", "undo", strconv.Itoa(r.number), "--tenant", importing, "--db", r.db)
	if err != nil {
		return err
	}
	_, done, err = r.compare("killed in undoing", 1, answered, planned{before: after, changed: r.people, gone: true})
	if err == nil && !done {
		if err = r.undo(); err == nil {
			_, _, err = r.compare("after undoing", -1, true, planned{before: after, changed: r.people, gone: true})
		}
	}
	return err
}

// planned is what an import does, or what undoing it does.
type planned struct {
	before  map[string]person
	changed map[string]person
	added   []person
	gone    bool // who is not in changed is deleted
}

// plan invents an import: some people are changed, and others are added.
func (r *importRun) plan() planned {
	p := planned{before: r.people, changed: map[string]person{}}
	for id, was := range r.people {
		if len(p.changed) == importSize/5 {
			break
		}
		is := randomPerson(r.rand, number.Add(1))
		for _, field := range [][2]*string{{&is.PhoneNumber, &was.PhoneNumber}, {&is.Email, &was.Email}, {&is.DateOfBirth, &was.DateOfBirth}} {
			if *field[0] == "" { // an empty cell changes nothing
				*field[0] = *field[1]
			}
		}
		p.changed[id] = is
	}
	for len(p.changed)+len(p.added) < importSize {
		p.added = append(p.added, randomPerson(r.rand, number.Add(1)))
	}
	return p
}

// write writes the file of an import.
func (r *importRun) write(p planned) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"id", "First name", "Last name", "Mobile", "E-mail", "Date of birth"})
	line := func(id string, p person) {
		w.Write([]string{id, p.FirstName, p.LastName, p.PhoneNumber, p.Email, p.DateOfBirth})
	}
	for id, is := range p.changed {
		line(id, is)
	}
	for _, is := range p.added {
		line("", is)
	}
	w.Flush()
	return os.WriteFile(r.file, b.Bytes(), 0o600)
}

// arguments returns the import as a command. Invented people may share a date of birth and
// a name with others: they are new nevertheless. A new name may be the old one in another spelling.
func (r *importRun) arguments() []string {
	return []string{"import", r.file, "--tenant", importing, "--apply", "--update", "--spelling", "--add", "perhaps", "--db", r.db}
}

// apply imports the file.
func (r *importRun) apply() error {
	if _, text, err := r.command(r.arguments()...); err != nil {
		return fmt.Errorf("importing: %w: %s", err, text)
	}
	return nil
}

// undo takes the newest import back.
func (r *importRun) undo() error {
	out, text, err := r.command("import", "undo", strconv.Itoa(r.number), "--tenant", importing, "--db", r.db)
	if err != nil {
		return fmt.Errorf("undoing: %w: %s%s", err, out, text)
	}
	return nil
}

// killed runs a command and kills it at a random moment within about limit. It
// reports whether the command had succeeded by then.
func (r *importRun) killed(limit time.Duration, args ...string) (succeeded bool, err error) {
	command := exec.CommandContext(r.ctx, r.program, args...)
	var text lines
	command.Stdout, command.Stderr = &text, &text
	command.SysProcAttr = endWithParent()
	if err := command.Start(); err != nil {
		return false, err
	}
	timer := time.AfterFunc(limit/8+time.Duration(r.rand.Int64N(int64(limit))), func() { command.Process.Kill() })
	err = command.Wait()
	timer.Stop()
	r.checkText("a killed command", text.String())
	if err != nil && command.ProcessState.ExitCode() > 0 {
		r.wrong("%s: %v: %s", strings.Join(args, " "), err, text.String())
	}
	return err == nil, nil
}

// compare compares the department with what it was before a change and with what it
// must be after it. It returns the list and whether the change was done. An answered one
// must be. kind is the index of the counts, -1 for none.
func (r *importRun) compare(doing string, kind int, answered bool, p planned) (list map[string]person, done bool, err error) {
	list, err = r.list()
	if err != nil {
		return nil, false, err
	}
	done = p.isDone(list)
	switch {
	case !done && !maps.Equal(list, p.before):
		r.wrong("%s: the department is neither as before nor as after: %d people, were %d, of whom %d would be changed and %d added%s",
			doing, len(list), len(p.before), len(p.changed), len(p.added), p.firstDifference(list))
		return nil, false, fmt.Errorf("%s: half of it was done", doing)
	case answered && !done:
		r.wrong("%s: it was answered, but not done", doing)
	}
	if kind >= 0 {
		r.kills[kind]++
		if done {
			r.whole[kind]++
		}
	}
	return list, done, nil
}

// isDone reports whether a list is exactly as it must be after the change.
func (p *planned) isDone(list map[string]person) bool {
	if p.gone {
		return maps.Equal(list, p.changed)
	}
	var others []person
	for id, is := range list {
		was, known := p.before[id]
		if changed, is := p.changed[id]; is {
			was = changed
		}
		switch {
		case !known:
			others = append(others, is)
		case is != was:
			return false
		}
	}
	byName := func(a, b person) int { return strings.Compare(a.LastName, b.LastName) }
	return len(list) == len(p.before)+len(p.added) &&
		slices.Equal(slices.SortedFunc(slices.Values(others), byName), slices.SortedFunc(slices.Values(p.added), byName))
}

// firstDifference describes somebody of a list who is not as after the change, or returns "".
func (p *planned) firstDifference(list map[string]person) string {
	for id, is := range list {
		want, known := p.changed[id]
		if !known {
			want, known = p.before[id]
		}
		if known && is != want || !known && !slices.Contains(p.added, is) {
			return fmt.Sprintf("; %s is %+v, expected %+v, was %+v", id, is, want, p.before[id])
		}
	}
	return ""
}

// list returns the people of the department of the imports.
func (r *importRun) list() (map[string]person, error) {
	out, text, err := r.command("export", "--tenant", importing, "--format", "jsonl", "--db", r.db)
	if err != nil {
		return nil, fmt.Errorf("exporting: %w: %s", err, text)
	}
	list := map[string]person{}
	for line := range strings.Lines(out) {
		var item struct {
			ID string `json:"id"`
			person
		}
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			return nil, err
		}
		list[item.ID] = item.person
	}
	return list, nil
}
