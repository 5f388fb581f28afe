package stack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that any text returns a consistent stack or one error of one
// line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sound))
	for _, name := range []string{
		"short.yaml", "long.json", "fifo.yaml",
		"foreign/starter.yaml", "foreign/mapping.json", "foreign/polyglot.yaml",
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("Resources: {A: {Type: AWS::SQS::Queue, Properties: !Ref AWS::NoValue}}"))
	f.Add([]byte("Conditions: {A: !And [!Condition A, !Condition A]}\nResources: {Q: {Type: x, Condition: A}}"))
	f.Add([]byte("A: &a {B: [*a]}\nC: {<<: [*a, {D: E}], D: F}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(filepath.Join("testdata", "template.yaml"), data, nil)
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Message == "" || strings.ContainsAny(e.Message, "\n\r") {
				t.Fatalf("%T %q is no error of one line", err, err)
			}
			return
		}
		checkStack(t, s)
	})
}

func checkStack(t *testing.T, s *Stack) {
	t.Helper()
	if len(s.Functions) == 0 {
		t.Error("a stack without functions")
	}
	for _, q := range s.Queues {
		if _, ok := s.Queue(q.DeadLetterQueue); ok != (q.MaxReceiveCount > 0) {
			t.Errorf("%s: redrive to %q after %d receives", q.LogicalID, q.DeadLetterQueue, q.MaxReceiveCount)
		}
		if q.FIFO != strings.HasSuffix(q.Name, ".fifo") {
			t.Errorf("%s: FIFO %t with the name %q", q.LogicalID, q.FIFO, q.Name)
		}
	}
	for _, fn := range s.Functions {
		if !filepath.IsAbs(fn.CodeURI) {
			t.Errorf("%s: CodeURI %q is not absolute", fn.LogicalID, fn.CodeURI)
		}
		for _, e := range fn.Events {
			if _, ok := s.Queue(e.Queue); !ok {
				t.Errorf("%s: event %s has no queue", fn.LogicalID, e.Name)
			}
		}
	}
}
