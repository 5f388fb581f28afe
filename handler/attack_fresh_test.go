package handler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// freshProcesses is a queue each batch of which meets a process that has run nothing, as
// in a burst. Its jobs ignore their contexts.
type freshProcesses struct {
	*testing.T
	mu      sync.Mutex // of random
	random  *rand.Rand
	ledger  *idem.Ledger
	timeout time.Duration
	batch   int
	// lasts is how long each job takes.
	lasts    map[string]time.Duration
	receives map[string]int
	// crashes counts processes, dead has why jobs died.
	crashes int
	dead    map[string]string
}

func (f *freshProcesses) float64() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.Float64()
}

func (f *freshProcesses) job(_ context.Context, m *handler.Message) error {
	<-time.After(f.lasts[m.MessageId])
	return nil
}

// play hands out all jobs again and again, and gives those that are left.
func (f *freshProcesses) play(rounds int) []string {
	var pending []string
	for id := range f.lasts {
		pending = append(pending, id)
	}
	slices.Sort(pending)
	for range rounds {
		f.random.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
		var back []string
		for batch := range slices.Chunk(pending, f.batch) {
			back = append(back, f.invoke(batch)...)
		}
		pending = back
		<-time.After(time.Hour)
	}
	return pending
}

// invoke runs one batch and gives what comes back.
func (f *freshProcesses) invoke(ids []string) (back []string) {
	var records []events.SQSMessage
	for _, id := range ids {
		f.receives[id]++
		records = append(records, received(f.receives[id], record(id, "x")))
	}
	q := newQueues()
	o := q.options()
	o.Ledger, o.MaxReceives, o.Random, o.Logger = f.ledger, 30, f.float64, noLog
	ctx, cancel := context.WithTimeout(f.Context(), f.timeout)
	defer cancel()
	defer func() {
		for _, l := range q.letters {
			f.dead[l.Message.MessageId] = l.Failure.Reason
		}
		if recover() != nil {
			f.crashes++
			back = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(q.deleted, id) })
		}
	}()
	response, err := must(handler.NewProcessor(handler.Func(f.job), o)).Handle(ctx, event(records...))
	if err != nil {
		f.Error(err)
	}
	return reported(response)
}

// E4: jobs that take less than the function's time are not dead-lettered though many of them are
// started too late, since nothing is known of how long they take. One that never ends is.
func TestFreshProcessesBuryOnlyWhatNeverEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		timeout, least, most time.Duration
		batch                int
	}{
		"half of the time": {10 * time.Second, 3 * time.Second, 5 * time.Second, 10},
		"two at a time":    {10 * time.Second, 3 * time.Second, 5 * time.Second, 2},
		"up to three quarters of the time for jobs": {30 * time.Second, time.Second, 20 * time.Second, 10},
	} {
		for seed := range uint64(3) {
			inBubble(t, fmt.Sprint(name, seed), func(t *testing.T) {
				f := &freshProcesses{
					T: t, random: rand.New(rand.NewPCG(seed, 1)), timeout: tt.timeout, batch: tt.batch,
					ledger: must(idem.New(idem.NewMemory(), &idem.Options{Logger: noLog})),
					lasts:  map[string]time.Duration{"never": 1000 * time.Hour}, receives: map[string]int{}, dead: map[string]string{},
				}
				for i := range 200 {
					f.lasts[fmt.Sprint("j", i)] = tt.least + time.Duration(f.float64()*float64(tt.most-tt.least))
				}
				left := f.play(35)
				if diff := cmp.Diff(map[string]string{"never": idem.ReasonCrashLoop}, f.dead); diff != "" || len(left) != 0 {
					t.Errorf("left %v; dead (-want +got):\n%s", left, diff)
				}
				<-time.After(1000 * time.Hour)
				synctest.Wait()
				t.Logf("%d crashes; never: %d receives", f.crashes, f.receives["never"])
			})
		}
	}
}
