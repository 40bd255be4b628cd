package sim

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// safetyCheckers returns the checkers for invariants that must hold in every run, whatever fails.
func safetyCheckers() []checker {
	return []checker{
		{
			Invariant{"term-rises", "a node's term never goes back in a life, and what it saved never at all"},
			(&termRises{}).check,
		},
		{Invariant{"durable-first", "no message and no belief carries a term above the one that is durably " +
			"reserved"}, durableFirst},
		{Invariant{"newer-stands", "a late or repeated message never undoes what is newer: a process that " +
			"named a leader never names one of a lower leadership"}, (&newerStands{}).check},
		{Invariant{"named-claimed", "a leader is named only for a term that this very process claimed " +
			"before"}, (&namedClaimed{claims: map[proto.Leadership]bool{}}).check},
		{
			Invariant{"one-life-leads", "no process leads a term in which a former life of it led"},
			(&oneLifeLeads{led: map[mandate]proto.Incarnation{}}).check,
		},
		{
			Invariant{"taken-once", "a process that stopped leading a term never leads it again"},
			(&takenOnce{taken: map[proto.Leadership]bool{}}).check,
		},
		{Invariant{"aside-never-leads", "a node that resigned does not lead until the operator calls it or " +
			"it restarts"}, asideNeverLeads},
		{Invariant{"ineligible-never-stands", "a node that is not eligible takes no leadership, and gives " +
			"up the one it has unless it is to keep that; once it has recovered from a split it may lead " +
			"on in a new term"}, (&ineligibleNeverStands{}).check},
		{Invariant{"transfer-ends", "who asked for a transfer is told once what came of it, and what has " +
			"not ended has a timer"}, (&transferEnds{}).check},
		{Invariant{"looking-has-timer", "a node that knows no leader always has a timer, unless it does " +
			"not stand or waits for its work to stop"}, lookingHasTimer},
		{Invariant{"deadline-ahead", "after a Timeout no deadline is left that has passed: a host would " +
			"deliver Timeouts for ever"}, deadlineAhead},
		{Invariant{"spurious-harmless", "a Timeout before the deadline changes nothing"}, spuriousHarmless},
		{Invariant{"speaks-for-itself", "a node sends in its own name, to others, with a term"}, speaksForItself},
	}
}

// claims reports whether the node believes, at the end of the Step, that it leads.
func (s *step) claims() bool { return s.out.Leader.ID == s.node.id }

// prev returns the node's belief before the Step.
func (s *step) prev() algorithms.Leader { return s.node.life.belief }

type termRises struct {
	disks table[struct{ saved, reserved proto.Term }]
} // by id

func (k *termRises) check(s *step) string {
	disk, term := k.disks.at(int(s.node.id)), max(s.out.Leader.Term, s.out.Round)
	if s.node.lost { // its disk: nothing is saved until it is readmitted
		disk.saved, disk.reserved = 0, 0
	}
	if low := max(disk.saved, s.prev().Term); term < low {
		return fmt.Sprintf("term %d after %d", term, low)
	}
	if save := s.out.Save; save != nil {
		if save.Term < disk.saved || save.Reserved < max(save.Term, disk.reserved) {
			return fmt.Sprintf("saved term %d, reserved %d after %d, %d",
				save.Term, save.Reserved, disk.saved, disk.reserved)
		}
		disk.saved, disk.reserved = save.Term, save.Reserved
	}
	return ""
}

func durableFirst(s *step) string {
	durable := s.node.disk.Reserved
	for _, m := range s.out.Send {
		if m.Term > durable && m.Body.Kind().Is(proto.Nominates) {
			return fmt.Sprintf("%s of term %d, reserved %d", m.Body.Kind(), m.Term, durable)
		}
	}
	if term := s.out.Leader.Term; term > durable && !s.cluster.algo.Leased {
		return fmt.Sprintf("belief of term %d, reserved %d", term, durable)
	}
	return ""
}

type newerStands struct{ named table[proto.Leadership] } // by process

func (k *newerStands) check(s *step) string {
	if s.out.Leader.ID == 0 {
		return ""
	}
	named, is := k.named.at(s.node.life.number), s.out.Leader.Leadership()
	if was := *named; is.Compare(was) < 0 {
		return fmt.Sprintf("from leader %d of term %d to %d of term %d",
			was.Leader, was.Term, is.Leader, is.Term)
	}
	*named = is
	return ""
}

type namedClaimed struct{ claims map[proto.Leadership]bool }

func (k *namedClaimed) check(s *step) string {
	is := s.out.Leader
	if e, ok := s.announces(); ok && s.cluster.algo.Recovers {
		k.claims[e] = true // the nominee is named, though it recovers before it leads
	}
	switch {
	case is.ID == 0 || is == s.prev(): // as was found to be well
	case s.claims() && is.Incarnation != s.node.life.incarnation:
		return fmt.Sprintf("claims term %d for another life of itself", is.Term)
	case s.claims():
		k.claims[is.Leadership()] = true
	case !k.claims[is.Leadership()]:
		return fmt.Sprintf("names %d (%s) for term %d", is.ID, is.Incarnation.Short(), is.Term)
	}
	return ""
}

// announces returns the leadership that the node announces in this Step as its own; ok is false if
// it announces none.
func (s *step) announces() (e proto.Leadership, ok bool) {
	for _, m := range s.out.Send {
		b, ok := m.Body.(interface {
			Announced() (leader proto.Peer, ok bool)
		})
		if !ok {
			continue
		}
		l, ok := b.Announced()
		if ok && l.Is(s.node.peer()) {
			return proto.Leadership{Term: m.Term, Leader: l.ID, Incarnation: l.Incarnation}, true
		}
	}
	return proto.Leadership{}, false
}

// mandate is a node in a term, in any of its processes.
type mandate struct {
	id   proto.NodeID
	term proto.Term
}

type oneLifeLeads struct{ led map[mandate]proto.Incarnation }

func (k *oneLifeLeads) check(s *step) string {
	if !s.claims() || s.out.Leader == s.prev() {
		return ""
	}
	o := mandate{s.node.id, s.out.Leader.Term}
	incarnation := s.node.life.incarnation
	if was, ok := k.led[o]; ok && was != incarnation {
		return fmt.Sprintf("leads term %d as %s did", o.term, was.Short())
	}
	k.led[o] = incarnation
	return ""
}

type takenOnce struct{ taken map[proto.Leadership]bool }

func (k *takenOnce) check(s *step) string {
	is := s.out.Leader
	if !s.claims() || s.prev().Leadership() == is.Leadership() {
		return ""
	}
	if k.taken[is.Leadership()] {
		return fmt.Sprintf("leads term %d again", is.Term)
	}
	k.taken[is.Leadership()] = true
	return ""
}

func asideNeverLeads(s *step) string {
	if s.claims() && s.node.life.aside {
		return fmt.Sprintf("leads term %d", s.out.Leader.Term)
	}
	return ""
}

// ineligibleNeverStands checks nodes that are not eligible. A node may keep its leadership while it
// recovers from a split.
type ineligibleNeverStands struct{ coordinators table[bool] } // by process

func (k *ineligibleNeverStands) check(s *step) string {
	ev, told := s.ev.(algorithms.Eligible)
	coordinator := k.coordinators.at(s.node.life.number)
	recovers := *coordinator
	for _, split := range s.out.Splits {
		if split.Number > 0 {
			*coordinator = split.Stage == algorithms.Stopping || split.Stage == algorithms.Reconciling
		}
	}
	switch {
	case !s.claims() || !s.node.life.ineligible:
		return ""
	case told && !ev.Keep:
		return fmt.Sprintf("leads term %d on", s.out.Leader.Term)
	case s.prev().Leadership() != s.out.Leader.Leadership() && (!recovers || !s.node.life.keeps):
		return fmt.Sprintf("takes term %d", s.out.Leader.Term)
	case s.out.Ineligible == "":
		return "says that it stands"
	}
	return ""
}

func lookingHasTimer(s *step) string {
	waits := s.node.life.aside || s.node.life.ineligible || s.node.life.drains ||
		s.cluster.algo.Leased && s.prev().ID == s.node.id
	if s.out.Leader.ID == 0 && s.out.Deadline.IsZero() && !waits && s.cluster.mayLead(s.node.id) {
		return fmt.Sprintf("waits in term %d for ever", s.out.Leader.Term)
	}
	return ""
}

func deadlineAhead(s *step) string {
	_, timeout := s.ev.(algorithms.Timeout)
	due := s.out.Deadline
	if !timeout || s.spurious || due.IsZero() || due.After(s.now) {
		return ""
	}
	return fmt.Sprintf("due %v ago", s.now.Sub(due))
}

func spuriousHarmless(s *step) string {
	same := s.out.Save == nil && len(s.out.Send) == 0 &&
		s.out.Deadline.Equal(s.node.life.deadline) && s.out.Leader == s.prev()
	if s.spurious && !same {
		return fmt.Sprintf("sent %d messages, deadline %v -> %v, leader %d -> %d", len(s.out.Send),
			s.node.life.deadline, s.out.Deadline, s.prev().ID, s.out.Leader.ID)
	}
	return ""
}

// termless reports whether a message may have term zero, because a voter that has not voted sends
// it.
func termless(b proto.Body) bool {
	switch b.Kind() {
	case proto.KindPreVoteReply, proto.KindRecover, proto.KindVoterState, proto.KindUnvoted:
		return true
	}
	return sayingOf(b).does(denies)
}

func speaksForItself(s *step) string {
	for _, m := range s.out.Send {
		if m.From != s.node.id || m.To == m.From || m.To == 0 || m.Body == nil ||
			m.Term == 0 && !termless(m.Body) {
			return fmt.Sprintf("%d sends to %d in term %d", m.From, m.To, m.Term)
		}
	}
	return ""
}
