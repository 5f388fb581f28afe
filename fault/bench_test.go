package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sqsafe/sqsafe/fault"
)

func BenchmarkClassify(b *testing.B) {
	wrapped := func(err error) error { return fmt.Errorf("charge: %w", fmt.Errorf("call: %w", err)) }
	for name, err := range map[string]error{
		"tagged":  wrapped(fault.Permanent(errBoom)),
		"SQL":     wrapped(stateError("40001")),
		"AWS":     wrapped(awsError("ThrottlingException", "", 400)),
		"unknown": wrapped(errBoom),
		"joined":  errors.Join(wrapped(errBoom), wrapped(awsError("SomethingNew", "", 200))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fault.Classify(b.Context(), err)
			}
		})
	}
}
