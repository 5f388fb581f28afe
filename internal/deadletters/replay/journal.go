package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Journal is the file of a run: a line of JSON for each step. A line is on disk before the
// step that it announces is made.
type Journal struct {
	// Path is the place of the file.
	Path string

	file io.WriteCloser
	sync func() error
}

// Header is the first line of a journal.
type Header struct {
	Version int       `json:"v"`
	Run     string    `json:"run"`
	Time    time.Time `json:"time"`
	Queue   string    `json:"queue"`
	URL     string    `json:"url"`
	Who     string    `json:"who,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	// HoldSeconds is how long letters may stay hidden after the run was killed.
	HoldSeconds int  `json:"holdSeconds"`
	Plain       bool `json:"plain,omitempty"`
}

// State is how far a letter has come.
type State string

const (
	// StatePlanned says that nothing was done.
	StatePlanned State = "planned"
	// StateSending says that a send was announced. If it stays so, it is not known whether
	// the message was sent.
	StateSending State = "sending"
	// StateSent says that SQS confirmed the message.
	StateSent State = "sent"
	// StateRefused says that the message was certainly not sent.
	StateRefused State = "refused"
	// StateDeleted says that the letter is deleted.
	StateDeleted State = "deleted"
	// StateEnd is that of the line at the end of a run.
	StateEnd State = "end"
)

// Line is a line of a journal after the first.
type Line struct {
	State State     `json:"state"`
	Time  time.Time `json:"time,omitzero"`
	// ID is the letter's, IDs are those of several.
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids,omitempty"`
	// The other members of a planned letter: its original id, the job, the target's URL,
	// the deduplication id, and whether the ledger makes a second copy harmless.
	Original  string `json:"originalId,omitempty"`
	Job       string `json:"job,omitempty"`
	Target    string `json:"target,omitempty"`
	DedupID   string `json:"dedupId,omitempty"`
	Protected bool   `json:"protected,omitempty"`
	Edited    bool   `json:"edited,omitempty"`
	// MessageID is the id of the message that was sent.
	MessageID string `json:"messageId,omitempty"`
	Error     string `json:"error,omitempty"`
}

const journalVersion = 1

// CreateJournal creates the file, which must not exist, with mode 0600.
func CreateJournal(path string, h Header) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	h.Version = journalVersion
	j := &Journal{Path: path, file: f, sync: f.Sync}
	return j, j.write(h)
}

// AppendJournal opens the file of a run that is resumed.
func AppendJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{Path: path, file: f, sync: f.Sync}
	// A line that a kill cut off has no end.
	if last, err := lastByte(f); err == nil && last != '\n' {
		if _, err := f.WriteString("\n"); err != nil {
			return nil, errors.Join(fmt.Errorf("journal: %w", err), f.Close())
		}
	}
	return j, nil
}

func lastByte(f *os.File) (byte, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return '\n', err
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], size-1)
	return b[0], err
}

// Write appends lines, and returns when they are on disk.
func (j *Journal) Write(lines ...Line) error {
	values := make([]any, len(lines))
	for i := range lines {
		values[i] = lines[i]
	}
	return j.write(values...)
}

func (j *Journal) write(values ...any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, v := range values {
		if err := encoder.Encode(v); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	if _, err := j.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Past is what a journal says of its run.
type Past struct {
	Header Header
	// Order has the ids of the letters in their order, and Letters what is known of them.
	Order   []string
	Letters map[string]*Line
	// Last is the time of the last line.
	Last time.Time
	// Ended says that the run came to its end.
	Ended bool
}

// ReadJournal reads a journal. A last line that was cut off counts as not written.
func ReadJournal(path string) (*Past, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	p := &Past{Letters: map[string]*Line{}}
	r := bufio.NewReader(f)
	for number := 1; ; number++ {
		text, err := r.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) && number > 1 {
				return p, nil
			}
			return nil, fmt.Errorf("journal %s: it has no first line", path)
		}
		if err := p.add(number, text); err != nil {
			return nil, fmt.Errorf("journal %s:%d: %w", path, number, err)
		}
	}
}

// add takes in a line. A line that a kill cut off, and after which the run was resumed, is
// no JSON.
func (p *Past) add(number int, text []byte) error {
	if number == 1 {
		if err := json.Unmarshal(text, &p.Header); err != nil {
			return err
		}
		if p.Header.Version != journalVersion || p.Header.Run == "" {
			return errors.New("it is no journal of a replay")
		}
		p.Last = p.Header.Time
		return nil
	}
	var line Line
	if json.Unmarshal(text, &line) != nil {
		return nil //nolint:nilerr // see above
	}
	if !line.Time.IsZero() {
		p.Last = line.Time
	}
	p.Ended = line.State == StateEnd
	if line.State == StatePlanned {
		if p.Letters[line.ID] == nil {
			p.Order = append(p.Order, line.ID)
		}
		p.Letters[line.ID] = &line
		return nil
	}
	for _, id := range append(line.IDs, line.ID) {
		if known := p.Letters[id]; known != nil {
			known.State, known.Error = line.State, line.Error
			if line.MessageID != "" {
				known.MessageID = line.MessageID
			}
		}
	}
	return nil
}
