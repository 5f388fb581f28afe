package sqs

import "container/list"

// line is the order in which the visible messages of a queue are received.
type line interface {
	// arrive adds a message that was sent or moved to the queue.
	arrive(m *message)
	// update is called when the state of a message has changed.
	update(m *message, was state)
	// leave takes a message out for good.
	leave(m *message)
	// ready tells whether there is a message to receive.
	ready() bool
	// first is the message that is received next, or nil.
	first() *message
	// receive offers messages to take until it took so many of them. What is
	// offered is in flight or has left the queue afterwards.
	receive(limit int, take func(m *message) bool)
}

// standardLine gives messages in the order in which they became visible.
type standardLine struct{ messages list.List }

func (l *standardLine) arrive(m *message) { l.update(m, m.state) }

func (l *standardLine) update(m *message, _ state) {
	switch {
	case m.state != visible:
		l.leave(m)
	case m.place == nil:
		m.place = l.messages.PushBack(m)
	}
}

func (l *standardLine) leave(m *message) {
	if m.place != nil {
		l.messages.Remove(m.place)
		m.place = nil
	}
}

func (l *standardLine) ready() bool { return l.messages.Len() > 0 }

func (l *standardLine) first() *message {
	if !l.ready() {
		return nil
	}
	return l.messages.Front().Value.(*message)
}

func (l *standardLine) receive(limit int, take func(m *message) bool) {
	for n := 0; n < limit && l.ready(); {
		if take(l.first()) {
			n++
		}
	}
}

// fifoLine gives messages in the order of their groups. A group of which a
// message is in flight gives none.
type fifoLine struct {
	lanes map[string]*lane
	free  list.List // the lanes that can give a message
}

// lane is a message group.
type lane struct {
	group    string
	messages list.List // all messages of the group, in order
	inFlight int
	place    *list.Element // in the free lanes; nil: not there
}

func newFIFOLine() *fifoLine { return &fifoLine{lanes: map[string]*lane{}} }

func (l *fifoLine) arrive(m *message) {
	g := l.lanes[m.group]
	if g == nil {
		g = &lane{group: m.group}
		l.lanes[m.group] = g
	}
	m.lane, m.place = g, g.messages.PushBack(m)
	l.sort(g)
}

func (l *fifoLine) update(m *message, was state) {
	m.lane.count(was, -1)
	m.lane.count(m.state, +1)
	l.sort(m.lane)
}

func (l *fifoLine) leave(m *message) {
	g := m.lane
	g.count(m.state, -1)
	g.messages.Remove(m.place)
	m.lane, m.place = nil, nil
	l.sort(g)
	if g.messages.Len() == 0 {
		delete(l.lanes, g.group)
	}
}

func (g *lane) count(s state, n int) {
	if s == inFlight {
		g.inFlight += n
	}
}

// sort puts a lane among the free ones or takes it out.
func (l *fifoLine) sort(g *lane) {
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

func (l *fifoLine) ready() bool { return l.free.Len() > 0 }

func (l *fifoLine) first() *message {
	if !l.ready() {
		return nil
	}
	return l.free.Front().Value.(*lane).messages.Front().Value.(*message)
}

// receive gives as many messages of one group as it can before those of the next.
func (l *fifoLine) receive(limit int, take func(m *message) bool) {
	n := 0
	for n < limit && l.ready() {
		g := l.free.Front().Value.(*lane)
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
