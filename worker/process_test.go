package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/worker"
)

// jobVariable makes this test's program a worker. Its jobs ask there what to do.
const jobVariable = "WORKER_TEST_URL"

func TestMain(m *testing.M) {
	if url := os.Getenv(jobVariable); url != "" {
		applied := 0
		worker.Start(
			func(ctx context.Context, job task) error { return job.run(ctx, url, applied) },
			sqsafe.KeyField("id"), func(*sqsafe.Options) { applied++ },
		)
	}
	os.Exit(m.Run())
}

type task struct {
	ID string `json:"id"`
}

// run waits for the answer of the test.
func (j task) run(ctx context.Context, url string, applied int) error {
	url = fmt.Sprintf("%s/%s?applied=%d", url, j.ID, applied)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusTeapot:
		panic("short and stout")
	}
	return fault.Retryable(errors.New(response.Status))
}

// processLimit is many times what a process takes: one that hangs is killed.
const processLimit = 30 * time.Second

// process is a worker of its own, and the stack that it works with.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	limit   context.Context // ends with processLimit
	server  *localaws.Server
	queues  *sqs.Client
	stack   string // where it answers
	url     string
	jobs    string              // where jobs ask
	lines   chan map[string]any // of the log
	started chan string         // ids of jobs
	applied chan string         // how often the options were applied, for each
	answers map[string]chan int // HTTP status for each, by id
}

// newProcess makes the stack of a worker that is not started yet.
func newProcess(t *testing.T, visibility string, jobs ...string) *process {
	t.Helper()
	p := &process{
		t: t, server: localaws.New(nil), answers: map[string]chan int{"a": make(chan int, 10), "b": make(chan int, 10)},
		lines: make(chan map[string]any, 1000), started: make(chan string, 10), applied: make(chan string, 10),
	}
	stack := httptest.NewServer(p.server)
	asked := httptest.NewServer(http.HandlerFunc(p.job))
	t.Cleanup(stack.Close)
	t.Cleanup(asked.Close)
	t.Cleanup(asked.CloseClientConnections)
	p.stack, p.jobs, p.url = stack.URL, asked.URL, stack.URL+"/000000000000/jobs"
	p.create(visibility)
	for _, id := range jobs {
		p.send(id)
	}
	return p
}

// startProcess starts a worker on a stack of its own, with more variables.
func startProcess(t *testing.T, variables ...string) *process {
	t.Helper()
	p := newProcess(t, "30")
	p.start(variables...)
	return p
}

func (p *process) start(variables ...string) {
	p.t.Helper()
	var cancel context.CancelFunc
	p.limit, cancel = context.WithTimeout(context.Background(), processLimit)
	p.t.Cleanup(cancel)
	p.cmd = exec.CommandContext(p.limit, os.Args[0])
	p.cmd.Env = append(os.Environ(), append([]string{
		jobVariable + "=" + p.jobs, "AWS_ENDPOINT_URL=" + p.stack, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"SQSAFE_TABLE=ledger", "SQSAFE_DLQ_URL=" + p.stack + "/000000000000/dead", "SQSAFE_MAX_RECEIVES=30",
		"SQSAFE_QUEUE_URL=" + p.url, "SQSAFE_HEALTH_ADDR=127.0.0.1:0",
	}, variables...)...)
	log, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go p.read(log)
}

// job is what the worker's jobs ask.
func (p *process) job(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/")
	select {
	case p.applied <- r.URL.Query().Get("applied"):
	default: // one is enough
	}
	p.started <- id
	select {
	case status := <-p.answers[id]:
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

func (p *process) create(visibility string) {
	p.t.Helper()
	config := localtest.Config(p.server)
	p.queues = sqs.NewFromConfig(config)
	for _, name := range []string{"jobs", "dead"} {
		in := &sqs.CreateQueueInput{QueueName: &name, Attributes: map[string]string{"VisibilityTimeout": visibility}}
		if _, err := p.queues.CreateQueue(p.t.Context(), in); err != nil {
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

// begun waits until a job asks what to do, and gives its id.
func (p *process) begun() string {
	p.t.Helper()
	select {
	case id := <-p.started:
		return id
	case <-p.limit.Done():
		p.t.Fatalf("no job has started within %s", processLimit)
		return ""
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
	p.t.Fatalf("the worker ended without a line %q%s", message, p.hung())
	return nil
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// hung says where that is so that the process was killed because it did not end.
func (p *process) hung() string {
	if p.limit.Err() == nil {
		return ""
	}
	return fmt.Sprintf("; it was killed since it had not ended after %s", processLimit)
}

// exited waits for the end and checks its code.
func (p *process) exited(want int) {
	p.t.Helper()
	for range p.lines { // the pipe must be read before Wait
	}
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != want {
		p.t.Errorf("exit code %d, want %d%s", got, want, p.hung())
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
			p.begun()
			if applied := <-p.applied; applied != "1" {
				t.Errorf("options applied %s times, want once", applied)
			}
			if live, ready := p.probe(probes+"/livez"), p.probe(probes+"/readyz"); live != 200 || ready != 200 {
				t.Errorf("livez %d, readyz %d, want 200 and 200", live, ready)
			}
			p.signal(s)
			p.await("worker draining")
			if ready := p.probe(probes + "/readyz"); ready != 503 {
				t.Errorf("readyz %d while draining, want 503", ready)
			}
			p.answers["a"] <- http.StatusOK
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
	p.answers["a"] <- http.StatusTeapot
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
	p.begun()
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
	p.begun()
	p.signal(syscall.SIGTERM)
	p.await("worker draining")
	p.signal(syscall.SIGTERM)
	for line := range p.lines {
		t.Errorf("log line %v, want that nothing is waited for", line)
	}
	p.exited(3)
}

// A message that was given back comes again at its time, though the heartbeat hides
// others of its batch: the processor tells the heartbeat what it gives back.
func TestAFailedJobComesBackWhileItsBatchGoesOn(t *testing.T) {
	t.Parallel()
	p := newProcess(t, "2", "a", "b")
	p.start("SQSAFE_CONCURRENCY=2")
	p.begun()
	p.begun()
	p.answers["a"] <- http.StatusServiceUnavailable // for a second or two
	if id := p.begun(); id != "a" {
		t.Errorf("%s started again, want a", id)
	}
	p.answers["a"] <- http.StatusOK
	p.answers["b"] <- http.StatusOK
	p.signal(syscall.SIGTERM)
	p.exited(0)
	if n := p.left(); n != 0 {
		t.Errorf("%d messages left, want none", n)
	}
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
