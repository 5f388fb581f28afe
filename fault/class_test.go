package fault_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/fault"
)

func TestClassNames(t *testing.T) {
	t.Parallel()
	for class, want := range map[fault.Class]string{
		unclassified: "unclassified", retryable: "retryable", permanent: "permanent", 9: "invalid",
	} {
		if got := class.String(); got != want {
			t.Errorf("class %d is called %q, want %q", class, got, want)
		}
	}
}
