package simulation

import (
	"context"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// link is the store as a process of a fleet sees it.
type link struct{ *process }

// Acquire implements [idem.Store].
func (p link) Acquire(ctx context.Context, r idem.Request) (idem.Answer, error) {
	var answer idem.Answer
	fate := p.park(ctx, &halt{at: atCall, name: r.MessageID})
	if fate == die || fate == drop {
		p.disturb(r.MessageID)
		return answer, failed(ctx)
	}
	answer, err := p.store.Acquire(context.Background(), r)
	if err != nil {
		p.breach("the store works", "acquire: %v", err)
	}
	p.tell("%s: %s asks: %s, %d of %d settled, %d crashes",
		p, r.MessageID, answer.Kind, answer.Settled, answer.Claims, answer.Job.Crashes)
	if fate == lose {
		p.disturb(r.MessageID)
		return idem.Answer{}, errGone
	}
	if answer.Kind == idem.AnswerAcquired || answer.Kind == idem.AnswerSend {
		p.holding(r, answer)
	}
	answer.Claim = p.version.claim(answer.Claim)
	return answer, nil
}

// holding notes a claim, and holds what the store knows of the job against it.
func (p link) holding(r idem.Request, a idem.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, name, _ := strings.Cut(r.ID, "#")
	for _, j := range p.jobs {
		if j.name != name {
			continue
		}
		h := &hold{job: j, process: p.process, claim: a.Claim, crashes: a.Job.Crashes}
		h.suspect = a.Kind == idem.AnswerAcquired && (a.Claims-a.Settled >= p.version.suspects() || a.Job.Crashes > 0)
		p.holds[r.Owner], p.runs[r.MessageID] = h, h
		if a.Claim.Epoch > j.epoch {
			j.epoch, j.kills, j.failed, j.unheard, j.effects = a.Claim.Epoch, 0, 0, 0, nil
		}
		if a.Job.Attempts > j.failed {
			p.breaks("the budget is the job's own", "%s has %d attempts after %d failures of its own",
				j.name, a.Job.Attempts, j.failed)
		}
	}
}

// intrudes holds what is about to happen against a lone run of the process.
func (p link) intrudes(h *hold, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lone != nil && p.lone != h && !p.dead {
		p.breaks("a suspect runs alone", "beside %s the process %s", p.lone.job.name, what)
	}
}

// Settle implements [idem.Store].
func (p link) Settle(ctx context.Context, c idem.Claim, s idem.Settlement) error {
	h := p.held(c.Owner)
	fate := p.park(ctx, &halt{at: atCall, name: c.MessageID + s.Kind.String()})
	if h.ran && s.Kind != idem.SettleConfirm {
		p.intrudes(h, "settles "+h.job.name)
	}
	var err = errGone
	if fate == goOn || fate == lose {
		err = p.store.Settle(context.Background(), c, s)
		p.tell("%s: %s of %s: %v", p, s.Kind, h.job.name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.enters(h, s)
	}
	if fate != goOn {
		h.faulted, err = true, failed(ctx)
		if m := p.mailOf(c.MessageID); m != nil {
			m.disturbed++
		}
	}
	if over := s.Kind != idem.SettleAlone || s.Crashes == h.crashes; over && p.lone == h {
		p.lone = nil
	}
	return err
}

// disturb notes that a receive of a message was used up by a fault.
func (p link) disturb(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.mailOf(id); m != nil {
		m.disturbed++
	}
}

func (p link) held(owner string) *hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holds[owner]
}

// enters notes a settlement that the store has taken.
func (p link) enters(h *hold, s idem.Settlement) {
	j := h.job
	switch s.Kind {
	case idem.SettleAlone:
		if s.Crashes == h.crashes { // it lasts, and is counted no more
			p.count("lone run that lasts")
			h.lone, h.beside, j.unheard = false, true, h.unheard
			return
		}
		h.lone, h.unheard = true, j.unheard
		j.unheard++
		p.lone = h
		if p.running > 0 && !p.dead {
			p.breaks("a suspect runs alone", "%d jobs run as %s is about to", p.running, j.name)
		}
	case idem.SettleComplete:
		j.completed, j.unheard = true, 0
	case idem.SettleRelease:
		j.unheard, j.kills = 0, 0
	case idem.SettleAbort:
		if h.lone {
			j.unheard = h.unheard
		}
	case idem.SettleVerdict:
		p.sentence(h, s)
	case idem.SettleCrash:
		if j.nature == innocent {
			p.breaks("who does not crash is not marked", "%s is", j.name)
		}
	}
}

// Renew implements [idem.Store].
func (p link) Renew(ctx context.Context, c idem.Claim, until time.Time) error {
	fate := p.park(ctx, &halt{at: atRenew, name: c.MessageID})
	if fate != goOn {
		h := p.held(c.Owner)
		p.locked(func() { h.faulted = true })
	}
	if fate == die || fate == drop {
		return failed(ctx)
	}
	err := p.store.Renew(context.Background(), c, until)
	if fate == lose {
		return errGone
	}
	return err
}

// RecordStep implements [idem.Store]. The jobs of a fleet have no steps.
func (p link) RecordStep(context.Context, idem.Claim, idem.StepRecord) error { return errGone }
