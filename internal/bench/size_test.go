package main

import (
	"os"
	"testing"

	// The go command runs this test anew when what functions link has changed.
	_ "github.com/sqsafe/sqsafe"
)

// largestFunction is what a function with ledger and dead-letter queue may weigh
// in bytes: most of it is the AWS SDK, each service of which costs start-up time.
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
