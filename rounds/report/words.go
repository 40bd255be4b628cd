package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
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

// evidenceWords say what a piece of evidence means.
var evidenceWords = map[string]string{
	"link-closed":       "its connection was closed",
	"dial-refused":      "nothing listens at its address any more",
	"link-reset":        "its connection broke",
	"heartbeat-missed":  "it answers no heartbeats",
	"unreachable":       "it cannot be reached",
	"other-incarnation": "another process answers at its address",
	"gossip-dead":       "gossip declared it dead",
	"left":              "it said good-bye",
	"proven-dead":       "its process is proven dead",
}

// meaning puts the evidence against a node into words: "its connection was
// closed and nothing listens at its address any more".
func meaning(evidence string, id uint64) string {
	var found []string
	for piece := range strings.SplitSeq(evidence, ", ") {
		kind, about, _ := strings.Cut(piece, " ")
		if w := evidenceWords[kind]; w != "" && about == fmt.Sprint(id) && !slices.Contains(found, w) {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return evidence
	}
	return words.And(found...)
}

// clusterName returns the name of a group.
func clusterName(cluster, algorithm string, run int) string {
	name := "cluster " + cluster
	switch {
	case cluster == "" && run > 0:
		name = fmt.Sprintf("simulated run %d", run)
	case cluster == "":
		name = "a cluster without a label"
	}
	return name + ", " + algorithm
}
