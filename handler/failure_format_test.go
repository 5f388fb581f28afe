package handler_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// oldAttempt, oldHistory and oldFailure are the types with which the version of
// 30 November 2026 reads and writes the ledger.
type oldAttempt struct {
	Number       int       `json:"n"`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	Class        string    `json:"class"`
	Reason       string    `json:"reason"`
	Rule         string    `json:"rule"`
	Message      string    `json:"message,omitempty"`
	DelaySeconds float64   `json:"delaySeconds,omitempty"`
	RequestID    string    `json:"requestId,omitempty"`
}

type oldHistory struct {
	Attempts []oldAttempt `json:"attempts,omitempty"`
	Dropped  int          `json:"dropped,omitempty"`
}

type oldFailure struct {
	Class       string     `json:"class"`
	Reason      string     `json:"reason"`
	Rule        string     `json:"rule"`
	Types       []string   `json:"types,omitempty"`
	Message     string     `json:"message,omitempty"`
	Stack       string     `json:"stack,omitempty"`
	Fingerprint string     `json:"fingerprint,omitempty"`
	Key         string     `json:"key,omitempty"`
	Epoch       int        `json:"epoch"`
	Verdict     bool       `json:"verdict"`
	Attempts    int        `json:"attempts"`
	History     oldHistory `json:"history"`
	First       time.Time  `json:"firstFailure"`
	Last        time.Time  `json:"lastFailure"`
}

const formatRefused = `Post "https://pay.example/charges": dial tcp 10.0.0.7:443: connect: connection refused`

// formatAt is a time of the fixture, to the nanosecond as it was written there.
func formatAt(second int) time.Time {
	return time.Date(2026, 11, 30, 18, 0, second, 120_456_789, time.UTC)
}

// fixture is the verdict in testdata as this version has it.
func fixture() handler.Failure {
	f := handler.Failure{
		Class: "retryable", Reason: "exhausted", Rule: "net.refused", Message: formatRefused,
		Types:       []string{"*url.Error", "*net.OpError", "*os.SyscallError", "syscall.Errno"},
		Fingerprint: "b1946ac92492", Key: "ch-6 <é>", Epoch: 1, Verdict: true, Attempts: 8,
		First: handler.NewTimestamp(formatAt(1)), Last: handler.NewTimestamp(formatAt(39)),
		Stack: "main.charge\n\tcharge.go:41\nmain.main\n\tmain.go:12\n",
	}
	for n := range 20 {
		a := handler.Attempt{
			Number: n + 1, Start: handler.NewTimestamp(formatAt(n * 2)), End: handler.NewTimestamp(formatAt(n*2 + 1)),
			Class: "retryable", Reason: "network", Rule: "net.refused", Message: formatRefused,
			DelaySeconds: 1.25, RequestID: "8f1c2d3e",
		}
		if n == 19 {
			a.DelaySeconds = 0
		}
		f.History = f.History.Append(a)
	}
	return f
}

func TestAVerdictOfTheVersionBeforeIsRead(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile(filepath.Join("testdata", "verdict.before-runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got handler.Failure
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fixture(), got); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
	if got.Runs() != 20 {
		t.Errorf("%d runs, want 20", got.Runs())
	}
}

func TestTheVersionBeforeReadsAVerdict(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]handler.Failure{"full": fixture(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			var old oldFailure
			if err := json.Unmarshal(written, &old); err != nil {
				t.Fatalf("the version before cannot read it: %v\n%s", err, written)
			}
			if !old.Last.Equal(f.Last.Time) || !old.First.Equal(f.First.Time) {
				t.Errorf("first %v, last %v; want %v, %v", old.First, old.Last, f.First, f.Last)
			}
			// What it writes back says the same.
			again, err := json.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			var back handler.Failure
			if err := json.Unmarshal(again, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f, back); diff != "" {
				t.Errorf("after both versions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimestampsAreInUTCAndMilliseconds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at   time.Time
		want string
	}{
		"whole second":  {time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), `"2026-03-01T08:00:00.000Z"`},
		"another zone":  {time.Date(2026, 3, 1, 9, 0, 0, 999_999, time.FixedZone("CET", 3600)), `"2026-03-01T08:00:00.000Z"`},
		"nanoseconds":   {time.Date(2026, 3, 1, 8, 0, 0, 120_999_999, time.UTC), `"2026-03-01T08:00:00.120Z"`},
		"before 1970":   {time.Date(1969, 12, 31, 23, 59, 59, 999_000_001, time.UTC), `"1969-12-31T23:59:59.999Z"`},
		"unknown":       {time.Time{}, "null"},
		"too late":      {time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "null"},
		"before year 1": {time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), "null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// One that was not made by NewTimestamp is written alike.
			for _, at := range []handler.Timestamp{handler.NewTimestamp(tt.at), {Time: tt.at}} {
				written, err := json.Marshal(at)
				if err != nil || string(written) != tt.want {
					t.Errorf("%s, %v; want %s", written, err, tt.want)
				}
				var back handler.Timestamp
				if err := json.Unmarshal(written, &back); err != nil || back != handler.NewTimestamp(tt.at) {
					t.Errorf("%v came back as %v, %v", handler.NewTimestamp(tt.at), back, err)
				}
			}
		})
	}
}

func TestATimeThatCannotBeReadIsUnknown(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`"yesterday"`, `7`, `{}`, `null`, `""`, `"2026-13-01T00:00:00Z"`} {
		at := handler.NewTimestamp(formatAt(0))
		if err := json.Unmarshal([]byte(in), &at); err != nil || !at.IsZero() {
			t.Errorf("%s is %v, %v; want the zero value", in, at, err)
		}
	}
}
