package jobfile_test

import (
	"strconv"
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
		{"larger than the queue takes",
			jobfile.Job{Queue: jobfile.Queue{Name: "small", MaxBytes: 1024}, Body: strings.Repeat("x", 1025)},
			"body and attributes have 1025 bytes; queue small takes up to 1024"},
		{"ten attributes", jobfile.Job{Body: "x", Attributes: attributes(10)}, ""},
		{"eleven attributes", jobfile.Job{Body: "x", Attributes: attributes(11)}, "it has 11 attributes; SQS takes up to 10"},
		{"a long name", jobfile.Job{Body: "x", Attributes: map[string]string{strings.Repeat("a", 256): "b"}}, ""},
		{"too long a name", jobfile.Job{Body: "x", Attributes: map[string]string{strings.Repeat("a", 257): "b"}},
			"has a name of 257 bytes; SQS takes up to 256"},
		{"reserved", jobfile.Job{Body: "x", Attributes: map[string]string{"AWS.x": "b"}}, `are reserved; choose another`},
		{"reserved, in small letters", jobfile.Job{Body: "x", Attributes: map[string]string{"amazon.x": "b"}},
			`are reserved; choose another`},
		{"not reserved", jobfile.Job{Body: "x", Attributes: map[string]string{"AWSx": "b", "x.y-z_1": "b"}}, ""},
		{"two periods", jobfile.Job{Body: "x", Attributes: map[string]string{"a..b": "b"}}, `attribute "a..b": SQS takes`},
		{"a period at the end", jobfile.Job{Body: "x", Attributes: map[string]string{"a.": "b"}}, `attribute "a.": SQS`},
		{"a space", jobfile.Job{Body: "x", Attributes: map[string]string{"a b": "b"}}, `attribute "a b": SQS takes names`},
		{"a long group", jobfile.Job{Queue: fifo, Body: "x", Group: strings.Repeat("g", 128), Dedup: "!~"}, ""},
		{"too long a group", jobfile.Job{Queue: fifo, Body: "x", Group: strings.Repeat("g", 129)}, `--group is "gggg`},
		{"a space in the group", jobfile.Job{Body: "x", Group: "a b", Source: "f:1"}, `"group" is "a b"; SQS takes up`},
		{"a space in the dedup", jobfile.Job{Queue: fifo, Body: "x", Group: "g", Dedup: "a b"}, `--dedup is "a b"; SQS`},
		{"no dedup", jobfile.Job{Queue: jobfile.Queue{Name: "o.fifo", FIFO: true, WantsDedup: true}, Body: "x", Group: "g"},
			"queue o.fifo has no ContentBasedDeduplication; give the job a --dedup"},
		{"delay", jobfile.Job{Body: "x", Source: "f:1", Delay: 901 * time.Second}, `"delay" is 901; SQS takes 0 to 900`},
		{"negative delay", jobfile.Job{Body: "x", Delay: -time.Second}, `--delay is -1`},
		{"times", jobfile.Job{Body: "x", Source: "f:1", Times: -1}, `"times" is -1`},
		{"bytes", jobfile.Job{Body: "\xff"}, "the body is not UTF-8 text"},
		{"control character", jobfile.Job{Body: "ab\x00"}, "the body has the character U+0000 at byte 2"},
		{"no character", jobfile.Job{Body: "\uffff"}, "the body has the character U+FFFF at byte 0"},
		{"attribute", jobfile.Job{Body: "x", Attributes: map[string]string{"a": "\x01"}},
			"attribute a has the character U+0001"},
		{"empty attribute", jobfile.Job{Body: "x", Attributes: map[string]string{"a": ""}}, `attribute "a" is ""`},
		{"no group", jobfile.Job{Queue: fifo, Body: "x"}, `queue ordered.fifo is FIFO; give the job a --group`},
		{"delay in a FIFO queue", jobfile.Job{Queue: fifo, Body: "x", Group: "g", Delay: time.Second},
			`a --delay can be set for the whole queue only`},
		{"dedup in a standard queue", jobfile.Job{Queue: jobfile.Queue{Name: "plain"}, Body: "x", Dedup: "d"},
			`queue plain is not FIFO; leave --dedup out`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.job.Check()
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
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

func attributes(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[strconv.Itoa(i)] = "v"
	}
	return all
}
