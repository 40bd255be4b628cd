package rounds

import "time"

// History is all that a set of records tells.
type History struct {
	Groups []*Group `json:"groups"` // by cluster, then algorithm
	// Notes say in sentences what is odd about the records as a whole: they are of several
	// clusters, or the nodes of one cluster run different algorithms.
	Notes []string `json:"notes"`
}

// Group is one cluster under one algorithm. Other clusters, and nodes of this one that run
// another algorithm, are groups of their own: they do not share terms.
type Group struct {
	Cluster   string `json:"cluster"` // the label; empty for simulated runs
	Algorithm string `json:"algorithm"`
	Guarantee string `json:"guarantee"`
	// Run counts the simulated runs in one input from 1. It is 0 for real clusters.
	Run int `json:"run,omitempty"`
	// Era counts from 1 the clusters that ran under one label, one after the other: see Eras. It is 0 if there was only
	// one. Replaced is when the next one began.
	Era      int       `json:"era,omitempty"`
	Replaced time.Time `json:"replaced,omitzero"`
	// Mixed are the nodes that were two processes at once, if most were: then two clusters run under one label. Records
	// do not tell which of the two a message is of, and so the rest of the Group is not true of either. Only the
	// Findings are: that two processes are one node.
	Mixed       []uint64     `json:"mixed,omitempty"`
	Nodes       []Node       `json:"nodes"`                // by id
	Rounds      []*Round     `json:"rounds"`               // by term
	Left        int          `json:"-"`                    // rounds before those that Bounds.Newest left out
	Leaderships []Leadership `json:"leaderships"`          // in causal order of their beginnings
	Incidents   []Incident   `json:"incidents"`            // in the order of time
	Leaderless  Leaderless   `json:"leaderless"`           // all Incidents summed up
	From        time.Time    `json:"from"`                 // of the first record, corrected
	Until       time.Time    `json:"until"`                // of the last record, corrected
	Clocks      []Clock      `json:"clocks"`               // of the nodes whose wall clock is not right, by id
	Findings    []Finding    `json:"findings"`             // about single rounds, and about several
	Loose       []Finding    `json:"-"`                    // those of Findings that are about none of Rounds
	Mismatches  []Mismatch   `json:"mismatches,omitempty"` // in the order of time
	Unknown     []string     `json:"unknown"`              // what the records do not tell, in sentences
	Names       *Names       `json:"-"`                    // of all records of the input

	parts [][]uint64 // see group.parts
}

// Node is one node of a group.
type Node struct {
	ID      uint64 `json:"id"`
	Records int    `json:"records"` // 0 if only other nodes name it
	// Attr is the node's last known attribute, by which nodes are ranked before their
	// id. Nil if no record has it.
	Attr  *int64 `json:"attr,omitempty"`
	Lives []Life `json:"lives,omitempty"` // the node's processes, in order
	// Restarts is how many processes of the node began after its first one. Lives may lack those that were long ago.
	Restarts int `json:"restarts,omitempty"`

	// Alive is whom the node last believed alive, by the record AliveRef, nil if no record has that. Gone is its
	// evidence against the nodes that it dropped, by At.
	Alive    []uint64  `json:"alive,omitempty"`
	AliveRef Ref       `json:"alive_ref,omitzero"`
	Gone     []Dropped `json:"gone,omitempty"`
	// Leader is whom the node last believed to lead Term, by the record Last.
	Term   uint64 `json:"term"`
	Leader uint64 `json:"leader"` // 0 is nobody
	Last   Ref    `json:"last"`
	// Aside is the record in which the node was asked to stand aside, or became ineligible. If it was asked,
	// it stands aside until it is asked to stand again, or restarts. Seq 0 if the node stands.
	Aside Ref `json:"aside,omitzero"`
	// Ineligible says why the node is not eligible. It is empty if the node is eligible.
	Ineligible string `json:"ineligible,omitempty"`

	// Voteless is the record by which nothing is saved of what the node voted, so that it votes for nobody. Seq 0 if it
	// votes, or is no voter.
	Voteless Ref `json:"voteless,omitzero"`

	// Refused is the last process that was to be the node and ended at once, nil if there is none since the node's last
	// process began.
	Refused *Refusal `json:"refused,omitempty"`
	// Refusals are all processes that were to be the node and refused to run, in order.
	Refusals []Refusal `json:"refusals,omitempty"`

	// Unauthenticated says that by its records the node ran without credentials where other machines reached it.
	Unauthenticated bool `json:"unauthenticated,omitempty"`

	lost uint64 // records that are missing between others
	text bool   // some of its records were text
}

// Dropped is a node that another node believes gone, with the evidence.
type Dropped struct {
	ID uint64 `json:"id"`
	Detection

	Again bool `json:"-"` // another node saw it again since, or got a message of it
}

// Life is one process of a node, from its first record to its last. One that was killed before its first record is
// known by the line in which it says that it runs: First and Last both name that.
type Life struct {
	Incarnation string    `json:"incarnation"`
	First       Ref       `json:"first"`
	Last        Ref       `json:"last"`
	From        time.Time `json:"from"`  // of First, corrected
	Until       time.Time `json:"until"` // of Last, corrected: the process may have lived on
	Debug       bool      `json:"debug"` // the process also writes records that decided nothing
	Gaps        []Gap     `json:"gaps,omitempty"`
	// Events are what happened to the process, as far as it and its peers tell, by At.
	Events []LifeEvent `json:"events,omitempty"`
	// ClockSets are how somebody set the clock of its machine, by its own word.
	ClockSets []ClockSet `json:"clock_sets,omitempty"`
	// Stood are the times at which it stood aside, or stood for election again, by its own word.
	Stood []Stance `json:"stood,omitempty"`
	// Changed are the settings with which the process was started, and the one before it of the node otherwise, by the
	// lines in which they say that they run: "--rank-by memory instead of id".
	Changed []string `json:"changed,omitempty"`
	// Unsaved is nil unless nothing of what a process before it had saved was there when it began.
	Unsaved *Unsaved `json:"unsaved,omitempty"`
}

// Gap is a range of a process's records that are missing.
type Gap struct {
	After Ref    `json:"after"` // the last record before the gap; Seq 0 if there is none
	Lost  uint64 `json:"lost"`  // how many are missing
	// From and Until are the times of the records around the gap, corrected; zero where they are not kept.
	From  time.Time `json:"-"`
	Until time.Time `json:"-"`
}

// Clock is the estimated offset of a node's wall clock, from the delays of its messages.
type Clock struct {
	Node   uint64        `json:"node"`
	Offset time.Duration `json:"offset"` // positive where the clock is ahead
	// Error is the largest error of Offset. It is 0 if it is not known, since messages
	// went in one direction only.
	Error time.Duration `json:"error"`
}

// Ref names a record: the node, its process, and the number that the process gave to the record. The number 0 stands
// for the line by which a process says that it runs: at level info few write a record of their start.
type Ref struct {
	Node        uint64
	Incarnation string
	Seq         uint64
}

// Leadership is the time for which one process led one term, by its own belief.
type Leadership struct {
	Leader      uint64    `json:"leader"`
	Incarnation string    `json:"incarnation"`
	Term        uint64    `json:"term"`
	First       Ref       `json:"first"` // the record in which it begins to lead
	From        time.Time `json:"from"`
	// Last is the record in which the process no longer leads. Seq 0 if its log ends
	// while it leads.
	Last  Ref       `json:"last"`
	Until time.Time `json:"until,omitzero"` // of Last, or of the process's last record; zero if neither is here
	// End is when the leadership was over: when its lease, its process or its word ended, whichever came first,
	// and Ended says how this is known. End is zero while the node leads, as far as the records tell.
	End   time.Time `json:"end,omitzero"`
	Ended Ending    `json:"ended,omitzero"`
	// Lease is the latest end of a lease in its records, corrected. After that the process
	// does not lead, whatever it believes. Zero without a lease.
	Lease time.Time `json:"lease,omitzero"`
	// Followers are the nodes that followed, in causal order.
	Followers []Follower `json:"followers"`

	life      *life     // the leader's process, nil if no record is its own
	processes []string  // those of the leader that followers name: one, unless it lost its disk
	announced []string  // what the record First sent
	voted     bool      // it received another node's vote
	endedBy   turn      // how the leader came to stop, if Last says that it did
	wrote     time.Time // when the process last wrote that it leads, by its clock
	surely    time.Time // it surely led until then: records between that and Last may be missing
	wroteRef  Ref       // in this record
	// It ended in a gap of the leader's records, after wrote and before Last.
	gap bool
	// holed: records between wrote and Last are missing, whether or not it ended there.
	holed bool
	// It began in a gap of the leader's records, by the time From at the latest. before is the last record before that;
	// zero if there is none.
	unseen    bool
	before    time.Time
	beforeRef Ref
	sign      time.Time // the last sign that it led: a record that says so, or the end of a lease in one
	signRef   Ref
	// perhaps is since when it may have been over, once it is known: see perhapsOver.
	perhaps      time.Time
	perhapsKnown bool
}

// Follower is one node's belief in a Leadership.
type Follower struct {
	Node  uint64    `json:"node"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"` // the belief's end, or the node's last record
	First Ref       `json:"first"`
	Last  Ref       `json:"last"` // the record of Until

	left    bool      // its own record says that it follows no more
	surely  time.Time // it surely followed until then: records between that and Last may be missing
	expired bool      // since the lease was not renewed
	release bool      // since the leader released it
	late    bool      // it followed in a record before First that is missing
	teller  uint64    // the sender of the message in First, 0 for none
	lease   time.Time // the latest end of the lease that its records have, zero if they have none
	heard   time.Time // when it last promised the lease, by its records; zero if some may be missing
	number  uint64    // of the last HEARTBEAT of the leader that is in them
	gap     bool      // it ceased to follow in a gap of its records
}

// Finding is a fault, with the records that prove it.
type Finding struct {
	Name    FindingName `json:"name"`
	Term    uint64      `json:"term"` // the first term that the finding is about, 0 for none
	Text    string      `json:"text"` // one or two sentences
	Records []Ref       `json:"records"`

	beside uint64 // of two leaders of Term, the one that came to it; 0 if that is not known
}

// Led returns the leadership of a term by a node; nil if the records tell of none.
func (g *Group) Led(leader, term uint64) *Leadership {
	for i := range g.Leaderships {
		if r := &g.Leaderships[i]; r.Leader == leader && r.Term == term {
			return r
		}
	}
	return nil
}
