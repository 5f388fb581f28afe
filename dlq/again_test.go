package dlq_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqssend"
	"github.com/sqsafe/sqsafe/queue"
)

// grouped gives letters with these bodies, such as "a0": the first of group a.
func grouped(bodies ...string) []handler.Letter {
	out := make([]handler.Letter, len(bodies))
	for i, body := range bodies {
		m := message(fmt.Sprint("m-", i), body, nil)
		m.Attributes = map[string]string{"MessageGroupId": body[:1]}
		out[i] = letterOf(m)
	}
	return out
}

// bodies are those of what arrived, in order.
func (f *fakeQueue) bodies() []string {
	out := []string{}
	for _, e := range f.arrived {
		out = append(out, *e.MessageBody)
	}
	return out
}

func TestALetterThatSQSFailsIsSentAgain(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int][]string{1: {"a0", "a1", "a2"}, 2: {"a0", "a1", "a2"}, 3: {"a0", "a2"}} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := &fakeQueue{fails: map[string]int{"a1": failures}}
				sent := send(t.Context(), t, api, standardURL, nil, grouped("a0", "a1", "a2")...)
				arrived := slices.Sorted(slices.Values(api.bodies()))
				if diff := cmp.Diff(want, arrived); diff != "" {
					t.Errorf("arrived (-want +got):\n%s", diff)
				}
				if _, failed := errors.AsType[*queue.EntryError](sent[1].Answer()); failed != (failures == 3) {
					t.Errorf("a1: %v", sent[1].Answer())
				}
				for _, i := range []int{0, 2} {
					if err := sent[i].Answer(); err != nil {
						t.Errorf("letter %d: %v", i, err)
					}
				}
			})
		})
	}
}

func TestNoLetterOvertakesOneOfItsGroup(t *testing.T) {
	t.Parallel()
	invalid := types.BatchResultErrorEntry{Code: aws.String("InvalidMessageContents"), SenderFault: true}
	down := errors.New("connection refused")
	tests := map[string]struct {
		api  *fakeQueue
		want string
		held string
	}{
		"all arrive":         {&fakeQueue{}, "a0 b0 a1 b1 a2", ""},
		"the first fails":    {&fakeQueue{fails: map[string]int{"a0": 1}}, "b0 a0 a1 b1 a2", ""},
		"it fails for ever":  {&fakeQueue{fails: map[string]int{"a0": 9}}, "b0 b1", "a1 a2"},
		"the second fails":   {&fakeQueue{fails: map[string]int{"a1": 9}}, "a0 b0 b1", "a2"},
		"it is refused":      {&fakeQueue{refuse: map[string]types.BatchResultErrorEntry{"a0": invalid}}, "b0 b1", "a1 a2"},
		"it is not answered": {&fakeQueue{silent: map[string]bool{"a0": true}}, "b0 b1", "a1 a2"},
		"its call fails":     {&fakeQueue{callErr: map[string]error{"a0": down}}, "", "a1 b1 a2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := send(t.Context(), t, tt.api, fifoURL, nil, grouped("a0", "b0", "a1", "b1", "a2")...)
				if got := strings.Join(tt.api.bodies(), " "); got != tt.want {
					t.Errorf("arrived %q, want %q", got, tt.want)
				}
				var held []string
				for _, l := range sent {
					if err := l.Answer(); err != nil && errors.Is(err, sqssend.ErrNotTried) {
						held = append(held, l.Message.Body)
					}
					if arrived := slices.Contains(tt.api.bodies(), l.Message.Body); arrived != (l.Answer() == nil) {
						t.Errorf("%s arrived: %v, answer %v", l.Message.Body, arrived, l.Answer())
					}
				}
				if got := strings.Join(held, " "); got != tt.held {
					t.Errorf("held back %q, want %q", got, tt.held)
				}
			})
		})
	}
}

// Whatever fails how often, the letters of a group arrive in their order, none
// without those before it, and none twice.
func TestFIFOGroupsArriveInOrderWhateverFails(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var bodies []string
		next := map[string]int{}
		api := &fakeQueue{fails: map[string]int{}, silent: map[string]bool{}, callErr: map[string]error{}}
		for range rapid.IntRange(0, 30).Draw(rt, "letters") {
			group := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "group")
			body := fmt.Sprintf("%s%02d", group, next[group])
			next[group]++
			bodies = append(bodies, body)
			switch rapid.IntRange(0, 9).Draw(rt, "fate") {
			case 0, 1:
				api.fails[body] = rapid.IntRange(1, 4).Draw(rt, "failures")
			case 2:
				api.callErr[body] = errors.New("down")
			}
		}
		synctest.Test(t, func(t *testing.T) {
			sent := send(t.Context(), t, api, fifoURL, nil, grouped(bodies...)...)
			arrived := map[string]int{}
			for _, body := range api.bodies() {
				if want := fmt.Sprintf("%s%02d", body[:1], arrived[body[:1]]); body != want {
					rt.Fatalf("%s arrived in the place of %s: %v", body, want, api.bodies())
				}
				arrived[body[:1]]++
			}
			for _, l := range sent {
				if l.Answer() == nil && !slices.Contains(api.bodies(), l.Message.Body) {
					rt.Fatalf("%s is confirmed and has not arrived", l.Message.Body)
				}
			}
		})
	})
}
