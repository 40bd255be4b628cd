package httpapi

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// These are the answers. Fields are added over time, never renamed. Each answer names the node that gave it,
// so that nobody takes the answer of another program for the answer of a node.

// Health answers /healthz and /readyz.
type Health struct {
	Self   proto.NodeID `json:"self"`
	OK     bool         `json:"ok"`
	Reason string       `json:"reason,omitempty"` // why the answer is not OK
	// Ineligible says why the node is not eligible; absent if it is. A node may be healthy and yet not
	// eligible.
	Ineligible string `json:"ineligible,omitempty"`
	Security   string `json:"security,omitempty"` // see Leadership
}

// Store is what the node knows of the store on which leadership stands.
type Store struct {
	URL string `json:"url"` // without secrets
	// Holder is whose entry is the first, in words, and Token its token. At is when the store said so. Holder is
	// empty if there was no entry, and At is absent before the first answer.
	Holder string     `json:"holder,omitempty"`
	Token  proto.Term `json:"token,omitempty"`
	// Foreign says that Holder is no node of this cluster.
	Foreign bool      `json:"foreign,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Failed says why the store does not answer, since Since; absent if it answers.
	Failed string    `json:"failed,omitempty"`
	Since  time.Time `json:"failed_since,omitzero"`
}

// Check is the result of one health check.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Why  string `json:"why,omitempty"` // why it failed the last time
}

// Leadership answers /leader: it says who leads, as far as the node knows.
type Leadership struct {
	Self     proto.NodeID `json:"self"`
	IsLeader bool         `json:"is_leader"`
	Leader   proto.NodeID `json:"leader"` // 0 is nobody
	// LeaderAddr is where the leader listens for election messages, as host:port; absent if gossip
	// does not know it.
	LeaderAddr string     `json:"leader_addr,omitempty"`
	Term       proto.Term `json:"term"`
	// Guarantee says how far this answer can be trusted, that is, how sure it is that no other node leads.
	// The answer does not allow the client to act as the leader: see Lease.
	Guarantee algorithms.Guarantee `json:"guarantee"`
	Algorithm string               `json:"algorithm"`
	Reason    string               `json:"reason,omitempty"` // why the leader is nobody
	// Security is "unauthenticated" if the node believes whoever can send packets to it, though other machines can. It
	// is absent else. Every answer has the field then.
	Security string `json:"security,omitempty"`
}

// Status answers /v1/status.
type Status struct {
	Leadership
	// CredentialsExpire is until when the node's certificate is valid; absent without one.
	CredentialsExpire time.Time `json:"credentials_expire,omitzero"`
	// CredentialsRefused says why the other nodes would refuse a new link with this node's certificate; absent if they
	// would accept one.
	CredentialsRefused string `json:"credentials_refused,omitempty"`
	// Since is when the node came to believe that Leader leads, or that nobody does; absent if it has known no
	// leader since it started.
	Since       time.Time `json:"since,omitzero"`
	Role        string    `json:"role"` // leader, follower or looking
	Incarnation string    `json:"incarnation"`
	Cluster     string    `json:"cluster"`
	Healthy     bool      `json:"healthy"`
	Ready       bool      `json:"ready"`
	NotReady    string    `json:"not_ready,omitempty"` // why the node is not ready
	// Ineligible says why the node is not eligible; absent if it is.
	Ineligible string `json:"ineligible,omitempty"`
	// Recovery says why this voter votes for nobody; absent if it votes. The reason is that it does
	// not know what it voted before.
	Recovery string `json:"recovery,omitempty"`
	// Store is the store on which leadership stands; absent if it stands on none.
	Store *Store `json:"store,omitempty"`
	// Differ says which settings make other processes of the cluster elect elsewhere than this node: the store, or
	// its TTL. Absent if none does. A node with another setting than more of the others does not stand.
	Differ []string `json:"differ,omitempty"`
	// Unmet are those who may be nodes of the cluster, and whose gossip or links are refused: the keys, the
	// certificates or the settings of the two do not fit, or only one has any keys. A node whose gossip is refused
	// may be alive by its links, and the other way round. Absent if there are none. Anybody who can send packets may
	// be one.
	Unmet  []Unmet `json:"unmet,omitempty"`
	Checks []Check `json:"checks,omitempty"` // the node's health checks
	// Lent counts the leases that the node has lent and that have neither ended nor been returned. No other
	// node leads before the last of them has ended or been returned.
	Lent     int            `json:"lent,omitempty"`
	LastTick time.Time      `json:"last_tick,omitzero"`
	Alive    []proto.NodeID `json:"alive"` // this node included
	// Gone are the processes that left Alive since the node started and are not back, nor is another process of
	// their nodes: the last 100 that left, in the order of ids. Absent if there are none.
	Gone []Gone `json:"gone,omitempty"`
	// Voters are the configured voters, absent when there are none.
	Voters []proto.NodeID `json:"voters,omitempty"`
	// VotersConfirmed says that a leader has heard from a majority of the voters that they have
	// this list. Only then may another voter be added or removed. VotersVersion counts the lists
	// before this one.
	VotersConfirmed *bool  `json:"voters_confirmed,omitempty"`
	VotersVersion   uint64 `json:"voters_version,omitempty"`
	// Watched are the other voters whose death this node could prove at once: then no node would wait until
	// their promises end. Absent if there are no such voters.
	Watched []proto.NodeID `json:"watched,omitempty"`
	// Split is the last split brain that this node knows of, and SplitAt is when the node last
	// heard of it; absent if there was none since the node started. The counters split_brains and
	// split_brain_ms count all split brains.
	Split    *trace.Split      `json:"split,omitempty"`
	SplitAt  time.Time         `json:"split_at,omitzero"`
	Counters map[string]uint64 `json:"counters,omitempty"`
}

// Unmet is somebody whom a node does not meet.
type Unmet struct {
	Nodes []proto.NodeID `json:"nodes,omitempty"` // one of them it may be; absent if nothing tells
	From  string         `json:"from"`            // its address, with the port of its links if there could be one
	Why   string         `json:"why"`             // which names it, says what does not fit, and what to do
}

// Gone is a process that left the view of a node.
type Gone struct {
	ID          proto.NodeID `json:"id"`
	Incarnation string       `json:"incarnation"`
	// Evidence is what made the node drop the process, in the words of the records:
	// "link-closed 5, dial-refused 5".
	Evidence string    `json:"evidence"`
	At       time.Time `json:"at"` // of the first evidence, by the node's wall clock
}

// Members answers /v1/members.
type Members struct {
	Self    proto.NodeID `json:"self"`
	Members []Member     `json:"members"`

	Security string `json:"security,omitempty"` // see Leadership
}

// Member is one process of the cluster. Addresses are host:port.
type Member struct {
	ID           proto.NodeID `json:"id"`
	Incarnation  string       `json:"incarnation"`
	Attr         int64        `json:"attr"`
	GossipAddr   string       `json:"gossip_addr"`
	ElectionAddr string       `json:"election_addr"`
	HTTPAddr     string       `json:"http_addr,omitempty"`
	Ineligible   bool         `json:"ineligible,omitempty"` // the process may not lead at present
}

// refusal is the answer to a request that is refused.
type refusal struct {
	Error string `json:"error"`
}

func (h Health) from() proto.NodeID     { return h.Self }
func (l Leadership) from() proto.NodeID { return l.Self }
func (m Members) from() proto.NodeID    { return m.Self }
