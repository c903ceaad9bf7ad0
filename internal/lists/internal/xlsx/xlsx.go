// Package xlsx reads cells from XLSX workbooks and writes workbooks with one sheet. It streams both
// and bounds memory for any input.
package xlsx

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// Structural limits, against archives designed to exhaust memory.
const (
	maxToken = 1 << 20 // bytes per tag or text
	maxDepth = 100     // nested elements
	maxParts = 10_000  // also relationships per part, and sheets
	maxName  = 1000    // bytes of a sheet name; Excel allows 31 characters
)

type limits struct {
	unpacked int // bytes read, plus the length of each use of a shared string
	text     int // bytes of stored text, plus 16 per text
	marks    int // tags, attributes and texts between tags
}

// Limits of the largest workbook. Marks take most of the time.
const (
	MaxUnpacked = 160        // MB
	maxMarks    = 20_000_000 // tags, attributes and texts between tags
)

var defaultLimits = limits{unpacked: MaxUnpacked << 20, text: 40 << 20, marks: maxMarks}

// ErrTooLarge reports that a workbook exceeds MaxUnpacked, maxMarks or the limit for stored text.
var ErrTooLarge = errors.New("the workbook is too large when unpacked")

// ErrNotWorkbook reports that an archive is not a workbook.
var ErrNotWorkbook = errors.New("the archive is not a workbook")

// File is a workbook. It matches elements and attributes by local name, because the namespaces of
// transitional and strict OOXML differ.
type File struct {
	Sheets   []Sheet // worksheets, without chart sheets
	Date1904 bool    // dates count from 1904

	parts  map[string]*zip.File // by lower-case name
	left   limits               // remaining limits
	shared [][]Cell             // shared strings in blocks
	styles []style
}

// Sheet is a worksheet.
type Sheet struct {
	Name   string
	Hidden bool
	part   string
}

// Open opens a workbook. It returns ErrTooLarge, ErrNotWorkbook, the error of ctx, or an error that
// describes the damage.
func Open(ctx context.Context, content []byte) (*File, error) {
	return open(ctx, content, defaultLimits)
}

func open(ctx context.Context, content []byte, most limits) (*File, error) {
	if bytes.Count(content, []byte("PK\x01\x02")) > maxParts {
		return nil, ErrTooLarge
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	f := &File{parts: map[string]*zip.File{}, left: most}
	size := uint64(0) // as declared; partReader counts actual bytes
	for _, part := range archive.File {
		f.parts[strings.ToLower(slashed(part.Name))] = part
		if size += part.UncompressedSize64; size > uint64(most.unpacked) {
			return nil, ErrTooLarge
		}
	}
	main, err := f.main(ctx)
	if err == nil && f.parts[main] == nil {
		err = ErrNotWorkbook
	}
	if err != nil {
		return nil, err
	}
	return f, f.readMain(ctx, main)
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

type relation struct {
	kind string // last element of its type, such as worksheet
	part string // name of the target part
}

// relations returns the relationships of a part by id.
func (f *File) relations(ctx context.Context, part string) (map[string]relation, error) {
	folder, file := path.Split(part)
	rels := folder + "_rels/" + file + ".rels"
	all := map[string]relation{}
	if f.parts[rels] == nil {
		return all, nil
	}
	return all, f.walk(ctx, rels, func(token xml.Token) error {
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "Relationship" || attribute(e, "TargetMode") == "External" {
			return nil
		}
		if len(all) == maxParts {
			return ErrTooLarge
		}
		target := strings.ToLower(slashed(attribute(e, "Target")))
		if !strings.HasPrefix(target, "/") {
			target = "/" + folder + target
		}
		all[attribute(e, "Id")] = relation{path.Base(attribute(e, "Type")), path.Clean(target)[1:]}
		return nil
	})
}

func (f *File) main(ctx context.Context) (string, error) {
	all, err := f.relations(ctx, "")
	for _, r := range all {
		if r.kind == "officeDocument" {
			return r.part, err
		}
	}
	return "xl/workbook.xml", err
}

func (f *File) readMain(ctx context.Context, main string) error {
	relations, err := f.relations(ctx, main)
	if err != nil {
		return err
	}
	root := true
	err = f.walk(ctx, main, func(token xml.Token) error {
		e, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case root && e.Name.Local != "workbook":
			return ErrNotWorkbook
		case e.Name.Local == "workbookPr":
			f.Date1904 = isTrue(attribute(e, "date1904"))
		case e.Name.Local == "sheet":
			if r := relations[attribute(e, "id")]; r.kind == "worksheet" {
				return f.addSheet(e, r.part)
			}
		}
		root = root && !ok
		return nil
	})
	for _, r := range relations {
		switch {
		case err != nil:
		case r.kind == "sharedStrings":
			err = f.readStrings(ctx, r.part)
		case r.kind == "styles":
			err = f.readStyles(ctx, r.part)
		}
	}
	return err
}

func (f *File) addSheet(e xml.StartElement, part string) error {
	name, state := attribute(e, "name"), attribute(e, "state")
	if len(f.Sheets) == maxParts || len(name) > maxName {
		return ErrTooLarge
	}
	f.Sheets = append(f.Sheets, Sheet{name, state == "hidden" || state == "veryHidden", part})
	return f.count(name)
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func isTrue(text string) bool { return text == "1" || text == "true" }

func damaged(part string, err error) error { return fmt.Errorf("%s: %w", part, err) }

// walk calls visit for each XML token of a part. It rejects document type declarations, so entities
// are never defined. It stops when ctx ends.
func (f *File) walk(ctx context.Context, part string, visit func(xml.Token) error) error {
	file := f.parts[part]
	if file == nil {
		return damaged(part, errors.New("part is missing"))
	}
	r, err := file.Open()
	if err != nil {
		return damaged(part, err)
	}
	defer r.Close()
	limited := &partReader{ctx: ctx, r: r, left: &f.left.unpacked}
	decoder := newDecoder(limited)
	depth := 0
	for begun := false; depth > 0 || !begun; {
		limited.token = 0
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			e, _ := token.(xml.StartElement)
			err = deduct(&f.left.marks, 1+len(e.Attr))
		}
		if err != nil {
			return damaged(part, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			begun = true
		case xml.EndElement:
			depth--
		case xml.Directive:
			return damaged(part, fmt.Errorf("unsupported declaration: <!%.20s", token))
		}
		if depth > maxDepth {
			return damaged(part, errors.New("elements nested too deeply"))
		}
		if err := visit(token); err != nil {
			return err
		}
	}
	return nil
}

// newDecoder returns a decoder for XML in UTF-8 or UTF-16, which Excel on phones writes. It detects
// UTF-16 by a byte order mark or a zero next to the first character.
func newDecoder(r io.Reader) *xml.Decoder {
	text := bufio.NewReader(r)
	start, _ := text.Peek(2) // later reads repeat an error
	order := unicode.LittleEndian
	switch string(start) {
	case "\xfe\xff", "\x00<":
		order = unicode.BigEndian
	case "\xff\xfe", "<\x00":
	default:
		return xml.NewDecoder(text)
	}
	decoder := xml.NewDecoder(unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(text))
	decoder.CharsetReader = func(_ string, decoded io.Reader) (io.Reader, error) { return decoded, nil }
	return decoder
}

// count deducts a stored text from the limit.
func (f *File) count(text string) error { return deduct(&f.left.text, len(text)+16) }

func deduct(left *int, n int) error {
	if *left -= n; *left < 0 {
		return ErrTooLarge
	}
	return nil
}

// partReader enforces the limits on bytes read and on token length.
type partReader struct {
	ctx   context.Context
	r     io.Reader
	left  *int
	token int
}

func (r *partReader) Read(p []byte) (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err = r.r.Read(p)
	*r.left -= n
	r.token += n
	switch {
	case *r.left < 0:
		return 0, ErrTooLarge
	case r.token > maxToken:
		return 0, errors.New("a text or tag is too long")
	}
	return n, err
}
