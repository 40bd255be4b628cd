package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// nominator has the nominating Machine, and that Machine again as each of the optional interfaces; a
// field is nil if the Machine does not implement the interface.
type nominator struct {
	inner    algorithms.Machine
	watcher  Watcher
	asker    Contender
	believer Believer
	hearer   Hearer

	room    *algorithms.Outbox // the Outbox of the nominating Machine
	wake    time.Time          // when the nominating Machine wants its Timeout
	watched proto.Leadership   // the leadership that a Watcher was last told of
	news    News               // what a Watcher is to be told next
}

func nominatorOf(cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine) nominator {
	n := nominator{room: &algorithms.Outbox{}}
	cfg.Outbox = n.room
	n.inner = nominate(cfg)
	n.watcher, _ = n.inner.(Watcher)
	n.asker, _ = n.inner.(Contender)
	n.believer, _ = n.inner.(Believer)
	n.hearer, _ = n.inner.(Hearer)
	return n
}

// Contender is a nominating Machine that asks a majority of the nodes before it nominates its own node.
// While it asks, its node sends PRE_VOTE, so that both questions take one round trip together. PRE_VOTE
// binds nobody. The node requests votes only once it is nominated.
type Contender interface {
	// Contends reports whether the Machine's node asks at present to be nominated in the current term.
	Contends() bool
}

// contends reports whether this node may be nominated in a moment.
func (m *Machine) contends() bool { return m.asker != nil && m.asker.Contends() }

// Watcher is a nominating Machine that needs no messages: it nominates its own node whenever that node
// should stand. With a Watcher, no voter stands without being nominated.
type Watcher interface {
	// Watch tells the Machine who leads, between two Steps, when the leader has changed or there are
	// news. An ID of 0 means that nobody leads. A Step with Timeout follows at once.
	Watch(now time.Time, leader algorithms.Leader, news News)
	// Cause returns the reason why the Machine's node stands, if it is nominated.
	Cause() algorithms.Reason
}

// News is an event that a Watcher cannot know by itself. If several happen before the Watcher is told,
// it learns only the last one.
type News struct {
	Kind NewsKind
	Lost proto.NodeID  // for Gone: the former leader
	Wait time.Duration // for Failed: how long before this node stands again
}

// NewsKind says what has happened.
type NewsKind int

// The kinds of news.
const (
	NoNews  NewsKind = iota
	Heard            // a heartbeat came or was sent, this voter voted, or this node ceased to lead
	Gone             // the leader is proven dead, or says that it leads no more
	Vacated          // the process that this voter voted for is proven dead, or released the term
	Failed           // this node's candidacy failed
)

// Believer is a nominating Machine that refuses a term which is absurdly far above its own. Believe
// tells the Machine a term that a majority of the voters reached, so that the Machine may believe that
// term.
type Believer interface{ Believe(term proto.Term) }

// Hearer is a nominating Machine whose leader repeats its announcement as a sign of life. Under a lease,
// heartbeats replace these announcements: the lease calls HearLeader for each round of heartbeats that
// its node sends or follows. HearLeader returns when the Machine wants its next Timeout.
type Hearer interface {
	HearLeader(now time.Time, leader proto.Peer) (deadline time.Time)
}

// hearLeader tells the nominating Machine that the leader lives, so that it may wait longer.
func (m *Machine) hearLeader() {
	m.news = News{Kind: Heard}
	if m.hearer != nil && m.votes() && !m.rejoin.active {
		m.wake = m.hearer.HearLeader(m.now, proto.Peer{ID: m.belief.ID, Incarnation: m.belief.Incarnation})
	}
}

// tellWatcher tells a Watcher who leads, and the news, if either has changed.
func (m *Machine) tellWatcher() {
	if m.watcher == nil {
		return
	}
	if is := m.belief.Leadership(); is != m.watched || m.news.Kind != NoNews {
		news := m.news
		m.watched, m.news = is, News{}
		m.watcher.Watch(m.now, m.belief, news)
		m.nominate(algorithms.Timeout{})
	}
}

// tellWatcherOf passes to a Watcher the event that a process is proven dead, or was heard again. Other
// nominating Machines learn this from PeersChanged.
func (m *Machine) tellWatcherOf(ev algorithms.Event) {
	if m.watcher != nil {
		m.nominate(ev)
	}
}

// nominate passes an event to the nominating Machine, and adds that Machine's Output to the Output of
// this Machine. The leader that the nominating Machine names is only the nominee. Nodes without a vote
// take no part in the nomination.
func (m *Machine) nominate(ev algorithms.Event) {
	if !m.votes() || m.rejoin.active {
		return
	}
	m.room.After(m.out.Send)
	out := m.inner.Step(m.now, ev)
	m.out.Send = algorithms.Join(m.out.Send, out.Send)
	m.out.Why = append(m.out.Why, out.Why...)
	m.out.Warn = m.out.Warn || out.Warn
	m.wake = out.Deadline
	if out.Save != nil {
		m.state.Term, m.state.Reserved = out.Save.Term, out.Save.Reserved
		m.dirty = true
	}
	if out.Leader.ID != m.nominee.ID || out.Leader.Incarnation != m.nominee.Incarnation {
		m.nomineeSince = m.now
	}
	m.nominee = out.Leader
}

// nominateAmong tells the nominating Machine which voters are alive.
func (m *Machine) nominateAmong(alive []proto.Peer, evidence string) {
	candidates, own := m.voters.Among(alive), m.self.Rank()
	m.above = 0
	for i := range candidates {
		if candidates[i].Rank().Compare(own) > 0 {
			m.above++
		}
	}
	m.nominate(algorithms.PeersChanged{Alive: candidates, Evidence: evidence})
}
