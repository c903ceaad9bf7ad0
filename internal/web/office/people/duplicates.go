package people

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// duplicatesPage is the Data of duplicates.html.
type duplicatesPage struct {
	Pairs []duplicate
	More  string // address of the next page; empty on the last one
}

// duplicate is a pair of people who may be the same person.
type duplicate struct {
	People   [2]view.Person
	Merge    string // address of the page that shows both records
	Distinct string // address to which "Not the same person" is sent
}

// maxPairs is the maximum number of pairs on a page. A pair leaves it when it is decided. It is also
// the maximum number of people that a search for the second record shows.
const maxPairs = 100

func distinctPath(id, with string) string { return view.PersonPath(id) + "/distinct?with=" + with }

// showDuplicates responds with the people who may be the same person.
func showDuplicates(v view.Visit) error {
	skip, _ := strconv.Atoi(v.Query().Get("skip"))
	pairs, more, err := findDuplicates(v, max(skip, 0))
	if err != nil {
		return err
	}
	data := duplicatesPage{}
	if more {
		data.More = view.DuplicatesPath + "?skip=" + strconv.Itoa(max(skip, 0)+maxPairs)
	}
	for _, pair := range pairs {
		data.Pairs = append(data.Pairs, duplicate{
			People: [2]view.Person{v.Person(&pair[0], v.Today()), v.Person(&pair[1], v.Today())},
			Merge:  mergePath(pair[0].ID, pair[1].ID, view.DuplicatesPath), Distinct: distinctPath(pair[0].ID, pair[1].ID),
		})
	}
	p := site.Page{Title: v.Text("duplicates.title"), Section: "list", Notice: distinctNotice(v), Data: data}
	return v.Render(http.StatusOK, "duplicates", p)
}

// findDuplicates returns the pairs of possible duplicates on a page, each with the older record first,
// after those to skip, and whether there are more. It leaves out pairs that someone called different people.
func findDuplicates(v view.Visit, skip int) (pairs [][2]record.Firefighter, more bool, err error) {
	distinct, err := v.Store.Distinct(v.Session.Tenant)
	if err != nil {
		return nil, false, err
	}
	found, ids, people := alike.NewPairs(), []string{}, [][2]string{}
	errEnough := errors.New("enough pairs")
	err = v.Store.Each(v.Session.Tenant, record.Query{SortBy: record.ByCreatedAt}, func(f *record.Firefighter) error {
		ids = append(ids, f.ID)
		for _, other := range found.Add(alike.Of(&f.Fields)) {
			if distinct(ids[other], f.ID) {
				continue
			}
			if skip > 0 {
				skip--
				continue
			}
			if len(people) == maxPairs {
				return errEnough
			}
			people = append(people, [2]string{ids[other], f.ID})
		}
		return nil
	})
	if more = errors.Is(err, errEnough); err != nil && !more {
		return nil, false, err
	}
	ids = ids[:0]
	for _, pair := range people {
		ids = append(ids, pair[:]...)
	}
	records, err := v.Store.Members(v.Session.Tenant, ids)
	for _, pair := range people {
		if one, other := records[pair[0]], records[pair[1]]; one != nil && other != nil { // otherwise just deleted
			pairs = append(pairs, [2]record.Firefighter{*one, *other})
		}
	}
	return pairs, more, err
}

// setDistinct records that two people are not the same person or, with the parameter undo, forgets it.
func setDistinct(v view.Visit, id string) error {
	with, err := secondRecord(v, id)
	if err != nil {
		return err
	}
	undo := v.Query().Has("undo")
	if err := v.Store.SetDistinct(v.Session.Tenant, id, with, !undo); err != nil {
		return err
	}
	if undo {
		return v.Redirect(view.DuplicatesPath)
	}
	return v.Redirect(view.DuplicatesPath + "?distinct=" + id + "&with=" + with)
}

// distinctNotice returns the notice that the address asks for, or nil.
func distinctNotice(v view.Visit) *site.Notice {
	id, err := record.ParseID(v.Query().Get("distinct"))
	if err != nil {
		return nil
	}
	with, err := secondRecord(v, id)
	distinct, unread := v.Store.Distinct(v.Session.Tenant)
	if err != nil || unread != nil || !distinct(id, with) {
		return nil
	}
	return &site.Notice{Text: v.Text("duplicates.distinct"), Undo: distinctPath(id, with) + "&undo=1", Away: true}
}
