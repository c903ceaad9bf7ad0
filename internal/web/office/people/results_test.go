package people

import (
	"slices"
	"testing"
)

func TestPageNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		page, last int64
		want       []int64
	}{
		{1, 1, []int64{1}},
		{1, 2, []int64{1, 2}},
		{1, 5, []int64{1, 2, 0, 5}},
		{3, 5, []int64{1, 2, 3, 4, 5}},
		{4, 7, []int64{1, 2, 3, 4, 5, 6, 7}},
		{5, 170, []int64{1, 0, 4, 5, 6, 0, 170}},
		{170, 170, []int64{1, 0, 169, 170}},
		{171, 170, []int64{1, 0, 170}},
		{9_000_000_000, 3, []int64{1, 2, 3}},
		{2, 0, nil},
	} {
		if got := pageNumbers(tt.page, tt.last); !slices.Equal(got, tt.want) {
			t.Errorf("pageNumbers(%d, %d) = %v, want %v", tt.page, tt.last, got, tt.want)
		}
	}
}
