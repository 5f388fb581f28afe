//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"
)

// striker sends the signals of the plan.
type striker struct {
	fleet    *fleet
	provider *provider
	ledger   ledger
	log      func(text string)

	mu   sync.Mutex
	hits map[string]int // by signal and host
	// lone counts the hits of healthy jobs in a lone run.
	lone int
	sent int
	// excused are jobs that were hit in their second lone run, by how often they had
	// begun: what ends a process twice while it is alone is a crash loop to the ledger.
	excused map[string]int
	pending sync.WaitGroup
}

func newStriker(f *fleet, p *provider, l ledger, log func(string)) *striker {
	return &striker{fleet: f, provider: p, ledger: l, log: log, hits: map[string]int{}, excused: map[string]int{}}
}

// run strikes as the plan says until ctx ends, and then waits for what it has begun.
func (s *striker) run(ctx context.Context, start time.Time, strikes []strike) {
	defer s.pending.Wait()
	for _, one := range strikes {
		if !sleepUntil(ctx, start.Add(one.at)) {
			return
		}
		s.strike(ctx, one)
	}
}

// strike hits who is to be hit. A victim that has ended in the meantime is not hit, and
// another one is.
func (s *striker) strike(ctx context.Context, one strike) {
	for hit := false; !hit; {
		victim, there := s.victim(ctx, one)
		if !there {
			return
		}
		for _, v := range s.crowd(ctx, victim, one) {
			hit = s.hit(ctx, v, one) || hit
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
}

// crowd are all that are hit together with a process.
func (s *striker) crowd(ctx context.Context, victim process, one strike) []process {
	if !one.crowd {
		return []process{victim}
	}
	return slices.DeleteFunc(s.fleet.alive(one.host), func(p process) bool {
		return p.queue != victim.queue || len(s.loneAgain(ctx, p)) > 0
	})
}

// look is how often a victim is looked for where there is none.
const look = 50 * time.Millisecond

// victim waits for one, and for the moment at which it is to be hit.
func (s *striker) victim(ctx context.Context, one strike) (process, bool) {
	for {
		if v, suspected := s.aim(ctx, one); suspected {
			return v, true
		}
		all := s.fleet.alive(one.host)
		for n := range all { // the next one if it is not to be hit
			v := all[(int(one.victim*float64(len(all)))+n)%len(all)]
			if one.busy {
				s.awaitCall(ctx, v, one.while)
			}
			if len(s.loneAgain(ctx, v)) == 0 {
				return v, ctx.Err() == nil
			}
		}
		if !sleepUntil(ctx, time.Now().Add(look)) {
			return process{}, false
		}
	}
}

// How long a strike waits for somebody to aim at, and how often it looks: lone runs are
// short.
const (
	aimLimit = 1500 * time.Millisecond
	aimLook  = 10 * time.Millisecond
)

// aim waits for a run of a suspect, if the strike is aimed.
func (s *striker) aim(ctx context.Context, one strike) (victim process, found bool) {
	if !one.aimed {
		return process{}, false
	}
	for until := time.Now().Add(aimLimit); time.Now().Before(until); {
		if victim, found = s.mostHit(ctx, s.fleet.alive(one.host)); found {
			return victim, true
		}
		if !sleepUntil(ctx, time.Now().Add(aimLook)) {
			break
		}
	}
	return process{}, false
}

// mostHit is the process with the healthy job that has the most claims without a result,
// if one has any but its own.
func (s *striker) mostHit(ctx context.Context, all []process) (victim process, found bool) {
	most := 1
	for _, v := range all {
		unsettled := 0
		for id := range s.provider.running(v.pid) {
			if j := s.provider.jobs[id]; j.end == well {
				unsettled = max(unsettled, s.ledger.item(ctx, j).Unsettled)
			}
		}
		if unsettled > most && len(s.loneAgain(ctx, v)) == 0 {
			victim, most, found = v, unsettled, true
		}
	}
	return victim, found
}

// awaitCall waits until the process has called the provider, for a second at most, and
// then for a while.
func (s *striker) awaitCall(ctx context.Context, v process, while time.Duration) {
	select {
	case <-s.provider.nextCall(v.pid):
		sleepUntil(ctx, time.Now().Add(while))
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
}

// lambdaGrace is the time that Lambda leaves a function between SIGTERM and SIGKILL.
const lambdaGrace = 500 * time.Millisecond

func (s *striker) hit(ctx context.Context, v process, one strike) bool {
	if !s.fleet.signal(v.pid, one.signal) {
		return false
	}
	s.mu.Lock()
	s.hits[name(one.signal)+" of a "+v.host]++
	s.mu.Unlock()
	s.log(fmt.Sprintf("%s to %s %d of %s", name(one.signal), v.host, v.pid, v.queue.id))
	if lone := s.loneRuns(ctx, v, 1); len(lone) > 0 {
		s.mu.Lock()
		s.lone += len(lone)
		s.mu.Unlock()
	}
	for id, begins := range s.loneAgain(ctx, v) { // it came between the look and the hit
		s.log("in the second lone run of " + id)
		s.mu.Lock()
		s.excused[id] = begins
		s.mu.Unlock()
	}
	switch one.signal {
	case syscall.SIGSTOP:
		s.later(ctx, v, one.freeze, syscall.SIGCONT)
	case syscall.SIGTERM:
		after := stopLimit
		if v.host == inFunction {
			after = lambdaGrace
		}
		s.later(ctx, v, after, syscall.SIGKILL)
	}
	return true
}

// later sends a signal after a time, or when ctx ends.
func (s *striker) later(ctx context.Context, v process, after time.Duration, signal syscall.Signal) {
	s.pending.Go(func() {
		sleepUntil(ctx, time.Now().Add(after))
		if s.fleet.signal(v.pid, signal) {
			s.log(fmt.Sprintf("%s to %s %d of %s", name(signal), v.host, v.pid, v.queue.id))
		}
	})
}

// loneAgain are the healthy jobs that are in their second lone run in the process, by how
// often they began.
func (s *striker) loneAgain(ctx context.Context, v process) map[string]int {
	return s.loneRuns(ctx, v, crashLimit)
}

// loneRuns are the healthy jobs under way in the process for which the ledger counts so
// many crashes: one is counted before each lone run.
func (s *striker) loneRuns(ctx context.Context, v process, crashes int) map[string]int {
	lone := map[string]int{}
	for id, begins := range s.provider.running(v.pid) {
		j := s.provider.jobs[id]
		if j.end != well {
			continue
		}
		if i := s.ledger.item(ctx, j); i.Status == inProgress && i.Crashes >= crashes {
			lone[id] = begins
		}
	}
	return lone
}

// crashLimit is how many crashes make a crash loop.
const crashLimit = 2

// count tells how many strikes hit, and what.
func (s *striker) count() (sent, lone int, hits map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent, s.lone, maps.Clone(s.hits)
}

func name(s syscall.Signal) string {
	switch s {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGSTOP:
		return "SIGSTOP"
	case syscall.SIGCONT:
		return "SIGCONT"
	}
	return s.String()
}
