package ringleader

import (
	"io"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// NodeID is the number of a node.
type NodeID = proto.NodeID

// Config says what a node is. Only ID is required; the zero value of every other field is
// the recommended one, and what `ringleader run` does without the flag of that name.
type Config struct {
	// ID is this node: a number from 1 to 2^53, unique in the cluster and the same after a
	// restart.
	ID NodeID
	// Voters are the ids of the nodes that vote, the same on every node: a leader needs a
	// majority of them, and has a lease. Without, leadership is best-effort: in a partition each
	// side has a leader. Change one voter at a time.
	Voters []NodeID
	// Join are gossip addresses of other nodes, as HOST or HOST:PORT, tried for ever. A name
	// means all its addresses; no port means that of GossipBind.
	Join []string
	// DataDir is the directory for the term and the vote, of this node alone. It must outlive the
	// process. Default: ringleader-data/ID.
	DataDir string

	// Cluster is a label of 1 to 64 letters, digits, dots, dashes or underscores: nodes of
	// another one are refused. Default: ringleader.
	Cluster string
	// Algorithm is a name of package catalog. Default: bully.
	Algorithm string
	// Preempt says that a node that ranks above the leader takes over. Default: as the
	// algorithm does by itself.
	Preempt *bool
	// RankBy is what elections compare, as package attribute reads it. Default: id.
	RankBy string

	// Addresses as IP:PORT; port 0 lets the kernel choose. The advertised ones are those at which
	// the others reach this node, as IP or IP:PORT. Defaults: 0.0.0.0:7946, 0.0.0.0:7947,
	// 127.0.0.1:7948, and to be advertised the bound address, or the one from which this machine
	// would write to the first IP of Join.
	GossipBind, GossipAdvertise     string // gossip, by UDP and TCP
	ElectionBind, ElectionAdvertise string // election messages, by TCP
	HTTPBind                        string // what `ringleader status` and the like ask
	// APIToken lets its bearer change this node over HTTP from elsewhere than its own machine:
	// at least 16 bytes, the same on every node. Default: nobody may.
	APIToken string

	// Profile says how fast failures are noticed: lan, local or fast. Default: lan.
	Profile string
	// FailoverBudget is the time in which a leader that hangs is to be replaced. Heartbeat,
	// HeartbeatMisses, Latency and Promise follow from it where they are zero. Default: the
	// profile's.
	FailoverBudget time.Duration
	// Heartbeat is the time from one heartbeat between the leader and another node to the next.
	Heartbeat time.Duration
	// HeartbeatMisses is how many heartbeats without an answer make a node count as lost.
	HeartbeatMisses int
	// Latency is the worst-case time of a message, one way: what elections wait is a multiple.
	Latency time.Duration

	// Promise is for how long a voter that elected a leader elects no other, the same on every
	// node. A lease is a little shorter.
	Promise time.Duration
	// KeepPromises has a promise waited out even when the leader's process is seen to have died:
	// for networks where something between the nodes ends connections on its behalf.
	KeepPromises bool
	// FirstTerm vouches that nobody of this cluster ever voted in that term or above, that no
	// promise runs, and that Voters are its last. Zero vouches for nothing.
	FirstTerm proto.Term

	// FenceAgent is a command that stops the process of a former leader that was not seen to
	// stop, run before this node leads; the same on every node. It needs Voters. Default: none.
	FenceAgent string
	// FenceTimeout is how long one run of it may take. Default: 10s.
	FenceTimeout time.Duration
	// PIDFile is a file to write that names this process, {id} in it standing for its id, for
	// the agent pidfile. Default: none.
	PIDFile string
	// ReconcileCmd is a shell command that reconciles what two leaders did at once, run when both
	// have stopped and before one is elected, at least once. It needs no Voters. Default: none.
	ReconcileCmd string
	// ReconcileTimeout is when a run of it is killed. Default: 30s.
	ReconcileTimeout time.Duration

	// Health says what makes this node unfit to lead.
	Health Health

	// Log takes what the node logs, one JSON object a line, elections included: what
	// `ringleader rounds` reads. Nil discards it. The node writes from several goroutines, one
	// line a Write, and waits for each.
	Log io.Writer
	// LogLevel is the lowest level of what is logged: debug, info, warn or error. Default: info.
	LogLevel string
}

// Health says what makes a node unfit to lead: an unhealthy leader resigns, an unhealthy node
// does not stand, and votes and follows as ever.
type Health struct {
	// Command, for /bin/sh, ends with 0 while this node is fit to lead. At most one of Command
	// and URL is given. Default: neither.
	Command string
	// URL is answered with a status from 200 to 399 while this node is fit to lead.
	URL string
	// Interval is the time from one asking to the next, Timeout how long a check may take.
	// Defaults: 5s and 2s.
	Interval, Timeout time.Duration
	// Rise is how many passes in a row make a failed check well, Fall how many failures make it
	// fail. Defaults: 2 and 3.
	Rise, Fall int
	// HoldDown is for how long all checks of a node that was unhealthy are well before it stands
	// again, unless nobody else could lead; it doubles each time. Default: 10s.
	HoldDown time.Duration
	// Memory and Disk are the percentages in use, of the memory and of the disk of DataDir, from
	// which on this node is unhealthy. Below zero: never. Defaults: 99 and 100.
	Memory, Disk int
}
