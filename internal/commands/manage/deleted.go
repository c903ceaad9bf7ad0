package manage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) undeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "undelete ID...",
		Short:   "Restore deleted records",
		GroupID: cli.GroupPeople,
		Long: `Restore deleted records: all of them, or none if one cannot be restored. For
their ids, see firefighters list --deleted.`,
		Example: `  firefighters undelete 01a1f83c-64f7-795d-bc35-4c6516093415`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env := cli.EnvOf(cmd)
		ids, err := recordIDs(args, *db)
		if err != nil {
			return err
		}
		return c.Database.WithTenant(env, *db, *department, func(s *store.Store, tenant record.TenantID) error {
			if err := s.Undelete(tenant, 0, ids); err != nil {
				return store.Failed("writing to", *db, err)
			}
			env.Notef("Restored %s.", cli.Count(len(ids), "record", "records"))
			return nil
		})
	}
	return cmd
}

// recordIDs parses ids of deleted records and removes duplicates.
func recordIDs(args []string, db string) (ids []string, err error) {
	for _, arg := range args {
		id, err := record.ParseID(arg)
		if err != nil {
			return nil, cli.Usage(err.Error(), "firefighters list --deleted --db "+cli.Quote(db))
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (c Commands) purgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "purge [ID...]",
		Short:      "Permanently delete records that were deleted",
		GroupID:    cli.GroupPeople,
		SuggestFor: []string{"erase", "delete", "remove", "rm"},
		Long: `Permanently delete records that were deleted before, with their history. purge
asks for confirmation.

At the end, purge rewrites the database file to remove all traces from it. That
needs as much free space as the file is large, and takes seconds for a large
file. During that time a running server may answer writes with 503.

Backups still contain the records. purge lists these backups and copies and, if
the server's settings are known, the day until which the server keeps each.`,
		Example: `  firefighters purge 01a1f83c-64f7-795d-bc35-4c6516093415
  firefighters purge --older-than 7y --yes`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	age := cmd.Flags().String("older-than", "", "purge records that were deleted longer ago than this `age`: 7y, 26w or 90d")
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	dir := cmd.Flags().String("backup-dir", "", "`folder` of the server's backups (default: from the server's settings)")
	cmd.MarkFlagDirname("backup-dir")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env := cli.EnvOf(cmd)
		ids, err := recordIDs(args, *db)
		if err != nil {
			return err
		}
		if (len(ids) > 0) == (*age != "") {
			return cli.UsageErrorf(cmd, "purge needs either ids or --older-than")
		}
		until := anyTime
		if *age != "" {
			if until, err = cli.ParseAge(*age, time.Now()); err != nil {
				return cli.Usage(cli.WrongTime("older-than", "7y, 26w or 90d", *age).Error(), "")
			}
		}
		return c.Database.WithTenant(env, *db, *department, func(s *store.Store, tenant record.TenantID) error {
			p := purge{env: env, store: s, tenant: tenant, backups: backup.Search{Database: *db, Options: c.backups(env, *db, *dir)}}
			if p.name, err = s.TenantName(tenant); err != nil {
				return store.Failed("reading", *db, err)
			}
			if err := p.choose(ids, until); err != nil {
				return store.Failed("reading", *db, err)
			}
			if len(p.records) > 0 && !*yes {
				question := fmt.Sprintf("Permanently delete %s of %q?", cli.Count(len(p.records), "record", "records"), p.name)
				if err := env.Confirm(question); err != nil {
					return err
				}
			}
			return p.run()
		})
	}
	return cmd
}

type purge struct {
	env     cli.Env
	store   *store.Store
	tenant  record.TenantID
	name    string // of the department
	records []record.Stored
	backups backup.Search
}

// choose sets the records with the ids or, without ids, all records deleted before a time. If an
// earlier purge has left traces in the file, it skips ids of permanently deleted records.
func (p *purge) choose(ids []string, until time.Time) error {
	all, err := p.store.Deleted(p.tenant, until)
	if err != nil || len(ids) == 0 {
		p.records = all
		return err
	}
	_, unfinished, err := p.store.Erasures()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if at := slices.IndexFunc(all, func(r record.Stored) bool { return r.ID == id }); at >= 0 {
			p.records = append(p.records, all[at])
		} else if data, err := p.store.PersonalData(p.tenant, id); !unfinished || err != nil || data.Record != nil {
			return &store.NotDeletedError{ID: id}
		}
	}
	return nil
}

// run deletes the records, removes their traces from the file, and lists the backups that
// still contain them.
func (p *purge) run() error {
	erased, err := p.erase()
	switch {
	case err != nil:
		return err
	case erased == 0:
		p.env.Notef("There is nothing to delete.")
		return nil
	}
	p.env.Notef("Permanently deleted %s.", cli.Count(erased, "record", "records"))
	holders, err := p.findHolders()
	if err == nil {
		reportHolders(p.env, holders)
	}
	return err
}

// erase deletes the records and rewrites the file. It rewrites the file even without records, because
// an earlier purge may have failed before that.
func (p *purge) erase() (erased int, err error) {
	db := p.backups.Database
	progress := p.env.StartProgress("Deleting permanently")
	erased, err = p.store.Purge(p.tenant, 0, p.records, func(done, total int) error {
		progress.Set(done, total)
		return p.env.Context.Err()
	})
	progress.End()
	switch {
	case erased == 0 && p.env.Context.Err() != nil:
		return 0, cli.Unfinished("Stopped. Nothing was changed.", "")
	case erased == 0 && err != nil:
		return 0, store.Failed("deleting from", db, err)
	}
	noteErased(p.env, db, p.backups.Options.Dir)
	if err != nil {
		return erased, p.traces(erased, err)
	}
	if err := rewrite(p.env, p.store, db); err != nil {
		return erased, p.traces(erased, err)
	}
	return erased, nil
}

// rewrite removes the traces of permanently deleted data from the file.
func rewrite(env cli.Env, s *store.Store, db string) error {
	progress := env.StartProgress("Rewriting the file")
	defer progress.End()
	return store.Failed("rewriting", db, s.Rewrite(env.Context))
}

// noteErased updates the list of permanently deleted records in a folder of backups. The server also
// updates the list, but by then the department may have been removed with its history.
func noteErased(env cli.Env, db, folder string) {
	if !osutil.Exists(folder) {
		return
	}
	if err := backup.NoteErased(db, folder); err != nil {
		env.Warn(fmt.Sprintf("the list of deleted records next to the backups could not be written: %v", err), "")
	}
}

// traces returns the error for a purge that failed before the file was rewritten.
func (p *purge) traces(erased int, err error) error {
	what := "traces of deleted records may be left in the file"
	if erased > 0 {
		what = fmt.Sprintf("permanently deleted %s, but traces may be left in the file", cli.Count(erased, "record", "records"))
	}
	return tracesLeft(p.env, what, p.backups.Database, err)
}

// tracesLeft returns the error for a command after which the file may contain traces.
func tracesLeft(env cli.Env, what, db string, err error) error {
	again := "a running server rewrites the file soon; otherwise: " + rewriteLine(db)
	if env.Context.Err() != nil {
		return cli.Unfinished("Stopped: "+what+".", again)
	}
	return cli.WithHint(errors.New(what+": "+err.Error()), again) // a new error, so that Explain does not change the text
}

// rewriteLine returns the command that rewrites a file with traces.
func rewriteLine(db string) string { return "firefighters check --repair --db " + cli.Quote(db) }

func (p *purge) findHolders() (backup.Holders, error) {
	search := p.backups
	search.Holds = func(c *sqlite.Conn) (holds bool, err error) {
		for _, r := range p.records {
			if holds, err = store.HoldsRecord(c, r.ID); holds || err != nil {
				break
			}
		}
		return holds, err
	}
	for _, r := range p.records {
		if created := time.UnixMilli(r.CreatedAt); search.From.IsZero() || created.Before(search.From) {
			search.From = created
		}
	}
	progress := p.env.StartProgress("Searching backups")
	defer progress.End()
	return search.Run(p.env.Context)
}

// reportHolders lists the files that still contain deleted records, each with the day of its deletion
// if that is known. Without files it prints nothing.
func reportHolders(env cli.Env, found backup.Holders) {
	if found.Away {
		env.Warn("the folder of the backups cannot be read; its backups may contain the deleted records", "connect its disk")
	}
	if len(found.Files)+len(found.Unread) == 0 {
		return
	}
	heading, list := "Backups and copies that still contain the deleted records", cli.NewList(false, "FILE", "CREATED", "KEPT UNTIL")
	if found.NotSet {
		heading = "Copies next to the database that still contain the deleted records (name a folder of backups with --backup-dir)"
	}
	add := func(f backup.File, until string) {
		name := f.Name()
		if f.Encrypted {
			name += " (encrypted, listed because of its date)"
		}
		list.Add(nil, name, cli.FormatTime(f.Time.UnixMilli()), until)
	}
	for _, f := range found.Files {
		until := "you delete it"
		switch {
		case f.Unknown:
			until = "-"
		case !f.Until.IsZero():
			until = f.Until.Format(time.DateOnly)
		}
		add(f.File, until)
	}
	for _, f := range found.Unread {
		add(f, "(cannot be read; it may contain them)")
	}
	env.Notef("%s:\n\n%s", heading, strings.TrimSuffix(list.String(), "\n"))
}
