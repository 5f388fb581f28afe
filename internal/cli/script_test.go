package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC // golden files contain times of day
	testscript.Main(m, map[string]func(){
		"sqsafe": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// TestScripts runs the command like a user. $TAKEN is an address in use,
// $NOBODY one on which nothing listens, and $SQS the endpoint of the script's
// own server.
func TestScripts(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	nobody := httptest.NewServer(nil)
	nobody.Close()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("if help.txtar differs and the new text is right: go test ./internal/cli -update")
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TAKEN", taken.Addr().String())
			env.Setenv("NOBODY", nobody.Listener.Addr().String())
			for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE", "GOFLAGS"} {
				if value, ok := os.LookupEnv(name); ok {
					env.Setenv(name, value)
				}
			}
			return setupEngine(t, env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"large": makeLarge, "body": checkBody, "attribute": checkAttribute, "fault": injectFault,
			"table": makeTable, "job": makeJob, "exitcode": exitCode,
			"bury": buryJob, "moved": moveJob, "work": work, "total": checkTotal, "foreign": sendForeign,
		},
	})
}

// engineKey is the key of a script's server.
type engineKey struct{}

type scriptEngine struct {
	server *localaws.Server
	client *sqs.Client
	last   *sqs.ReceiveMessageOutput
	t      *testing.T
	stacks map[string]*letterstest.Stack // by source queue
}

func setupEngine(t *testing.T, env *testscript.Env) error {
	server := localaws.New(nil)
	mux := http.NewServeMux() // as a local stack has it, whose template gives queues other names
	mux.Handle("/", server)
	mux.HandleFunc("GET /_sqsafe/queues", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"OrdersQueue":"orders","StockQueue":"stock.fifo","ChargeQueue":"charges","Gone":"gone"}`)
	})
	web := httptest.NewServer(mux)
	env.Defer(web.Close)
	env.Setenv("SQS", web.URL)
	e := &scriptEngine{
		server: server, client: sqs.NewFromConfig(endpoint.Config(web.URL)), t: t, stacks: map[string]*letterstest.Stack{},
	}
	env.Values[engineKey{}] = e
	for _, in := range []*sqs.CreateQueueInput{
		{QueueName: aws.String("orders-dead")},
		{QueueName: aws.String("orders"), Attributes: map[string]string{
			"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:orders-dead","maxReceiveCount":3}`,
		}},
		{QueueName: aws.String("stock.fifo"), Attributes: map[string]string{"FifoQueue": "true"}},
	} {
		if _, err := e.client.CreateQueue(context.Background(), in); err != nil {
			return err
		}
	}
	return nil
}

// checkBody receives the only message of a queue and compares its body.
func checkBody(ts *testscript.TestScript, _ bool, args []string) {
	e := ts.Value(engineKey{}).(*scriptEngine)
	url := aws.String(ts.Getenv("SQS") + "/000000000000/" + args[0])
	var err error
	e.last, err = e.client.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{
		QueueUrl: url, MessageAttributeNames: []string{"All"},
	})
	ts.Check(err)
	if len(e.last.Messages) != 1 {
		ts.Fatalf("%d messages in %s", len(e.last.Messages), args[0])
	}
	if want := strings.ReplaceAll(args[1], `\n`, "\n"); *e.last.Messages[0].Body != want {
		ts.Fatalf("body %q, want %q", *e.last.Messages[0].Body, want)
	}
	_, err = e.client.DeleteMessage(context.Background(), &sqs.DeleteMessageInput{
		QueueUrl: url, ReceiptHandle: e.last.Messages[0].ReceiptHandle,
	})
	ts.Check(err)
}

// makeLarge writes a file of 2 MiB.
func makeLarge(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("x"), 2<<20), 0o600))
}

// checkAttribute compares an attribute of the message that was received last.
func checkAttribute(ts *testscript.TestScript, _ bool, args []string) {
	e := ts.Value(engineKey{}).(*scriptEngine)
	if got := aws.ToString(e.last.Messages[0].MessageAttributes[args[1]].StringValue); got != args[2] {
		ts.Fatalf("attribute %s is %q, want %q", args[1], got, args[2])
	}
}

// injectFault makes a call fail: "entries" for some of its entries, "code" with
// an error, "refuse" for some of its entries for good, "once" without an answer, "lost"
// without an answer at all attempts of the SDK.
func injectFault(ts *testscript.TestScript, _ bool, args []string) {
	fault := localaws.Fault{Operation: args[0], Times: 1}
	switch rest := args[2:]; args[1] {
	case "entries":
		fault.Entries = slices.Clone(rest)
	case "code":
		fault.Code = rest[0]
	case "refuse":
		fault.Entries, fault.Code = slices.Clone(rest), "ReceiptHandleIsInvalid"
	case "once":
		fault.Reset = true
	case "lost":
		fault.Reset, fault.Times = true, 3
	}
	ts.Value(engineKey{}).(*scriptEngine).server.Inject(fault)
}

// exitCode runs sqsafe with the arguments after the first, which is the
// expected exit code.
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	var exit *exec.ExitError
	err := ts.Exec("sqsafe", args[1:]...)
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("sqsafe %v: %v, want exit code %s", args[1:], err, args[0])
	}
}
