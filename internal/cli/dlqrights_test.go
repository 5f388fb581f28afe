package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// witness notes the actions of all calls, with the queue or table that they name.
type witness struct {
	*localaws.Server

	mu    sync.Mutex
	calls map[string]bool
}

func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in struct{ QueueURL, QueueName, SourceArn string }
	_ = json.Unmarshal(body, &in)
	prefix := map[string]string{"AmazonSQS": "sqs:", "DynamoDB_20120810": "dynamodb:"}[service]
	if prefix == "sqs:" {
		operation = strings.TrimSuffix(operation, "Batch")
	}
	name := in.QueueName + in.QueueURL[strings.LastIndexByte(in.QueueURL, '/')+1:] +
		in.SourceArn[strings.LastIndexByte(in.SourceArn, ':')+1:]
	on := "source"
	switch {
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/2015-03-31/event-source-mappings"):
		on, prefix, operation = "*", "lambda:", "ListEventSourceMappings"
	case prefix == "dynamodb:":
		on = "table"
	case name == "charges-dead":
		on = "queue"
	}
	w.mu.Lock()
	w.calls[on+" "+prefix+operation] = true
	w.mu.Unlock()
	w.Server.ServeHTTP(out, r)
}

// The rights that dlq policy prints are those of the calls that the commands make: no more,
// and no fewer.
func TestDLQPolicyHasTheRightsOfTheCalls(t *testing.T) {
	t.Parallel()
	// What SQS does for a move task, and what needs a task that runs.
	bySQS := []string{"queue sqs:ReceiveMessage", "queue sqs:DeleteMessage", "source sqs:SendMessage",
		"queue sqs:CancelMessageMoveTask"}
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		not  []string
	}{
		"list":    {args: []string{"list", "charges-dead"}},
		"status":  {args: []string{"status", "charges-dead", "--max", "9"}},
		"show":    {args: []string{"show", "charges-dead", "c-1"}, not: []string{"table dynamodb:Scan"}},
		"replay":  {args: []string{"replay", "charges-dead", "--text", "m", "--yes", "--rate", "0", "--journal", dir}},
		"archive": {args: []string{"archive", "charges-dead", dir + "/a", "--text", "m", "--yes"}, not: tableRights},
		"discard": {
			args: []string{"discard", "charges-dead", "--text", "m", "--reason", "x", "--yes", "--archive", dir + "/d"},
			not:  tableRights,
		},
		"restore": {args: []string{"restore", "charges-dead", dir + "/kept", "--yes"}},
		"redrive": {args: []string{"redrive", "charges-dead", "--yes", "--rate", "500"}, not: bySQS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &witness{Server: localaws.New(nil), calls: map[string]bool{}}
			web := httptest.NewServer(w)
			t.Cleanup(web.Close)
			fill(t, w.Server, web.URL)
			if name == "restore" {
				mustRun(t, "dlq", "archive", "charges-dead", dir+"/kept", "--keep", "--endpoint-sqs", web.URL)
			}
			w.calls = map[string]bool{}
			mustRun(t, append(append([]string{"dlq"}, tt.args...), "--table", letterstest.Table, "--endpoint-sqs", web.URL)...)
			for _, call := range tt.not {
				w.calls[call] = true
			}
			want := slices.Sorted(maps.Keys(policy(t, name)))
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(w.calls))); diff != "" {
				t.Errorf("rights (-policy +calls):\n%s", diff)
			}
		})
	}
}

// tableRights are those that archive and discard would need to look at the ledger: to ask
// for them is simpler than to tell the commands apart, and they only read.
var tableRights = []string{"table dynamodb:BatchGetItem", "table dynamodb:Scan"}

// fill makes letters of all kinds, of which one has no "m" and stays: recorded, moved, and from another source.
func fill(t *testing.T, server *localaws.Server, url string) {
	t.Helper()
	s := letterstest.On(t, server, endpoint.Config(url), "charges")
	s.Bury(`{"id":"c-1","do":"declined"}`, "")
	s.Send(s.SourceURL, "moved", "", nil)
	s.MoveBySQS()
	other := letterstest.On(t, server, endpoint.Config(url), "mails")
	other.Bury(`{"id":"m-1","do":"declined"}`, "")
	for _, m := range other.Drain(other.DeadURL) {
		_, err := s.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &s.DeadURL, MessageBody: m.Body, MessageAttributes: m.MessageAttributes,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, errs := &bytes.Buffer{}, &bytes.Buffer{}
	if code := cli.Run(t.Context(), args, cli.Streams{Out: out, Err: errs}); code != cli.ExitOK {
		t.Fatalf("%v: exit code %d: %s%s", args, code, out, errs)
	}
	return out.String()
}

// policy returns the rights of a command, without those of services that the commands of the test do not call.
func policy(t *testing.T, command string) map[string]bool {
	t.Helper()
	var p struct {
		Statement []struct{ Action, Resource []string }
	}
	text := mustRun(t, "dlq", "policy", command, "--queue", "queue", "--source", "source", "--table", "table")
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, s := range p.Statement {
		for _, action := range s.Action {
			if !strings.HasPrefix(action, "kms:") && !strings.HasPrefix(action, "cloudwatch:") &&
				!strings.HasPrefix(action, "logs:") {
				all[s.Resource[0]+" "+action] = true
			}
		}
	}
	return all
}
