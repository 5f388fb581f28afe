package logs

import (
	"log/slog"
	"testing"
)

func TestTheEnvironmentSetsWhatOptionsDoNot(t *testing.T) {
	t.Parallel()
	set := map[string]string{
		levelVariable: "warn", oneInVariable: "100", lastAttemptVariable: "true",
	}
	lookup := func(name string) (string, bool) { value, ok := set[name]; return value, ok }
	h, err := newHandler(slog.DiscardHandler, nil, lookup)
	if err != nil || h.options.Level.Level() != slog.LevelWarn || h.options.DebugOneIn != 100 ||
		!h.options.DebugLastAttempt {
		t.Errorf("%+v, %v", h, err)
	}
	h, err = newHandler(slog.DiscardHandler, &Options{Level: slog.LevelError, DebugOneIn: -1}, lookup)
	if err != nil || h.options.Level.Level() != slog.LevelError || h.options.DebugOneIn != -1 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestEachWrongVariableIsNamed(t *testing.T) {
	t.Parallel()
	set := map[string]string{levelVariable: "loud", oneInVariable: "0", lastAttemptVariable: "maybe"}
	lookup := func(name string) (string, bool) { value, ok := set[name]; return value, ok }
	_, err := newHandler(slog.DiscardHandler, nil, lookup)
	const want = `environment variable SQSAFE_LOG_LEVEL is "loud"; set it to DEBUG, INFO, WARN or ERROR
environment variable SQSAFE_LOG_DEBUG_ONE_IN is "0"; set it to a number of jobs, at least 1
environment variable SQSAFE_LOG_DEBUG_LAST_ATTEMPT is "maybe"; set it to true or false`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := newHandler(nil, nil, lookup); err == nil {
		t.Error("no error without a handler")
	}
}

func FuzzEnvironment(f *testing.F) {
	f.Add("INFO", "10", "true")
	f.Add("", "-1", "1")
	f.Fuzz(func(t *testing.T, level, oneIn, last string) {
		set := map[string]string{levelVariable: level, oneInVariable: oneIn, lastAttemptVariable: last}
		lookup := func(name string) (string, bool) { return set[name], true }
		h, err := newHandler(slog.DiscardHandler, nil, lookup)
		if err == nil && h.options.DebugOneIn < 0 {
			t.Errorf("%v gives %+v", set, h.options)
		}
	})
}
