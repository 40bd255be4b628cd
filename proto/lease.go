package proto

import (
	"fmt"
	"time"
)

// The messages of a lease: a majority of voters makes a node the leader, for as long as these
// voters promise to vote for nobody else. The envelope's term is the term that is asked for, voted
// in or led. In a refusal and in a PreVoteReply, it is the highest term that the voter voted in.
// A Nonce says to which of the rounds of questions of one process a message belongs.
// Sources: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm"
// (2014), 5.2; of PreVote, Ongaro, "Consensus: Bridging Theory and Practice" (2014), 9.6;
// of the promise, Gray and Cheriton, "Leases" (1989).

// PreVote asks a voter whether it would vote for the sender now. It asks for no vote and no promise.
type PreVote struct {
	Incarnation Incarnation // the sender's
	Nonce       uint64
	Voters      VoterSet // the sender's list
}

// PreVoteReply answers a PreVote. A voter that answered no sends a yes later, when it would vote.
type PreVoteReply struct {
	Incarnation Incarnation // the incarnation of the process that asked
	Nonce       uint64
	Answer
	Voters VoterSet // the voter's list
}

// RequestVote asks a voter for its vote in the term, and for its promise: to vote for
// nobody else until the promise runs out.
type RequestVote struct {
	Incarnation Incarnation // the sender's
	Nonce       uint64
	Voters      VoterSet // the sender's list
}

// Vote answers a RequestVote: with a vote, which is on disk, and a promise; or with a refusal,
// which does not bind the voter.
type Vote struct {
	Incarnation Incarnation // the candidate's
	Nonce       uint64
	Answer
	Voters VoterSet // the voter's list
	// Former are the processes for which the voter voted in earlier terms and which it has not seen
	// stop. It is empty unless the cluster fences.
	Former Leaderships
}

// Heartbeat says that the sender leads, and how long it will lead if no majority answers. It
// asks the voters to promise again.
type Heartbeat struct {
	Leader    Peer
	Nonce     uint64
	Remaining time.Duration // how much of the lease remained when this was sent; whole microseconds
	Voters    VoterSet      // the sender's list
	// Lent says that the sender asks for this lease in order to lend it to another process. Then
	// even a proof that the sender is dead does not end the promise.
	Lent bool
}

// HeartbeatReply answers a Heartbeat: the voter promises again, or refuses. A refusal does
// not bind the voter.
type HeartbeatReply struct {
	Incarnation Incarnation // the leader's
	Nonce       uint64
	Answer
	Voters VoterSet // the voter's list
	// Wait is how long the voter, which has just started, still votes for no other: whole microseconds.
	Wait time.Duration
}

// Release releases the voters from their promises to the sender in the term.
type Release struct {
	Incarnation Incarnation // the sender's
	// Successor is the node that the sender tells to be a candidate next, zero for none. The other
	// nodes wait for a moment before they are candidates, so that the successor is first.
	Successor NodeID
}

// Recover asks a voter in which term it last voted, because the sender lost its own disk. If Nonce is
// zero, there is another reason: the sender heard of a term far above every term that it knows of, or
// of a leader with a list of voters that it does not know, or of a leader of a lower term than before.
type Recover struct {
	Incarnation Incarnation // the sender's
	Nonce       uint64
	Number      uint64 // of the question whether the voter leads; zero if that is not asked
}

// VoterState answers a Recover. The envelope's term is the last one in which the voter voted, zero
// for none.
type VoterState struct {
	Incarnation Incarnation // the incarnation of the process that asked
	Nonce       uint64
	Round       Term          // the highest term of the nomination in which the voter may have taken part
	Promise     time.Duration // the longest promise that the voter ever made; whole microseconds
	Voters      VoterSet
	// Former are the processes for which the voter voted, in its last term too, and which it has
	// not seen stop. It is empty unless the cluster fences.
	Former Leaderships
	// Lost says that the voter does not know how it voted: it may have lost its own disk.
	Lost bool
	// Follows is the leadership that the voter believes in, its own included. It is zero for none, and
	// in an answer to a Recover with a Nonce.
	Follows Leadership
	Number  uint64 // of the question
}

// Unvoted says that the sender has voted in no term, as far as it can tell: it found no vote on its
// disk when it started, and it has not voted since.
type Unvoted struct {
	Incarnation Incarnation // the sender's
	// Heard has the voters that said that they never voted, the sender included, in the order of
	// their ids. Each has the incarnation of the process that said so last.
	Heard Roll
	// First is the highest first term that the sender's operator gave or that another voter told
	// it, zero for none; see algorithms.Config.FirstTerm.
	First Term
	// Asks says that the sender votes for nobody yet, and asks the others to send Unvoted, too.
	Asks bool
	// Known says that at one instant none of the voters in Heard had voted in any term. Then each
	// of them that has not voted since may vote.
	Known bool
}

// MaxLease is the longest lease that a Heartbeat may announce.
const MaxLease = 24 * time.Hour

// Answer is a voter's answer. The zero Answer is yes. Any other Answer says what keeps the voter from
// voting, and to which node the voter is bound.
type Answer struct {
	Denial Denial
	To     NodeID // the node to which the voter is bound, zero for none
}

// Granted reports whether r is a yes.
func (r Answer) Granted() bool { return r.Denial == NotDenied }

// String returns "yes", or "no, " with what keeps the voter from voting and the node to which the
// voter is bound.
func (r Answer) String() string {
	switch {
	case r.Granted():
		return "yes"
	case r.To == 0:
		return "no, " + r.Denial.String()
	}
	return "no, " + r.Denial.String() + " " + r.To.String()
}

// ifNo returns the text that String puts after a message's name: a space and the answer for a no, ""
// for a yes.
func (r Answer) ifNo() string {
	if r.Granted() {
		return ""
	}
	return " " + r.String()
}

// Denial says what keeps a voter from voting.
type Denial uint8

// What keeps a voter from voting.
const (
	NotDenied      Denial = iota
	DeniedVoted           // it voted for another node in this term, or in a higher term
	DeniedPromised        // it promised the node To to vote for nobody else for a while
	DeniedStarted         // it has just started, or lost its disk, and may have promised something before
	DeniedStands          // it is a candidate or leads itself
	DeniedVoters          // its list of voters is not the list of the node that asks, and no earlier one
	numDenials
)

var denials = [numDenials]string{"nothing", "voted", "promised", "just started", "stands itself", "has other voters"}

// String describes the denial in a word or two.
func (b Denial) String() string {
	if b < numDenials {
		return denials[b]
	}
	return fmt.Sprintf("denial %d", uint8(b))
}

func (PreVote) Kind() Kind        { return KindPreVote }
func (PreVoteReply) Kind() Kind   { return KindPreVoteReply }
func (RequestVote) Kind() Kind    { return KindRequestVote }
func (Vote) Kind() Kind           { return KindVote }
func (Heartbeat) Kind() Kind      { return KindHeartbeat }
func (HeartbeatReply) Kind() Kind { return KindHeartbeatReply }
func (Release) Kind() Kind        { return KindRelease }
func (Recover) Kind() Kind        { return KindRecover }
func (VoterState) Kind() Kind     { return KindVoterState }
func (Unvoted) Kind() Kind        { return KindUnvoted }

// VoterSet returns what the message says of its sender's list of voters.

func (b PreVote) VoterSet() VoterSet        { return b.Voters }
func (b PreVoteReply) VoterSet() VoterSet   { return b.Voters }
func (b RequestVote) VoterSet() VoterSet    { return b.Voters }
func (b Vote) VoterSet() VoterSet           { return b.Voters }
func (b Heartbeat) VoterSet() VoterSet      { return b.Voters }
func (b HeartbeatReply) VoterSet() VoterSet { return b.Voters }
func (b VoterState) VoterSet() VoterSet     { return b.Voters }

// VoterSet returns the empty VoterSet: a voter that lost its vote may belong to a later list.
func (Recover) VoterSet() VoterSet { return VoterSet{} }

func (b PreVote) String() string        { return b.Kind().String() }
func (b PreVoteReply) String() string   { return b.Kind().String() + " " + b.Answer.String() }
func (b RequestVote) String() string    { return b.Kind().String() }
func (b Vote) String() string           { return b.Kind().String() + b.ifNo() + notStopped(b.Former) }
func (b HeartbeatReply) String() string { return b.Kind().String() + b.ifNo() }
func (b Recover) String() string        { return b.Kind().String() }

func (b Heartbeat) String() string {
	return describe(b, "leader", b.Leader, "for", b.Remaining.Round(time.Millisecond)) + ifLent(b.Lent)
}

func (b Release) String() string {
	if b.Successor == 0 {
		return b.Kind().String()
	}
	return b.Kind().String() + " to " + b.Successor.String()
}

func (b Unvoted) String() string {
	if b.Known {
		return describe(b, "known of", b.Heard)
	}
	return describe(b, "heard", b.Heard)
}

func (b VoterState) String() string {
	if b.Lost {
		return b.Kind().String() + " nothing is saved"
	}
	return describe(b, "round", b.Round, "promise", b.Promise) + notStopped(b.Former) + following(b.Follows)
}

func following(e Leadership) string {
	if e.Leader == 0 {
		return ""
	}
	return fmt.Sprintf(", follows %d of term %d", e.Leader, e.Term)
}

func ifLent(lent bool) string {
	if lent {
		return ", to be lent"
	}
	return ""
}

func notStopped(former Leaderships) (text string) {
	for _, e := range former.All() {
		text += fmt.Sprintf(", not seen to stop: %d of term %d", e.Leader, e.Term)
	}
	return text
}

func (b PreVote) validate() error     { return validateRound(b.Incarnation, b.Voters) }
func (b RequestVote) validate() error { return validateRound(b.Incarnation, b.Voters) }
func (b Recover) validate() error     { return validateIncarnation(b.Incarnation) }

func (b PreVoteReply) validate() error { return validateReply(b.Incarnation, b.Answer, b.Voters) }

func (b HeartbeatReply) validate() error {
	if b.Wait < 0 || b.Wait > 2*MaxLease {
		return fmt.Errorf("a wait of %v: want up to %v", b.Wait, 2*MaxLease)
	}
	return validateReply(b.Incarnation, b.Answer, b.Voters)
}

func (b Vote) validate() error {
	if err := b.Former.Validate(); err != nil {
		return err
	}
	return validateReply(b.Incarnation, b.Answer, b.Voters)
}

func (b Release) validate() error {
	if b.Successor != 0 {
		if err := b.Successor.Validate(); err != nil {
			return err
		}
	}
	return validateIncarnation(b.Incarnation)
}

func (b Heartbeat) validate() error {
	if b.Remaining <= 0 || b.Remaining > MaxLease {
		return fmt.Errorf("a lease of %v: want up to %v", b.Remaining, MaxLease)
	}
	if err := b.Voters.Validate(); err != nil {
		return err
	}
	return b.Leader.ID.Validate()
}

func (b VoterState) validate() error {
	if b.Promise < 0 || b.Promise > MaxLease {
		return fmt.Errorf("a promise of %v: want up to %v", b.Promise, MaxLease)
	}
	if b.Round > MaxTerm {
		return fmt.Errorf("round %d: at most %d", b.Round, MaxTerm)
	}
	if err := b.Former.Validate(); err != nil {
		return err
	}
	if b.Follows != (Leadership{}) {
		if err := b.Follows.Validate(); err != nil {
			return err
		}
	}
	return validateRound(b.Incarnation, b.Voters)
}

func validateRound(s Incarnation, v VoterSet) error {
	if err := v.Validate(); err != nil {
		return err
	}
	return validateIncarnation(s)
}

func (b Unvoted) validate() error {
	if b.First > MaxTerm {
		return fmt.Errorf("first term %d: at most %d", b.First, MaxTerm)
	}
	if err := b.Heard.Validate(); err != nil {
		return err
	}
	return validateIncarnation(b.Incarnation)
}

func validateReply(s Incarnation, r Answer, v VoterSet) error {
	if r.Denial >= numDenials {
		return fmt.Errorf("denial %d: at most %d", r.Denial, numDenials-1)
	}
	if r.To != 0 {
		if err := r.To.Validate(); err != nil {
			return err
		}
	}
	return validateRound(s, v)
}
