package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"firefighters/internal/demo"
	"firefighters/internal/record"
)

const demoHelp = `Usage: firefighters demo [flags]

Serves a database of invented people, with a key printed to try it out. It is
thrown away in the end, unless --db names a file to keep it in. The same flags
invent the same people.

  firefighters demo
  firefighters demo --departments 30000 --people 1200000 --db country.db

Flags:
`

func (p *program) demo(args []string) error {
	flags := p.flags("demo", demoHelp)
	db := flags.String("db", "firefighters-demo.db", "the file to keep it in, which may not be there yet")
	listen, g := listenFlag(flags), guardFlags(flags)
	departments := flags.Int("departments", 1, "how many departments")
	number := flags.Int("people", 40, "how many people in all")
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	if *departments < 1 || *departments > 1e6 || *number < 0 || *number > 1e8 {
		return usage("demo: --departments takes 1 to 1000000, --people 0 to 100000000", "firefighters demo --help")
	}
	if !flags.Changed("db") {
		dir, err := os.MkdirTemp("", "firefighters-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*db = filepath.Join(dir, *db)
	}
	if err := inspect(resolve(*db)); !errors.Is(err, errNoDatabase) {
		return hinted{fmt.Errorf("demo makes a new file, and %q is there already", *db),
			"firefighters serve --db " + quoteArg(*db)}
	}
	return p.serveDatabase(serveOptions{db: *db, listen: *listen, guard: g}, func(s *store, url string) error {
		bar := newProgress(p, "people", *number)
		if err := s.invent(p.ctx, demo.Sizes(*departments, *number), bar.add); err != nil {
			return fmt.Errorf("inventing people: %w", err)
		}
		bar.end()
		return p.announceKey(s, demo.Department(0), url)
	})
}

// inventedAtOnce is about how many people go into one transaction.
const inventedAtOnce = 5000

// invent fills an empty database with departments of the given sizes and says
// after each transaction how many people it has added.
func (s *store) invent(ctx context.Context, sizes []int, added func(people int)) error {
	for next := 0; next < len(sizes); {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, sum := next, 0
		for next < len(sizes) && (sum == 0 || sum+sizes[next] <= inventedAtOnce) {
			sum += sizes[next]
			next++
		}
		if err := s.write(func(t *transaction) error { return t.invent(first, sizes[first:next]) }); err != nil {
			return err
		}
		added(sum)
	}
	return nil
}

func (t *transaction) invent(first int, sizes []int) error {
	now := time.UnixMilli(t.now)
	for i, size := range sizes {
		number := first + i
		tenant := tenantID(number + 1)
		if _, err := t.exec(`INSERT INTO tenants (id, name, created_at) VALUES (?, ?, ?)`,
			int64(tenant), demo.Department(number), t.now); err != nil {
			return err
		}
		for n := range size {
			fields, faults := demo.Person(number, n).Normalize(now)
			if len(faults) > 0 {
				return faults
			}
			f := record.Firefighter{ID: newID(), Fields: fields}
			if err := t.create(tenant, 0, f.ID, createValues(tenant, f)); err != nil {
				return err
			}
		}
	}
	return nil
}

// progress is a bar on a terminal for what takes long, and nothing elsewhere.
type progress struct {
	p           *program
	what        string
	done, total int
	terminal    bool
	began       time.Time
	shown       bool
}

func newProgress(p *program, what string, total int) *progress {
	return &progress{p: p, what: what, total: total, terminal: isTerminal(p.stderr), began: time.Now()}
}

// notLong is how long nobody wonders.
const notLong = time.Second

func (b *progress) add(n int) { b.set(b.done+n, b.total) }

func (b *progress) set(done, total int) {
	b.done, b.total = done, total
	if b.terminal && b.total > 0 && (b.shown || time.Since(b.began) > notLong) {
		const width = 40
		full := min(width, width*b.done/b.total)
		fmt.Fprintf(b.p.stderr, "\r[%s%s] %d of %d %s", strings.Repeat("=", full), strings.Repeat(" ", width-full),
			b.done, b.total, b.what)
		b.shown = true
	}
}

// end leaves the line to what comes next.
func (b *progress) end() {
	if b.shown {
		fmt.Fprintln(b.p.stderr)
		b.shown = false
	}
}
