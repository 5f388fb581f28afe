package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const sound = `
- name: one
  fault: it does harm
  harm: harm
  file: a.go
  old: x
  new: y
  package: ./a
  test: TestA
`

func TestFaultsThatProveNothingAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, problem string
	}{
		{"sound", sound, ""},
		{"one name twice", sound + sound, "used twice"},
		{"a member that nobody knows", sound + "  tests: TestA\n", "tests"},
		{"no YAML", "- name: [", "faults/x.yaml"},
		{"no harm", strings.Replace(sound, "  harm: harm\n", "", 1), "no harm"},
		{"nothing changed", strings.Replace(sound, "new: y", "new: x", 1), "changes nothing"},
		{"no test", strings.Replace(sound, "  test: TestA\n", "", 1), "name either"},
		{"test and simulator", sound + "  histories: 3\n", "name either"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := readFaults(fstest.MapFS{"faults/x.yaml": {Data: []byte(test.text)}})
			if test.problem == "" {
				if err != nil || len(got) != 1 || got[0].area != "x" {
					t.Errorf("%d faults, %v; want one of area x", len(got), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("error %v, want one with %q", err, test.problem)
			}
		})
	}
}

func TestATextThatIsNotThereOnceIsRefused(t *testing.T) {
	t.Parallel()
	f := fault{Name: "one", edit: edit{"a.go", "x", "y"}, Also: []edit{{"b.go", "v", "w"}, {"a.go", "b", "c"}}}
	files := map[string]string{"a.go": "a x b", "b.go": "v"}
	read := func(name string) ([]byte, error) { return []byte(files[name]), nil }
	faulty, sound, err := f.apply(read)
	if diff := cmp.Diff(map[string]string{"a.go": "a y c", "b.go": "w"}, faulty); diff != "" || err != nil {
		t.Errorf("%v; faulty files (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(files, sound); diff != "" {
		t.Errorf("sound files (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "a", "x x", "x"} {
		files["a.go"] = text
		if _, _, err := f.apply(read); err == nil || !strings.Contains(err.Error(), "no longer applies") {
			t.Errorf("%q: error %v, want that the fault no longer applies", text, err)
		}
	}
}

// In as many days as there are faults for each place, every fault has its turn.
func TestEveryFaultHasItsTurn(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 7, 10, 11} {
		var all []fault
		for i := range 10 {
			all = append(all, fault{Name: string(rune('a' + i))})
		}
		tried := map[string]bool{}
		for day := range 10 {
			chosen := rotate(all, n, 20_000+day)
			if len(chosen) != min(n, len(all)) {
				t.Errorf("%d faults on a day, want %d", len(chosen), n)
			}
			for _, f := range chosen {
				tried[f.Name] = true
			}
		}
		if len(tried) != len(all) {
			t.Errorf("with %d a day %d of %d faults have their turn in ten days", n, len(tried), len(all))
		}
	}
}

func TestOutputOfGoTestIsJudged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, output string
		ok           bool
		want         verdict
	}{
		{"passed", "ok  \tm/a\t0.1s\n", true, passed},
		{"failed", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tm/a\t0.1s\n", false, failed},
		{"panicked", "panic: no [recovered]\nFAIL\tm/a\t0.1s\n", false, failed},
		{"exited", "FAIL\tm/a\t0.1s\nFAIL\n", false, failed},
		{"not built", "# m/a\na.go:1:1: no\nFAIL\tm/a [build failed]\nFAIL\n", false, useless},
		{"no such test", "ok  \tm/a\t0.1s [no tests to run]\n", true, useless},
		{"no test files", "?   \tm/a\t[no test files]\n", true, useless},
		{"hangs", "panic: test timed out after 2m0s\nFAIL\tm/a\t120s\n", false, useless},
		{"no go", "", false, useless},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := judge(test.output, test.ok)
			if got != test.want || (err != nil) != (test.want == useless) {
				t.Errorf("verdict %d, %v; want %d", got, err, test.want)
			}
		})
	}
	if got := failedTests("--- FAIL: TestB (0.1s)\n    --- FAIL: TestB/sub\n--- FAIL: TestA (0s)\n"); len(got) != 2 {
		t.Errorf("failed tests %v, want TestB and TestA", got)
	}
}
