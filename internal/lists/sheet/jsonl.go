package sheet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonRows gathers objects as rows. Their members are the columns.
type jsonRows struct {
	named
	seen  []int // for each column the last object that has it
	count int   // of the objects
}

// readJSONL reads JSON lines: an object of texts on each line. It also reads one
// array of such objects, and an answer of the API's list. There the number of a row
// is that of its item.
func readJSONL(ctx context.Context, text string) (*Table, error) {
	rows := jsonRows{named: named{collector{ctx: ctx}, nil, map[string]int{}}}
	decoder := json.NewDecoder(strings.NewReader(text))
	for line, last := 1, 0; ; {
		start := len(text) - len(strings.TrimLeft(text[decoder.InputOffset():], " \t\r\n"))
		line, last = line+strings.Count(text[last:start], "\n"), start
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = rows.value(line, value)
		}
		if err != nil {
			return nil, damaged(fmt.Errorf("line %d: %w", line, err))
		}
	}
	if len(rows.rows) == 0 {
		return nil, fail(FileEmpty)
	}
	return &Table{Format: JSONL, Header: rows.header, Rows: rows.rows}, nil
}

// value adds a value of the file: an object, or many.
func (j *jsonRows) value(line int, value []byte) error {
	var answer struct {
		Data struct{ Items json.RawMessage }
	}
	switch {
	case value[0] == '[':
		return j.array(value)
	case json.Unmarshal(value, &answer) == nil && bytes.HasPrefix(answer.Data.Items, []byte("[")):
		return j.array(answer.Data.Items)
	}
	return j.object(line, value)
}

// array adds the objects of an array, one by one: it can have millions that are
// empty.
func (j *jsonRows) array(array []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(array))
	decoder.Token() // the opening bracket; the array is known to be well-formed
	for number := 1; decoder.More(); number++ {
		var item json.RawMessage
		decoder.Decode(&item)
		if err := j.object(number, item); err != nil {
			return err
		}
	}
	return nil
}

// object adds an object as a row.
func (j *jsonRows) object(number int, object []byte) error {
	if object[0] != '{' {
		return fmt.Errorf("%.20s is no object", object)
	}
	if j.count++; j.count > maxRows {
		return fail(FileTooMany, "rows", maxRows)
	}
	var cells []Cell
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.Token() // the opening brace; the object is known to be well-formed
	for decoder.More() {
		name, _ := decoder.Token()
		var value json.RawMessage
		decoder.Decode(&value)
		i := j.columnOf(name.(string))
		if i >= maxColumns {
			return fail(FileTooMany, "columns", maxColumns)
		}
		if i == len(j.seen) {
			j.seen = append(j.seen, 0)
		}
		if j.seen[i] == j.count {
			return fmt.Errorf("%v is given twice", name)
		}
		j.seen[i] = j.count
		cells = withText(cells, i, jsonText(value))
	}
	return j.add(number, cells)
}

// jsonText returns a value as the text of a cell. A value that is no text stands as
// its JSON.
func jsonText(value []byte) string {
	var text *string
	if json.Unmarshal(value, &text) != nil {
		var compact bytes.Buffer
		json.Compact(&compact, value)
		return compact.String()
	}
	if text == nil {
		return ""
	}
	return strings.TrimSpace(*text)
}
