package deadletters_test

import (
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-30T18:00:00Z":      time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC),
		"2026-11-30T18:00:00+02:00": time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC),
		"2026-11-30":                time.Date(2026, 11, 30, 0, 0, 0, 0, time.Local),
		"2026-11-30T18:05":          time.Date(2026, 11, 30, 18, 5, 0, 0, time.Local),
		"2026-11-30 18:05":          time.Date(2026, 11, 30, 18, 5, 0, 0, time.Local),
		"90m":                       now.Add(-90 * time.Minute),
		"3d":                        now.Add(-72 * time.Hour),
		"1d12h":                     now.Add(-36 * time.Hour),
		"0s":                        now,
	} {
		if got, err := deadletters.ParseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "-2h", "2", "d", "-1d", "1d-12h", "99999d", "2026-13-01"} {
		if got, err := deadletters.ParseTime(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
