package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverrides(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		arguments []string
		want      map[string]string
	}{
		{"none", nil, map[string]string{}},
		{"several arguments", []string{"A=1", "B=two"}, map[string]string{"A": "1", "B": "two"}},
		{"several in one", []string{"A=1 B=two  C=3"}, map[string]string{"A": "1", "B": "two", "C": "3"}},
		{"several lines", []string{"A=1\r\nB=two\tC='x\ny'"}, map[string]string{"A": "1", "B": "two", "C": "x\ny"}},
		{"quotes", []string{`A="one two" B='x'`, `C="a"b`}, map[string]string{"A": "one two", "B": "x", "C": "ab"}},
		{"empty value", []string{`A= B=""`}, map[string]string{"A": "", "B": ""}},
		{"equals in the value", []string{"URL=http://host/?a=b"}, map[string]string{"URL": "http://host/?a=b"}},
		{"the long form", []string{"ParameterKey=A,ParameterValue=1 ParameterKey=B,ParameterValue=x,y"},
			map[string]string{"A": "1", "B": "x,y"}},
		{"the last counts", []string{"A=1", "A=2"}, map[string]string{"A": "2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := overrides(tt.arguments)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
		})
	}
	for _, bad := range []string{"A", "=1", "ParameterKey=A", "ParameterKey=A,Value=1"} {
		if _, err := overrides([]string{bad}); err == nil || !strings.Contains(err.Error(), "want NAME=VALUE") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func TestAnUnclosedQuoteIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := overrides([]string{`A="one`}); err == nil || !strings.Contains(err.Error(), "is not closed") {
		t.Errorf("error %v", err)
	}
}

func FuzzOverrides(f *testing.F) {
	f.Add(`A=1 B="two three"`)
	f.Add(`ParameterKey=A,ParameterValue='`)
	f.Add("\r")
	f.Fuzz(func(t *testing.T, s string) {
		parameters, err := overrides([]string{s})
		if err != nil && strings.Count(s, "=") == 0 && strings.TrimSpace(s) == "" {
			t.Errorf("%q: %v", s, err)
		}
		if _, ok := parameters[""]; ok {
			t.Errorf("%q gives a parameter without a name", s)
		}
	})
}
