package manage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/dossier"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const personHelp = `Usage: firefighters person ID [flags]

Shows the record of a person, also of a deleted one. With --report it shows
everything that is kept about the person: the record, its history, the imports
that touched it, who could read it, and which backups still hold it. There is
nothing about other people in it but how keys are called. Of somebody who was
erased it shows what is left.

  firefighters person 01a1f83c-64f7-795d-bc35-4c6516093415 --report
  firefighters person 01a1f83c-64f7-795d-bc35-4c6516093415 --report --json -o person.json

Flags:
`

func (c Commands) person(env cli.Env, args []string) error {
	flags := env.Flags("person", personHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required if there are several)")
	all := flags.Bool("report", false, "everything that is kept about the person")
	asJSON := flags.Bool("json", false, "as JSON")
	var of backup.Options
	flags.StringVar(&of.Dir, "backup-dir", "", "the `folder` of the backups; by default that of the installed service")
	every := flags.String("backup-every", "24h", "how often backups are made, as 24h or 7d; with --backup-dir")
	flags.IntVar(&of.Keep, "backup-keep", 90, "how many backups are kept; with --backup-dir")
	output := flags.StringP("output", "o", "", "write it to this new `file`, which nobody else can read")
	text, err := env.ParseOne(flags, args, "say who, by the id")
	if err != nil {
		return err
	}
	id, err := record.ParseID(text)
	if err != nil {
		return cli.WrongArgument(flags, 0, err.Error(), whichThereAre(*db))
	}
	if of.Every, err = cli.ParseDuration(*every); err != nil {
		return cli.Wrong(flags, cli.WrongTime("backup-every", "24h or 7d", *every, err).Error())
	}
	return c.Database.With(env, *db, false, func(s *store.Store) error {
		tenant, err := database.ChooseTenant(s, flags, *db, *name)
		if err != nil {
			return err
		}
		d, err := dossier.Read(env.Context, s, tenant, id, c.search(env, *db, of))
		if errors.Is(err, store.ErrNotFound) {
			return cli.WithHint(fmt.Errorf("the department has no person with the id %s", id), whichThereAre(*db))
		} else if err != nil {
			return store.Failed("reading", *db, err)
		}
		var result []byte
		switch {
		case *asJSON && *all:
			result, err = d.JSON()
		case *asJSON && d.Record != nil:
			result = append(d.Record.AppendJSONWithTimes(nil), '\n')
		case *asJSON:
			return cli.WithHint(errors.New("the record was erased"), "what is left: "+cli.TypedLine(flags, 1)+" --report")
		default:
			result = []byte(inText(d, *all))
		}
		if err == nil && *output == "" {
			_, err = env.Stdout.Write(result)
		} else if err == nil {
			err = osutil.WriteFile(*output, result, false)
		}
		if errors.Is(err, fs.ErrExist) {
			err = cli.WithHint(fmt.Errorf("%s exists", osutil.InQuotes(*output)), "another name")
		}
		return err
	})
}

// search returns where the backups of a database are: as the flags say or, without a
// folder, as the installed service has them.
func (c Commands) search(env cli.Env, db string, of backup.Options) backup.Search {
	if installed, known := c.Service.Backups(env, db); known && (of.Dir == "" || osutil.SameFile(of.Dir, installed.Dir)) {
		of = installed
	}
	return backup.Search{Content: c.Database, Database: db, Options: of}
}

// whichThereAre says how to see the ids of people.
func whichThereAre(db string) string {
	return database.See("which there are", "export --format jsonl --tenant NAME", db)
}

// inText returns what is kept about a person as text: all of it, or the record.
func inText(d dossier.Dossier, all bool) string {
	if !all {
		return recordInText(d)
	}
	text := "Everything that is kept about one person, as of " + timeOrDash(d.At) + "\n\n" + recordInText(d)
	section := func(heading string, of *cli.List) { text += "\n" + heading + "\n\n" + of.String() }
	history := cli.NewList(false, "AT", "ACTION", "KEY", "LABEL", "IMPORT", "BEFORE")
	for _, e := range slices.Backward(d.Edits) {
		before, number := "-", "-"
		if e.Before != nil {
			before = e.Before.Summary()
		}
		if e.Import != nil {
			number = fmt.Sprint(e.Import.Number)
		}
		history.Add(nil, timeOrDash(e.At), e.Action, keyOrDash(e.Key), cmp.Or(e.Label, "-"), number, before)
	}
	section("History, the oldest change first", history)
	if d.Record == nil {
		section(backupsInText(d.Backups))
		return text
	}
	imports := cli.NewList(false, "NUMBER", "AT", "KEY", "LABEL", "TAKEN BACK")
	for _, i := range d.Imports() {
		imports.Add(nil, fmt.Sprint(i.Number), timeOrDash(i.At), keyOrDash(i.Key), cmp.Or(i.Label, "-"), timeOrDash(i.TakenBackAt))
	}
	section("Imports with this person, without the names of their files, which may be about others", imports)
	readers := cli.NewList(false, "KEY", "STATE", "SCOPE", "CREATED", "UNTIL", "LAST USED", "LABEL")
	for _, k := range d.Readers {
		readers.Add(nil, keyOrDash(k.ID), k.State(d.At), k.Scope, cli.FormatTime(k.CreatedAt), cli.FormatTime(k.Ended()), cli.FormatTime(k.LastUsedAt), cmp.Or(k.Label, "-"))
	}
	section("Who could read it", readers)
	if len(d.Replays) > 0 {
		responses := cli.NewList(false, "AT", "UNTIL", "ABOUT")
		for _, r := range d.Replays {
			about := "this person"
			if r.Import != 0 {
				about = fmt.Sprintf("import %d, so others, too", r.Import)
			}
			responses.Add(nil, timeOrDash(r.At), timeOrDash(r.Until), about)
		}
		section("Stored responses, for requests that are sent again", responses)
	}
	section(backupsInText(d.Backups))
	return text
}

// backupsInText returns the backups that hold the person, with a heading.
func backupsInText(b backup.Holders) (heading string, list *cli.List) {
	heading, list = "Backups that hold it, if they go on as they are set, and copies beside the database", cli.NewList(false, "FILE", "MADE", "DELETED ON")
	switch {
	case b.NotSet:
		heading = "Copies beside the database that hold it. No folder for backups is known: see --backup-dir"
	case b.Away:
		heading = "Copies beside the database that hold it. The folder for backups cannot be read: is its disk connected?"
	}
	for _, f := range b.Files {
		until, name := "not by itself", filepath.Base(f.Path)
		if !f.Until.IsZero() {
			until = f.Until.Format(time.DateOnly)
		}
		if f.Encrypted {
			name += " (encrypted, by its date)"
		}
		list.Add(nil, name, timeOrDash(f.Time), until)
	}
	for _, f := range b.Unread {
		list.Add(nil, filepath.Base(f.Path), timeOrDash(f.Time), "cannot be read, and may hold it")
	}
	return heading, list
}

// recordInText returns the record, or what is left after it was erased.
func recordInText(d dossier.Dossier) string {
	list := cli.NewList(false)
	list.Add(nil, "department", d.Department)
	list.Add(nil, "id", d.ID)
	f := d.Record
	if f == nil {
		list.Add(nil, "erasedAt", timeOrDash(d.ErasedAt))
		return list.String()
	}
	for field, value := range f.Each {
		list.Add(nil, field.Name, cmp.Or(*value, "-"))
	}
	for _, member := range []struct {
		name  string
		value *string
	}{{"invitationStatus", f.InvitationStatus}, {"userId", f.UserID}} {
		if member.value != nil {
			list.Add(nil, member.name, *member.value)
		}
	}
	list.Add(nil, "createdAt", cli.FormatTime(f.CreatedAt))
	list.Add(nil, "updatedAt", cli.FormatTime(f.UpdatedAt))
	list.Add(nil, "deletedAt", cli.FormatTime(f.DeletedAt))
	if f.Damaged {
		list.Add(nil, "damaged", "the disk has changed it: see firefighters check")
	}
	return list.String()
}

// timeOrDash writes a time as FormatTime does, a dash for the zero time.
func timeOrDash(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return cli.FormatTime(at.UnixMilli())
}

// keyOrDash writes the number of a key, a dash where a command did it.
func keyOrDash(key store.KeyID) string {
	if key == 0 {
		return "-"
	}
	return fmt.Sprint(key)
}
