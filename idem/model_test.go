package idem_test

import (
	"os"
	"testing"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/simulation"
)

// SQSAFE_HISTORIES and SQSAFE_SEED walk others than those of a run of all tests:
// SQSAFE_HISTORIES=100000 go test -run HoldsInAllHistories ./idem/...
func TestMemoryHoldsInAllHistories(t *testing.T) {
	t.Parallel()
	options := simulation.ReadModelOptions(t, os.Getenv("SQSAFE_HISTORIES"), os.Getenv("SQSAFE_SEED"), 1000)
	simulation.Model(t, func(*testing.T) idem.Store { return idem.NewMemory() }, options)
}

// Two versions share a table while one is deployed, and when it is rolled back: no job
// runs again after its completion, and none is lost.
func TestMemoryOfTwoVersionsHoldsInAllHistories(t *testing.T) {
	t.Parallel()
	options := simulation.ReadModelOptions(t, os.Getenv("SQSAFE_HISTORIES"), os.Getenv("SQSAFE_SEED"), 1200)
	options.Deploys, options.Histories = true, max(options.Histories/4, 1)
	newStore := func(*testing.T) idem.Store { return idem.NewMemory() }
	simulation.Model(t, newStore, options)
	simulation.ModelFleet(t, newStore, options)
}

func TestMemoryHoldsInAllHistoriesOfAFleet(t *testing.T) {
	t.Parallel()
	options := simulation.ReadModelOptions(t, os.Getenv("SQSAFE_HISTORIES"), os.Getenv("SQSAFE_SEED"), 400)
	simulation.ModelFleet(t, func(*testing.T) idem.Store { return idem.NewMemory() }, options)
}
