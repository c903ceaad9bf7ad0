// Package xlsx reads the cells of XLSX workbooks, and writes workbooks of one sheet.
// It does both as a stream, with the kind of each cell, and in bounded memory
// whatever the file holds. It knows nothing of people.
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

// Limits of the form of a workbook, against archives that are made to fill the
// memory.
const (
	maxToken = 1 << 20 // bytes of one tag or text
	maxDepth = 100     // elements in elements
	maxParts = 10_000  // and as many relations of a part, and sheets
	maxName  = 1000    // bytes of the name of a sheet; Excel takes 31 characters
)

// limits are the limits of the size of a workbook.
type limits struct {
	unpacked int // bytes of all that is read, and of the texts that cells share, once for each cell
	text     int // bytes of the texts that are kept, with 16 for each
	marks    int // tags, attributes and texts between tags
}

// Limits of the largest workbook. Of what is unpacked, marks take most of the time.
const (
	MaxUnpacked = 160        // MB
	maxMarks    = 20_000_000 // tags, attributes and texts between tags
)

var defaultLimits = limits{unpacked: MaxUnpacked << 20, text: 40 << 20, marks: maxMarks}

// ErrTooLarge says that a workbook unpacks to more than MaxUnpacked or maxMarks, or to
// more text than any list of people has.
var ErrTooLarge = errors.New("the workbook unpacks to too much")

// ErrNotWorkbook says that an archive is no workbook.
var ErrNotWorkbook = errors.New("the archive is no workbook")

// File is a workbook. Elements and attributes are known by their local names: the
// namespaces of transitional and strict OOXML differ, their names do not.
type File struct {
	Sheets   []Sheet // those that have cells, not charts
	Date1904 bool    // numbers of days count from 1904

	parts   map[string]*zip.File // by name in lower case
	left    limits               // what may still be read
	shared  []string             // texts that cells share
	formats []numberFormat       // of the cells, by the numbers of their styles
}

// Sheet is a sheet of a workbook.
type Sheet struct {
	Name   string
	Hidden bool
	part   string
}

// Open opens a workbook. The error is ErrTooLarge, ErrNotWorkbook, that of ctx, or
// says how the file is damaged.
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
	size := uint64(0) // as the archive says it; partReader counts what is read
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

// relation is what a part says of another one.
type relation struct {
	kind string // the end of its type, such as worksheet
	part string // name of the other part
}

// relations returns the relations of a part by their ids.
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

// main returns the name of the main part of a document.
func (f *File) main(ctx context.Context) (string, error) {
	all, err := f.relations(ctx, "")
	for _, r := range all {
		if r.kind == "officeDocument" {
			return r.part, err
		}
	}
	return "xl/workbook.xml", err
}

// readMain reads the main part: the list of sheets. It reads the shared strings and the
// styles too.
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

// attribute returns an attribute by its local name, empty if it is not there.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func isTrue(text string) bool { return text == "1" || text == "true" }

// damaged returns an error of reading a part with the name of the part.
func damaged(part string, err error) error { return fmt.Errorf("%s: %w", part, err) }

// walk visits all tokens of the XML of a part. It refuses declarations of document
// types, so that no entity has a meaning. It ends with ctx.
func (f *File) walk(ctx context.Context, part string, visit func(xml.Token) error) error {
	file := f.parts[part]
	if file == nil {
		return damaged(part, errors.New("is missing"))
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
			err = f.mark(token)
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
			return damaged(part, fmt.Errorf("has a declaration: <!%.20s", token))
		}
		if depth > maxDepth {
			return damaged(part, errors.New("has too many elements in elements"))
		}
		if err := visit(token); err != nil {
			return err
		}
	}
	return nil
}

// newDecoder returns a decoder of XML in UTF-8 or UTF-16. Excel on a phone writes the latter, which
// shows by its first two bytes: a byte order mark, or a zero next to the first character.
func newDecoder(r io.Reader) *xml.Decoder {
	text := bufio.NewReader(r)
	start, _ := text.Peek(2) // an error comes again
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

// mark counts a token with its attributes.
func (f *File) mark(token xml.Token) error {
	f.left.marks--
	if e, ok := token.(xml.StartElement); ok {
		f.left.marks -= len(e.Attr)
	}
	if f.left.marks < 0 {
		return ErrTooLarge
	}
	return nil
}

// partReader holds the parts of a workbook to their limit, and each token to
// maxToken.
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
