package sheet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// readJSONL reads JSON Lines with one object per line. The member names are the columns.
func readJSONL(ctx context.Context, text string) (*Table, error) {
	rows, number := named{collector{ctx: ctx}, nil, map[string]int{}}, 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		cells, err := rows.object(line)
		if err == nil {
			err = rows.add(number, cells)
		}
		if err != nil {
			return nil, damaged(fmt.Errorf("line %d: %w", number, err))
		}
	}
	if len(rows.rows) == 0 {
		return nil, fail(FileEmpty)
	}
	return &Table{Format: JSONL, Header: rows.header, Rows: rows.rows}, nil
}

func (n *named) object(line string) (cells []Cell, err error) {
	decoder := json.NewDecoder(strings.NewReader(line))
	if brace, err := decoder.Token(); err != nil || brace != json.Delim('{') {
		return nil, fmt.Errorf("%.20s is not an object", strings.TrimSpace(line))
	}
	seen := map[json.Token]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("duplicate member %.40v", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		i := n.columnOf(name.(string))
		if i >= maxColumns {
			return nil, fail(FileTooMany, "columns", maxColumns)
		}
		cells = withText(cells, i, jsonText(value))
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more than one object")
	}
	return cells, nil
}

// jsonText returns a JSON value as cell text. Values other than strings become compact JSON.
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
