package guard

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"time"
)

// pages is what is known of some pages of the file of the database, by number. Only a
// checkpoint changes a page, and only to what a frame of the -wal has.
type pages struct {
	frame  map[uint32]int64  // the last frame of each page, since the -wal has restarted
	former []uint32          // some pages that were in the -wal before it restarted
	sums   map[uint32]uint32 // checksums of some pages in the file
	copied int64             // the frames that were in the file when sums were made; -1: not known
	at     time.Time         // when the file was modified, as sums were made
	racy   bool              // that was just before, so that the file may have been written again at the same time
}

// summed is about half the number of pages that have a checksum. An older copy of the
// file differs in all pages that were copied into it since, so that a few show it.
const summed = 128

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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

// keep keeps the checksums over a restart of the -wal if the file, which was modified at
// a time, is the one that they were made of.
func (p *pages) keep(at time.Time) {
	if p.copied < 0 && at.Equal(p.at) && !p.racy {
		p.copied = 0
	}
}

// isForeign reports whether a page of the file does not have its checksum, although no
// newer frame of it was copied into the file. That has count pages, and was modified at
// a time.
func (p *pages) isForeign(file *os.File, count int64, at time.Time, pageSize int64) bool {
	if p.copied < 0 || at.Equal(p.at) && !p.racy {
		return false
	}
	for page, sum := range p.sums {
		if int64(page) <= count && p.frame[page] <= p.copied && !hasSum(file, (int64(page)-1)*pageSize, pageSize, sum) {
			return true
		}
	}
	return false
}

// sum makes the checksums again, and reports whether the file has what was copied into
// it since they were made. It has not if somebody has copied an older file over it while
// a checkpoint ran.
func (p *pages) sum(file *os.File, count int64, at time.Time, pageSize, copied int64, wal string) bool {
	if p.copied >= 0 && at.Equal(p.at) && !p.racy {
		return true
	}
	clear(p.sums)
	for _, page := range p.former {
		if sum, ok := sumOf(file, (int64(page)-1)*pageSize, pageSize); ok && p.frame[page] == 0 {
			p.sums[page] = sum
		}
	}
	log, err := os.Open(wal)
	if err != nil {
		return true
	}
	defer log.Close()
	for page, frame := range p.frame { // in no order
		if int64(page) > count || frame > copied || frame <= p.copied && len(p.sums) >= 2*summed {
			continue
		}
		sum, ok := sumOf(log, logHeader+(frame-1)*(frameHeader+pageSize)+frameHeader, pageSize)
		switch {
		case !ok: // the -wal has restarted meanwhile, and was cut off
		case !hasSum(file, (int64(page)-1)*pageSize, pageSize, sum):
			return false
		case len(p.sums) < 2*summed:
			p.sums[page] = sum
		}
	}
	p.copied, p.at, p.racy = copied, at, isRacy(at)
	return true
}

func sumOf(file *os.File, offset, size int64) (sum uint32, ok bool) {
	content := make([]byte, size)
	_, err := file.ReadAt(content, offset)
	return crc32.Checksum(content, castagnoli), err == nil
}

// hasSum reports whether a part of a file has a checksum, or cannot be read.
func hasSum(file *os.File, offset, size int64, want uint32) bool {
	sum, ok := sumOf(file, offset, size)
	return !ok || sum == want
}

// areIn reports whether the -shm names the page of each of its first frames. Otherwise
// SQLite does not find them.
func (p *pages) areIn(index *os.File) bool {
	const header, frames = 136, 4062 // SQLite's WAL-mode file format, section 2.3
	numbers := make([]byte, 4*frames)
	if index == nil || len(p.frame) == 0 {
		return true
	}
	if _, err := index.ReadAt(numbers, header); err != nil {
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
