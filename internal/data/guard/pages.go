package guard

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// pages is what is known of some pages of the file of the database, by number. Only a
// checkpoint changes a page, and only to what a frame of the -wal has.
type pages struct {
	file   *os.File
	wal    string            // the path of the -wal
	size   int64             // of a page
	frame  map[uint32]int64  // the last frame of each page, since the -wal has restarted
	former []uint32          // some pages that were in the -wal before it restarted
	sums   map[uint32]uint32 // checksums of some pages in the file
	copied int64             // the frames that were in the file when sums were made; -1: not known
	buffer []byte            // of one page, for sumOf
}

// summed is about half the number of pages that have a checksum. An older copy of the
// file differs in all pages that were copied into it since, so that a few show it.
const summed = 128

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newPages(db *sqlite.DB, file *os.File) (pages, error) {
	p := pages{file: file, wal: db.Path() + "-wal", frame: map[uint32]int64{}, sums: map[uint32]uint32{}}
	err := db.Read(func(c *sqlite.Conn) (err error) { p.size, err = c.QueryInt(`PRAGMA page_size`); return err })
	p.buffer = make([]byte, p.size)
	return p, err
}

// restart notes that the -wal has restarted, with no frame. The checksums stay true if
// nothing was written into the file since they were made (keep). Otherwise that may have
// been from frames that are gone.
func (p *pages) restart() {
	if len(p.frame) > 0 {
		p.former = p.former[:0]
		for page := range p.frame {
			if len(p.former) < summed {
				p.former = append(p.former, page)
			}
		}
	}
	clear(p.frame)
	p.copied = -1
}

// forget forgets all pages. A checkpoint leaves out those behind the end of a database
// that has become smaller, and not all of them are written when it grows again.
func (p *pages) forget() {
	p.former = p.former[:0]
	clear(p.frame)
	clear(p.sums)
	p.copied = -1
}

// keep keeps the checksums over a restart of the -wal: the file is the one that they were
// made of.
func (p *pages) keep() { p.copied = max(p.copied, 0) }

// areForeign reports whether a page of the file, which has count pages, does not have its
// checksum, although no newer frame of it was copied into the file.
func (p *pages) areForeign(count int64) bool {
	for page, sum := range p.sums {
		if p.copied >= 0 && int64(page) <= count && p.frame[page] <= p.copied && !p.hasSum(page, sum) {
			return true
		}
	}
	return false
}

// sum makes the checksums again, after so many frames were copied into the file. It finds
// an older copy if the file does not have what was copied into it: somebody has copied an
// older file over it while a checkpoint ran.
func (p *pages) sum(count, copied int64) finding {
	wal, err := os.Open(p.wal)
	if err != nil {
		return noResult
	}
	defer wal.Close()
	clear(p.sums)
	for _, page := range p.former {
		if sum, ok := p.sumOf(p.file, p.offset(page)); ok && p.frame[page] == 0 {
			p.sums[page] = sum
		}
	}
	for page, frame := range p.frame { // in no order
		if int64(page) > count || frame > copied || frame <= p.copied && len(p.sums) >= 2*summed {
			continue
		}
		sum, ok := p.sumOf(wal, frameOffset(frame, p.size)+frameHeader)
		switch {
		case !ok: // the -wal has restarted meanwhile, and was cut off
		case !p.hasSum(page, sum):
			return olderCopy
		case len(p.sums) < 2*summed:
			p.sums[page] = sum
		}
	}
	p.copied = copied
	return finding{}
}

func (p *pages) offset(page uint32) int64 { return (int64(page) - 1) * p.size }

// sumOf returns the checksum of a page in the file of the database or in the -wal.
func (p *pages) sumOf(file *os.File, offset int64) (sum uint32, ok bool) {
	_, err := file.ReadAt(p.buffer, offset)
	return crc32.Checksum(p.buffer, castagnoli), err == nil
}

// hasSum reports whether a page of the file has the checksum that is wanted, or cannot be
// read.
func (p *pages) hasSum(page, want uint32) bool {
	sum, ok := p.sumOf(p.file, p.offset(page))
	return !ok || sum == want
}

// areIn reports whether the -shm names the page of each of its first frames. Otherwise
// SQLite does not find them.
func (p *pages) areIn(shm *os.File) bool {
	const header, frames = 136, 4062 // SQLite's WAL-mode file format, section 2.3
	numbers := make([]byte, 4*frames)
	if shm == nil || len(p.frame) == 0 {
		return true
	}
	if _, err := shm.ReadAt(numbers, header); err != nil {
		return true
	}
	for page, frame := range p.frame {
		if frame <= frames && binary.NativeEndian.Uint32(numbers[4*(frame-1):]) != page {
			return false
		}
	}
	return true
}

// isRacy reports whether a file that was modified so recently may be modified once more
// without another time: file systems count in steps of some milliseconds.
func isRacy(modified time.Time) bool { return time.Since(modified) < 50*time.Millisecond }
