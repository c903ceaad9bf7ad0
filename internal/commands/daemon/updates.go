package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// latestRelease redirects to the page of the newest release, whose address ends with its
// tag. Versions before a release are none of them.
const latestRelease = "https://github.com/firefighter-records/firefighters/releases/latest"

// releases is the flag --look-for-updates: the address that redirects to the newest
// release, empty to ask nobody.
type releases string

// Set takes true and false, as a switch does, or the address of another page of releases.
func (r *releases) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		if *r = ""; on {
			*r = latestRelease
		}
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return errors.New("it takes no value, or the address of a page")
	}
	*r = releases(text)
	return nil
}

func (r *releases) String() string {
	switch *r {
	case "":
		return "false"
	case latestRelease:
		return "true"
	}
	return string(*r)
}

// Type is that of a switch.
func (r *releases) Type() string { return "boolfunc" }

// updates looks for newer versions of the program, once a week. What it has found, and when
// it looks again, is in a file beside the database, so that a restart asks nobody.
type updates struct {
	page, file, own string
	log             *slog.Logger
	newest          atomic.Pointer[string] // the version; nil: not known
}

const (
	updatesSuffix = "-updates"
	lookAgain     = 7 * 24 * time.Hour
	tryAgain      = 24 * time.Hour
	lookTimeout   = 30 * time.Second
)

func newUpdates(page releases, db, own string, log *slog.Logger) *updates {
	return &updates{page: string(page), file: osutil.Resolve(db) + updatesSuffix, own: own, log: log}
}

// run looks whenever that is due, until ctx ends.
func (u *updates) run(ctx context.Context) {
	next, newest := u.read()
	u.newest.Store(new(newest))
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		if now := time.Now(); !now.Before(next) || next.Sub(now) > lookAgain { // else the clock was wrong
			next = now.Add(lookAgain)
			found, err := u.look(ctx)
			if err != nil {
				next = now.Add(tryAgain)
				u.log.Debug("newer versions could not be looked for", "cause", err.Error())
			} else {
				newest = found
				u.newest.Store(new(newest))
			}
			if ctx.Err() == nil {
				osutil.WriteFile(u.file, fmt.Appendf(nil, "%s\n%s\n", next.UTC().Format(time.RFC3339), newest), true) // without it a restart looks again
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// read returns what is in the file: when to look again, and the newest version.
func (u *updates) read() (next time.Time, newest string) {
	text, _ := os.ReadFile(u.file)
	at, rest, _ := strings.Cut(string(text), "\n")
	next, _ = time.Parse(time.RFC3339, at)
	if newest = strings.TrimSpace(rest); !versionForm.MatchString(newest) {
		newest = ""
	}
	return next, newest
}

// look asks for the newest version. The request says nothing but what is asked for. Nothing
// of the answer is read but where it leads.
func (u *updates) look(ctx context.Context) (newest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, u.page, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("User-Agent", "firefighters") // some servers refuse a request without one
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	response.Body.Close()
	to, err := response.Location()
	if err != nil {
		return "", fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	if newest = strings.TrimPrefix(path.Base(to.Path), "v"); !versionForm.MatchString(newest) {
		return "", errors.New("it leads to no release")
	}
	return newest, nil
}

// newer returns the version that is newer than this program, empty if none is known.
func (u *updates) newer() string {
	if newest := u.newest.Load(); newest != nil && isNewer(*newest, u.own) {
		return *newest
	}
	return ""
}

// versionForm is the form of a released version.
var versionForm = regexp.MustCompile(`^\d{1,6}\.\d{1,6}\.\d{1,6}$`)

// isNewer reports whether a released version is newer than another one, which may be one
// before a release, as 1.2.0-rc.1, or unknown.
func isNewer(released, own string) bool {
	if !versionForm.MatchString(released) {
		return false
	}
	numbers, before, _ := strings.Cut(own, "-")
	numbers, _, _ = strings.Cut(numbers, "+")
	if !versionForm.MatchString(numbers) {
		return true
	}
	theirs, ours := strings.Split(released, "."), strings.Split(numbers, ".")
	for i := range theirs {
		a, _ := strconv.Atoi(theirs[i])
		b, _ := strconv.Atoi(ours[i])
		if a != b {
			return a > b
		}
	}
	return before != ""
}
