package rounds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// script adds records of node after node to a Builder, of level info.
type script struct {
	b    *rounds.Builder
	zero time.Time
	seq  map[uint64]uint64

	incarnation string // of the processes that write
}

func newScript() *script {
	return &script{
		b: rounds.NewBuilder(), zero: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC),
		seq: map[uint64]uint64{}, incarnation: "aaaaaaaa",
	}
}

func (s *script) add(node uint64, ms int, rec trace.Record) {
	s.seq[node]++
	rec.Level, rec.Time, rec.Cluster, rec.Node = "info", s.zero.Add(time.Duration(ms)*time.Millisecond), "c", node
	rec.Incarnation, rec.Algo, rec.Seq = s.incarnation, "bully", s.seq[node]
	rec.Role = trace.Following
	switch rec.Leader {
	case 0:
		rec.Role = trace.Looking
	case node:
		rec.Role = trace.Leading
	}
	s.b.Add(&rec)
}

// "Cause and first witness with its evidence": at level info a node's return
// need not be logged. Its second death is detected nevertheless by whom it was
// first, who need not have called the election.
func TestSecondDeathUnloggedReturn(t *testing.T) {
	s := newScript()
	dead := func(node uint64, ms int, term, leader uint64, why ...string) {
		s.add(node, ms, trace.Record{
			Term: term, Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3", Why: why,
			Leader: leader,
		})
	}
	lead := func(node uint64, ms int, term uint64, why string) {
		s.add(node, ms, trace.Record{Term: term, Event: "timeout", Why: []string{why}, Leader: node})
	}
	lead(3, 0, 1, "no higher node is alive -> lead term 1")
	dead(1, 10, 1, 0, "leader 3 is gone -> wait for the next in line")
	dead(2, 11, 2, 2, "leader 3 is gone -> call an election of term 2", "no higher node is alive -> lead term 2")
	lead(3, 1000, 3, "no higher node is alive -> lead term 3")
	for _, node := range []uint64{1, 2} {
		s.add(node, 1001, trace.Record{
			Term: 3, Event: "receive", Why: []string{"3 leads term 3 -> follow it"}, Leader: 3,
		})
	}
	dead(1, 2000, 3, 0, "leader 3 is gone -> wait for the next in line")
	dead(2, 2005, 4, 2, "leader 3 is gone -> call an election of term 4", "no higher node is alive -> lead term 4")
	all := s.b.History().Groups[0].Rounds
	c := all[len(all)-1].Cause
	if c.Node != 1 || !c.At.Equal(s.zero.Add(2*time.Second)) || len(c.Detections) != 2 {
		t.Errorf("first detection by %d at %v of %v", c.Node, c.At.Sub(s.zero), c.Detections)
	}
}

// "Cause and first witness with its evidence": the proof that a process is dead
// is evidence, and the view that follows at once says of what kind.
func TestProofIsEvidence(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "timeout", Why: []string{"a majority granted term 1 -> hold the office"}, Leader: 3,
	})
	for _, node := range []uint64{1, 2} {
		s.add(node, 1, trace.Record{
			Term: 1, Event: "receive", Why: []string{"3 holds the office, term 1 -> follow it"}, Leader: 3,
		})
	}
	s.add(1, 10, trace.Record{
		Term: 1, Event: "gone", Detail: "3 aaaaaaaa",
		Why: []string{"leader 3 is proven dead -> nobody holds the office"},
	})
	s.add(2, 11, trace.Record{
		Term: 1, Event: "gone", Detail: "3 aaaaaaaa",
		Why: []string{"leader 3 is proven dead -> nobody holds the office"},
	})
	s.add(2, 12, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3",
		Why: []string{"leader 3 is gone -> call an election of term 2"},
	})
	all := s.b.History().Groups[0].Rounds
	c := all[len(all)-1].Cause
	if c.Node != 1 || c.Evidence != "proven-dead 3" || !c.At.Equal(s.zero.Add(10*time.Millisecond)) {
		t.Errorf("first detection by %d by %q at %v", c.Node, c.Evidence, c.At.Sub(s.zero))
	}
	if len(c.Detections) != 2 || c.Detections[1].Evidence != "link-closed 3, dial-refused 3" ||
		!c.Detections[1].At.Equal(s.zero.Add(11*time.Millisecond)) {
		t.Errorf("detections %+v", c.Detections)
	}
}

// "initiators and why each began": who stands where nobody leads begins the
// round; who calls an election of a term that is led already begins another.
func TestStandingForElection(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 3, Event: "receive", Guarantee: "lease", Why: []string{"a majority would grant term 3 -> claim it"},
		Sent: []string{"CLAIM>1#3:1", "CLAIM>2#3:2"},
	})
	s.add(3, 4, trace.Record{
		Term: 3, Event: "receive", Guarantee: "lease", Why: []string{"a majority granted term 3 -> hold the office"},
		Leader: 3, Token: 3, LeaderChange: "elected",
	})
	s.add(1, 900, trace.Record{
		Term: 3, Event: "receive", Guarantee: "lease", Leader: 3,
		Why: []string{"3 asks for a leader of the next term -> take term 3"},
	})
	r := s.b.History().Groups[0].Rounds[0]
	if len(r.Initiators) != 1 || r.Initiators[0].Node != 3 || r.Cause.Kind != rounds.Vacant {
		t.Errorf("cause %+v, initiators %+v", r.Cause, r.Initiators)
	}
}

// "gone" is a message to a process that its sender knew to be dead: not one to the
// process that came after it, whose return need not be logged at level info.
func TestReturnIsNotGone(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "timeout", Why: []string{"no higher node is alive -> lead term 1"}, Leader: 3,
	})
	s.add(1, 10, trace.Record{
		Term: 1, Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3",
		Why: []string{"leader 3 is gone -> wait for the next in line"},
	})
	s.b.Add(&trace.Record{
		Level: "info", Time: s.zero.Add(time.Second), Cluster: "c", Node: 3, Incarnation: "bbbbbbbb",
		Algo: "bully", Seq: 1,
		Term: 2, Event: "timeout", Role: trace.Leading, Leader: 3, Sent: []string{"COORDINATOR>1#3:1"},
		Why: []string{"no higher node is alive -> lead term 2"},
	})
	s.add(1, 1001, trace.Record{
		Term: 2, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3, Sent: []string{"GRANT>3#1:1"},
		Why: []string{"3 leads term 2 -> follow it"},
	})
	all := s.b.History().Groups[0].Rounds
	for _, m := range all[len(all)-1].Messages {
		if m.From == 1 && m.Delivery != rounds.Unseen {
			t.Errorf("the message to the new process is %q", m.Delivery)
		}
	}
}

// "Cause and first witness with its evidence": where voters decide, a nomination may count fewer terms than
// they do. The death for which it called an election is the cause of the term that they were asked for next,
// be the call in the record of the candidate, whose own term may go on, or, earlier, in the dead leader's own term.
func TestNominationLagsBehindVotes(t *testing.T) {
	const before, same, goesOn = "in the dead leader's term", "in the candidate's record", "and its term goes on"
	for _, name := range []string{before, same, goesOn} {
		t.Run(name, func(t *testing.T) {
			s := newScript()
			s.add(3, 0, trace.Record{
				Term: 2, Event: "receive", Guarantee: "lease", Leader: 3, Token: 2, LeaderChange: "elected",
				Why: []string{"a majority granted term 2 -> hold the office"},
			})
			for _, node := range []uint64{1, 2} {
				s.add(node, 1, trace.Record{
					Term: 2, Event: "receive", Guarantee: "lease", Leader: 3,
					Why: []string{"3 holds the office, term 2 -> follow it"},
				})
			}
			gone := trace.Record{Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3"}
			call, ask := "leader 3 is gone -> call an election of term 1",
				"this node is nominated and nobody holds the office -> ask the voters for term 3"
			caller := uint64(2)
			if name == before {
				caller = 1
				gone.Term, gone.Why = 2, []string{call}
				s.add(1, 1000, gone)
				s.add(2, 1010, trace.Record{Term: 3, Event: "timeout", Why: []string{ask}})
			} else {
				gone.Term, gone.Why = 3, []string{call, ask}
				s.add(2, 1000, gone)
			}
			if name == goesOn {
				s.add(2, 1010, trace.Record{Term: 2, Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY", MsgID: "1:9"})
			}
			s.add(2, 1020, trace.Record{
				Term: 3, Event: "receive", Guarantee: "lease", Leader: 2, Token: 3, LeaderChange: "elected",
				Why: []string{"a majority granted term 3 -> hold the office"},
			})
			all := s.b.History().Groups[0].Rounds
			r := all[len(all)-1]
			c := r.Cause
			if c.Kind != rounds.LeaderLost || c.Lost != 3 || c.Node != caller || !c.At.Equal(s.zero.Add(time.Second)) ||
				c.Evidence != "link-closed 3, dial-refused 3" {
				t.Errorf("cause %+v", c)
			}
			if len(r.Initiators) != 1 || r.Initiators[0].Node != caller || r.Split.Elect != 20*time.Millisecond {
				t.Errorf("initiators %+v, elected in %v", r.Initiators, r.Split.Elect)
			}
		})
	}
}

// A suspicion that was taken back is not the cause of a later election.
func TestSuspicionTakenBack(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 2, Event: "receive", Guarantee: "lease", Leader: 3, Token: 2, LeaderChange: "elected",
		Why: []string{"a majority granted term 2 -> hold the office"},
	})
	s.add(1, 1000, trace.Record{
		Term: 2, Event: "peers", Guarantee: "lease", Alive: []uint64{1, 2}, Evidence: "heartbeat-missed 3",
		Why: []string{"leader 3 is gone -> call an election of term 2"}, Leader: 3,
	})
	s.add(1, 2000, trace.Record{Term: 2, Event: "peers", Guarantee: "lease", Alive: []uint64{1, 2, 3}, Leader: 3})
	s.add(2, 9000, trace.Record{
		Term: 3, Event: "timeout", Guarantee: "lease",
		Why: []string{"this node is nominated and nobody holds the office -> ask the voters for term 3"},
	})
	all := s.b.History().Groups[0].Rounds
	if c := all[len(all)-1].Cause; c.Kind != rounds.Vacant || c.Node != 2 {
		t.Errorf("cause %+v", c)
	}
}

// "Because of a request that came after it had begun": who stops for another reason did not hand over.
func TestAskedAfterTheEnd(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "timeout", Why: []string{"no higher node is alive -> lead term 1"}, Leader: 3,
	})
	s.add(3, 1000, trace.Record{
		Term: 1, Event: "receive", Why: []string{"nominee 3 recovers from a split -> nobody leads"},
	})
	s.add(3, 2000, trace.Record{
		Term: 1, Event: "resign", Why: []string{"asked to resign -> step down, hand over to 2"},
	})
	s.add(2, 2010, trace.Record{
		Term: 2, Event: "receive", From: 3, Msg: "STAND_NOW", Leader: 2,
		Why: []string{"3 asks for a leader of the next term -> take term 2", "asked to lead -> lead term 2"},
	})
	all := s.b.History().Groups[0].Incidents
	if why := all[len(all)-1].Why; why != "node 3 stopped leading" {
		t.Errorf("%q", why)
	}
}

// "Leader 3 is gone", and "node 3 stopped answering": it was well, and had stepped down, but its record of that is
// missing, or its log ends before. If no other record shows its RELEASE either, nobody can tell whether it gave up the
// term.
func TestReleaseWhoseRecordIsMissing(t *testing.T) {
	for name, c := range map[string]struct{ ends, told bool }{
		"told": {told: true}, "its log ends, told": {true, true},
		"not told": {}, "its log ends, not told": {ends: true},
	} {
		v := newVoters()
		v.elect(3, 1, 1, 2)
		if !c.ends {
			v.seq["n3life0"]++
			v.add(3, 700, trace.Record{Term: 1, Event: "timeout"})
		}
		calls := trace.Record{
			Term: 1, Round: 2, Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:7",
			Why:  []string{"leader 3 is gone -> ask the voters for term 2"},
			Sent: []string{"PRE_VOTE>1#2:1", "PRE_VOTE>3#2:2"},
		}
		if !c.told {
			calls.From, calls.Msg, calls.MsgID, calls.Event = 0, "", "", "timeout"
		}
		v.add(2, 800, calls)
		v.lead(2, 810, 2)
		v.follow(1, 820, 2, 2)
		all := v.b.History().Groups[0].Rounds
		if cause := all[len(all)-1].Cause; cause.Lost != 0 || c.told != (cause.Kind == rounds.Released) {
			t.Errorf("%s: %+v", name, cause)
		}
		if in := v.last(); strings.Contains(in.Why, "answering") {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

// "Node 3 stopped answering", and it was well: its log ends before another node had heard nothing of it for long, and
// it may have given up the term. Where it writes on, it did not, and evidence against it tells that it did not answer.
// "Nobody had heard the leader, node 0, of late" was said where it may have.
func TestSilentInACutLog(t *testing.T) {
	for name, c := range map[string]struct{ on, evidence bool }{
		"its log ends":        {},
		"it writes on":        {on: true},
		"its link had closed": {evidence: true},
	} {
		v := newVoters()
		v.elect(3, 1, 1, 2)
		if c.evidence {
			v.add(2, 700, trace.Record{
				Term: 1, Event: "peers", Leader: 3, Token: 1, Alive: []uint64{1, 2}, Evidence: "link-closed 3",
			})
		}
		v.add(2, 1500, trace.Record{
			Term: 1, Round: 2, Event: "timeout", LeaderChange: trace.Lost, Sent: []string{"PRE_VOTE>1#2:1"},
			Why: []string{"nobody has heard leader 3 of late -> ask the voters for term 2"},
		})
		if c.on {
			v.add(3, 1510, trace.Record{Term: 1, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(2500)})
			v.expire(3, 2500, 1)
		}
		v.lead(2, 2610, 2)
		lost := c.on || c.evidence
		g := v.b.History().Groups[0]
		if in := g.Incidents[1]; strings.Contains(in.Why, "answering") != lost {
			t.Errorf("%s: %+v", name, in)
		}
		if cause := g.Rounds[1].Cause; (cause.Lost == 3) != lost {
			t.Errorf("%s: %+v", name, cause)
		}
		if text := told(t, g); strings.Contains(text, "node 0") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// "The process of node 2 ended": it had resigned, and followed the next leader before it ended. No messages compare the
// clock of that leader, whose log begins later; the record of its follower tells when it led.
func TestEndedAfterTheNextLed(t *testing.T) {
	s := newScript()
	s.add(2, 0, trace.Record{
		Term: 1, Event: "timeout", Leader: 2, Why: []string{"no higher node is alive -> lead term 1"},
	})
	s.add(1, 10, trace.Record{
		Term: 1, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1", Leader: 2,
		Why: []string{"2 leads term 1 -> follow it"},
	})
	why := []string{"asked to resign -> step down, hand over to 4"}
	s.add(2, 1000, trace.Record{Term: 1, Event: "resign", Why: why})
	s.add(2, 1100, trace.Record{
		Term: 2, Event: "receive", From: 4, Msg: "COORDINATOR", MsgID: "4:2", Leader: 4,
		Why: []string{"term 2 is above 1 -> adopt it", "4 leads term 2 -> follow it"},
	})
	s.add(1, 1300, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "link-closed 2, dial-refused 2",
		Why: []string{"leader 2 is gone -> call an election of term 2"},
	})
	s.seq[4] = 7
	s.add(4, 5000, trace.Record{Term: 2, Event: "peers", Alive: []uint64{4}})
	all := s.b.History().Groups[0].Incidents
	if in := all[len(all)-1]; in.Leader != 4 || strings.Contains(in.Why, "ended") {
		t.Errorf("%+v", in)
	}
}

// "It was asked to resign" did not say by whom: by a signal to its process, or by an operator. Nor did "transfer to 2:
// asked by 127.0.0.1, at node 1 through 127.0.0.1" say well who asked whom.
func TestWhoAskedTheLeader(t *testing.T) {
	for _, c := range []struct{ event, detail, want string }{
		{"resign", "hand over to 2: told to stop by SIGTERM", "told to stop by SIGTERM"},
		{"resign", "told to stop by SIGTERM", "told to stop by SIGTERM"},
		{"resign", "hand over to 2", "it was asked to resign"}, // as of former versions
		{"resign", "", "it was asked to resign"},
		{"transfer", "to the best node: told to stop by SIGTERM", "told to stop by SIGTERM"},
		{"transfer", "to the best node: this node resigns", "it was asked to resign"},
		{
			"transfer", "to 2: asked by 127.0.0.1 through node 1 (127.0.0.1)",
			"transfer to node 2, asked by 127.0.0.1 through node 1 (127.0.0.1)",
		},
		{"transfer", "to the best node: asked by 127.0.0.1", "transfer to the best node, asked by 127.0.0.1"},
		{"transfer", "to 2", "transfer to node 2"},
	} {
		s := newScript()
		s.add(3, 0, trace.Record{
			Term: 1, Event: "timeout", Why: []string{"no higher node is alive -> lead term 1"}, Leader: 3,
		})
		s.add(3, 500, trace.Record{
			Term: 1, Event: c.event, Detail: c.detail, Why: []string{"asked to resign -> step down, hand over to 2"},
		})
		s.add(2, 510, trace.Record{
			Term: 2, Event: "receive", From: 3, Msg: "STAND_NOW", Leader: 2,
			Why: []string{"3 asks for a leader of the next term -> take term 2", "asked to lead -> lead term 2"},
		})
		all := s.b.History().Groups[0].Incidents
		if in := all[len(all)-1]; in.Why != "node 3 handed over: "+c.want {
			t.Errorf("%s %q: %q, want %q", c.event, c.detail, in.Why, c.want)
		}
	}
}

// "Node 2 handed over: resigned": it was another node that did, and before. Nor is its record a proof of this change.
func TestHandOverOfAnother(t *testing.T) {
	s := newScript()
	lead := func(node uint64, ms int, term uint64, why ...string) {
		s.add(node, ms, trace.Record{Term: term, Event: "timeout", Why: why, Leader: node})
	}
	lead(3, 0, 1, "no higher node is alive -> lead term 1")
	s.add(3, 500, trace.Record{Term: 1, Event: "resign", Why: []string{"asked to resign -> step down, hand over to 2"}})
	lead(2, 1000, 2, "no higher node is alive -> lead term 2")
	s.add(2, 2000, trace.Record{Term: 2, Event: "timeout", Why: []string{"nobody leads"}})
	lead(1, 2010, 3, "3 asks for a leader of the next term -> take term 3", "asked to lead -> lead term 3")
	all := s.b.History().Groups[0].Incidents
	in := all[len(all)-1]
	others := slices.ContainsFunc(in.Records, func(ref rounds.Ref) bool { return ref.Node == 3 })
	if in.Former != 2 || strings.Contains(in.Why, "handed over") || others || !in.Asked.IsZero() {
		t.Errorf("%+v", in)
	}
}

// "Node 3 handed over: transfer to node 1" was told of a request that had ended an earlier leadership of node 3: the
// log of node 3 ends before the request that ended this one.
func TestARequestOfAnEarlierLeadershipIsNotWhyTheLeaderHandedOver(t *testing.T) {
	s := newScript()
	lead := func(node uint64, ms int, term uint64, why ...string) {
		s.add(node, ms, trace.Record{Term: term, Event: "timeout", Why: why, Leader: node})
	}
	lead(3, 0, 1, "no higher node is alive -> lead term 1")
	s.add(3, 500, trace.Record{
		Term: 1, Event: "transfer", Detail: "to 1: asked by 10.0.0.7",
		Why: []string{"asked to hand over -> step down, hand over to 1"},
	})
	lead(1, 510, 2, "3 asks for a leader of the next term -> take term 2", "asked to lead -> lead term 2")
	lead(3, 1500, 3, "no higher node is alive -> lead term 3")
	lead(2, 2500, 4, "3 asks for a leader of the next term -> take term 4", "asked to lead -> lead term 4")
	all := s.b.History().Groups[0].Incidents
	for i, want := range map[int]string{
		1: "node 3 handed over: transfer to node 1, asked by 10.0.0.7", 3: "node 3 handed over",
	} {
		if in := all[i]; in.Why != want {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "The same process went on, and it was another": no messages compare the clocks, and the node ran two processes.
func TestBackByAClockThatNothingCompares(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		s := newScript()
		s.add(3, 0, trace.Record{
			Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
		})
		s.add(3, 900, trace.Record{Term: 1, Event: "timeout", Leader: 3})
		if restarted {
			s.incarnation, s.seq[3] = "bbbbbbbb", 0
		}
		s.add(3, 950, trace.Record{Term: 1, Event: "timeout", Leader: 3})
		s.add(3, 2200, trace.Record{Term: 1, Event: "timeout", Leader: 3})
		s.incarnation = "aaaaaaaa"
		s.add(1, 5, trace.Record{Term: 1, Event: "peers", Alive: []uint64{1, 3}})
		s.add(1, 1000, trace.Record{
			Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "unreachable 3", Leader: 1,
			Why: []string{"leader 3 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
		})
		all := s.b.History().Groups[0].Rounds
		if back := !all[len(all)-1].Cause.Back.IsZero(); back == restarted {
			t.Errorf("restarted %v: back %v", restarted, back)
		}
	}
}

// "Node 3 had not died: the same process wrote again 30 ms after" its peer had lost it: no messages compare the clocks,
// which may differ by as much as nobody notices, so that it may have written before it was lost.
func TestBackSoonByAClockThatNothingCompares(t *testing.T) {
	for _, evidence := range []string{"link-closed 3, dial-refused 3", "unreachable 3"} {
		for after, want := range map[int]bool{30: false, 1030: true} {
			s := newScript()
			s.add(3, -5, trace.Record{
				Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
			})
			s.add(3, 1000+after, trace.Record{Term: 1, Event: "timeout", Leader: 3})
			s.add(1, 5, trace.Record{Term: 1, Event: "peers", Alive: []uint64{1, 3}})
			s.add(1, 1000, trace.Record{
				Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: evidence, Leader: 1,
				Why: []string{
					"leader 3 is gone -> call an election of term 2", "no higher node is alive -> lead term 2",
				},
			})
			all := s.b.History().Groups[0].Rounds
			if back := !all[len(all)-1].Cause.Back.IsZero(); back != want {
				t.Errorf("%s, wrote %d ms later: back %v", evidence, after, back)
			}
		}
	}
}

// "Node 2 had not died: the same process wrote again", and it was the one after that which had led.
func TestOnlyTheProcessThatLedIsBack(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.exchange(1, 1, -400, -399)
		v.exchange(2, 1, -300, -299)
		v.leadAlone(2, 0, 1)
		v.add(1, 1, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1 -> follow it"}})
		if restarted {
			v.start(2, 900)
		}
		v.add(1, 1000, trace.Record{
			Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "heartbeat-missed 2", Leader: 1,
			Why: []string{"leader 2 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
		})
		v.add(2, 1500, trace.Record{Term: 1, Event: "timeout"})
		all := v.b.History().Groups[0].Rounds
		if c := all[len(all)-1].Cause; c.Lost != 2 || c.Back.IsZero() != restarted {
			t.Errorf("restarted %v: %+v", restarted, c)
		}
	}
}

// "Nobody leads" is what a nominee sees; why it is so stands before that in the same record: the leader's end.
func TestNomineeSawTheEnd(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.grant(1, 3, 1)
	v.grant(2, 3, 1)
	v.elect(3, 1, 1, 2)
	v.add(1, 500, trace.Record{
		Event: "gone", About: 3, Detail: "3 n3life0", Term: 1, Round: 2, LeaderChange: trace.Lost,
		Why: []string{
			"leader 3 is proven dead -> nobody leads",
			"this node is nominated and nobody leads -> ask the voters for term 2",
		},
		Sent: []string{"PRE_VOTE>2#1:5000", "PRE_VOTE>3#1:5001"},
		Reasons: []trace.Reason{
			{},
			{Code: "lease.ask", Args: []trace.Arg{
				{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.nominated"}}, {Number: 2},
			}},
		},
	})
	v.lead(1, 510, 2)
	v.follow(2, 515, 1, 2)
	v.follow(2, 5000, 1, 2)
	all := v.b.History().Groups[0].Rounds
	if c := all[len(all)-1].Cause; c.Kind != rounds.LeaderLost || c.Lost != 3 || c.Evidence != "proven-dead 3" {
		t.Errorf("%+v", c)
	}
}

// "Because a process ended that did not": node 1 followed the next leader already, whose log is cut short, when the
// process of the former one ended. The call of node 4 in the same term came later by the clock of node 1, which tells
// since when the next one led.
func TestCallAfterTheWinByAFollower(t *testing.T) {
	s := newScript()
	follow := func(node uint64, ms int, leader, term uint64) {
		why := fmt.Sprintf("%d leads term %d -> follow it", leader, term)
		s.add(node, ms, trace.Record{Term: term, Event: "receive", Leader: leader, Why: []string{why}})
	}
	s.add(3, 0, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3, 4}})
	s.add(2, 1000, trace.Record{
		Term: 2, Event: "timeout", Why: []string{"no higher node is alive -> lead term 2"}, Leader: 2,
	})
	follow(4, 1001, 2, 2)
	follow(1, 1002, 2, 2)
	follow(1, 1500, 3, 3)
	s.add(4, 2000, trace.Record{
		Term: 3, Event: "peers", Alive: []uint64{1, 3, 4}, Evidence: "link-closed 2, dial-refused 2",
		Why: []string{"leader 2 is gone -> call an election of term 3"},
	})
	all := s.b.History().Groups[0].Incidents
	if in := all[len(all)-1]; in.Leader != 3 || in.Why != "no record says why" {
		t.Errorf("node %d led next: %s", in.Leader, in.Why)
	}
}

// "Node 3 handed over": its lease had ended, and its log is missing. That it released the term, and asked for the next
// leader, it does in either case.
func TestGaveUpTheTerm(t *testing.T) {
	s := newScript()
	add := func(node uint64, ms int, rec trace.Record) {
		rec.Guarantee = "lease"
		s.add(node, ms, rec)
	}
	for _, node := range []uint64{1, 2} {
		add(node, 10, trace.Record{
			Term: 1, Event: "receive", From: 3, Msg: "HEARTBEAT", MsgID: fmt.Sprintf("3:%d", node), Leader: 3,
			Why: []string{"3 leads term 1 -> follow it"},
		})
	}
	add(1, 1000, trace.Record{
		Term: 1, Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:8",
		Why: []string{"3 releases term 1 -> the promise to it is over", "leader 3 released the term -> nobody leads"},
	})
	add(2, 1000, trace.Record{
		Term: 1, Round: 2, Event: "receive", From: 3, Msg: "STAND_NOW", MsgID: "3:9",
		Why: []string{"3 asks for a leader of the next term -> take term 2", "asked to lead -> lead term 2"},
	})
	add(2, 1020, trace.Record{
		Term: 2, Event: "receive", From: 1, Msg: "VOTE", MsgID: "1:9", Leader: 2,
		Why: []string{"a majority voted in term 2 -> lead"},
	})
	all := s.b.History().Groups[0].Incidents
	if in, want := all[len(all)-1], "node 3 gave up term 1"; in.Leader != 2 || in.Why != want {
		t.Errorf("says %q, want %q: %+v", in.Why, want, in)
	}
}

// "The process of node 3 ended" was told to be why node 1 led no more, which had been told to stop, and "leader 3 is
// gone" why it called the last election: node 3 had led once. It was only nominated to lead again. Who calls an
// election while it follows another leader, or leads, has not lost its leader.
func TestANomineeThatLedOnceIsNoLeader(t *testing.T) {
	v := newVoters()
	v.algo = "bully"
	v.elect(3, 1, 1, 2)
	v.lose(1, 5000, "link-closed 3, dial-refused 3", 1, 2)
	v.lead(1, 5100, 2)
	v.follow(2, 5110, 1, 2)
	v.start(3, 6000)
	v.follow(3, 6100, 1, 2)
	v.add(1, 6110, trace.Record{Event: "peers", Term: 2, Leader: 1, Evidence: "joined 3", Alive: []uint64{1, 2, 3}})
	v.add(1, 9000, trace.Record{
		Event: "peers", Term: 2, Round: 3, Leader: 1, Evidence: "left 3", Alive: []uint64{1, 2},
		Why: []string{"leader 3 is gone -> call an election of term 3"},
	})
	v.resign(1, 9010, 2)
	g := v.b.History().Groups[0]
	last := g.Rounds[len(g.Rounds)-1]
	if c := last.Cause; c.Kind != rounds.NomineeLost || c.Lost != 0 || !strings.Contains(c.Text, "nominated, is gone") {
		t.Errorf("cause of term %d: %+v", last.Term, c)
	}
	if in := v.last(); strings.Contains(in.Why, "node 3") {
		t.Errorf("why: %s", in.Why)
	}
}

// "Node 4 had heard of no leader since it started" was told of a node that had followed one until its lease ended: so
// it is only of a process that named none before.
func TestWhoFollowedALeaderHasHeardOfOne(t *testing.T) {
	for anew, want := range map[bool]rounds.CauseKind{true: rounds.FirstLeader, false: rounds.Vacant} {
		v := newVoters()
		v.elect(3, 1, 1, 2)
		v.miss(1, 2000, 3)
		v.expire(3, 2000, 1)
		if anew {
			v.start(1, 2500)
		}
		v.add(1, 3000, trace.Record{
			Event: "timeout", Term: 1, Round: 2, Why: []string{"no leader was heard of -> ask the voters for term 2"},
			Sent: []string{"PRE_VOTE>2#1:20", "PRE_VOTE>3#1:21"},
		})
		g := v.b.History().Groups[0]
		if c := g.Rounds[len(g.Rounds)-1].Cause; c.Kind != want || c.Node != 1 {
			t.Errorf("started anew %v: %+v", anew, c)
		}
	}
}

// "Node 3 outranks node 2 and took over" was told of a change for which an operator asked: node 3 had begun to take
// over four seconds before, in vain. Where nobody asked, it is why.
func TestALeaderThatWasAskedIsNotOutranked(t *testing.T) {
	for asked, want := range map[bool]string{
		true: "node 1 handed over: it was asked to resign", false: "node 2 outranks node 1 and took over",
	} {
		v := newVoters()
		v.algo = "bully"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -180, -170)
		v.elect(1, 1, 2)
		v.add(2, 1000, trace.Record{
			Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1900),
			Why: []string{"this node ranks above leader 1 -> call an election of term 2"},
		})
		v.add(1, 4900, trace.Record{Term: 1, Event: "idle", Leader: 1, Token: 1, ValidUntil: atMS(5900)})
		if asked {
			v.add(1, 5000, trace.Record{
				Term: 1, Event: "transfer", Detail: "to the best node: this node resigns", Leader: 1, Token: 1,
				ValidUntil: atMS(5900), Why: []string{"asked to hand over -> offer it to 2"},
			})
		}
		v.add(1, 5010, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "OFFER_REPLY", LeaderChange: trace.Resigned,
			Why: []string{"2 would take over -> lead term 1 no more"}, Reasons: []trace.Reason{{
				Code: "lease.step-down", Args: []trace.Arg{
					{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.takes-over", Args: []trace.Arg{{Number: 2}}}},
					{Number: 1},
				},
			}},
		})
		v.lead(2, 5020, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("asked %v: %q: %+v", asked, in.Why, in)
		}
	}
}

// "Node 1 handed over: transfer to node 2" was told of a leader that handed over by itself, to a node that had ranked
// above it for long: node 2 had declined the transfer seconds before.
func TestATransferThatFailedIsNotWhyTheLeaderHandedOver(t *testing.T) {
	for declined, want := range map[bool]string{
		true: "node 1 handed over: node 3 would take over", false: "node 1 handed over: transfer to node 3",
	} {
		v := newVoters()
		v.elect(1, 1, 2, 3)
		asked := trace.Record{
			Term: 1, Event: "transfer", Detail: "to 3", Leader: 1, Token: 1, ValidUntil: atMS(2900),
			Why: []string{"asked to hand over -> offer it to 3"},
		}
		if declined {
			asked.Detail = "to 2"
		}
		v.add(1, 2000, asked)
		if declined {
			v.add(1, 2010, trace.Record{
				Term: 1, Event: "receive", From: 2, Msg: "OFFER_REPLY", Leader: 1, Token: 1, ValidUntil: atMS(2900),
				Why: []string{"a transfer to 2: it does not stand for election -> change nothing"},
				Reasons: []trace.Reason{{Code: "lease.no-transfer", Args: []trace.Arg{
					{Is: trace.Words, Words: "2"}, {Is: trace.Words, Words: "it does not stand for election"},
				}}},
			})
		}
		v.add(1, 2800, trace.Record{
			Term: 1, Event: "receive", From: 3, Msg: "OFFER_REPLY", LeaderChange: trace.Resigned,
			Why: []string{"3 would take over -> lead term 1 no more"}, Reasons: []trace.Reason{{
				Code: "lease.step-down", Args: []trace.Arg{
					{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.takes-over", Args: []trace.Arg{{Number: 3}}}},
					{Number: 1},
				},
			}},
		})
		v.ask(3, 2820, 2)
		v.lead(3, 2840, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("declined %v: %q, want %q: %+v", declined, in.Why, want, in)
		}
	}
}

// "The leader handed over: node 1 was asked to lead the next term" was told of nodes that nobody had asked: the leader
// had been told to stop while nobody was there to take over. Nor had it to do with an election that failed later.
func TestWhoStoodAfterAResignationWasNotAsked(t *testing.T) {
	v := newVoters()
	v.elect(1, 1, 2, 3)
	why := "asked to resign -> step down, nobody is there to take over"
	v.add(1, 1000, trace.Record{
		Term: 1, Event: "resign", LeaderChange: trace.Resigned,
		Why: []string{why, "asked to resign -> lead term 1 no more"}, Reasons: []trace.Reason{
			{Code: "nomination.step-down", Args: []trace.Arg{{
				Is: trace.Cause, Reason: &trace.Reason{Code: "nomination.resign"},
			}}},
			{Code: "lease.step-down", Args: []trace.Arg{
				{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.resign"}}, {Number: 1},
			}},
		},
	})
	v.ask(2, 3000, 2)
	v.nominate(2, 4000, 3, "no majority promised in time")
	text := told(t, v.b.History().Groups[0])
	if strings.Contains(text, "the leader handed over") {
		t.Errorf("told that the leader handed over:\n%s", text)
	}
	for _, want := range []string{
		"At 12:00:03.000 node 2 stood: node 1 stopped leading: it was asked to resign [2:2 1:2].",
		"At 12:00:04.000 node 2 gave up on the round before: no majority promised in time [2:3].",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

// "Why the leader changed": "node 2 outranks node 1 and took over" was told of a leader that was cut off. Node 2 had
// tried to take over long before, in vain. "The lease ended" tells why only if nobody saw what came before.
func TestALeaderWhoseLeaseEndedWasNotOutranked(t *testing.T) {
	for silent, want := range map[bool]string{
		true: "node 1 stopped answering (no answer to heartbeats)", false: "the lease of node 1 ended",
	} {
		v := newVoters()
		v.algo = "bully"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -180, -170)
		v.elect(1, 1, 2)
		v.add(2, 900, trace.Record{
			Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1900),
			Why: []string{"this node ranks above leader 1 -> call an election of term 2"},
		})
		if silent {
			v.lose(2, 950, "heartbeat-missed 1", 2, 3)
		}
		v.expire(1, 1000, 1)
		v.lead(2, 1600, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("silent %v: %q, want %q: %+v", silent, in.Why, want, in)
		}
	}
}

// "Node 2 outranks node 1 and took over" was told of a leader that was frozen until its lease had ended, so that only
// the others tell that: node 2 had called the election two seconds before, in vain.
func TestALeaderThatFrozeWasNotOutranked(t *testing.T) {
	v := newVoters()
	v.algo, v.level = "bully", "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.exchange(3, 1, -160, -150)
	v.elect(1, 1, 2, 3)
	v.add(2, 1000, trace.Record{
		Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1900),
		Why: []string{"this node ranks above leader 1 -> call an election of term 2"},
	})
	for _, node := range []uint64{2, 3} {
		v.add(node, 3300, trace.Record{
			Term: 1, Event: "peers", Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 1, Token: 1,
			ValidUntil: atMS(3700),
		})
	}
	v.miss(3, 3700, 1)
	v.miss(2, 3710, 1)
	v.lead(2, 3980, 2)
	v.follow(3, 3990, 2, 2)
	if in := v.last(); in.Why != "node 1 stopped answering (no answer to heartbeats)" {
		t.Errorf("%q: %+v", in.Why, in)
	}
}

// "Node 2 outranks node 1 and took over" was told of a leader whose records end: under a lease it leads on until it
// hands over, and it may have ended instead. Where its next process began, it had.
func TestALeaderOfWhichNoRecordTellsTheEndMayNotHaveHandedOver(t *testing.T) {
	for again, want := range map[bool]string{
		true: "the process of node 1 had ended by then", false: "node 2 outranks node 1 and began to take over",
	} {
		v := newVoters()
		v.algo, v.level = "bully", "info"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -180, -170)
		v.elect(1, 1, 2)
		v.add(2, 1000, trace.Record{
			Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1900),
			Why: []string{"this node ranks above leader 1 -> call an election of term 2"},
		})
		if again {
			v.start(1, 1500)
		}
		v.lead(2, 1600, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("again %v: %q, want %q: %+v", again, in.Why, want, in)
		}
	}
}

// "Node 2 outranks node 1 and took over" was told of a node that said only that it ranks above node 3, which was
// nominated and never led: how the leadership of node 1 ended tells why.
func TestWhoOutranksANomineeNeedNotOutrankTheLeader(t *testing.T) {
	for below, want := range map[uint64]string{1: "node 2 outranks node 1 and took over", 3: "node 1 stopped leading"} {
		v := newVoters()
		v.algo = "bully"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -180, -170)
		v.elect(1, 1, 2)
		v.add(2, 800, trace.Record{
			Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1000),
			Why: []string{fmt.Sprintf("this node ranks above leader %d -> call an election of term 2", below)},
		})
		v.add(1, 810, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "OFFER_REPLY", LeaderChange: trace.Resigned,
			Why: []string{"lead term 1 no more"},
		})
		v.lead(2, 820, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("above %d: %q, want %q: %+v", below, in.Why, want, in)
		}
	}
}

// "At 12:00:00.500 node 3, which outranks node 2, began to take over" was told of a node that began to as node 1 led,
// which handed over to node 2 then. If it asked the voters later, as nobody led, its round began with that: the line of
// term 3 told of a time before that of term 2.
func TestWhoBeganToTakeOverOutranksWhoLedThen(t *testing.T) {
	for asked, wants := range map[bool][]string{
		false: {"At 12:00:00.500 (the first sign of term 3) node 3, which outranks node 1, began to take over [3:2]."},
		true:  {"At 12:00:02.400 (the first sign of term 3) node 3 stood", " 3 12:00:02.400 3 "},
	} {
		v := newVoters()
		v.algo = "bully"
		v.elect(1, 1, 2, 3)
		v.add(3, 500, trace.Record{
			Term: 1, Round: 3, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1000),
			Why: []string{"this node ranks above leader 1 -> call an election of term 3"},
			Reasons: []trace.Reason{{Code: "nomination.call", Args: []trace.Arg{
				{Is: trace.Cause, Reason: &trace.Reason{Code: "nomination.preempt", Args: []trace.Arg{{Number: 1}}}},
				{Number: 3},
			}}},
		})
		v.lead(2, 900, 2)
		v.follow(3, 910, 2, 2)
		if asked {
			v.ask(3, 2400, 3)
		}
		v.lead(3, 2500, 3)
		text := told(t, v.b.History().Groups[0])
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("asked %v: want %q in\n%s", asked, want, text)
			}
		}
	}
}

// "Node 1 stopped answering (no answer to heartbeats)" was told of a leader that had answered again, and led on until
// it was told to stop.
func TestALeaderThatWasAskedDidNotStopAnswering(t *testing.T) {
	for asked, want := range map[bool]string{
		true:  "node 1 handed over: it was asked to resign",
		false: "node 1 stopped answering (no answer to heartbeats)",
	} {
		v := newVoters()
		v.algo = "bully"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -180, -170)
		v.elect(1, 1, 2, 3)
		v.add(2, 1000, trace.Record{
			Event: "peers", Term: 1, Round: 2, Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 1,
			Token: 1, ValidUntil: atMS(1900), Why: []string{"leader 1 is gone -> call an election of term 2"},
		})
		v.add(2, 1060, trace.Record{
			Event: "peers", Term: 1, Round: 2, Evidence: "heartbeat-back 1", Alive: []uint64{1, 2, 3}, Leader: 1,
			Token: 1, ValidUntil: atMS(1900),
		})
		if asked {
			v.add(1, 1600, trace.Record{
				Term: 1, Event: "transfer", Detail: "to the best node: this node resigns", Leader: 1, Token: 1,
				ValidUntil: atMS(2500), Why: []string{"asked to hand over -> offer it to 2"},
			})
			v.add(1, 1610, trace.Record{
				Term: 1, Event: "receive", From: 2, Msg: "OFFER_REPLY", LeaderChange: trace.Resigned,
				Why: []string{"2 would take over -> lead term 1 no more"}, Reasons: []trace.Reason{{
					Code: "lease.step-down", Args: []trace.Arg{
						{Is: trace.Cause, Reason: &trace.Reason{
							Code: "lease.takes-over", Args: []trace.Arg{{Number: 2}},
						}},
						{Number: 1},
					},
				}},
			})
		}
		v.lead(2, 1620, 2)
		g := v.b.History().Groups[0]
		if in := g.Incidents[len(g.Incidents)-1]; in.Why != want {
			t.Errorf("asked %v: %q: %+v", asked, in.Why, in)
		}
		if text := told(t, g); asked && strings.Contains(text, "leader 1 is gone") {
			t.Errorf("the list tells of another cause:\n%s", text)
		}
	}
}

// "Node 1 stopped answering" was told of a leader that one node had lost seconds before: it led on, and handed over by
// itself to one that had ranked above it for long.
func TestALeaderThatHandedOverByItselfDidNotStopAnswering(t *testing.T) {
	v := newVoters()
	v.algo = "zookeeper"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.elect(1, 1, 2, 3)
	v.add(2, 1000, trace.Record{
		Event: "peers", Term: 1, Round: 2, Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 1,
		Token: 1, ValidUntil: atMS(1900), Why: []string{"leader 1 is gone -> call an election of term 2"},
	})
	v.add(1, 1100, trace.Record{Term: 1, Event: "receive", From: 3, Leader: 1, Token: 1, ValidUntil: atMS(5900)})
	v.add(1, 5000, trace.Record{
		Event: "receive", From: 3, Msg: "OFFER_REPLY", LeaderChange: trace.Deposed,
		Why: []string{"3 would take over -> lead term 1 no more"}, Reasons: []trace.Reason{{
			Code: "lease.step-down", Args: []trace.Arg{
				{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.takes-over", Args: []trace.Arg{{Number: 3}}}},
				{Number: 1},
			},
		}},
	})
	v.lead(3, 5010, 2)
	const want = "node 1 handed over: node 3 would take over"
	if in := v.last(); in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
	if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// "Node 1 handed over: it was asked to resign" is not why the leader changed if it was frozen when it was asked, and
// another one led when it went on.
func TestALeaderThatWasAskedTooLateStoppedAnswering(t *testing.T) {
	v := newVoters()
	v.algo, v.level = "bully", "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.exchange(3, 1, -160, -150)
	v.elect(1, 1, 2, 3)
	v.add(2, 700, trace.Record{
		Event: "peers", Term: 1, Round: 2, Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 1, Token: 1,
		ValidUntil: atMS(990), Why: []string{"leader 1 is gone -> call an election of term 2"},
	})
	v.miss(3, 1000, 1)
	v.miss(2, 1010, 1)
	v.lead(2, 1280, 2)
	v.follow(3, 1290, 2, 2)
	v.add(1, 3000, trace.Record{
		Term: 1, Event: "transfer", Detail: "to the best node: this node resigns", Leader: 1, Token: 1,
		ValidUntil: atMS(990), Why: []string{"asked to hand over -> offer it to 2"},
	})
	v.add(1, 3010, trace.Record{
		Term: 1, Event: "resign", LeaderChange: trace.Resigned,
		Why: []string{"asked to resign -> lead term 1 no more"}, Reasons: []trace.Reason{{
			Code: "lease.step-down", Args: []trace.Arg{
				{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.resign"}}, {Number: 1},
			},
		}},
	})
	if in := v.last(); in.Why != "node 1 stopped answering (no answer to heartbeats)" {
		t.Errorf("%q: %+v", in.Why, in)
	}
}

// "At 12:00:02.000 node 1 noticed that the leader, node 3, was gone": node 1 had led since, by its own word. Node 3 had
// been nominated again.
func TestAFormerLeaderThatIsGoneIsNotTheLeader(t *testing.T) {
	v := newVoters()
	v.algo = "bully"
	v.elect(3, 1, 1, 2)
	v.expire(3, 500, 1)
	v.lead(1, 600, 2)
	v.expire(1, 1600, 2)
	v.add(1, 2000, trace.Record{
		Event: "peers", Term: 2, Round: 3, Evidence: "link-reset 3, dial-refused 3", Alive: []uint64{1, 2},
		Why: []string{"leader 3 is gone -> call an election of term 3"},
	})
	text := told(t, v.b.History().Groups[0])
	want := "At 12:00:02.000 node 1 called again: node 3, which was nominated, is gone [1:4]."
	if !strings.Contains(text, want) {
		t.Errorf("want %q in:\n%s", want, text)
	}
	if in := v.last(); strings.Contains(in.Why, "node 3") {
		t.Errorf("why: %s", in.Why)
	}
}

// "Node 2 stood, as nobody led: no leader was heard of", and "node 1, which outranks the leader, began to take over":
// node 2 followed node 1 by the same record, and node 1 led.
func TestWhoAsksForAnotherNomineeWhileSomebodyLeads(t *testing.T) {
	for why, c := range map[string]struct {
		node uint64
		want string
	}{
		"no leader was heard of": {
			2, "At 12:00:00.500 node 2 asked for another nominee: no leader was heard of, though it followed node 1 " +
				"[2:2].",
		},
		"this node ranks above leader 2": {
			1, "At 12:00:00.500 node 1 asked for another nominee: node 2, which was nominated, ranks below it [1:2].",
		},
	} {
		v := newVoters()
		v.algo = "bully"
		v.elect(1, 1, 2, 3)
		v.add(c.node, 500, trace.Record{
			Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(990),
			Why: []string{why + " -> call an election of term 2"},
		})
		if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, c.want) {
			t.Errorf("want %q in:\n%s", c.want, text)
		}
	}
}

// "The process of node 3 ended" was told of the time since its lease had ended, by its own word, two seconds before.
func TestALeaseThatEndedBeforeTheProcessIsTheCause(t *testing.T) {
	v := newVoters()
	v.algo = "bully"
	v.exchange(1, 1, -200, -190)
	v.elect(2, 1, 1, 3)
	v.miss(1, 1000, 2)
	v.expire(2, 1000, 1)
	v.add(1, 3000, trace.Record{
		Event: "peers", Term: 1, Round: 2, Evidence: "link-reset 2, dial-refused 2", Alive: []uint64{1, 3},
		Why: []string{"leader 2 is gone -> call an election of term 2"},
	})
	v.lead(1, 3100, 2)
	if in := v.last(); in.Why != "the lease of node 2 ended" {
		t.Errorf("%q: %+v", in.Why, in)
	}
}

// "Why the leader changed": the list told only that "node 2 is nominated and nobody leads".
func TestTheListTellsWhatEndedTheLeadershipBefore(t *testing.T) {
	v := newVoters()
	v.elect(1, 1, 2, 3)
	v.expire(1, 1000, 1)
	v.ask(2, 1500, 2)
	v.lead(2, 1600, 2)
	text := told(t, v.b.History().Groups[0])
	if want := "600 ms the lease of node 1 ended [2:3 1:2 2:2]"; !strings.Contains(text, want) {
		t.Errorf("want %q in:\n%s", want, text)
	}
}

// "No leader was known" was told of a cluster all of whose processes had been killed and started again: that the
// process of the leader had ended is why.
func TestAfterARestartOfAllTheEndOfTheProcessIsTheCause(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(1, 1, 2, 3)
	for node := uint64(1); node <= 3; node++ {
		v.start(node, 5000)
	}
	v.add(1, 6000, trace.Record{
		Event: "timeout", Term: 1, Round: 2, Why: []string{"no leader was heard of -> ask the voters for term 2"},
		Sent: []string{"PRE_VOTE>2#1:20", "PRE_VOTE>3#1:21"},
	})
	v.lead(1, 6100, 2)
	text, want := told(t, v.b.History().Groups[0]), "the process of node 1 had ended by then ["
	if strings.Count(text, want) < 2 || strings.Contains(text, "no leader was known") {
		t.Errorf("want %q in:\n%s", want, text)
	}
}

// "Nodes 1 and 2 had evidence of their own within 8 s" was told of a call in vain: node 2 had seen the leader again
// seconds before the others lost it, which is why the next term was called.
func TestEvidenceOfALaterLossIsNoneOfTheOneBefore(t *testing.T) {
	v := newVoters()
	v.algo = "bully"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	gone := func(node uint64, ms int, term uint64, alive ...uint64) {
		v.add(node, ms, trace.Record{
			Event: "peers", Term: 1, Round: term, Evidence: "heartbeat-missed 3", Alive: alive, Leader: 3,
			Token: 1, ValidUntil: atMS(ms + 900),
			Why: []string{fmt.Sprintf("leader 3 is gone -> call an election of term %d", term)},
		})
	}
	gone(2, 1000, 2, 1, 2)
	v.add(2, 4000, trace.Record{
		Event: "peers", Term: 1, Round: 2, Evidence: "heartbeat-back 3", Alive: []uint64{1, 2, 3}, Leader: 3, Token: 1,
		ValidUntil: atMS(4900),
	})
	gone(1, 9000, 3, 1, 2)
	v.expire(3, 10000, 1)
	v.lead(1, 10100, 3)
	text := told(t, v.b.History().Groups[0])
	if !strings.Contains(text, "node 2 took the leader, node 3, for gone") || strings.Contains(text, "of its own") {
		t.Error(text)
	}
}

// "Because: no better node called an election, though it followed node 1" was told of a leader that hung two seconds
// later: a node that had just started had asked for another nominee, whose term brought the next leader.
func TestWhoAskedForAnotherNomineeDidNotEndTheLeadership(t *testing.T) {
	v := newVoters()
	v.algo, v.level = "bully", "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.elect(1, 1, 2, 3)
	v.add(3, 700, trace.Record{
		Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1600),
		Why: []string{"no better node called an election -> call an election of term 2"},
	})
	for _, node := range []uint64{2, 3} {
		v.add(node, 3300, trace.Record{
			Term: 1, Event: "peers", Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 1, Token: 1,
			ValidUntil: atMS(3700),
		})
	}
	v.miss(3, 3700, 1)
	v.miss(2, 3710, 1)
	v.lead(2, 3980, 2)
	v.follow(3, 3990, 2, 2)
	const want, wrong = "node 1 stopped answering (no answer to heartbeats)", "though it followed node 1 (node 3)"
	if in, text := v.last(), told(t, v.b.History().Groups[0]); in.Why != want || strings.Contains(text, wrong) {
		t.Errorf("%q: %q in\n%s", in.Why, wrong, text)
	}
}

// "Node 2 outranks node 1 and took over" became "node 1 handed over", and the round began later, when node 1 had led
// again and died: node 2 had not followed it from its call until that death.
func TestALaterDeathTellsNothingOfAnEarlierCall(t *testing.T) {
	var told []rounds.Cause
	for _, died := range []bool{false, true} {
		v := newVoters()
		v.algo = "bully"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -180, -170)
		v.elect(1, 1, 2)
		v.add(2, 700, trace.Record{
			Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1600),
			Why: []string{"this node ranks above leader 1 -> call an election of term 2"},
		})
		v.resign(1, 1200, 1)
		v.ask(2, 1210, 2)
		v.lead(2, 1220, 2)
		v.follow(1, 1230, 2, 2)
		v.resign(2, 2000, 2)
		v.lead(1, 2010, 3)
		v.follow(2, 2020, 1, 3)
		if former := uint64(1); died {
			v.add(2, 3000, trace.Record{
				Term: 3, Event: "peers", Evidence: "link-closed 1, dial-refused 1", Alive: []uint64{2},
				LeaderChange: trace.Lost, PrevLeader: &former,
				Why: []string{"leader 1 is proven dead -> nobody leads"},
			})
		}
		told = append(told, v.b.History().Groups[0].Rounds[1].Cause)
	}
	if told[0].Text != told[1].Text || !told[0].At.Equal(told[1].At) {
		t.Errorf("%+v, and after the death %+v", told[0], told[1])
	}
}

// "Node 2 outranks node 1 and took over" was told of a leader that had crashed while it did: no record tells how it
// ended, under a lease.
func TestALeaderThatNobodySawStopMayHaveCrashed(t *testing.T) {
	v := newVoters()
	v.algo, v.level = "bully", "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.elect(1, 1, 2, 3)
	v.add(2, 700, trace.Record{
		Term: 1, Round: 2, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(1600),
		Why: []string{"this node ranks above leader 1 -> call an election of term 2"},
	})
	v.lead(2, 1700, 2)
	const want = "node 2 outranks node 1 and began to take over"
	if in := v.last(); in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}
