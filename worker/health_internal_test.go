package worker

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestALoopThatNeitherMovesNorWorksHasStalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var h health
		polls, works := h.watch(), h.watch()
		works.rest()
		<-time.After(stallAfter)
		polls.beat()
		<-time.After(stallAfter)
		if h.stalled() != "" {
			t.Error("stalled, but one loop moves and the other is in a batch")
		}
		<-time.After(time.Second)
		if h.stalled() == "" {
			t.Error("a loop that does not poll is taken for one that lives")
		}
		polls.beat()
		works.beat()
		<-time.After(stallAfter + time.Second)
		polls.beat()
		if h.stalled() == "" {
			t.Error("a loop that does not poll after its batch is taken for one that lives")
		}
	})
}
