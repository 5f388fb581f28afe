package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/worker"
)

// jobVariable makes this test's program a worker. Its jobs ask there what to do.
const jobVariable = "WORKER_TEST_URL"

func TestMain(m *testing.M) {
	if url := os.Getenv(jobVariable); url != "" {
		worker.Start(func(ctx context.Context, job task) error { return job.run(ctx, url) }, sqsafe.KeyField("id"))
	}
	os.Exit(m.Run())
}

type task struct {
	ID string `json:"id"`
}

// run waits for the answer of the test.
func (j task) run(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/"+j.ID, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusTeapot {
		panic("short and stout")
	}
	return nil
}

// process is a worker of its own, and the stack that it works with.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	server  *localaws.Server
	queues  *sqs.Client
	url     string
	lines   chan map[string]any // of the log
	started chan string         // ids of jobs
	answer  chan int            // HTTP status for each
}

// startProcess starts a worker on a stack of its own, with more variables.
func startProcess(t *testing.T, variables ...string) *process {
	t.Helper()
	p := &process{
		t: t, server: localaws.New(nil),
		lines: make(chan map[string]any, 1000), started: make(chan string, 10), answer: make(chan int, 10),
	}
	stack := httptest.NewServer(p.server)
	jobs := httptest.NewServer(http.HandlerFunc(p.job))
	t.Cleanup(stack.Close)
	t.Cleanup(jobs.Close)
	t.Cleanup(jobs.CloseClientConnections)
	p.create()
	p.url = stack.URL + "/000000000000/jobs"
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), append([]string{
		jobVariable + "=" + jobs.URL, "AWS_ENDPOINT_URL=" + stack.URL, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"SQSAFE_TABLE=ledger", "SQSAFE_DLQ_URL=" + stack.URL + "/000000000000/dead", "SQSAFE_MAX_RECEIVES=30",
		"SQSAFE_QUEUE_URL=" + p.url, "SQSAFE_HEALTH_ADDR=127.0.0.1:0",
	}, variables...)...)
	log, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go p.read(log)
	return p
}

// job is what the worker's jobs ask.
func (p *process) job(w http.ResponseWriter, r *http.Request) {
	p.started <- strings.TrimPrefix(r.URL.Path, "/")
	select {
	case status := <-p.answer:
		w.WriteHeader(status)
	case <-r.Context().Done():
	}
}

func (p *process) read(log io.Reader) {
	defer close(p.lines)
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		line := map[string]any{}
		if json.Unmarshal(scanner.Bytes(), &line) != nil {
			line["message"] = scanner.Text()
		}
		p.lines <- line
	}
}

func (p *process) create() {
	p.t.Helper()
	config := localtest.Config(p.server)
	p.queues = sqs.NewFromConfig(config)
	for _, name := range []string{"jobs", "dead"} {
		if _, err := p.queues.CreateQueue(p.t.Context(), &sqs.CreateQueueInput{QueueName: &name}); err != nil {
			p.t.Fatal(err)
		}
	}
	_, err := dynamodb.NewFromConfig(config).CreateTable(p.t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("ledger"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) send(id string) {
	p.t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &p.url, MessageBody: aws.String(fmt.Sprintf(`{"id":%q}`, id))}
	if _, err := p.queues.SendMessage(p.t.Context(), in); err != nil {
		p.t.Fatal(err)
	}
}

// await reads the log up to a line with the message.
func (p *process) await(message string) map[string]any {
	p.t.Helper()
	for line := range p.lines {
		if text, _ := line["message"].(string); strings.Contains(text, message) {
			return line
		}
	}
	p.t.Fatalf("the worker ended without a line %q", message)
	return nil
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// exited waits for the end and checks its code.
func (p *process) exited(want int) {
	p.t.Helper()
	for range p.lines { // the pipe must be read before Wait
	}
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != want {
		p.t.Errorf("exit code %d, want %d", got, want)
	}
}

// left counts the messages in the queue, hidden ones too.
func (p *process) left() int {
	for _, q := range p.server.SQS().Stats() {
		if q.Name == "jobs" {
			return q.Visible + q.NotVisible
		}
	}
	return -1
}

func (p *process) probe(path string) int {
	p.t.Helper()
	response, err := http.Get(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestSignalDrainsTheProcess(t *testing.T) {
	t.Parallel()
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			p := startProcess(t)
			probes := fmt.Sprint("http://", p.await("answering probes")["address"])
			p.send("a")
			<-p.started
			if live, ready := p.probe(probes+"/livez"), p.probe(probes+"/readyz"); live != 200 || ready != 200 {
				t.Errorf("livez %d, readyz %d, want 200 and 200", live, ready)
			}
			p.signal(s)
			p.await("worker draining")
			if ready := p.probe(probes + "/readyz"); ready != 503 {
				t.Errorf("readyz %d while draining, want 503", ready)
			}
			p.answer <- http.StatusOK
			p.exited(0)
			if n := p.left(); n != 0 {
				t.Errorf("%d messages left, want the job finished", n)
			}
		})
	}
}

func TestPanicEndsTheProcessWithItsCode(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.answer <- http.StatusTeapot
	p.send("a")
	if stack, _ := p.await("outcome")["stack"].(string); !strings.Contains(stack, "task.run") {
		t.Errorf("stack %q, want the place of the panic", stack)
	}
	p.exited(2)
}

func TestLimitEndsTheProcessWithItsCode(t *testing.T) {
	t.Parallel()
	p := startProcess(t, "SQSAFE_DRAIN_SECONDS=1")
	p.send("a")
	<-p.started
	p.signal(syscall.SIGTERM)
	if line := p.await("outcome"); line["outcome"] != "deferred" || line["level"] != "INFO" {
		t.Errorf("outcome %v, want an deferred job that is no error", line)
	}
	p.exited(3)
	if n := p.left(); n != 1 {
		t.Errorf("%d messages left, want the one that was cut off", n)
	}
}

func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.send("a")
	<-p.started
	p.signal(syscall.SIGTERM)
	p.await("worker draining")
	p.signal(syscall.SIGTERM)
	for line := range p.lines {
		t.Errorf("log line %v, want that nothing is waited for", line)
	}
	p.exited(3)
}

func TestWrongSettingsEndTheProcess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ variable, want string }{
		"no queue":      {"SQSAFE_QUEUE_URL=", "sqsafe: environment variable SQSAFE_QUEUE_URL is not set"},
		"no table":      {"SQSAFE_TABLE=", "sqsafe: environment variable SQSAFE_TABLE is not set"},
		"no region":     {"AWS_REGION=", "sqsafe: environment variable AWS_REGION is not set"},
		"wrong probes":  {"SQSAFE_HEALTH_ADDR=here", "sqsafe: answering probes at SQSAFE_HEALTH_ADDR"},
		"unknown queue": {"SQSAFE_QUEUE_URL=http://localhost/1/none", "sqsafe: worker: reading the attributes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProcess(t, "AWS_CONFIG_FILE=/dev/null", tt.variable)
			p.await(tt.want)
			p.exited(1)
		})
	}
}
