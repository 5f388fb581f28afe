package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/local"
)

// emulators runs sqsafe local without functions until the test ends, and returns its output
// up to where it is ready. A line of it that ends makes it ready.
func emulators(t *testing.T, ready func(line string) bool, args ...string) (lines []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		args := append([]string{"local", "--addr", "127.0.0.1:0"}, args...)
		code := cli.Run(ctx, args, cli.Streams{Out: writer, Err: &errs})
		_ = writer.Close()
		ended <- code
	}()
	t.Cleanup(func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, reader) }()
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	})
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(reader, b); err != nil {
			return lines // it has closed its output
		}
		if line = append(line, b[0]); b[0] == '\n' {
			lines = append(lines, strings.TrimSuffix(string(line), "\n"))
			if line = nil; ready(lines[len(lines)-1]) {
				return lines
			}
		}
	}
}

func TestEmulatorsAlone(t *testing.T) {
	t.Parallel()
	lines := emulators(t, func(line string) bool { return strings.Contains(line, `"event":"ready"`) }, "--json",
		"--queue", "orders,dlq=orders-dead,max=2,VisibilityTimeout=0", "--queue", "steps.fifo,ContentBasedDeduplication=true",
		"--table", "jobs:customer:at=N,ttl=expires")
	var ready local.Event
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &ready); err != nil {
		t.Fatal(err)
	}
	base := ready.Environment["AWS_ENDPOINT_URL"]
	names := []string{"orders", "orders-dead", "steps.fifo"}
	if base != "http://"+ready.Address || len(ready.Queues) != len(names) ||
		!slices.Equal(ready.Tables, []string{"jobs"}) ||
		ready.Environment["AWS_ACCESS_KEY_ID"] == "" || ready.Environment["AWS_DEFAULT_REGION"] == "" {
		t.Fatalf("ready: %+v", ready)
	}
	queues := sqs.NewFromConfig(endpoint.Config(base))
	receive := func(queue string) int {
		out, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(ready.Queues[queue])})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Messages)
	}
	for _, name := range []string{"orders", "steps.fifo"} {
		in := &sqs.SendMessageInput{QueueUrl: aws.String(ready.Queues[name]), MessageBody: aws.String("x")}
		if name == "steps.fifo" {
			in.MessageGroupId = aws.String("g")
		}
		if _, err := queues.SendMessage(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	got := []int{receive("orders"), receive("orders"), receive("orders"), receive("orders-dead"), receive("steps.fifo")}
	if diff := cmp.Diff([]int{1, 1, 0, 1, 1}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	checkTable(t, dynamodb.NewFromConfig(endpoint.Config(base)))
}

func checkTable(t *testing.T, tables *dynamodb.Client) {
	t.Helper()
	out, err := tables.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("jobs")})
	if err != nil {
		t.Fatal(err)
	}
	want := []types.KeySchemaElement{
		{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String("at"), KeyType: types.KeyTypeRange},
	}
	if len(out.Table.KeySchema) != 2 || *out.Table.KeySchema[1].AttributeName != *want[1].AttributeName ||
		out.Table.KeySchema[1].KeyType != want[1].KeyType {
		t.Errorf("key %+v, want %+v", out.Table.KeySchema, want)
	}
	ttl, err := tables.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("jobs")})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "expires" {
		t.Errorf("expiry %+v, error %v", ttl, err)
	}
}

// What --env prints is read by a shell, also where the name of a queue has other characters
// than that of a variable. The output ends there, so that the shell goes on.
func TestVariablesForAShell(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	lines := emulators(t, func(string) bool { return false }, "--env", "--queue", "my-orders.fifo")
	script := strings.Join(lines, "\n") +
		"\n" + `printf '%s|' "$AWS_ENDPOINT_URL" "$QUEUE_URL_MY_ORDERS_FIFO" "$SQSAFE_LOCAL_PID"`
	out, err := exec.CommandContext(t.Context(), shell, "-eu", "-c", script).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, script)
	}
	part := strings.Split(string(out), "|")
	if len(part) != 4 || part[1] != part[0]+"/123456789012/my-orders.fifo" || part[2] == "" {
		t.Fatalf("%s gives %q", script, part)
	}
	queues := sqs.NewFromConfig(endpoint.Config(part[0]))
	if _, err := queues.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &part[1], AttributeNames: []sqstypes.QueueAttributeName{"All"},
	}); err != nil {
		t.Error(err)
	}
}

// A template may have no function with an SQS event, and functions that are in another
// language are left out on request.
func TestATemplateWithoutFunctions(t *testing.T) {
	t.Parallel()
	const queues = "Transform: AWS::Serverless-2016-10-31\nResources:\n  Orders: {Type: AWS::SQS::Queue}\n"
	const python = "  F:\n    Type: AWS::Serverless::Function\n    Properties:\n" +
		"      Runtime: python3.13\n      Handler: a.b\n" +
		"      CodeUri: .\n      Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}\n"
	for name, tt := range map[string]struct {
		template string
		args     []string
	}{
		"no function":         {queues, nil},
		"in another language": {queues + python, []string{"--emulators"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "template.yaml")
			if err := os.WriteFile(file, []byte(tt.template), 0o600); err != nil {
				t.Fatal(err)
			}
			isQueue := func(line string) bool { return strings.HasPrefix(line, "queue Orders  http://127.0.0.1:") }
			lines := emulators(t, isQueue, append([]string{"--template", file}, tt.args...)...)
			if len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1], "queue Orders") {
				t.Errorf("output %q", lines)
			}
		})
	}
}

func TestWrongEmulators(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--queue orders --template x.yaml":        "leave --template out",
		"--queue orders --until-idle":             "--until-idle waits for functions",
		"--emulators --until-idle":                "--until-idle waits for functions",
		"--queue orders --env --json":             "leave --json and --until-idle out",
		"--queue ,dlq=x":                          "give NAME, or NAME,dlq=NAME,max=N",
		"--queue orders,dlq":                      `"dlq" is not NAME=VALUE, such as dlq=orders-dlq`,
		"--queue orders,max=3":                    "max needs a dead-letter queue; add dlq=NAME",
		"--queue orders,dlq=d,max=0":              `max is "0"; SQS takes 1 to 1000`,
		"--queue orders.fifo,dlq=d":               "must both end in .fifo, or neither",
		"--queue orders,dlq=orders":               "cannot be its own dead-letter queue",
		"--queue orders --queue orders":           "queue orders is given twice",
		"--queue orders,Visibility=1":             "queue orders: InvalidAttributeName",
		"--queue or+ders":                         "queue or+ders: InvalidParameterValue",
		"--table jobs":                            "give NAME:KEY, NAME:KEY:SORTKEY or NAME:KEY=N,ttl=ATTRIBUTE",
		"--table jobs:a:b:c":                      "give NAME:KEY",
		"--table jobs:a=X":                        `"a=X" is no key`,
		"--table jobs:a,tll=x":                    `"tll=x" is not ttl=ATTRIBUTE`,
		"--table jobs:a --table jobs:b":           "table jobs is given twice",
		"--allow-host http://x --queue q":         "give a name without a port",
		"--allow-origin localhost:3000 --queue q": "such as http://localhost:3000",
		"--template none.yaml":                    "give --queue NAME or --emulators to run without one",
	} {
		var out, errs bytes.Buffer
		all := append([]string{"local", "--addr", "127.0.0.1:0"}, strings.Fields(args)...)
		code := cli.Run(t.Context(), all, cli.Streams{Out: &out, Err: &errs})
		if text := errs.String(); code == cli.ExitOK || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("sqsafe local %s: exit code %d: %s", args, code, text)
		}
	}
}

func TestAWarningOfAnAddressForAll(t *testing.T) {
	t.Parallel()
	isReady := func(line string) bool { return strings.HasPrefix(line, "ready, ") }
	for address, warned := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false, "localhost:0": false} {
		text := strings.Join(emulators(t, isReady, "--emulators", "--addr", address), "\n")
		if strings.Contains(text, "is not a loopback address: whoever reaches it") != warned {
			t.Errorf("%s: %s", address, text)
		}
	}
}
