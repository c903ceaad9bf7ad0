package xlsx

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

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
	decoder := xml.NewDecoder(limited)
	var open []xml.Name
	for begun := false; len(open) > 0 || !begun; {
		limited.token = 0
		token, err := decoder.RawToken()
		if err == nil {
			err = f.mark(token)
		}
		if err == nil {
			open, err = nest(open, token)
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return damaged(part, err)
		}
		if err := visit(token); err != nil {
			return err
		}
		begun = begun || len(open) > 0
	}
	return nil
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

// nest returns the elements that are open after a token. It checks what RawToken
// does not.
func nest(open []xml.Name, token xml.Token) ([]xml.Name, error) {
	switch token := token.(type) {
	case xml.StartElement:
		if len(open) == maxDepth {
			return nil, errors.New("has too many elements in elements")
		}
		return append(open, token.Name), nil
	case xml.EndElement:
		if len(open) == 0 || open[len(open)-1] != token.Name {
			return nil, fmt.Errorf("has </%.20s> in a wrong place", token.Name.Local)
		}
		return open[:len(open)-1], nil
	case xml.Directive:
		return nil, fmt.Errorf("has a declaration: <!%.20s", token)
	}
	return open, nil
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
