package dlqui_test

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/dlqui"
)

// tab is a tab of a real browser.
type tab struct {
	*testing.T

	ctx context.Context
}

// browse starts the browser. Without one the test is skipped; in CI it fails.
func browse(t *testing.T, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		const text = "no browser: install chromium (Debian: apt-get install chromium)"
		if os.Getenv("CI") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(900, 800), chromedp.UserDataDir(t.TempDir()),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the end of the browser
		cancel()
	})
	b := &tab{T: t, ctx: ctx}
	b.run(chromedp.Navigate("about:blank")) // without a limit of time: the browser lives as long as this context
	b.ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	return b
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eval returns the value of an expression, or of its promise.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.Helper()
	look := chromedp.Evaluate[bool]("document.readyState == 'complete' && !!(" + expression + ")")
	for end := time.Now().Add(40 * time.Second); ; {
		if found, err := chromedp.Run(b.ctx, look); err == nil && found { // fails while a page is loaded
			return
		}
		if time.Now().After(end) || b.ctx.Err() != nil {
			b.Fatalf("%s: %s", expression, eval[string](b, "location.href + ' ' + document.body.innerText"))
		}
		<-time.After(30 * time.Millisecond)
	}
}

// open follows the link of the page.
func (b *tab) open(s *site) {
	b.Helper()
	b.run(chromedp.Navigate(s.URL))
	b.until(`location.pathname == "/" && location.search == "" &&
		document.querySelector("h1").innerText == "Dead-letter queues"`)
}

func (b *tab) load(s *site, path string) {
	b.Helper()
	b.run(chromedp.Navigate(s.base+path), chromedp.WaitReady("main"))
}

// tabTo presses the Tab key until the element with that text or label has the focus, which
// must be visible on each element.
func (b *tab) tabTo(words string) {
	b.Helper()
	const focused = `(() => { const e = document.activeElement;
		if (!e || e == document.body) return "";
		const s = getComputedStyle(e), r = e.getBoundingClientRect();
		const label = e.labels && e.labels[0] ? e.labels[0].innerText : "";
		const seen = s.outlineStyle != "none" && parseFloat(s.outlineWidth) >= 2 && r.width > 0 && r.left >= 0;
		return (seen ? "" : "NO FOCUS RING ") + (label || e.getAttribute("aria-label") || e.innerText || "").trim(); })()`
	for range 80 {
		b.run(chromedp.KeyEvent(kb.Tab))
		at := eval[string](b, focused)
		if strings.HasPrefix(at, "NO FOCUS RING") {
			b.Errorf("the focus is not to be seen: %s", at)
		}
		if strings.HasPrefix(at, words) {
			return
		}
	}
	b.Fatalf("no Tab leads to %q", words)
}

func (b *tab) typed(keys string) {
	b.Helper()
	b.run(chromedp.KeyEvent(keys))
}

// follow moves to the element and presses Enter, and waits for the page.
func (b *tab) follow(words, title string) {
	b.Helper()
	b.tabTo(words)
	b.typed(kb.Enter)
	b.until(fmt.Sprintf(`document.querySelector("h1") && document.querySelector("h1").innerText.startsWith(%q)`, title))
}

// By keyboard alone: from the queues to a replay with a canary, whose page renews itself.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	b := browse(t)
	stack, fake := buried(t, "orders", 3), newFakeStack()
	s := serve(t, beside(fake), stack)
	b.open(s)
	b.tabTo("Skip to the content")
	b.follow("orders-dead", "Dead letters of orders-dead")
	b.follow("3×", "3 letters")
	b.follow("Replay", "What a replay would do")
	b.tabTo("Steps")
	b.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl))) // select all
	b.typed("1")
	b.tabTo("Why")
	b.typed("provider mended")
	b.follow("Send 3 letters back", "Replay 2")
	stack.Mended = true
	eval[string](b, `document.querySelector("#live").dataset.seen = "old"`)
	for end := time.Now().Add(30 * time.Second); len(stack.Done) < 3 && time.Now().Before(end); {
		stack.Work()
		<-time.After(20 * time.Millisecond)
	}
	b.until(`document.querySelector("[role=status]").innerText == "The run has ended."`)
	if text := eval[string](b, `document.querySelector("#live").innerText`); !strings.Contains(text, "provider mended") ||
		eval[bool](b, `document.querySelector("#live").dataset.seen == "old"`) {
		t.Errorf("the page did not renew itself: %s", text)
	}
	if len(stack.Done) != 3 {
		t.Errorf("%d jobs are done", len(stack.Done))
	}
	// The function is paused, and what happens is followed and held.
	b.follow("orders-dead", "Dead letters of orders-dead")
	b.follow("Pause or resume", "Functions of orders-dead")
	b.tabTo("Why")
	b.typed("a look" + kb.Enter)
	b.until(`document.querySelector("#live").innerText.includes("Disabling")`)
	b.follow("What happens now", "What happens now")
	fake.happen("done", "m-77")
	b.until(`document.querySelector("#live").innerText.includes("m-77")`)
	b.tabTo("Hold the page")
	b.typed(kb.Enter)
	b.until(`document.body.innerText.includes("it shows what there was at") && !document.querySelector("#live[hx-get]")`)
}

// audit returns what people with a screen reader, a phone, or weak eyes would stumble over.
//
//go:embed testdata/audit.js
var audit string

//go:embed testdata/foreign.js
var foreign string

//go:embed testdata/policy.js
var forbidden string

// views are the pages to look at, by name.
func views(t testing.TB, s *site, stack *letterstest.Stack) []struct{ Name, Path string } {
	t.Helper()
	queue := "/q/" + stack.Dead
	letters := s.get(queue + "/letters")
	id := "?id=" + letterID(t, letters)
	return []struct{ Name, Path string }{
		{"queues", "/"}, {"groups", queue}, {"letters", queue + "/letters"}, {"letter", queue + "/letter" + id},
		{"plan", queue + "/replay"}, {"edit", queue + "/edit" + id}, {"archive", queue + "/archive"},
		{"discard", queue + "/discard" + id}, {"restore", queue + "/restore"}, {"redrive", queue + "/redrive"},
		{"functions", queue + "/functions"}, {"log", queue + "/log" + id}, {"live", "/live"}, {"problem", "/none"},
	}
}

func TestEachViewIsAccessible(t *testing.T) {
	t.Parallel()
	b := browse(t)
	stack := buried(t, "orders", 3)
	stack.Send(stack.DeadURL, `{"long":"`+strings.Repeat("x", 3000)+`"}`, "", nil)
	s := serve(t, beside(newFakeStack()), stack)
	s.get("/q/orders-dead/archive?reason=rejected").press("Archive", nil).ended()
	stack.Bury(`{"id":"new","do":"declined"}`, "")
	b.open(s)
	for _, screen := range []struct {
		name   string
		width  int64
		scheme string
	}{{"light", 900, "light"}, {"dark", 900, "dark"}, {"phone", 320, "light"}, {"dark phone", 320, "dark"}} {
		b.run(chromedp.EmulateViewport(screen.width, 800))
		b.scheme(screen.scheme)
		for _, v := range views(t, s, stack) {
			b.load(s, v.Path)
			for _, found := range eval[[]string](b, audit) {
				t.Errorf("%s, %s: %s", v.Name, screen.name, found)
			}
			dark := eval[string](b, `getComputedStyle(document.body).backgroundColor`) == "rgb(20, 24, 29)"
			if dark != (screen.scheme == "dark") {
				t.Errorf("%s, %s: dark is %v", v.Name, screen.name, dark)
			}
		}
	}
}

// scheme makes the browser prefer dark or light.
func (b *tab) scheme(name string) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	if err != nil {
		b.Fatal(err)
	}
}

// The audit finds what it looks for.
func TestTheAuditFinds(t *testing.T) {
	t.Parallel()
	b := browse(t)
	s := serve(t, nil, buried(t, "orders", 1))
	b.open(s)
	for wrong, want := range map[string]string{
		`<h1>x</h1>`: "2 h1", `<input>`: "no label", `<textarea></textarea>`: "no label",
		`<a href="/"></a>`: "no name", `<p tabindex="3">x</p>`: "order of focus", `<p id="main">x</p>`: "id twice",
		`<p aria-labelledby="none">x</p>`: "no element none", `<pre>` + strings.Repeat("x", 500) + `</pre>`: "",
	} {
		script := fmt.Sprintf(`(() => { const d = document.createElement("div"); d.innerHTML = %q;
			document.querySelector("main").append(d); const f = %s
			d.remove(); return f; })()`, wrong, audit)
		found := strings.Join(eval[[]string](b, script), "\n")
		if !strings.Contains(found, want) || (want == "") != (found == "") {
			t.Errorf("%s: %q, want %q", wrong, found, want)
		}
	}
	pale := fmt.Sprintf(`(() => { const p = document.querySelector("h1"); p.style.color = "rgb(200, 200, 200)";
		p.style.width = "5000px"; const f = %s
		p.removeAttribute("style"); return f; })()`, audit)
	if found := strings.Join(eval[[]string](b, pale), "\n"); !strings.Contains(found, "contrast") ||
		!strings.Contains(found, "scrolls sideways") {
		t.Errorf("found %q", found)
	}
}

// A page of another origin, in the browser in which the link was opened, can neither read
// nor change anything. One at another port of this machine is of the same site: the
// browser sends the cookie.
func TestAnotherOriginIsPowerless(t *testing.T) {
	t.Parallel()
	b := browse(t)
	stack := buried(t, "orders", 1)
	s := serve(t, nil, stack)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><title>evil</title><h1>evil</h1>")
	}))
	t.Cleanup(evil.Close)
	b.open(s)
	for _, origin := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		b.run(chromedp.Navigate(origin), chromedp.WaitReady("h1"))
		script := fmt.Sprintf("const BASE = %q, CSRF = %q; %s", s.base, s.Guard.CSRF(), foreign)
		if out := eval[[]string](b, script); len(out) > 0 {
			t.Errorf("from %s: %v", origin, out)
		}
		// A form that leads there, with all that the page's own forms have.
		eval[bool](b, fmt.Sprintf(`document.body.innerHTML = '<form method="post" action="%s/q/orders-dead/archive">'+
			'<input name="csrf" value="%s"><button>x</button></form>', document.forms[0].submit(), true`,
			s.base, s.Guard.CSRF()))
		b.until(`document.body && document.body.innerText.includes("comes from another page")`)
		// A link to the page, without its key.
		b.run(chromedp.Navigate(origin), chromedp.WaitReady("h1"))
		eval[bool](b, fmt.Sprintf(`(location = %q, true)`, s.base+"/q/orders-dead"))
		b.until(`document.body && document.body.innerText.includes("comes from another page")`)
	}
	if n := total(t, stack, stack.DeadURL); n != 2 || len(s.audited()) > 0 {
		t.Errorf("%d letters are left, deeds %v", n, s.audited())
	}
	// The key can be followed from anywhere.
	eval[bool](b, fmt.Sprintf(`(location = %q, true)`, s.URL))
	b.until(`document.querySelector("h1").innerText == "Dead-letter queues"`)
}

// The policy lets no script run that is not the page's file, and htmx works under it.
func TestThePolicyHolds(t *testing.T) {
	t.Parallel()
	b := browse(t)
	s := serve(t, nil, buried(t, "orders", 1))
	b.open(s)
	b.until(`typeof htmx == "object" && htmx.config.allowEval === false && htmx.config.includeIndicatorStyles === false`)
	if out := eval[[]string](b, forbidden); len(out) > 0 {
		t.Errorf("the policy allows %v", out)
	}
}

// TestPictures writes the pictures of docs/dlq-page.md into SQSAFE_PICTURES.
func TestPictures(t *testing.T) {
	folder := os.Getenv("SQSAFE_PICTURES")
	if folder == "" {
		t.Skip("writes pictures; run make page-pictures")
	}
	b := browse(t)
	t.Chdir(t.TempDir())
	stack := letterstest.New(t, "orders")
	for i := range 12 {
		body := fmt.Sprintf(`{"id":"order-%d","amount":%d,"country":"DE","do":"declined"}`, 4711+i, 990+i)
		stack.Send(stack.SourceURL, body, "", nil)
	}
	for i := range 3 {
		stack.Send(stack.SourceURL, fmt.Sprintf(`{"id":"order-%d","do":"broken"}`, 5000+i), "", nil)
	}
	stack.Work()
	stack.Send(stack.SourceURL, `{"id":"order-6000"}`, "", nil)
	stack.MoveBySQS()
	s := serve(t, func(o *dlqui.Options) {
		o.Place, o.Directory = "http://127.0.0.1:4570", ".local/state/sqsafe"
		beside(newFakeStack())(o)
	}, stack)
	b.open(s)
	b.run(chromedp.EmulateViewport(720, 640))
	picture := func(name string) {
		t.Helper()
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range views(t, s, stack) {
		if v.Name == "problem" {
			continue
		}
		if v.Name == "restore" {
			s.get("/q/orders-dead/archive?text=order-5000").press("Archive", url.Values{"why": {"until Monday"}}).ended()
		}
		b.load(s, v.Path)
		picture(v.Name)
	}
	b.load(s, "/q/orders-dead/replay?reason=rejected")
	b.run(chromedp.SendKeys("#rate", kb.End+"00"), chromedp.Click("#send"), chromedp.WaitReady("#live"))
	stack.Mended = true
	b.until(`document.querySelector("#live").innerText.includes("12 of 12")`)
	stack.Work()
	b.until(`document.querySelector("[role=status]").innerText == "The run has ended."`)
	picture("run")
	b.run(chromedp.EmulateViewport(360, 640))
	b.scheme("dark")
	b.load(s, "/q/orders-dead")
	picture("phone-dark")
}
