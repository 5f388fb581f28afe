package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/awstest"
)

const page = "../../docs/emulators.md"

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestThePageShowsWhatIsTested(t *testing.T) {
	t.Parallel()
	text := read(t, page)
	for language, file := range map[string]string{
		"python": "testdata/python/example.py", "js": "testdata/js/example.mjs", "java": "testdata/java/Example.java",
		"sh": "testdata/cli/example.sh",
	} {
		if block := "```" + language + "\n" + read(t, file) + "```\n"; !strings.Contains(text, block) {
			t.Errorf("%s does not show %s", page, file)
		}
	}
	_, rest, _ := strings.Cut(text, "```go\n")
	block, _, _ := strings.Cut(rest, "```")
	if block == "" || !strings.Contains(read(t, "../../awstest/guide_test.go"), block) {
		t.Errorf("the Go code of %s is not in awstest/guide_test.go", page)
	}
}

// stack starts emulators with what the programs use, and returns their environment: that
// which sqsafe local --env prints, and nothing of this process.
func stack(t *testing.T) []string {
	t.Helper()
	s := awstest.Start(t, nil)
	queue := &sqs.CreateQueueInput{QueueName: aws.String("orders")}
	_, err := sqs.NewFromConfig(s.Config()).CreateQueue(t.Context(), queue)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamodb.NewFromConfig(s.Config()).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("jobs"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"AWS_ENDPOINT_URL=" + s.URL(), "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "NODE_OPTIONS=--no-warnings",
	}
}

func TestTheProgramsOfThePage(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	python, build := root+"/.venv-powertools", root+"/.build"
	js, java := build+"/clients/js", build+"/clients/java"
	for name, tt := range map[string]struct {
		needs   string // a file of the client
		install string // the target that installs it
		command []string
	}{
		"boto3": {
			python + "/installed", "powertools-venv", []string{python + "/bin/python", "testdata/python/example.py"},
		},
		"AWS CLI": {
			build + "/awscli/installed", "runbook-venv",
			[]string{"env", "PATH=" + build + "/awscli/bin:" + os.Getenv("PATH"), "sh", "-eu", "testdata/cli/example.sh"},
		},
		"JavaScript": {
			js + "/node_modules", "clients", []string{"node", js + "/example.mjs"},
		},
		"Java": {
			java + "/target/classes", "clients",
			[]string{"sh", "-c", `java -cp "$0/target/classes:$(cat "$0/classpath")" Example`, java},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "boto3" && os.Getenv("SQSAFE_CLIENTS") == "" {
				t.Skip("it takes seconds to start; make clients runs it")
			}
			if _, err := os.Stat(tt.needs); err != nil {
				t.Skip("not installed; make " + tt.install + " does it")
			}
			command := exec.CommandContext(t.Context(), tt.command[0], tt.command[1:]...)
			command.Env = stack(t)
			out, err := command.CombinedOutput()
			if err != nil || string(out) != "hello\n" {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
