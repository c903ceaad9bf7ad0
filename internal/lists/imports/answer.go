package imports

import (
	"bytes"
	"encoding/json"
	"io"
)

// AppendJSON appends the report as JSON: the answer of the API, and what is
// stored of it for a request that is sent again. It escapes what JSON demands, and
// not what HTML does.
func (r *Report) AppendJSON(b []byte) []byte {
	text := bytes.NewBuffer(b)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	encoder.Encode(r) // to memory, of texts and numbers: it cannot fail
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// WriteJSON writes the report as AppendJSON has it, row by row: that of a file of
// which all rows are refused can have 40 MB. The error is that of w.
func (r *Report) WriteJSON(w io.Writer) error {
	const rows = `"rows":[` // stands in no text, where quotes are escaped
	frame := *r
	frame.Rows = []Row{}
	head, tail, _ := bytes.Cut(frame.AppendJSON(nil), []byte(rows))
	var b bytes.Buffer
	b.Write(head)
	b.WriteString(rows)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i := range r.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		encoder.Encode(&r.Rows[i]) // to memory, of texts and numbers: it cannot fail
		b.Truncate(b.Len() - 1)    // the end of the line
		if b.Len() >= 64<<10 {
			if _, err := b.WriteTo(w); err != nil {
				return err
			}
		}
	}
	b.Write(tail)
	_, err := b.WriteTo(w)
	return err
}
