package archive

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Expired returns the archives in a directory whose time is over, as their first lines say.
// Other files are left alone. Its error is that of the directory.
func Expired(dir string, now time.Time) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var expired []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.Type().IsRegular() {
			continue
		}
		// The header of a damaged file counts too: it says how long to keep the rest.
		c, _ := Verify(path)
		if c != nil && c.Format == formatName && !c.KeepUntil.IsZero() && now.After(c.KeepUntil) {
			expired = append(expired, path)
		}
	}
	return expired, nil
}

// Remove deletes an archive, and what was noted of its restoration.
func Remove(path string) error {
	r := Restoration{Path: path}
	err := os.Remove(r.JournalPath())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(os.Remove(path), err)
}
