package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

func ExampleRequest_Decode() {
	r := &protocol.Request{Operation: "SendMessage", Body: []byte(`{"MessageBody": 7}`)}
	var in struct{ MessageBody string }
	err := r.Decode(&in)
	var refusal *protocol.Error
	fmt.Println(errors.As(err, &refusal), refusal.Code)
	// Output: true SerializationException
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, refusal string }{
		{"object", `{"Name":"a"}`, ""},
		{"unknown member", `{"Name":"a","Other":1}`, "Other of Op"},
		{"empty", ``, "Op: "},
		{"cut", `{"Name":`, "Op: "},
		{"other type", `{"Name":1}`, "Op: "},
		{"not UTF-8", "{\"Name\":\"\xff\"}", "not valid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var in struct{ Name string }
			err := (&protocol.Request{Operation: "Op", Body: []byte(tt.body)}).Decode(&in)
			if tt.refusal == "" {
				if err != nil || in.Name != "a" {
					t.Fatalf("got %q, %v", in.Name, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.refusal) {
				t.Fatalf("got %v, want a refusal with %q", err, tt.refusal)
			}
		})
	}
}

func TestSystemClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock protocol.SystemClock
		start, fired := clock.Now(), make(chan time.Time, 1)
		clock.AfterFunc(time.Hour, func() { fired <- clock.Now() })
		if got := (<-fired).Sub(start); got != time.Hour {
			t.Errorf("fired after %s", got)
		}
		stop := clock.AfterFunc(time.Hour, func() { t.Error("fired though stopped") })
		if !stop() || stop() {
			t.Error("stop tells the first time only that it stopped the timer")
		}
		<-time.After(2 * time.Hour)
	})
}
