package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// siteOf returns a site of these routes, without a database.
func siteOf(routes map[string]Route) *Site {
	return New(plainSite().Config, NewLook(plainLook), routes)
}

// TestWorkersMakeNoPage: pages are made while others wait for a place to work.
func TestWorkersMakeNoPage(t *testing.T) {
	t.Parallel()
	came, release := make(chan struct{}, cap(making)+1), make(chan struct{})
	site := siteOf(map[string]Route{
		"GET /office/long": {Handle: func(v *Visit) error {
			came <- struct{}{}
			return v.Work(0, func() error {
				<-release
				return v.Redirect(Root)
			})
		}},
	})
	visit := func(path string) int {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer close(release)
	for range cap(making) + 1 {
		all.Go(func() {
			if status := visit("/office/long"); status != http.StatusSeeOther {
				t.Error(fmt.Sprint("work is answered with ", status))
			}
		})
		select {
		case <-came:
		case <-time.After(time.Minute):
			t.Fatal("those who wait for a place to work keep the places to make pages")
		}
	}
	if status := visit("/office/sign-in"); status != http.StatusOK {
		t.Error(status)
	}
}
