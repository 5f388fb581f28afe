package sqsafe

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

// The environment makes options that a processor accepts, or the error names each
// variable that is wrong.
func FuzzEnvironment(f *testing.F) {
	f.Add("30", "3", "1", "exponential", "0.2", "8", "true", "id,order.total", "30", "60", "1024", "sqsafe")
	f.Add("", "", "", "", "", "", "", "", "", "", "", "")
	f.Add("-1", "0", "1e3", "linear", "NaN", "1001", "yes", ".", "0", "-5", "1025", "AWS/x")
	f.Add("9223372036854775807", "1000001", " 1", "stepped", "1e-400", "1000", "false", "none",
		"1000000", "1000000", "0", "off")
	f.Add("1", "1", "1", "exponential", "-0", "+7", "", "a,,b", "1", "1", "+0", "\x00")
	f.Fuzz(func(t *testing.T, receives, unclassified, concurrency, profile, jitter, attempts, strict, hash, keep, lease,
		excerpt, namespace string,
	) {
		env := complete()
		maps.Copy(env, map[string]string{
			maxReceivesVariable: receives, unclassifiedVariable: unclassified, concurrencyVariable: concurrency,
			backoffVariable: profile, jitterVariable: jitter, attemptsVariable: attempts, strictVariable: strict,
			hashVariable: hash, keepVariable: keep, leaseVariable: lease, excerptVariable: excerpt, namespaceVariable: namespace,
		})
		var o Options
		if err := readEnvironment(lookupIn(env), &o); err != nil {
			_, missing := errors.AsType[*MissingError](err)
			_, invalid := errors.AsType[*InvalidError](err)
			if !missing && !invalid || !strings.Contains(err.Error(), "SQSAFE_") {
				t.Errorf("the error names no variable: %v", err)
			}
			return
		}
		if o.MaxReceives < 1 || o.Keep < 0 || o.Lease < 0 || o.Concurrency < 0 || o.ExcerptBytes > mostExcerpt {
			t.Errorf("the options are %+v", o)
		}
		if _, _, err := newLambdaProcessor(lookupIn(env), nothing, nil); err != nil {
			t.Errorf("the environment is accepted, and no processor can be made of it: %v", err)
		}
	})
}
