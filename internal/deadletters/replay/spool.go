package replay

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Spool keeps messages in a temporary file, so that a replay of many letters takes little
// memory. The file has no name, so nothing stays behind, where the system allows that.
type Spool struct {
	file *os.File
	end  int64
	at   map[string]int64 // by letter id
}

// NewSpool returns an empty spool. It must be closed.
func NewSpool() (*Spool, error) {
	f, err := os.CreateTemp("", "sqsafe-letters-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // on other systems Close does it
	return &Spool{file: f, at: map[string]int64{}}, nil
}

// Put keeps a message.
func (s *Spool) Put(m *deadletters.Message) error {
	w := &countingWriter{w: io.NewOffsetWriter(s.file, s.end)}
	if err := gob.NewEncoder(w).Encode(m); err != nil {
		return fmt.Errorf("keep letter %s in a temporary file: %w", m.ID, err)
	}
	s.at[m.ID] = s.end
	s.end += w.n
	return nil
}

// Get returns a message that was kept.
func (s *Spool) Get(id string) (*deadletters.Message, error) {
	at, ok := s.at[id]
	if !ok {
		return nil, fmt.Errorf("letter %s: %w", id, os.ErrNotExist)
	}
	var m deadletters.Message
	if err := gob.NewDecoder(io.NewSectionReader(s.file, at, s.end-at)).Decode(&m); err != nil {
		return nil, fmt.Errorf("read letter %s from a temporary file: %w", id, err)
	}
	return &m, nil
}

// Close removes the file.
func (s *Spool) Close() error {
	name := s.file.Name()
	err := s.file.Close()
	if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
