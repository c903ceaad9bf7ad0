package lists

import (
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Limits of what is kept. The page asks again for a list that has gone.
const (
	keptFor   = time.Hour
	mostBytes = 40 << 20 // of all lists
	// mostKept limits the number of lists: each takes up at least this share of mostBytes,
	// which is more than a list in memory and its answers need.
	mostKept = 100
)

// keptList is an uploaded list. It is kept between the check and the
// import, a large one in a private temporary file.
type keptList struct {
	token  string
	tenant record.TenantID
	name   string // of the file
	pasted bool   // as a text
	file   *upload.File
	at     time.Time // when it was uploaded

	answers map[string]string // about its rows, by the fields of the form; answers.go
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

// read returns the list with a token, as find does, and its content.
func (k *keptLists) read(tenant record.TenantID, token string) (*keptList, []byte, error) {
	found := k.find(tenant, token)
	if found == nil {
		return nil, nil, nil
	}
	content, err := found.file.Content()
	if errors.Is(err, os.ErrClosed) { // evicted since find returned it
		return nil, nil, nil
	}
	return found, content, err
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
