package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// clockTime is the format for the time of day, as the records have it.
const clockTime = "15:04:05.000"

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(clockTime)
}

// in returns the nodes that had one of the parts in the round.
func in(r *rounds.Round, parts ...rounds.Part) (ids []uint64) {
	for _, p := range r.Participants {
		if slices.Contains(parts, p.Part) {
			ids = append(ids, p.Node)
		}
	}
	return ids
}

// clusterName returns the name of a group.
func clusterName(cluster, algorithm string, run, era int) string {
	name := "cluster " + cluster
	switch {
	case cluster == "" && run > 0:
		name = fmt.Sprintf("simulated run %d", run)
	case cluster == "":
		name = "a cluster without a label"
	}
	name += ", " + algorithm
	if era > 0 {
		name += fmt.Sprintf(", era %d", era)
	}
	return name
}
