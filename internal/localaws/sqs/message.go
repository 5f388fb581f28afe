package sqs

import (
	"container/list"
	"crypto/rand"
	"fmt"
	"time"
)

// Attribute is a message attribute. One of the values is set, as its type says.
type Attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
	// StringListValues and BinaryListValues are reserved by AWS for later. A
	// message that has some is refused.
	StringListValues []string `json:",omitempty"`
	BinaryListValues [][]byte `json:",omitempty"`
}

func (a *Attribute) hasList() bool { return len(a.StringListValues)+len(a.BinaryListValues) > 0 }

// state is where a message is in its queue.
type state int

const (
	visible  state = iota // can be received
	delayed               // sent with a delay that is not over
	inFlight              // received, neither deleted nor visible again
	states                // the number of states
)

// message is a message in a queue.
type message struct {
	id               string
	body             string
	bodyMD5          string
	attributes       map[string]Attribute
	systemAttributes map[string]Attribute
	group, dedup     string
	sequence         string

	sent         time.Time
	firstReceive time.Time // zero: never received
	lastReceive  time.Time
	receives     int
	before       int    // receives in the queues that the message was moved from
	handle       string // of the last receive
	source       string // the ARN of the queue that the message was moved from

	state state
	lane  *lane         // of its group, in a FIFO queue
	place *list.Element // in its line, or its lane
	due   [schedules]time.Time
	index [schedules]int // in a schedule, counted from 1; 0: not there
}

// NewID returns a random UUID.
func NewID() string {
	var b [16]byte
	// Read never fails.
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
