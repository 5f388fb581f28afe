//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestASeedDecidesThePlan(t *testing.T) {
	t.Parallel()
	all := cmp.AllowUnexported(plan{}, job{}, queue{}, strike{}, outage{})
	if diff := cmp.Diff(newPlan(5, 50), newPlan(5, 50), all); diff != "" {
		t.Errorf("two plans of a seed differ:\n%s", diff)
	}
	if cmp.Equal(newPlan(5, 50), newPlan(6, 50), all) {
		t.Error("two seeds make the same plan")
	}
}

func TestAPlanHasEverything(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		p := newPlan(seed, 60)
		if len(p.strikes) != 60 || p.length != 2*time.Minute {
			t.Errorf("seed %d: %d strikes in %s, want 60 in 2m", seed, len(p.strikes), p.length)
		}
		signals, ends, outages, copies := map[string]int{}, map[end]int{}, map[string]int{}, 0
		steps := 0
		for _, s := range p.strikes {
			signals[s.host+" "+name(s.signal)]++
			if s.at < 0 || s.at > p.length || s.victim < 0 || s.victim >= 1 {
				t.Errorf("seed %d: %+v is out of bounds", seed, s)
			}
			if s.signal == syscall.SIGSTOP && s.freeze <= visibility {
				t.Errorf("seed %d: frozen for %s, want longer than the visibility timeout", seed, s.freeze)
			}
		}
		for _, j := range p.jobs {
			ends[j.end]++
			copies += len(j.copies)
			if j.stepped {
				steps++
			}
			if j.end != well && len(j.copies) > 0 {
				t.Errorf("seed %d: %s is poison and has copies, which run again after its death", seed, j.id)
			}
			if len(j.answers) > mostFailures {
				t.Errorf("seed %d: %s fails %d times", seed, j.id, len(j.answers))
			}
		}
		for _, o := range p.outages {
			outages[o.what]++
		}
		if len(signals) != 6 || len(ends) != 1+len(poison) || len(outages) != 3 || copies == 0 ||
			steps == 0 || len(p.replays) == 0 {
			t.Errorf("seed %d: signals %v, ends %v, outages %v, %d copies, %d steps, replays %v",
				seed, signals, ends, outages, copies, steps, p.replays)
		}
	}
}
