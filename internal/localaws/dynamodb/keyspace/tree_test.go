package keyspace_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

func number(t testing.TB, text string) attribute.Value {
	t.Helper()
	n, err := attribute.ParseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func text(_ testing.TB, text string) attribute.Value { return attribute.String(text) }

func named(name string) attribute.Item { return attribute.Item{"name": attribute.String(name)} }

func names(items iter.Seq[attribute.Item]) string {
	var all []string
	for i := range items {
		all = append(all, string(i["name"].(attribute.String)))
	}
	return strings.Join(all, " ")
}

// The order of partitions is the one that dynalite has recorded of the real
// service.
func TestPartitionsHaveTheRecordedOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys string
		as   func(testing.TB, string) attribute.Value
	}{
		{"2 8 9 1 6 hello 0 5 4 äáöü aardman 7 3 zapf", text},
		{"7 999.9 8 3 2 -999.9 9 4 -0.09 6 1 0 0.012345 5", number},
	} {
		tree := keyspace.NewTree()
		for key := range strings.FieldsSeq(c.keys) {
			tree.Set(keyspace.NewPlace(c.as(t, key), nil, key), named(key))
		}
		if got := names(tree.Ascend(keyspace.All())); got != c.keys {
			t.Errorf("got %s, want %s", got, c.keys)
		}
	}
}

func TestSegmentsHaveTheRecordedPartitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key     attribute.Value
		segment int
	}{
		{attribute.String("3635"), 0}, {attribute.String("228"), 0}, {attribute.String("1668"), 1},
		{attribute.String("3435"), 4}, {number(t, "251"), 1}, {number(t, "2388"), 4095},
	} {
		place := keyspace.NewPlace(c.key, nil, "k")
		for _, segment := range []int{c.segment - 1, c.segment, c.segment + 1} {
			if segment < 0 || segment > 4095 {
				continue
			}
			if got := keyspace.Segment(segment, 4096).Contains(place); got != (segment == c.segment) {
				t.Errorf("%v in segment %d: %v", c.key, segment, got)
			}
		}
	}
}

// Every place is in exactly one segment.
func TestSegmentsAreDisjointAndComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 1000).Draw(rt, "total")
		key := rapid.StringN(1, 20, -1).Draw(rt, "key")
		place, found := keyspace.NewPlace(attribute.String(key), nil, "k"), 0
		for i := range total {
			if keyspace.Segment(i, total).Contains(place) {
				found++
			}
		}
		if found != 1 {
			rt.Fatalf("%q is in %d of %d segments", key, found, total)
		}
	})
}

func TestPartitionRanges(t *testing.T) {
	t.Parallel()
	tree := keyspace.NewTree()
	for _, p := range []string{"a", "b"} {
		for n := range 5 {
			for _, primary := range []string{"x", "y"} {
				name := fmt.Sprint(p, n, primary)
				tree.Set(keyspace.NewPlace(attribute.String(p), number(t, fmt.Sprint(n)), name), named(name))
			}
		}
	}
	a := attribute.String("a")
	for _, c := range []struct {
		low, high attribute.Value
		want      string
	}{
		{nil, nil, "a0x a0y a1x a1y a2x a2y a3x a3y a4x a4y"},
		{number(t, "1"), number(t, "2"), "a1x a1y a2x a2y"},
		{number(t, "2"), number(t, "2"), "a2x a2y"},
		{number(t, "3"), nil, "a3x a3y a4x a4y"},
		{nil, number(t, "0.5"), "a0x a0y"},
		{number(t, "7"), nil, ""},
		{number(t, "3"), number(t, "1"), ""},
	} {
		r := keyspace.Partition(a, c.low, c.high)
		if got := names(tree.Ascend(r)); got != c.want {
			t.Errorf("from %v to %v: %s", c.low, c.high, got)
		}
		backward := strings.Fields(c.want)
		slices.Reverse(backward)
		if got := names(tree.Descend(r)); got != strings.Join(backward, " ") {
			t.Errorf("from %v down to %v: %s", c.high, c.low, got)
		}
	}
	r := keyspace.Partition(a, nil, nil)
	start := keyspace.NewPlace(a, number(t, "3"), "a3x")
	tree.Delete(start)
	r.Low = start.After()
	if got := names(tree.Ascend(r)); got != "a3y a4x a4y" {
		t.Errorf("after a deleted item: %s", got)
	}
	r = keyspace.Partition(a, nil, nil)
	r.High = start.Before()
	if got := names(tree.Descend(r)); got != "a2y a2x a1y a1x a0y a0x" {
		t.Errorf("before a deleted item: %s", got)
	}
}

func TestTreeReplacesAndDeletes(t *testing.T) {
	t.Parallel()
	tree, place := keyspace.NewTree(), keyspace.NewPlace(attribute.String("a"), nil, "a")
	if old := tree.Set(place, named("one")); old != nil {
		t.Errorf("replaced %v", old)
	}
	if old := tree.Set(place, named("two")); old["name"] != attribute.String("one") {
		t.Errorf("replaced %v", old)
	}
	if got := tree.Get(place); got["name"] != attribute.String("two") || tree.Len() != 1 {
		t.Errorf("got %v of %d", got, tree.Len())
	}
	if old := tree.Delete(place); old["name"] != attribute.String("two") || tree.Len() != 0 || tree.Get(place) != nil {
		t.Errorf("deleted %v", old)
	}
	if old := tree.Delete(place); old != nil {
		t.Errorf("deleted %v again", old)
	}
}
