package view

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// WithNotice returns the address of a list with one of Notices about a person, at the person's row. For
// several people, id is a ChangeRange, a number or NoOne.
func WithNotice(list, what, id string) string {
	u, _ := url.Parse(list) // checked by site.LocalPath
	query := u.Query()
	for _, other := range append(Notices, entryParameter) {
		query.Del(other)
	}
	query.Set(what, id)
	u.RawQuery, u.Fragment = query.Encode(), ""
	if _, err := record.ParseID(id); err == nil && what != "deleted" {
		u.Fragment = id
	}
	return u.String()
}

// entryParameter has the entry of the history that a notice is about.
const entryParameter = "entry"

// WithUndo is WithNotice after a change by this session. The notice offers to undo the change.
func (v Visit) WithUndo(list, what, id string) string { return v.withUndo(list, what, id, id) }

// WithUndoMerge is WithUndo after a merge. The notice is about the person who was kept.
func (v Visit) WithUndoMerge(list, kept, removed string) string {
	return v.withUndo(list, "merged", kept, removed)
}

func (v Visit) withUndo(list, what, id, changed string) string {
	list = WithNotice(list, what, id)
	own := store.EditQuery{Records: []string{changed}, Keys: []store.KeyID{v.Session.ID}}
	newest, err := v.Store.Edits(v.Session.Tenant, own, 1)
	if err != nil || len(newest) == 0 { // the history still offers it
		return list
	}
	return WithParameter(list, entryParameter, strconv.FormatInt(newest[0].Number, 10))
}

// newestEntry returns the entry of the address, or nil if it is not the person's newest one.
func (v Visit) newestEntry(id string) (*store.Edit, error) {
	number := v.Query().Get(entryParameter)
	if number == "" {
		return nil, nil
	}
	newest, err := v.Store.Edits(v.Session.Tenant, store.EditQuery{Records: []string{id}}, 1)
	if err != nil || len(newest) == 0 || strconv.FormatInt(newest[0].Number, 10) != number || IsDamaged(newest[0]) {
		return nil, err
	}
	return &newest[0], nil
}

// NoOne is the value of the notice "deleted" if no one was selected.
const NoOne = "none"

// ChangeRange returns the value of the notice "deleted" about several people: the numbers of the first
// and the last change.
func ChangeRange(first, last int64) string { return fmt.Sprintf("%d-%d", first, last) }

// DeletedTogether returns the ids of the people whom the changes in the parameter "deleted" deleted and
// who are still deleted.
func (v Visit) DeletedTogether() ([]string, error) {
	one, other, _ := strings.Cut(v.Query().Get("deleted"), "-")
	first, _ := strconv.ParseInt(one, 10, 64) // 0 is never found
	last, _ := strconv.ParseInt(other, 10, 64)
	return v.Store.DeletedBetween(v.Session.Tenant, first, last)
}

// severalNotice returns the notice about several people who were deleted or restored, or nil.
func (v Visit) severalNotice() (*site.Notice, error) {
	deleted := v.Query().Get("deleted")
	if deleted == NoOne {
		return &site.Notice{Text: v.Text("list.delete.none"), Warn: true}, nil
	}
	if restored, err := strconv.Atoi(v.Query().Get("restored")); err == nil && restored > 0 {
		return &site.Notice{Text: v.Count("notice.restored.several", restored)}, nil
	}
	ids, err := v.DeletedTogether()
	if len(ids) == 0 {
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return nil, err
	}
	undo := site.Root + "people/undelete?deleted=" + url.QueryEscape(deleted)
	return &site.Notice{Text: v.Count("notice.deleted.several", len(ids)), Undo: undo}, nil
}

// Notices are the parameters that ask for a notice about a person.
var Notices = []string{"added", "saved", "undone", "deleted", "restored", "merged"}

// Render responds with a page. A notice that the address asks for is added to any page, because
// a form can lead back to any page.
func (v Visit) Render(status int, name string, p site.Page) error {
	if v.R.Method != http.MethodPost && p.Part == "" {
		notice, err := v.personNotice()
		if notice == nil && err == nil {
			notice, err = v.stepNotice()
		}
		if err != nil {
			return err
		}
		p.Notice = cmp.Or(notice, p.Notice)
	}
	return v.Visit.Render(status, name, p)
}

// personNotice returns the notice about a person that the address asks for, or nil if there is
// none or if it no longer applies.
func (v Visit) personNotice() (*site.Notice, error) {
	for _, what := range Notices {
		value := v.Query().Get(what)
		if value == "" {
			continue
		}
		var n *site.Notice
		id, err := record.ParseID(value)
		switch {
		case err != nil:
			n, err = v.severalNotice()
		case what == "deleted":
			n, err = v.deletedNotice(id)
		case what == "undone":
			n, err = v.undoneNotice(id)
		case what == "merged":
			n, err = v.mergedNotice(id)
		default:
			n, err = v.savedNotice(what, id)
		}
		if n != nil && !v.May(store.ScopeWrite) {
			n.Undo = ""
		}
		return n, err
	}
	return nil, nil
}

// savedNotice returns the notice about an added, saved or restored person.
func (v Visit) savedNotice(what, id string) (*site.Notice, error) {
	f, err := v.Store.Get(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	back := v.Back()
	if v.R.URL.Path == site.Root {
		back = ListPath(v.ListQuery())
	}
	n := &site.Notice{Text: v.Text("notice."+what, NameOf(f.Fields)), Link: WithBack(PersonPath(id), back)}
	e, err := v.newestEntry(id)
	if e != nil {
		n.Undo = UndoChangePath(e.Number)
	}
	return n, err
}

func (v Visit) deletedNotice(id string) (*site.Notice, error) {
	f, err := v.Store.GetDeleted(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &site.Notice{Text: v.Text("notice.deleted", NameOf(f.Fields)), Undo: PersonPath(id) + "/undelete"}, err
}

// mergedNotice returns the notice about a merge, which the address names by its delete.
func (v Visit) mergedNotice(id string) (*site.Notice, error) {
	number, _ := strconv.ParseInt(v.Query().Get(entryParameter), 10, 64)
	e, err := v.Store.GetEdit(v.Session.Tenant, number)
	if errors.Is(err, store.ErrNotFound) || err == nil && e.Merged != id {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	newest, err := v.newestEntry(e.ID)
	if newest == nil {
		return nil, err
	}
	return &site.Notice{Text: v.Text("notice.merged", NameOf(newest.Before.Fields)), Link: PersonPath(id), Undo: UndoChangePath(number)}, nil
}

// undoneNotice returns the notice about an undone change. Without an entry, there was nothing
// to undo.
func (v Visit) undoneNotice(id string) (*site.Notice, error) {
	if !v.Query().Has(entryParameter) {
		return &site.Notice{Text: v.Text("history.putBack.nothing")}, nil
	}
	e, err := v.newestEntry(id)
	if e == nil || e.Before == nil || e.After == nil {
		return nil, err
	}
	var labels []string
	for _, d := range v.Differences(e.Before.Fields, e.After.Fields) {
		labels = append(labels, d.Label)
	}
	text := v.Text("history.putBack.done", NameOf(e.After.Fields), strings.Join(labels, ", "))
	return &site.Notice{Text: text, Undo: UndoChangePath(e.Number)}, nil
}

// DoneParameter is the parameter that asks for a notice about a first step.
const DoneParameter = "done"

// stepNotice returns the notice about a first step that the address asks for, or nil.
func (v Visit) stepNotice() (*site.Notice, error) {
	switch v.Query().Get(DoneParameter) {
	case "department":
		name, err := v.Store.TenantName(v.Session.Tenant)
		return &site.Notice{Text: v.Text("department.done", name)}, err
	case "person":
		return &site.Notice{Text: v.Text("department.person.done", v.Session.Label)}, nil
	case "hidden":
		return &site.Notice{Text: v.Text("steps.hidden")}, nil
	}
	return nil, nil
}

// ImportNotice returns the notice about the import with a number, or nil, and the number, or 0 if
// the import was undone.
func (v Visit) ImportNotice(all []store.Import, named string) (notice *site.Notice, number int64) {
	query := v.Query()
	var more []site.Line
	if token := query.Get("list"); token != "" && v.May(store.ScopeWrite) {
		more = []site.Line{{Text: v.Text("missing.link"), Link: MissingPath + "?token=" + url.QueryEscape(token)}}
	}
	if query.Has("nothing") {
		return &site.Notice{Text: v.Text("import.why.nothing"), Warn: true, More: more}, 0
	}
	for _, i := range all {
		if strconv.FormatInt(i.Number, 10) != named {
			continue
		}
		if !i.UndoneAt.IsZero() {
			return &site.Notice{Text: v.Text("imports.already", int(i.Number), v.Lang.Moment(i.UndoneAt.Local())), Warn: true}, 0
		}
		n := &site.Notice{Text: v.importSummary(i), Link: ImportsPath, Away: true, More: more}
		if v.May(store.ScopeWrite) {
			n.Undo = UndoImportPath(i.Number)
			n.More = append(n.More, site.Line{Text: v.Text("duplicates.title"), Link: DuplicatesPath})
		}
		return n, i.Number
	}
	return nil, 0
}

// importSummary returns how many people an import added and changed.
func (v Visit) importSummary(i store.Import) string {
	switch {
	case i.Changed == 0:
		return v.Count("imports.added", i.Added)
	case i.Added == 0:
		return v.Count("imports.changed", i.Changed)
	}
	return v.Count("imports.both", i.Added, v.Count("imports.changed", i.Changed))
}

// IsDamaged reports whether a change lacks a version of the record that its action requires.
func IsDamaged(e store.Edit) bool {
	if e.Action == "create" || e.Action == "undelete" {
		return e.After == nil
	}
	return e.Before == nil || e.Action == "replace" && e.After == nil
}
