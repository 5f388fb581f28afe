package system

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shrinkTime is how long the search for a shorter history may take, of real time.
const shrinkTime = time.Minute

// shrink looks for a history that breaks the same promise with less in it: without some of
// the features, jobs and copies. What is left out changes nothing of what stays.
func shrink(t *testing.T, failed *outcome) *outcome {
	t.Helper()
	return shrinkWith(failed, time.Now().Add(shrinkTime), func(c *config) *outcome { return play(t, c) })
}

func shrinkWith(failed *outcome, until time.Time, play func(*config) *outcome) *outcome {
	shortest := failed
	for {
		tried := len(shortest.config.without)
		for _, parts := range shortest.config.parts() {
			if time.Now().After(until) {
				return shortest
			}
			parts = slices.DeleteFunc(slices.Clone(parts), shortest.config.leftOut)
			if len(parts) == 0 {
				continue
			}
			without := slices.Concat(shortest.config.without, parts)
			if out := play(newConfig(failed.config.seed, without)); out.breaksAs(failed) {
				shortest = out
			}
		}
		if len(shortest.config.without) == tried {
			return shortest
		}
	}
}

// parts are what may be left out: first half of the jobs at a time, then one by one.
func (c *config) parts() [][]string {
	var parts [][]string
	var jobs []string
	for _, j := range c.jobs {
		jobs = append(jobs, j.name)
	}
	for n := len(jobs) / 2; n > 1; n /= 2 {
		for chunk := range slices.Chunk(jobs, n) {
			parts = append(parts, chunk)
		}
	}
	for _, f := range features {
		if c.on[f.name] {
			parts = append(parts, []string{string(f.name)})
		}
	}
	for _, s := range c.sends {
		if len(c.sends) > 1 {
			parts = append(parts, []string{s.name})
		}
	}
	return parts
}

// breaksAs reports whether both histories break the same promise first.
func (o *outcome) breaksAs(other *outcome) bool {
	return len(o.breaches) > 0 && len(other.breaches) > 0 && o.breaches[0].promise == other.breaches[0].promise
}

// repeat is the command that plays the history again.
func (o *outcome) repeat() string {
	command := fmt.Sprintf("make sim HISTORIES=1 SEED=%d", o.config.seed)
	if len(o.config.without) > 0 {
		command += fmt.Sprintf(" WITHOUT=%q", strings.Join(o.config.without, " "))
	}
	return command
}

// keep writes the history as it happened into a file of the folder that SQSAFE_KEEP names,
// and returns its name; "" if it is not kept.
func keep(t *testing.T, out *outcome) string {
	t.Helper()
	folder := os.Getenv("SQSAFE_KEEP")
	if folder == "" {
		return ""
	}
	var text strings.Builder
	for _, b := range out.breaches {
		fmt.Fprintf(&text, "%s: %s\n", b.promise, b.text)
	}
	fmt.Fprintf(&text, "%s\n%v\n", out.repeat(), out.config)
	for _, e := range out.journal {
		fmt.Fprintln(&text, e)
	}
	name := filepath.Join(folder, fmt.Sprintf("history-%d.txt", out.config.seed))
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(text.String()), 0o600)
	}
	if err != nil {
		t.Errorf("history %d is not kept: %v", out.config.seed, err)
		return ""
	}
	return name
}

// A history that breaks a promise only with one job and one feature is shrunk to these.
func TestShrink(t *testing.T) {
	whole := newConfig(7, nil)
	for s := seed(7); len(whole.jobs) < 6 || !whole.on[kills] || !whole.on[refusals]; s++ {
		whole = newConfig(s, nil)
	}
	needed := refusals
	guilty := whole.jobs[3].name
	played := 0
	play := func(c *config) *outcome {
		played++
		out := &outcome{config: c}
		if c.on[needed] && slices.ContainsFunc(c.jobs, func(j *job) bool { return j.name == guilty }) {
			out.breaches = []breach{{promise: "one outcome"}}
		}
		return out
	}
	short := shrinkWith(play(whole), time.Now().Add(time.Hour), play).config
	if len(short.jobs) != 1 || short.jobs[0].name != guilty {
		t.Errorf("left are the jobs %v, want %s alone", short.jobs, guilty)
	}
	for _, f := range features {
		if short.on[f.name] != (f.name == needed) {
			t.Errorf("feature %s is %v after shrinking, want %s alone", f.name, short.on[f.name], needed)
		}
	}
	if played > 200 {
		t.Errorf("%d histories were played, want at most 200", played)
	}
}
