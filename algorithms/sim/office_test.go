package sim

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

func officeOf(t testing.TB, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	e = e.WithOffice()
	return Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
		Agreement: e.Agreement, Office: true, Promise: e.Promise,
	}
}

// "At any instant of true time at most one process holds the office", and all
// the other invariants.
func TestOfficeSchedules(t *testing.T) {
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			mustBatch(t, Options{Algorithm: officeOf(t, name), Seed: 1}, 400)
		})
	}
}
