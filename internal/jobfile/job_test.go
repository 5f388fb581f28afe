package jobfile_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	jobs "github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

func TestCheckRefusesWhatSQSRefuses(t *testing.T) {
	t.Parallel()
	fifo := jobs.Queue{Name: "ordered.fifo", FIFO: true}
	tests := []struct {
		name string
		job  jobs.Job
		want string
	}{
		{"good", jobs.Job{Body: "x\t\r\n\u00e9\U0001F600", Delay: sqssend.MaxDelay}, ""},
		{"an attribute", jobs.Job{Body: "x", Attributes: map[string]string{"a": "b"}}, ""},
		{"as long as it may be", jobs.Job{Body: strings.Repeat("x", 1<<20)}, ""},
		{"a group in a standard queue", jobs.Job{Body: "x", Group: "g"}, ""},
		{"FIFO", jobs.Job{Queue: fifo, Body: "x", Group: "g", Dedup: "d"}, ""},
		{"empty", jobs.Job{}, "the body is empty"},
		{"too long", jobs.Job{Body: strings.Repeat("x", 1<<20), Attributes: map[string]string{"a": "b"}},
			"body and attributes have 1048584 bytes; SQS takes up to 1048576"},
		{"larger than the queue takes",
			jobs.Job{Queue: jobs.Queue{Name: "small", MaxBytes: 1024}, Body: strings.Repeat("x", 1025)},
			"body and attributes have 1025 bytes; queue small takes up to 1024"},
		{"ten attributes", jobs.Job{Body: "x", Attributes: attributes(10)}, ""},
		{"eleven attributes", jobs.Job{Body: "x", Attributes: attributes(11)}, "it has 11 attributes; SQS takes up to 10"},
		{"a long name", jobs.Job{Body: "x", Attributes: map[string]string{strings.Repeat("a", 256): "b"}}, ""},
		{"too long a name", jobs.Job{Body: "x", Attributes: map[string]string{strings.Repeat("a", 257): "b"}},
			"has a name of 257 bytes; SQS takes up to 256"},
		{"reserved", jobs.Job{Body: "x", Attributes: map[string]string{"AWS.x": "b"}}, `are reserved; choose another`},
		{"reserved, in small letters", jobs.Job{Body: "x", Attributes: map[string]string{"amazon.x": "b"}},
			`are reserved; choose another`},
		{"not reserved", jobs.Job{Body: "x", Attributes: map[string]string{"AWSx": "b", "x.y-z_1": "b"}}, ""},
		{"two periods", jobs.Job{Body: "x", Attributes: map[string]string{"a..b": "b"}}, `attribute "a..b": SQS takes names`},
		{"a period at the end", jobs.Job{Body: "x", Attributes: map[string]string{"a.": "b"}}, `attribute "a.": SQS takes`},
		{"a space", jobs.Job{Body: "x", Attributes: map[string]string{"a b": "b"}}, `attribute "a b": SQS takes names`},
		{"a long group", jobs.Job{Queue: fifo, Body: "x", Group: strings.Repeat("g", 128), Dedup: "!~"}, ""},
		{"too long a group", jobs.Job{Queue: fifo, Body: "x", Group: strings.Repeat("g", 129)}, `--group is "gggg`},
		{"a space in the group", jobs.Job{Body: "x", Group: "a b", Source: "f:1"}, `"group" is "a b"; SQS takes up to 128`},
		{"a space in the dedup", jobs.Job{Queue: fifo, Body: "x", Group: "g", Dedup: "a b"}, `--dedup is "a b"; SQS takes`},
		{"no dedup", jobs.Job{Queue: jobs.Queue{Name: "o.fifo", FIFO: true, WantsDedup: true}, Body: "x", Group: "g"},
			"queue o.fifo has no ContentBasedDeduplication; give the job a --dedup"},
		{"delay", jobs.Job{Body: "x", Source: "f:1", Delay: 901 * time.Second}, `"delay" is 901; SQS takes 0 to 900 seconds`},
		{"negative delay", jobs.Job{Body: "x", Delay: -time.Second}, `--delay is -1`},
		{"times", jobs.Job{Body: "x", Source: "f:1", Times: -1}, `"times" is -1`},
		{"bytes", jobs.Job{Body: "\xff"}, "the body is not UTF-8 text"},
		{"control character", jobs.Job{Body: "ab\x00"}, "the body has the character U+0000 at byte 2"},
		{"no character", jobs.Job{Body: "\uffff"}, "the body has the character U+FFFF at byte 0"},
		{"attribute", jobs.Job{Body: "x", Attributes: map[string]string{"a": "\x01"}},
			"attribute a has the character U+0001"},
		{"empty attribute", jobs.Job{Body: "x", Attributes: map[string]string{"a": ""}}, `attribute "a" is ""`},
		{"no group", jobs.Job{Queue: fifo, Body: "x"}, `queue ordered.fifo is FIFO; give the job a --group`},
		{"delay in a FIFO queue", jobs.Job{Queue: fifo, Body: "x", Group: "g", Delay: time.Second},
			`a --delay can be set for the whole queue only`},
		{"dedup in a standard queue", jobs.Job{Queue: jobs.Queue{Name: "plain"}, Body: "x", Dedup: "d"},
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
	if n := jobs.Count([]jobs.Job{{}, {Times: 1}, {Times: 5}}); n != 7 {
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
