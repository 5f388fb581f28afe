package system

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// perform lets the emulator answer a call, and changes call and answer as drawn.
func (g *gate) perform(r *http.Request, c *call, f fate, body []byte) (*http.Response, error) {
	if len(c.entries) > 0 {
		if body = g.entries(c, f, body); body == nil {
			g.tell(c, true, f.failing)
			return answer(r, http.StatusOK, failedEntries(map[string]any{"Successful": []any{}}, f.failing)), nil
		}
	}
	request := r.WithContext(r.Context())
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := g.inner.Do(request)
	if err != nil {
		return nil, err
	}
	ok := response.StatusCode == http.StatusOK
	g.judge.effective(g.process, c, ok)
	if f.lost && ok {
		g.note(g.name, c.subjects, "%s: answer lost", c.name())
		return g.failed(c, f.kind, r)
	}
	failed := maps.Clone(f.failing)
	maps.Copy(failed, f.hidden)
	g.tell(c, ok, failed)
	if len(c.entries) == 0 {
		return response, nil
	}
	text, _ := io.ReadAll(response.Body)
	c.refused(text)
	if len(failed) == 0 {
		response.Body = io.NopCloser(bytes.NewReader(text))
		return response, nil
	}
	var out map[string]any
	_ = json.Unmarshal(text, &out)
	return answer(r, http.StatusOK, failedEntries(out, failed)), nil
}

// poll is a receive. The emulator would let all polls that wait go at the moment when
// messages come: here each waits for a while of its own.
func (g *gate) poll(r *http.Request, c *call, f fate) (*http.Response, error) {
	var wait int
	_ = json.Unmarshal(c.body["WaitTimeSeconds"], &wait)
	body := maps.Clone(c.body)
	body["WaitTimeSeconds"] = json.RawMessage("0")
	text, _ := json.Marshal(body)
	polling := pollingOf(r.Context())
	until := cmp.Or(polling.until, g.now()+time.Duration(wait)*time.Second)
	draws := g.seed.at("poll %d.%d of %s %s", polling.number, polling.attempts.Load(), g.name, c.message)
	for {
		// The emulator is asked only if it may have something: that is most of a history's time.
		last, changed := g.now() >= until, g.untilChange()
		if !last && !g.judge.hasVisible() {
			if err := g.comes(r.Context(), changed, until, lateness(draws)); err != nil {
				return nil, err
			}
			continue
		}
		request := r.WithContext(r.Context())
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		response, err := g.inner.Do(request)
		if err != nil {
			return nil, err
		}
		answer, _ := io.ReadAll(response.Body)
		response.Body = io.NopCloser(bytes.NewReader(answer))
		if response.StatusCode != http.StatusOK || len(answer) > len("{}") || last {
			if f.lost && response.StatusCode == http.StatusOK {
				g.note(g.name, nil, "receive: answer lost")
				return g.failed(c, f.kind, r)
			}
			return g.received(r, response)
		}
		if err := g.comes(r.Context(), changed, until, lateness(draws)); err != nil {
			return nil, err
		}
	}
}

func lateness(r *rand.Rand) time.Duration { return between(r, 10*time.Microsecond, 2*time.Millisecond) }

// untilChange is closed when a message may have become visible.
func (w *world) untilChange() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// comes waits until a message may be there, and for a while of its own.
func (g *gate) comes(ctx context.Context, changed <-chan struct{}, until, late time.Duration) error {
	g.mu.Lock()
	next := min(until, g.judge.nextDue())
	g.mu.Unlock()
	timer := time.NewTimer(next - g.now())
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	case <-g.life.Done():
	}
	return g.sleep(ctx, late, "poll")
}

// tell writes a call into the journal, unless the queue or the judge does.
func (g *gate) tell(c *call, ok bool, failed map[string]bool) {
	var not []string
	c.verdicts = map[string]bool{}
	for i, id := range c.entries {
		c.verdicts[id] = ok && !failed[id]
		switch {
		case failed[id]:
			not = append(not, c.subjects[i])
		case ok && c.operation == "send":
			c.arrived = append(c.arrived, c.subjects[i])
		}
	}
	slices.Sort(not)
	how := ""
	if !ok {
		how = " refused by AWS"
	}
	if len(not) > 0 {
		how += fmt.Sprintf(", not %v", not)
	}
	g.note(g.name, c.subjects, "%s%s", c.name(), how)
}

// entries is the body of a batch call without the entries that fail, in the order of
// what they are about; nil if none is left.
func (g *gate) entries(c *call, f fate, whole []byte) []byte {
	if len(f.failing) == 0 && (c.operation != "hide" || len(c.entries) == 1) {
		return whole
	}
	var all []map[string]json.RawMessage
	_ = json.Unmarshal(c.body["Entries"], &all)
	id := func(e map[string]json.RawMessage) string { return strings.Trim(string(e["Id"]), `"`) }
	all = slices.DeleteFunc(all, func(e map[string]json.RawMessage) bool { return f.failing[id(e)] })
	if len(all) == 0 {
		return nil
	}
	if c.operation == "hide" {
		slices.SortFunc(all, func(a, b map[string]json.RawMessage) int {
			return strings.Compare(g.receiptName(a), g.receiptName(b))
		})
	}
	body := maps.Clone(c.body)
	body["Entries"], _ = json.Marshal(all)
	text, _ := json.Marshal(body)
	return text
}

func (g *gate) receiptName(e map[string]json.RawMessage) string {
	return g.nameOf(messageID(strings.Trim(string(e["ReceiptHandle"]), `"`)))
}

// failedEntries moves entries of an answer to those that failed.
func failedEntries(out map[string]any, failed map[string]bool) map[string]any {
	var good []any
	bad, _ := out["Failed"].([]any)
	successful, _ := out["Successful"].([]any)
	for _, e := range successful {
		if id, _ := e.(map[string]any)["Id"].(string); !failed[id] {
			good = append(good, e)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(failed)) {
		bad = append(bad, map[string]any{"Id": id, "SenderFault": false, "Code": "InternalError", "Message": "drawn"})
	}
	out["Successful"], out["Failed"] = append([]any{}, good...), bad
	return out
}

// received shuffles the messages of a receive, and lets SQS hand some of them out again.
func (g *gate) received(r *http.Request, response *http.Response) (*http.Response, error) {
	if response.StatusCode != http.StatusOK {
		return response, nil
	}
	var out struct{ Messages []map[string]any }
	text, _ := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(text))
	_ = json.Unmarshal(text, &out) // what is no JSON has no messages
	if len(out.Messages) == 0 {
		return response, nil
	}
	var ids []string
	for _, m := range out.Messages {
		ids = append(ids, m["MessageId"].(string))
	}
	g.judge.handles(out.Messages)
	if g.name != "esm" {
		g.judge.handed(g.process, ids)
	}
	if !g.on[shuffling] && !g.on[duplicates] || g.isCalm() {
		return response, nil
	}
	draws := g.seed.at("%s receive %v", g.name, g.now())
	if g.on[shuffling] {
		draws.Shuffle(len(out.Messages), func(i, j int) {
			out.Messages[i], out.Messages[j] = out.Messages[j], out.Messages[i]
		})
	}
	for _, m := range out.Messages {
		if receipt, _ := m["ReceiptHandle"].(string); g.on[duplicates] && draws.Float64() < 0.05 {
			name := g.nameOf(messageID(receipt))
			g.note("sqs", []string{name}, "%s is about to be handed out twice", name)
			_, _ = g.direct.sqs.ChangeMessageVisibility(context.Background(), &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &g.source, ReceiptHandle: aws.String(receipt), VisibilityTimeout: 0,
			})
		}
	}
	return answer(r, http.StatusOK, map[string]any{"Messages": out.Messages}), nil
}
