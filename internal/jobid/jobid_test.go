package jobid_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/internal/jobid"
)

func TestItemID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 513)
	for key, want := range map[string]string{
		"ch-1":     "charges#ch-1",
		"tenant#7": "charges#tenant#7",
		"#":        "charges##",
		"zoë\n":    "charges#zoë\n",
		long[1:]:   "charges#" + long[1:],
		long:       "charges#sha256:45a7c7ef95c3417e800362f5672aba16da807261fe7121f3a81b0a0fb6b9a05c",
	} {
		if got := jobid.Of("charges", key); got != want {
			t.Errorf("id of %q is %q, want %q", key, got, want)
		}
	}
}

func TestAKeyThatLooksLikeAHashIsNoneOfTheHashedOnes(t *testing.T) {
	t.Parallel()
	id := jobid.Of("charges", strings.Repeat("k", 513))
	_, alike, _ := strings.Cut(id, "#")
	if other := jobid.Of("charges", alike); other == id || len(other) != len(id) {
		t.Errorf("ids are %q and %q", id, other)
	}
}

func FuzzItemID(f *testing.F) {
	long := strings.Repeat("k", 600)
	for _, pair := range [][2]string{
		{"a", "a#b"}, {"#", "##"}, {long, long + "k"}, {long, jobid.Of("", long)[len("#"):]}, {"é", "e\u0301"},
	} {
		f.Add("charges", pair[0], "charges", pair[1])
		f.Add("charges", pair[0], "emails", pair[1])
	}
	f.Fuzz(func(t *testing.T, queue1, key1, queue2, key2 string) {
		// SQS has no such queues, and the middleware refuses such keys.
		if strings.Contains(queue1+queue2, "#") || key1 == "" || key2 == "" || !utf8.ValidString(key1+"\x00"+key2) {
			return
		}
		id1, id2 := jobid.Of(queue1, key1), jobid.Of(queue2, key2)
		if same := queue1 == queue2 && key1 == key2; (id1 == id2) != same {
			t.Fatalf("the ids of %q in %q and %q in %q are %q and %q", key1, queue1, key2, queue2, id1, id2)
		}
		const room = 2048 // of a partition key in DynamoDB
		if len(id1) > len(queue1)+room/2 || utf8.ValidString(queue1) && !utf8.ValidString(id1) {
			t.Fatalf("id %q is not what a store can keep", id1)
		}
	})
}
