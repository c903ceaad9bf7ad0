package dav

import (
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Paths of resources. There is one address book: iOS syncs all books it finds, macOS only the first.
const (
	Root          = "/dav/"
	PrincipalPath = Root + "principal/"
	homePath      = Root + "books/"
	bookPath      = homePath + "people/"
	wellKnown     = "/.well-known/carddav"

	cardSuffix = ".vcf"
)

// kind is the kind of a resource. Kinds are bits, so that a property can belong to several.
type kind int

const (
	rootKind kind = 1 << iota
	principalKind
	homeKind
	bookKind
	cardKind

	collections = rootKind | principalKind | homeKind | bookKind
	everything  = collections | cardKind
)

// collectionPaths maps the paths of collections to kinds. iOS requests Root also as / and /principals/.
var collectionPaths = map[string]kind{
	Root: rootKind, "/": rootKind, "/principals/": rootKind, PrincipalPath: principalKind, homePath: homeKind, bookPath: bookKind,
}

// resource is the resource at a path.
type resource struct {
	kind kind
	path string
	id   string // of the person; only for cardKind
}

// find returns the resource at a path, and whether the path is valid. The path of a collection may lack
// its last slash. A valid path of a card does not mean that the card exists.
func find(path string) (r resource, ok bool) {
	whole := strings.TrimSuffix(path, "/") + "/"
	if k, ok := collectionPaths[whole]; ok {
		return resource{kind: k, path: whole}, true
	}
	name, inBook := strings.CutPrefix(path, bookPath)
	id, isCard := strings.CutSuffix(name, cardSuffix)
	if !inBook || !isCard {
		return resource{}, false
	}
	id, err := record.ParseID(id)
	return resource{cardKind, cardPath(id), id}, err == nil
}

func cardPath(id string) string { return bookPath + id + cardSuffix }

func (r resource) allow() string {
	switch r.kind {
	case cardKind:
		return "OPTIONS, GET, HEAD, PROPFIND"
	case bookKind:
		return "OPTIONS, PROPFIND, REPORT"
	}
	return "OPTIONS, PROPFIND"
}

// target is a requested resource with the data for its properties.
type target struct {
	resource
	caller     caller
	department string
	token      string              // sync token of the book
	person     *record.Firefighter // of a card
	text       []byte              // result of card, once it was called
	store      *store.Store
}

// card returns the vCard of the person, with the fields that the caller may read.
func (t *target) card() []byte {
	if t.text == nil {
		t.text = sheet.AppendCard(nil, t.person, t.caller.birthdays)
	}
	return t.text
}

// etag returns the entity tag of card. It depends only on fields that the caller may read.
func (t *target) etag() string { return t.store.Tag(t.card()) }

func (t *target) of(f *record.Firefighter) *target {
	return &target{resource: resource{cardKind, cardPath(f.ID), f.ID}, caller: t.caller, person: f, store: t.store}
}

// cardType is the media type of cards.
const cardType = "text/vcard; charset=utf-8"

func (s *Server) get(w http.ResponseWriter, r *http.Request, t *target) error {
	conditions, err := httpapi.ParseConditions(r)
	if err != nil {
		return err
	}
	f, err := s.store.Get(t.caller.tenant, t.id)
	if err != nil {
		return err
	}
	t.person = &f
	h := w.Header()
	h["Etag"] = []string{t.etag()}
	if err := conditions.CheckRead(t.etag()); err != nil {
		return err
	}
	h["Content-Type"] = []string{cardType}
	httpapi.Respond(w, http.StatusOK, t.card())
	return nil
}
