package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func scriptTables(ts *testscript.TestScript) *dynamodb.Client {
	return dynamodb.NewFromConfig(endpoint.Config(ts.Getenv("SQS")))
}

// makeTable creates a table in the script's server. The optional second
// argument is its TTL attribute.
func makeTable(ts *testscript.TestScript, _ bool, args []string) {
	client := scriptTables(ts)
	_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: &args[0], BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	ts.Check(err)
	if len(args) < 2 {
		return
	}
	_, err = client.UpdateTimeToLive(context.Background(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               &args[0],
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &args[1], Enabled: aws.Bool(true)},
	})
	ts.Check(err)
}

// makeJob puts a job into a table of the script's server: TABLE ID STATE.
func makeJob(ts *testscript.TestScript, _ bool, args []string) {
	store := dynamo.New(scriptTables(ts), args[0], nil)
	now, failure := time.Now(), &handler.Failure{Class: "permanent", Reason: "declined", Message: "card declined"}
	lease, expires := now.Add(time.Hour), now.Add(30*24*time.Hour)
	history := handler.History{}.Append(handler.Attempt{Number: 1, Class: "permanent", Reason: "declined"})
	answer, err := store.Acquire(context.Background(), idem.Request{
		ID: args[1], Owner: "owner-" + args[2], MessageID: "m1", Validation: "test1:aaaa", Now: now,
		Lease: lease, Expires: expires,
	})
	ts.Check(err)
	for _, s := range map[string][]idem.Settlement{
		"waiting": {{Kind: idem.SettleRelease, Attempts: 1, History: history, Lease: lease, Expires: expires}},
		"done":    {{Kind: idem.SettleComplete, Expires: expires}},
		"dead": {
			{
				Kind: idem.SettleVerdict, History: history, Lease: lease, Expires: expires, Failure: failure, DeadAt: now,
			},
			{Kind: idem.SettleConfirm, DeadLetterID: "dl-1"},
		},
	}[args[2]] {
		ts.Check(store.Settle(context.Background(), answer.Claim, s))
	}
}

// TestLedgerReadsTheLocalStack reads the ledger of the local stack that ran a job.
func TestLedgerReadsTheLocalStack(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	other := httptest.NewServer(localaws.New(nil))
	t.Cleanup(other.Close)
	s := start(t.Context(), t, "--until-idle", "--endpoint-sqs", other.URL, "--endpoint-dynamodb", other.URL,
		"--jobs", jobsFile(t, goodJob), "PaymentUrl="+server.URL)
	s.end(cli.ExitOK)
	out, _ := run(t.Context(), t, cli.ExitOK, "", "ledger", "list", "--json", "--endpoint-dynamodb", other.URL)
	var job struct {
		ID, Status, State string
		Claims, Settled   int
	}
	if err := json.Unmarshal([]byte(out), &job); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if job.Status != "COMPLETED" || job.State != "done" || job.Claims != 1 || job.Settled != 1 {
		t.Errorf("job %s", out)
	}
	again, _ := run(t.Context(), t, cli.ExitOK, "", "ledger", "get", job.ID, "--json", "--endpoint-dynamodb", other.URL)
	if again != out {
		t.Errorf("get says %s, list %s", again, out)
	}
}

func TestLedgerListIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // read the body, or the server does not notice that the client disconnects
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	out, errs := run(ctx, t, cli.ExitInterrupted, "", "ledger", "list", "--endpoint-dynamodb", web.URL)
	if out != "" || errs != "" {
		t.Errorf("output %q, standard error %q", out, errs)
	}
}

func TestExitCodesOfLedger(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(localaws.New(nil))
	t.Cleanup(web.Close)
	here := "--endpoint-dynamodb=" + web.URL
	for _, tt := range []struct {
		name string
		code int
		args []string
	}{
		{"no table", cli.ExitFailed, []string{"get", "k", here}},
		{"no command", cli.ExitUsage, nil},
		{"no key", cli.ExitUsage, []string{"get", here}},
		{"no reason", cli.ExitUsage, []string{"forget", "k", "--yes", here}},
		{"no terminal to ask on", cli.ExitUsage, []string{"forget", "k", "--reason=test", here}},
		{"no status", cli.ExitUsage, []string{"list", "--status=LOST", here}},
	} {
		out, errs := run(t.Context(), t, tt.code, "", append([]string{"ledger"}, tt.args...)...)
		if out != "" || errs == "" {
			t.Errorf("%s: output %q, standard error %q", tt.name, out, errs)
		}
	}
}
