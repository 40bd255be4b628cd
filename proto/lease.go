package proto

import (
	"fmt"
	"time"
)

// The messages of a lease: a majority of voters makes a node the leader, for as long as
// they promise to vote for nobody else. The envelope's term is the term that is asked for,
// voted in or led; in a refusal, the highest that the voter voted in. Nonces tell one round
// of questions from another of the same process.
// Sources: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm"
// (2014), 5.2; of PreVote, Ongaro, "Consensus: Bridging Theory and Practice" (2014), 9.6;
// of the promise, Gray and Cheriton, "Leases" (1989).

// PreVote asks a voter whether it would vote for the sender now. It changes nothing.
type PreVote struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
}

// PreVoteReply answers a PreVote, and is said again when a no becomes a yes.
type PreVoteReply struct {
	Session Session // of the asker
	Nonce   uint64
	Answer
	Voters VoterSet // of the voter
}

// RequestVote asks a voter for its vote in the term, and for its promise to vote for
// nobody else until that runs out.
type RequestVote struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
}

// Vote answers a RequestVote: with a vote, durable, and a promise; or with a refusal,
// which binds nobody.
type Vote struct {
	Session Session // of the candidate
	Nonce   uint64
	Answer
	Voters VoterSet // of the voter
	// Former are whom the voter voted for in earlier terms and has not seen to stop;
	// none unless the cluster fences.
	Former Epochs
}

// Renew asks for the promise anew.
type Renew struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
	// Lent: the sender is to lend the lease that it asks for to a process outside, so
	// that no proof of the sender's death ends this promise.
	Lent bool
}

// Heartbeat says that the sender leads, and for how long if no majority answers; it
// asks voters for their promise anew.
type Heartbeat struct {
	Leader    Peer
	Nonce     uint64
	Remaining time.Duration // when it was sent; whole microseconds
	Voters    VoterSet      // of the sender
	// Lent: the sender is to lend the lease that it asks for, see Renew.
	Lent bool
}

// HeartbeatReply answers a Heartbeat: with the promise anew, or with a refusal, which
// binds nobody.
type HeartbeatReply struct {
	Session Session // of the leader
	Nonce   uint64
	Answer
	Voters VoterSet // of the voter
}

// Release gives the sender's promises of the term back.
type Release struct {
	Session Session // of the sender
	// Heir is whom the sender tells to stand next, zero for nobody: a courtesy to
	// it, others hold back for a moment.
	Heir NodeID
}

// Lease announces that the sender leads, and for how long if it does
// not renew.
type Lease struct {
	Leader    Peer
	Remaining time.Duration // when it was sent; whole microseconds
	Voters    VoterSet      // of the sender
}

// Recover asks a voter what it voted in: the sender lost its own disk. With no Nonce any
// node asks, that was told of a term which is absurdly far above all that it knows.
type Recover struct {
	Session Session // of the sender
	Nonce   uint64
}

// VoterState answers a Recover. The envelope's term is the one that the voter voted
// in last, zero for none.
type VoterState struct {
	Session Session // of the asker
	Nonce   uint64
	Round   Term          // the highest of the nomination that the voter may have taken part in
	Promise time.Duration // the longest that the voter ever made; whole microseconds
	Voters  VoterSet
	// Former are whom the voter granted a term, the last one too, and has not seen
	// to stop; none unless the cluster fences.
	Former Epochs
	// Lost: it tells nothing. It may have lost its own disk.
	Lost bool
}

// Unvoted says that the sender has voted in no term, as far as it can tell: nothing of a
// vote was on its disk when it started, and it voted for nobody since.
type Unvoted struct {
	Session Session // of the sender
	// Heard are the voters of which it heard that, itself among them, each in the session
	// in which that one said so last; in the order of their ids.
	Heard Roll
	// First is the first term that an operator allows, zero if none said so; see
	// algorithms.Config.FirstTerm. It is the highest that the sender heard of.
	First Term
	// Asks: the sender votes for nobody yet, and wants to hear the same of the others.
	Asks bool
	// Known: at one instant all of Heard had voted in no term. Then those who have not
	// voted since may.
	Known bool
}

// MaxLease bounds what a Lease may announce.
const MaxLease = 24 * time.Hour

// Answer is what a voter answers: yes, the zero Answer, or what keeps it and to whom that
// binds it.
type Answer struct {
	Bar    Bar
	Holder NodeID // to whom the voter is bound, zero for nobody
}

// Granted reports whether it is a yes.
func (r Answer) Granted() bool { return r.Bar == NoBar }

// String is "yes", or "no, " with what keeps the voter, and the node that it is bound to.
func (r Answer) String() string {
	switch {
	case r.Granted():
		return "yes"
	case r.Holder == 0:
		return "no, " + r.Bar.String()
	}
	return "no, " + r.Bar.String() + " " + r.Holder.String()
}

// ifNo is the answer after a message's word, "" for a yes.
func (r Answer) ifNo() string {
	if r.Granted() {
		return ""
	}
	return " " + r.String()
}

// Bar is what keeps a voter from voting.
type Bar uint8

// The bars.
const (
	NoBar      Bar = iota
	BarVoted       // it voted for another in this term, or in a higher one
	BarPromise     // it promised Holder to vote for nobody else for a while
	BarBoot        // it started a moment ago and may have promised something
	BarSelf        // it stands or leads itself
	BarVoters      // it has another list of voters, and not an earlier one
	numBars
)

var bars = [numBars]string{"nothing", "voted", "promised", "just started", "stands itself", "has other voters"}

// String is the bar in a word or two.
func (b Bar) String() string {
	if b < numBars {
		return bars[b]
	}
	return fmt.Sprintf("bar %d", uint8(b))
}

func (PreVote) Kind() Kind        { return KindPreVote }
func (PreVoteReply) Kind() Kind   { return KindPreVoteReply }
func (RequestVote) Kind() Kind    { return KindRequestVote }
func (Vote) Kind() Kind           { return KindVote }
func (Renew) Kind() Kind          { return KindRenew }
func (Heartbeat) Kind() Kind      { return KindHeartbeat }
func (HeartbeatReply) Kind() Kind { return KindHeartbeatReply }
func (Release) Kind() Kind        { return KindRelease }
func (Lease) Kind() Kind          { return KindLease }
func (Recover) Kind() Kind        { return KindRecover }
func (VoterState) Kind() Kind     { return KindVoterState }
func (Unvoted) Kind() Kind        { return KindUnvoted }

// VoterSet is what the message says of its sender's voters.

func (b PreVote) VoterSet() VoterSet        { return b.Voters }
func (b PreVoteReply) VoterSet() VoterSet   { return b.Voters }
func (b RequestVote) VoterSet() VoterSet    { return b.Voters }
func (b Vote) VoterSet() VoterSet           { return b.Voters }
func (b Renew) VoterSet() VoterSet          { return b.Voters }
func (b Heartbeat) VoterSet() VoterSet      { return b.Voters }
func (b HeartbeatReply) VoterSet() VoterSet { return b.Voters }
func (b Lease) VoterSet() VoterSet          { return b.Voters }
func (b VoterState) VoterSet() VoterSet     { return b.Voters }

// VoterSet of who comes back without a vote is empty: it may be a voter of a list to come.
func (Recover) VoterSet() VoterSet { return VoterSet{} }

func (b PreVote) String() string        { return b.Kind().String() }
func (b PreVoteReply) String() string   { return b.Kind().String() + " " + b.Answer.String() }
func (b RequestVote) String() string    { return b.Kind().String() }
func (b Vote) String() string           { return b.Kind().String() + b.ifNo() + notStopped(b.Former) }
func (b Renew) String() string          { return b.Kind().String() + ifLent(b.Lent) }
func (b HeartbeatReply) String() string { return b.Kind().String() + b.ifNo() }
func (b Recover) String() string        { return b.Kind().String() }

func (b Heartbeat) String() string {
	return describe(b, "leader", b.Leader, "for", b.Remaining.Round(time.Millisecond)) + ifLent(b.Lent)
}

func (b Release) String() string {
	if b.Heir == 0 {
		return b.Kind().String()
	}
	return b.Kind().String() + " to " + b.Heir.String()
}

func (b Lease) String() string {
	return describe(b, "leader", b.Leader, "for", b.Remaining.Round(time.Millisecond))
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
	return describe(b, "round", b.Round, "promise", b.Promise) + notStopped(b.Former)
}

func ifLent(lent bool) string {
	if lent {
		return ", to be lent"
	}
	return ""
}

func notStopped(former Epochs) (text string) {
	for _, e := range former.All() {
		text += fmt.Sprintf(", not seen to stop: %d of term %d", e.Leader, e.Term)
	}
	return text
}

func (b PreVote) validate() error     { return validateRound(b.Session, b.Voters) }
func (b RequestVote) validate() error { return validateRound(b.Session, b.Voters) }
func (b Renew) validate() error       { return validateRound(b.Session, b.Voters) }
func (b Recover) validate() error     { return validateSession(b.Session) }
func (b Heartbeat) validate() error   { return Lease{b.Leader, b.Remaining, b.Voters}.validate() }

func (b PreVoteReply) validate() error   { return validateReply(b.Session, b.Answer, b.Voters) }
func (b HeartbeatReply) validate() error { return validateReply(b.Session, b.Answer, b.Voters) }

func (b Vote) validate() error {
	if err := b.Former.Validate(); err != nil {
		return err
	}
	return validateReply(b.Session, b.Answer, b.Voters)
}

func (b Release) validate() error {
	if b.Heir != 0 {
		if err := b.Heir.Validate(); err != nil {
			return err
		}
	}
	return validateSession(b.Session)
}

func (b Lease) validate() error {
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
	return validateRound(b.Session, b.Voters)
}

func validateRound(s Session, v VoterSet) error {
	if err := v.Validate(); err != nil {
		return err
	}
	return validateSession(s)
}

func (b Unvoted) validate() error {
	if b.First > MaxTerm {
		return fmt.Errorf("first term %d: at most %d", b.First, MaxTerm)
	}
	if err := b.Heard.Validate(); err != nil {
		return err
	}
	return validateSession(b.Session)
}

func validateReply(s Session, r Answer, v VoterSet) error {
	if r.Bar >= numBars {
		return fmt.Errorf("bar %d: at most %d", r.Bar, numBars-1)
	}
	if r.Holder != 0 {
		if err := r.Holder.Validate(); err != nil {
			return err
		}
	}
	return validateRound(s, v)
}
