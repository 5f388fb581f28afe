package runqueue_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/runqueue"
)

// scene is a kind of batch. Shares are in percent.
type scene struct {
	name string
	// fifo and ledger tell what the queue is, copies is the share of copies, suspects that
	// of jobs with unsettled claims.
	fifo, ledger     bool
	copies, suspects int
	// incidents is the share of moves that nobody asked for, haste that of moves after
	// which the queue is not asked at once.
	incidents, haste int
}

var scenes = []scene{
	{name: "standard", ledger: true, suspects: 10, incidents: 1},
	{name: "standard without a ledger", incidents: 1},
	{name: "FIFO", fifo: true, ledger: true, suspects: 20, incidents: 1},
	{name: "FIFO without a ledger", fifo: true, incidents: 1},
	{name: "copies", ledger: true, copies: 60, suspects: 20, incidents: 2},
	{name: "copies in FIFO groups", fifo: true, ledger: true, copies: 40, suspects: 20, incidents: 2},
	{name: "suspects", ledger: true, copies: 10, suspects: 60, incidents: 2},
	{name: "suspects in FIFO groups", fifo: true, ledger: true, suspects: 60, incidents: 2},
	{name: "nothing happens", ledger: true, copies: 20, suspects: 30},
	{name: "much happens", ledger: true, copies: 20, suspects: 30, incidents: 20, haste: 20},
	{name: "much happens to suspects", ledger: true, suspects: 60, incidents: 20, haste: 10},
	{name: "much happens to FIFO groups", fifo: true, ledger: true, suspects: 30, incidents: 10, haste: 20},
	{name: "much happens without a ledger", incidents: 20, haste: 20},
}

// draw draws a batch of the scene and its settings.
func (s scene) draw(t *rapid.T) *world {
	dice := newDice(t)
	one := func(what string, of ...int) int { return of[dice.roll(len(of), what)] }
	config := runqueue.Config{
		Slots:       1 + dice.roll(8, "slots"),
		Ahead:       one("ahead", 0, 2, 10),
		Unsettled:   one("unsettled", 10, 2, 1),
		Unsent:      one("unsent", 10, 2, 1),
		MaxReceives: one("max receives", 0, 1, 2, 4, 10, 10),
		Ledger:      s.ledger,
	}
	receives := []int{1, 1, max(config.MaxReceives, 1), 2, 14, 15, 23, 40}
	if config.MaxReceives > 0 {
		receives = receives[:3]
		for i := range config.MaxReceives {
			receives = append(receives, i+1)
		}
	}
	var deliveries []runqueue.Delivery
	var jobs []string
	for i := range 1 + dice.roll(40, "deliveries") {
		d := runqueue.Delivery{Receives: one("receives", receives...)}
		if s.fifo {
			d.Group = 1 + dice.roll(4, "group")
		}
		job := fmt.Sprint("job ", i)
		if s.copies > 0 && dice.roll(100, "copy") < s.copies {
			job = fmt.Sprint("copy ", dice.roll(3, "copy of"))
		}
		deliveries, jobs = append(deliveries, d), append(jobs, job)
	}
	w := newWorld(dice, deliveries, jobs, config)
	w.suspects = s.suspects
	return w
}

// play answers what the queue asks for in any order until all deliveries have ended.
func (s scene) play(t *rapid.T) {
	w := s.draw(t)
	w.settleDown()
	for !w.q.Idle() {
		moves := append(w.answers(), w.passing()...)
		if s.incidents > 0 && w.dice.roll(100, "incident") < s.incidents {
			moves = w.incidents()
		}
		m := moves[w.dice.roll(len(moves), "move")]
		t.Log(m.name)
		m.do()
		if w.look || len(w.answers()) == 0 || s.haste == 0 || w.dice.roll(100, "look") >= s.haste {
			w.settleDown()
		}
	}
	w.settleDown()
	w.finished()
}

// TestQueueKeepsItsPromises plays the owner of a queue.
func TestQueueKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, s.play)
		})
	}
}
