package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/proto"
)

// keyTable says which nodes have which keys of gossip.
type keyTable struct {
	Nodes []proto.NodeID `json:"nodes"` // that answered
	Keys  []keyRow       `json:"keys"`
	// Failed are the nodes that did not say which keys they have.
	Failed []proto.NodeID `json:"failed,omitempty"`
	// Absent are the voters, and other nodes that were there, that are not believed alive: their keys stay as they are.
	Absent  []proto.NodeID `json:"absent,omitempty"`
	Next    string         `json:"-"` // what was done, and what comes next, for people
	dropped string         // what a node drops that is sealed with another key, for people
	only    []proto.NodeID // that the command was told to ask
}

// keyRow says which nodes have one key.
type keyRow struct {
	Fingerprint string         `json:"fingerprint"`
	Have        []proto.NodeID `json:"have"`
	Seal        []proto.NodeID `json:"seal"`
}

// put notes the keys of a node, the one that seals first.
func (t *keyTable) put(id proto.NodeID, keys []string) {
	t.Nodes = append(t.Nodes, id)
	for i, fingerprint := range keys {
		row := t.row(fingerprint)
		if row == nil {
			t.Keys = append(t.Keys, keyRow{Fingerprint: fingerprint, Seal: []proto.NodeID{}})
			row = &t.Keys[len(t.Keys)-1]
		}
		row.Have = append(row.Have, id)
		if i == 0 {
			row.Seal = append(row.Seal, id)
		}
	}
}

func (t *keyTable) row(fingerprint string) *keyRow {
	i := slices.IndexFunc(t.Keys, func(r keyRow) bool { return r.Fingerprint == fingerprint })
	if i < 0 {
		return nil
	}
	return &t.Keys[i]
}

// lacking returns the nodes that have not a key.
func (t *keyTable) lacking(fingerprint string) []proto.NodeID {
	row := t.row(fingerprint)
	return slices.DeleteFunc(slices.Clone(t.Nodes), func(id proto.NodeID) bool {
		return row != nil && slices.Contains(row.Have, id)
	})
}

// common returns the key that all nodes have with which most seal, or the wanted one if all have that; "" if they have
// none in common.
func (t *keyTable) common(wanted string) (fingerprint string) {
	most := -1
	for _, row := range t.Keys {
		switch {
		case len(t.lacking(row.Fingerprint)) > 0:
		case row.Fingerprint == wanted:
			return wanted
		case len(row.Seal) > most:
			fingerprint, most = row.Fingerprint, len(row.Seal)
		}
	}
	return fingerprint
}

// disagreement returns an error unless all nodes have the same keys and seal with the same one. It says which lack or
// use what, and the command that mends it. The key that a command is about is used if all have it, and not said to be
// left over.
func (t *keyTable) disagreement(about string) error {
	var says, seal []string
	for _, row := range t.Keys {
		lack := t.lacking(row.Fingerprint)
		if len(row.Seal) > 0 {
			seal = append(seal, fmt.Sprintf("%s with %s", nodesDo(row.Seal, "seals", "seal"), row.Fingerprint))
		}
		switch {
		case len(lack) == 0:
		case len(row.Seal) > 0:
			says = append(says, fmt.Sprintf("%s not key %s, and %s what is sealed with it", nodesHave(lack),
				row.Fingerprint, words.Either(len(lack), "drops", "drop")))
		case row.Fingerprint != about:
			says = append(says, fmt.Sprintf("%s not key %s: add it again from its file, or ringleader keys remove %s%s",
				nodesHave(lack), row.Fingerprint, row.Fingerprint, t.onlyThese()))
		}
	}
	if len(seal) > 1 {
		says = append(says, "not all nodes seal with the same key: "+strings.Join(seal, ", "))
	}
	switch key := t.common(about); {
	case len(seal) <= 1:
	case key == "":
		says = append(says, "no key is on all nodes: this mends it: ringleader keys add"+t.onlyThese()+
			", and then use, as that says")
	default:
		says = append(says, "this mends it: ringleader keys use "+key+t.onlyThese())
	}
	if len(says) == 0 {
		return nil
	}
	return errors.New(strings.Join(says, "\n"))
}

// onlyThese returns the flag that names the nodes again that the table is about, if one did.
func (t *keyTable) onlyThese() string {
	if len(t.only) == 0 {
		return ""
	}
	return " --only " + strings.ReplaceAll(joinIDs(t.only), " ", ",")
}

func writeKeyTable(w io.Writer, t keyTable) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "key\tnodes that have it\tthat seal with it")
	for _, row := range t.Keys {
		seal := "none"
		if len(row.Seal) > 0 {
			seal = joinIDs(row.Seal)
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\n", row.Fingerprint, joinIDs(row.Have), seal)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	var notes strings.Builder
	if len(t.Absent) > 0 {
		fmt.Fprintf(&notes, "%s not there: %s keeps its keys, and is let in if the others open what it seals; else "+
			"copy another's gossip.key to it\n", nodesDo(t.Absent, "is", "are"),
			words.Either(len(t.Absent), "it", "each"))
	}
	for _, note := range []string{t.dropped, t.Next} {
		if note != "" {
			notes.WriteString(note + "\n")
		}
	}
	_, err := io.WriteString(w, notes.String())
	return err
}
