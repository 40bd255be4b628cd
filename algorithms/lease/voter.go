package lease

import (
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// voter is the state of this node's voter: what it has promised, and to which process. The vote is in
// Machine.state.
type voter struct {
	promise time.Time                          // when the promise ends, unless over is true before that time
	over    bool                               // the promised process released the term, or is proven dead
	kept    time.Time                          // when the promise for a lent lease ends: no proof of death ends it
	dead    map[proto.NodeID]proto.Incarnation // the last process of each node that is proven dead

	// winner is the process that leads the term of the vote; zero until a heartbeat of that process
	// came. This voter may have voted for another process.
	winner proto.Peer
	proven bool // the promise is over only because its process is proven dead

	boot    time.Time // when the last promise of this voter's former life has ended at the latest
	waiting map[proto.NodeID]question
}

// request is the common part of PRE_VOTE, REQUEST_VOTE and HEARTBEAT, and of the answers to them.
type request struct {
	Incarnation proto.Incarnation
	Nonce       uint64
	Voters      proto.VoterSet // of the sender
}

// question is a PRE_VOTE and this voter's answer. If the answer was no, the voter answers again once it
// would say yes.
type question struct {
	request
	term proto.Term
	no   proto.Answer
}

// bound reports whether this voter's last promise was made to process s of node id.
func (m *Machine) bound(id proto.NodeID, s proto.Incarnation) bool {
	to := m.promisee()
	return to.ID == id && to.Incarnation == s
}

// promisee returns the process to which this voter made its last promise: the process that it voted for,
// or the process that won the term without its vote.
func (m *Machine) promisee() proto.Peer {
	if w := m.voter.winner; w.ID != 0 {
		return w
	}
	return proto.Peer{ID: m.state.Vote.ID, Incarnation: m.state.Vote.Incarnation}
}

// The reasons for a voter's answers to PRE_VOTE.
var (
	whyYes = reasons.Kind("yes", "%d asks for term %d -> yes",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Yes: true, To: algorithms.Nobody})
	whyFavors = reasons.Kind("favors", "%d asks for term %d, %d is to take over -> answer in a moment")
	whyNo     = refusalsOf("no", "%d asks for term %d -> ", algorithms.Answers{
		Voter: algorithms.Self, Candidate: 0, Term: 1,
	}, 2)
)

// wasAsked answers PRE_VOTE. It changes no vote and no promise: it only notes whom to answer again when
// a no becomes a yes. While a successor should take over, wasAsked says yes to no other node, since that
// would split the votes. This ends after a moment, when the voter votes, or when the successor is proven
// dead. Whoever asks knows of no leader, but for a node that asks before it accepts an offer: a leader sends
// it a HEARTBEAT, since the last one may have been lost, or have come while that node was a candidate.
func (m *Machine) wasAsked(msg proto.Message, r request) {
	was := m.voter.waiting[msg.From]
	if was.Incarnation == r.Incarnation && was.Nonce > r.Nonce {
		return // it came late: the answer to a later question is under way
	}
	no, _, _ := m.judge(ballotOf(msg, r))
	q := question{r, msg.Term, no}
	delete(m.voter.waiting, msg.From)
	switch q.no.Denial {
	case proto.DeniedPromised, proto.DeniedStarted, proto.DeniedStands:
		m.voter.waiting[msg.From] = q
	}
	isNew := was.term != q.term || was.Incarnation != q.Incarnation || was.no != q.no
	if no.Granted() && m.favorsOver(msg.From) {
		m.voter.waiting[msg.From] = q
		if isNew {
			m.why(whyFavors, msg.From, q.term, m.handing.favored)
		}
		return
	}
	if isNew {
		m.sayAnswer(msg.From, q)
	}
	m.answer(msg.From, q)
	if m.leads() && m.handing.to.ID != msg.From {
		m.heartbeatTo(msg.From)
	}
}

func (m *Machine) sayAnswer(to proto.NodeID, q question) {
	if q.no.Granted() {
		m.why(whyYes, to, q.term)
		return
	}
	m.say(whyNo.of(q.no, to, q.term))
}

func (m *Machine) answer(to proto.NodeID, q question) {
	m.send(to, m.state.Vote.Term, proto.PreVoteReply{
		Incarnation: q.Incarnation, Nonce: q.Nonce, Answer: q.no, Voters: m.voterSet(),
	})
}

// answerWaiting says yes to the nodes that were told no, once no promise binds this voter any more. If
// the leader chose a successor, answerWaiting answers only that node for a moment. Otherwise a node that
// did not follow the leader would be faster.
func (m *Machine) answerWaiting() {
	if len(m.voter.waiting) == 0 {
		return
	}
	if no, _, _ := m.judge(m.next()); !no.Granted() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(m.voter.waiting)) {
		if m.favorsOver(id) {
			continue
		}
		q := m.voter.waiting[id]
		delete(m.voter.waiting, id)
		asker := proto.Peer{ID: id, Incarnation: q.Incarnation}
		q.no, _, _ = m.judge(ballot{proto.KindPreVote, asker, q.term, q.Voters})
		m.sayAnswer(id, q)
		m.answer(id, q)
	}
}

// favorsOver reports whether this voter favors, at this moment, another node than id as the successor of
// a leader.
func (m *Machine) favorsOver(id proto.NodeID) bool {
	return id != m.handing.favored && m.now.Before(m.handing.favors)
}

// freeAt returns when this voter may say yes to the nodes that it told no, or to itself while this node
// asks. It returns zero if nobody waits for a yes.
func (m *Machine) freeAt() (until time.Time) {
	if len(m.voter.waiting) > 0 || m.candidacy.phase == asking {
		_, until, _ = m.judge(m.next())
	}
	if len(m.voter.waiting) > 0 && until.IsZero() && m.now.Before(m.handing.favors) {
		return m.handing.favors
	}
	return until
}

var (
	whyDeadSays     = reasons.Kind("dead-says", "%d is proven dead -> drop what it said")
	whyDenyReleased = reasons.Kind("deny-released", "%d released term %d -> deny it",
		algorithms.Refuses(0, algorithms.Nobody))
	// WhyVote is the reason why a voter votes.
	WhyVote = reasons.Kind("vote", "nothing binds this voter -> vote for %d in term %d", algorithms.Votes{Term: 1})
	whyWon  = reasons.Kind("won",
		"%d leads term %d, in which this voter voted for %d -> promise it the term all the same")
	whyDeny = refusalsOf("deny", "%d wants term %d -> deny it: ", algorithms.Answers{
		Voter: algorithms.Self, Candidate: 0, Term: 1,
	}, 2)
)

// weigh decides on REQUEST_VOTE and HEARTBEAT. If it returns free, the caller must vote; if it returns
// kept, the caller must renew the promise. If it returns denied, it has changed nothing, and has sent
// the refusal if one is due.
func (m *Machine) weigh(msg proto.Message, r request) verdict {
	no, _, again := m.judge(ballotOf(msg, r))
	switch {
	case m.voter.dead[msg.From] == r.Incarnation:
		m.why(whyDeadSays, msg.From)
		return denied
	case again && !no.Granted():
		m.why(whyDenyReleased, msg.From, msg.Term)
	case again:
		m.bind(msg.From, r.Voters)
		return kept
	case no.Granted() && msg.Term == m.state.Vote.Term && m.state.Vote.ID != 0:
		m.why(whyWon, msg.From, msg.Term, m.state.Vote.ID)
		m.voter.over, m.voter.proven, m.voter.kept = false, false, time.Time{}
		m.bind(msg.From, r.Voters)
		return kept
	case no.Granted():
		m.why(WhyVote, msg.From, msg.Term)
		m.bind(msg.From, r.Voters)
		return free
	default:
		m.say(whyDeny.of(no, msg.From, msg.Term))
	}
	m.reply(msg, r, no, "")
	return denied
}

func ballotOf(msg proto.Message, r request) ballot {
	from := proto.Peer{ID: msg.From, Incarnation: r.Incarnation}
	return ballot{msg.Body.Kind(), from, msg.Term, r.Voters}
}

// reply answers REQUEST_VOTE or HEARTBEAT. A refusal names the highest term that this voter voted
// in. A VOTE names the former leaders.
func (m *Machine) reply(msg proto.Message, r request, answer proto.Answer, former proto.Leaderships) {
	term := msg.Term
	if !answer.Granted() {
		term = m.state.Vote.Term
	}
	if msg.Body.Kind() == proto.KindRequestVote {
		m.send(msg.From, term, proto.Vote{
			Incarnation: r.Incarnation, Nonce: r.Nonce, Answer: answer, Voters: m.voterSet(), Former: former,
		})
		return
	}
	m.send(msg.From, term, proto.HeartbeatReply{
		Incarnation: r.Incarnation, Nonce: r.Nonce, Answer: answer, Voters: m.voterSet(), Wait: m.bootLeft(),
	})
}

// verdict is the result of weigh.
type verdict int

// The verdicts of weigh.
const (
	denied verdict = iota
	free           // nothing binds the voter
	kept           // the voter's promise for this term is to this very process
)

// promise lets the promise run from now. The leader's lease began before the leader sent the message of
// this Step, so the lease ends sooner. The length of the longest promise is saved before the voter first
// makes a promise of that length.
func (m *Machine) promise() {
	m.voter.promise = m.now.Add(m.cfg.Promise)
	if m.state.Promise < m.cfg.Promise {
		m.state.Promise, m.dirty = m.cfg.Promise, true
	}
}

var (
	whyNotItsRelease = reasons.Kind("release-foreign",
		"%d releases term %d, in which this voter did not vote for it -> drop it", algorithms.Releases{Term: 1})
	whyRelease = reasons.Kind("release", "%d releases term %d -> the promise to it is over",
		algorithms.Releases{Term: 1})
)

// wasReleased ends the promise if the voter made it to the process that sent RELEASE, and reports
// whether it ended the promise. The vote stays.
func (m *Machine) wasReleased(msg proto.Message, b proto.Release) bool {
	if msg.Term != m.state.Vote.Term || !m.bound(msg.From, b.Incarnation) {
		m.why(whyNotItsRelease, msg.From, msg.Term)
		return false
	}
	m.why(whyRelease, msg.From, msg.Term)
	m.voter.proven, m.voter.kept = false, time.Time{}
	m.voter.over = true
	return true
}

// release tells all voters, this node's own voter too, that their promises for the term are over.
func (m *Machine) release(term proto.Term) {
	if m.bound(m.cfg.Self, m.cfg.Incarnation) && m.state.Vote.Term == term {
		m.voter.over, m.voter.kept = true, time.Time{}
	}
	m.tell(term, proto.Release{Incarnation: m.cfg.Incarnation, Successor: m.handing.successor.ID})
}

var (
	whyKeep     = reasons.Kind("keep", "%d is proven dead, promises are kept all the same -> wait")
	whyFreed    = reasons.Kind("freed", "%d is proven dead -> the promise to it is over")
	whyKeepLent = reasons.Kind("keep-lent", "but for a lease that it lent -> keep that promise for %v",
		algorithms.KeepsLent{For: 0})
	whyLives = reasons.Kind("lives", "%d was held for dead and answered a new link -> what it says counts again")
)

// died handles the proof that a process is dead. If Config.AwaitLeases is true, died changes nothing and
// returns believed as false. It returns freed as true if the promise was made to that process, and ends
// that promise. The vote stays.
func (m *Machine) died(dead proto.Peer) (believed, freed bool) {
	if m.cfg.AwaitLeases {
		m.why(whyKeep, dead.ID)
		return false, false
	}
	m.voter.dead[dead.ID] = dead.Incarnation
	delete(m.voter.waiting, dead.ID)
	if dead.ID == m.handing.favored {
		m.handing.favors = time.Time{}
	}
	freed = m.bound(dead.ID, dead.Incarnation)
	if freed {
		m.voter.proven = m.voter.proven || !m.voter.over
		m.why(whyFreed, dead.ID)
		m.voter.over = true
	}
	if lent := m.voter.kept.Sub(m.now); freed && lent > 0 {
		m.why(whyKeepLent, lent.Round(time.Millisecond))
	}
	return true, freed
}

// heardAgain notes that process q lives, and reports whether q was proven dead before. The messages of q
// count again. If the proof ended a promise to q, that promise now counts as run out: q may ask to renew
// it while this voter has voted for nobody else. A promise that q released stays over.
func (m *Machine) heardAgain(q proto.Peer) bool {
	if s, was := m.voter.dead[q.ID]; !was || s != q.Incarnation {
		return false
	}
	m.why(whyLives, q.ID)
	delete(m.voter.dead, q.ID)
	if m.bound(q.ID, q.Incarnation) && m.voter.proven {
		m.voter.over, m.voter.proven, m.voter.promise = false, false, time.Time{}
	}
	return true
}

// claimed answers REQUEST_VOTE and HEARTBEAT. A refusal changes nothing.
func (m *Machine) claimed(msg proto.Message, r request, lent bool) {
	switch m.weigh(msg, r) {
	case denied:
		return
	case free:
		m.vote(msg.Term, msg.From, r.Incarnation)
		fallthrough // a leader that is about to lend its lease may get the vote first
	case kept:
		m.renewed(lent)
	}
	if msg.Body.Kind() == proto.KindHeartbeat {
		m.voter.winner = proto.Peer{ID: msg.From, Incarnation: r.Incarnation}
	}
	m.heardAt, m.news = m.now, News{Kind: Heard}
	m.reply(msg, r, proto.Answer{}, m.account())
}

// vote votes for a process, and promises it the term. The host saves the vote before it sends the
// answer: "Updated on stable storage before responding to RPCs".
func (m *Machine) vote(term proto.Term, id proto.NodeID, s proto.Incarnation) {
	m.remember(id)
	if m.watcher != nil { // a Watcher saves no terms itself
		m.state.Term, m.state.Reserved = max(m.state.Term, term), max(m.state.Reserved, term)
	}
	if m.candidacy.phase == asking {
		m.candidacy.stop()
	}
	m.state.Vote = algorithms.Vote{Term: term, ID: id, Incarnation: s}
	if id == m.cfg.Self {
		m.bind(id, m.voterSet())
	}
	m.known, m.dirty = max(m.known, term), true
	m.unvoted = false
	m.handing.favors = time.Time{}
	m.voter.over, m.voter.proven, m.voter.kept, m.voter.winner = false, false, time.Time{}, proto.Peer{}
	m.promise()
	if m.belief.Incarnation != s {
		m.forget(proto.Peer{ID: m.belief.ID, Incarnation: m.belief.Incarnation}, whyLeaderUnbound)
	}
}

// released handles RELEASE: it ends the promise if the voter made it to the sender. The vote stays.
func (m *Machine) released(msg proto.Message, b proto.Release) {
	last := proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Incarnation}
	if was := m.releases[msg.From]; was.Incarnation != b.Incarnation || was.Term < msg.Term {
		m.releases[msg.From] = last
	}
	// A process that stopped leading in good order must not be fenced: this is worth a write.
	m.dirty = m.strike(upTo(last)) || m.dirty
	if !m.wasReleased(msg, b) {
		return
	}
	m.news = News{Kind: Vacated}
	m.forget(proto.Peer{ID: msg.From, Incarnation: b.Incarnation}, whyLeaderReleased)
	m.giveWay(b.Successor)
}
