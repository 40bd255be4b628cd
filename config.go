package ringleader

import (
	"io"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// NodeID is the number of a node.
type NodeID = proto.NodeID

// Config describes a node. Only ID is required. The zero value of every other field is the
// recommended value: it does what `ringleader run` does without the flag of that name. HTTP is the
// one exception: `ringleader run` serves it on 127.0.0.1:7948.
type Config struct {
	// ID is the number of this node, from 1 to 2^53. It is unique in the cluster and the same after a
	// restart.
	ID NodeID
	// Voters are the ids of the nodes that vote. The list is the same on every node. A leader needs
	// a majority of the voters, and leads under a lease. Without voters, leadership is best-effort:
	// in a partition each side has a leader. Change one voter at a time.
	Voters []NodeID
	// Store is a store outside the cluster on which leadership stands, as etcd.New returns it, in place of
	// Voters. It is the same on every node. Default: none.
	Store store.Store
	// Join are gossip addresses of other nodes, as HOST or HOST:PORT. The node tries them for ever.
	// A name means all its addresses. Without a port, the port is that of GossipBind.
	Join []string
	// DataDir is the directory in which this node, and no other, keeps its term and its vote. It
	// must outlive the process. Default: ringleader-data/ID.
	DataDir string

	// Cluster is the label of the cluster: 1 to 64 letters, digits, dots, dashes or underscores.
	// The node refuses nodes with another label. Default: ringleader.
	Cluster string
	// Algorithm is the name of an algorithm in package catalog. Default: bully.
	Algorithm string
	// Preempt says whether a node that ranks above the leader takes over from it. Default: what the
	// algorithm recommends.
	Preempt *bool
	// RankBy is what elections compare, in the form that package rank reads. Default: id.
	RankBy string

	// The following addresses have the form IP:PORT; with port 0 the kernel chooses the port. At an
	// advertised address, IP or IP:PORT, the other nodes reach this node. Defaults: 0.0.0.0:7946,
	// 0.0.0.0:7947 and no HTTP. The default of an advertised address is the bound address, or the
	// address from which this machine would write to the first IP of Join.
	GossipBind, GossipAdvertise     string // gossip, by UDP and TCP
	ElectionBind, ElectionAdvertise string // election messages, by TCP
	// HTTPBind is the address for requests over HTTP, as of `ringleader status`. While this node leads,
	// other nodes ask there, too, if their Transfer is called.
	HTTPBind string
	// APIToken is a secret of at least 16 bytes, the same on every node. Whoever sends it may give
	// this node orders over HTTP from another machine. Transfer sends it to the leader, also from a
	// node without HTTPBind. Lines of the form "operate TOKEN" and "read TOKEN" say what each of several may do.
	// Default: only programs on this machine may give orders.
	APIToken string

	// Credentials is the directory with this node's certificate and keys, as `ringleader certs make` makes it and
	// package internal/credentials describes it: tls.crt, tls.key, ca.crt, gossip.key, and maybe revoked.crl and
	// api.token. In the name, {id} stands for the node's id. With it links, gossip and HTTP are encrypted, and only
	// nodes that prove who they are take part. Default: none; then whoever can send packets to the node is believed.
	Credentials string
	// Insecure allows a node without Credentials to use addresses that other machines reach. Each answer to a request
	// that is well formed, record and line of the log of such a node says that it is unauthenticated.
	Insecure bool

	// Profile says how fast failures are noticed: lan, local or fast. Default: lan.
	Profile string
	// FailoverBudget is the time that it may take to replace a leader that hangs. The time between
	// heartbeats, the time that elections wait for a message, and the default of Lease follow from
	// it. Default: the budget of the profile.
	FailoverBudget time.Duration

	// Lease is how long a voter that voted for a leader votes for no other node, or how long the Store keeps
	// a leader that does not renew: then the default is 10s. It is the same on every node. The leader counts
	// on a little less. Lease and AwaitLeases need Voters or a Store, and FirstTerm needs Voters.
	Lease time.Duration
	// AwaitLeases makes nodes wait until a lease ends, even if they saw that the process of the
	// leader died. It is for networks in which a device between the nodes may end the connections of a
	// living process.
	AwaitLeases bool
	// FirstTerm is the operator's guarantee that nobody in this cluster ever voted in that term or
	// in a higher one, that no lease runs, and that Voters is the last list of voters. Zero
	// guarantees nothing.
	FirstTerm proto.Term

	// FenceAgent is a command that stops the process of a former leader, if nobody saw that process
	// stop. The command runs before this node leads. It is the same on every node, and needs Voters.
	// Default: none.
	FenceAgent string
	// FenceTimeout is how long one run of FenceAgent may take. Default: 10s.
	FenceTimeout time.Duration
	// PIDFile is a file into which the node writes the id of this process, for the fence agent
	// pidfile. In the name, {id} stands for the node's id. Default: none.
	PIDFile string
	// ReconcileCmd is a shell command that reconciles what two leaders did at the same time. It
	// runs at least once, after both leaders have stopped and before a leader is elected. It runs
	// only without Voters. Default: none.
	ReconcileCmd string
	// ReconcileTimeout is the time after which a run of ReconcileCmd is killed. Default: 30s.
	ReconcileTimeout time.Duration

	// Health configures the checks that decide whether this node is fit to lead.
	Health Health

	// Log receives the log of the node, elections included: one JSON object a line, as `ringleader
	// rounds` reads it. Nil discards the log. The node writes from several goroutines, one line per
	// Write, and waits for each Write.
	Log io.Writer
	// LogLevel is the lowest level that the node logs: debug, info, warn or error. Default: info.
	LogLevel string
}

// Health configures the checks that decide whether a node is fit to lead. A leader that becomes
// unhealthy resigns. An unhealthy node is no candidate; it votes and follows as before.
type Health struct {
	// Command is a command for /bin/sh. It ends with exit code 0 while this node is fit to lead.
	// Command and URL exclude each other. Default: neither.
	Command string
	// URL is an address that answers with a status from 200 to 399 while this node is fit to lead.
	URL string
	// Interval is the time between the beginnings of two checks. Timeout is how long a check may
	// take. Defaults: 5s and 2s.
	Interval, Timeout time.Duration
	// Rise is the number of passes in a row after which a failed check counts as passed. Fall is
	// the number of failures in a row after which a check that passed counts as failed. Defaults: 2
	// and 3.
	Rise, Fall int
	// HoldDown is how long all checks must pass before a node that was unhealthy may lead again. The
	// time doubles each time, up to a limit. There is no such wait if no other node could lead.
	// Default: 10s.
	HoldDown time.Duration
	// Memory and Disk are percentages in use, of the memory and of the disk of DataDir. The node is
	// unhealthy from that percentage on. Below zero: never. Defaults: 99 and 100.
	Memory, Disk int
}
