package dlq

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func entriesOf(sizes ...int) []entry {
	out := make([]entry, len(sizes))
	for i, n := range sizes {
		out[i].size = n
	}
	return out
}

func TestPacks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sizes []int
		want  []pack
	}{
		"none":                   {nil, nil},
		"ten":                    {slices.Repeat([]int{1}, 10), []pack{{0, 10}}},
		"eleven":                 {slices.Repeat([]int{1}, 11), []pack{{0, 10}, {10, 11}}},
		"full to the byte":       {[]int{maxBytes - 1, 1}, []pack{{0, 2}}},
		"a byte too many":        {[]int{maxBytes, 1}, []pack{{0, 1}, {1, 2}}},
		"too large, on its own":  {[]int{1, maxBytes + 1, 1}, []pack{{0, 1}, {1, 2}, {2, 3}}},
		"never out of order":     {[]int{maxBytes - 1, 2, 1}, []pack{{0, 1}, {1, 3}}},
		"bytes, then ten, again": {slices.Repeat([]int{maxBytes / 4}, 6), []pack{{0, 4}, {4, 6}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, packs(entriesOf(tt.sizes...)), cmp.AllowUnexported(pack{})); diff != "" {
				t.Errorf("packs differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPacksKeepTheLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := entriesOf(rapid.SliceOf(rapid.IntRange(1, maxBytes)).Draw(t, "sizes")...)
		next := 0
		for _, p := range packs(entries) {
			if p.from != next || p.to <= p.from || p.to-p.from > maxEntries {
				t.Fatalf("pack %v after entry %d", p, next)
			}
			next = p.to
			size := 0
			for _, e := range entries[p.from:p.to] {
				size += e.size
			}
			if size > maxBytes {
				t.Fatalf("pack %v has %d bytes", p, size)
			}
		}
		if next != len(entries) {
			t.Fatalf("%d of %d entries packed", next, len(entries))
		}
	})
}
