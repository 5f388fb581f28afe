package stack

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

const additionFile = "../../docs/add-to-your-template.yaml"

// addition is the piece for one more queue, with code that is there.
func addition(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(additionFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(data), "functions/example/", "functions/charge/", 1)
}

// section of a template that is once for each queue, of which an addition has
// three: in Parameters, Resources and Outputs.
var perQueue = regexp.MustCompile(`(?s)  # From here: once for each queue[^\n]*\n(.*?)  # To here\.\n`)

// without drops the parameters that a template has no use for.
func without(parameters map[string]string, names ...string) map[string]string {
	rest := maps.Clone(parameters)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

// wantSound inspects a template without the parameters of that name.
func wantSound(t *testing.T, text string, absent ...string) {
	t.Helper()
	for _, problem := range inspect(text, nil, without(changed(), absent...), without(utmost(), absent...)) {
		t.Error(problem)
	}
}

func TestAdditionIsAStackOfItsOwn(t *testing.T) {
	t.Parallel()
	wantSound(t, addition(t), "FifoMaxReceiveCount", "PaymentUrl", "NotifyUrl")
}

// TestAdditionForAFIFOQueue follows step 4 of docs/add-to-your-template.md, on the stack by itself.
func TestAdditionForAFIFOQueue(t *testing.T) {
	t.Parallel()
	text := addition(t)
	for _, step := range []struct{ old, new string }{
		{"Example", "Refund"},
		{"      QueueName: !Ref", "      FifoQueue: true\n      ContentBasedDeduplication: true\n      QueueName: !Ref"},
		{"      MessageRetentionPeriod: 1209600\n", "      MessageRetentionPeriod: 1209600\n      FifoQueue: true\n"},
		{"Default: RefundQueue\n", "Default: RefundQueue.fifo\n"},
		{"^[A-Za-z0-9_-]{1,80}$", `^[A-Za-z0-9_-]{1,75}\.fifo$`},
		{"\nParameters:\n", "\nParameters:\n  RefundMaxReceiveCount:\n    Type: Number\n    Default: 200\n    MinValue: 5\n" +
			"    MaxValue: 1000\n    Description: Receives after which SQS itself moves a message.\n"},
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

// TestAdditionGoesIntoATemplate follows docs/add-to-your-template.md with the
// repository's template as the user's own.
func TestAdditionGoesIntoATemplate(t *testing.T) {
	t.Parallel()
	parts := perQueue.FindAllStringSubmatch(addition(t), -1)
	sections := []string{"\nParameters:\n", "\nResources:\n", "\nOutputs:\n"}
	if len(parts) != len(sections) {
		t.Fatalf("%d parts for each queue, want %d", len(parts), len(sections))
	}
	text := repositoryText(t)
	for i, name := range sections {
		part := strings.ReplaceAll(parts[i][1], "Example", "Refund")
		part = strings.Replace(part, "      Architectures: [!Ref Architecture]\n", "", 1) // the Globals have it
		text = strings.Replace(text, name, name+part, 1)
	}
	s, err := parse(repositoryTemplate, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Queue("RefundDeadLetterQueue"); !ok || len(s.Functions) != 4 {
		t.Errorf("%d functions, queues %v, want one more", len(s.Functions), s.Queues)
	}
	wantSound(t, text)
}

// block is a member of a section, with the comment above it.
var block = regexp.MustCompile(`(?m)^(?:  #.*\n)*  ([A-Za-z]+):.*\n(?:(?:    .*)?\n)*`)

// TestTemplateCutDownToOneQueue takes away what is there for the other queues.
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
	// A dashboard names all queues. The addition has one for a single queue.
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
	s, err := parse(repositoryTemplate, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Functions) != 1 || len(s.Queues) != 2 || len(s.Tables) != 1 {
		t.Errorf("%d functions, %d queues, %d tables, want 1, 2, 1", len(s.Functions), len(s.Queues), len(s.Tables))
	}
	wantSound(t, text, "FifoMaxReceiveCount", "NotifyUrl")
}
