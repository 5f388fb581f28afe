package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
)

func TestProgressCountsOnATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out, "sending to q", 100)
		step := func() {
			<-time.After(150 * time.Millisecond)
			p.step()
		}
		step()
		step()
		p.clear()
		if out.Len() > 0 {
			t.Errorf("in a pipe it shows %q", &out)
		}
		p = newProgress(&out, "sending to q", 100)
		p.out = termenv.NewOutput(&out) // as on a terminal
		p.clear()
		for range 4 {
			step()
		}
		p.clear()
		want := "\rsending to q: 2 of 100, 7/s\x1b[0K" + "\rsending to q: 4 of 100, 7/s\x1b[0K" + "\r\x1b[0K"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

func TestABufferIsNotATerminal(t *testing.T) {
	t.Parallel()
	if isTerminal(&bytes.Buffer{}) || isTerminal(nil) {
		t.Error("a buffer, or nothing, is taken for a terminal")
	}
	if n := columns(&bytes.Buffer{}); n != 0 {
		t.Errorf("a buffer has %d columns", n)
	}
}
