package powertools_test

import (
	"bufio"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

const (
	table = "jobs"
	queue = "charges"
)

// shared is a job in a table that our store and Powertools share.
type shared struct {
	*testing.T
	program

	key    string
	client *dynamodb.Client
	store  *dynamo.Store
	owners int
}

// jobID returns the id that Powertools gives the job: its prefix, and the MD5
// of the key in JSON. A key function that returns this MD5 gives our store the
// same id.
func (s *shared) jobID() string {
	sum := md5.Sum([]byte(`"` + s.key + `"`))
	return queue + "#" + hex.EncodeToString(sum[:])
}

// answer is the result of the Python program for a job.
type answer struct {
	Running bool              `json:"running"`
	Ran     bool              `json:"ran"`
	Result  map[string]string `json:"result"`
	// Errors are the class names of the error and of its causes.
	Errors []string `json:"errors"`
}

func share(t *testing.T) *shared {
	t.Helper()
	server := localaws.New(nil)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	s := &shared{T: t, key: "ch-1", client: dynamodb.NewFromConfig(localtest.Config(server))}
	_, err := s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.store = dynamo.New(s.client, table, nil)
	s.program = start(t, "jobs.py", web.URL)
	return s
}

// program is a Python program that answers lines.
type program struct {
	in  io.Writer
	out *bufio.Scanner
}

// start runs a program of testdata against the services at the endpoint, until the test
// ends.
func start(t *testing.T, name, endpoint string) program {
	t.Helper()
	python, err := filepath.Abs(filepath.Join("..", "..", ".venv-powertools", "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v; CI makes it with make powertools-venv", err)
		}
		t.Skip("Powertools for Python is not here; make powertools-venv installs it")
	}
	// The program ends when its input ends, not with the test's context, which
	// ends before the cleanup functions run.
	command := exec.CommandContext(context.WithoutCancel(t.Context()),
		python, "-I", "-W", "ignore", filepath.Join("testdata", name))
	command.Env = []string{
		"AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
	}
	errs := &strings.Builder{}
	command.Stderr = errs
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("the Python program: %v\n%s", err, errs)
		}
	})
	p := program{in, bufio.NewScanner(out)}
	p.out.Buffer(nil, 16<<20) // a letter may have 1 MiB
	return p
}

// job is an instruction for the Python program.
type job struct {
	Table string `json:"table"`
	Queue string `json:"queue"`
	Key   string `json:"key"`
	End   string `json:"end"`
	// Left is the remaining time of the invocation in milliseconds; nil means
	// that there is no Lambda context.
	Left  *int64 `json:"left"`
	Check bool   `json:"check"`
}

// anHour is a remaining time that is longer than the test.
func anHour() *int64 { return aws.Int64(time.Hour.Milliseconds()) }

// powertools runs the job with Powertools.
func (s *shared) powertools(end string, left *int64) answer {
	s.Helper()
	return s.run(job{Table: table, Queue: queue, Key: s.key, End: end, Left: left})
}

func (s *shared) run(j job) answer {
	s.Helper()
	line, err := json.Marshal(j)
	if err != nil {
		s.Fatal(err)
	}
	return s.tell(string(line))
}

// tell tells the program the line and returns its answer.
func (s *shared) tell(line string) (a answer) {
	s.Helper()
	s.ask(s.T, line, &a)
	return a
}

// ask writes a line to the program and decodes the answer.
func (p *program) ask(t *testing.T, line string, answer any) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	if !p.out.Scan() {
		t.Fatalf("the Python program has ended: %v", p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), answer); err != nil {
		t.Fatalf("%v in %q", err, p.out.Text())
	}
}

// acquire claims the job with our store, with a lease of that length.
func (s *shared) acquire(lease time.Duration, want idem.AnswerKind) idem.Answer {
	s.Helper()
	s.owners++
	now := time.Now()
	a, err := s.store.Acquire(s.Context(), idem.Request{
		ID: s.jobID(), Owner: string(rune('a' + s.owners)), MessageID: "m1", Validation: "test1:aaaa",
		SentAt: now.Add(-time.Minute), Now: now, Lease: now.Add(lease), Expires: now.Add(time.Hour),
	})
	if err != nil || a.Kind != want {
		s.Fatalf("our store says %s, %v; want %s", a.Kind, err, want)
	}
	return a
}

// settle settles our claim, with a lease that ends that long from now.
func (s *shared) settle(a idem.Answer, kind idem.SettlementKind, lease time.Duration) error {
	now := time.Now()
	return s.store.Settle(s.Context(), a.Claim, idem.Settlement{
		Kind: kind, Lease: now.Add(lease), Expires: now.Add(time.Hour), Attempts: 1, DeadAt: now, DeadLetterID: "dl-1",
	})
}

// must is like settle, and fails the test on an error.
func (s *shared) must(a idem.Answer, kind idem.SettlementKind, lease time.Duration) {
	s.Helper()
	if err := s.settle(a, kind, lease); err != nil {
		s.Fatal(err)
	}
}

// item returns the item of the job.
func (s *shared) item() map[string]types.AttributeValue {
	s.Helper()
	out, err := s.client.GetItem(s.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: s.jobID()}},
	})
	if err != nil {
		s.Fatal(err)
	}
	return out.Item
}
