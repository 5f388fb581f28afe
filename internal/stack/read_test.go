package stack_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/stack"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReadGolden(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		template string
		options  *stack.Options
	}{
		{name: "short", template: "short.yaml"},
		{name: "long", template: "long.json"},
		{name: "fifo", template: "fifo.yaml"},
		{name: "options", template: "short.yaml", options: &stack.Options{
			Parameters: map[string]string{"Retries": "9", "Endpoint": "http://127.0.0.1:4570", "Hosts": "c,d"},
			Region:     "eu-west-1",
			Account:    "111122223333",
			QueueURL:   func(name string) string { return "http://127.0.0.1:4570/q/" + name },
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := stack.Read(filepath.Join("testdata", tt.template), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name+".golden", s)
		})
	}
}

// golden compares a stack with a golden file, in which paths are relative to
// the package's folder.
func golden(t *testing.T, name string, s *stack.Stack) {
	t.Helper()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(string(data), here, "HERE") + "\n"
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestReadReturnsAnAbsoluteCodeURI(t *testing.T) {
	t.Parallel()
	s, err := stack.Read(filepath.Join("testdata", "long.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.Abs(filepath.Join("testdata", "code"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Functions[0].CodeURI; got != want {
		t.Errorf("CodeURI = %q, want %q", got, want)
	}
}

func TestQueueLookup(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{Queues: []stack.Queue{
		{LogicalID: "A", Name: "B"},
		{LogicalID: "B", Name: "C"},
	}}
	tests := []struct{ ask, want string }{
		{"A", "A"},
		{"B", "B"}, // a logical id has priority over a name
		{"C", "B"},
		{"D", ""},
		{"", ""},
	}
	for _, tt := range tests {
		q, ok := s.Queue(tt.ask)
		if q.LogicalID != tt.want || ok != (tt.want != "") {
			t.Errorf("Queue(%q) = %q, %t, want %q", tt.ask, q.LogicalID, ok, tt.want)
		}
	}
}

func TestReadUnreadableFile(t *testing.T) {
	t.Parallel()
	_, err := stack.Read("testdata/none.yaml", nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v, want fs.ErrNotExist", err)
	}
	if got, want := err.Error(), "testdata/none.yaml: no such template: name an existing file"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	_, err = stack.Read("testdata", nil)
	if got, want := err.Error(), "testdata: the template cannot be read: is a directory"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}
