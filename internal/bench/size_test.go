package main

import (
	"os"
	"testing"

	// Imported so that the go command runs this test again when the functions'
	// dependencies have changed.
	_ "github.com/sqsafe/sqsafe"
)

// largestFunction is the maximum size in bytes of a function with ledger and
// dead-letter queue. Most of it is the AWS SDK, and each of its services adds
// to the start-up time.
const largestFunction = 9 << 20

func TestADeployedFunctionIsSmall(t *testing.T) {
	t.Parallel()
	binary, err := build(t.Context(), t.TempDir(), "github.com/sqsafe/sqsafe/functions/charge")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("functions/charge has %d bytes", info.Size())
	if info.Size() > largestFunction {
		t.Errorf("functions/charge has %d bytes, at most %d are wanted: compare \"go list -deps ./functions/charge\" "+
			"with that of a smaller version", info.Size(), largestFunction)
	}
}
