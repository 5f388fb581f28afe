package cli

import (
	"context"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/internal/local"
)

// localPage is the page of dead letters beside a local stack.
type localPage struct {
	command *Local
	streams Streams

	mu      sync.Mutex // events come while the page tells its link
	printer printer

	address chan string // where the stack answers, when it is ready
	cancel  context.CancelFunc
	serving sync.WaitGroup
}

func (l *Local) newPage(p printer, streams Streams) *localPage {
	return &localPage{command: l, printer: p, streams: streams, address: make(chan string, 1)}
}

// event prints an event of the stack.
func (p *localPage) event(e local.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printer.event(e)
	if e.Kind == local.KindReady {
		select {
		case p.address <- e.Address:
		default:
		}
	}
}

// start serves the page when the stack is ready, until stop is called.
func (p *localPage) start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(ctx)
	if !p.command.Page || p.command.UntilIdle {
		return
	}
	p.serving.Go(func() {
		select {
		case address := <-p.address:
			p.serve(ctx, address)
		case <-ctx.Done():
		}
	})
}

func (p *localPage) serve(ctx context.Context, address string) {
	u := &DLQUI{Addr: "127.0.0.1:0", DLQTarget: DLQTarget{Ledger: true}}
	u.EndpointSQS, u.EndpointDynamoDB = p.command.EndpointSQS, p.command.EndpointDynamoDB
	if u.EndpointSQS == "" {
		u.EndpointSQS = "http://" + address
	}
	if u.EndpointDynamoDB == "" {
		u.EndpointDynamoDB = "http://" + address
	}
	err := u.serve(ctx, p.streams, func(url string, _ []string) { p.note("dead letters: " + url) })
	if err != nil && ctx.Err() == nil {
		p.note("no page of dead letters: " + oneLine(err.Error()))
	}
}

func (p *localPage) note(line string) {
	line = strings.TrimSpace(line)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printer.event(local.Event{Kind: local.KindNote, Line: line})
}

// stop ends the page, and waits for the end of its runs.
func (p *localPage) stop() {
	p.cancel()
	p.serving.Wait()
}
