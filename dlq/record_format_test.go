package dlq_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// oldRecord, oldAttempt, oldAttribute and oldTime are the types with which the
// version of 30 November 2026 reads and writes records.
type oldRecord struct {
	Version         int                     `json:"version"`
	Class           string                  `json:"class"`
	Reason          string                  `json:"reason"`
	Rule            string                  `json:"rule"`
	Message         string                  `json:"message,omitempty"`
	Types           []string                `json:"types,omitempty"`
	Fingerprint     string                  `json:"fingerprint,omitempty"`
	Key             string                  `json:"key,omitempty"`
	Epoch           int                     `json:"epoch"`
	Verdict         bool                    `json:"verdict"`
	Attempts        int                     `json:"attempts"`
	First           oldTime                 `json:"firstFailure,omitzero"`
	Last            oldTime                 `json:"lastFailure,omitzero"`
	Sent            oldTime                 `json:"sent,omitzero"`
	MessageID       string                  `json:"messageId"`
	DeliveredID     string                  `json:"deliveredMessageId,omitempty"`
	Source          string                  `json:"sourceQueueArn,omitempty"`
	Group           string                  `json:"group,omitempty"`
	DeduplicationID string                  `json:"deduplicationId,omitempty"`
	SequenceNumber  string                  `json:"sequenceNumber,omitempty"`
	Function        string                  `json:"function,omitempty"`
	FunctionVersion string                  `json:"functionVersion,omitempty"`
	RequestID       string                  `json:"requestId,omitempty"`
	History         []oldAttempt            `json:"history,omitempty"`
	Dropped         int                     `json:"dropped,omitempty"`
	Stack           string                  `json:"stack,omitempty"`
	Cut             bool                    `json:"cut,omitempty"`
	Displaced       map[string]oldAttribute `json:"displaced,omitempty"`
}

type oldAttempt struct {
	Number       int     `json:"n"`
	Start        oldTime `json:"start,omitzero"`
	End          oldTime `json:"end,omitzero"`
	Class        string  `json:"class"`
	Reason       string  `json:"reason"`
	Rule         string  `json:"rule"`
	Message      string  `json:"message,omitempty"`
	DelaySeconds float64 `json:"delaySeconds,omitempty"`
	RequestID    string  `json:"requestId,omitempty"`
}

type oldAttribute struct {
	Type   string  `json:"type"`
	Value  *string `json:"value,omitempty"`
	Binary []byte  `json:"binary,omitempty"`
}

type oldTime struct{ time.Time }

func (t oldTime) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

func (t *oldTime) UnmarshalJSON(data []byte) error {
	var s string
	_ = json.Unmarshal(data, &s)
	parsed, _ := time.Parse(time.RFC3339Nano, s)
	t.Time = parsed.UTC().Truncate(time.Millisecond)
	return nil
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(data), "\n")
}

// recordOfExhausted is the record of the letter that the fixtures are of.
func recordOfExhausted() dlq.Record {
	l := exhausted()
	return dlq.Record{
		Version: 1, Failure: l.Failure, Sent: handler.NewTimestamp(l.Message.SentAt()),
		MessageID: l.Message.MessageId, Source: chargeARN, Group: "tenant-1", DeduplicationID: "ch-6",
		SequenceNumber: "18849496460467696128", Function: "charge", FunctionVersion: "7", RequestID: "8f1c2d3e",
		Displaced: map[string]dlq.Attribute{"a0": {Type: "String", Value: &[]string{"v"}[0]}},
	}
}

func TestRecordsOfTheVersionBeforeAreRead(t *testing.T) {
	t.Parallel()
	whole := recordOfExhausted()
	cut := recordOfExhausted()
	cut.MessageID, cut.DeliveredID = "059f36b4-e1a2-4f0c-9a54-2d6c3c1f7a10", whole.MessageID
	cut.Stack, cut.Cut = "", true
	for n := range 3 {
		a := whole.History.Attempts[0]
		a.Number = n + 21
		cut.History.Attempts = append(cut.History.Attempts, a)
	}
	cut.History.Dropped = 17
	cut.Displaced["a1"] = dlq.Attribute{Type: "String", Value: &[]string{"vv"}[0]}
	cut.Displaced["empty"] = dlq.Attribute{Type: "String"}
	for name, want := range map[string]dlq.Record{"record.before-runs.json": whole, "record.before-runs.cut.json": cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := dlq.Decode(fixture(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
	if whole.Runs() != 3 || cut.Runs() != 23 {
		t.Errorf("%d and %d runs, want 3 and 23", whole.Runs(), cut.Runs())
	}
}

// What this version writes is what the version before wrote, and runs beside it.
func TestTheVersionBeforeReadsARecord(t *testing.T) {
	t.Parallel()
	whole, err := recordOfExhausted().Encode(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for name, limit := range map[string]int{"whole": 1 << 20, "cut": len(whole) - 400} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written, err := recordOfExhausted().Encode(limit)
			if err != nil {
				t.Fatal(err)
			}
			var old oldRecord
			if err := json.Unmarshal([]byte(written), &old); err != nil {
				t.Fatalf("the version before cannot read it: %v\n%s", err, written)
			}
			if limit < len(whole) && (!old.Cut || old.Dropped == 0 || len(old.History)+old.Dropped != 3) {
				t.Errorf("history %v, %d dropped, cut %v", old.History, old.Dropped, old.Cut)
			}
			again, err := json.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			want, err := dlq.Decode(written)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dlq.Decode(string(again))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after both versions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunsAndBudgetAreTwoNumbers(t *testing.T) {
	t.Parallel()
	f := handler.Failure{Class: "permanent", Reason: "declined"}
	f.History = f.History.Append(handler.Attempt{Number: 1, Class: "permanent", Reason: "declined"})
	r := dlq.Record{MessageID: "m-1", Failure: f}
	s, _ := encode(t, r, 1<<20)
	if !strings.Contains(s, `"attempts":0,`) || !strings.Contains(s, `"runs":1,`) {
		t.Errorf("a job that died at once has the record %s", s)
	}
	// Other encoders write the same.
	for name, value := range map[string]any{"value": r, "pointer": &r, "member": map[string]dlq.Record{"r": r}} {
		got, err := json.Marshal(value)
		if err != nil || !strings.Contains(string(got), `"runs":1,"history":[{"n":1,`) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	var back dlq.Record
	if err := json.Unmarshal([]byte(s), &back); err != nil || back.Runs() != 1 || back.Attempts != 0 {
		t.Errorf("%d runs, budget used %d, %v; want 1 and 0", back.Runs(), back.Attempts, err)
	}
}
