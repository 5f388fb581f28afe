package protocol_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func TestTimestamp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want time.Time
	}{
		{"0", time.Unix(0, 0)},
		{"1700000000", time.Unix(1_700_000_000, 0)},
		{"1700000000.123", time.UnixMilli(1_700_000_000_123)},
		{"1.7e9", time.Unix(1_700_000_000, 0)},
		{"-1.5", time.UnixMilli(-1500)},
	} {
		var got protocol.Timestamp
		if err := json.Unmarshal([]byte(tt.text), &got); err != nil || !got.Equal(tt.want) {
			t.Errorf("%s: got %v (%v), want %v", tt.text, got, err, tt.want)
		}
		text, err := json.Marshal(got)
		var again protocol.Timestamp
		if err != nil || json.Unmarshal(text, &again) != nil || !again.Equal(tt.want) {
			t.Errorf("%s: written as %s (%v)", tt.text, text, err)
		}
	}
	for _, text := range []string{`"2023-01-01T00:00:00Z"`, `{}`} {
		if err := json.Unmarshal([]byte(text), new(protocol.Timestamp)); err == nil {
			t.Errorf("%s: read as a timestamp", text)
		}
	}
}

func TestDouble(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"1": 1, "-0.5": -0.5, "1e300": 1e300, `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1),
	} {
		var got protocol.Double
		if err := json.Unmarshal([]byte(text), &got); err != nil || float64(got) != want {
			t.Errorf("%s: got %v (%v)", text, got, err)
		}
	}
	var got protocol.Double
	if err := json.Unmarshal([]byte(`"NaN"`), &got); err != nil || !math.IsNaN(float64(got)) {
		t.Errorf("NaN: got %v (%v)", got, err)
	}
	if err := json.Unmarshal([]byte(`"1"`), &got); err == nil {
		t.Error("a text was read as a number")
	}
}
