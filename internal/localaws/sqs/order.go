package sqs

import "container/list"

// receiveOrder holds the visible messages of a queue in the order in which they are
// received.
type receiveOrder interface {
	// arrive adds a message that was sent or moved to the queue.
	arrive(m *message)
	// update is called after the state of a message has changed.
	update(m *message, was state)
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

// standardOrder orders messages by the time at which they became visible.
type standardOrder struct{ messages list.List }

func (l *standardOrder) arrive(m *message) { l.update(m, m.state) }

func (l *standardOrder) update(m *message, _ state) {
	switch {
	case m.state != visible:
		l.leave(m)
	case m.place == nil:
		m.place = l.messages.PushBack(m)
	}
}

func (l *standardOrder) leave(m *message) {
	if m.place != nil {
		l.messages.Remove(m.place)
		m.place = nil
	}
}

func (l *standardOrder) ready() bool { return l.messages.Len() > 0 }

func (l *standardOrder) first() *message {
	if !l.ready() {
		return nil
	}
	return l.messages.Front().Value.(*message)
}

func (l *standardOrder) receive(limit int, take func(m *message) bool) {
	for n := 0; n < limit && l.ready(); {
		if take(l.first()) {
			n++
		}
	}
}

// fifoOrder orders message groups by the time at which they became free. A group
// with a message in flight is not free.
type fifoOrder struct {
	groups map[string]*fifoGroup
	free   list.List // the groups with a message that can be received
}

// fifoGroup is a message group.
type fifoGroup struct {
	id       string
	messages list.List // all messages of the group, in order
	inFlight int
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

func (l *fifoOrder) update(m *message, was state) {
	m.fifoGroup.count(was, -1)
	m.fifoGroup.count(m.state, +1)
	l.sort(m.fifoGroup)
}

func (l *fifoOrder) leave(m *message) {
	g := m.fifoGroup
	g.count(m.state, -1)
	g.messages.Remove(m.place)
	m.fifoGroup, m.place = nil, nil
	l.sort(g)
	if g.messages.Len() == 0 {
		delete(l.groups, g.id)
	}
}

func (g *fifoGroup) count(s state, n int) {
	if s == inFlight {
		g.inFlight += n
	}
}

// sort adds a group to the free ones or removes it, as its state requires.
func (l *fifoOrder) sort(g *fifoGroup) {
	head := g.messages.Front()
	free := g.inFlight == 0 && head != nil && head.Value.(*message).state == visible
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
