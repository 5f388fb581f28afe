package simulation_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/simulation"
)

// breakage is a way to break a promise. What its functions leave alone is as it
// should be.
type breakage struct {
	// sees changes how an item looks to a request.
	sees func(item *idem.Item, r *idem.Request)
	// answers changes what a request is told and what is written for it.
	answers func(seen *idem.Item, r idem.Request, d *idem.Decision)
	// settles changes a settlement ahead of the conditions for it, and after
	// changes what it wrote.
	settles func(item idem.Item, c *idem.Claim, s *idem.Settlement)
	after   func(before idem.Item, s idem.Settlement, item *idem.Item)
	// unfenced leaves the owner out of the conditions, and stateless the status.
	unfenced, stateless bool
}

// broken is a store in memory that breaks a promise.
type broken struct {
	breakage
	mu    sync.Mutex
	items map[string]idem.Item
}

func newBroken(b breakage) *broken { return &broken{breakage: b, items: map[string]idem.Item{}} }

func (b *broken) Acquire(_ context.Context, r idem.Request) (idem.Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var seen *idem.Item
	if item, ok := b.items[r.ID]; ok {
		seen = &item
	}
	if b.sees != nil && seen != nil {
		b.sees(seen, &r)
	}
	d := idem.Decide(seen, r)
	if b.answers != nil {
		b.answers(seen, r, &d)
	}
	if d.Write != nil {
		b.items[r.ID] = *d.Write
	}
	return d.Answer, nil
}

func (b *broken) Settle(_ context.Context, c idem.Claim, s idem.Settlement) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	item, ok := b.items[c.ID]
	if !ok {
		return s.Refused(nil, c)
	}
	before := item
	if b.settles != nil {
		b.settles(item, &c, &s)
	}
	fits := (b.unfenced || item.Owner == c.Owner) && (b.stateless || item.Status == s.Needs())
	if s.Kind == idem.SettleAlone {
		fits = fits && item.Settled == c.Settled
	}
	if s.Kind == idem.SettleRenew {
		fits = fits && item.Settled == c.Settled
		if s.Lease.Before(item.Lease) {
			s.Lease = item.Lease
		}
	}
	if !fits {
		return s.Refused(&item, c)
	}
	item = s.Apply(item, c)
	if b.after != nil {
		b.after(before, s, &item)
	}
	b.items[c.ID] = item
	return nil
}

func (b *broken) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	return b.Settle(ctx, c, idem.Settlement{Kind: idem.SettleRenew, Lease: until})
}

func (b *broken) RecordStep(_ context.Context, c idem.Claim, s idem.StepRecord) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	item, ok := b.items[c.ID]
	if !ok {
		return (&idem.Settlement{Kind: idem.SettleStep}).Refused(nil, c)
	}
	if done, err := s.Recorded(&item, c); done || err != nil {
		return err
	}
	b.items[c.ID] = s.Apply(item)
	return nil
}

func (b *broken) Forget(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.items, id)
	return nil
}

// breakages are the ways in which a store can go wrong.
var breakages = map[string]breakage{
	"a lease means nothing": {sees: func(item *idem.Item, _ *idem.Request) { item.Lease = time.Time{} }},
	"a lease never lapses": {sees: func(item *idem.Item, r *idem.Request) {
		if item.Status == idem.StatusInProgress {
			item.Lease = r.Now.Add(time.Second)
		}
	}},
	"leases in seconds": {sees: func(item *idem.Item, _ *idem.Request) { item.Lease = item.Lease.Truncate(time.Second) }},
	"completion means nothing": {sees: func(item *idem.Item, _ *idem.Request) {
		if item.Status == idem.StatusCompleted {
			item.Status = idem.StatusInProgress
		}
	}},
	"death means nothing": {sees: func(item *idem.Item, _ *idem.Request) {
		if item.Status == idem.StatusDead {
			item.Status = idem.StatusInProgress
		}
	}},
	"an unconfirmed death is taken for a confirmed one": {sees: func(item *idem.Item, _ *idem.Request) {
		if item.Status == idem.StatusDead {
			item.DeadLetterID = "letter"
		}
	}},
	"expiry is left to the TTL": {sees: func(item *idem.Item, _ *idem.Request) { item.Expiration = time.Time{} }},
	"the hash means nothing":    {sees: func(item *idem.Item, r *idem.Request) { r.Validation = item.Validation }},
	"a message may conflict with itself": {sees: func(item *idem.Item, r *idem.Request) {
		if item.Status == idem.StatusInProgress {
			item.MessageID = ""
		}
	}},
	"the time of sending means nothing": {sees: func(_ *idem.Item, r *idem.Request) { r.SentAt = time.Time{} }},
	"only a replay opens an epoch": {sees: func(item *idem.Item, r *idem.Request) {
		r.SentAt = item.DeadAt.Add(-time.Hour)
	}},
	"a replay opens no epoch": {sees: func(_ *idem.Item, r *idem.Request) {
		if r.Epoch > 0 {
			r.Epoch, r.SentAt = 0, r.SentAt.Add(-1000*time.Hour)
		}
	}},
	"a message may outlive its own death": {sees: func(item *idem.Item, _ *idem.Request) {
		if item.Status == idem.StatusDead {
			item.MessageID = ""
		}
	}},
	"an epoch begins with the old budget": {answers: func(seen *idem.Item, _ idem.Request, d *idem.Decision) {
		if d.Write != nil && seen != nil && d.Write.Epoch > seen.Epoch {
			d.Write.Attempts = seen.Attempts
		}
	}},
	"an epoch forgets what was done": {answers: func(seen *idem.Item, _ idem.Request, d *idem.Decision) {
		if d.Write != nil && seen != nil && d.Write.Epoch > seen.Epoch {
			d.Write.Steps, d.Answer.Steps = nil, nil
		}
	}},
	"a replay of a forgotten job begins at 0": {answers: func(seen *idem.Item, r idem.Request, d *idem.Decision) {
		if d.Write != nil && seen == nil {
			d.Write.Epoch, d.Answer.Job.Epoch, d.Answer.Claim.Epoch = 0, 0, 0
		}
	}},
	"claims are not counted": {answers: func(seen *idem.Item, _ idem.Request, d *idem.Decision) {
		if d.Write != nil && seen != nil {
			d.Write.Claims = seen.Claims
		}
	}},
	"a claim that is taken over keeps its fence": {answers: func(seen *idem.Item, _ idem.Request, d *idem.Decision) {
		if d.Write != nil && seen != nil && d.Write.Epoch == seen.Epoch {
			d.Write.Owner, d.Answer.Claim.Owner = seen.Owner, seen.Owner
		}
	}},
	"a claim is not extended": {answers: func(seen *idem.Item, r idem.Request, d *idem.Decision) {
		if d.Write != nil {
			d.Write.Lease = r.Now
		}
	}},
	"a take-over forgets the failed runs": {answers: func(seen *idem.Item, _ idem.Request, d *idem.Decision) {
		if d.Write != nil {
			d.Write.Attempts = 0
		}
	}},
	"a lost answer cannot be had again": {sees: func(item *idem.Item, r *idem.Request) {
		if item.Owner == r.Owner {
			item.Owner = ""
		}
	}},
	"no fence":             {unfenced: true},
	"no status":            {stateless: true},
	"neither":              {unfenced: true, stateless: true},
	"no fence for renewal": {settles: unfence(idem.SettleRenew)},
	"no fence for release": {settles: unfence(idem.SettleRelease)},
	"no fence for verdict": {settles: unfence(idem.SettleVerdict)},
	"no fence for confirm": {settles: unfence(idem.SettleConfirm)},
	"no fence for crashes": {settles: unfence(idem.SettleCrash)},
	"a renewal may come after the end of its run": {settles: func(item idem.Item, c *idem.Claim, s *idem.Settlement) {
		if s.Kind == idem.SettleRenew {
			c.Settled = item.Settled
		}
	}},
	"no fence for lone runs": {settles: unfence(idem.SettleAlone)},
	"a lone run may be counted after its end": {settles: func(item idem.Item, c *idem.Claim, s *idem.Settlement) {
		if s.Kind == idem.SettleAlone {
			c.Settled = item.Settled
		}
	}},
	"lone runs are not counted": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleAlone {
			item.Crashes = before.Crashes
		}
	}},
	"a lone run is settled as it is counted": {after: func(_ idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleAlone {
			item.Settled++
		}
	}},
	"a lone run ends the lease": {after: func(_ idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleAlone {
			item.Lease = s.Lease
		}
	}},
	"an abort forgives crashes": {after: func(_ idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleAbort {
			item.Crashes = 0
		}
	}},
	"a settled run forgives no crashes": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleRelease {
			item.Crashes = before.Crashes
		}
	}},
	"a claim forgives crashes": {answers: func(_ *idem.Item, _ idem.Request, d *idem.Decision) {
		if d.Write != nil {
			d.Write.Crashes, d.Answer.Job.Crashes = 0, 0
		}
	}},
	"a job that is dropped waits for its letter": {settles: func(_ idem.Item, _ *idem.Claim, s *idem.Settlement) {
		if s.Kind == idem.SettleVerdict {
			s.DeadLetterID = ""
		}
	}},
	"runs that ended are not counted": {after: func(before idem.Item, _ idem.Settlement, item *idem.Item) {
		item.Settled = before.Settled
	}},
	"attempts add up": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleRelease {
			item.Attempts = before.Attempts + s.Attempts
		}
	}},
	"a release keeps the lease": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleRelease {
			item.Lease = before.Lease
		}
	}},
	"a verdict holds no lease": {after: func(_ idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleVerdict {
			item.Lease = s.DeadAt
		}
	}},
	"a verdict does not name its message": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleVerdict {
			item.MessageID = ""
		}
	}},
	"completion keeps its time": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		item.Expiration = before.Expiration
	}},
	"crashes are forgotten": {after: func(before idem.Item, s idem.Settlement, item *idem.Item) {
		if s.Kind == idem.SettleCrash {
			item.Crashes = 0
		}
	}},
}

// unfence lets settlements of that kind pass for the present owner's.
func unfence(kind idem.SettlementKind) func(idem.Item, *idem.Claim, *idem.Settlement) {
	return func(item idem.Item, c *idem.Claim, s *idem.Settlement) {
		if s.Kind == kind {
			c.Owner = item.Owner
		}
	}
}

func TestTheModelHasTeeth(t *testing.T) {
	t.Parallel()
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := func(*testing.T) idem.Store { return newBroken(b) }
			v := simulation.Find(t, store, simulation.ModelOptions{Histories: 20000})
			if v == nil {
				t.Fatal("the model lets it pass")
			}
			t.Logf("seed %d: %s", v.Seed, v.Rule)
		})
	}
}

func TestTheModelBitesNobodyElse(t *testing.T) {
	t.Parallel()
	simulation.Model(t, func(*testing.T) idem.Store { return newBroken(breakage{}) }, simulation.ModelOptions{})
}

// anyOrderAtOnce takes lines of one moment in any order. All begin with their time.
var anyOrderAtOnce = cmpopts.SortSlices(func(a, b string) bool { return a < b })

func TestAHistoryFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no fence", "completion means nothing", "crashes are forgotten"} {
		find := func(o simulation.ModelOptions) *simulation.Violation {
			return simulation.Find(t, func(*testing.T) idem.Store { return newBroken(breakages[name]) }, o)
		}
		first := find(simulation.ModelOptions{Seed: 20})
		again := find(simulation.ModelOptions{Seed: first.Seed, Histories: 1})
		if diff := cmp.Diff(first, again, anyOrderAtOnce); diff != "" {
			t.Errorf("%s: the history of seed %d differs when it is walked again:\n%s", name, first.Seed, diff)
		}
		if text := first.Error(); len(first.History) < 5 || !strings.Contains(text, first.Detail) {
			t.Errorf("%s: the violation says %q, want its history and what is wrong", name, text)
		}
	}
}

// TestTheFleetHasTeeth has the breakages that take several jobs to show.
func TestTheFleetHasTeeth(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"claims are not counted", "lone runs are not counted", "a claim forgives crashes", "crashes are forgotten",
		"completion means nothing", "attempts add up", "a lease means nothing",
		"an unconfirmed death is taken for a confirmed one",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := breakages[name]
			store := func(*testing.T) idem.Store { return newBroken(b) }
			v := simulation.FindFleet(t, store, simulation.ModelOptions{Histories: 2000})
			if v == nil {
				t.Fatal("the model lets it pass")
			}
			t.Logf("seed %d: %s: %s", v.Seed, v.Rule, v.Detail)
		})
	}
}

// TestAFleetMeetsWhatItIsFor has what the promises are about. A history without it
// would keep them all.
func TestAFleetMeetsWhatItIsFor(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	met := map[string]int{}
	o := simulation.ModelOptions{Histories: 600, Count: func(what string) {
		mu.Lock()
		defer mu.Unlock()
		met[what]++
	}}
	if v := simulation.FindFleet(t, func(*testing.T) idem.Store { return idem.NewMemory() }, o); v != nil {
		t.Error(v)
	}
	for _, what := range []string{
		"runs side by side", "lone run", "lone run that lasts", "suspect beside others", "a group comes back",
		"kill in a run", "kill in a lone run", "kill between runs", "second effect", "moved by SQS",
		"dead: crash_loop", "dead: refused", "dead: max_receives", "dropped",
	} {
		if met[what] == 0 {
			t.Errorf("%d histories have no %s", o.Histories, what)
		}
	}
	t.Logf("met: %v", met)
}

func TestAHistoryOfAFleetFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	store := func(*testing.T) idem.Store { return newBroken(breakages["lone runs are not counted"]) }
	find := func(o simulation.ModelOptions) *simulation.Violation { return simulation.FindFleet(t, store, o) }
	first := find(simulation.ModelOptions{Seed: 20})
	again := find(simulation.ModelOptions{Seed: first.Seed, Histories: 1})
	if diff := cmp.Diff(first, again, anyOrderAtOnce); diff != "" || len(first.History) < 5 {
		t.Errorf("the history of seed %d differs when it is walked again:\n%s", first.Seed, diff)
	}
}
