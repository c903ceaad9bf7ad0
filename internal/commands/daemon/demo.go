package daemon

import (
	"errors"
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
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

func (c Commands) demo(env cli.Env, args []string) error {
	var o Options
	var people demoOptions
	flags := env.Flags("demo", demoHelp)
	flags.StringVar(&o.DB, "db", "firefighters-demo.db", "the `file` to keep it in, which may not be there yet")
	o.addNetFlags(flags)
	flags.IntVar(&people.departments, "departments", 1, "how many departments")
	flags.IntVar(&people.people, "people", 40, "how many people in all")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if people.departments < 1 || people.departments > 1e6 || people.people < 0 || people.people > 1e8 {
		return cli.Wrong(flags, "--departments takes 1 to 1000000, --people 0 to 100000000")
	}
	o.anyPort = !flags.Changed("listen")
	if err := o.checkNet(flags); err != nil {
		return err
	}
	end := "The people are gone at the end."
	if flags.Changed("db") {
		end = fmt.Sprintf("The people stay in %s at the end.", cli.Quote(o.DB))
	} else {
		dir, err := os.MkdirTemp("", "firefighters-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.DB = filepath.Join(dir, o.DB)
	}
	if err := c.Database.Format.Inspect(osutil.Resolve(o.DB)); !errors.Is(err, sqlite.ErrNotExist) && osutil.Exists(o.DB) {
		return cli.WithHint(fmt.Errorf("demo makes a new file, and %s is there already", osutil.InQuotes(o.DB)),
			"firefighters serve --db "+cli.Quote(o.DB))
	}
	half := false
	err := c.run(env, o, func(d *daemon) error {
		half = true
		err := people.invent(d.env, d.store)
		switch {
		case err != nil && env.Context.Err() != nil:
			return errors.New("stopped before all people were invented")
		case err != nil:
			return fmt.Errorf("inventing people: %w", err)
		}
		half = false
		return people.announce(d, end)
	})
	if half {
		removeDatabase(osutil.Resolve(o.DB))
	}
	if errors.Is(err, sqlite.ErrLost) && !flags.Changed("db") { // what was saved goes as well
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
func (o demoOptions) announce(d *daemon, end string) error {
	err := d.env.Println(fmt.Sprintf("This serves %s of %s.", cli.Count(o.people, "invented person", "invented people"),
		cli.Count(o.departments, "department", "departments")))
	if err != nil {
		return err
	}
	name, search := demo.Searched(0, demo.Sizes(o.departments, o.people)[0])
	if err := d.announceKey(demo.Department(0), neturl.QueryEscape(search)); err != nil {
		return err
	}
	if name != "" {
		end = fmt.Sprintf("The last line searches for %s. %s", name, end)
	}
	return d.env.Println(end + "\n")
}

// inventedAtOnce is about how many people go into one transaction.
const inventedAtOnce = 5000

// invent fills an empty database with departments.
func (o demoOptions) invent(env cli.Env, s *store.Store) error {
	bar := cli.NewProgress(env, "people", o.people)
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
	for number, size := range demo.Sizes(o.departments, o.people) {
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
