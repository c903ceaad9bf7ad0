package transfer

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/record"
)

// Limits of what is kept. A list that is not there any more is asked for again.
const (
	uploadLifetime = time.Hour
	mostUploads    = 100
	mostBytes      = 40 << 20 // of all
)

// upload is a list that somebody has brought. It is kept in memory between the
// check and the import, and never on disk.
type upload struct {
	token   string
	tenant  record.TenantID
	name    string // of the file
	pasted  bool   // it is no file
	content []byte
	at      time.Time
}

// uploads keeps the lists that were checked.
type uploads struct {
	now func() time.Time
	mu  sync.Mutex
	all []*upload // oldest first
}

func newUploads() *uploads { return &uploads{now: time.Now} }

// add keeps a list and returns it with its token. The oldest lists go to make
// room.
func (u *uploads) add(added *upload) *upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	added.token, added.at = strings.ToLower(rand.Text()), u.now()
	u.all = append(u.all, added)
	u.forget()
	return added
}

// find returns the list with a token, nil if the department has none.
func (u *uploads) find(tenant record.TenantID, token string) *upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget()
	at := slices.IndexFunc(u.all, func(one *upload) bool { return one.token == token && one.tenant == tenant })
	if at < 0 {
		return nil
	}
	return u.all[at]
}

// forget drops what is too old or too much.
func (u *uploads) forget() {
	bytes, now := 0, u.now()
	for i, one := range slices.Backward(u.all) {
		bytes += len(one.content)
		if bytes > mostBytes || len(u.all)-i > mostUploads || now.Sub(one.at) >= uploadLifetime {
			u.all = slices.Delete(u.all, 0, i+1)
			return
		}
	}
}
