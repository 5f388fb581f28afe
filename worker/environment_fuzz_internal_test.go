package worker

import (
	"errors"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe"
)

// Settings are limits that a worker can keep, or each that is wrong is named.
func FuzzSettings(f *testing.F) {
	f.Add(queueURL, "5", "60", "900", ":8080", "shop", "worker")
	f.Add("", "0", "-1", "1e3", "off", "AWS/x", ":")
	f.Add("http://", "9223372036854775807", "9223372037", "99999999999999999999", "", "é", "\x00")
	f.Fuzz(func(t *testing.T, url, batches, drain, batch, address, namespace, name string) {
		s, err := readSettings(lookupIn(map[string]string{
			queueVariable: url, batchesVariable: batches, drainVariable: drain, batchSecondsVariable: batch,
			healthVariable: address, namespaceVariable: namespace, nameVariable: name,
		}))
		if err != nil {
			_, missing := errors.AsType[*sqsafe.MissingError](err)
			_, invalid := errors.AsType[*sqsafe.InvalidError](err)
			if !missing && !invalid || !strings.Contains(err.Error(), "SQSAFE_") {
				t.Errorf("the error names no variable: %v", err)
			}
			return
		}
		if s.Batches < 0 || s.Drain < 0 || s.BatchTimeout < 0 || s.QueueURL == "" {
			t.Errorf("%s, %s and %s make %+v", batches, drain, batch, s.Options)
		}
		if o := s.Options.withDefaults(); o.Batches < 1 || o.Drain <= 0 {
			t.Errorf("%s and %s make %+v", batches, drain, o)
		}
	})
}
