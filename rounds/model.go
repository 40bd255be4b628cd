package rounds

import "time"

// History is all that a set of records tells.
type History struct {
	Groups []*Group `json:"groups"` // by cluster, then algorithm
	// Notes say what is odd about the records as a whole, in sentences: that they
	// are of several clusters, that the nodes of one run different algorithms.
	Notes []string `json:"notes"`
}

// Group is one cluster under one algorithm. Records of other clusters, or of
// nodes that run another algorithm, are groups of their own: their terms have
// nothing to do with each other.
type Group struct {
	Cluster   string `json:"cluster"` // the label; empty for simulated runs
	Algorithm string `json:"algorithm"`
	Guarantee string `json:"guarantee"`
	// Run tells simulated runs apart that follow each other in one input; it
	// counts from 1, and is 0 for real clusters.
	Run      int       `json:"run,omitempty"`
	Nodes    []Node    `json:"nodes"`    // by id
	Rounds   []*Round  `json:"rounds"`   // by term
	Reigns   []Reign   `json:"reigns"`   // who led when, in causal order of their beginnings
	Clocks   []Clock   `json:"clocks"`   // nodes whose wall clock differs, by id
	Findings []Finding `json:"findings"` // of all rounds and of what lies between them
	Unknown  []string  `json:"unknown"`  // what could not be known, in sentences
}

// Node is one node of a group.
type Node struct {
	ID      uint64 `json:"id"`
	Records int    `json:"records"` // 0: it is known from the others only
	// Attr is the node's attribute as last seen; it ranks before the id. Nil
	// when no record tells.
	Attr  *int64 `json:"attr,omitempty"`
	Lives []Life `json:"lives,omitempty"` // the processes that were this node, in order

	// What the node last wrote of the others: whom it believed alive (nil when
	// no record tells), and its evidence against those that it dropped, by At.
	Alive []uint64  `json:"alive,omitempty"`
	Gone  []Dropped `json:"gone,omitempty"`
	// What it last believed, and in which record.
	Term   uint64 `json:"term"`
	Leader uint64 `json:"leader"` // 0 is nobody
	Last   Ref    `json:"last"`
	// Aside is the record in which it was asked to stand aside, which holds until
	// it is asked to stand again or restarts. Seq 0 when it stands.
	Aside Ref `json:"aside,omitzero"`
	// Ineligible is why it is not eligible, where that is why it stands aside.
	Ineligible string `json:"ineligible,omitempty"`
}

// Dropped is a node that another one believes gone, and why.
type Dropped struct {
	ID uint64 `json:"id"`
	Witness
}

// Life is one process of a node, from its first record to its last.
type Life struct {
	Session string    `json:"session"`
	First   Ref       `json:"first"`
	Last    Ref       `json:"last"`
	From    time.Time `json:"from"`  // of First, corrected
	Until   time.Time `json:"until"` // of Last, corrected: the process may have lived on
	Debug   bool      `json:"debug"` // it writes records that decided nothing, too
	Gaps    []Gap     `json:"gaps,omitempty"`
}

// Gap is a hole in a process's count: those records are missing.
type Gap struct {
	After Ref    `json:"after"` // the last record before the hole; Seq 0 when it opens the log
	Lost  uint64 `json:"lost"`  // how many are missing
}

// Clock is how far a node's wall clock is off, judged by its messages.
type Clock struct {
	Node   uint64        `json:"node"`
	Offset time.Duration `json:"offset"` // it is ahead by so much; negative for behind
	// Error bounds Offset on either side; 0 when only one direction is known
	// and there is no bound.
	Error time.Duration `json:"error"`
}

// Ref names a record: the node, its process and the process's own count.
type Ref struct {
	Node    uint64
	Session string
	Seq     uint64
}

// Reign is one process's leadership of one term, as it believed itself.
type Reign struct {
	Leader  uint64    `json:"leader"`
	Session string    `json:"session"`
	Term    uint64    `json:"term"`
	First   Ref       `json:"first"` // its record that it leads
	From    time.Time `json:"from"`
	// Last is the record in which it no longer leads. Seq 0 while there is
	// none: its log ends with it leading, because it died or was not read on.
	Last  Ref       `json:"last"`
	Until time.Time `json:"until"` // of Last, or of the process's last record
	// Lease is the latest end of a lease that its records state, corrected: what
	// the process believes after that is nothing. Zero without a lease.
	Lease time.Time `json:"lease,omitzero"`
	// Followers are who believed in it, in causal order of their first belief.
	Followers []Follower `json:"followers"`

	endedBy Ref  // the record whose message made it end
	ranOut  bool // Last says that the lease ended by itself
}

// Follower is one node's belief in a Reign.
type Follower struct {
	Node  uint64    `json:"node"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"` // the belief's end, or the node's last record
	First Ref       `json:"first"`

	left bool // its own record says that it believes so no more
}

// Finding is something that should not be. Its records prove it.
type Finding struct {
	Name    FindingName `json:"name"`
	Term    uint64      `json:"term"` // the first that it is about, 0 for none
	Text    string      `json:"text"` // one or two sentences
	Records []Ref       `json:"records"`
}
