package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// ErrPosition is the error for a position that this history of the department
// has never given.
var ErrPosition = errors.New("the position is not of this history")

// position is a place in the history of a department.
type position struct {
	history int64 // number of the history
	tenant  record.TenantID
	change  int64 // number of the last change before it
	version int64 // of the department, if there is no change behind it at that version
}

// unknownVersion is that of a position that has changes behind it.
const unknownVersion = -1

// A position as text is the two numbers and the beginning of a MAC, which tells
// it from those of other histories and departments.
const (
	numbersSize  = 16
	macSize      = 8
	positionSize = numbersSize + macSize
)

func (p position) String() string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, positionSize), uint64(p.change))
	b = binary.BigEndian.AppendUint64(b, uint64(p.version))
	return base64.RawURLEncoding.EncodeToString(append(b, p.mac(b)...))
}

// parse sets the change and the version to those of a text. The error is
// ErrPosition unless String has made it for this history and tenant.
func (p *position) parse(text string) error {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != positionSize || strings.ContainsAny(text, "\r\n") || !hmac.Equal(b[numbersSize:], p.mac(b[:numbersSize])) {
		return ErrPosition
	}
	p.change, p.version = int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))
	return nil
}

// mac returns the message authentication code of the numbers.
func (p *position) mac(numbers []byte) []byte {
	key := binary.BigEndian.AppendUint64(nil, uint64(p.history))
	m := hmac.New(sha256.New, binary.BigEndian.AppendUint64(key, uint64(p.tenant)))
	m.Write(numbers)
	return m.Sum(nil)[:macSize]
}
