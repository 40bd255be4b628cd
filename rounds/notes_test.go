package rounds_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "The records are of 2 clusters": two of five nodes of one cluster wrote text for people, which has no label.
func TestRecordsWithoutALabelMayBeOfAnotherCluster(t *testing.T) {
	for labels, want := range map[[2]string]string{
		{"c", "d"}: `The records are of 2 clusters, which are told one by one: ["c" "d"].`,
		{"", "c"}: `The records have 2 labels, which are told one by one: ["" "c"]. Those without one, as all that ` +
			`are text for people, may be of one of the other clusters.`,
	} {
		b := rounds.NewBuilder()
		for i, label := range labels {
			b.Add(&trace.Record{
				Cluster: label, Node: uint64(i + 1), Time: atMS(i), Algo: "bully", Incarnation: "aaaaaaaa", Seq: 1,
				Event: "start", Role: trace.Looking,
			})
		}
		if notes := b.History().Notes; !slices.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
}
