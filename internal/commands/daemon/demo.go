package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "demo",
		Short:      "Try the program with invented people",
		GroupID:    cli.GroupServer,
		SuggestFor: []string{"try", "test", "example"},
		Long: `Try the program with invented people. They are deleted when demo stops, unless
--db names a new file to keep them in. The same flags always invent the same
people. If port 8080 is in use, demo uses another one.`,
		Example: `  firefighters demo
  firefighters demo --departments 30000 --people 1200000 --db country.db`,
		Annotations: map[string]string{cli.Server: "true"},
	}
	o := Options{invented: &demonstration{}}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.DB, "db", "firefighters-demo.db", "new database `file` to keep")
	cmd.Flags().Lookup("db").DefValue = "" // a temporary file
	cmd.Flags().IntVar(&o.invented.people, "people", 40, "total `number` of people")
	cmd.Flags().IntVar(&o.invented.departments, "departments", 1, "`number` of departments")
	o.addNetFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.checkNet(cmd); err != nil {
			return err
		}
		return c.demo(cmd, o)
	}
	return cmd
}

type demonstration struct {
	departments, people int
	end                 string // the sentence about the end of the demo
	unfinished          bool   // not all people were added
}

func (c Commands) demo(cmd *cobra.Command, o Options) error {
	invented, keep := o.invented, cmd.Flags().Changed("db")
	if invented.departments < 1 || invented.departments > 1e6 || invented.people < 0 || invented.people > 1e8 {
		return cli.Usage("--departments can be 1 to 1000000, and --people 0 to 100000000", "")
	}
	o.anyPort = !cmd.Flags().Changed("listen")
	if keep {
		invented.end = "They stay in " + cli.Quote(o.DB) + " when demo stops."
	} else {
		invented.end = "They are deleted when demo stops."
		dir, err := os.MkdirTemp("", "firefighters-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.DB = filepath.Join(dir, o.DB)
	}
	path := osutil.Resolve(o.DB)
	if err := c.Database.Format.Inspect(path); !errors.Is(err, sqlite.ErrNotExist) && osutil.Exists(o.DB) {
		return cli.WithHint(fmt.Errorf("demo creates a new file, but %s already exists", osutil.InQuotes(o.DB)),
			"firefighters serve --db "+cli.Quote(o.DB))
	}
	c.Database.Quiet = true // invent prints the path of the database
	err := c.Run(cli.EnvOf(cmd), o)
	if invented.unfinished {
		for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
			os.Remove(path + suffix)
		}
		backup.RemoveNotes(path)
		if err == nil {
			err = cli.Unfinished("Stopped. No database was created.", "")
		}
	}
	if errors.Is(err, sqlite.ErrLost) && !keep { // the saved copy is also deleted
		err = errors.New("the database of the demo was deleted while it was served")
	}
	return err
}

// invent fills the empty database and prints a summary.
func (d *daemon) invent() error {
	if err := d.invented.addTo(d.service.Store, d.env); err != nil {
		return fmt.Errorf("inventing people: %w", err)
	}
	served := fmt.Sprintf("Serving %s in %s. %s\nTry the API in a browser, with the key below: %s\n",
		cli.Count(d.invented.people, "invented person", "invented people"),
		cli.Count(d.invented.departments, "department", "departments"), d.invented.end, d.url()+"/docs")
	if err := d.env.Println(served); err != nil {
		return err
	}
	return d.announceKey(demo.Department(0))
}

// batchSize is the approximate number of people in one transaction. Ctrl-C takes effect between
// transactions.
const batchSize = 2000

func (o *demonstration) addTo(s *store.Store, env cli.Env) error {
	o.unfinished = true
	progress := env.StartProgress("Inventing people")
	defer progress.End()
	var batch []store.Department
	waiting, added := 0, 0
	for number, size := range demo.Sizes(o.departments, o.people) {
		for from := 0; from == 0 || from < size; from += batchSize {
			people := inventPeople(number, from, min(size, from+batchSize))
			batch = append(batch, store.Department{Name: demo.Department(number), People: people})
			if waiting += len(people); waiting+len(batch) < batchSize {
				continue
			}
			if err := env.Context.Err(); err != nil {
				return err
			}
			if err := s.AddDepartments(batch); err != nil {
				return err
			}
			added += waiting
			progress.Set(added, o.people)
			batch, waiting = nil, 0
		}
	}
	err := s.AddDepartments(batch)
	o.unfinished = err != nil
	return err
}

// inventPeople returns the people of a department with the numbers from <= number < to.
func inventPeople(department, from, to int) []record.Fields {
	people := make([]record.Fields, 0, to-from)
	for number := from; number < to; number++ {
		people = append(people, demo.Person(department, number))
	}
	return people
}
