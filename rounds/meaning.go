package rounds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/words"
)

// evidenceWords say what a piece of evidence means.
var evidenceWords = map[string]string{
	"link-closed":       "connection closed",
	"dial-refused":      "port refused",
	"link-reset":        "connection broke",
	"heartbeat-missed":  "no answer to heartbeats",
	"unreachable":       "cannot be reached",
	"other-incarnation": "another process answers at its address",
	"gossip-dead":       "gossip declared it dead",
	"left":              "it said good-bye",
	provenDead:          "its process is proven dead",
}

// Meaning puts the evidence against a node into words: "connection closed, port refused". It returns the evidence
// itself if this version does not know it.
func Meaning(evidence string, id uint64) string {
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
