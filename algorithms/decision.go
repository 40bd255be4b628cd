package algorithms

// Decision says what a reason decides. Programs that explain elections read decisions and the
// reason's arguments; they never read sentences.
type Decision interface{ decision() }

// Place says which argument of a reason names a node, a term or a word. It is the index, from 0, of that
// argument.
type Place int

// The Places that are not the index of an argument.
const (
	Self   Place = -1 // the node that gives the reason
	Nobody Place = -2
)

// The decisions.
type (
	// Verdict decides between two candidates.
	Verdict struct {
		Kind        VerdictKind
		Loser, Over Place
		By          Place // who decided between the two
	}

	// Because says why a round is called.
	Because struct {
		Kind CauseKind
		// About is the leader that is lost, or that hands over.
		About Place
	}

	// Opens says that this node calls an election of a term. Cause is the reason for it; Self means this
	// reason.
	Opens struct{ Cause, Term Place }

	// Stands says that this node asks voters for a term in which nobody has called an election.
	Stands struct{ Cause, Term Place }

	// Wins says that this node leads from now on. Cause is the reason for it. Term is Nobody where the
	// reason does not name the term.
	Wins struct{ Cause, Term Place }

	// Leads says that this node leads a term under a lease.
	Leads struct{ Term Place }

	// Follows says that this node follows the leader of a term.
	Follows struct{ Term Place }

	// Enters says that this node learned of a term that is above its own, which is Above until then.
	Enters struct{ Term, Above Place }

	// Drops says that this node drops the message that it received, which is of the Term: that is below its own.
	Drops struct{ Term Place }

	// Ignores says that this node does not follow the sender of the HEARTBEAT that it received.
	Ignores struct{}

	// Votes says that this node votes in a term.
	Votes struct{ Term Place }

	// Answers says that one voter answers one candidate. One of the two is Self.
	Answers struct {
		Voter, Candidate, Term Place
		// Yes says that the voter would vote for the candidate. If it would not, Denial says why.
		Yes    bool
		Denial Denial
		// To is the node to which the voter is bound, or an argument with the voter's own words.
		To Place
	}

	// Readmits says that this voter lost its votes, and that it votes again, in terms above all
	// those in which it may have voted.
	Readmits struct{}

	// Voteless says that nothing is saved of what this voter voted, so that it votes for nobody; or, if Over, that it
	// votes again.
	Voteless struct{ Over bool }

	// LeaseEnds says that this node notices that a lease has ended: its own, or the one in which it followed a
	// leader. If Late, the argument 0 is how many milliseconds ago that was, by any clock.
	LeaseEnds struct{ Late bool }

	// KeepsLent says that this voter keeps its promise to a dead node For a while, since that had lent the lease.
	KeepsLent struct{ For Place }

	// Skips says that this node waited for nodes that are gone now, and goes on without them.
	Skips struct{}

	// Releases says that a leader gave up the Term, by its word.
	Releases struct{ Term Place }

	// Woke says that the process has just woken: its timer was due long before.
	Woke struct{}

	// Ahead says that this node asks before its turn has come: it stands no sooner, whatever it is answered.
	Ahead struct{}

	// Waited says that nobody was heard to lead for longer than any lease runs.
	Waited struct{}

	// Unheeded says that no majority of the voters answered this node, which leads.
	Unheeded struct{}

	// Fences is the result of an attempt to have a node stopped before this one leads.
	Fences struct {
		Result  FenceResult
		ID, How Place
	}

	// StoreSays is what this node knows of the store on which leadership stands. About names whom it is about:
	// a node, or the words for a stranger.
	StoreSays struct {
		Kind  StoreWord
		About Place
	}

	// Unstopped says that a majority granted the term, but the former leaders have not stopped.
	Unstopped struct{ Former Place }
)

func (Verdict) decision()   {}
func (Because) decision()   {}
func (Opens) decision()     {}
func (Stands) decision()    {}
func (Wins) decision()      {}
func (Leads) decision()     {}
func (Follows) decision()   {}
func (Enters) decision()    {}
func (Drops) decision()     {}
func (Ignores) decision()   {}
func (Votes) decision()     {}
func (Answers) decision()   {}
func (Readmits) decision()  {}
func (Voteless) decision()  {}
func (LeaseEnds) decision() {}
func (KeepsLent) decision() {}
func (Skips) decision()     {}
func (Releases) decision()  {}
func (Woke) decision()      {}
func (Ahead) decision()     {}
func (Waited) decision()    {}
func (Unheeded) decision()  {}
func (Fences) decision()    {}
func (StoreSays) decision() {}
func (Unstopped) decision() {}

// VerdictKind says in which way a candidate lost.
type VerdictKind string

// The kinds of verdicts.
const (
	Outranked  VerdictKind = "outranked"    // another ranks above it
	Suppressed VerdictKind = "suppressed"   // another initiator's messages are passed on, not the loser's
	Deposed    VerdictKind = "stepped-down" // two leaders met, and this one steps down
	Refused    VerdictKind = "refused"      // a voter does not vote for it, since the voter is bound to Over
)

// Outranks returns the Verdict that the node loser ranks below the node over.
func Outranks(loser, over Place) Decision { return Verdict{Outranked, loser, over, Self} }

// Suppresses returns the Verdict that the messages of the node loser are dropped, and those of the node
// over are passed on.
func Suppresses(loser, over Place) Decision { return Verdict{Suppressed, loser, over, Self} }

// Deposes returns the Verdict between two leaders, by the one that steps down: the node loser does, and the node over
// leads on.
func Deposes(loser, over Place) Decision { return Verdict{Deposed, loser, over, Self} }

// Refuses returns the Verdict that this voter does not vote for the node loser, since it is bound to the
// node over.
func Refuses(loser, over Place) Decision { return Verdict{Refused, loser, over, Self} }

// RefusedBy returns the Verdict that the node voter does not vote for this node, since it is bound to
// the node over.
func RefusedBy(voter, over Place) Decision { return Verdict{Refused, Self, over, voter} }

// CauseKind says why a round began.
type CauseKind string

// The causes.
const (
	LeaderLost     CauseKind = "leader-lost"     // detectors say that the leader is gone
	LeaderSilent   CauseKind = "silent"          // the leader was not heard of
	FirstLeader    CauseKind = "no-leader"       // nobody had led, or a starting node heard of no leader
	SplitRecovered CauseKind = "split-recovered" // leaders met again and all stopped, and one node is elected
	Operator       CauseKind = "operator"        // somebody called an election
	HandOver       CauseKind = "hand-over"       // the leader resigned in favour of another
	Vacant         CauseKind = "vacant"          // nobody led, and nobody had called an election
	HigherRank     CauseKind = "higher-rank"     // a node ranks above the leader and takes over
	RoundFailed    CauseKind = "round-failed"    // the round before brought no leader
	Readmitted     CauseKind = "readmitted"      // no election: a voter that lost its votes took a term above them
	Unexplained    CauseKind = "unknown"         // the records do not tell
)

// Caused returns a Because of this kind that names no leader.
func Caused(by CauseKind) Decision { return Because{by, Nobody} }

// Denial says why a voter does not vote for a candidate.
type Denial string

// The reasons for which a voter does not vote for a candidate.
const (
	DeniedPromised Denial = "promised"
	DeniedVoted    Denial = "voted"
	DeniedStands   Denial = "stands-itself"
	DeniedStarted  Denial = "just-started"
	DeniedOther    Denial = "other"
)

// FenceResult says how an attempt to fence ended.
type FenceResult string

// The results.
const (
	FenceDone   FenceResult = "fenced"
	FenceFailed FenceResult = "not-fenced"
	FenceNoNeed FenceResult = "stopped-by-itself"
)

// StoreWord is one thing that the store says, or does not say.
type StoreWord string

// The words of a store.
const (
	StoreSilent  StoreWord = "silent"  // it does not answer this node, from now on; About says why
	StoreAnswers StoreWord = "answers" // it answers this node again
	StoreLent    StoreWord = "lent"    // the first entry is of a dead process, and lent
	StoreForeign StoreWord = "foreign" // the first entry is a stranger's
	StoreTaken   StoreWord = "taken"   // the first entry is no longer that of this node, which led by it
)

// Decided returns the first decision of type D; ok is false if there is none.
func Decided[D Decision](k *ReasonKind) (d D, ok bool) {
	for _, decision := range k.Decides {
		if d, ok = decision.(D); ok {
			return d, true
		}
	}
	return d, false
}
