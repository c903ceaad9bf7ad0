package lists

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Limits of what is kept for all departments. The page asks for a list again that is gone.
const (
	keptFor   = time.Hour
	mostBytes = 40 << 20 // of all files
	// mostKept limits the number of files: each takes up at least this share of mostBytes.
	mostKept = 100
	// mostRead limits the memory of the lists that stay read, in bytes. A list without room
	// is read again for each page.
	mostRead = 24 << 20
)

// keptList is an uploaded list, kept between the preview and the import. A large one is a
// private temporary file.
type keptList struct {
	token  string
	tenant record.TenantID
	name   string // of the file
	pasted bool   // as a text
	file   *upload.File
	at     time.Time     // when it was uploaded
	cells  *imports.List // nil: not read yet, or no room
}

// size returns how many of mostBytes the list takes up.
func (l *keptList) size() int64 { return max(l.file.Size(), mostBytes/mostKept) }

// keptLists are the lists of all departments. All departments wait for the mutex, so it is
// not held while a file is read.
type keptLists struct {
	now func() time.Time
	mu  sync.Mutex
	all []*keptList // oldest first
}

// visit is a visit that sees the kept lists.
type visit struct {
	view.Visit
	lists *keptLists
}

func newKeptLists() *keptLists { return &keptLists{now: time.Now} }

// add keeps a list and returns it with its token. Where there is no room, it evicts the
// oldest list of the department that has most, but never the new list.
func (k *keptLists) add(added *keptList) *keptList {
	added.file.LeaveLimit()
	added.token = strings.ToLower(rand.Text())
	k.mu.Lock()
	defer k.mu.Unlock()
	added.at = k.now()
	k.all = append(k.all, added)
	k.evict()
	return added
}

// find returns the list with a token, nil if the department has none.
func (k *keptLists) find(tenant record.TenantID, token string) *keptList {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.evict()
	for _, one := range k.all {
		if one.token == token && one.tenant == tenant {
			return one
		}
	}
	return nil
}

// read returns the cells of a list, which it reads only if the options need another reading
// than the last one. The error is that of imports.Read, or os.ErrClosed if the list was evicted.
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

// evict removes and closes the lists that are too old or too much. The caller holds the
// mutex.
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
		for _, one := range k.all {
			total += one.size()
			size[one.tenant] += one.size()
		}
		if total <= mostBytes {
			return
		}
		most := 0
		for at, one := range k.all[:len(k.all)-1] { // the last list was just added
			if size[one.tenant] > size[k.all[most].tenant] {
				most = at
			}
		}
		remove(most)
	}
}
