package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Content is what a file holds besides its letters.
type Content struct {
	Header
	// Letters is the number of letters.
	Letters int
	// Whole says that the last line is there. Without it the archiving was interrupted:
	// letters that are not in the file are still in the queue.
	Whole bool
}

// Read reads an archive, and calls each with its letters in their order, once for each id.
// An error of each ends it. A line that was changed or damaged is an error that names it.
func Read(path string, each func(*deadletters.Message) error) (*Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	in := bufio.NewReader(buffered)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) { // by content: names change
		unzip, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("archive %s: %w", path, err)
		}
		in = bufio.NewReader(unzip)
	}
	c := &Content{}
	all, ids := sha256.New(), map[string]bool{}
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return c, ended(path, number, err)
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if err := c.add(number, text, hex.EncodeToString(all.Sum(nil)), func(m *deadletters.Message) error {
			if ids[m.ID] {
				return nil
			}
			ids[m.ID] = true
			return each(m)
		}); err != nil {
			return c, fmt.Errorf("archive %s:%d: %w", path, number, err)
		}
		all.Write(text)
	}
}

// ended returns nil for the end of a file, also of one that was not written to its end.
func ended(path string, number int, err error) error {
	switch {
	case number == 1:
		return fmt.Errorf("archive %s: %w", path, errNoFormat)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	}
	return fmt.Errorf("archive %s:%d: %w", path, number, err)
}

func (c *Content) add(number int, text []byte, before string, each func(*deadletters.Message) error) error {
	if number == 1 {
		if json.Unmarshal(text, &c.Header) != nil || c.Format != formatName || c.Version < 1 {
			return errNoFormat
		}
		if c.Version > formatVersion {
			return fmt.Errorf("its version is %d, and this program knows %d; use a newer one", c.Version, formatVersion)
		}
		return nil
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.End != nil {
		if *l.End != c.Letters || l.SHA256 != before {
			return fmt.Errorf("lines are missing or were changed: it should have %d letters", *l.End)
		}
		c.Whole = true
		return nil
	}
	m, err := l.message()
	if err != nil {
		return err
	}
	c.Letters++
	return each(m)
}

// Verify reads the whole file and returns what it holds.
func Verify(path string) (*Content, error) {
	return Read(path, func(*deadletters.Message) error { return nil })
}
