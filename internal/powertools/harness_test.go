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

// shared is a job in a table between our store and Powertools.
type shared struct {
	*testing.T
	key    string
	client *dynamodb.Client
	store  *dynamo.Store
	in     io.Writer
	out    *bufio.Scanner
	owners int
}

// jobID is the id that Powertools gives the job: its prefix, and the MD5 of
// the key in JSON. A key function that gives the latter makes it ours too.
func (s *shared) jobID() string {
	sum := md5.Sum([]byte(`"` + s.key + `"`))
	return queue + "#" + hex.EncodeToString(sum[:])
}

// answer is what the Python program says of a job.
type answer struct {
	Running bool              `json:"running"`
	Ran     bool              `json:"ran"`
	Result  map[string]string `json:"result"`
	// Errors are the names of the error and of its causes.
	Errors []string `json:"errors"`
}

func share(t *testing.T) *shared {
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
	server := localaws.New(nil)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	s := &shared{T: t, key: "ch-1", client: dynamodb.NewFromConfig(localtest.Config(server))}
	_, err = s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.store = dynamo.New(s.client, table, nil)
	s.startPython(python, web.URL)
	return s
}

// startPython runs the program until the test ends.
func (s *shared) startPython(python, endpoint string) {
	s.Helper()
	// It ends with its input, and not with the test's context, which is over
	// before the cleanup.
	command := exec.CommandContext(context.WithoutCancel(s.Context()),
		python, "-I", "-W", "ignore", filepath.Join("testdata", "jobs.py"))
	command.Env = []string{
		"AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
	}
	errs := &strings.Builder{}
	command.Stderr = errs
	in, err := command.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.Fatal(err)
	}
	s.in, s.out = in, bufio.NewScanner(out)
	s.Cleanup(func() {
		_ = in.Close()
		if err := command.Wait(); err != nil {
			s.Errorf("the Python program: %v\n%s", err, errs)
		}
	})
}

// job is what the Python program is told to do.
type job struct {
	Table string `json:"table"`
	Queue string `json:"queue"`
	Key   string `json:"key"`
	End   string `json:"end"`
	// Left is what the invocation has left, in milliseconds; nil without a
	// Lambda context.
	Left  *int64 `json:"left"`
	Check bool   `json:"check"`
}

// anHour is a deadline that the test does not see.
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

// tell writes a line and reads the answer.
func (s *shared) tell(line string) (a answer) {
	s.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.Fatal(err)
	}
	if !s.out.Scan() {
		s.Fatalf("the Python program has ended: %v", s.out.Err())
	}
	if err := json.Unmarshal(s.out.Bytes(), &a); err != nil {
		s.Fatalf("%v in %q", err, s.out.Text())
	}
	return a
}

// acquire asks for the job in our way, with a claim for that long.
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

// settle settles our claim with the lease that far from now.
func (s *shared) settle(a idem.Answer, kind idem.SettlementKind, lease time.Duration) error {
	now := time.Now()
	return s.store.Settle(s.Context(), a.Claim, idem.Settlement{
		Kind: kind, Lease: now.Add(lease), Expires: now.Add(time.Hour), Attempts: 1, DeadAt: now, DeadLetterID: "dl-1",
	})
}

// must is settle that succeeds.
func (s *shared) must(a idem.Answer, kind idem.SettlementKind, lease time.Duration) {
	s.Helper()
	if err := s.settle(a, kind, lease); err != nil {
		s.Fatal(err)
	}
}

// item is what the table holds of the job.
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
