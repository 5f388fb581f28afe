package eventsource

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// mostInvocations is how often Lambda invokes a function in one chain of messages before
// it takes the chain for a loop ("approximately 16 times").
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
const mostInvocations = 16

// Recursion stops loops as Lambda does: a function that sends messages to a queue which
// leads back to it. The AWS SDKs pass on the lineage of an invocation in the trace header
// of what they send, and the lineage counts the invocations.
type Recursion struct {
	// Function names the function; required.
	Function string
	// Lineage returns a context for an invocation with this lineage; required.
	Lineage func(ctx context.Context, lineage string) context.Context
}

// RecursionError says that messages were not passed to the function, since it has been
// invoked too often in their chain. They stay in the queue, and are received again until
// the queue's redrive policy takes them.
type RecursionError struct {
	Function string
	// Invocations is how often the function was invoked in the chain.
	Invocations int
}

// Error names the function.
func (e *RecursionError) Error() string {
	return fmt.Sprintf("RecursiveInvocationException: %s was invoked %d times by messages that came of each other; "+
		"Lambda takes that for a loop and stops it, unless the function has RecursiveLoop: Allow", e.Function, e.Invocations)
}

// stopLoops returns the messages that the function may get, and a context with their
// lineage. Of a FIFO batch with a message in a loop none may pass.
func (p *Poller) stopLoops(ctx context.Context, part []delivery) (context.Context, []delivery) {
	r := p.options.Recursion
	if r == nil {
		return ctx, part
	}
	inLoop := func(d delivery) bool { return lineageOf(d.trace).invocations(r.Function) >= mostInvocations }
	stopped := slices.Clone(part)
	if !p.mapping.fifo() || !slices.ContainsFunc(part, inLoop) {
		stopped = slices.DeleteFunc(stopped, func(d delivery) bool { return !inLoop(d) })
	}
	if len(stopped) > 0 {
		p.observe(Event{Kind: Failed, Err: &RecursionError{r.Function, mostInvocations}}, stopped)
		part = slices.DeleteFunc(slices.Clone(part), func(d delivery) bool { return p.mapping.fifo() || inLoop(d) })
	}
	if len(part) == 0 {
		return ctx, nil
	}
	// An invocation has one lineage, and a batch may have several. That with the fewest
	// invocations is taken: messages that are in no loop are not to be stopped for others.
	least := slices.MinFunc(part, func(a, b delivery) int {
		return cmp.Compare(lineageOf(a.trace).invocations(r.Function), lineageOf(b.trace).invocations(r.Function))
	})
	return r.Lineage(ctx, lineageOf(least.trace).invoked(r.Function)), part
}

// lineage is the part of a trace header that counts invocations: entries such as
// a87bd80c:3 for the fourth invocation of a function, with | between them.
type lineage []string

const lineageMember = "Lineage="

// lineageOf reads a trace header. The SDKs escape the characters between entries.
func lineageOf(trace string) lineage {
	for member := range strings.SplitSeq(trace, ";") {
		text, ok := strings.CutPrefix(member, lineageMember)
		if !ok {
			continue
		}
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		return strings.Split(text, "|")
	}
	return nil
}

func entryOf(function string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(function)) // never fails
	return fmt.Sprintf("%08x:", h.Sum32())
}

// invocations returns how often the function was invoked in the chain.
func (l lineage) invocations(function string) int {
	for _, entry := range l {
		text, ok := strings.CutPrefix(entry, entryOf(function))
		if n, err := strconv.Atoi(text); ok && err == nil && n >= 0 {
			return n + 1
		}
	}
	return 0
}

// invoked returns the lineage of one more invocation.
func (l lineage) invoked(function string) string {
	own := entryOf(function)
	entries := slices.DeleteFunc(slices.Clone(l), func(entry string) bool { return strings.HasPrefix(entry, own) })
	return strings.Join(append(entries, own+strconv.Itoa(l.invocations(function))), "|")
}
