package stack

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/alarmset"
	"github.com/sqsafe/sqsafe/internal/stackedit"
)

const additionFile = "../../docs/add-to-your-template.yaml"

// addition returns the template fragment for one more queue, with its CodeUri
// set to an existing folder.
func addition(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(additionFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(data), "functions/example/", "functions/charge/", 1)
}

// perQueue matches the part of a section that exists once per queue. An
// addition has three of them: in Parameters, Resources and Outputs.
var perQueue = regexp.MustCompile(`(?s)  # From here: once for each queue[^\n]*\n(.*?)  # To here\.\n`)

// without returns the parameters other than those named, which a template does
// not have.
func without(parameters map[string]string, names ...string) map[string]string {
	rest := maps.Clone(parameters)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

// wantSound inspects a template. absent names the parameters that it does not
// have.
func wantSound(t *testing.T, text string, absent ...string) {
	t.Helper()
	for _, problem := range inspect(text, nil, without(changed(), absent...), without(utmost(), absent...)) {
		t.Error(problem)
	}
}

func TestAdditionIsAValidStack(t *testing.T) {
	t.Parallel()
	wantSound(t, addition(t), "FifoMaxReceiveCount", "PaymentUrl", "NotifyUrl")
}

// TestAdditionForAFIFOQueue follows step 4 of docs/add-to-your-template.md,
// with the addition as the whole stack.
func TestAdditionForAFIFOQueue(t *testing.T) {
	t.Parallel()
	text := addition(t)
	for _, step := range []struct{ old, new string }{
		{"Example", "Refund"},
		{"      QueueName: !Ref", "      FifoQueue: true\n      ContentBasedDeduplication: true\n      QueueName: !Ref"},
		{
			"      MessageRetentionPeriod: 1209600\n", "      MessageRetentionPeriod: 1209600\n      FifoQueue: true\n" +
				"      QueueName: !Sub dead-${RefundQueueName}\n",
		},
		{"Default: RefundQueue,", "Default: RefundQueue.fifo,"},
		{`"^[A-Za-z0-9_-]{1,80}$"`, `"^[A-Za-z0-9_-]{1,70}[.]fifo$"`},
		{
			"\nParameters:\n", "\nParameters:\n  RefundMaxReceiveCount: {Type: Number, Default: 200, MinValue: 5,\n" +
				"    MaxValue: 1000, Description: Receives after which SQS itself moves a message.}\n",
		},
		{"!Ref MaxReceiveCount", "!Ref RefundMaxReceiveCount"},
		{"{MaxReceiveCount}", "{RefundMaxReceiveCount}"},
	} {
		if !strings.Contains(text, step.old) {
			t.Errorf("the addition has no %q", step.old)
		}
		text = strings.ReplaceAll(text, step.old, step.new)
	}
	for _, problem := range inspect(text, nil) {
		if !strings.Contains(problem, "parameter MaxReceiveCount is used nowhere") { // the only queue has its own
			t.Error(problem)
		}
	}
}

// TestAdditionMergesIntoATemplate follows docs/add-to-your-template.md, with the
// repository's template as the user's own.
func TestAdditionMergesIntoATemplate(t *testing.T) {
	t.Parallel()
	parts := perQueue.FindAllStringSubmatch(addition(t), -1)
	sections := []string{"\nParameters:\n", "\nResources:\n", "\nOutputs:\n"}
	if len(parts) != len(sections) {
		t.Fatalf("%d parts for each queue, want %d", len(parts), len(sections))
	}
	text := repositoryText(t)
	for i, name := range sections {
		part := strings.ReplaceAll(parts[i][1], "Example", "Refund")
		part = strings.Replace(part, "      Architectures: [!Ref Architecture]\n", "", 1) // the template sets it in Globals
		text = strings.Replace(text, name, name+part, 1)
	}
	request := stackedit.Request{Alarms: alarmset.Basic, Rollback: true}
	added, err := stackedit.Add(repositoryTemplate, []byte(text), request)
	if err != nil || added.Refused != nil {
		t.Fatal(err, added.Refused)
	}
	text = string(added.Text)
	s, err := parseSAM(repositoryTemplate, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Queue("RefundDeadLetterQueue"); !ok || len(s.Functions) != 4 {
		t.Errorf("%d functions, queues %v, want one more", len(s.Functions), s.Queues)
	}
	wantSound(t, text)
}

// block matches a member of a section, with the comment above it.
var block = regexp.MustCompile(`(?m)^(?:  #.*\n)*  ([A-Za-z]+):.*\n(?:(?:    .*)?\n)*`)

// TestTemplateCutDownToOneQueue removes everything for the other queues from
// the template.
func TestTemplateCutDownToOneQueue(t *testing.T) {
	t.Parallel()
	text := block.ReplaceAllStringFunc(repositoryText(t), func(text string) string {
		name := block.FindStringSubmatch(text)[1]
		for _, prefix := range []string{"Stock", "Notify", "Fifo", "Dashboard"} {
			if strings.HasPrefix(name, prefix) {
				return ""
			}
		}
		return text
	})
	// The dashboard is replaced by that of the addition, since it names all
	// queues.
	for _, found := range block.FindAllString(addition(t), -1) {
		name := block.FindStringSubmatch(found)[1]
		found = strings.ReplaceAll(found, "Example", "Charge")
		switch name {
		case "ExampleDashboard":
			text = strings.Replace(text, "\nResources:\n", "\nResources:\n"+found, 1)
		case "ExampleDashboardUrl":
			text = strings.Replace(text, "\nOutputs:\n", "\nOutputs:\n"+found, 1)
		}
	}
	s, err := parseSAM(repositoryTemplate, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Functions) != 1 || len(s.Queues) != 2 || len(s.Tables) != 1 {
		t.Errorf("%d functions, %d queues, %d tables, want 1, 2, 1", len(s.Functions), len(s.Queues), len(s.Tables))
	}
	wantSound(t, text, "FifoMaxReceiveCount", "NotifyUrl")
}
