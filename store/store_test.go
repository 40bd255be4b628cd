package store

import (
	"fmt"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What one node writes, another reads; a node of another cluster, and another program, are strangers.
func TestValue(t *testing.T) {
	c := Candidate{Cluster: "blue", Peer: proto.Peer{ID: 7, Incarnation: proto.NewIncarnation()}}
	for _, isLent := range []bool{false, true} {
		want := algorithms.Entry{Key: "k", Token: 9, ID: 7, Incarnation: c.Incarnation, Lent: isLent}
		if got := c.Read("k", c.Value(isLent), 9); got != want {
			t.Errorf("%q is %+v, want %+v", c.Value(isLent), got, want)
		}
	}
	green := c
	green.Cluster = "green"
	foreign := func(value string) string { return fmt.Sprintf("the candidate %q of another program", value) }
	for value, want := range map[string]string{
		green.Value(true):        "node 7 of the cluster green",
		"host-1":                 foreign("host-1"),
		"":                       foreign(""),
		"ringleader/blue/x/y":    foreign("ringleader/blue/x/y"),
		c.Value(false) + "/more": foreign(c.Value(false) + "/more"),
		c.Value(false) + "00":    foreign(c.Value(false) + "00"),
		c.Value(true)[1:]:        foreign(c.Value(true)[1:]),
	} {
		if got := c.Read("k", value, 9); got != (algorithms.Entry{Key: "k", Token: 9, Foreign: want}) {
			t.Errorf("%q is %+v, want %s", value, got, want)
		}
	}
}
