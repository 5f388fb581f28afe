package sqs

import (
	"container/heap"
	"container/list"
	"math/rand/v2"
)

// receiveOrder holds the visible messages of a queue in the order in which they are
// received.
type receiveOrder interface {
	// arrive adds a message that was sent or moved to the queue.
	arrive(m *message)
	// update is called after the state of a message has changed.
	update(m *message)
	// leave removes a message permanently.
	leave(m *message)
	// ready reports whether there is a message to receive.
	ready() bool
	// first returns the message to receive next, or nil.
	first() *message
	// receive calls take with one message after the other until limit calls
	// returned true. After the call the message is in flight or has left the
	// queue.
	receive(limit int, take func(m *message) bool)
}

// standardOrder orders messages by the time at which they were handed out last, or
// became visible first; those of one call come back in any order. So a message that
// comes back is received before those that were sent since, and no message waits
// forever behind others that come back.
type standardOrder struct {
	messages []*message // a heap
	last     uint64     // the last rank
}

// rank gives a message the last place.
func (l *standardOrder) rank(m *message) {
	l.last++
	m.rank = l.last
}

func (l *standardOrder) arrive(m *message) { l.update(m) }

func (l *standardOrder) update(m *message) {
	switch {
	case m.state == visible && m.position == 0:
		if m.rank == 0 {
			l.rank(m)
		}
		heap.Push(l, m)
	case m.state != visible && m.position > 0:
		heap.Remove(l, m.position-1)
		l.rank(m)
	}
}

func (l *standardOrder) leave(m *message) {
	if m.position > 0 {
		heap.Remove(l, m.position-1)
	}
	m.rank = 0
}

func (l *standardOrder) ready() bool { return len(l.messages) > 0 }

func (l *standardOrder) first() *message {
	if !l.ready() {
		return nil
	}
	return l.messages[0]
}

func (l *standardOrder) receive(limit int, take func(m *message) bool) {
	var taken []*message
	for len(taken) < limit && l.ready() {
		if m := l.first(); take(m) {
			taken = append(taken, m)
		}
	}
	// SQS hands messages that come back together out in another order each time. The
	// order is drawn from the last rank, so that the same calls give the same order.
	draw := rand.New(rand.NewPCG(l.last, 0)) //nolint:gosec // an order, no secret
	draw.Shuffle(len(taken), func(i, j int) { taken[i].rank, taken[j].rank = taken[j].rank, taken[i].rank })
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (l *standardOrder) Len() int { return len(l.messages) }

func (l *standardOrder) Less(i, j int) bool { return l.messages[i].rank < l.messages[j].rank }

func (l *standardOrder) Swap(i, j int) {
	l.messages[i], l.messages[j] = l.messages[j], l.messages[i]
	l.messages[i].position, l.messages[j].position = i+1, j+1
}

func (l *standardOrder) Push(x any) {
	m := x.(*message)
	l.messages = append(l.messages, m)
	m.position = len(l.messages)
}

func (l *standardOrder) Pop() any {
	last := len(l.messages) - 1
	m := l.messages[last]
	l.messages[last] = nil
	l.messages = l.messages[:last]
	m.position = 0
	return m
}

// fifoOrder orders message groups by the time at which they became free. A group
// whose first message is in flight is not free. If its first messages are visible
// and a later one is in flight, those before it can be received.
type fifoOrder struct {
	groups map[string]*fifoGroup
	free   list.List // the groups with a message that can be received
}

// fifoGroup is a message group.
type fifoGroup struct {
	id       string
	messages list.List     // all messages of the group, in order
	place    *list.Element // its element in free; nil if it is not there
}

func newFIFOOrder() *fifoOrder { return &fifoOrder{groups: map[string]*fifoGroup{}} }

func (l *fifoOrder) arrive(m *message) {
	g := l.groups[m.group]
	if g == nil {
		g = &fifoGroup{id: m.group}
		l.groups[m.group] = g
	}
	m.fifoGroup, m.place = g, g.messages.PushBack(m)
	l.sort(g)
}

func (l *fifoOrder) update(m *message) { l.sort(m.fifoGroup) }

func (l *fifoOrder) leave(m *message) {
	g := m.fifoGroup
	g.messages.Remove(m.place)
	m.fifoGroup, m.place = nil, nil
	l.sort(g)
	if g.messages.Len() == 0 {
		delete(l.groups, g.id)
	}
}

// sort adds a group to the free ones or removes it, as its state requires.
func (l *fifoOrder) sort(g *fifoGroup) {
	head := g.messages.Front()
	free := head != nil && head.Value.(*message).state == visible
	switch {
	case free && g.place == nil:
		g.place = l.free.PushBack(g)
	case !free && g.place != nil:
		l.free.Remove(g.place)
		g.place = nil
	}
}

func (l *fifoOrder) ready() bool { return l.free.Len() > 0 }

func (l *fifoOrder) first() *message {
	if !l.ready() {
		return nil
	}
	return l.free.Front().Value.(*fifoGroup).messages.Front().Value.(*message)
}

// receive takes as many messages of one group as possible before those of the
// next.
func (l *fifoOrder) receive(limit int, take func(m *message) bool) {
	n := 0
	for n < limit && l.ready() {
		g := l.free.Front().Value.(*fifoGroup)
		for e := g.messages.Front(); e != nil && n < limit; {
			m, next := e.Value.(*message), e.Next()
			if m.state != visible {
				break
			}
			if take(m) {
				n++
			}
			e = next
		}
	}
}
