package lists

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Limits of the stored lists of all departments. The page asks the user to upload an evicted list
// again.
const (
	keptFor   = time.Hour
	mostBytes = 40 << 20 // of all files
	// mostKept limits the number of files: each counts as at least this share of mostBytes.
	mostKept = 100
	// mostRead limits the memory for parsed lists, in bytes. A list beyond it is parsed again for
	// each page.
	mostRead = 24 << 20
)

// keptList is an uploaded list, stored between the preview and the import. A large list is in a
// private temporary file.
type keptList struct {
	token  string
	tenant record.TenantID
	name   string // of the file
	pasted bool   // as text
	file   *upload.File
	at     time.Time     // time of the upload
	cells  *imports.List // parsed list; nil: not parsed yet, or too large

	imported atomic.Pointer[imports.Options] // the choices with which it was imported; nil: it was not
}

// size returns the bytes of mostBytes that the list uses.
func (l *keptList) size() int64 { return max(l.file.Size(), mostBytes/mostKept) }

// keptLists contains the lists of all departments. They share the mutex, so it is not held while a
// file is read.
type keptLists struct {
	now func() time.Time
	mu  sync.Mutex
	all []*keptList // oldest first
}

// visit is a visit with access to the stored lists.
type visit struct {
	view.Visit
	lists *keptLists
}

// kept outlives the room, which is built again after each change of the settings.
var kept = newKeptLists()

func newKeptLists() *keptLists { return &keptLists{now: time.Now} }

// add stores a list and returns it with its token. If there is no room, it evicts the oldest list of
// the department that uses the most bytes, but never the new list.
func (k *keptLists) add(l *keptList) *keptList {
	l.file.LeaveLimit()
	l.token = strings.ToLower(rand.Text())
	k.mu.Lock()
	defer k.mu.Unlock()
	l.at = k.now()
	k.all = append(k.all, l)
	k.evict()
	return l
}

// find returns the list with a token, or nil if the department has no such list.
func (k *keptLists) find(tenant record.TenantID, token string) *keptList {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.evict()
	for _, l := range k.all {
		if l.token == token && l.tenant == tenant {
			return l
		}
	}
	return nil
}

// read returns the cells of a list. It parses the file only if no earlier result matches the
// options. It returns the error of imports.Read, or os.ErrClosed if the list was evicted.
func (k *keptLists) read(ctx context.Context, l *keptList, o imports.Options, now time.Time) (*imports.List, error) {
	k.mu.Lock()
	cells := l.cells
	k.mu.Unlock()
	if cells != nil && cells.ReadAs(o) {
		return cells, nil
	}
	content, err := l.file.Content()
	if err != nil {
		return nil, err
	}
	if cells, err = imports.Read(ctx, content, o, now); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l.cells = nil
	if total := cells.Size(); total <= mostRead {
		for _, other := range slices.Backward(k.all) {
			if other.cells == nil {
				continue
			}
			if total += other.cells.Size(); total > mostRead {
				other.cells = nil
			}
		}
		l.cells = cells
	}
	return cells, nil
}

// evict removes and closes lists that are too old or exceed mostBytes. The caller holds the mutex.
func (k *keptLists) evict() {
	remove := func(at int) {
		k.all[at].file.Close()
		k.all = slices.Delete(k.all, at, at+1)
	}
	for len(k.all) > 0 && k.now().Sub(k.all[0].at) >= keptFor {
		remove(0)
	}
	for {
		total, size := int64(0), map[record.TenantID]int64{}
		for _, l := range k.all {
			total += l.size()
			size[l.tenant] += l.size()
		}
		if total <= mostBytes {
			return
		}
		most := 0
		for at, l := range k.all[:len(k.all)-1] { // the last list is the new one
			if size[l.tenant] > size[k.all[most].tenant] {
				most = at
			}
		}
		remove(most)
	}
}
