package sqs

import (
	"container/list"
	"crypto/rand"
	"fmt"
	"time"
)

// Attribute is a message attribute. The value for its DataType is set.
type Attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
	// StringListValues and BinaryListValues are reserved by AWS for future use.
	// A message with such values is refused.
	StringListValues []string `json:",omitempty"`
	BinaryListValues [][]byte `json:",omitempty"`
}

func (a *Attribute) hasList() bool { return len(a.StringListValues)+len(a.BinaryListValues) > 0 }

// state is the state of a message in its queue.
type state int

const (
	visible  state = iota // can be received
	delayed               // sent with a delay that has not ended
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
	arrived      time.Time // when it came into its queue
	firstReceive time.Time // zero if it was never received
	lastReceive  time.Time
	receives     int
	before       int    // receives in the queues that the message was redriven from
	handle       string // receipt handle of the last receive
	source       string // ARN of the queue that the message was redriven from

	state     state
	fifoGroup *fifoGroup    // its group, in a FIFO queue
	place     *list.Element // its element in its group
	rank      uint64        // its rank in a standard queue; 0 means none yet
	position  int           // its place in the heap of a standard queue, counted from 1; 0 if it is not there
	due       [schedules]time.Time
	index     [schedules]int // its index in each schedule, counted from 1; 0 if it is not there
}

// NewID returns a random UUID.
func NewID() string {
	var b [16]byte
	// crypto/rand.Read never fails.
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
