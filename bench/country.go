package main

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver

	"firefighters/internal/apikey"
)

// country is what was drawn, with a fixed seed, from a database of invented
// people that nobody has changed yet.
type country struct {
	path        string
	size        int64         // bytes of the file
	took        time.Duration // to make it
	departments []*department // by id, from 1
	large       *department   // the largest
	ordinary    []*department // those of about 40
	drawn       []person      // of all departments, in random order, none twice
	random      *rand.Rand
}

type department struct {
	id     int64
	people int64
	key    string
	texts  []texts // of the largest, and of a sample
}

type person struct {
	*department
	id string
}

const (
	readsDrawn    = 20_000  // people to get and to replace, at most half of all
	mostDrawn     = 200_000 // the others are deleted, each once
	sampleSize    = 400     // ordinary departments whose texts are read
	searchesDrawn = 4000    // in them
	termsDrawn    = 400     // of each kind, for the largest department
)

// openCountry gives a key to every department of the database at path, and
// draws from it. Nobody else may be working with it.
func openCountry(path string, took time.Duration) (*country, error) {
	c := &country{path: path, took: took, random: rand.New(rand.NewPCG(2, 3))}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	c.size = info.Size()
	db, err := openDatabase(path, "mode=rw")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, step := range []func(*sql.DB) error{c.readDepartments, c.makeKeys, c.draw, c.readTexts} {
		if err := step(db); err != nil {
			return nil, fmt.Errorf("drawing from %s: %w", path, err)
		}
	}
	return c, nil
}

// openDatabase opens a file through package database/sql.
func openDatabase(path, settings string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(5000)&" + settings}
	return sql.Open("sqlite", u.String())
}

// readDepartments finds out which are large and which are ordinary.
func (c *country) readDepartments(db *sql.DB) error {
	err := query(db, `SELECT id, live_count FROM tenants ORDER BY id`, func(rows *sql.Rows) error {
		d := &department{key: apikey.New()}
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
	if len(c.ordinary) == 0 {
		return fmt.Errorf("no department has about 40 people")
	}
	c.random.Shuffle(len(c.ordinary), func(i, j int) { c.ordinary[i], c.ordinary[j] = c.ordinary[j], c.ordinary[i] })
	return nil
}

// makeKeys makes a key for every department, in one transaction.
func (c *country) makeKeys(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing, once it is committed
	insert, err := tx.Prepare(`INSERT INTO keys (hash, tenant_id, label, scope, created_at) VALUES (?, ?, 'bench', 'write', 0)`)
	if err != nil {
		return err
	}
	for _, d := range c.departments {
		hash := sha256.Sum256([]byte(d.key))
		if _, err := insert.Exec(hash[:], d.id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// draw draws people by their row numbers, which are the department's id << 32
// and a number from 1 in each department.
func (c *country) draw(db *sql.DB) error {
	var rows []int64
	for _, d := range c.departments {
		for n := range d.people {
			rows = append(rows, d.id<<32|(n+1))
		}
	}
	c.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	find, err := db.Prepare(`SELECT id FROM firefighters WHERE row = ?`)
	if err != nil {
		return err
	}
	for _, row := range rows[:min(mostDrawn, len(rows))] {
		p := person{department: c.departments[row>>32-1]}
		if err := find.QueryRow(row).Scan(&p.id); err != nil {
			return err
		}
		c.drawn = append(c.drawn, p)
	}
	return nil
}

// reads are the people to get and to replace.
func (c *country) reads() []person { return c.drawn[:min(readsDrawn, len(c.drawn)/2)] }

// others are the people who are not among those, and may be deleted.
func (c *country) others() []person { return c.drawn[len(c.reads()):] }

// sample is a random part of the ordinary departments.
func (c *country) sample() []*department { return c.ordinary[:min(sampleSize, len(c.ordinary))] }

func (c *country) readTexts(db *sql.DB) (err error) {
	for _, d := range append(c.sample(), c.large) {
		if d.texts, err = readTexts(db, d); err != nil {
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
