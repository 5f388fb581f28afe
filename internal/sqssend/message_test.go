package sqssend_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

func messagesOf(sizes ...int) []sqssend.Message {
	out := make([]sqssend.Message, len(sizes))
	for i, n := range sizes {
		out[i].Size = n
	}
	return out
}

func TestPacks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sizes []int
		want  [][]int
	}{
		"none":                   {nil, nil},
		"ten":                    {slices.Repeat([]int{1}, 10), [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}},
		"eleven":                 {slices.Repeat([]int{1}, 11), [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10}}},
		"full to the byte":       {[]int{sqssend.MaxBytes - 1, 1}, [][]int{{0, 1}}},
		"a byte too many":        {[]int{sqssend.MaxBytes, 1}, [][]int{{0}, {1}}},
		"too large, on its own":  {[]int{1, sqssend.MaxBytes + 1, 1}, [][]int{{0}, {1}, {2}}},
		"never out of order":     {[]int{sqssend.MaxBytes - 1, 2, 1}, [][]int{{0}, {1, 2}}},
		"bytes, then ten, again": {slices.Repeat([]int{sqssend.MaxBytes / 4}, 6), [][]int{{0, 1, 2, 3}, {4, 5}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, sqssend.Packs(messagesOf(tt.sizes...), false)); diff != "" {
				t.Errorf("packs differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPacksKeepTheLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := messagesOf(rapid.SliceOf(rapid.IntRange(1, sqssend.MaxBytes)).Draw(t, "sizes")...)
		for i := range messages {
			group := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")
			messages[i].Request.MessageGroupId = &group
		}
		apart := rapid.Bool().Draw(t, "apart")
		next := 0
		for _, pack := range sqssend.Packs(messages, apart) {
			size, groups := 0, map[string]bool{}
			for _, i := range pack {
				if i != next {
					t.Fatalf("pack %v after entry %d", pack, next-1)
				}
				next++
				size += messages[i].Size
				groups[*messages[i].Request.MessageGroupId] = true
			}
			if len(pack) == 0 || len(pack) > sqscall.MaxEntries || size > sqssend.MaxBytes || apart && len(groups) < len(pack) {
				t.Fatalf("pack %v has %d bytes and %d groups", pack, size, len(groups))
			}
		}
		if next != len(messages) {
			t.Fatalf("%d of %d messages packed", next, len(messages))
		}
	})
}
