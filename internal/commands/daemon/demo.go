package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/docs"
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

// demonstration is what demo serves.
type demonstration struct {
	departments, people int
	end                 string // what becomes of the people at the end
}

func (c Commands) demo(env cli.Env, args []string) error {
	invented := &demonstration{}
	o := Options{invented: invented}
	flags := env.Flags("demo", demoHelp)
	flags.StringVar(&o.DB, "db", "firefighters-demo.db", "the `file` to keep it in, which may not be there yet")
	o.addNetFlags(flags)
	flags.IntVar(&invented.departments, "departments", 1, "how many departments")
	flags.IntVar(&invented.people, "people", 40, "how many people in all")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if invented.departments < 1 || invented.departments > 1e6 || invented.people < 0 || invented.people > 1e8 {
		return cli.Wrong(flags, "--departments takes 1 to 1000000, --people 0 to 100000000")
	}
	o.anyPort = !flags.Changed("listen")
	if err := o.checkNet(flags); err != nil {
		return err
	}
	invented.end = "The people are gone at the end."
	if flags.Changed("db") {
		invented.end = fmt.Sprintf("The people stay in %s at the end.", cli.Quote(o.DB))
	} else {
		dir, err := os.MkdirTemp("", "firefighters-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.DB = filepath.Join(dir, o.DB)
	}
	if err := c.Database.Files.Inspect(osutil.Resolve(o.DB)); !errors.Is(err, sqlite.ErrNotExist) && osutil.Exists(o.DB) {
		return cli.WithHint(fmt.Errorf("demo makes a new file, and %s is there already", osutil.InQuotes(o.DB)),
			"firefighters serve --db "+cli.Quote(o.DB))
	}
	err := c.Run(env, o)
	if errors.Is(err, sqlite.ErrLost) && !flags.Changed("db") { // what was saved goes as well
		err = errors.New("the database of the demo was deleted while it was served")
	}
	return err
}

// invent fills the empty database, and prints what is in it and what becomes of it.
func (d *daemon) invent() error {
	err := d.invented.addTo(d.store, d.env)
	switch {
	case err != nil && d.env.Context.Err() != nil:
		return errors.New("stopped before all people were invented")
	case err != nil:
		return fmt.Errorf("inventing people: %w", err)
	}
	served := fmt.Sprintf("This serves %s of %s.\nTry the API in a browser, with the key below: %s",
		cli.Count(d.invented.people, "invented person", "invented people"), cli.Count(d.invented.departments, "department", "departments"), d.url()+docs.Path)
	if err := d.env.Println(served); err != nil {
		return err
	}
	if err := d.announceKey(demo.Department(0)); err != nil {
		return err
	}
	return d.env.Println(d.invented.end + "\n")
}

// inventedAtOnce is about how many people go into one transaction.
const inventedAtOnce = 5000

// addTo adds the departments to a store.
func (o *demonstration) addTo(s *store.Store, env cli.Env) error {
	bar := cli.NewProgress(env, "people")
	defer bar.End()
	var batch []store.Department
	waiting, added := 0, 0
	sizes := demo.Sizes(o.departments, o.people)
	for number, size := range sizes {
		batch = append(batch, inventDepartment(number, size))
		if waiting += size; waiting < inventedAtOnce && number < len(sizes)-1 {
			continue
		}
		if err := env.Context.Err(); err != nil {
			return err
		}
		if err := s.AddDepartments(batch); err != nil {
			return err
		}
		added += waiting
		bar.Set(added, o.people)
		batch, waiting = nil, 0
	}
	return nil
}

func inventDepartment(number, size int) store.Department {
	people := make([]record.Fields, size)
	for i := range people {
		people[i] = demo.Person(number, i)
	}
	return store.Department{Name: demo.Department(number), People: people}
}
