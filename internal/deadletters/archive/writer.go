package archive

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Writer writes an archive. What was added is on disk when [Writer.Flush] returns.
type Writer struct {
	// Path is the place of the file, and Letters the number of letters in it.
	Path    string
	Letters int

	file   *os.File
	buffer *bufio.Writer
	zip    *gzip.Writer // nil for a file that is not compressed
	all    hash.Hash
	ids    map[string]bool
}

// Create creates the file, which must not exist, with mode 0600.
func Create(path string, h Header) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("archive: %s is there already; name another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	w := &Writer{Path: path, file: f, buffer: bufio.NewWriter(f), all: sha256.New(), ids: map[string]bool{}}
	if strings.HasSuffix(path, ".gz") {
		w.zip = gzip.NewWriter(w.buffer)
	}
	h.Format, h.Version = formatName, formatVersion
	text, err := json.Marshal(h)
	if err != nil {
		return nil, errors.Join(err, w.abandon())
	}
	if err := errors.Join(w.line(text), w.Flush()); err != nil {
		return nil, errors.Join(err, w.abandon())
	}
	return w, nil
}

// abandon removes a file without letters.
func (w *Writer) abandon() error { return errors.Join(w.file.Close(), os.Remove(w.Path)) }

func (w *Writer) line(text []byte) error {
	out := io.Writer(w.buffer)
	if w.zip != nil {
		out = w.zip
	}
	w.all.Write(text)
	_, err := out.Write(append(text, '\n'))
	return err
}

// Add adds a letter, once.
func (w *Writer) Add(m *deadletters.Message) error {
	if w.ids[m.ID] {
		return nil
	}
	text, err := encode(m)
	if err == nil {
		err = w.line(text)
	}
	if err != nil {
		return fmt.Errorf("archive %s: letter %s: %w", w.Path, m.ID, err)
	}
	w.ids[m.ID] = true
	w.Letters++
	return nil
}

// Flush writes to disk what was added. In a compressed file it ends a part, so that the
// file can be read if nothing more comes.
func (w *Writer) Flush() error {
	var err error
	if w.zip != nil {
		err = w.zip.Close()
		w.zip.Reset(w.buffer)
	}
	if err = errors.Join(err, w.buffer.Flush(), w.file.Sync()); err != nil {
		return fmt.Errorf("archive %s: %w", w.Path, err)
	}
	return nil
}

// Close writes the last line and closes the file. A file without letters is removed.
func (w *Writer) Close() error {
	if w.Letters == 0 {
		return w.abandon()
	}
	text, err := json.Marshal(line{SHA256: hex.EncodeToString(w.all.Sum(nil)), End: &w.Letters})
	if err == nil {
		err = errors.Join(w.line(text), w.Flush())
	}
	return errors.Join(err, w.file.Close())
}
