package xlsx

import (
	"sort"
	"strings"
)

// texts is a list of texts that needs four bytes for each beside its characters,
// because a workbook can have millions that are empty. It can be read after end.
type texts struct {
	blocks []block
	text   strings.Builder // of the texts that are in no block yet
	ends   []uint32        // where each of these ends
	count  int             // of all texts
}

// block has many texts in one.
type block struct {
	first int // number of the first text
	text  string
	ends  []uint32
}

const (
	blockTexts = 1 << 10
	blockBytes = 64 << 10
)

func (t *texts) add(text string) {
	if t.ends == nil {
		t.ends = make([]uint32, 0, blockTexts)
	}
	t.text.WriteString(text)
	t.ends = append(t.ends, uint32(t.text.Len()))
	if t.count++; len(t.ends) == blockTexts || t.text.Len() >= blockBytes {
		t.end()
	}
}

func (t *texts) end() {
	if len(t.ends) > 0 {
		t.blocks = append(t.blocks, block{t.count - len(t.ends), t.text.String(), t.ends})
		t.text, t.ends = strings.Builder{}, nil
	}
}

// at returns a text by its number from 0.
func (t *texts) at(i int) string {
	b := t.blocks[sort.Search(len(t.blocks), func(b int) bool { return t.blocks[b].first > i })-1]
	start := uint32(0)
	if i -= b.first; i > 0 {
		start = b.ends[i-1]
	}
	return b.text[start:b.ends[i]]
}
