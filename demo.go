package main

import (
	"errors"
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/invite"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const demoHelp = `Usage: firefighters demo [flags]

Serves a database of invented people, with a key printed to try it out. It is
deleted at the end, unless --db names a file to keep it in. The same flags
invent the same people. If the port is taken, and --listen does not ask for it,
it takes another.

  firefighters demo
  firefighters demo --departments 30000 --people 1200000 --db country.db

Flags:
`

// demoOptions are the flags of demo.
type demoOptions struct{ departments, people int }

func demonstrate(env cli.Env, args []string) error {
	var o serveOptions
	var d demoOptions
	flags := env.Flags("demo", demoHelp)
	flags.StringVar(&o.db, "db", "firefighters-demo.db", "the `file` to keep it in, which may not be there yet")
	o.addFlags(flags)
	flags.IntVar(&d.departments, "departments", 1, "how many departments")
	flags.IntVar(&d.people, "people", 40, "how many people in all")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if d.departments < 1 || d.departments > 1e6 || d.people < 0 || d.people > 1e8 {
		return cli.Wrong(flags, "--departments takes 1 to 1000000, --people 0 to 100000000")
	}
	o.again, o.anyPort = cli.TypedLine(flags, 0, "listen"), !flags.Changed("listen")
	if err := o.check(); err != nil {
		return err
	}
	end := "The people are gone at the end."
	if flags.Changed("db") {
		end = fmt.Sprintf("The people stay in %s at the end.", cli.Quote(o.db))
	} else {
		dir, err := os.MkdirTemp("", "firefighters-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.db = filepath.Join(dir, o.db)
	}
	if err := schema.Format.Inspect(osutil.Resolve(o.db)); !errors.Is(err, sqlite.ErrNotExist) && osutil.Exists(o.db) {
		return cli.WithHint(fmt.Errorf("demo makes a new file, and %s is there already", osutil.InQuotes(o.db)),
			"firefighters serve --db "+cli.Quote(o.db))
	}
	half := false
	err := runDaemon(env, o, func(env cli.Env, s *store.Store, at reach) error {
		half = true
		err := d.invent(env, s)
		switch {
		case err != nil && env.Context.Err() != nil:
			return errors.New("stopped before all people were invented")
		case err != nil:
			return fmt.Errorf("inventing people: %w", err)
		}
		half = false
		return d.announce(env, s, at, end)
	})
	if half {
		removeDatabase(osutil.Resolve(o.db))
	}
	if errors.Is(err, store.ErrLost) && !flags.Changed("db") { // what was saved goes as well
		err = errors.New("the database of the demo was deleted while it was served")
	}
	return err
}

// removeDatabase removes a database that this run has made. The lock goes last.
func removeDatabase(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		os.Remove(path + suffix)
	}
	guard.ForgetProgress(path)
}

// announce says who is there, how to find them, and what becomes of them at the end.
func (d demoOptions) announce(env cli.Env, s *store.Store, at reach, end string) error {
	err := env.Println(fmt.Sprintf("This serves %s of %s.", cli.Count(d.people, "invented person", "invented people"),
		cli.Count(d.departments, "department", "departments")))
	if err != nil {
		return err
	}
	name, search := demo.Searched(0, demo.Sizes(d.departments, d.people)[0])
	if err := announceKey(env, s, demo.Department(0), at, neturl.QueryEscape(search)); err != nil {
		return err
	}
	if name != "" {
		end = fmt.Sprintf("The last line searches for %s. %s", name, end)
	}
	return env.Println(end + "\n")
}

// announceFirstKey makes the first department of a new database.
func announceFirstKey(env cli.Env, s *store.Store, at reach) error {
	empty, err := s.Empty()
	if err != nil || !empty {
		return err
	}
	return announceKey(env, s, firstDepartment, at, "")
}

// announceKey makes an admin's key for a department and prints how to use it: for
// the list and, unless that is empty, for a search. Above that stands a link to
// the office page, unless there is none.
func announceKey(env cli.Env, s *store.Store, tenant string, at reach, search string) error {
	lines := ""
	err := s.CreateKey(store.NewKey{Tenant: tenant, Label: "first key", Scope: store.ScopeAdmin}, func(key string) error {
		list := at.url + "/api/v1/firefighters"
		lines = curl(runtime.GOOS, key, at.trust+list)
		if search != "" {
			lines += curl(runtime.GOOS, key, fmt.Sprintf(`%s"%s?search=%s"`, at.trust, list, search))
		}
		return env.Println(fmt.Sprintf("The first key of the department %q, shown this once:\n\n  %s\n", tenant, key))
	})
	if err != nil {
		return fmt.Errorf("making the first key: %w", err)
	}
	if at.page != "" {
		if err := invite.Announce(s, tenant, at.page, env.Println); err != nil {
			return fmt.Errorf("making a link to the page: %w", err)
		}
	}
	return env.Println("Try:\n\n" + lines)
}

// curl returns a line that sends a request, as a shell of the system takes it. In
// PowerShell curl is another program. Options may stand before the url.
func curl(system, key, url string) string {
	program := "curl"
	if system == "windows" {
		program = "curl.exe"
	}
	return fmt.Sprintf("  %s -H \"Authorization: Bearer %s\" %s\n", program, key, url)
}

// inventedAtOnce is about how many people go into one transaction.
const inventedAtOnce = 5000

// invent fills an empty database with departments.
func (d demoOptions) invent(env cli.Env, s *store.Store) error {
	bar := cli.NewProgress(env, "people", d.people)
	defer bar.End()
	var batch []store.Department
	waiting := 0
	add := func() error {
		if err := env.Context.Err(); err != nil {
			return err
		}
		err := s.AddDepartments(batch)
		bar.Add(waiting)
		batch, waiting = nil, 0
		return err
	}
	for number, size := range demo.Sizes(d.departments, d.people) {
		if waiting > 0 && waiting+size > inventedAtOnce {
			if err := add(); err != nil {
				return err
			}
		}
		batch, waiting = append(batch, inventDepartment(number, size)), waiting+size
	}
	return add()
}

func inventDepartment(number, size int) store.Department {
	people := make([]record.Fields, size)
	for i := range people {
		people[i] = demo.Person(number, i)
	}
	return store.Department{Name: demo.Department(number), People: people}
}
