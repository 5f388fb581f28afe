package cli_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// served returns a stack that a command reaches at the URL.
func served(t *testing.T, source string) (s *letterstest.Stack, url string) {
	t.Helper()
	server := localaws.New(nil)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	return letterstest.On(t, server, endpoint.Config(web.URL), source), web.URL
}

// watcher ends the command after it has seen a text so often.
type watcher struct {
	bytes.Buffer
	text   string
	times  int
	cancel context.CancelFunc
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Count(w.String(), w.text) >= w.times {
		w.cancel()
	}
	return n, err
}

func TestDLQListWatches(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	s.Bury(`{"id":"c-1","do":"declined"}`, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watcher{text: "1 dead letter in 1 group", times: 2, cancel: cancel}, &bytes.Buffer{}
	code := cli.Run(ctx, []string{"dlq", "list", s.Dead, "--watch", "--interval", "1s", "--endpoint-sqs", url},
		cli.Streams{Out: out, Err: errs})
	if code != cli.ExitOK || out.Len() == 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}
