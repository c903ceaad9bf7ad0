// Package transit carries files between clients and the service. What is too
// large for memory is kept in a private temporary file, so that a client may be
// slow: no connection to the database waits for it.
package transit

import (
	"context"
	"time"

	"github.com/firefighter-records/firefighters/internal/httpapi"
)

const (
	// atOnce is how many files are made or read at the same time. Each needs
	// memory, and one of the few connections that read the database.
	atOnce = 2
	// patience is how long a request waits until its file may be worked on.
	patience = time.Minute
)

var working = make(chan struct{}, atOnce)

var errBusy = &httpapi.Problem{Kind: httpapi.Busy, Header: httpapi.RetryLater,
	Detail: "Too many files are being imported or exported at this moment."}

// Begin waits until few enough files are being worked on. The caller calls done
// when it has worked on its own. The error is a *httpapi.Problem, or that
// of ctx.
func Begin(ctx context.Context) (done func(), err error) {
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	select {
	case working <- struct{}{}:
		return func() { <-working }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-tooLong.C:
		return nil, errBusy
	}
}
