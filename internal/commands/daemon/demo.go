package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/web/office/paper"
)

func (c Commands) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "demo",
		Short:      "Try the program with invented people",
		GroupID:    cli.GroupServer,
		SuggestFor: []string{"try", "test", "example"},
		Long: `Try the program with invented people of Croatia, Germany, France, Chile or the
United States. They are deleted when demo stops, unless --db names a new file to
keep them in. On one day, the same flags always invent the same people. If port
8080 is in use, demo uses another one.`,
		Example: `  firefighters demo
  firefighters demo --language hr
  firefighters demo --departments 30000 --people 1200000 --db country.db`,
		Annotations: map[string]string{cli.Server: "true"},
	}
	o := Options{invented: &demonstration{}}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.DB, "db", "firefighters-demo.db", "new database `file` to keep")
	cmd.Flags().Lookup("db").DefValue = "" // a temporary file
	cmd.Flags().IntVar(&o.invented.people, "people", 40, "total `number` of people")
	cmd.Flags().IntVar(&o.invented.departments, "departments", 1, "`number` of departments")
	cmd.Flags().StringVar(&o.invented.language, "language", "", "`language` of the people: en, de, fr, es or hr; default: that of the system")
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
	language            string
	country             *demo.Country
	end                 string        // the sentence about the end of the demo
	unfinished          bool          // not all people were added
	ago                 time.Duration // how far the clock of the database is behind, so that changes lie in the past
}

func (o *demonstration) now() time.Time { return time.Now().Add(-o.ago) }

func (c Commands) demo(cmd *cobra.Command, o Options) error {
	invented, keep := o.invented, cmd.Flags().Changed("db")
	if invented.departments < 1 || invented.departments > 1e6 || invented.people < 0 || invented.people > 1e8 {
		return cli.Usage("--departments can be 1 to 1000000, and --people 0 to 100000000", "")
	}
	if invented.country = demo.In(cmp.Or(invented.language, osutil.Language())); invented.country == nil {
		if invented.language != "" {
			return cli.Usage(fmt.Sprintf("--language must be en, de, fr, es or hr, not %q", invented.language), "")
		}
		invented.country = demo.In("en")
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
	c.Database.Now, invented.ago = invented.now, recordAge
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
	o := d.invented
	code, err := o.fill(d.service.Store, d.env)
	if err != nil {
		return fmt.Errorf("inventing people: %w", err)
	}
	served := fmt.Sprintf("Serving %s in %s. %s\nTry the API in a browser, with the key below: %s\n",
		cli.Count(o.people, "invented person", "invented people"),
		cli.Count(o.departments, "department", "departments"), o.end, d.url()+"/docs")
	if code != "" && !d.NoOffice {
		served += "See what has changed since a list was printed: under Lists, Check a printed list, type " + code + "\n"
	}
	if err := d.env.Println(served); err != nil {
		return err
	}
	return d.announceKey(o.country.Department(0), o.country.You)
}

const (
	// batchSize is the approximate number of people in one transaction. Ctrl-C takes effect between
	// transactions.
	batchSize = 2000

	recordAge    = 60 * 24 * time.Hour // of the people in the database
	fewestEdited = 10                  // people in a department with changes
)

// fill adds the people and the latest changes. It returns the code of a list that was printed before
// these changes, or an empty text if there are none.
func (o *demonstration) fill(s *store.Store, env cli.Env) (code string, err error) {
	today := calendar.Of(time.Now())
	o.unfinished = true
	sizes := demo.Sizes(o.departments, o.people)
	if err := o.addTo(s, env, today, sizes); err != nil {
		return "", err
	}
	if sizes[0] >= fewestEdited {
		if code, err = o.edit(s, o.country.Changes(today, sizes[0])); err != nil {
			return "", err
		}
	}
	o.unfinished, o.ago = false, 0
	return code, nil
}

func (o *demonstration) addTo(s *store.Store, env cli.Env, today calendar.Date, sizes []int) error {
	progress := env.StartProgress("Inventing people")
	defer progress.End()
	var batch []store.Department
	waiting, added := 0, 0
	for number, size := range sizes {
		for from := 0; from == 0 || from < size; from += batchSize {
			d := store.Department{Name: o.country.Department(number), Country: o.country.Code}
			for i := from; i < min(size, from+batchSize); i++ {
				d.People = append(d.People, o.country.Person(today, number, i))
			}
			batch = append(batch, d)
			if waiting += len(d.People); waiting+len(batch) < batchSize {
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
	return s.AddDepartments(batch)
}

// edit makes changes in the first department as a visitor whose session has ended.
func (o *demonstration) edit(s *store.Store, changes []demo.Change) (code string, err error) {
	tenant, err := s.Tenant(o.country.Department(0))
	if err != nil {
		return "", err
	}
	before, err := s.List(tenant, record.Query{Page: 1, PageSize: fewestEdited, SortBy: record.ByCreatedAt})
	if err != nil {
		return "", err
	}
	var secret string
	visitor := store.NewInvitation{Tenant: tenant, Name: o.country.You, Scope: store.ScopeAdmin}
	if err := s.Invite(visitor, func(text string) error { secret = text; return nil }); err != nil {
		return "", err
	}
	_, session, err := s.OpenSession(secret, "", time.Hour)
	if err != nil {
		return "", err
	}
	anyone := func(record.Firefighter) error { return nil }
	for _, c := range changes {
		o.ago = time.Duration(c.Days*24*60-c.Number%10*17) * time.Minute // at different times of day
		switch {
		case c.Number >= len(before.Items):
			_, err = s.Create(tenant, session.ID, *c.Fields, nil)
		case c.Fields == nil:
			err = s.Delete(tenant, session.ID, before.Items[c.Number].ID, anyone)
		default:
			_, err = s.Replace(tenant, session.ID, before.Items[c.Number].ID, *c.Fields, anyone)
		}
		if err != nil {
			return "", err
		}
	}
	return paper.Code(s, tenant, before.Version), s.EndSession(session)
}
