package dlqui_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/chromedp/chromedp"

	"github.com/sqsafe/sqsafe/awstest"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/internal/localguard"
)

// attacks calls the port of the emulators in the ways that a page has, and says what it
// learned of each.
const attacks = `(async target => {
	const sqs = {'X-Amz-Target': 'AmazonSQS.CreateQueue'}, body = '{"QueueName":"planted"}';
	const told = [];
	for (const [name, url, options] of [
		['get', target, {}],
		['simple get', target, {mode: 'no-cors'}],
		['simple post', target, {mode: 'no-cors', method: 'POST', body, headers: {'Content-Type': 'text/plain'}}],
		['form', target + '/?Action=CreateQueue&QueueName=planted', {mode: 'no-cors', method: 'POST'}],
		['call', target, {method: 'POST', body, headers: sqs}],
	]) {
		try {
			const answer = await fetch(url, options);
			told.push(name + ': ' + answer.type + ' ' + answer.status + (answer.ok ? ' ' + await answer.text() : ''));
		} catch (e) {
			told.push(name + ': nothing');
		}
	}
	return told.join(', ');
})`

// Pages of another site and of another port get no answer that they could read, also under a
// name that their owner lets point to this machine, and change nothing.
func TestForeignPagesCannotUseTheEmulators(t *testing.T) {
	t.Parallel()
	emulators := awstest.Start(t, nil)
	html := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>page</title>")
	})
	page := httptest.NewServer(html)
	t.Cleanup(page.Close)
	// For a browser the emulators are here under the name and the port of the page, as when the
	// name's owner changes its address after the page was loaded.
	mux := http.NewServeMux()
	mux.Handle("/page", html)
	mux.Handle("/", emulators)
	rebound := httptest.NewServer(mux)
	t.Cleanup(rebound.Close)
	own := localaws.New(nil)
	allowed := httptest.NewServer(localguard.API{Origins: []string{page.URL}, Refuse: localaws.Refuse}.Handler(own))
	t.Cleanup(allowed.Close)
	foreign := func(url string) string { return strings.Replace(url, "127.0.0.1", "evil.example", 1) }
	b := browse(t, chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	const nothing = "get: nothing, simple get: opaque 0, simple post: opaque 0, form: opaque 0, call: nothing"
	const refused = "get: basic 403, simple get: basic 403, simple post: basic 403, form: basic 403, call: basic 403"
	for _, tt := range []struct{ page, target, want string }{
		{page.URL, emulators.URL(), nothing},
		{foreign(page.URL), emulators.URL(), nothing},
		{foreign(page.URL), foreign(emulators.URL()), nothing},
		{foreign(rebound.URL) + "/page", foreign(rebound.URL), refused},
		{rebound.URL + "/page", rebound.URL, refused},
	} {
		b.run(chromedp.Navigate(tt.page))
		if got := eval[string](b, attacks+"('"+tt.target+"')"); got != tt.want {
			t.Errorf("a page of %s learns %s, want %s", tt.page, got, tt.want)
		}
	}
	queues, err := sqs.NewFromConfig(emulators.Config()).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil || len(queues.QueueUrls) > 0 {
		t.Errorf("queues %v, error %v", queues, err)
	}
	b.run(chromedp.Navigate(page.URL))
	if got := eval[string](b, attacks+"('"+allowed.URL+"')"); !strings.Contains(got, `call: cors 200 {"QueueUrl":`) {
		t.Errorf("an allowed page learns %s", got)
	}
	queues, err = sqs.NewFromConfig(localtest.Config(own)).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil || len(queues.QueueUrls) != 1 {
		t.Errorf("queues %v of the allowed page, error %v", queues, err)
	}
}
