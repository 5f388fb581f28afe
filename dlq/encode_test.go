package dlq_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// large is a record whose parts are all worth cutting.
func large() dlq.Record {
	f := handler.Failure{
		Class: "permanent", Reason: "panic", Rule: "panic", Key: "charge:ch-1",
		Types: []string{"*main.first", "*main.second"}, Message: strings.Repeat("message ", 20),
		Stack: strings.Repeat("main.charge\n\tcharge.go:41\n", 20),
	}
	for n := range 10 {
		f.History = f.History.Append(handler.Attempt{Number: n + 1, Message: "attempt"})
	}
	return dlq.Record{Version: dlq.Version, MessageID: "m-1", Failure: f}
}

func encode(t *testing.T, r dlq.Record, limit int) (string, dlq.Record) {
	t.Helper()
	s, err := r.Encode(limit)
	if err != nil {
		t.Fatal(err)
	}
	if len(s) > limit {
		t.Fatalf("%d bytes, want at most %d", len(s), limit)
	}
	back, err := dlq.Decode(s)
	if err != nil {
		t.Fatalf("not decoded: %v\n%s", err, s)
	}
	return s, back
}

func TestARecordThatFitsIsNotCut(t *testing.T) {
	t.Parallel()
	s, whole := encode(t, large(), 1<<20)
	if diff := cmp.Diff(large(), whole); diff != "" {
		t.Errorf("record changed (-want +got):\n%s", diff)
	}
	if _, exact := encode(t, large(), len(s)); exact.Cut {
		t.Errorf("cut although it fits to the byte")
	}
	if _, short := encode(t, large(), len(s)-1); !short.Cut {
		t.Errorf("not cut although a byte is missing")
	}
}

func TestStackGivesWayFirstThenHistoryThenMessageThenTypes(t *testing.T) {
	t.Parallel()
	whole, _ := encode(t, large(), 1<<20)
	seen := map[string]bool{}
	for limit := len(whole) - 1; ; limit -= 3 {
		s, err := large().Encode(limit)
		if errors.Is(err, dlq.ErrTooLarge) {
			break
		}
		if err != nil || len(s) > limit {
			t.Fatalf("limit %d: %d bytes, error %v", limit, len(s), err)
		}
		r, err := dlq.Decode(s)
		if err != nil || !r.Cut || r.Key != "charge:ch-1" || r.Runs() != 10 {
			t.Fatalf("limit %d: %s: %v", limit, s, err)
		}
		seen[cutParts(t, r)] = true
	}
	want := map[string]bool{
		"stack": true, "all stack": true, "all stack, history": true, "all stack, all history": true,
		"all stack, all history, message": true, "all stack, all history, all message": true,
		"all stack, all history, all message, types":     true,
		"all stack, all history, all message, all types": true,
	}
	for parts := range seen {
		if !want[parts] {
			t.Errorf("cut out of order: %s", parts)
		}
	}
	if !seen["stack"] || !seen["all stack, history"] || !seen["all stack, all history, message"] ||
		!seen["all stack, all history, all message, types"] {
		t.Errorf("a part was never cut in part: %v", seen)
	}
}

// cutParts tells what of the large record is missing.
func cutParts(t *testing.T, r dlq.Record) string {
	t.Helper()
	whole := large()
	if !strings.HasPrefix(whole.Stack, r.Stack) || !strings.HasPrefix(whole.Message, r.Message) {
		t.Fatalf("not the beginning is kept: %q, %q", r.Stack, r.Message)
	}
	var parts []string
	for _, part := range []struct {
		name        string
		kept, whole int
	}{
		{"stack", len(r.Stack), len(whole.Stack)},
		{"history", len(r.History.Attempts), len(whole.History.Attempts)},
		{"message", len(r.Message), len(whole.Message)},
		{"types", len(r.Types), len(whole.Types)},
	} {
		switch part.kept {
		case part.whole:
		case 0:
			parts = append(parts, "all "+part.name)
		default:
			parts = append(parts, part.name)
		}
	}
	return strings.Join(parts, ", ")
}

func TestHistoryIsCutFromItsMiddle(t *testing.T) {
	t.Parallel()
	r := large()
	r.Stack = ""
	r.History.Dropped = 2
	whole, _ := encode(t, r, 1<<20)
	_, got := encode(t, r, len(whole)-220)
	var numbers []int
	for _, a := range got.History.Attempts {
		numbers = append(numbers, a.Number)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 8, 9, 10}, numbers); diff != "" {
		t.Errorf("attempts kept (-want +got):\n%s", diff)
	}
	if got.History.Dropped != 6 || got.Runs() != 12 {
		t.Errorf("dropped %d of %d, want the 2 from before and 4 of 12", got.History.Dropped, got.Runs())
	}
}

func TestTextIsCleanedAndTheKeyComesBackExactly(t *testing.T) {
	t.Parallel()
	const dirty = "a\x00b\x1b[31m\ufffe\uffff\x7f<é>\xff\t"
	const cleaned = "a\ufffdb\ufffd[31m\ufffd\ufffd\x7f<é>\ufffd\t"
	r := dlq.Record{MessageID: "m-1", Failure: handler.Failure{
		Key: "k\x00\uffff\u2028", Class: dirty, Reason: dirty, Rule: dirty, Message: dirty, Stack: dirty,
		Types: []string{dirty}, History: handler.History{Attempts: []handler.Attempt{{Message: dirty, Reason: dirty}}},
	}}
	s, got := encode(t, r, 1<<20)
	if err := illegalText(s); err != nil {
		t.Error(err)
	}
	want := dlq.Record{Version: dlq.Version, MessageID: "m-1", Failure: handler.Failure{
		Key: r.Key, Class: cleaned, Reason: cleaned, Rule: cleaned, Message: cleaned, Stack: cleaned,
		Types: []string{cleaned}, History: handler.History{Attempts: []handler.Attempt{{Message: cleaned, Reason: cleaned}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
	if r.Types[0] != dirty || r.History.Attempts[0].Message != dirty {
		t.Error("Encode changed what it was given")
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 64<<10+1)
	lastEpoch := dlq.Record{Version: 1, MessageID: "m", Failure: handler.Failure{Epoch: 1_000_000}}
	tests := map[string]struct {
		in   string
		want dlq.Record
		bad  bool
	}{
		"least":          {in: `{"version":1,"messageId":"m"}`, want: dlq.Record{Version: 1, MessageID: "m"}},
		"unknown member": {in: `{"version":1,"messageId":"m","x":{}}`, want: dlq.Record{Version: 1, MessageID: "m"}},
		"unreadable time": {
			in:   `{"version":1,"sent":"yesterday","lastFailure":7,"messageId":"m"}`,
			want: dlq.Record{Version: 1, MessageID: "m"},
		},
		"later version, other types": {
			in: `{"version":9,"history":"in S3","stack":["f"],"messageId":"m","key":"k","epoch":4,"verdict":true}`,
			want: dlq.Record{
				Version: 9, MessageID: "m", Failure: handler.Failure{Key: "k", Epoch: 4, Verdict: true},
			},
		},
		"other types in this version": {in: `{"version":1,"messageId":"m","stack":["f"]}`, bad: true},
		"empty":                       {in: "", bad: true},
		"no JSON":                     {in: "true story", bad: true},
		"cut short":                   {in: `{"version":1,"messageId":"m"`, bad: true},
		"trailing":                    {in: `{"version":2,"messageId":"m"} x`, bad: true},
		"null":                        {in: "null", bad: true},
		"no object":                   {in: `["version",1]`, bad: true},
		"of another":                  {in: `{"id":"7"}`, bad: true},
		"version 0":                   {in: `{"version":0,"messageId":"m"}`, bad: true},
		"no message id":               {in: `{"version":1}`, bad: true},
		"epoch below 0":               {in: `{"version":1,"messageId":"m","epoch":-1}`, bad: true},
		"last epoch":                  {in: `{"version":1,"messageId":"m","epoch":1000000}`, want: lastEpoch},
		"epoch beyond it":             {in: `{"version":1,"messageId":"m","epoch":1000001}`, bad: true},
		"epoch at the end of int64":   {in: `{"version":1,"messageId":"m","epoch":9223372036854775807}`, bad: true},
		"epoch beyond int64":          {in: `{"version":1,"messageId":"m","epoch":9223372036854775808}`, bad: true},
		"that in a later version":     {in: `{"version":2,"messageId":"m","epoch":9223372036854775808}`, bad: true},
		"epoch with an exponent":      {in: `{"version":2,"messageId":"m","epoch":1e3}`, bad: true},
		"attempts below 0":            {in: `{"version":1,"messageId":"m","attempts":-1}`, bad: true},
		"very many attempts":          {in: `{"version":1,"messageId":"m","attempts":1000001}`, bad: true},
		"dropped below 0":             {in: `{"version":1,"messageId":"m","dropped":-1}`, bad: true},
		"very many dropped":           {in: `{"version":1,"messageId":"m","dropped":9223372036854775807}`, bad: true},
		"run below 1":                 {in: `{"version":1,"messageId":"m","history":[{"n":-1}]}`, bad: true},
		"delay below 0":               {in: `{"version":1,"messageId":"m","history":[{"delaySeconds":-1}]}`, bad: true},
		"delay of years":              {in: `{"version":1,"messageId":"m","history":[{"delaySeconds":1e300}]}`, bad: true},
		"a message id of anything":    {in: `{"version":1,"messageId":"` + strings.Repeat("m", 101) + `"}`, bad: true},
		"a key beyond a record":       {in: `{"version":1,"messageId":"m","key":"` + long + `"}`, bad: true},
		"times out of range": {
			in:   `{"version":1,"messageId":"m","firstFailure":"0000-01-01T00:00:00Z","lastFailure":"99999-01-01T00:00:00Z"}`,
			want: dlq.Record{Version: 1, MessageID: "m"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := dlq.Decode(tt.in)
			if (err != nil) != tt.bad {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("record differs (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "record.golden.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(golden), 1<<20)
	f.Add(string(golden), 500)
	f.Add(`{"version":2,"messageId":"m","epoch":1,"stack":"\u0000\uffff\ud800"}`, 90)
	f.Add(`{"version":1,"messageId":"m","sent":"0000-01-01T00:00:00+23:59","history":[{"delaySeconds":1e3}]}`, 200)
	for _, n := range []string{"9223372036854775807", "-1", "1e400", "1e6", "0.5"} {
		f.Add(fmt.Sprintf(`{"version":1,"messageId":"m","key":"k","epoch":%s,"attempts":%s}`, n, n), 100)
		f.Add(fmt.Sprintf(`{"version":%s,"messageId":"m","history":[{"n":%s,"delaySeconds":%s}]}`, n, n, n), -1)
	}
	f.Fuzz(func(t *testing.T, in string, limit int) {
		read, err := dlq.Decode(in)
		if err != nil {
			return
		}
		first, err := read.Encode(1 << 30)
		if err != nil {
			t.Fatalf("what was decoded is not encoded: %v", err)
		}
		again, err := dlq.Decode(first)
		if err != nil {
			t.Fatalf("%v: %s", err, first)
		}
		if second, err := again.Encode(1 << 30); err != nil || second != first {
			t.Fatalf("not stable: %v\n%s\n%s", err, first, second)
		}
		if again.Key != read.Key || again.Epoch != read.Epoch || again.MessageID != read.MessageID {
			t.Fatalf("the job's name changed: %s", first)
		}
		cut, err := read.Encode(limit)
		if err != nil {
			return
		}
		if len(cut) > limit || !json.Valid([]byte(cut)) || illegalText(cut) != nil {
			t.Fatalf("limit %d: %d bytes, %v: %s", limit, len(cut), illegalText(cut), cut)
		}
	})
}
