package cli

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/local"
)

// localPage is the page of dead letters beside a local stack.
type localPage struct {
	command *Local
	streams Streams

	mu      sync.Mutex // events come while the page tells its link
	printer printer
	target  DLQTarget
	feed    *localFeed

	address chan string // where the stack answers, when it is ready
	cancel  context.CancelFunc
	serving sync.WaitGroup
}

func (l *Local) newPage(p printer, streams Streams) *localPage {
	page := &localPage{command: l, printer: p, streams: streams, address: make(chan string, 1)}
	page.target = DLQTarget{Ledger: true, EndpointDynamoDB: l.EndpointDynamoDB}
	page.target.EndpointSQS = l.EndpointSQS
	page.feed = newLocalFeed(&page.target)
	return page
}

// event prints an event of the stack.
func (p *localPage) event(e local.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printer.event(e)
	p.feed.event(e)
	if e.Kind == local.KindReady {
		select {
		case p.address <- e.Address:
		default:
		}
	}
}

// flush writes what was printed.
func (p *localPage) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printer.flush()
}

// start serves the page when the stack is ready, until stop is called.
func (p *localPage) start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.serving.Go(func() {
		select {
		case address := <-p.address:
			p.serve(ctx, address)
		case <-ctx.Done():
		}
	})
}

func (p *localPage) serve(ctx context.Context, address string) {
	here := ""
	if address != "" { // otherwise other engines do all
		here = "http://" + address
	}
	p.target.EndpointSQS = cmp.Or(p.target.EndpointSQS, here)
	p.target.EndpointDynamoDB = cmp.Or(p.target.EndpointDynamoDB, here)
	u := &DLQUI{Addr: "127.0.0.1:0", DLQTarget: p.target, feed: p.feed}
	u.EndpointLambda = here
	err := u.serve(ctx, p.streams, func(url string, _ []string) {
		p.note("page of the stack and its dead letters: " + url)
	})
	if err != nil && ctx.Err() == nil {
		p.note("no page of dead letters: " + oneLine(err.Error()))
	}
}

func (p *localPage) note(line string) {
	line = strings.TrimSpace(line)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printer.event(local.Event{Kind: local.KindNote, Time: time.Now().UTC(), Line: line})
	p.printer.flush()
}

// stop ends the page if it was started, and waits for the end of its runs.
func (p *localPage) stop() {
	if p.cancel != nil {
		p.cancel()
	}
	p.serving.Wait()
}
