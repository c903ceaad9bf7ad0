package office

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Limits of what is kept. The page asks again for a list that has gone.
const (
	keptFor   = time.Hour
	mostKept  = 100
	mostBytes = 40 << 20 // of all lists
)

// keptList is a list that somebody has brought. It is kept between the check and the
// import, a large one in a private temporary file.
type keptList struct {
	token  string
	tenant record.TenantID
	name   string // of the file
	pasted bool   // as a text
	file   *upload.File
	at     time.Time // when somebody brought it

	answers map[string]string // about its rows, by the fields of the form; import_answers.go
}

// keptLists are the lists of all departments.
type keptLists struct {
	now func() time.Time
	mu  sync.Mutex
	all []*keptList // oldest first
}

func newKeptLists() *keptLists { return &keptLists{now: time.Now} }

// add keeps a list and returns it with its token. Where there is no room, the oldest list
// of the department that has most goes.
func (k *keptLists) add(added *keptList) *keptList {
	k.mu.Lock()
	defer k.mu.Unlock()
	added.file.LeaveLimit()
	added.token, added.at = strings.ToLower(rand.Text()), k.now()
	k.all = append(k.all, added)
	k.forget()
	return added
}

// find returns the list with a token, nil if the department has none.
func (k *keptLists) find(tenant record.TenantID, token string) *keptList {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.findLocked(tenant, token)
}

// read returns the list with a token, as find does, and its content.
func (k *keptLists) read(tenant record.TenantID, token string) (one *keptList, content []byte, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one = k.findLocked(tenant, token); one != nil {
		content, err = one.file.Content()
	}
	return one, content, err
}

// findLocked is find for a caller that has the mutex.
func (k *keptLists) findLocked(tenant record.TenantID, token string) *keptList {
	k.forget()
	at := slices.IndexFunc(k.all, func(one *keptList) bool { return one.token == token && one.tenant == tenant })
	if at < 0 {
		return nil
	}
	return k.all[at]
}

// forget drops what is too old or too much.
func (k *keptLists) forget() {
	for len(k.all) > 0 && k.now().Sub(k.all[0].at) >= keptFor {
		k.drop(0)
	}
	for {
		count, size := map[record.TenantID]int{}, map[record.TenantID]int64{}
		var bytes int64
		for _, one := range k.all {
			bytes += one.file.Size()
			count[one.tenant]++
			size[one.tenant] += one.file.Size()
		}
		var most record.TenantID
		switch {
		case bytes > mostBytes:
			most = largest(size)
		case len(k.all) > mostKept:
			most = largest(count)
		default:
			return
		}
		k.drop(slices.IndexFunc(k.all, func(one *keptList) bool { return one.tenant == most }))
	}
}

// largest returns the department with the largest value.
func largest[N int | int64](of map[record.TenantID]N) (most record.TenantID) {
	for tenant, value := range of {
		if of[most] < value {
			most = tenant
		}
	}
	return most
}

func (k *keptLists) drop(at int) {
	k.all[at].file.Close()
	k.all = slices.Delete(k.all, at, at+1)
}
