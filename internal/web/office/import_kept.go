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

// Limits of what is kept. A list that is not there any more is asked for again.
const (
	uploadLifetime = time.Hour
	mostUploads    = 100
	mostBytes      = 40 << 20 // of all
)

// keptList is a list that somebody has brought. It is kept between the check and the
// import: a large one in a private temporary file, because nobody knows how many
// there will be.
type keptList struct {
	token  string
	tenant record.TenantID
	name   string // of the file
	pasted bool   // it is no file
	file   *upload.File
	at     time.Time
}

// keptLists keeps the lists that were checked.
type keptLists struct {
	now func() time.Time
	mu  sync.Mutex
	all []*keptList // oldest first
}

func newKeptLists() *keptLists { return &keptLists{now: time.Now} }

// add keeps a list and returns it with its token. Others go to make room: the
// oldest of the department that has most.
func (u *keptLists) add(added *keptList) *keptList {
	u.mu.Lock()
	defer u.mu.Unlock()
	added.file.Keep()
	added.token, added.at = strings.ToLower(rand.Text()), u.now()
	u.all = append(u.all, added)
	u.forget()
	return added
}

// find returns the list with a token, nil if the department has none.
func (u *keptLists) find(tenant record.TenantID, token string) *keptList {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.with(tenant, token)
}

// read returns the list with a token, as find does, and its content.
func (u *keptLists) read(tenant record.TenantID, token string) (one *keptList, content []byte, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one = u.with(tenant, token); one != nil {
		content, err = one.file.Content()
	}
	return one, content, err
}

// with is called with the mutex.
func (u *keptLists) with(tenant record.TenantID, token string) *keptList {
	u.forget()
	at := slices.IndexFunc(u.all, func(one *keptList) bool { return one.token == token && one.tenant == tenant })
	if at < 0 {
		return nil
	}
	return u.all[at]
}

// forget drops what is too old or too much.
func (u *keptLists) forget() {
	for len(u.all) > 0 && u.now().Sub(u.all[0].at) >= uploadLifetime {
		u.drop(0)
	}
	for {
		count, size := map[record.TenantID]int{}, map[record.TenantID]int64{}
		var bytes int64
		for _, one := range u.all {
			bytes += one.file.Size()
			count[one.tenant]++
			size[one.tenant] += one.file.Size()
		}
		var most record.TenantID
		switch {
		case bytes > mostBytes:
			most = largest(size)
		case len(u.all) > mostUploads:
			most = largest(count)
		default:
			return
		}
		u.drop(slices.IndexFunc(u.all, func(one *keptList) bool { return one.tenant == most }))
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

func (u *keptLists) drop(at int) {
	u.all[at].file.Close()
	u.all = slices.Delete(u.all, at, at+1)
}
