package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of variables is read, or refused by its name; what is read is text.
func FuzzReadVariables(f *testing.F) {
	for _, seed := range []string{
		`{"Worker":{"URL":"http://mine","RETRIES":3,"ON":true},"Parameters":{}}`, ``, `null`, `[]`, `{"Worker":7}`,
		`{"Worker":{"URL":null}}`, `{"Worker":{"N":1e400}}`, `{"Worker":{"URL":{}}} {`, "\xff", `{"":{"":""}}`,
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "variables.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := ReadVariables(path)
		switch {
		case err != nil && !strings.Contains(err.Error(), path):
			t.Errorf("the error does not name the file: %v", err)
		case err == nil:
			_ = v.check(testStack)
			v.environment(testStack.Functions[0], nil)
		}
	})
}
