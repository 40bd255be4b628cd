package rounds_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// lead writes that a node heard of no leader, and leads a term at once.
func (s *script) lead(node uint64, ms int, term uint64) {
	s.add(node, ms, trace.Record{Term: term, Event: "timeout", Leader: node, Why: []string{
		fmt.Sprintf("no leader was heard of -> call an election of term %d", term),
		fmt.Sprintf("no higher node is alive -> lead term %d", term),
	}})
}

// "Two nodes led the same term": one after the other is no finding where no voters decide, if the second one was dead
// when the first ceased to lead. Where no record tells when its process began, it may have run.
func TestLeadersOfOneTermInSuccession(t *testing.T) {
	for name, c := range map[string]struct{ dead, ran, started, found bool }{
		"it may have run all the while":            {false, false, false, true},
		"it was dead before, and may have run":     {true, false, false, true},
		"it was dead, and its process began later": {true, false, true, false},
		"it ran, and its next process began later": {false, true, true, true},
	} {
		s := newScript()
		s.add(2, 0, trace.Record{Event: "peers", Alive: []uint64{2, 3}})
		s.lead(3, 10, 4)
		if c.dead {
			s.add(3, 100, trace.Record{
				Term: 4, Event: "peers", Alive: []uint64{3}, Evidence: "link-closed 2, dial-refused 2", Leader: 3,
			})
		}
		s.add(3, 3000, trace.Record{Term: 4, Event: "resign", Why: []string{"asked to resign -> step down"}})
		if c.ran {
			s.add(2, 3500, trace.Record{Event: "timeout"})
		}
		s.incarnation = "bbbbbbbb"
		s.seq[2] = 0
		if c.started {
			s.add(2, 4000, trace.Record{Event: "start"})
		}
		s.lead(2, 5000, 4)
		found := names(s.b.History().Groups[0].Findings)
		if slices.Contains(found, rounds.TwoLeaders) != c.found {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// Two nodes led the same term, and no finding told of it: the first leader may have been killed at any time since its
// last record, and so while the second node ran.
func TestLeadersOfOneTermOfWhichTheFirstWasKilled(t *testing.T) {
	for wrote, found := range map[int]bool{1000: true, 3000: false} { // the first leader, in ms
		s := newScript()
		s.add(1, 0, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		s.add(2, 0, trace.Record{Event: "start"})
		s.lead(3, 10, 4)
		s.add(3, wrote, trace.Record{Term: 4, Event: "peers", Alive: []uint64{3}, Leader: 3})
		s.add(1, 2000, trace.Record{Event: "peers", Alive: []uint64{1}, Evidence: "link-closed 2, dial-refused 2"})
		s.incarnation, s.seq[2], s.seq[3] = "bbbbbbbb", 0, 0
		s.add(3, 4000, trace.Record{Event: "start"})
		s.add(2, 5000, trace.Record{Event: "start"})
		s.lead(2, 6000, 4)
		text := ""
		for _, f := range s.b.History().Groups[0].Findings {
			if f.Name == rounds.TwoLeaders {
				text = f.Text
			}
		}
		const unsure = "It is no fault if one of them was dead when the other ceased to lead."
		if (text != "") != found || found && !strings.Contains(text, unsure) {
			t.Errorf("the last record after %d ms: %q", wrote, text)
		}
	}
}

// "Two nodes led the same term": nodes 1 and 2 did, which both began after the first leader of the term had ceased.
func TestTwoLeadersAfterTheFirst(t *testing.T) {
	s := newScript()
	s.lead(3, 10, 4)
	s.add(3, 3000, trace.Record{Term: 4, Event: "resign", Why: []string{"asked to resign -> step down"}})
	for node := uint64(1); node <= 2; node++ {
		s.add(node, 4000, trace.Record{Event: "start"})
		s.lead(node, 5000+int(node), 4)
	}
	s.add(3, 6000, trace.Record{Term: 4, Event: "peers", Alive: []uint64{1, 2, 3}})
	if found := names(s.b.History().Groups[0].Findings); !slices.Contains(found, rounds.TwoLeaders) {
		t.Errorf("found %v", found)
	}
}

// Of two leaders of one term, no record of an end being there of either, the one counts of which a later record tells:
// a leader that was killed alone, and that another replaced in its own term, was the former one of all later changes.
func TestTheLaterLeaderOfATermIsReplaced(t *testing.T) {
	s := newScript()
	s.lead(3, 10, 1)
	s.lead(1, 5000, 1)
	s.add(2, 5001, trace.Record{Term: 1, Event: "receive", Leader: 1, Why: []string{"1 leads term 1 -> follow it"}})
	s.add(2, 9000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{2}, Evidence: "link-closed 1, dial-refused 1", Leader: 2,
		Why: []string{"leader 1 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	all := s.b.History().Groups[0].Incidents
	in := all[len(all)-1]
	if in.Former != 1 || in.Leader != 2 || in.Ended.Kind != rounds.EndedByProcess || !in.From.Equal(atMS(9000)) {
		t.Errorf("node %d ended by %s at %v, before node %d", in.Former, in.Ended.Kind, in.From, in.Leader)
	}
}

// "Nobody led for 0 ms": a leader that was frozen, without a lease, was silent to the others before they lost it.
func TestALostLeaderWasSilentBefore(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
	})
	s.add(2, 1, trace.Record{Term: 1, Event: "receive", Leader: 3, Why: []string{"3 leads term 1 -> follow it"}})
	s.add(2, 5000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{2}, Evidence: "heartbeat-missed 3", Leader: 2,
		Why: []string{"leader 3 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	list := told(t, s.b.History().Groups[0])
	for _, want := range []string{
		"For how long nobody led after 1 leadership is not known.",
		" ? leader 3 is gone: no answer to heartbeats (node 2 first)",
		"Node 2 led as soon as node 3 was lost to others [peers saw: 2:2].",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("want %q in\n%s", want, list)
		}
	}
}

// "Nobody led for 0 ms in all" was told beside "Node 2 led until then at the latest, since its process had ended by
// then": what a peer saw of an end does not tell when that was. It is exact where the leader wrote that it led on.
func TestALostLeaderHadEndedBefore(t *testing.T) {
	const unknown = "For how long nobody led after 1 leadership is not known."
	const exact = "Nobody led for 0 ms in all, after 1 leadership."
	for _, evidence := range []string{"link-closed 2, dial-refused 2", "link-closed 2, other-incarnation 2"} {
		for wrote, want := range map[bool]string{false: unknown, true: exact} {
			v := newVoters()
			v.algo, v.guarantee = "bully", "best-effort"
			v.exchange(1, 1, -200, -190)
			v.exchange(2, 1, -100, -90)
			v.leadAlone(2, 0, 1)
			v.add(1, 1, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1"}})
			lead := trace.Record{
				Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: evidence, Leader: 1,
				Why: []string{"leader 2 is gone -> call an election of term 2", "no one is above -> lead term 2"},
			}
			if wrote {
				lead.Event, lead.Alive, lead.Evidence, lead.Why = "timeout", nil, "", lead.Why[1:]
				v.add(1, 4000, lead)
				v.add(2, 4500, trace.Record{Term: 1, Event: "timeout", Leader: 2})
				lead.Event, lead.Alive, lead.Evidence, lead.Why = "peers", []uint64{1}, evidence, nil
			}
			v.add(1, 5000, lead)
			if list := told(t, v.b.History().Groups[0]); !strings.Contains(list, want) {
				t.Errorf("%s, wrote %v: want %q in\n%s", evidence, wrote, want, list)
			}
		}
	}
}

// "Node 2 led until 12:00:08.000 at the latest, by its own word", and it had been frozen: without a lease, a leader
// that is silent to the others leads nobody, whatever it believes until it hears of the next one. "0 ms" was said of
// one that was frozen for a second, and woke just as the next one led. For one that wrote on, its own word counts.
func TestAFrozenLeaderLedNobody(t *testing.T) {
	const wroteOn = 5101
	for woke, want := range map[int][]string{
		8000: {
			"For how long nobody led after 1 leadership is not known.",
			" ? leader 2 is gone: no answer to heartbeats (node 1 first)",
			"Node 1 led as soon as node 2 was lost to others [peers saw: 1:4].",
			"the same process wrote again 3 s after",
		},
		5100: {
			"For how long nobody led after 1 leadership is not known.",
			" ? leader 2 is gone: no answer to heartbeats (node 1 first)",
			"Node 2 led until 12:00:05.100 at the latest, by its own word",
		},
		wroteOn: {
			"Nobody led for 0 ms in all, after 1 leadership.",
			"Node 2 led until 12:00:05.101 at the latest, by its own word",
		},
	} {
		v := ledByNode2("bully")
		for ms := 500; woke == wroteOn && ms < woke; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout", Leader: 2})
		}
		v.add(1, 5000, trace.Record{
			Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "heartbeat-missed 2", Leader: 1,
			Why: []string{"leader 2 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
		})
		v.add(2, woke, trace.Record{Term: 2, Event: "receive", Leader: 1, Why: []string{"1 leads term 2 -> follow it"}})
		list := told(t, v.b.History().Groups[0])
		for _, want := range want {
			if !strings.Contains(list, want) {
				t.Errorf("woke at %d ms: want %q in\n%s", woke, want, list)
			}
		}
	}
}

// "0 ms" was said of a leader that was frozen for 0.4 s only: it wrote nothing from when it was lost until the next one
// led.
func TestALeaderFrozenForAMomentLedNobody(t *testing.T) {
	for wrote, want := range map[int]string{
		4800: "For how long nobody led after 1 leadership is not known.",
		5010: "Nobody led for 0 ms in all, after 1 leadership.",
	} {
		v := ledByNode2("bully")
		for ms := 400; ms < 5000; ms += 400 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout", Leader: 2})
		}
		v.add(1, 5000, trace.Record{
			Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "heartbeat-missed 2",
			Why: []string{"leader 2 is gone -> call an election of term 2"},
		})
		v.add(1, 5020, trace.Record{
			Term: 2, Event: "timeout", Leader: 1, Why: []string{"no higher node is alive -> lead term 2"},
		})
		if wrote > 4800 {
			v.add(2, wrote, trace.Record{Term: 1, Event: "timeout", Leader: 2})
		}
		v.add(2, 5200, trace.Record{Term: 1, Event: "timeout", Leader: 2})
		v.add(2, 5201, trace.Record{Term: 2, Event: "receive", Leader: 1, Why: []string{"1 leads term 2 -> follow it"}})
		if list := told(t, v.b.History().Groups[0]); !strings.Contains(list, want) {
			t.Errorf("wrote at %d ms: want %q in\n%s", wrote, want, list)
		}
	}
}

// ledByNode2 returns records of nodes 1 and 2 of a best-effort algorithm, whose clocks messages compare: node 2 leads
// term 1, and node 1 follows it.
func ledByNode2(algo string) *voters {
	v := newVoters()
	v.algo, v.guarantee = algo, "best-effort"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -100, -90)
	v.leadAlone(2, 0, 1)
	v.add(1, 1, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1 -> follow it"}})
	return v
}

// "The leader led on for 3.1 s" was said of one that was frozen then, where the next leader won no sooner than in the
// second election.
func TestAFrozenLeaderDidNotLeadOn(t *testing.T) {
	v := ledByNode2("ring")
	v.add(1, 5000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "heartbeat-missed 2",
		Why: []string{"leader 2 is gone -> call an election of term 2"},
	})
	v.add(1, 5400, trace.Record{Term: 3, Event: "timeout", Leader: 1, Why: []string{
		"no ELECTED came in two trips round -> call an election of term 3", "alone on the ring -> lead term 3",
	}})
	v.add(2, 8500, trace.Record{Term: 3, Event: "receive", Leader: 1, Why: []string{"1 leads term 3 -> follow it"}})
	text := told(t, v.b.History().Groups[0])
	if want := "Nobody led for at least 400 ms, from 12:00:05.000"; !strings.Contains(text, want) ||
		strings.Contains(text, "led on for") {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// "The time: the leader led on for 1.00 ms, elect 0 ms, announce 1.00 ms" was said of a leader that heard of the next
// one while that announced itself, beside no finding that two led at once.
func TestALeaderThatHearsOfTheNextDidNotLeadOn(t *testing.T) {
	v := ledByNode2("bully")
	v.exchange(3, 2, -80, -70)
	why := "this node ranks above leader 2 -> call an election of term 2"
	v.add(3, 5000, trace.Record{Term: 2, Event: "peers", Alive: []uint64{1, 2, 3}, Leader: 3, Why: []string{
		why, "no higher node is alive -> lead term 2",
	}, Sent: []string{"COORDINATOR>1#3:7", "COORDINATOR>2#3:8"}})
	for node := uint64(1); node <= 2; node++ {
		v.add(node, 5001, trace.Record{
			Term: 2, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: fmt.Sprint("3:", 6+node), Leader: 3,
			Why: []string{"3 leads term 2 -> follow it"},
		})
	}
	text := told(t, v.b.History().Groups[0])
	if want := "The time: elect 0 ms, announce 1.00 ms."; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// "The leader led on" was said of one that was frozen, since the node that had lost it saw it again just before it
// wrote by itself that it led no more. "Nodes 1 and 3 had evidence of their own within 4 s" was said of a second loss.
func TestAFrozenLeaderThatWasSeenAgainDidNotLeadOn(t *testing.T) {
	v := ledByNode2("ring")
	v.add(1, 2, trace.Record{Term: 1, Event: "peers", Leader: 2, Alive: []uint64{1, 2, 3}})
	v.add(3, 3, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1 -> follow it"}})
	v.add(1, 5000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1, 3}, Evidence: "heartbeat-missed 2",
		Why: []string{"leader 2 is gone -> call an election of term 2"},
	})
	v.add(1, 5400, trace.Record{Term: 3, Event: "timeout", Leader: 1, Why: []string{
		"no ELECTED came in two trips round -> call an election of term 3", "alone on the ring -> lead term 3",
	}})
	v.add(1, 8499, trace.Record{Term: 3, Event: "peers", Leader: 1, Alive: []uint64{1, 2, 3}})
	v.add(2, 8500, trace.Record{Term: 3, Event: "receive", Leader: 1, Why: []string{"1 leads term 3 -> follow it"}})
	v.add(3, 8501, trace.Record{Term: 3, Event: "receive", Leader: 1, Why: []string{"1 leads term 3 -> follow it"}})
	v.add(3, 9000, trace.Record{
		Term: 3, Event: "peers", Leader: 1, Alive: []uint64{1, 3}, Evidence: "link-closed 2, dial-refused 2",
	})
	text := told(t, v.b.History().Groups[0])
	for _, want := range []string{"Nobody led for at least 400 ms, from 12:00:05.000", " 2-3 12:00:05.000 1 "} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "evidence of its own within 4 s") {
		t.Errorf("%s", text)
	}
}

// ELECT of a line about two terms said 400 ms, and `explain` of the last one 0 ms. "≥0" under SENT told nothing.
func TestALineAboutSeveralTermsCountsTheLast(t *testing.T) {
	v := ledByNode2("ring")
	v.level = "info"
	v.add(1, 5000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1, 3}, Evidence: "link-closed 2, dial-refused 2",
		Why: []string{"leader 2 is gone -> call an election of term 2"},
	})
	v.add(1, 5400, trace.Record{Term: 3, Event: "timeout", Leader: 1, Why: []string{
		"no ELECTED came in two trips round -> call an election of term 3", "alone on the ring -> lead term 3",
	}})
	v.add(3, 5401, trace.Record{Term: 3, Event: "receive", Leader: 1, Why: []string{"1 leads term 3 -> follow it"}})
	text := told(t, v.b.History().Groups[0])
	for _, want := range []string{
		" 2-3 12:00:05.000 1 1 of 1 - - 0 ms 1.00 ms 400 ms ", "The time: elect 0 ms, announce 1.00 ms.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// "Nobody leads, as far as the records go. But node 3 leads term 3, by the last record of node 3. The logs end 0 ms
// later, without a later term": the list said that node 3 led perhaps. And "the longest 100 ms" was said where another
// change of unknown length was four seconds long.
func TestWhoLeadsPerhapsDoesSoToWhyNot(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(2, 0, 1)
	v.add(1, 1, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1 -> follow it"}})
	v.add(1, 1000, trace.Record{
		Term: 1, Event: "peers", Alive: []uint64{1, 3}, Evidence: "link-closed 2, dial-refused 2",
		Why: []string{"leader 2 is gone -> call an election of term 2"},
	})
	v.leadAlone(3, 1100, 3)
	v.start(1, 5000)
	v.leadAlone(1, 5100, 5)
	v.add(1, 6000, trace.Record{
		Term: 5, Event: "resign", LeaderChange: trace.Resigned, Why: []string{"asked to resign -> step down"},
	})
	g := v.b.History().Groups[0]
	var out bytes.Buffer
	if err := report.WhyNot(&out, g, 2); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	want := "Perhaps node 3 leads term 3 still since 12:00:01.100: no record says that it stopped, and node 1, " +
		"which led term 5 after it, leads no more [3:1 1:3]."
	if !strings.HasPrefix(text, want) || strings.Contains(text, "later") {
		t.Errorf("want %q in: %s", want, text)
	}
	if list := told(t, g); !strings.Contains(list, "; the longest known 100 ms from ") {
		t.Errorf("%s", list)
	}
}

// "Node 1, which led term 2 after it, leads no more" was said of one that had led before it: the log of node 3, which
// leads, is missing. And "node 2 had evidence of its own within 5 s" was said of a later loss.
func TestOfALeaderWithoutALogOnlyWhatCameLaterIsAfterIt(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	for _, node := range []uint64{1, 2} {
		v.exchange(node, 1, 10, 12)
		v.follow(node, 20, 5, 1)
	}
	v.add(1, 1000, trace.Record{
		Term: 1, Round: 2, Event: "peers", Alive: []uint64{1, 2, 3, 4}, Evidence: "heartbeat-missed 5",
		Why: []string{"leader 5 is gone -> call an election of term 2"},
	})
	v.follow(2, 1005, 3, 2)
	v.add(1, 1010, trace.Record{
		Term: 2, Event: "receive", Leader: 3, LeaderChange: trace.Elected, Why: []string{"3 leads term 2 -> follow it"},
	})
	v.follow(2, 2000, 5, 3)
	v.add(2, 6000, trace.Record{
		Term: 3, Event: "peers", Alive: []uint64{1, 2, 3, 4}, Evidence: "heartbeat-missed 5",
		Why: []string{"leader 5 is gone -> call an election of term 4"},
	})
	text := told(t, v.b.History().Groups[0])
	if strings.Contains(text, "evidence of its own within 5 s") || !strings.Contains(text, " 2 12:00:01.000 3 ") {
		t.Errorf("%s", text)
	}
	v = newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(1, 1000, 2)
	v.follow(2, 1100, 3, 2)
	v.add(1, 1200, trace.Record{
		Term: 2, Event: "receive", Leader: 3, Why: []string{"3 leads term 2 -> follow it"},
	})
	text = told(t, v.b.History().Groups[0])
	if want := "Node 3 leads term 2 since 12:00:01.100"; !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "Node 3 was left behind: its next records are of term 2 and later" was said of one that had followed the other leader
// of term 1, by its own record.
func TestWhoFollowedTheOtherLeaderOfATermIsToldSo(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -100, -90)
	v.leadAlone(1, 0, 1)
	v.leadAlone(3, 50, 1)
	v.add(2, 60, trace.Record{Term: 1, Event: "receive", Leader: 3, Why: []string{"3 leads term 1 -> follow it"}})
	for ms := 500; ms < 12000; ms += 500 {
		v.add(2, ms, trace.Record{Term: 1, Event: "timeout", Leader: 3})
	}
	v.leadAlone(2, 12000, 2)
	v.add(2, 20000, trace.Record{Term: 2, Event: "timeout", Leader: 2})
	text := told(t, v.b.History().Groups[0])
	if want := "Node 2 was left behind: it followed node 3 in the term [2:3]."; !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "14-15 began at 22:07:38.419", when the leader before woke and stopped by its own word; the next one had led for four
// seconds then. The first to miss it had heard nothing of it, and the others lost it a moment later.
func TestAChangeBeganBeforeTheNextOneLed(t *testing.T) {
	for wroteOn, want := range map[bool]string{false: " 2-3 12:00:05.000 1 ", true: " 2-3 12:00:05.400 1 "} {
		v := ledByNode2("ring")
		for ms := 500; wroteOn && ms < 5700; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout", Leader: 2})
		}
		v.add(1, 5000, trace.Record{Term: 2, Event: "timeout", Why: []string{
			"nobody has heard leader 2 of late -> call an election of term 2",
		}})
		v.add(1, 5050, trace.Record{Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "heartbeat-missed 2"})
		v.add(1, 5400, trace.Record{Term: 3, Event: "timeout", Leader: 1, Why: []string{
			"no ELECTED came in two trips round -> call an election of term 3", "alone on the ring -> lead term 3",
		}})
		woke := 8500
		if wroteOn {
			woke = 5700
		}
		v.add(2, woke, trace.Record{Term: 3, Event: "receive", Leader: 1, Why: []string{"1 leads term 3 -> follow it"}})
		text := told(t, v.b.History().Groups[0])
		silent := strings.Contains(text, "Nobody led for at least 400 ms, from 12:00:05.000")
		said := "node 1 found that nobody had heard the leader, node 2, of late [1:4]." // not that it "was gone"
		if !strings.Contains(text, said) {
			t.Errorf("wrote on %v: want %q in\n%s", wroteOn, said, text)
		}
		if !strings.Contains(text, want) || silent == wroteOn {
			t.Errorf("wrote on %v: want %q in\n%s", wroteOn, want, text)
		}
	}
}

// "The process of node 2 ended (it said good-bye)" was given as the reason of a change that began a second before, when
// it was asked to resign: it wanted to hand over to node 3, which was frozen, and left only then.
func TestALeaderThatHandedOverInVainStoppedAsItWasAskedTo(t *testing.T) {
	v := ledByNode2("ring")
	v.add(2, 1000, trace.Record{
		Term: 1, Event: "resign", LeaderChange: trace.Resigned,
		Why: []string{"asked to resign -> step down, hand over to 3"},
	})
	v.add(1, 2000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "left 2", Leader: 1,
		Why: []string{"leader 2 is gone -> call an election of term 2", "alone on the ring -> lead term 2"},
	})
	text := told(t, v.b.History().Groups[0])
	want := "Nobody led for 1 s, from 12:00:01.000 until node 1 led term 2: node 2 stopped leading: it was asked to"
	if !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "Node 2 has led nobody since 12:00:09.000: its process ended" was said of one that was frozen, lost to the others and
// replaced four seconds before its next process began.
func TestSinceWhenAFrozenLeaderThatWasStartedAgainLedNobody(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(2, 0, 1)
	v.add(1, 1, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1 -> follow it"}})
	v.add(1, 5000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1}, Evidence: "heartbeat-missed 2", Leader: 1,
		Why: []string{"leader 2 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	v.start(2, 9000)
	v.add(1, 9500, trace.Record{Term: 2, Event: "timeout", Leader: 1})
	var out bytes.Buffer
	if err := report.WhyNot(&out, v.b.History().Groups[0], 2); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	want := "Node 2 has led nobody since 12:00:05.000 at the latest: the others lost it [peers saw: 1:2]."
	if !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "Both led at once, for 1.81 ms": the last record of the one came so soon, and its process ended long after. No record
// says until when it led. "Both led term 1" may be no fault, if the first one had ended before its next process began.
func TestForHowLongTwoLedAtLeast(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee, v.level = "bully", "best-effort", "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -100, -90)
	v.leadAlone(2, 0, 1)
	v.leadAlone(1, 5000, 2)
	v.add(1, 5100, trace.Record{Term: 2, Event: "timeout", Leader: 1})
	v.start(1, 6500)
	v.add(2, 7000, trace.Record{Term: 3, Event: "receive", Leader: 3, Why: []string{"3 leads term 3 -> follow it"}})
	list := told(t, v.b.History().Groups[0])
	if want := "Node 2 led term 1 and node 1 led term 2 at once, for at least 100 ms."; !strings.Contains(list, want) {
		t.Errorf("want %q in\n%s", want, list)
	}
	v = newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -100, -90)
	v.leadAlone(2, 0, 1)
	v.start(1, 1800)
	v.leadAlone(1, 2000, 1)
	v.start(2, 2100)
	list = told(t, v.b.History().Groups[0])
	if want := "It is no fault if node 2 had ended by then"; !strings.Contains(list, want) {
		t.Errorf("want %q in\n%s", want, list)
	}
}

// A story says that it is not known for how long nobody led, as the list does by a question mark.
func TestAStoryTellsWhatIsNotKnownOfTheTimeBefore(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
	})
	s.add(2, 5000, trace.Record{
		Term: 2, Event: "timeout", Leader: 2,
		Why: []string{"no leader was heard of -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	want := "For how long nobody led before is not known: no record tells until when node 3 led term 1. At 12:00:05.000"
	if list := told(t, s.b.History().Groups[0]); !strings.Contains(list, want) {
		t.Errorf("want %q in\n%s", want, list)
	}
}

// After the process of node 5 had ended, node 4 led the same term, or a lower one, which it had not heard of more: no
// change told of it, nor of the time without a leader before it. "Nodes 5 and 4 both led term 3" did not say that the
// one was over when the other began.
func TestALeaderOfNoHigherTermIsAChange(t *testing.T) {
	for term, want := range map[uint64][]string{
		3: {
			"Nobody led for 4 s in all, after 1 leadership",
			" 4, 5 ",
			"* Later node 4 began to lead term 3 [peers saw: 4:2 3:2]. Nobody led for 4 s, from 12:00:01.000 until " +
				"node 4 led term 3: the process of node 5 ended [peers saw: 4:2 3:2].",
			"! two-leaders: Nodes 5 and 4 both led term 3; node 4 began 5 s after node 5, for it found: no higher " +
				"node is alive. The process of node 5 had ended 4 s before, as others saw: the two did not lead at " +
				"once.",
		},
		2: {
			"Nobody led for 4 s in all, after 1 leadership",
			"Nobody led for 4 s, from 12:00:01.000 until node 4 led term 2: the process of node 5 ended " +
				"[peers saw: 4:2 3:2]. Node 5 had led term 3 until its process ended [peers saw: 3:2].",
		},
	} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.add(4, 0, trace.Record{Event: "start"})
		v.callAndLead(5, 0, 3)
		v.add(3, 1, trace.Record{Term: 3, Event: "receive", Leader: 5, Why: []string{"5 leads term 3 -> follow it"}})
		v.add(5, 999, trace.Record{Term: 3, Event: "timeout", Leader: 5})
		v.add(3, 1000, trace.Record{
			Term: 3, Event: "peers", Alive: []uint64{3}, Evidence: "link-closed 5, dial-refused 5",
		})
		v.callAndLead(4, 5000, term)
		v.add(4, 7000, trace.Record{Term: term, Event: "timeout", Leader: 4})
		list := told(t, v.b.History().Groups[0])
		for _, want := range want {
			if !strings.Contains(list, want) {
				t.Errorf("term %d: want %q in\n%s", term, want, list)
			}
		}
	}
}

// "For how long nobody led after 1 leadership is not known": no messages compare the clock of the former leader, but
// that of who saw its process ended. So the next leader of its term came after it.
func TestALeaderThatCameAfterAnEndThatAnotherSaw(t *testing.T) {
	v := newVoters()
	v.level, v.algo, v.guarantee = "info", "bully", "best-effort"
	v.add(1, 0, trace.Record{Event: "peers", Alive: []uint64{1, 3}})
	v.leadAlone(3, 100, 4)
	v.add(1, 1000, trace.Record{
		Term: 4, Event: "peers", Alive: []uint64{1}, Evidence: "link-closed 3, dial-refused 3",
	})
	v.exchange(1, 4, 2000, 2010)
	v.exchange(2, 4, 2100, 2110)
	v.leadAlone(2, 3000, 4)
	v.add(2, 4000, trace.Record{Term: 4, Event: "peers", Leader: 2, Alive: []uint64{1, 2}})
	if in := v.last(); in.Former != 3 || in.Leader != 2 || in.Leaderless != 2*time.Second {
		t.Errorf("%+v", in)
	}
}

// Two led one term at once, and the second one led on when the first had heard of it: that was no change.
func TestALeaderThatOutlivesAnotherOfItsTermIsAChange(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(4, 0, 3)
	v.callAndLead(5, 2000, 3)
	v.add(4, 3000, trace.Record{
		Term: 3, Event: "receive", From: 5, Leader: 5, Why: []string{"5 leads term 3 -> follow it"},
	})
	v.add(5, 5000, trace.Record{Term: 3, Event: "timeout", Leader: 5})
	list := told(t, v.b.History().Groups[0])
	for _, want := range []string{
		"Nobody led for 0 ms in all, after 1 leadership",
		"Later node 5 began to lead term 3: no leader was known",
		"Node 4 led until 12:00:03.000 at the latest, by its own word; node 5 had begun to lead by 12:00:02.000",
		"! two-leaders: Nodes 4 and 5 both led term 3; node 5 began 2 s after node 4",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("want %q in\n%s", want, list)
		}
	}
}

// "Later node 5 began to lead term 3: node 4 handed over": that led the term until it heard of node 5. Node 2 had led
// the term before, and its request to take over came late, since node 5 slept.
func TestARequestToLeadThatCameLate(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(2, 0, 2)
	v.add(2, 1000, trace.Record{
		Term: 2, Event: "resign", Why: []string{"asked to resign -> step down, hand over to 5"},
	})
	v.callAndLead(4, 1700, 3)
	v.add(5, 3695, trace.Record{
		Term: 3, Event: "receive", From: 2, Msg: "STAND_NOW", Leader: 5, LeaderChange: trace.Transferred,
		Why: []string{"2 asks for a leader of the next term -> take term 3", "asked to lead -> lead term 3"},
	})
	v.add(4, 3697, trace.Record{
		Term: 3, Event: "receive", From: 5, Leader: 5, LeaderChange: trace.Deposed, Why: []string{
			"two leaders of term 3 meet, 5 stands over 4 -> step down", "5 leads term 3 -> follow it",
		},
	})
	v.add(5, 5000, trace.Record{Term: 3, Event: "timeout", Leader: 5})
	list := told(t, v.b.History().Groups[0])
	if want := "Later node 5 began to lead term 3: node 2 asked node 5 to lead ["; !strings.Contains(list, want) {
		t.Errorf("want %q in\n%s", want, list)
	}
}

// "Nobody led for at most -20.4 ms": the last record of a leader that was cut off, and killed, is of a time when
// another one led already.
func TestNobodyLedForNoTimeBelowZero(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee, v.level = "bully", "best-effort", "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.exchange(3, 1, -160, -150)
	v.elect(1, 1, 2, 3)
	v.add(2, 1000, trace.Record{
		Event: "peers", Term: 2, Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 2,
		LeaderChange: trace.Elected, PrevLeader: new(uint64(1)),
		Why: []string{"leader 1 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	v.follow(3, 1010, 2, 2)
	v.add(1, 1020, trace.Record{
		Event: "peers", Term: 1, Evidence: "heartbeat-missed 2, heartbeat-missed 3", Alive: []uint64{1}, Leader: 1,
	})
	v.start(1, 4000)
	g := v.b.History().Groups[0]
	if in := g.Incidents[len(g.Incidents)-1]; in.AtMost() < 0 {
		t.Errorf("nobody led for %v at most: %+v", in.AtMost(), in)
	}
	if text := told(t, g); strings.Contains(text, "-20.0 ms") {
		t.Errorf("told:\n%s", text)
	}
}

// "Node 2 stopped answering", and nobody led since then, was told of a leader that was lost before it led: an earlier
// process of it had ended, and while the others called term 3 for that, its next one led term 4 for a moment.
func TestALossBeforeALeadershipDidNotEndIt(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.add(3, 0, trace.Record{Event: "start"})
	v.callAndLead(2, 10, 2)
	v.add(3, 20, trace.Record{Term: 2, Event: "receive", Leader: 2, Why: []string{"2 leads term 2 -> follow it"}})
	v.start(2, 900)
	v.add(3, 1000, trace.Record{
		Term: 3, Event: "peers", Alive: []uint64{2, 3}, Evidence: "heartbeat-missed 2",
		Why: []string{"leader 2 is gone -> call an election of term 3"},
	})
	v.callAndLead(2, 1500, 4)
	v.add(2, 1550, trace.Record{Term: 4, Event: "timeout", Leader: 2})
	v.add(3, 1600, trace.Record{
		Term: 3, Event: "peers", Alive: []uint64{3}, Evidence: "link-closed 2, dial-refused 2",
	})
	v.add(3, 1700, trace.Record{
		Term: 3, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive any more -> lead term 3"},
	})
	in := v.last()
	if in.FormerTerm != 4 || in.Term != 3 || in.Why != "the process of node 2 ended" ||
		in.Leaderless != 100*time.Millisecond {
		t.Errorf("%q for %v: %+v", in.Why, in.Leaderless, in)
	}
}

// "Nobody led for 4 s", until node 4 led term 4, was told while node 2 led term 2 on the other side of a split.
// "Nobody led for 197 ms" was told of a leader whose former process another one had lost, by its belief of that time,
// when the next process led already.
func TestALossOfAFormerLeadershipDidNotEndTheNext(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.add(3, 0, trace.Record{Event: "start"})
	v.callAndLead(2, 10, 2)
	v.add(3, 20, trace.Record{Term: 2, Event: "receive", Leader: 2, Why: []string{"2 leads term 2 -> follow it"}})
	v.start(2, 900)
	v.callAndLead(2, 950, 3)
	v.add(3, 1000, trace.Record{
		Term: 3, Event: "peers", Alive: []uint64{2, 3}, LeaderChange: trace.Lost, PrevLeader: new(uint64(2)),
		Why: []string{"leader 2 is gone -> call an election of term 3"},
	})
	v.add(3, 1200, trace.Record{
		Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected,
		Why: []string{"no higher node is alive any more -> lead term 3"},
	})
	v.add(2, 1210, trace.Record{
		Term: 3, Event: "receive", From: 3, Leader: 3, PrevLeader: new(uint64(2)), LeaderChange: trace.Elected,
		Why: []string{"3 leads term 3 -> follow it"},
	})
	if in := v.last(); in.Former != 2 || in.Leader != 3 || in.Leaderless != 0 {
		t.Errorf("nobody led for %v: %+v", in.Leaderless, in)
	}
}

// "Nobody led for 5.8 s" was told, although node 2 led in that time, as who followed it wrote: its log ends before. It
// had nominated nodes for later terms before that, and had asked nobody for a vote in them.
func TestWhoNominatedForLaterTermsMayLead(t *testing.T) {
	v := newVoters()
	v.algo = "bully"
	v.elect(2, 1, 1, 3)
	for term := uint64(2); term < 5; term++ {
		v.add(2, 100*int(term), trace.Record{
			Term: 1, Round: term, Event: "receive", Leader: 2, Token: 1, ValidUntil: atMS(990),
			Why: []string{fmt.Sprintf("term %d is above %d -> adopt it", term, term-1)},
		})
	}
	v.expire(2, 990, 1)
	v.follow(1, 2000, 2, 3)
	v.follow(3, 2000, 2, 3)
	if in := v.last(); in.Leader != 2 || in.Term != 3 {
		t.Errorf("%+v", in)
	}
}

// "Nobody led for at least 19 s" was told since node 3, whose log is missing, was lost to node 2: meanwhile node 1 led
// the same term, until it heard of node 3, which it followed then.
// "Nobody led for at least 557 ms" was told since node 5, whose log is missing, was lost: node 2 followed it again.
// "Nobody led for 570 ms" was told while node 2 led beside, which ceased to in a record that is missing: how long it
// led on, is not known.
// "Nobody led for at least 595 ms" was told since node 1 had lost node 3, which node 2 followed on: at level info, that
// wrote nothing of it until it followed no more.
// "Nobody led for at least 199 ms" was told since node 1 had lost node 3, which led on by its own records, at level
// debug, while node 2 said that it followed it on.
// "Nobody led for at least 114 ms" was told since node 1 had lost node 3, which led on by its own records. Node 2 had
// followed it on, in records that are missing.
// "Nobody led for at least 1.19 s" was told while node 2 followed node 5 all the time, which led beside, and has no
// log.
// "Nobody led for at least 268 ms" was told since node 1 had lost node 3, which node 2 followed on: node 3 was silent
// to node 1 for a moment, and back before that.
// "Nobody led for 3.7 s" was told since node 5 had resigned, while node 2 led beside: it was silent to node 3 for a
// moment, back before that, and ceased to lead by its own word.
// "Nobody led for at least 228 ms" was told since node 1 had lost node 3, which node 2 followed on: the logs end so
// soon after that node 3 need not have been silent to all.
// "Nobody led for at least 1.36 s" was told while node 2 led beside: it was silent to node 3, but not to node 1, which
// followed it all the time.
