package rounds_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// nominate writes that a node called an election of a term, and did not win it.
func (v *voters) nominate(node uint64, ms int, term uint64, why string) {
	v.add(node, ms, trace.Record{
		Term: term, Event: "timeout", Why: []string{fmt.Sprintf("%s -> call an election of term %d", why, term)},
	})
}

// callAndLead writes that a node has heard of no leader, calls an election without votes, and leads at once.
func (v *voters) callAndLead(node uint64, ms int, term uint64) {
	v.add(node, ms, trace.Record{
		Term: term, Event: "timeout", Leader: node, LeaderChange: trace.Elected, Why: []string{
			fmt.Sprintf("no leader was heard of -> call an election of term %d", term),
			fmt.Sprintf("no higher node is alive -> lead term %d", term),
		},
	})
}

// "It took terms 2 to 3" was said of a change before which a voter that had lost its votes was to vote again, above
// term 2. Nobody called an election of that term.
func TestATermThatAVoterTookToVoteAgainIsPartOfNoChange(t *testing.T) {
	v := newVoters()
	v.algo = "bully"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.add(1, 2000, trace.Record{
		Term: 1, Round: 2, Event: "receive", From: 2, Msg: "VOTER_STATE", Leader: 3, Token: 1, ValidUntil: atMS(3000),
		Why: []string{"2 other voters know of no term above 1 -> vote again, above that"},
	})
	v.add(3, 9000, trace.Record{
		Term: 1, Event: "resign", LeaderChange: trace.Resigned, Why: []string{"asked to resign -> step down"},
	})
	v.ask(2, 9001, 3)
	v.lead(2, 9002, 3)
	if in := v.last(); !slices.Equal(in.Terms, []uint64{3}) {
		t.Errorf("%+v", in)
	}
}

// "It took terms 3 to 6" was said of a change of 2 ms: nodes had called the elections of terms 3 to 5 before the leader
// of term 2 led. They are part of the change to that one. What is called in vain while it leads is part of none.
func TestAnElectionBelongsToTheChangeInWhichItWasCalled(t *testing.T) {
	v := newVoters()
	v.algo = "ring"
	v.nominate(1, 1, 1, "no leader was heard of")
	for term := uint64(3); term <= 5; term++ {
		v.nominate(2, int(term), term, "no ELECTED came in two trips round")
	}
	v.ask(3, 8, 2)
	v.elect(3, 2, 1, 2)
	v.nominate(2, 500, 7, "no leader was heard of")
	v.add(1, 600, trace.Record{Event: "idle", Term: 2, Leader: 3, Token: 2, ValidUntil: atMS(1500)})
	v.add(3, 900, trace.Record{
		Term: 2, Event: "resign", LeaderChange: trace.Resigned, Why: []string{"asked to resign -> step down"},
	})
	v.ask(1, 901, 8)
	v.lead(1, 902, 8)
	g := v.b.History().Groups[0]
	var terms [][]uint64
	for _, in := range g.Incidents {
		terms = append(terms, in.Terms)
	}
	if len(terms) != 2 || !slices.Equal(terms[0], []uint64{1, 2, 3, 4, 5}) || !slices.Equal(terms[1], []uint64{8}) {
		t.Errorf("terms %v", terms)
	}
	text := told(t, g)
	for _, want := range []string{"1-2 (3-5) 12:00:00.001 3 ", " 7 12:00:00.500 nobody "} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "took terms") {
		t.Errorf("%s", text)
	}
}

// "Term 4 came after it" was said of term 3, which a node called that had not heard of term 4, two seconds after that.
func TestATermThatHadBegunBefore(t *testing.T) {
	for ms, want := range map[int]string{1000: "Term 4 came after it.", 4000: "Term 4 had begun before it."} {
		v := newVoters()
		v.algo, v.guarantee = "ring", "best-effort"
		v.callAndLead(3, 10, 2)
		v.add(1, 20, trace.Record{Term: 2, Event: "receive", Leader: 3, Why: []string{"3 leads term 2 -> follow it"}})
		v.nominate(1, ms, 3, "no ELECTION came back")
		v.callAndLead(3, 2000, 4)
		if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
			t.Errorf("called at %d ms: want %q in: %s", ms, want, text)
		}
	}
}

// "It took terms 2 to 4" was said of a change, and terms 2 and 3 had been called in vain, long before, while the leader
// led on: by a node that followed it again, or that an operator had asked.
func TestWhatWasCalledInVainIsPartOfNoLaterChange(t *testing.T) {
	for name, call := range map[string]func(v *voters){
		"it followed again": func(v *voters) {
			v.add(2, 500, trace.Record{
				Term: 1, Round: 1, Event: "timeout", LeaderChange: trace.Lost, PrevLeader: new(uint64(3)),
				Why: []string{"no heartbeat of leader 3 came in time -> nobody leads"},
			})
			v.ask(2, 510, 2)
			v.ask(2, 600, 3)
			v.follow(2, 700, 3, 1)
		},
		"an operator asked": func(v *voters) {
			for term := uint64(2); term <= 3; term++ {
				v.add(2, 500+int(term), trace.Record{
					Event: "campaign", Term: 1, Round: term, Leader: 3, Token: 1, ValidUntil: atMS(1000),
					Why: []string{fmt.Sprintf("asked to call an election -> ask the voters for term %d", term)},
				})
			}
		},
		"and a message of the term was long on its way": func(v *voters) {
			v.nominate(2, 500, 2, "no leader was heard of")
			v.nominate(2, 600, 3, "no leader was heard of")
			for term := uint64(2); term <= 3; term++ {
				v.add(1, 20010+int(term), trace.Record{
					Event: "receive", Term: 1, Round: term, From: 2, Msg: "ELECTION", MsgID: fmt.Sprint("2:", term),
					Why: []string{"x -> y"},
				})
			}
		},
		"it followed again, and called once more after the change": func(v *voters) {
			for _, ms := range []int{500, 22000} {
				v.nominate(2, ms, 2, "this node is nominated and nobody leads")
				v.nominate(2, ms+1, 3, "this node is nominated and nobody leads")
				v.follow(2, ms+200, 3, 1)
			}
		},
		"and the records of the calls are missing": func(v *voters) {
			for term := uint64(2); term <= 3; term++ {
				v.add(1, 13000+int(term), trace.Record{
					Event: "receive", Term: 1, Round: term, Leader: 3, Token: 1, ValidUntil: atMS(14000), From: 2,
					Msg: "PRE_VOTE", MsgID: fmt.Sprint("2:", term), Why: []string{"x -> y"},
				})
			}
		},
		"and an operator asked another one shortly before": func(v *voters) {
			for term := uint64(2); term <= 3; term++ {
				v.add(2, 15000+int(term), trace.Record{
					Event: "campaign", Term: 1, Round: term, Leader: 3, Token: 1, ValidUntil: atMS(16000),
					Why: []string{fmt.Sprintf("asked to call an election -> ask the voters for term %d", term)},
				})
			}
		},
		"another one than the leader asked for a leader of the next term": func(v *voters) {
			v.nominate(2, 14000, 2, "1 asks for a leader of the next term")
			v.nominate(2, 14100, 3, "no COORDINATOR came in time")
		},
		"the leader itself, after the nomination for the term of the next one": func(v *voters) {
			v.nominate(1, 400, 4, "no leader was heard of")
			v.add(3, 500, trace.Record{
				Term: 1, Round: 5, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(1000),
				Why: []string{"no quorum of ACK came in time -> call an election of term 5"},
			})
		},
	} {
		v := newVoters()
		v.ask(3, 1, 1)
		v.elect(3, 1, 1, 2)
		call(v)
		for ms := 1000; ms < 20000; ms += 500 {
			v.add(3, ms, trace.Record{
				Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(ms + 990), Why: []string{"x -> y"},
			})
		}
		v.add(3, 20000, trace.Record{
			Term: 1, Event: "resign", LeaderChange: trace.Resigned, Why: []string{"asked to resign -> step down"},
		})
		v.ask(1, 20001, 4)
		v.lead(1, 20002, 4)
		const want = "node 3 stopped leading: it was asked to resign"
		if in := v.last(); !slices.Equal(in.Terms, []uint64{4}) || in.Why != want {
			t.Errorf("%s: terms %v: %q", name, in.Terms, in.Why)
		}
	}
}

// "It took terms 2 to 4" was said of a change: node 1 called term 2 after the leader's end, a term in which node 2 had
// called in vain long before. When that round failed, it called term 3, in vain, too.
func TestACallAfterARoundThatFailedLongBeforeIsPartOfNoLaterChange(t *testing.T) {
	for ms, want := range map[int][]uint64{600: {2, 4}, 20700: {2, 3, 4}} { // when term 3 was called
		v := newVoters()
		v.algo = "ring"
		v.ask(3, 1, 1)
		v.elect(3, 1, 1, 2)
		v.nominate(2, 500, 2, "no leader was heard of")
		for ms := 1000; ms < 20000; ms += 500 {
			v.add(3, ms, trace.Record{
				Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(ms + 990), Why: []string{"x -> y"},
			})
		}
		v.expire(3, 20490, 1)
		v.nominate(1, 20500, 2, "no leader was heard of")
		v.nominate(2, ms, 3, "no ELECTED came in two trips round")
		v.ask(1, 20800, 4)
		v.lead(1, 20802, 4)
		if in := v.last(); !slices.Equal(in.Terms, want) {
			t.Errorf("term 3 at %d ms: terms %v", ms, in.Terms)
		}
	}
}

// "It took terms 2 to 4" was said of a change: an operator asked node 2 for an election, and when that had failed, node
// 1 called term 3, in vain, too. The leader handed over to node 2 long after, since that ranks above it.
func TestACallLongBeforeAHandOverIsPartOfItOnlyIfTheNextLeaderMadeIt(t *testing.T) {
	for _, c := range []struct {
		ms     int    // when term 2 was called
		by     uint64 // who called that,
		thenBy uint64 // and term 3
		want   []uint64
	}{
		{13000, 2, 1, []uint64{2, 4}},
		{13000, 2, 2, []uint64{2, 3, 4}},
		{16000, 2, 1, []uint64{2, 3, 4}},
		{13000, 1, 1, []uint64{4}},
		{16000, 1, 1, []uint64{2, 3, 4}},
	} {
		v := newVoters()
		v.ask(3, 1, 1)
		v.elect(3, 1, 1, 2)
		call := func(node uint64, ms int, term uint64, event, why string) {
			v.add(node, ms, trace.Record{
				Event: event, Term: 1, Round: term, Leader: 3, Token: 1, ValidUntil: atMS(ms + 990),
				Why: []string{fmt.Sprintf("%s -> call an election of term %d", why, term)},
			})
		}
		call(c.by, c.ms, 2, "campaign", "the operator asked")
		call(c.thenBy, c.ms+100, 3, "timeout", "no COORDINATOR came in time")
		v.add(3, 20000, trace.Record{
			Term: 1, Event: "timeout", PrevLeader: new(uint64(3)), LeaderChange: trace.Resigned,
			Why: []string{"2 would take over -> lead term 1 no more"},
		})
		v.ask(2, 20001, 4)
		v.lead(2, 20002, 4)
		if in := v.last(); !slices.Equal(in.Terms, c.want) {
			t.Errorf("%+v: terms %v: %q", c, in.Terms, in.Why)
		}
	}
}

// "The leader handed over: node 2 was asked to lead the next term" was said of a term that no change took: node 1 asked
// for it, and node 3 led, and led on.
func TestWhoAskedForATermInVainIsNotCalledTheLeader(t *testing.T) {
	v := newVoters()
	v.ask(3, 1, 1)
	v.elect(3, 1, 1, 2)
	v.nominate(2, 14000, 2, "1 asks for a leader of the next term")
	v.add(3, 20000, trace.Record{Term: 1, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(21000)})
	const want = "At 12:00:14.000 node 1 asked node 2 to call the next election [2:"
	if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "An operator asked node 3 for an election" was given as the reason for a change, and node 3, which led under a lease,
// handed over since its host was to leave. Nor does the call at another node end a lease.
func TestAnOperatorsCallEndsNoLeadershipUnderALease(t *testing.T) {
	over := trace.Record{
		Term: 1, Event: "timeout", PrevLeader: new(uint64(3)), LeaderChange: trace.Resigned,
		Why: []string{"1 would take over -> lead term 1 no more"},
	}
	asked := trace.Record{
		Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1500), Event: "transfer",
		Detail: "to the best node: the host is to leave", Why: []string{"asked to hand over -> offer it to 1"},
	}
	ranOut := trace.Record{
		Term: 1, Event: "timeout", LeaderChange: trace.Lost, Why: []string{"the lease ran out -> lead term 1 no more"},
	}
	for name, c := range map[string]struct {
		at        uint64
		asked     bool
		missing   uint64 // records before its end
		ended     trace.Record
		wantCause string
	}{
		"of the leader":           {3, false, 0, over, "node 3 stopped leading"},
		"before it was asked":     {2, true, 0, over, "node 3 stopped leading: the host is to leave"},
		"before it may be asked":  {2, false, 1, over, "node 3 stopped leading"},
		"before the lease ends":   {2, false, 0, ranOut, "the lease of node 3 ended"},
		"of who is better by now": {1, false, 0, over, "an operator asked node 1 for an election"},
	} {
		v := newVoters()
		v.ask(3, 1, 1)
		v.elect(3, 1, 1, 2)
		v.add(c.at, 600, trace.Record{
			Event: "campaign", Term: 1, Round: 2, Leader: 3, Token: 1, ValidUntil: atMS(1500),
			Why: []string{"asked to call an election -> ask the voters for term 2"},
		})
		if c.asked {
			v.add(3, 700, asked)
		}
		v.seq["n3life0"] += c.missing
		v.add(3, 900, c.ended)
		v.lead(1, 902, 2)
		if in := v.last(); in.Why != c.wantCause {
			t.Errorf("%s: %q", name, in.Why)
		}
	}
}

// "The process of node 1 ended" was given as the reason why node 3 led no more: another node than the leader was lost.
func TestTheLossOfAnotherNodeEndedNoLeadership(t *testing.T) {
	v := newVoters()
	v.algo = "ring"
	v.ask(1, 1, 1)
	v.lead(1, 2, 1)
	v.expire(1, 900, 1)
	v.ask(3, 905, 2)
	v.lead(3, 910, 2)
	v.follow(2, 911, 3, 2)
	v.add(2, 1500, trace.Record{
		Term: 4, Event: "peers", Leader: 3, Token: 2, Alive: []uint64{2, 3}, Evidence: "link-closed 1, dial-refused 1",
		ValidUntil: atMS(1880), Why: []string{"leader 1 is gone -> call an election of term 4"},
	})
	v.expire(3, 1900, 2)
	v.ask(2, 1950, 4)
	v.lead(2, 1960, 4)
	if in := v.last(); in.Why != "the lease of node 3 ended" {
		t.Errorf("%q: %+v", in.Why, in)
	}
}

// "Term 7 began at 12:00:00.500; nobody leads it" was the answer to why nobody leads, and somebody led when it began.
func TestWhatWasCalledInVainIsNoLastAttempt(t *testing.T) {
	v := newVoters()
	v.algo = "ring"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.nominate(2, 500, 7, "no leader was heard of")
	v.expire(3, 1900, 1)
	v.add(3, 2400, trace.Record{Event: "idle", Term: 1})
	var out bytes.Buffer
	if err := report.WhyNot(&out, v.b.History().Groups[0], 1); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	if want := "The logs end 1.4 s later, without an election since [3:4]."; !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "Who led when": node 4 came when all others were gone, with an old term, and led term 3 for two seconds after term 4.
// "It took terms 3 to 4" was said of the change before, and no line had that leader.
func TestALeaderOfALowerTermThatCameLaterHasALineOfItsOwn(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(3, 10, 2)
	v.callAndLead(5, 1000, 4)
	v.add(3, 1001, trace.Record{
		Term: 4, Event: "receive", From: 5, Msg: "COORDINATOR", MsgID: "5:1", Leader: 5, LeaderChange: trace.Elected,
		Why: []string{"5 leads term 4 -> follow it"},
	})
	v.callAndLead(4, 5000, 3)
	v.add(4, 7000, trace.Record{
		Term: 3, Event: "resign", LeaderChange: trace.Resigned, Why: []string{"asked to resign -> step down"},
	})
	text := told(t, v.b.History().Groups[0])
	if want := " 3 12:00:05.000 4 "; !strings.Contains(text, want) || strings.Contains(text, "took terms") {
		t.Errorf("want %q, and no terms 3 to 4, in: %s", want, text)
	}
}

// Term 3, "nobody", stood behind the line of the leader, as if an election were open: a voter had called it before node
// 2 led term 2, in the record in which it voted, and only answers to that are of term 3.
func TestATermThatWasOnlyAnsweredIsPartOfTheChangeBefore(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(2, 0, 2)
	v.add(2, 8, trace.Record{
		Term: 1, Round: 3, Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: "1:9",
		Why: []string{"1 asks for term 3 -> no, stands itself 2"}, Sent: []string{"PRE_VOTE_REPLY>1#2:7"},
	})
	v.elect(2, 2, 1, 3)
	if in := v.last(); !slices.Equal(in.Terms, []uint64{2, 3}) {
		t.Errorf("%+v", in)
	}
}

// "The round brought no leader", and "nobody" led: a node called in vain while another one led, or it did itself. Who
// led is told, if the leader wrote so later.
func TestACallInVainTellsWhoLed(t *testing.T) {
	for wrote, told := range map[int]bool{3000: true, 500: false} {
		v := newVoters()
		v.ask(1, 0, 1)
		v.lead(1, 10, 1)
		v.follow(2, 20, 1, 1)
		v.nominate(2, 600, 2, "the round brought no leader")
		v.add(1, wrote, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(wrote + 990)})
		v.add(2, 3010, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(3900)})
		r := v.b.History().Groups[0].Rounds[1]
		led := r.Meanwhile
		if r.Term != 2 || r.Winner != nil || (led != nil) != told || told && (led.Leader != 1 || led.Term != 1) {
			t.Errorf("%d: term %d: %+v", wrote, r.Term, led)
		}
	}
}

// "Who called the election of term 3 is not known" was told of a term that nobody called: a node that was about to,
// heard of the leader of term 2. Records without a token, as text has none, tell that in their reason alone.
func TestWhoFollowsALeaderIsInItsTerm(t *testing.T) {
	v := newVoters()
	v.elect(2, 2, 1)
	v.add(3, 40, trace.Record{
		Term: 3, Event: "receive", From: 2, Msg: "HEARTBEAT", MsgID: "2:77", Leader: 2, LeaderChange: trace.Elected,
		Why: []string{"2 leads term 2 -> follow it"},
	})
	if all := v.b.History().Groups[0].Rounds; len(all) != 1 || all[0].Term != 2 {
		t.Errorf("%+v", all)
	}
}
