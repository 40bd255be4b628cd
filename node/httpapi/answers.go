package httpapi

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// The answers. Fields are added over time, never renamed. Each names the node
// that gave it, so that the answer of another program is not taken for one.

// Health answers /healthz and /readyz.
type Health struct {
	Self   proto.NodeID `json:"self"`
	OK     bool         `json:"ok"`
	Reason string       `json:"reason,omitempty"` // why not
	// Ineligible is why the node does not stand for election, absent while it would.
	// A node may be well and yet not fit to lead.
	Ineligible string `json:"ineligible,omitempty"`
}

// Check is one health check: what speaks against this node's leading.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Why  string `json:"why,omitempty"` // why it failed the last time
}

// Leadership answers /leader: who leads, as the node believes.
type Leadership struct {
	Self     proto.NodeID `json:"self"`
	IsLeader bool         `json:"is_leader"`
	Leader   proto.NodeID `json:"leader"` // 0 is nobody
	// LeaderAddr is where the leader takes election messages, host:port;
	// absent while gossip does not know it.
	LeaderAddr string     `json:"leader_addr,omitempty"`
	Term       proto.Term `json:"term"`
	// Guarantee is how far the leader can be trusted to be the only one. Nothing here lets
	// whoever asks act as it: see Lease.
	Guarantee algorithms.Guarantee `json:"guarantee"`
	Algorithm string               `json:"algorithm"`
	Reason    string               `json:"reason,omitempty"` // why the leader is nobody
}

// Status answers /v1/status.
type Status struct {
	Leadership
	Role     string `json:"role"` // leader, follower or looking
	Session  string `json:"session"`
	Cluster  string `json:"cluster"`
	Healthy  bool   `json:"healthy"`
	Ready    bool   `json:"ready"`
	NotReady string `json:"not_ready,omitempty"` // why not
	// Ineligible is why the node does not stand for election, absent while it would.
	Ineligible string `json:"ineligible,omitempty"`
	// Recovery is why this voter votes for nobody, absent while it would: nothing is
	// saved of what it may have voted.
	Recovery string  `json:"recovery,omitempty"`
	Checks   []Check `json:"checks,omitempty"` // of the node's health
	// Lent is how many leases the node has lent that have neither ended nor been given
	// back. No other node leads before the last of them has.
	Lent     int            `json:"lent,omitempty"`
	LastTick time.Time      `json:"last_tick,omitzero"`
	Alive    []proto.NodeID `json:"alive"` // this node included
	// Voters are the configured voters, absent when there are none.
	Voters []proto.NodeID `json:"voters,omitempty"`
	// VotersConfirmed: a leader has heard a majority of them say that they have this list.
	// Only then is one more to be added or removed. VotersVersion counts the lists before.
	VotersConfirmed *bool  `json:"voters_confirmed,omitempty"`
	VotersVersion   uint64 `json:"voters_version,omitempty"`
	// Watched are the other voters whose death this node would prove at once, so that
	// nobody had to wait for their promises to end; absent when there are none.
	Watched []proto.NodeID `json:"watched,omitempty"`
	// Split is the last split brain that this node knows of, and SplitAt when it
	// last heard of it; absent when there was none since it started. The counters
	// split_brains and split_brain_ms sum up all of them.
	Split    *trace.Split      `json:"split,omitempty"`
	SplitAt  time.Time         `json:"split_at,omitzero"`
	Counters map[string]uint64 `json:"counters,omitempty"`
}

// Members answers /v1/members.
type Members struct {
	Self    proto.NodeID `json:"self"`
	Members []Member     `json:"members"`
}

// Member is one process of the cluster. Addresses are host:port.
type Member struct {
	ID           proto.NodeID `json:"id"`
	Session      string       `json:"session"`
	Attr         int64        `json:"attr"`
	GossipAddr   string       `json:"gossip_addr"`
	ElectionAddr string       `json:"election_addr"`
	HTTPAddr     string       `json:"http_addr,omitempty"`
	Ineligible   bool         `json:"ineligible,omitempty"` // does not stand for election
}

// refusal answers what is no question.
type refusal struct {
	Error string `json:"error"`
}

func (h Health) from() proto.NodeID     { return h.Self }
func (l Leadership) from() proto.NodeID { return l.Self }
func (m Members) from() proto.NodeID    { return m.Self }
