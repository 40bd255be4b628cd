package daemon

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// A node that has other keys, or none, is named: as the one that was last at the address or, where none was, as the
// voter that is missing. Nodes that are alive are not meant, wherever they are.
func TestWhomANodeDoesNotMeet(t *testing.T) {
	one := func(id proto.NodeID, addr string) membership.Member {
		return membership.Member{Peer: proto.Peer{ID: id}, ElectionAddr: addr}
	}
	for about, c := range map[string]struct {
		before, alive []membership.Member
		voters        []proto.NodeID
		want          []proto.NodeID
		says          string
	}{
		"it was there before": {
			[]membership.Member{one(2, "h:1"), one(3, "h:2"), one(4, "i:1")},
			[]membership.Member{one(2, "h:1")},
			[]proto.NodeID{1, 2, 5},
			[]proto.NodeID{3},
			"gossip from h, maybe of node 3, is sealed",
		},
		"it is a voter": {
			nil,
			[]membership.Member{one(2, "i:1")},
			[]proto.NodeID{1, 2, 3, 5},
			[]proto.NodeID{3, 5},
			"gossip from h, maybe of node 3 or 5, is sealed",
		},
		"it is alive by its links": {
			nil,
			[]membership.Member{one(1, "g:1"), one(2, "h:1")},
			[]proto.NodeID{1, 2, 5},
			[]proto.NodeID{2},
			"gossip from h, maybe of node 2, is sealed",
		},
		"all are on one machine": {
			nil,
			[]membership.Member{one(1, "h:2"), one(2, "h:1")},
			[]proto.NodeID{1, 2, 5},
			[]proto.NodeID{5},
			"gossip from h, maybe of node 5, is sealed",
		},
		"all are on one machine, and alive": {
			nil,
			[]membership.Member{one(1, "h:2"), one(2, "h:1"), one(5, "h:3")},
			[]proto.NodeID{1, 2, 5},
			[]proto.NodeID{2, 5},
			"gossip from h, maybe of node 2 or 5, is sealed",
		},
		"nobody knows": {nil, nil, nil, nil, "gossip from h is sealed"},
	} {
		d := &Daemon{Settings: Settings{ID: 1, Voters: c.voters}}
		for _, alive := range [][]membership.Member{c.before, c.alive} {
			d.seen.note(membership.View{Alive: alive})
			d.view.Store(&membership.View{Alive: alive})
		}
		got := d.unmet([]membership.Unread{{From: "h", Why: "is sealed"}}, []tcp.PeerStats{
			{ID: 7, Addr: "j:1", Mistrust: "it has no certificate"},
			{ID: 8, Addr: "k:1"},
			{ID: 9, Addr: "l:1", Differs: "the setting lease"},
			{ID: 10, Addr: "m:1", Differs: "the setting lease", Up: true},
		})
		if len(got) != 3 || !slices.Equal(got[0].Nodes, c.want) || got[0].Why != c.says {
			t.Errorf("%s: %+v", about, got)
		}
		const noLink = "no link to node 7 at j:1: it has no certificate"
		if with := got[len(got)-2]; with.Nodes[0] != 7 || with.Why != noLink {
			t.Errorf("%+v", with)
		}
		const otherwise = "no link to node 9 at l:1: the two differ in the setting lease: start the one that is " +
			"wrong again, with what the others have"
		if last := got[len(got)-1]; last.Nodes[0] != 9 || last.Why != otherwise {
			t.Errorf("%+v", last)
		}
	}
}
