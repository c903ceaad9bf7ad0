package main

import (
	"os"
	"path/filepath"
	"time"
)

// writers is the number of clients that write at the same time.
const writers = 64

// sending returns a side on which clients send requests.
func sending(at *process, clients int, s *supply) side {
	return load{at: at, clients: clients, supply: s}.run
}

// writes measures creates, replaces and deletes of 64 clients, in turn with the
// disk alone and with plain transactions.
func (b *bench) writes() error {
	creates := b.country.creates()
	c, err := b.compare(b.round,
		sending(b.service, writers, creates),
		b.append,
		sending(b.baseline, writers, creates),
		sending(b.service, writers, b.country.replaces()),
		sending(b.service, writers, b.country.removes()))
	if err != nil {
		return err
	}
	b.table.add("create, 64 clients : append 4 KiB + fdatasync", atLeast(2.5), c.rates("", 0, 1))
	b.table.add("create, 64 clients : one transaction per request, plain table", atLeast(2.5), c.rates("", 0, 2))
	b.table.add("PUT, 64 clients : create", atLeast(0.8), c.rates("", 3, 0))
	b.table.add("DELETE, 64 clients : create", atLeast(0.8), c.rates("", 4, 0))
	return nil
}

func (b *bench) oneClient() error {
	creates := b.country.creates()
	return b.versus("create, 1 client : one transaction per request, plain table", atLeast(0.7),
		sending(b.service, 1, creates), sending(b.baseline, 1, creates))
}

// append measures the disk alone: it appends blocks to a file beside the
// databases and syncs each block.
func (b *bench) append(length time.Duration) (r result, err error) {
	file, err := os.Create(filepath.Join(b.folder, "appended"))
	if err != nil {
		return r, err
	}
	defer file.Close()
	block := make([]byte, 4<<10)
	begin := time.Now()
	for r.elapsed < length {
		if _, err := file.Write(block); err != nil {
			return r, err
		}
		if err := datasync(file); err != nil {
			return r, err
		}
		r.requests++
		r.elapsed = time.Since(begin)
	}
	return r, nil
}
