package localreport

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"
)

func TestAPipeIsGreeted(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	if begin(write) == nil {
		t.Fatal("the pipe is not taken")
	}
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil || line != `{"message":"reporting"}`+"\n" {
		t.Errorf("first line %q, error %v", line, err)
	}
}

// TestAnotherFileIsLeftAlone gives the descriptor of a file of the program: nothing may be
// written to it.
func TestAnotherFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, f := range map[string]*os.File{"a file": file, "a closed one": closed, "none": nil} {
		if begin(f) != nil {
			t.Errorf("%s is taken for the pipe", name)
		}
	}
	if data, err := os.ReadFile(path); err != nil || len(data) > 0 {
		t.Errorf("the file holds %q, error %v", data, err)
	}
}

func TestWithoutAHostThereIsNoPipe(t *testing.T) {
	t.Parallel()
	if Writer() != nil {
		t.Error("there is a pipe, and nobody gave one")
	}
}
