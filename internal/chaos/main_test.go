//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrongFlagsAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arguments []string
		want      string
	}{
		"too few kills":    {[]string{"-kills", "3"}, "-kills 3: give at least 20"},
		"no number":        {[]string{"-seed", "x"}, `-seed "x": give a whole number`},
		"not in the root":  {[]string{"-job", "nowhere"}, "run this in the root of the repository"},
		"an unknown flag":  {[]string{"-what"}, "flag provided but not defined"},
		"asked for a list": {[]string{"-h"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, messages bytes.Buffer
			err := run(t.Context(), tt.arguments, &out, &messages)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestEvidenceIsKeptOfWhatFails(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		folder := filepath.Join(t.TempDir(), "evidence")
		e, err := newEvidence(folder)
		if err != nil {
			t.Fatal(err)
		}
		e.write(strikesFile, "SIGKILL")
		f := world()
		f.left["Plain"] = 1
		e.keep(f, judge(f))
		if err := e.close(kept); err != nil {
			t.Fatal(err)
		}
		if !kept {
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("the folder is left behind: %v", err)
			}
			continue
		}
		for name, want := range map[string]string{
			strikesFile: "SIGKILL", "broken.log": "queue Plain still has 1 messages", "calls.log": "effect in process 1",
			"ledger.jsonl": completed, "letters.jsonl": "crash_loop",
		} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s has %q (%v), want %q", name, text, err, want)
			}
		}
	}
}

func TestACampaignThatDidNothingFails(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 20)
	c := &campaign{
		plan: p, proxy: newProxy(1, nil), fleet: newFleet(), provider: newProvider(p.jobs, nil),
	}
	c.striker = newStriker(c.fleet, c.provider, ledger{}, nil)
	got := strings.Join(c.idle(verdict{}), "\n")
	for _, want := range []string{
		"0 kills, want 20", "no SIGKILL of a worker", "no call throttled", "no step", "no dead letter that was sent back",
		"no failure of the provider",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
