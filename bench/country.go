package main

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// country is a sample of a new database of invented people, drawn with a fixed
// seed.
type country struct {
	program     string // created the database, and serves it
	path        string
	departments []*department // by id, from 1
	large       *department   // the largest department
	ordinary    []*department // the departments of about 40 people
	drawn       []person      // from all departments, in random order, each once
	random      *rand.Rand
}

type department struct {
	id      int64
	people  int64
	key     string
	session string   // of a browser
	names   []string // last names; set for the largest department and for a sample
}

type person struct {
	*department
	id    string
	email string // empty for none
}

const (
	mostDrawn  = 20_000 // people drawn
	sampleSize = 400    // ordinary departments whose names are read
)

// openCountry adds a key for every department to the database at path and draws
// a sample. No other process may use the database at the same time.
func openCountry(program, path string) (*country, error) {
	c := &country{program: program, path: path, random: rand.New(rand.NewPCG(2, 3))}
	db, err := openDatabase(path, "mode=rw")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, step := range []func(*sql.DB) error{c.readDepartments, c.makeKeys, c.draw, c.readNames} {
		if err := step(db); err != nil {
			return nil, fmt.Errorf("drawing from %s: %w", path, err)
		}
	}
	return c, nil
}

// openDatabase opens a database with database/sql. settings are added to the
// query of its URI.
func openDatabase(path, settings string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(5000)&" + settings}
	return sql.Open("sqlite", u.String())
}

// readDepartments reads the departments and finds the largest and the ordinary
// ones.
func (c *country) readDepartments(db *sql.DB) error {
	err := query(db, `SELECT id, live_count FROM tenants ORDER BY id`, func(rows *sql.Rows) error {
		n := len(c.departments) + 1
		d := &department{key: fmt.Sprintf("bench-key-%d", n), session: fmt.Sprintf("bench-session-%d", n)}
		c.departments = append(c.departments, d)
		return rows.Scan(&d.id, &d.people)
	})
	if err != nil {
		return err
	}
	c.large = c.departments[0]
	for i, d := range c.departments {
		if d.id != int64(i+1) {
			return fmt.Errorf("department %d has the id %d", i+1, d.id)
		}
		if d.people > c.large.people {
			c.large = d
		}
		if 35 <= d.people && d.people <= 45 {
			c.ordinary = append(c.ordinary, d)
		}
	}
	c.random.Shuffle(len(c.ordinary), func(i, j int) { c.ordinary[i], c.ordinary[j] = c.ordinary[j], c.ordinary[i] })
	return nil
}

// makeKeys inserts a key for every department, and a session for those whose page
// is measured, in one transaction.
func (c *country) makeKeys(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	insert, err := tx.Prepare(`INSERT INTO keys (hash, tenant_id, label, scope, session_lifetime, created_at)
		VALUES (?, ?, 'bench', 'write', ?, ?)`)
	if err != nil {
		return err
	}
	add := func(d *department, key string, lifetime any) error {
		hash := sha256.Sum256([]byte(key))
		_, err := insert.Exec(hash[:], d.id, lifetime, time.Now().UnixMilli())
		return err
	}
	const hour = 60 * 60 * 1000 // milliseconds
	for _, d := range c.departments {
		err := add(d, d.key, nil)
		if err == nil && (d == c.large || slices.Contains(c.sample(), d)) {
			err = add(d, d.session, hour)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// draw draws people by row number, which is the department's id << 32 plus a
// number from 1 within the department.
func (c *country) draw(db *sql.DB) error {
	var rows []int64
	for _, d := range c.departments {
		for n := range d.people {
			rows = append(rows, d.id<<32|(n+1))
		}
	}
	c.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	find, err := db.Prepare(`SELECT id, ifnull(email, '') FROM firefighters WHERE row = ? AND deleted_at IS NULL`)
	if err != nil {
		return err
	}
	for _, row := range rows[:min(mostDrawn, len(rows))] {
		p := person{department: c.departments[row>>32-1]}
		switch err := find.QueryRow(row).Scan(&p.id, &p.email); {
		case err == nil:
			c.drawn = append(c.drawn, p)
		case !errors.Is(err, sql.ErrNoRows): // demo deletes some
			return err
		}
	}
	return nil
}

// sample returns a random part of the ordinary departments.
func (c *country) sample() []*department { return c.ordinary[:min(sampleSize, len(c.ordinary))] }

func (c *country) readNames(db *sql.DB) error {
	for _, d := range append(slices.Clip(c.sample()), c.large) {
		const text = `SELECT last_name FROM firefighters WHERE row > ?1 << 32 AND row < (?1 + 1) << 32 AND deleted_at IS NULL`
		err := query(db, text, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			d.names = append(d.names, name)
			return err
		}, d.id)
		if err != nil {
			return err
		}
	}
	return nil
}

func query(db *sql.DB, text string, scan func(*sql.Rows) error, args ...any) error {
	rows, err := db.Query(text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
