package proto

import (
	"fmt"
	"time"
)

// The messages of the office, by which a majority of voters makes a nominee a
// leader. The envelope's term is the term that is asked for, granted or held;
// in an answer, the highest that the voter knows to be voted for. Nonces tell
// one round of questions from another of the same process.

// Ask asks a voter whether it would grant the term now. It changes nothing.
// Source: Ongaro, "Consensus: Bridging Theory and Practice" (2014), 9.6.
type Ask struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
}

// Answer answers an Ask, and is said again when a no becomes a yes.
type Answer struct {
	Session Session // of the asker
	Nonce   uint64
	Yes     bool
	Bar     Bar
	Holder  NodeID // to whom the voter is bound, zero for nobody
	Voters  VoterSet
}

// Claim asks a voter for its vote in the term, and for its promise to grant
// nobody else until that runs out.
type Claim struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
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

// Grant is a vote, durable, and a promise.
type Grant struct {
	Session Session // of the claimant
	Nonce   uint64
	Voters  VoterSet // of the voter
	// Former are whom the voter granted earlier terms and has not seen to stop;
	// none unless the cluster fences.
	Former Epochs
}

// Deny refuses a Claim or a Renew. It binds nobody.
type Deny struct {
	Session Session // of the claimant
	Nonce   uint64
	Bar     Bar
	Holder  NodeID // to whom the voter is bound, zero for nobody
}

// Release gives the sender's promises of the term back.
type Release struct {
	Session Session // of the sender
	// Heir is whom the sender tells to stand next, zero for nobody: a courtesy to
	// it, others hold back for a moment.
	Heir NodeID
}

// Lease announces that the sender holds the office, and for how long if it does
// not renew.
type Lease struct {
	Leader    Peer
	Remaining time.Duration // when it was sent; whole microseconds
	Voters    VoterSet      // of the sender
}

// Return asks a voter what it voted in: the sender lost its own disk. With no Nonce any
// node asks, that was told of a term which is absurdly far above all that it knows.
type Return struct {
	Session Session // of the sender
	Nonce   uint64
}

// Standing answers a Return. The envelope's term is the one that the voter voted
// in last, zero for none.
type Standing struct {
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

// Bar is what keeps a voter from granting.
type Bar uint8

// The bars.
const (
	NoBar      Bar = iota
	BarVoted       // it voted for another in this term, or in a higher one
	BarPromise     // it promised Holder to grant nobody else for a while
	BarBoot        // it started a moment ago and may have promised something
	BarSelf        // it claims or holds the office itself
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

func (Ask) Kind() Kind      { return KindAsk }
func (Answer) Kind() Kind   { return KindAnswer }
func (Claim) Kind() Kind    { return KindClaim }
func (Renew) Kind() Kind    { return KindRenew }
func (Grant) Kind() Kind    { return KindGrant }
func (Deny) Kind() Kind     { return KindDeny }
func (Release) Kind() Kind  { return KindRelease }
func (Lease) Kind() Kind    { return KindLease }
func (Return) Kind() Kind   { return KindReturn }
func (Standing) Kind() Kind { return KindStanding }
func (Unvoted) Kind() Kind  { return KindUnvoted }

func (b Ask) String() string   { return b.Kind().String() }
func (b Claim) String() string { return b.Kind().String() }
func (b Renew) String() string { return b.Kind().String() + ifLent(b.Lent) }
func (b Release) String() string {
	if b.Heir == 0 {
		return b.Kind().String()
	}
	return b.Kind().String() + " to " + b.Heir.String()
}
func (b Deny) String() string   { return b.Kind().String() + " " + b.Bar.to(b.Holder) }
func (b Return) String() string { return b.Kind().String() }

func (b Answer) String() string {
	if b.Yes {
		return b.Kind().String() + " yes"
	}
	return b.Kind().String() + " no, " + b.Bar.to(b.Holder)
}

func (b Grant) String() string {
	return b.Kind().String() + notStopped(b.Former)
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

func (b Standing) String() string {
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

// to is the bar with the node that it binds the voter to.
func (b Bar) to(holder NodeID) string {
	if holder == 0 {
		return b.String()
	}
	return b.String() + " " + holder.String()
}

func (b Ask) validate() error   { return validateRound(b.Session, b.Voters) }
func (b Claim) validate() error { return validateSession(b.Session) }
func (b Renew) validate() error { return validateSession(b.Session) }
func (b Release) validate() error {
	if b.Heir != 0 {
		if err := b.Heir.Validate(); err != nil {
			return err
		}
	}
	return validateSession(b.Session)
}
func (b Return) validate() error { return validateSession(b.Session) }

func (b Grant) validate() error {
	if err := b.Former.Validate(); err != nil {
		return err
	}
	return validateRound(b.Session, b.Voters)
}

func (b Answer) validate() error {
	if b.Yes != (b.Bar == NoBar) {
		return fmt.Errorf("answer %v with bar %v", b.Yes, b.Bar)
	}
	if err := b.Voters.Validate(); err != nil {
		return err
	}
	return validateRefusal(b.Session, b.Bar, b.Holder)
}

func (b Deny) validate() error {
	if b.Bar == NoBar {
		return fmt.Errorf("denied for no reason")
	}
	return validateRefusal(b.Session, b.Bar, b.Holder)
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

func (b Standing) validate() error {
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

func validateRefusal(s Session, b Bar, holder NodeID) error {
	if b >= numBars {
		return fmt.Errorf("bar %d: at most %d", b, numBars-1)
	}
	if holder != 0 {
		if err := holder.Validate(); err != nil {
			return err
		}
	}
	return validateSession(s)
}
