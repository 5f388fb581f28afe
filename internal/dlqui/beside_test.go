package dlqui_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/dlqui"
)

// fakeStack stands beside the pages: a stack with a function, whose log says what it is told.
type fakeStack struct {
	mu       sync.Mutex // of happened
	mappings []dlqui.Mapping
	happened []dlqui.Happening
	err      error
}

func newFakeStack() *fakeStack {
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	return &fakeStack{
		mappings: []dlqui.Mapping{{
			Queue: "orders", Function: "charge:live", State: "Enabled", Expires: time.Now().Add(40 * time.Hour),
		}},
		happened: []dlqui.Happening{
			{Time: at, Function: "ChargeFunction", Text: `{"message":"declined","messageId":"m-1"}`, RequestID: "r-1"},
			{Time: at.Add(time.Second), Word: "dead-lettered", Queue: "orders", MessageID: "m-1", Key: "j-0",
				DeadLetterQueue: "orders-dead", Text: "in orders-dead (rejected)"},
			{Time: at.Add(2 * time.Second), Word: "done", Queue: "orders", MessageID: "m-2", Function: "ChargeFunction",
				Key: "j-7", Text: "attempt 1"},
		},
	}
}

// beside lets the pages stand beside the stack.
func beside(f *fakeStack) func(*dlqui.Options) {
	return func(o *dlqui.Options) {
		o.Functions, o.Live = f, f
		o.Logs = func(_ context.Context, _ *dlqui.Queue, l *deadletters.Letter) ([]dlqui.LogLine, error) {
			return dlqui.LiveLogs(f, l), f.err
		}
	}
}

func (f *fakeStack) Mappings(context.Context, *dlqui.Queue) ([]dlqui.Mapping, error) {
	return f.mappings, f.err
}

func (f *fakeStack) Set(_ context.Context, _ *dlqui.Queue, enabled bool) ([]dlqui.Mapping, error) {
	if f.err == nil {
		f.mappings[0].State = map[bool]string{true: "Enabled", false: "Disabling"}[enabled]
	}
	return f.mappings, f.err
}

func (f *fakeStack) Queues(context.Context) ([]dlqui.LiveQueue, error) {
	orders := dlqui.LiveQueue{Name: "orders", Visible: 3, InFlight: 2, Oldest: 90 * time.Second}
	return []dlqui.LiveQueue{orders, {Name: "orders-dead"}}, f.err
}

func (f *fakeStack) Counts() []dlqui.Count {
	return []dlqui.Count{{Name: "sent", N: 17}, {Name: "done", N: 9}, {Name: "retry", N: 4}, {Name: "dead-lettered", N: 3}}
}

// happen lets something become of a job.
func (f *fakeStack) happen(word, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.happened = append(f.happened, dlqui.Happening{Time: time.Now(), Word: word, MessageID: message})
}

func (f *fakeStack) newest(lines bool, match func(*dlqui.Happening) bool, n int) (found []dlqui.Happening) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.happened) - 1; i >= 0 && len(found) < n; i-- {
		if h := &f.happened[i]; (h.Word == "") == lines && match(h) {
			found = append(found, *h)
		}
	}
	return found
}

func (f *fakeStack) Outcomes(match func(*dlqui.Happening) bool, n int) []dlqui.Happening {
	return f.newest(false, match, n)
}

func (f *fakeStack) Lines(match func(*dlqui.Happening) bool, n int) []dlqui.Happening {
	return f.newest(true, match, n)
}

func TestWhatHappensNow(t *testing.T) {
	t.Parallel()
	fake := newFakeStack()
	s := serve(t, beside(fake), buried(t, "orders", 1))
	live := s.get("/").click("What happens now").want(
		"Queues", "orders", "1 min", "done 9", "dead-lettered m-1, key j-0: in orders-dead (rejected)",
		"done m-2, key j-7: attempt 1",
		"ChargeFunction: {\"message\":\"declined\"", "it renews itself")
	live.press("Look", url.Values{"text": {"J-7"}}).want("done m-2", "No line matches").lacks("m-1")
	live.press("Look", url.Values{"function": {"chargefunction"}}).want("done m-2", "declined").lacks("dead-lettered m-1")
	live.press("Look", url.Values{"text": {"j-7"}}).click("Hold the page").want("it shows").lacks("m-1")
	live.click("Hold the page").want("it shows what there was at", "Go on").click("Go on").want("it renews itself")
	live.click("m-1").want("0 letters") // the fake's message is in no queue
	fake.err = errors.New("no such port")
	live.get("/live").want("no such port", "done m-2")
}

func TestTheLogOfAJob(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 1)
	fake := newFakeStack()
	s := serve(t, beside(fake), stack)
	letters := s.get("/q/orders-dead/letters?reason=rejected")
	letter := letters.click(letterID(t, letters))
	letter.click("Log lines of this job").want("dead-lettered: in orders-dead", "1 line ").lacks("attempt 1") // by its key
	fake.happened = append(fake.happened, dlqui.Happening{Text: "x " + letterID(t, letters) + " y"})
	letter.click("Log lines of this job").want("2 lines")
	fake.err = errors.New("no rights")
	letter.click("Log lines of this job").want("The log cannot be read: no rights")
	without := serve(t, nil, stack)
	without.get(letter.path).want("Payload").lacks("Log lines")
	without.get("/live").wantStatus(http.StatusNotFound)
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	fake := newFakeStack()
	s := serve(t, beside(fake), buried(t, "orders", 1))
	page := s.get("/q/orders-dead").click("Pause or resume").want(
		"charge:live receives from orders: Enabled", "The first job of orders expires in 1 d 15 h").lacks("Resume")
	paused := page.press("Pause", url.Values{"why": {"provider is down"}}).want("Disabling", "Resume").lacks("Why Pause")
	paused.press("Resume", nil).want("Enabled")
	deeds := s.audited()
	if len(deeds) != 2 || deeds[0].Action != "pause" || deeds[0].Why != "provider is down" || deeds[1].Action != "resume" {
		t.Errorf("deeds %+v", deeds)
	}
	s.post("/q/orders-dead/functions", url.Values{"csrf": {s.Guard.CSRF()}, "do": {"x"}}).
		wantStatus(http.StatusBadRequest, "nothing was done")
	fake.err = errors.New("throttled")
	page.press("Pause", nil).wantStatus(http.StatusBadGateway, "throttled")
	if deeds := s.audited(); len(deeds) != 3 || !deeds[2].Failed {
		t.Errorf("deeds %+v", deeds)
	}
	fake.err, fake.mappings = nil, nil
	s.get("/q/orders-dead/functions").want("No event source mapping").lacks("Pause")
}

// What was archived comes back, once, and only files of the directory can be named.
func TestRestoreFromAFile(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"orders", "stock.fifo"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			const n = 12
			stack := buried(t, source, n)
			s := serve(t, nil, stack)
			queue := "/q/" + stack.Dead
			s.get(queue + "/restore").want("There are none")
			s.get(queue+"/discard?reason=rejected").press("Discard", url.Values{"why": {"a test"}}).ended()
			secret := filepath.Join(t.TempDir(), "archive-x.jsonl")
			s.check(os.WriteFile(secret, []byte("x"), 0o600))
			s.check(os.WriteFile(filepath.Join(s.Directory, "archive-broken.jsonl"), []byte("no archive\n"), 0o600))
			files := s.get(queue).click("Restore from a file").
				want("12 letters of "+stack.Dead, "a test", "archive-broken.jsonl")
			for _, name := range []string{secret, "../" + filepath.Base(secret), "", "none"} {
				files.press("Restore", url.Values{"file": {name}}).wantStatus(http.StatusBadRequest, "nothing was done")
			}
			files.press("Restore", nil).ended().want("Restored 12", "Restored before 0")
			if left := total(t, stack, stack.DeadURL); left != n+1 {
				t.Errorf("%d letters are left, want %d", left, n+1)
			}
			again := s.get(queue + "/restore").want("12 letters were restored before")
			again.press("Restore", nil).ended().want("Restored 0", "Restored before 12")
			if left := total(t, stack, stack.DeadURL); left != n+1 {
				t.Errorf("%d letters are left, want %d", left, n+1)
			}
			if deeds := s.audited(); len(deeds) != 3 || deeds[1].Action != "restore" || deeds[1].Letters != n {
				t.Errorf("deeds %+v", deeds)
			}
		})
	}
}

func TestRedriveBySQS(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 3)
	s := serve(t, nil, stack)
	form := s.get("/q/orders-dead").click("Let SQS move all letters").
		want("A replay is safer", "4 letters are visible", "orders")
	to := url.Values{"to": {stack.ARN("orders")}}
	form.press("Let SQS", to).wantStatus(http.StatusBadRequest, "mark that you have read")
	for name, values := range map[string]url.Values{
		"elsewhere": {"to": {stack.ARN("other")}, "accept": {"yes"}}, "rate": {"rate": {"501"}, "accept": {"yes"}},
	} {
		if p := form.press("Let SQS", values); p.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, p.status)
		}
	}
	to.Set("accept", "yes")
	to.Set("rate", "500")
	to.Set("why", "all of them")
	form.press("Let SQS", to).ended().want("about 4 of 4", "Why all of them")
	if moved := total(t, stack, stack.SourceURL); moved != 4 {
		t.Errorf("%d were moved", moved)
	}
	if deeds := s.audited(); len(deeds) != 1 || deeds[0].Action != "redrive" || deeds[0].Letters != 4 || deeds[0].Failed {
		t.Errorf("deeds %+v", deeds)
	}
}

// A redrive that is stopped is cancelled in SQS.
func TestARedriveIsStopped(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 20)
	s := serve(t, nil, stack)
	run := s.get("/q/orders-dead/redrive").press("Let SQS", url.Values{
		"to": {stack.ARN("orders")}, "accept": {"yes"}, "rate": {"1"},
	})
	for !strings.Contains(text(run.root), "of 21") {
		run = run.get(run.path)
	}
	run.press("Stop", nil).ended().want("stopped; what was moved stays in the source queue")
	left := total(t, stack, stack.DeadURL)
	if left < 10 {
		t.Errorf("%d letters are left", left)
	}
	s.get("/q/orders-dead?fresh=1").want(fmt.Sprint(left, " letters"))
}

// Each step of a ramp waits for the end of the one before.
func TestRamp(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 6)
	stack.Mended = true
	s := serve(t, nil, stack)
	plan := s.get("/q/orders-dead/replay?reason=rejected")
	plan.press("Send", url.Values{"steps": {"1,x"}}).wantStatus(http.StatusBadRequest, "such as 1 or 1,10,100")
	plan.press("Send", url.Values{"steps": {"0,1"}}).wantStatus(http.StatusBadRequest, "nothing was sent")
	run := plan.press("Send", url.Values{"steps": {"1, 2"}, "rate": {"1000"}})
	var seen []int
	for len(stack.Done) < 6 {
		if n := total(t, stack, stack.SourceURL); n > 0 {
			seen = append(seen, n)
			stack.Work()
		}
	}
	run.ended().want("Sent back 6", "Done 6")
	if seen[0] != 1 {
		t.Errorf("steps %v", seen)
	}
}

func TestTimeFilters(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, buried(t, "orders", 2))
	page := s.get("/q/orders-dead").want("3 letters")
	page.press("Look", url.Values{"since": {"1h"}}).want("3 letters", "since 1h")
	page.press("Look", url.Values{"until": {"1h"}}).want("0 letters")
	page.press("Look", url.Values{"until": {"2099-01-01"}}).want("3 letters")
	page.press("Look", url.Values{"since": {"2099-01-01"}}).want("0 letters")
	page.press("Look", url.Values{"since": {"soon"}}).wantStatus(http.StatusBadRequest, "or how long ago")
	page.press("Look", url.Values{"since": {"1h"}}).click("Replay: show the plan").want("Send 3 letters back")
}
