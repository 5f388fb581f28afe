package dlqui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/dlqui"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// buried returns a stack with n letters of one failure and one of another.
func buried(t testing.TB, source string, n int) *letterstest.Stack {
	t.Helper()
	s := letterstest.New(t, source)
	group := ""
	if strings.HasSuffix(source, ".fifo") {
		group = "g"
	}
	for i := range n {
		s.Send(s.SourceURL, fmt.Sprintf(`{"id":"j-%d","do":"declined","order":{"country":"DE"}}`, i), group, nil)
	}
	s.Work()
	s.Bury(`{"id":"odd","do":"broken"}`, group)
	return s
}

func TestFromTheQueuesToALetter(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 3)
	s := serve(t, nil, stack)
	front := s.get("/").want("Dead-letter queues", "orders-dead", "4 letters", "no trend yet")
	groups := front.click("orders-dead").want("4 letters in 2 groups", "3× permanent rejected", "1× ", "Codes 422",
		"Replayed, failed again none", "Done meanwhile 0 of 3 in the ledger", "The first expires in 13 d")
	letters := groups.click("3×").want("3 letters", "key j-0", "key j-2", "ledger: dead").lacks("key odd")
	letter := letters.click(letterID(t, letters)).want(
		"Payload JSON", `"country": "DE"`, "HTTP 422", "Attempts", "Where it came from", "charge 7",
		"Provider's id req-42", "The ledger now the job is dead", "State dead", "orders#j-")
	if pre := letter.all("pre"); len(pre) < 2 || !strings.Contains(letter.body, "\n  &#34;order&#34;: {") {
		t.Errorf("the payload is not formatted: %s", letter.body)
	}
	raw := letter.click("Save it byte for byte")
	if !strings.HasPrefix(raw.body, `{"id":"j-`) || raw.header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(raw.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("payload %q, %v", raw.body, raw.header)
	}
	if n := total(t, stack, stack.DeadURL); n != 4 {
		t.Errorf("%d letters are left", n)
	}
}

// letterID returns the id of the first letter of a list.
func letterID(t testing.TB, p *page) string {
	t.Helper()
	for _, a := range p.all("a") {
		if strings.Contains(attr(a, "href"), "/letter?") {
			return text(a)
		}
	}
	t.Fatal("there is no letter")
	return ""
}

func TestFiltersSelectLetters(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, buried(t, "orders", 3))
	page := s.get("/q/orders-dead").want("4 letters")
	page.press("Look", url.Values{"where": {"order.country=DE"}}).want("3 letters in 1 group", "of 4 there")
	page.press("Look", url.Values{"text": {"BROKEN"}}).want("1 letter in 1 group")
	page.press("Look", url.Values{"reason": {"nothing such"}}).want("0 letters in 0 groups").lacks("Replay")
	page.press("Look", url.Values{"code": {"422"}, "text": {"j-1"}}).want("1 letter in 1 group")
	page.press("Look", url.Values{"where": {"country"}}).wantStatus(http.StatusBadRequest, "want MEMBER=VALUE")
	// What a filter selects is what a replay of it sends.
	page.press("Look", url.Values{"where": {"order.country=DE"}}).click("Replay: show the plan").
		want("Send 3 letters back")
}

func TestReplayWithCanary(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 3)
	s := serve(t, nil, stack)
	plan := s.get("/q/orders-dead").click("3×").click("Replay").want(
		"Verdict: safe: each job runs once", "Run again 3", "Nothing is sent yet", "runs: it runs again with a whole budget")
	if n := total(t, stack, stack.DeadURL); n != 4 {
		t.Fatalf("the plan has moved letters: %d are left", n)
	}
	stack.Bury(`{"id":"late","do":"declined"}`, "") // it is not part of the plan
	run := plan.press("Send 3 letters back", url.Values{"steps": {"1"}, "rate": {"100"}, "why": {"provider mended"}})
	stack.Mended = true
	// The function runs the canary, and then the others.
	for len(stack.Done) < 3 {
		stack.Work()
		run = run.get(run.path)
	}
	run.ended().want("Sent back 3", "Done 3", "Dead again 0", "Why provider mended", "Journal")
	if n := total(t, stack, stack.DeadURL); n != 2 {
		t.Errorf("%d letters are left, want 2", n)
	}
	deeds := s.audited()
	if len(deeds) != 1 || deeds[0].Action != "replay" || deeds[0].Letters != 3 || deeds[0].Failed ||
		deeds[0].Why != "provider mended" {
		t.Errorf("deeds %+v", deeds)
	}
	s.get("/").want("Runs of this process", "ended well")
}

func TestAFailedCanaryStopsTheRun(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 3)
	s := serve(t, nil, stack)
	run := s.get("/q/orders-dead").click("3×").click("Replay").press("Send", url.Values{"steps": {"1"}})
	for !strings.Contains(text(run.root), "The run has ended") {
		stack.Work() // it fails again
		run = run.get(run.path)
	}
	run.want("stopped: ", "Sent back 1", "Dead again 1", "To be tried 2")
	if n := total(t, stack, stack.DeadURL); n != 4 {
		t.Errorf("%d letters are left, want 4", n)
	}
}

func TestAFormIsSentOnce(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 2)
	stack.Mended = true
	s := serve(t, nil, stack)
	plan := s.get("/q/orders-dead").click("2×").click("Replay")
	plan.press("Send", url.Values{"rate": {"0"}}).wantStatus(http.StatusBadRequest, "nothing was sent")
	run := plan.press("Send", nil)
	plan.press("Send", nil).wantStatus(http.StatusConflict)
	for len(stack.Done) < 2 {
		stack.Work()
	}
	run.ended().want("Sent back 2")
	plan.press("Send", nil).wantStatus(http.StatusConflict, "nothing was done")
}

// What has changed since the plan was shown is not sent.
func TestAnOutdatedPlanSendsNothing(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 2)
	s := serve(t, nil, stack)
	plan := s.get("/q/orders-dead").click("2×").click("Replay").want("Run again 2")
	stack.Forget("orders#j-1")
	plan.press("Send", nil).ended().want("nothing was sent: the queue or the ledger has changed")
	if n := total(t, stack, stack.DeadURL); n != 3 {
		t.Errorf("%d letters are left, want 3", n)
	}
	again := s.get("/q/orders-dead").click("2×").click("Replay").want("not safe: 1 job runs without the protection")
	again.press("Send", nil).wantStatus(http.StatusBadRequest, "not safe", "Nothing was sent")
	again.press("Send", url.Values{"accept": {"yes"}, "rate": {"100"}})
}

func TestEditedReplay(t *testing.T) {
	t.Parallel()
	stack := letterstest.New(t, "orders")
	body := "\n{\"id\":\"j\",\n \"do\":\"declined\", \"note\":\"</textarea><b>\"}"
	stack.Bury(body, "")
	s := serve(t, nil, stack)
	letter := s.get("/q/orders-dead/letters").click(letterID(t, s.get("/q/orders-dead/letters")))
	form := letter.click("Edit")
	if got := formValues(form.all("form")[0]).Get("body"); got != body {
		t.Fatalf("the form has %q", got)
	}
	crlf := func(text string) url.Values { return url.Values{"body": {strings.ReplaceAll(text, "\n", "\r\n")}} }
	form.press("Show", crlf(body)).wantStatus(http.StatusUnprocessableEntity, "nothing was changed")
	broken := form.press("Show", crlf(strings.Replace(body, "}", "", 1)))
	broken.wantStatus(http.StatusUnprocessableEntity, "no JSON any more: line 3")
	edited := strings.Replace(body, "declined", "approved", 1)
	plan := broken.press("Show", crlf(edited)).want("What was edited", `- "do": "declined"`, `+ "do": "approved"`)
	if n := total(t, stack, stack.DeadURL); n != 1 {
		t.Fatalf("%d letters are left", n)
	}
	accept := url.Values{"accept": {"yes"}, "rate": {"100"}}
	run := plan.press("Send 1 letter back", accept)
	for len(stack.Done) == 0 {
		stack.Work()
		run = run.get(run.path)
	}
	run.ended().want("Sent back 1")
	if stack.Done[edited] != 1 || total(t, stack, stack.DeadURL) != 0 {
		t.Errorf("done %v", stack.Done)
	}
}

func TestArchiveAndDiscard(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"orders", "stock.fifo"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			const n = 14 // of a FIFO queue ten are shown
			stack := buried(t, source, n)
			s := serve(t, nil, stack)
			queue := "/q/" + stack.Dead
			form := s.get(queue + "/archive?reason=rejected").want("Archive letters")
			form.press("Archive", nil).ended().want(fmt.Sprintf("In the file %d", n), fmt.Sprintf("queue %d", n))
			if left := total(t, stack, stack.DeadURL); left != 1 {
				t.Errorf("%d letters are left, want 1", left)
			}
			discard := s.get(queue).click("1×").click("Discard").want("Discard letters")
			discard.press("Discard", url.Values{"why": {"  "}}).wantStatus(http.StatusBadRequest, "say why")
			discard.press("Discard", url.Values{"why": {"a test"}}).ended().want("In the file 1", "Why a test")
			if left := total(t, stack, stack.DeadURL); left != 0 {
				t.Errorf("%d letters are left", left)
			}
			files, err := filepath.Glob(filepath.Join(s.Directory, "*"))
			if err != nil || len(files) != 2 {
				t.Fatalf("files %v, %v", files, err)
			}
			for _, f := range files {
				if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", f, info.Mode(), err)
				}
			}
			deeds := s.audited()
			if len(deeds) != 2 || deeds[0].Action != "archive" || deeds[1].Action != "discard" || deeds[1].Why != "a test" {
				t.Errorf("deeds %+v", deeds)
			}
		})
	}
}

// Of a FIFO queue, which shows ten letters of a group, a replay sends those behind them too,
// in their order.
func TestReplayOfFIFO(t *testing.T) {
	t.Parallel()
	const n = 14
	stack := buried(t, "stock.fifo", n)
	s := serve(t, nil, stack)
	plan := s.get("/q/stock-dead.fifo/replay?reason=rejected").want("About 5 more stand behind these", "Run again 10")
	plan.press("Send 10 letters back", url.Values{"rate": {"1000"}})
	var bodies []string
	for end := time.Now().Add(30 * time.Second); len(bodies) < n && time.Now().Before(end); {
		for _, m := range stack.Drain(stack.SourceURL) {
			bodies = append(bodies, *m.Body)
		}
	}
	for i, body := range bodies {
		if !strings.HasPrefix(body, fmt.Sprintf(`{"id":"j-%d"`, i)) {
			t.Errorf("letter %d is %s", i, body)
		}
	}
	if len(bodies) != n {
		t.Errorf("%d letters were sent, want %d", len(bodies), n)
	}
}

// A run that is stopped leaves nothing hidden, and what it has not sent stays. Meanwhile it
// is alone.
func TestStop(t *testing.T) {
	t.Parallel()
	const n = 20
	stack := buried(t, "orders", n)
	s := serve(t, nil, stack)
	queue := s.get("/q/orders-dead")
	plan, archive := queue.click("20×").click("Replay"), s.get("/q/orders-dead/archive")
	run := plan.press("Send", url.Values{"rate": {"2"}})
	for !strings.Contains(text(run.root), "Sent back 1 ") {
		run = run.get(run.path)
	}
	s.get("/q/orders-dead").want("A run has the letters of this queue", "21 letters")
	s.get("/q/orders-dead/replay").wantStatus(http.StatusConflict, "a run of this page has the letters")
	s.get("/q/orders-dead/letter?id=x").wantStatus(http.StatusConflict)
	archive.press("Archive", nil).wantStatus(http.StatusConflict)
	run.press("Stop", nil).ended().want("stopped; sqsafe dlq replay --resume carries on")
	sent, left := total(t, stack, stack.SourceURL), total(t, stack, stack.DeadURL)
	if sent == 0 || left <= 1 || sent+left != n+1 {
		t.Errorf("%d sent, %d left", sent, left)
	}
	if deeds := s.audited(); len(deeds) != 1 || !deeds[0].Failed || deeds[0].Letters != sent {
		t.Errorf("deeds %+v", deeds)
	}
	s.get("/q/orders-dead").want(fmt.Sprint(left, " letters")).lacks("A run has")
	archive.press("Archive", nil).ended().want(fmt.Sprint("In the file ", left)) // was not sent yet
}

// The end of the process ends its runs, and waits for them.
func TestTheEndOfTheProcess(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 20)
	s := serve(t, nil, stack)
	s.get("/q/orders-dead").click("20×").click("Replay").press("Send", url.Values{"rate": {"2"}})
	for total(t, stack, stack.SourceURL) == 0 {
		<-time.After(20 * time.Millisecond)
	}
	s.stop()
	if sent, left := total(t, stack, stack.SourceURL), total(t, stack, stack.DeadURL); sent+left != 21 {
		t.Errorf("%d sent, %d left", sent, left)
	}
	if deeds := s.audited(); len(deeds) != 1 || !deeds[0].Failed {
		t.Errorf("deeds %+v", deeds)
	}
}

// What the servers answer is shown with its status, and loses nothing.
func TestServersThatFail(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 1)
	s := serve(t, func(o *dlqui.Options) {
		o.Explain = func(q *dlqui.Queue, err error) string { return "explained: " + q.Name + ": " + err.Error() }
	}, stack)
	denied := localaws.Fault{Operation: "ReceiveMessage", Code: "AccessDenied", Status: http.StatusForbidden}
	remove := stack.Server.Inject(denied)
	s.get("/q/orders-dead").wantStatus(http.StatusBadGateway, "explained: orders-dead: ", "AccessDenied")
	s.get("/q/orders-dead/replay").wantStatus(http.StatusBadGateway, "AccessDenied")
	remove()
	plan := s.get("/q/orders-dead").want("2 letters").click("Replay")
	denied.Operation = "SendMessageBatch"
	remove = stack.Server.Inject(denied)
	plan.press("Send", nil).ended().want("explained: orders-dead: ", "AccessDenied", "Sent back 0")
	remove()
	denied.Operation = "BatchGetItem"
	remove = stack.Server.Inject(denied)
	s.get("/q/orders-dead").want("The ledger cannot be asked", "2 letters")
	s.get("/q/orders-dead/replay").want("not safe: 2 jobs are not known to the ledger")
	remove()
	if n := total(t, stack, stack.DeadURL); n != 2 {
		t.Errorf("%d letters are left", n)
	}
}

func TestOnlyTheMarkedLetters(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 3)
	s := serve(t, nil, stack)
	letters := s.get("/q/orders-dead/letters")
	id := letterID(t, letters)
	letters.press("Archive the marked ones", url.Values{"id": {id}}).want("1 letter").press("Archive", nil).ended().
		want("In the file 1")
	if left := total(t, stack, stack.DeadURL); left != 3 {
		t.Errorf("%d letters are left, want 3", left)
	}
	s.get("/q/orders-dead/letter?id="+id).wantStatus(http.StatusNotFound, "is not to be seen")
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	stack := buried(t, "orders", 2)
	fake := newFakeStack()
	s := serve(t, func(o *dlqui.Options) { o.ReadOnly = true; beside(fake)(o) }, stack)
	groups := s.get("/q/orders-dead").want("read only").lacks("Archive", "Discard", "Send", "Restore", "SQS move")
	s.get("/q/orders-dead/functions").want("Enabled").lacks("Pause")
	groups.click("Show what a replay would do").want("Verdict").lacks("Send")
	letters := groups.click("2×").lacks("Archive", "Edit")
	letters.click(letterID(t, letters)).lacks("Archive", "Edit", "Discard")
	for _, path := range []string{"replay", "archive", "discard", "edit", "restore", "redrive", "functions"} {
		s.post("/q/orders-dead/"+path, url.Values{"csrf": {s.Guard.CSRF()}, "why": {"x"}}).
			wantStatus(http.StatusForbidden)
	}
	if left := total(t, stack, stack.DeadURL); left != 3 {
		t.Errorf("%d letters are left, want 3", left)
	}
}

// Whatever stands in a letter is text on the pages.
func TestLettersAreInert(t *testing.T) {
	t.Parallel()
	const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>'{{.CSRF}}</pre></textarea>` +
		"<svg/onload=alert(1)>\u202egnp.exe"
	stack := letterstest.New(t, "stock.fifo")
	stack.Send(stack.DeadURL, `{"a":`+fmt.Sprintf("%q", attack)+`}`, "g<script>", map[string]types.MessageAttributeValue{
		"sqsafe": {DataType: aws.String("String"), StringValue: aws.String(`{"version":1,"class":"` + quoted(attack) +
			`","reason":"` + quoted(attack) + `","rule":"` + quoted(attack) + `","message":"` + quoted(attack) +
			`","types":["` + quoted(attack) + `"],"key":"` + quoted(attack) + `","stack":"` + quoted(attack) +
			`","fingerprint":"` + quoted(attack) + `","messageId":"` + quoted(attack) + `","function":"` + quoted(attack) +
			`","sourceQueueArn":"javascript:alert(1)","history":{"attempts":[{"n":1,"class":"` + quoted(attack) +
			`","message":"` + quoted(attack) + `"}]}}`)},
		"name": {DataType: aws.String("String.x"), StringValue: aws.String(attack)},
		"bits": {DataType: aws.String("Binary"), BinaryValue: []byte("\x00<script>")},
	})
	stack.Send(stack.DeadURL, attack, "h", nil)
	fake := newFakeStack()
	fake.happened = append(fake.happened, dlqui.Happening{
		Word: attack, Queue: attack, Function: attack, Key: attack, Text: attack, MessageID: attack,
	})
	fake.mappings[0].Function, fake.mappings[0].State = attack, attack
	s := serve(t, beside(fake), stack)
	groups := s.get("/q/stock-dead.fifo")
	letters := s.get("/q/stock-dead.fifo/letters")
	seen := []*page{groups, letters, s.get("/q/stock-dead.fifo/replay"), s.get("/q/stock-dead.fifo/discard"),
		s.get("/live"), s.get("/live?held=1&text=" + url.QueryEscape(attack)), s.get("/q/stock-dead.fifo/functions")}
	for _, a := range letters.all("a") {
		if strings.Contains(attr(a, "href"), "/letter?") {
			letter := s.get(attr(a, "href"))
			seen = append(seen, letter, letter.click("Edit"), letter.click("Replay"), letter.click("Log lines"))
		}
	}
	for _, address := range []string{"/q/" + url.PathEscape(attack), "/run/" + url.PathEscape(attack),
		"/q/stock-dead.fifo?text=" + url.QueryEscape(attack), "/q/stock-dead.fifo/letter?id=" + url.QueryEscape(attack),
		"/q/stock-dead.fifo?where=" + url.QueryEscape(attack)} {
		seen = append(seen, s.get(address))
	}
	if len(seen) < 20 {
		t.Errorf("%d pages were seen", len(seen))
	}
	for _, p := range seen {
		for _, n := range p.all("*") {
			for _, a := range n.Attr {
				foreign := strings.HasPrefix(a.Key, "on") || a.Key == "style" ||
					(a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && a.Val != "#main"
				if foreign {
					t.Errorf("%s: <%s %s=%q>", p.path, n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "img" || n.Data == "style" || n.Data == "b" ||
				n.Data == "script" && !strings.HasPrefix(attr(n, "src"), "/static/") {
				t.Errorf("%s has <%s>", p.path, n.Data)
			}
		}
		inForm := strings.Contains(p.path, "/edit") // the editor has the text as it is
		if strings.Contains(text(p.root), s.Guard.CSRF()) || !inForm && strings.Contains(text(p.root), "\u202e") {
			t.Errorf("%s shows a secret, or turns its text round", p.path)
		}
	}
}

// quoted quotes a text for a JSON string.
func quoted(s string) string { q := fmt.Sprintf("%q", s); return q[1 : len(q)-1] }
