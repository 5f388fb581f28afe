//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sqsafe/sqsafe/internal/cli"
)

// replay sends the dead letters back that are there at the times of the plan, with the
// command that operators use. Its calls do not pass the proxy: a letter that is sent back
// and not deleted would be there twice.
func (c *campaign) replay(ctx context.Context, start time.Time) error {
	for _, at := range c.replays {
		if !sleepUntil(ctx, start.Add(at)) {
			return nil
		}
		for _, q := range queues {
			sent, err := c.replayQueue(ctx, q)
			if err != nil {
				return err
			}
			c.evidence.write(strikesFile, fmt.Sprintf("replay of %s: %d letters", q.dead(), sent))
			c.replayed += sent
		}
	}
	return nil
}

func (c *campaign) replayQueue(ctx context.Context, q *queue) (sent int, err error) {
	var out, problems bytes.Buffer
	switch code := cli.Run(ctx, []string{
		"dlq", "replay", q.dead(), "--endpoint-sqs", c.direct, "--table", table, "--yes", "--json", "--rate", "0",
		"--any-growth", "--journal", filepath.Join(c.evidence.folder, "replays"), "--why", "a campaign",
	}, cli.Streams{Out: &out, Err: &problems}); {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case code != cli.ExitOK:
		return 0, fmt.Errorf("replaying %s: exit code %d: %s", q.dead(), code, problems.String())
	}
	for lines := json.NewDecoder(&out); lines.More(); {
		var line struct {
			Event string `json:"event"`
			Sent  int    `json:"sent"`
		}
		if err := lines.Decode(&line); err != nil {
			return 0, fmt.Errorf("replaying %s: %w", q.dead(), err)
		}
		if line.Event == "summary" {
			sent += line.Sent
		}
	}
	return sent, nil
}
