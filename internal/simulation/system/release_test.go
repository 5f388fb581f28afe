package system

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// release is a version of the function: what all of its processes have in common. With the
// feature versions there are two of them, which share queue, table and dead-letter queue.
type release struct {
	// name is the FunctionVersion in records.
	name string
	// previous reports whether its library reads and writes the items of the ledger as the
	// version before does.
	previous bool
	// later reports whether its records are of a later version than what we read.
	later bool
	// attempts and backoff are those of Options.Backoff; the others are options, too.
	attempts                 int
	backoff                  time.Duration
	concurrency, maxReceives int
	awaits                   bool
	// keyPrefix is what its key function puts before the id.
	keyPrefix string
	// unknown are kinds of jobs that its payload type refuses.
	unknown []kind
}

// rollout is how one release follows the other.
type rollout string

const (
	rollsOut  rollout = "rolls out"  // the deploys after the first one change nothing
	rollsBack rollout = "rolls back" // each deploy brings the other release
	canary    rollout = "canary"     // each process is of one or the other
)

// oldKeys is the prefix of another key function.
const oldKeys = "v0."

// drawReleases draws both releases. Which of the two is the older one is left open: a
// roll-back replaces new by old.
func (c *config) drawReleases(r *rand.Rand) {
	now := &release{
		name: "1", attempts: c.attempts, backoff: backoff.DefaultBase, concurrency: c.concurrency,
		maxReceives: c.maxReceives, awaits: c.on[awaiting],
	}
	c.releases = []*release{now}
	before := *now
	before.name, before.previous, now.later = "0", chance(r, 0.7), chance(r, 0.5)
	before.attempts, before.backoff = pick(r, 3, 5, 8), pick(r, time.Second, 5*time.Second)
	before.concurrency, before.awaits = pick(r, 1, 2, 5), before.awaits != chance(r, 0.2)
	if more := pick(r, 0, c.maxReceives, c.maxReceives, 200); c.ample() {
		before.maxReceives = more
	}
	if chance(r, 0.3) {
		before.unknown = []kind{stepped, later}
	}
	c.rollout = pick(r, rollsOut, rollsBack, canary)
	if !c.on[versions] {
		return
	}
	if c.on[rekeyed] {
		before.keyPrefix = oldKeys
	}
	c.releases = append(c.releases, &before)
}

// releaseOf is what a process of a host runs after so many deploys.
func (c *config) releaseOf(process string, deploys int) *release {
	present, before := c.releases[0], c.releases[len(c.releases)-1]
	old := deploys == 0
	switch c.rollout {
	case rollsBack:
		old = deploys%2 == 1
	case canary:
		old = chance(c.seed.at("release of %s", process), 0.5)
	}
	if old {
		return before
	}
	return present
}

// ofRelease is the release of a name.
func (c *config) ofRelease(name string) *release {
	i := slices.IndexFunc(c.releases, func(r *release) bool { return r.name == name })
	return c.releases[max(i, 0)]
}

// String describes the release.
func (r *release) String() string {
	return fmt.Sprintf("{%s: previous %v, later records %v, attempts %d from %v, concurrency %d, maxReceives %d, "+
		"awaits %v, keys %q, unknown %v}",
		r.name, r.previous, r.later, r.attempts, r.backoff, r.concurrency, r.maxReceives, r.awaits, r.keyPrefix, r.unknown)
}

func (r *release) profile() backoff.Exponential {
	return backoff.Exponential{MaxAttempts: r.attempts, Base: r.backoff}
}

var errUnknownKind = errors.New("this release knows no such job")

// check is the validation of the payload by a release.
func (r *release) check(k kind) error {
	if slices.Contains(r.unknown, k) {
		return fault.Permanent(errUnknownKind, fault.WithReason(reasonUnknownKind))
	}
	return nil
}

const reasonUnknownKind = "unknown_kind"

// laterRecords sends letters with records of a later version, as a release sends them
// that is rolled back then.
type laterRecords struct{ dlq.API }

// SendMessageBatch implements [dlq.API].
func (l laterRecords) SendMessageBatch(
	ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	for _, e := range in.Entries {
		if carried, ok := e.MessageAttributes[dlq.AttributeName]; ok {
			text := strings.Replace(aws.ToString(carried.StringValue),
				fmt.Sprintf(`"version":%d`, dlq.Version), fmt.Sprintf(`"version":%d,"origin":["a"]`, dlq.Version+1), 1)
			carried.StringValue = &text
			e.MessageAttributes[dlq.AttributeName] = carried
		}
	}
	return l.API.SendMessageBatch(ctx, in, options...)
}

// rekeys are promises that name the key. A job whose key changes in a deploy is another job
// then: it may run again, and beside the one before.
var rekeys = []string{
	"one outcome", "one letter", "one step", "one run at a time", "no run after the end", "aloneness", "done",
}

// options are those of the processor.
func (p *process) options() handler.Options {
	var drop []string
	if p.on[dropping] {
		drop = []string{"tagged", fault.ReasonUnclassified}
	}
	return handler.Options{
		AwaitSettle: p.release.awaits, PanicAsPermanent: p.on[mildly], Drop: drop,
		Restore: p.restore, Middleware: []handler.Middleware{p.middleware}, Classifier: classifier{fault.Rules(), p},
		Backoff: p.release.profile(), MaxReceives: p.release.maxReceives, Concurrency: p.release.concurrency,
		Hooks: p.hooks(), Logger: p.log, Random: p.random,
	}
}

// statBeside counts runs while a process of another release is alive.
const statBeside = "runs beside another release"

// besideOther reports whether another process that is alive runs another release.
func (j *judge) besideOther(p *process) bool {
	return slices.ContainsFunc(j.w.all, func(other *process) bool {
		return other.release != nil && other.release != p.release && !other.isDead()
	})
}

// A history with versions has runs of both releases, and in many both are alive at once.
func TestTwoReleasesAreAliveAtOnce(t *testing.T) {
	t.Parallel()
	played, beside := 0, 0
	for s := seed(1); played < 12; s++ {
		c := newConfig(s, nil)
		if !c.on[versions] {
			continue
		}
		played++
		if out := play(t, c); out.stats[statBeside] > 0 {
			beside++
		}
	}
	if beside < played/4 {
		t.Errorf("in %d of %d histories two releases are alive at once, want a quarter of them", beside, played)
	}
}
