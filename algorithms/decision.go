package algorithms

// Decision is what a reason decides. Whoever explains elections reads it, with the
// reason's arguments, and no sentence.
type Decision interface{ decision() }

// Place says which argument of a reason something is about: the first is 0.
type Place int

// The places that are no arguments.
const (
	Self   Place = -1 // the node that gives the reason
	Nobody Place = -2
)

// The decisions.
type (
	// Verdict is one between two candidates.
	Verdict struct {
		Kind        VerdictKind
		Loser, Over Place
		By          Place // who decided
	}

	// Because is what a round is called for.
	Because struct {
		Kind CauseKind
		// About is the leader that is lost, or that hands over.
		About Place
	}

	// Opens: this node calls an election of a term, for the reason at Cause; Self is the
	// reason itself.
	Opens struct{ Cause, Term Place }

	// Stands: this node asks voters for a term that nobody called an election of.
	Stands struct{ Cause, Term Place }

	// Wins: this node leads from now on, for the reason at Cause. Term is Nobody where the
	// reason does not tell it.
	Wins struct{ Cause, Term Place }

	// Leads: this node leads a term under a lease.
	Leads struct{ Term Place }

	// Follows: this node follows the leader of a term.
	Follows struct{ Term Place }

	// Enters: this node learned of a term that is above its own.
	Enters struct{ Term Place }

	// Votes: this node gives its vote of a term.
	Votes struct{ Term Place }

	// Answers is what one voter says to one candidate. One of them is Self.
	Answers struct {
		Voter, Candidate, Term Place
		// Yes: it would vote for it, Bar is why it would not.
		Yes bool
		Bar Bar
		// To is the node that binds the voter, or the voter's words for why it would not.
		To Place
	}

	// Readmits: this voter lost its votes, and votes again above all that it may have
	// voted in.
	Readmits struct{}

	// LeaseEnds: this node finds that its lease ran out.
	LeaseEnds struct{}

	// Fences is what became of an attempt to have a node stopped before this one leads.
	Fences struct {
		Result  FenceResult
		ID, How Place
	}

	// Unstopped: a majority granted the term, and former leaders have not stopped.
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
func (Votes) decision()     {}
func (Answers) decision()   {}
func (Readmits) decision()  {}
func (LeaseEnds) decision() {}
func (Fences) decision()    {}
func (Unstopped) decision() {}

// VerdictKind is a word for how a candidate lost.
type VerdictKind string

// The kinds of verdicts.
const (
	Outranked  VerdictKind = "outranked"    // another ranks above it
	Suppressed VerdictKind = "suppressed"   // another initiator's messages go on, its own do not
	Deposed    VerdictKind = "stepped-down" // two leaders met
	Refused    VerdictKind = "refused"      // a voter grants it nothing, since it is bound to Over
)

// Outranks is the verdict that loser ranks below over.
func Outranks(loser, over Place) Decision { return Verdict{Outranked, loser, over, Self} }

// Suppresses is the verdict that the messages of loser go no further, those of over do.
func Suppresses(loser, over Place) Decision { return Verdict{Suppressed, loser, over, Self} }

// Deposes is the verdict between two leaders.
func Deposes(loser, over Place) Decision { return Verdict{Deposed, loser, over, Self} }

// Refuses is the verdict of this voter, which is bound to over.
func Refuses(loser, over Place) Decision { return Verdict{Refused, loser, over, Self} }

// RefusedBy is the verdict of a voter on this node.
func RefusedBy(voter, over Place) Decision { return Verdict{Refused, Self, over, voter} }

// CauseKind is a word for why a round began.
type CauseKind string

// The causes.
const (
	LeaderLost   CauseKind = "leader-lost"  // detectors say that the leader is gone
	LeaderSilent CauseKind = "silent"       // the leader was not heard of
	FirstLeader  CauseKind = "no-leader"    // nobody had led, or none was heard of at a start
	SplitMended  CauseKind = "split-mended" // leaders met again, all stopped, one is elected
	Operator     CauseKind = "operator"     // somebody called an election
	HandOver     CauseKind = "hand-over"    // the leader resigned in favour of another
	Vacant       CauseKind = "vacant"       // nobody held the office, and nobody had called an election
	HigherRank   CauseKind = "higher-rank"  // a node ranks above the leader and takes over
	RoundFailed  CauseKind = "round-failed" // the round before brought no leader
	Readmitted   CauseKind = "readmitted"   // no election: a voter that lost its votes took a term above them
	Unexplained  CauseKind = "unknown"      // the records do not tell
)

// Caused is the cause of that kind.
func Caused(by CauseKind) Decision { return Because{by, Nobody} }

// Bar is a word for what keeps a voter from granting.
type Bar string

// The bars.
const (
	BarPromised Bar = "promised"
	BarVoted    Bar = "voted"
	BarStands   Bar = "stands-itself"
	BarStarted  Bar = "just-started"
	BarOther    Bar = "other"
)

// FenceResult is a word for what became of an attempt to fence.
type FenceResult string

// The results.
const (
	FenceDone   FenceResult = "fenced"
	FenceFailed FenceResult = "not-fenced"
	FenceNoNeed FenceResult = "stopped-by-itself"
)

// Decided is the first decision of that type, ok false for none.
func Decided[D Decision](k *ReasonKind) (d D, ok bool) {
	for _, decision := range k.Decides {
		if d, ok = decision.(D); ok {
			return d, true
		}
	}
	return d, false
}
