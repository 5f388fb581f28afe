package jobfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

func TestCheckRefusesWhatSQSRefuses(t *testing.T) {
	t.Parallel()
	fifo := jobfile.Queue{Name: "ordered.fifo", FIFO: true}
	tests := []struct {
		name string
		job  jobfile.Job
		want string
	}{
		{"good", jobfile.Job{Body: "x\t\r\n\u00e9\U0001F600", Delay: sqssend.MaxDelay}, ""},
		{"an attribute", jobfile.Job{Body: "x", Attributes: map[string]string{"a": "b"}}, ""},
		{"as long as it may be", jobfile.Job{Body: strings.Repeat("x", 1<<20)}, ""},
		{"a group in a standard queue", jobfile.Job{Body: "x", Group: "g"}, ""},
		{"FIFO", jobfile.Job{Queue: fifo, Body: "x", Group: "g", Dedup: "d"}, ""},
		{"empty", jobfile.Job{}, "the body is empty"},
		{"too long", jobfile.Job{Body: strings.Repeat("x", 1<<20), Attributes: map[string]string{"a": "b"}},
			"body and attributes have 1048584 bytes; SQS takes up to 1048576"},
		{"delay", jobfile.Job{Body: "x", Delay: 901 * time.Second}, "the delay is 901 s; SQS takes 0 to 900"},
		{"negative delay", jobfile.Job{Body: "x", Delay: -time.Second}, "the delay is -1 s"},
		{"times", jobfile.Job{Body: "x", Times: -1}, `"times" is -1`},
		{"bytes", jobfile.Job{Body: "\xff"}, "the body is not UTF-8 text"},
		{"control character", jobfile.Job{Body: "ab\x00"}, "the body has the character U+0000 at byte 2"},
		{"no character", jobfile.Job{Body: "\uffff"}, "the body has the character U+FFFF at byte 0"},
		{"attribute", jobfile.Job{Body: "x", Attributes: map[string]string{"a": "\x01"}},
			"attribute a has the character U+0001"},
		{"empty attribute", jobfile.Job{Body: "x", Attributes: map[string]string{"a": ""}}, `attribute "a" is ""`},
		{"no group", jobfile.Job{Queue: fifo, Body: "x"}, `queue ordered.fifo is FIFO; give the job a group`},
		{"delay in a FIFO queue", jobfile.Job{Queue: fifo, Body: "x", Group: "g", Delay: time.Second},
			`a delay can be set for the whole queue only`},
		{"dedup in a standard queue", jobfile.Job{Queue: jobfile.Queue{Name: "plain"}, Body: "x", Dedup: "d"},
			"queue plain is not FIFO; leave the deduplication id out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.job.Check()
			if (err != nil) != (tt.want != "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) &&
				!strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCountIncludesCopies(t *testing.T) {
	t.Parallel()
	if n := jobfile.Count([]jobfile.Job{{}, {Times: 1}, {Times: 5}}); n != 7 {
		t.Errorf("%d messages, want 7", n)
	}
}
