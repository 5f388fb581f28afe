package dlq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// leastRecord is the size of a letter's record that has nothing to cut.
func leastRecord(t *testing.T, l handler.Letter) int {
	t.Helper()
	a := sendOne(t, standardURL, nil, l).MessageAttributes[dlq.AttributeName]
	return len(*a.StringValue)
}

func TestRoomToTheByte(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	overhead := len(dlq.AttributeName) + len("String")
	least := leastRecord(t, letterOf(message("m", "x", nil)))
	tests := map[string]struct {
		body   int
		record bool
	}{
		"just fits":         {limit - overhead - least, true},
		"a byte too many":   {limit - overhead - least + 1, false},
		"no room at all":    {limit, false},
		"name would fit":    {limit - overhead, false},
		"plenty of it left": {1, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sendOne(t, standardURL, nil, letterOf(message("m", strings.Repeat("x", tt.body), nil)))
			if _, ok := recordOf(t, got); ok != tt.record {
				t.Errorf("record there: %v, want %v", ok, tt.record)
			}
			if name == "just fits" && size(got) != limit {
				t.Errorf("size %d, want all of %d", size(got), limit)
			}
		})
	}
}

func TestMaxMessageBytes(t *testing.T) {
	t.Parallel()
	l := letterOf(message("m", strings.Repeat("x", 200<<10), nil))
	l.Failure.Stack = strings.Repeat("frame\n", 20<<10)
	for name, tt := range map[string]struct {
		options *dlq.Options
		most    int
	}{
		"zero":         {&dlq.Options{}, 1 << 20},
		"an old queue": {&dlq.Options{MaxMessageBytes: 256 << 10}, 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sendOne(t, standardURL, tt.options, l)
			if n := size(got); n > tt.most {
				t.Errorf("size %d, want at most %d", n, tt.most)
			}
			if r, ok := recordOf(t, got); !ok || !r.Cut || r.Stack == "" {
				t.Errorf("record there: %v, cut: %v; want a part of the stack", ok, r.Cut)
			}
		})
	}
}

func TestARecordIsBoundedWhateverTheRoom(t *testing.T) {
	t.Parallel()
	l := letterOf(message("m", "x", nil))
	l.Failure.Message = strings.Repeat("<html>", 100<<10)
	got := sendOne(t, standardURL, nil, l)
	if n := size(got); n > 65<<10 {
		t.Errorf("a letter of one byte takes %d bytes", n)
	}
}

// full gives ten attributes, a0 with the shortest value.
func full() map[string]string {
	attributes := map[string]string{}
	for i := range 10 {
		attributes[fmt.Sprint("a", i)] = strings.Repeat("v", i+1)
	}
	return attributes
}

func TestTheShortestOfTenAttributesMovesIntoTheRecord(t *testing.T) {
	t.Parallel()
	got := sendOne(t, standardURL, nil, letterOf(message("m", "x", full())))
	r, ok := recordOf(t, got)
	if !ok || len(got.MessageAttributes) != 10 {
		t.Fatalf("record there: %v, with %d attributes", ok, len(got.MessageAttributes))
	}
	if a, displaced := r.Displaced["a0"]; len(r.Displaced) != 1 || !displaced || *a.Value != "v" || a.Type != "String" {
		t.Errorf("displaced %v, want a0", r.Displaced)
	}
	if _, still := got.MessageAttributes["a0"]; still {
		t.Errorf("a0 is there twice")
	}
}

func TestTenAttributesAndNoRoomGoWithoutRecord(t *testing.T) {
	t.Parallel()
	attributes := full()
	taken := 0
	for name, value := range attributes {
		taken += len(name) + len("String") + len(value)
	}
	got := sendOne(t, standardURL, nil, letterOf(message("m", strings.Repeat("x", 1<<20-taken), attributes)))
	if len(got.MessageAttributes) != 10 || size(got) != 1<<20 {
		t.Errorf("%d attributes and %d bytes arrived, want all", len(got.MessageAttributes), size(got))
	}
	for name, value := range attributes {
		if a := got.MessageAttributes[name]; aws.ToString(a.StringValue) != value {
			t.Errorf("attribute %s changed", name)
		}
	}
}

func TestAttributesThatSQSRefusesTravelInTheRecord(t *testing.T) {
	t.Parallel()
	m := message("m", "x", map[string]string{"empty": "", "fine": "v"})
	m.MessageAttributes["absent"] = events.SQSMessageAttribute{DataType: "String"}
	m.MessageAttributes["bytes"] = events.SQSMessageAttribute{DataType: "Binary"}
	m.MessageAttributes["typeless"] = events.SQSMessageAttribute{StringValue: aws.String("v")}
	got := sendOne(t, standardURL, nil, letterOf(m))
	if len(got.MessageAttributes) != 2 {
		t.Errorf("attributes %v, want fine and the record", got.MessageAttributes)
	}
	r, _ := recordOf(t, got)
	for _, name := range []string{"empty", "absent", "bytes", "typeless"} {
		if _, ok := r.Displaced[name]; !ok {
			t.Errorf("%s is lost", name)
		}
	}
	if v := r.Displaced["empty"].Value; v == nil || *v != "" || r.Displaced["absent"].Value != nil {
		t.Errorf("an empty value and an absent one are not told apart: %v", r.Displaced)
	}
}

func TestANumberThatJSONDoesNotKnowCostsTheRecordNotTheLetter(t *testing.T) {
	t.Parallel()
	l := letterOf(message("m", "x", nil))
	nan := 0.0
	nan /= nan
	l.Failure.History = l.Failure.History.Append(handler.Attempt{Number: 1, DelaySeconds: nan})
	if _, ok := recordOf(t, sendOne(t, standardURL, nil, l)); ok {
		t.Error("NaN was encoded")
	}
}
