package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSpreadHasMedianAndQuartiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []float64
		want   spread
	}{
		{"nothing", nil, spread{}},
		{"one", []float64{3}, spread{3, 3, 3}},
		{"odd, unsorted", []float64{5, 1, 4, 2, 3}, spread{2, 3, 4}},
		{"between two", []float64{1, 2, 3, 5}, spread{1.75, 2.5, 3.5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := spreadOf(test.values); got != test.want {
				t.Errorf("spread %v, want %v", got, test.want)
			}
		})
	}
}

// compared returns a comparison of two programs. The first uses 1 ms of
// processor time per invocation; the second uses that times each ratio, and
// twice as much wall time.
func compared(name string, ratios ...float64) *comparison {
	s := shape{name: name, messages: 2, bodyBytes: 200}
	c := &comparison{shape: s, event: s.event()}
	for _, r := range ratios {
		first := cost{invocations: 10, cpu: 10 * time.Millisecond, wall: 20 * time.Millisecond}
		second := cost{
			invocations: 5,
			cpu:         time.Duration(r * float64(5*time.Millisecond)),
			wall:        time.Duration(2 * r * float64(10*time.Millisecond)),
		}
		c.costs = append(c.costs, costs{first, second})
	}
	return c
}

func TestRatioComparesCostPerInvocation(t *testing.T) {
	t.Parallel()
	c := compared("small", 1.5, 1, 2)
	if got, want := c.ratio(1, processor), (spread{1.25, 1.5, 1.75}); got != want {
		t.Errorf("ratio of processor times %v, want %v", got, want)
	}
	if got := c.ratio(1, wall).median; got != 3 {
		t.Errorf("ratio of wall times %v, want 3", got)
	}
	if got := c.typical(1, processor); got != 1500*time.Microsecond {
		t.Errorf("typical processor time %v, want 1.5 ms", got)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	programs := []program{{name: "bare"}, {name: "ours"}}
	all := []*comparison{compared("small", 1, 1.125, 1.25), compared("large", 10)}
	if err := writeTable(&b, programs, all); err != nil {
		t.Fatal(err)
	}
	want := `| batch | messages | bare | ours | ratio | quartiles | wall ratio |
| --- | --: | --: | --: | --: | --: | --: |
| small | 2 | 1ms | 1.13ms | 1.12 | 1.06–1.19 | 2.25 |
| large | 2 | 1ms | 10ms | 10.00 | 10.00–10.00 | 20.00 |
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestContestTable(t *testing.T) {
	t.Parallel()
	c := compared("ten", 2, 4)
	for i := range c.costs { // the third program takes 1.5 times what the second does
		third := c.costs[i][1]
		third.cpu = third.cpu * 3 / 2
		c.costs[i] = append(c.costs[i], third)
	}
	programs := []program{{name: "bare"}, {name: "by hand", remote: true}, {name: "ours", remote: true}}
	var b strings.Builder
	if err := writeCompared(&b, programs, c); err != nil {
		t.Fatal(err)
	}
	want := `| ten | processor time | to bare | quartiles | to two calls | wall | to bare |
| --- | --: | --: | --: | --: | --: | --: |
| bare | 1ms | 1.00 | 1.00–1.00 | – | 2ms | 1.00 |
| by hand | 3ms | 3.00 | 2.50–3.50 | 1.00 | 12ms | 6.00 |
| ours | 4.5ms | 4.50 | 3.75–5.25 | 1.50 | 12ms | 6.00 |

`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		12_345 * time.Millisecond:  "12.3s",
		123_456 * time.Microsecond: "123ms",
		12_345 * time.Microsecond:  "12.3ms",
		1_234 * time.Microsecond:   "1.23ms",
		123_456:                    "123µs",
		1_499:                      "1µs",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	l := tolerance(0.05)
	within, over := compared("within", 1.1, 1.14, 3), compared("beyond", 1, 1.2, 1.3)
	within.limits, over.limits = []float64{1.1}, []float64{1.1}
	found := l.exceeded([]*comparison{within, over})
	if len(found) != 1 || found[0] != over {
		t.Fatalf("%d comparisons over the limit, want the one that is", len(found))
	}
	programs := []program{{name: "bare"}, {name: "ours"}}
	err := l.report(programs, found)
	if err == nil || !strings.Contains(err.Error(), "beyond: ours takes 1.20 times the processor time of bare") {
		t.Errorf("error %v, want the shape, the program and the ratio", err)
	}
	if err := l.report(programs, nil); err != nil {
		t.Errorf("error %v where nothing is over the limit", err)
	}
}
