package imports

import (
	"bytes"
	"encoding/json"
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
