package cli

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"
)

// Change are the flags of commands that change a queue.
type Change struct {
	Yes   bool   `help:"Do it; without this the command says what it would do."`
	Audit string `placeholder:"FILE" help:"Append the audit line to this file; without it, it goes to standard error."`
}

// auditLine says who has done what, when, and why.
type auditLine struct {
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`
	Action  string    `json:"audit"`
	Queue   string    `json:"queue,omitempty"`
	Job     string    `json:"job,omitempty"`
	Letters int       `json:"letters"`
	// Failed says that it was not done as a whole.
	Failed bool   `json:"failed,omitempty"`
	Run    string `json:"run,omitempty"`
	File   string `json:"file,omitempty"`
	Why    string `json:"why,omitempty"`
}

// audit writes the line. Nothing of a payload is in it.
func (c *Change) audit(streams Streams, line auditLine) error {
	line.Time, line.Who = time.Now().UTC(), who()
	if c.Audit == "" {
		return newEncoder(streams.Err).Encode(line)
	}
	f, err := os.OpenFile(c.Audit, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("audit line: %w", err)
	}
	if err := errors.Join(newEncoder(f).Encode(line), f.Close()); err != nil {
		return fmt.Errorf("audit line: %w", err)
	}
	return nil
}

// who returns the user and the host, as far as the machine knows them.
func who() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return strings.TrimSuffix(name+"@"+host, "@")
}
