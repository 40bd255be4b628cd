package rounds_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// voters writes the records of a cluster of three voters that leads under a lease.
type voters struct {
	b     *rounds.Builder
	level string
	life  map[uint64]int // how often each node was started again
	seq   map[string]uint64
	set   map[uint64]time.Duration // by how much the clock of each node was set
	began map[string]time.Duration // the same when each process began

	algo, guarantee string
}

func atMS(ms int) time.Time {
	return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

func newVoters() *voters {
	return &voters{
		b: rounds.NewBuilder(), level: "debug", life: map[uint64]int{}, seq: map[string]uint64{}, algo: "raft",
		guarantee: "lease", set: map[uint64]time.Duration{}, began: map[string]time.Duration{},
	}
}

func (v *voters) add(node uint64, ms int, rec trace.Record) {
	at := atMS(ms).Add(v.set[node])
	rec.Incarnation = fmt.Sprintf("n%dlife%d", node, v.life[node])
	v.seq[rec.Incarnation]++
	if v.seq[rec.Incarnation] == 1 {
		v.began[rec.Incarnation] = v.set[node]
	}
	rec.ClockSet = v.set[node] - v.began[rec.Incarnation]
	rec.Level, rec.Time, rec.Cluster, rec.Node, rec.Algo, rec.Guarantee = v.level, at, "c", node, v.algo, v.guarantee
	rec.Seq, rec.Role = v.seq[rec.Incarnation], trace.Following
	rec.HLC = cmp.Or(rec.HLC, fmt.Sprintf("%d.0", at.UnixMicro()))
	switch rec.Leader {
	case 0:
		rec.Role = trace.Looking
	case node:
		rec.Role = trace.Leading
	}
	v.b.Add(&rec)
}

// ask writes that a voter asks all others for a term.
func (v *voters) ask(node uint64, ms int, term uint64) {
	rec := trace.Record{
		Term: term - 1, Round: term, Event: "timeout",
		Why: []string{fmt.Sprintf("nobody leads -> ask the voters for term %d", term)},
	}
	for to := uint64(1); to <= 3; to++ {
		if to != node {
			rec.Sent = append(rec.Sent, fmt.Sprintf("PRE_VOTE>%d#%d:%d", to, node, 10*ms+int(to)))
		}
	}
	v.add(node, ms, rec)
}

// grant writes that a voter says yes to a candidate that asked it at the time 0, and that it has heard it.
func (v *voters) grant(node, candidate, term uint64) {
	v.add(node, 1, trace.Record{
		Term: term - 1, Round: term, Event: "receive", From: candidate, Msg: "PRE_VOTE",
		MsgID: fmt.Sprintf("%d:%d", candidate, node),
		Why:   []string{fmt.Sprintf("%d asks for term %d -> yes", candidate, term)},
		Sent:  []string{fmt.Sprintf("PRE_VOTE_REPLY>%d#%d:1", candidate, node)},
	})
	v.add(candidate, 2, trace.Record{
		Term: term - 1, Round: term, Event: "receive", From: node, Msg: "PRE_VOTE_REPLY",
		MsgID: fmt.Sprintf("%d:1", node),
	})
}

// lead writes that a node won a term.
func (v *voters) lead(node uint64, ms int, term uint64) {
	v.add(node, ms, trace.Record{
		Term: term, Event: "receive", Leader: node, Token: term, LeaderChange: trace.Elected,
		ValidUntil: atMS(ms + 990),
		Why:        []string{fmt.Sprintf("a majority voted in term %d -> lead", term)},
	})
}

// follow writes that a node follows the leader of a term.
func (v *voters) follow(node uint64, ms int, leader, term uint64) {
	v.add(node, ms, trace.Record{
		Term: term, Event: "receive", Leader: leader, Token: term, LeaderChange: trace.Elected,
		ValidUntil: atMS(ms + 980), Why: []string{fmt.Sprintf("%d leads term %d -> follow it", leader, term)},
	})
}

// elect writes that a node leads a term 10 ms after the beginning, and that the others follow it 10 ms later.
func (v *voters) elect(leader, term uint64, followers ...uint64) {
	v.lead(leader, 10, term)
	for _, node := range followers {
		v.follow(node, 20, leader, term)
	}
}

// wake writes that a follower wakes: two of its timers were due.
func (v *voters) wake(node uint64, ms int, leader, term uint64) {
	rec := trace.Record{
		Term: term - 1, Round: term, Event: "timeout", LeaderChange: trace.Lost, PrevLeader: &leader,
		Why: []string{
			fmt.Sprintf("no heartbeat of leader %d came in time -> nobody leads", leader),
			fmt.Sprintf("nobody has heard leader %d of late -> ask the voters for term %d", leader, term),
		},
	}
	for to := uint64(1); to <= 3; to++ {
		if to != node {
			rec.Sent = append(rec.Sent, fmt.Sprintf("PRE_VOTE>%d#%d:%d", to, node, 10*ms+int(to)))
		}
	}
	v.add(node, ms, rec)
}

// miss writes that a follower follows no more, since no heartbeat came.
func (v *voters) miss(node uint64, ms int, leader uint64) {
	v.add(node, ms, trace.Record{
		Term: 1, Event: "timeout", LeaderChange: trace.Lost, PrevLeader: &leader,
		Why: []string{fmt.Sprintf("no heartbeat of leader %d came in time -> nobody leads", leader)},
	})
}

// expire writes that a leader led no more, since its lease had run out.
func (v *voters) expire(node uint64, ms int, term uint64) {
	v.add(node, ms, trace.Record{
		Term: term, Event: "timeout", LeaderChange: trace.Deposed, PrevLeader: &node,
		Why: []string{fmt.Sprintf("the lease ran out -> lead term %d no more", term)},
	})
}

// lose writes that a node lost another one, and whom it sees still.
func (v *voters) lose(node uint64, ms int, evidence string, alive ...uint64) {
	v.add(node, ms, trace.Record{Event: "peers", Alive: alive, Evidence: evidence})
}

// start writes that a process of the node begins.
func (v *voters) start(node uint64, ms int) {
	v.life[node]++
	v.add(node, ms, trace.Record{Event: "start"})
}

// last returns the last change of leadership.
func (v *voters) last() rounds.Incident {
	all := v.b.History().Groups[0].Incidents
	return all[len(all)-1]
}

// surely returns why nobody led, and which of the voters that ended ran no process then, as far as is known:
// "voters 2 and 3 ended: 1 of 3 remains; surely [2]".
func surely(in rounds.Incident) string {
	var dead []uint64
	for id := range uint64(9) {
		if !in.Missing(id, "dead").IsZero() {
			dead = append(dead, id)
		}
	}
	return fmt.Sprintf("%s; surely %d", in.Why, dead)
}

// "The process of node 3 ended" was all that was said of an outage in which two of three voters were dead, and "for how
// long nobody led is not known", where the leader's log is missing and the clocks of the others differ: those tell its
// end by their own records.
func TestVotersMissingWithoutTheLogOfTheLeader(t *testing.T) {
	const ahead = 3600e3 // of the clock of node 2
	v := newVoters()
	v.add(1, -300, trace.Record{Event: "start"})
	v.add(2, -300+ahead, trace.Record{Event: "start"})
	v.exchange(1, 1, -200, -199+ahead)
	v.exchange(2, 1, -100+ahead, -99)
	v.follow(1, 10, 3, 1)
	v.follow(2, 10+ahead, 3, 1)
	v.lose(1, 1010, "link-closed 2, dial-refused 2", 1, 3)
	v.lose(1, 1011, "link-closed 3, dial-refused 3", 1)
	for ms := 1100; ms < 8000; ms += 500 {
		v.ask(1, ms, 2)
	}
	v.start(2, 8000+ahead)
	v.ask(1, 8100, 2)
	v.lead(1, 8110, 2)
	const want = "voters 2 and 3 ended: 1 of 3 remains; surely [2]"
	if in := v.last(); surely(in) != want || in.Leaderless != 7099*time.Millisecond {
		t.Errorf("%q for %v: %+v", in.Why, in.Leaderless, in)
	}
}

// "No majority of voters was there, and the incident says so": whoever wins in the end, and in whatever part of the
// time it was. Nobody is said to be away whose log ends before: its votes may be what is missing.
func TestVotersMissing(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(v *voters)
		want    string
	}{
		"the next leader was dead for most of the time": {func(v *voters) {
			v.lose(1, 1010, "link-closed 2, dial-refused 2", 1, 3)
			v.lose(1, 1011, "link-closed 3, dial-refused 3", 1)
			for ms := 1100; ms < 8000; ms += 500 {
				v.ask(1, ms, 2)
			}
			v.start(3, 8000)
			v.ask(3, 8500, 2)
			v.lead(3, 8510, 2)
		}, "voters 2 and 3 ended: 1 of 3 remains"},
		"one after the other was away": {func(v *voters) {
			v.lose(1, 1010, "left 2", 1, 3)
			v.ask(1, 1100, 2)
			v.ask(1, 1200, 2)
			v.add(3, 2900, trace.Record{Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: "1:11003"})
			v.ask(3, 4100, 2)
			v.ask(1, 5000, 2)
			v.lead(1, 5010, 2)
		}, "voter 2 stopped, 3 not heard to answer: 1 of 3 remains, too few to elect for at least 1.8 s of the 4.01 s"},
		"a log was cut": {func(v *voters) {
			v.lose(1, 1010, "link-closed 2, dial-refused 2", 1, 3)
			v.ask(1, 1100, 2)
			v.ask(1, 5000, 2)
			v.add(1, 5005, trace.Record{Event: "receive", From: 3, Msg: "VOTE", MsgID: "3:9", Term: 2})
			v.lead(1, 5010, 2)
		}, ""},
		"one was lost from view in no record": {func(v *voters) {
			v.lose(1, 1010, "link-closed 2, dial-refused 2", 1)
			v.add(1, 5000, trace.Record{Event: "timeout", Why: []string{"no leader was heard of -> ask the others"}})
		}, "voter 2 ended, 3 without a sign of life here: 1 of 3 remains"},
		"nobody leads, and a log was cut": {func(v *voters) {
			v.lose(1, 1010, "link-closed 2, dial-refused 2", 1, 3)
			v.ask(1, 1100, 2)
			v.ask(1, 5000, 2)
		}, "voter 2 ended, 3 without a sign of life here: 1 of 3 remains"},
	} {
		v := newVoters()
		v.ask(1, 0, 1)
		v.elect(1, 1, 2, 3)
		v.expire(1, 1000, 1)
		c.happens(v)
		in := v.last()
		told := strings.HasPrefix(in.Why, "voter")
		if told != in.Voters() || told != (c.want != "") || told && in.Why != c.want {
			t.Errorf("%s: %q, want %q; %+v", name, in.Why, c.want, in)
		}
	}
}

// "A process ended, and that is why its own leadership began": who called afterwards did not call that election,
// also if the winner's log is missing.
func TestCalledAfterTheWin(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.lead(1, 10, 1)
	v.follow(2, 20, 1, 1)
	v.expire(1, 1000, 1)
	v.follow(1, 1510, 3, 2)
	v.follow(2, 1510, 3, 2)
	v.add(1, 4000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3",
		Why: []string{"leader 3 is gone -> call an election of term 2"},
	})
	v.ask(1, 4010, 3)
	v.lead(1, 4020, 3)
	all := v.b.History().Groups[0].Incidents
	if len(all) != 3 || all[1].Term != 2 || strings.Contains(all[1].Why, "node 3") ||
		!strings.Contains(all[2].Why, "the process of node 3 ended") {
		t.Errorf("%+v", all)
	}
}

// "A voter was dead, and it was well": its next process began at a time that no record tells, since at level info there
// need be none of the start; or it was seen alive where it was proven dead before, and may have run for long by then.
// Or only a proof tells of its end, which is about one process: the next one may run. "Not seen since" was said of
// voters that were seen again when the leader had been elected: it is told of the time that it is about.
func TestBackWithoutARecordOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		back func(v *voters)
		want string
		away time.Duration // in ms
	}{
		"its start is in a record": {func(v *voters) {
			v.start(3, 3500)
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 2.5 s of the 3.51 s; surely [2 " +
			"3]", 2500},
		"its start is in none": {func(v *voters) {
			v.life[3]++
			v.add(3, 3500, trace.Record{Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: "1:5003"})
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 2.5 s of the 3.51 s; surely [2]", 2500},
		"it was seen": {func(v *voters) {
			v.lose(1, 3000, "", 1, 3)
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 2 s of the 3.51 s; surely [2]", 2000},
		"others that wrote nothing were there before": {func(v *voters) {
			v.lose(1, 1200, "", 1, 2, 3)
			v.lose(1, 1500, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
			v.start(3, 3000)
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 1.5 s of the 3.51 s; surely [2 " +
			"3]", 1500},
		"one that wrote nothing was there before": {func(v *voters) {
			v.lose(1, 2800, "", 1, 3)
			v.start(3, 3000)
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 1.8 s of the 3.51 s; surely [2]", 1800},
		"another one that began since lost its link to one that wrote nothing": {func(v *voters) {
			v.lose(4, 1200, "", 4)
			v.life[4]++
			v.lose(4, 2800, "link-closed 3, dial-refused 3", 4)
			v.start(3, 3500)
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 2.5 s of the 3.51 s; surely [2]", 2500},
		"the end of one that wrote nothing was proven later": {func(v *voters) {
			v.start(3, 3500)
			v.add(1, 3520, trace.Record{Event: "gone", About: 3, Detail: "3 silent"})
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 2.5 s of the 3.51 s; surely [2]", 2500},
		"a record is missing that may tell of another one": {func(v *voters) {
			v.seq["n1life0"]++
			v.add(1, 3000, trace.Record{Event: "timeout", Term: 1})
			v.start(3, 3500)
		}, "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 2.5 s of the 3.51 s; surely [2]", 2500},
		"only its end was proven": {func(*voters) {
		}, "voters 2 and 3 ended: 1 of 3 remains; surely [2]", 3010}, // until another one led
	} {
		v := newVoters()
		v.level = "info"
		v.ask(1, 0, 1)
		v.elect(1, 1, 2, 3)
		v.lose(1, 500, "", 1, 2, 3)
		v.expire(1, 900, 1)
		v.lose(1, 1000, "link-closed 2, dial-refused 2", 1, 3)
		v.add(1, 1000, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0"})
		c.back(v)
		v.ask(1, 4000, 2)
		v.lead(1, 4010, 2)
		in := v.last()
		from, until := in.Lack()
		if surely(in) != c.want || until.Sub(from) != c.away*time.Millisecond {
			t.Errorf("%s: %q, %v to %v", name, surely(in), from, until)
		}
	}
}

// "A voter was dead, but it was cut off": at level info its next process need not write anything. That it is dead still
// is known only if who saw it end asked it again, and was there to see it come back; a new process of another voter
// that asks tells nothing.
func TestEndedAndNotAskedSince(t *testing.T) {
	for name, want := range map[string]string{
		"asked":                       "voters 2 and 3 ended: 1 of 3 remains; surely [2 3]",
		"asked by one that ended too": "voters 2 and 3 ended: 1 of 3 remains; surely []",
		"not asked":                   "voters 2 and 3 ended: 1 of 3 remains; surely []",
	} {
		v := newVoters()
		v.level = "info"
		v.ask(1, 0, 1)
		v.elect(1, 1, 2, 3)
		v.expire(1, 900, 1)
		v.lose(1, 1000, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
		switch name {
		case "asked":
			v.ask(1, 4000, 2)
		case "asked by one that ended too":
			v.ask(1, 1200, 2)
			v.life[1]++
			v.ask(1, 4000, 2)
		default:
			v.add(1, 4000, trace.Record{
				Event: "eligible", Why: []string{"eligible again -> stand when it comes to that"},
			})
		}
		if in := v.last(); surely(in) != want {
			t.Errorf("%s: %q, want %q", name, surely(in), want)
		}
	}
}

// "Voter 3 dead", and it ran, cut off: the proof that came was of its process before that, which wrote records. The
// next one was seen before it wrote its last record.
func TestProofAboutAProcessThatWrote(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.elect(1, 1, 2, 3)
	v.lose(1, 400, "", 1, 2, 3)
	v.expire(1, 500, 1)
	v.lose(1, 600, "link-closed 2, dial-refused 2", 1, 3)
	v.start(3, 700)
	v.add(3, 720, trace.Record{Event: "timeout"})
	v.lose(1, 740, "unreachable 3", 1)
	v.lose(1, 745, "", 1, 3)
	v.add(1, 800, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0"})
	v.start(3, 5000)
	v.ask(1, 5100, 2)
	v.lead(1, 5110, 2)
	if in := v.last(); !in.Missing(3, "dead").IsZero() {
		t.Errorf("%q: %+v", in.Why, in)
	}
}

// A proof of death may come late, and be about an earlier process of a voter whose log is missing, which runs on.
func TestProofAboutAnEarlierProcess(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(2, 0, 1)
	v.lead(2, 10, 1)
	v.add(2, 1000, trace.Record{Event: "gone", About: 1, Detail: "1 n1life0"})
	v.add(2, 1000, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0"})
	v.expire(2, 1500, 1)
	v.add(2, 3500, trace.Record{Event: "timeout", Term: 1})
	if in, want := v.last(), "voters 1 and 3 ended: 1 of 3 remains; surely []"; surely(in) != want {
		t.Errorf("%q, want %q; %+v", in.Why, want, in)
	}
}

// "It was dead, and its next process ran": the one that saw it come back had slept until then.
func TestBackWhileTheOtherSlept(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(1, 0, 1)
	v.elect(1, 1, 2, 3)
	v.lose(1, 30, "", 1, 2, 3)
	v.miss(2, 1000, 1)
	v.ask(2, 1010, 2)
	v.lose(2, 1500, "link-closed 3, dial-refused 3", 1, 2)
	v.expire(1, 3500, 1)
	v.add(1, 3501, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:10101", Term: 1, Round: 2})
	v.lose(1, 3502, "link-closed 3, dial-refused 3", 1, 2)
	v.lose(1, 3503, "", 1, 2, 3)
	v.ask(2, 4000, 2)
	v.lead(2, 4010, 2)
	want := "voter 3 ended, 1 not heard to answer: 1 of 3 remains," +
		" too few to elect for at least 2 s of the 3.98 s"
	if in := v.last(); in.Why != want {
		t.Errorf("%q, want %q; %+v", in.Why, want, in)
	}
}

// "Voter 1 not answering": it answered each time, as the candidate wrote down, and at level info did not write that
// itself, since it decided nothing.
func TestAnswersThatTheVoterDoesNotWrite(t *testing.T) {
	for answers, want := range map[bool]string{
		true:  "the process of node 3 ended (connection closed and port refused)",
		false: "voter 3 ended, 1 not heard to answer: 1 of 3 remains",
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		for _, id := range []uint64{1, 2} {
			v.lose(id, 1100, "link-closed 3, dial-refused 3", 1, 2)
		}
		for i := range 6 {
			ms := 1120 + 500*i
			if v.ask(2, ms, 2); answers {
				v.add(2, ms+2, trace.Record{
					Term: 1, Round: 2, Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY",
					MsgID: fmt.Sprintf("1:%d", 80+i), Detail: "PRE_VOTE_REPLY no, just started",
					Why: []string{"1 says no, just started"},
				})
			}
		}
		read := "2:36201" // the last question
		if !answers {
			read = "2:11201" // the first one, as it woke
		}
		v.add(1, 4000, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: read, Term: 1, Round: 2})
		v.lead(2, 4100, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("answers %v: %q, want %q: %+v", answers, in.Why, want, in)
		}
	}
}

// "The leader is gone, and it was well": its lease had ended, by its own word, and it released the term.
func TestLeaderWhoseLeaseHadEnded(t *testing.T) {
	v := newVoters()
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.expire(3, 1000, 1)
	v.add(1, 1100, trace.Record{
		Term: 1, Round: 2, Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:5", Why: []string{
			"3 releases term 1 -> the promise to it is over", "leader 3 released the term -> nobody leads",
			"leader 3 is gone -> ask the voters for term 2",
		}, Sent: []string{"PRE_VOTE>2#1:11002", "PRE_VOTE>3#1:11003"},
	})
	v.lead(1, 1110, 2)
	v.follow(2, 1120, 1, 2)
	all := v.b.History().Groups[0].Rounds
	if c := all[len(all)-1].Cause; c.Lost != 0 || c.Kind != rounds.Vacant {
		t.Errorf("%+v", c)
	}
}

// "The process of node 1 ended" was true, and no reason why nobody led for three seconds: all had been killed. Nor did
// "0 of 2 remain" for the whole time: node 1 ran again half a second before it led.
func TestAllNodesAway(t *testing.T) {
	v := newVoters()
	v.guarantee = "best-effort"
	v.lead(1, 0, 1)
	v.follow(2, 10, 1, 1)
	v.lose(2, 1000, "link-closed 1, dial-refused 1", 2)
	v.start(1, 5000)
	v.start(2, 5010)
	v.lead(1, 5500, 2)
	in, want := v.last(), "node 1 ended, 2 without a sign of life here: 0 of 2 remain, for at least 4 s of the 4.51 s"
	if in.Why != want || in.Voters() || !in.Absent() {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "It does not say that there was no majority": a voter woke, wrote that its lease had ended, and was stopped again
// before it read that it had been asked for its vote long before.
func TestAskedBeforeItWroteAndReadLater(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(1, 1, 2, 3)
	v.miss(2, 1500, 1)
	v.ask(2, 2000, 2)
	v.expire(1, 3500, 1)
	v.miss(3, 4600, 1)
	v.ask(3, 4601, 2)
	v.add(3, 4602, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:20003", Term: 1, Round: 2})
	v.lead(3, 5200, 2)
	v.add(1, 5800, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:20001", Term: 1, Round: 2})
	all := v.b.History().Groups[0].Incidents
	want := "voters 1 and 3 not heard to answer: at most 1 of 3 remains"
	if in := all[len(all)-1]; in.Why != want || in.Leader != 3 {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "Voter 1 not answering", and it was well: what it was asked was lost on its way, and it had nothing else to write
// until a timer of its own was due. Or it had answered at once, at level info without a word of it, and was started
// again later. Or its next process had been there for long before it wrote a word: level info does not tell its start.
// Or another one heard it, or its next process began, while what it was asked was on its way.
func TestAskedInVainAndWell(t *testing.T) {
	reads := func(v *voters, ms int, id string) {
		v.add(1, ms, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: id, Term: 1, Round: 2})
	}
	lost := func(v *voters) {
		v.ask(2, 1120, 2)
		v.add(1, 3000, trace.Record{Event: "timeout", Term: 1})
		v.ask(2, 3100, 2)
		reads(v, 3102, "2:31001")
	}
	suspected := func(v *voters) { // and heard at once
		v.lose(2, 1105, "unreachable 1", 2)
		v.lose(2, 1115, "", 1, 2)
	}
	for name, c := range map[string]struct {
		level string
		tell  func(v *voters)
	}{
		"lost, level debug": {"debug", lost},
		"lost, level info":  {"info", lost},
		"answered at once": {"info", func(v *voters) {
			suspected(v)
			v.ask(2, 1120, 2)
			v.add(2, 1124, trace.Record{
				Term: 1, Round: 2, Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY", MsgID: "1:80",
				Detail: "PRE_VOTE_REPLY no, promised 3", Why: []string{"1 says no, promised 3"},
			})
			v.start(1, 3000)
		}},
		"start not told": {"info", func(v *voters) {
			suspected(v)
			v.ask(2, 1120, 2)
			v.life[1]++
			v.add(1, 3000, trace.Record{Event: "timeout", Term: 1})
		}},
		"heard meanwhile": {"info", func(v *voters) {
			v.ask(2, 1120, 2)
			v.add(1, 1130, trace.Record{Event: "timeout", Term: 1})
			v.ask(1, 2200, 2)
			v.add(2, 2500, trace.Record{Event: "timeout", Term: 1})
			v.add(2, 2800, trace.Record{
				Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: "1:77", Term: 1, Round: 2,
			})
			reads(v, 3300, "2:11201")
		}},
		"sent before it began": {"info", func(v *voters) {
			suspected(v)
			v.ask(2, 1120, 2)
			v.life[1]++
			v.add(1, 2200, trace.Record{Event: "timeout", Term: 1})
			reads(v, 3300, "2:11201")
		}},
	} {
		v := newVoters()
		v.level = c.level
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		for _, id := range []uint64{1, 2} {
			v.lose(id, 1100, "link-closed 3, dial-refused 3", 1, 2)
		}
		c.tell(v)
		v.lead(2, 3400, 2)
		if in := v.last(); strings.Contains(in.Why, "1 not heard to answer") {
			t.Errorf("%s: %q: %+v", name, in.Why, in)
		}
	}
}

// "Voter 1 not answering": it had just started, refused, and at level info wrote that only once.
func TestWhoHasJustStartedRefuses(t *testing.T) {
	for refuses, missing := range map[int]bool{2300: false, 3300: true} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.lose(2, 1000, "link-closed 3, dial-refused 3", 1, 2)
		v.start(1, 1100)
		read := "2:11501" // the first question, as it woke
		for ms := 1150; ms < refuses; ms += 500 {
			if v.ask(2, ms, 2); !missing {
				read = fmt.Sprintf("2:%d", 10*ms+1)
			}
		}
		v.add(1, refuses, trace.Record{
			Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: read, Term: 1, Round: 2,
			Why: []string{"2 asks for term 2 -> no, just started"},
		})
		v.lead(2, refuses+100, 2)
		if in := v.last(); strings.Contains(in.Why, "not heard to answer") != missing {
			t.Errorf("until %d ms: %q: %+v", refuses, in.Why, in)
		}
	}
}

// "Voters 1 and 3 not answering": what voter 1 was asked was held up on its way. It had read another message since.
func TestAskedByAMessageThatWasHeldUp(t *testing.T) {
	for read, missing := range map[bool]bool{true: false, false: true} {
		v := newVoters()
		v.level = "info"
		v.elect(1, 1, 2, 3)
		v.miss(2, 1500, 1)
		v.ask(2, 2000, 2)
		v.expire(1, 3500, 1)
		if read {
			v.add(1, 3510, trace.Record{Event: "receive", From: 3, Msg: "PRE_VOTE", MsgID: "3:9", Term: 1, Round: 2})
		}
		v.miss(3, 4600, 1)
		v.ask(3, 4601, 2)
		v.add(3, 4602, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:20003", Term: 1, Round: 2})
		v.lead(3, 5200, 2)
		v.add(1, 5800, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:20001", Term: 1, Round: 2})
		all := v.b.History().Groups[0].Incidents
		if in := all[len(all)-1]; strings.HasPrefix(in.Why, "voters 1 and 3 not heard to answer") != missing {
			t.Errorf("it read another one: %v: %q: %+v", read, in.Why, in)
		}
	}
}

// "A voter was silent, and it was well": the only node that had lost sight of it ended, and nobody was there to see it
// come back. Its log is missing.
func TestSilentWithNobodyToHear(t *testing.T) {
	for watched, want := range map[bool]string{
		true:  "voter 2 ended, 3 silent: 1 of 3 remains",
		false: "voter 2 ended, 3 without a sign of life here: 1 of 3 remains",
	} {
		v := newVoters()
		v.ask(1, 0, 1)
		v.lead(1, 10, 1)
		v.follow(2, 20, 1, 1)
		v.lose(1, 900, "link-closed 2, dial-refused 2", 1, 3)
		v.lose(1, 1500, "heartbeat-missed 3", 1)
		v.expire(1, 1990, 1)
		v.ask(1, 2500, 2)
		for ms := 2600; ms < 9000 && (watched || ms < 3000); ms += 300 {
			v.add(1, ms, trace.Record{Event: "timeout", Term: 1, Round: 2})
		}
		v.start(2, 9000)
		v.lose(2, 9100, "joined 3", 2, 3)
		v.ask(2, 9300, 2)
		v.lead(2, 9500, 2)
		if in := v.last(); in.Why != want+", too few to elect for at least 7.5 s of the 8.6 s" {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "Voter 3 without a sign of life here": node 1, which slept and lost it as it woke, read its question after that.
func TestAQuestionReadByOneThatWokeIsASignOfLife(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.lead(1, 10, 1)
	v.follow(2, 20, 1, 1)
	v.lose(1, 9000, "link-closed 2, dial-refused 2, heartbeat-missed 3", 1)
	v.add(1, 9020, trace.Record{Event: "receive", From: 3, Msg: "PRE_VOTE", MsgID: "3:7", Term: 1, Round: 2})
	v.ask(1, 9300, 2)
	v.add(1, 9900, trace.Record{Event: "timeout", Term: 1, Round: 2})
	v.start(2, 12000)
	v.ask(2, 12300, 2)
	v.lead(2, 12500, 2)
	in := v.last()
	if from, _ := in.MissingFor(3, "without a sign of life here"); from.Before(atMS(9020)) {
		t.Errorf("from %v on: %+v", from, in)
	}
}

// "Voter 1 dead", and it was paused: the only node that had seen its process end was ended then, and nobody was there
// to see the next one. Or it was cut off: who had seen the end asked it all the while, and the next process heard
// nothing. The log of node 3 is missing; that of node 2 may be cut short, and then nobody tells of its next process
// where none ran to see it.
func TestDeadWithNobodyToSeeItBack(t *testing.T) {
	for watched, ended := range map[bool]string{true: "[2]", false: "[]"} {
		v := newVoters()
		v.ask(1, 0, 1)
		v.lead(1, 10, 1)
		v.follow(2, 20, 1, 1)
		v.lose(1, 900, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
		v.expire(1, 1990, 1)
		v.ask(1, 2500, 2)
		for ms := 2600; ms < 9000 && (watched || ms < 3000); ms += 300 {
			v.add(1, ms, trace.Record{Event: "timeout", Term: 1, Round: 2})
		}
		v.start(4, 9000)
		if in, want := v.last(), "voters 2 and 3 ended: 1 of 3 remains; surely "+ended; surely(in) != want {
			t.Errorf("%q, want %q: %+v", surely(in), want, in)
		}
	}
}

// "1 of 5 when the logs end", and two were well: the voter had been asked again a moment before, and had answered each
// question until then. Its log is missing.
func TestAskedAsTheLogsEnd(t *testing.T) {
	v := newVoters()
	v.lead(3, 10, 1)
	v.follow(1, 20, 3, 1)
	gone := "link-closed 3, dial-refused 3, link-closed 4, dial-refused 4, link-closed 5, dial-refused 5"
	v.lose(1, 900, "joined 2, joined 3, joined 4, joined 5", 1, 2, 3, 4, 5)
	v.expire(3, 950, 1)
	v.lose(1, 1000, gone, 1, 2)
	for ms := 1100; ms < 6000; ms += 300 {
		if ms > 1100 {
			v.add(1, ms-5, trace.Record{
				Term: 1, Round: 2, Event: "receive", From: 2, Msg: "PRE_VOTE_REPLY", MsgID: fmt.Sprint("2:", ms),
			})
		}
		rec := trace.Record{
			Term: 1, Round: 2, Event: "timeout", Why: []string{"nobody leads -> ask the voters for term 2"},
		}
		for to := 2; to <= 5; to++ {
			rec.Sent = append(rec.Sent, fmt.Sprintf("PRE_VOTE>%d#1:%d", to, 10*ms+to))
		}
		v.add(1, ms, rec)
	}
	if in, want := v.last(), "voters 3, 4 and 5 ended: at most 2 of 5 remain; surely [3]"; surely(in) != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "Node 3 ended and has no log here", and it ran: another node had seen it again since, and was started anew or ended
// then. Who saw its end, and was started again, no longer knows of it.
func TestWithoutALogAndSeenAgain(t *testing.T) {
	const ended, unlogged = "node 3 ended and has no log here", "node 3 has no log here"
	for name, c := range map[string]struct {
		then func(v *voters)
		want string
	}{
		"not seen again": {func(v *voters) { v.start(2, 5000) }, ended},
		"seen again by one that began anew": {func(v *voters) {
			v.lose(2, 3000, "joined 3", 1, 2, 3)
			v.start(2, 5000)
		}, unlogged},
		"seen again by one that ended": {func(v *voters) {
			v.lose(2, 3000, "joined 3", 1, 2, 3)
			v.lose(1, 5000, "link-closed 2, dial-refused 2", 1)
		}, unlogged},
		"seen again, and lost by all": {func(v *voters) {
			v.lose(2, 3000, "joined 3", 1, 2, 3)
			v.lose(2, 4000, "link-closed 3, dial-refused 3", 1, 2)
		}, ended},
		"lost by one that began anew": {func(v *voters) {
			v.start(1, 5000)
			v.start(2, 5000)
		}, unlogged},
	} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		v.lead(1, 10, 1)
		v.follow(2, 20, 1, 1)
		for node := uint64(1); node <= 2; node++ {
			v.lose(node, 100, "joined 3", 1, 2, 3)
			v.lose(node, 1000, "link-closed 3, dial-refused 3", 1, 2)
		}
		c.then(v)
		if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, c.want) {
			t.Errorf("%s: no %q in %s", name, c.want, text[:min(len(text), 600)])
		}
	}
}

// "Voter 2 dead, 3 started again and refusing to run": so was 2, well after its process had been killed, and again
// later.
func TestRefusedLongAfterItsEnd(t *testing.T) {
	for _, level := range []string{"debug", "info"} {
		v := newVoters()
		v.level = level
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
		}
		v.ask(1, 5, 1)
		v.elect(1, 1, 2, 3)
		v.lose(1, 30, "", 1, 2, 3)
		v.lose(1, 900, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
		v.expire(1, 1000, 1)
		for _, refused := range []trace.Farewell{
			{Time: atMS(1200), Node: 3},
			{Time: atMS(4000), Node: 2},
			{Time: atMS(5000), Node: 2},
		} {
			refused.Cluster, refused.Error, refused.Code = "c", "why", 2
			v.b.Left(refused)
		}
		for ms := 1100; ms < 8000; ms += 300 {
			v.ask(1, ms, 2)
		}
		want := "voter 2 ended and then started again and refusing to run, 3 started again and refusing to run: " +
			"1 of 3 remains"
		if in := v.last(); in.Why != want {
			t.Errorf("%s: %q, want %q: %+v", level, in.Why, want, in)
		}
	}
}

// "Voter 2 without a sign of life here", and another node had a message of its next process, whose first records are
// missing.
func TestSignOfLifeOfAProcessWithoutItsBeginning(t *testing.T) {
	v := newVoters()
	v.level = "info"
	for node := uint64(1); node <= 2; node++ {
		v.start(node, 0)
	}
	v.ask(1, 5, 1)
	v.elect(1, 1, 2)
	v.expire(1, 1990, 1)
	v.ask(1, 2500, 2)
	v.add(1, 6000, trace.Record{
		Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:6", Sender: "n2life2", Term: 1, Round: 2,
	})
	v.life[2]++
	v.seq["n2life2"] = 7
	v.lose(2, 9000, "joined 1", 1, 2)
	v.lead(1, 9500, 2)
	in := v.last()
	if _, until := in.MissingFor(2, "without a sign of life here"); !until.Equal(atMS(6000)) {
		t.Errorf("until %v: %+v", until, in)
	}
}

// "Voter 2 without a sign of life here" from when it was asked on, and node 1 read a message of it later, which it sent
// in a record that level info leaves out.
func TestSignOfLifeOfAProcessThatWroteNoMore(t *testing.T) {
	v := newVoters()
	v.level = "info"
	for node := uint64(1); node <= 2; node++ {
		v.start(node, 0)
	}
	v.ask(1, 5, 1)
	v.elect(1, 1, 2)
	v.expire(1, 1990, 1)
	v.ask(1, 2500, 2)
	v.add(1, 6000, trace.Record{
		Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:6", Sender: "n2life1", Term: 1, Round: 2,
	})
	v.life[2]++
	v.add(2, 9000, trace.Record{Event: "timeout"})
	v.lead(1, 9500, 2)
	in := v.last()
	from, until := in.MissingFor(2, "without a sign of life here")
	if !from.Equal(atMS(6000)) || !until.Equal(atMS(9000)) {
		t.Errorf("from %v until %v: %+v", from, until, in)
	}
}

// "Voter 3 stopped": it had said so, but its log is cut short, and its next process began when no other node ran. Where
// one did, that would have seen it.
func TestStoppedWithNobodyToSeeItBack(t *testing.T) {
	for watched, want := range map[bool]string{
		true:  "voter 2 ended, 3 stopped: 1 of 3 remains",
		false: "voters 2 and 3 ended, for a time 1 without a sign of life here: 1 of 3 remains",
	} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
		}
		v.ask(1, 5, 1)
		v.elect(1, 1, 2, 3)
		v.b.Left(trace.Farewell{Time: atMS(500), Node: 3, Cluster: "c"})
		v.lose(1, 600, "left 3", 1, 2)
		v.lose(1, 900, "link-closed 2, dial-refused 2", 1)
		v.expire(1, 1990, 1)
		for ms := 2600; ms < 9000 && (watched || ms < 3000); ms += 300 {
			v.ask(1, ms, 2)
		}
		v.start(1, 9000)
		v.ask(1, 9300, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "Voter 2 … started again and refusing to run" until its first record: at level info, in which its start is none,
// its next process may have run long before.
func TestRefusedAndMayHaveRunSince(t *testing.T) {
	v := newVoters()
	v.level = "info"
	for node := uint64(1); node <= 3; node++ {
		v.start(node, 0)
	}
	v.ask(1, 5, 1)
	v.elect(1, 1, 2, 3)
	v.lose(1, 900, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
	v.expire(1, 1000, 1)
	v.b.Left(trace.Farewell{Time: atMS(4000), Node: 2, Cluster: "c", Error: "why", Code: 2})
	for ms := 1100; ms < 8000; ms += 300 {
		v.ask(1, ms, 2)
	}
	v.life[2]++
	v.lose(2, 8100, "unreachable 1", 2)
	v.ask(1, 8200, 2)
	v.lead(1, 8300, 2)
	want := "voter 2 ended and then refused to run, 3 ended: 1 of 3 remains"
	if in := v.last(); !strings.HasPrefix(in.Why, want) {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "2 ended and not seen meanwhile and then without a sign of life here": node 4, which had just begun, had been told of
// node 2, and could not reach it. Where it had a link, node 2 was there again.
func TestWhoWasOnlyToldOfIsNotThereAgain(t *testing.T) {
	for evidence, want := range map[string]string{
		"unreachable 2": "voters 2 and 3 ended: 1 of 3 remains; surely [2 3]",
		"link-closed 2": "voters 2 and 3 ended: 1 of 3 remains, too few to elect for at least 3.3 s of the 8.5 " +
			"s; surely [3]",
	} {
		v := newVoters()
		v.elect(1, 1, 2, 3)
		v.lose(2, 500, "link-closed 3, dial-refused 3", 1, 2)
		v.lose(1, 500, "link-closed 3, dial-refused 3", 1, 2)
		v.lose(1, 700, "link-closed 2, dial-refused 2", 1)
		v.start(4, 900)
		v.expire(1, 1500, 1)
		v.ask(1, 1600, 2)
		v.lose(4, 4000, "unreachable 3", 1, 2, 4)
		v.lose(4, 4100, evidence, 1, 4)
		v.lose(1, 9000, "", 1)
		if in := v.last(); surely(in) != want {
			t.Errorf("%s: %q, want %q", evidence, in.Why, want)
		}
	}
}

// "Voters 2 and 3 without a sign of life here", and each said, after it had been asked, that it ended. At level info
// they may have refused at once, as often before, which neither they nor who asked them wrote down again.
func TestWhoSaysThatItEndsGivesASignOfLife(t *testing.T) {
	for _, c := range []struct {
		level string
		ms    int
		want  string
	}{
		{"debug", 2500, "the lease of node 1 ended"},
		{"debug", 4000, "voters 2 and 3 not heard to answer and then stopped: 1 of 3 remains, " +
			"too few to elect for at least 2.1 s of the 3.1 s"},
		{"info", 4000, "voters 2 and 3 without a sign of life here and then stopped: 1 of 3 remains, " +
			"too few to elect for at least 2.1 s of the 3.1 s"},
	} {
		v, ms, want := newVoters(), c.ms, c.want
		v.level = c.level
		v.ask(1, 0, 1)
		v.elect(1, 1, 2, 3)
		v.expire(1, 1000, 1)
		v.ask(1, 2000, 2)
		for _, id := range []uint64{2, 3} {
			v.b.Left(trace.Farewell{Time: atMS(ms), Cluster: "c", Node: id, Message: "the node resigned and left"})
		}
		v.add(1, ms+100, trace.Record{Event: "timeout", Term: 1})
		if in := v.last(); in.Why != want {
			t.Errorf("%q, want %q", in.Why, want)
		}
	}
}

// "The lease of node 3 ended" was told of an outage in which two of three voters were paused for long: one of them was
// known to be in another way meanwhile, and neither time was long enough.
func TestVotersWereMissingInSeveralWays(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.exchange(1, 0, 1, 2)
	v.exchange(2, 0, 3, 4)
	v.elect(3, 1, 1, 2)
	v.expire(3, 1000, 1)
	v.ask(1, 1500, 2)
	v.lose(1, 2700, "heartbeat-missed 2", 1, 3)
	for _, id := range []uint64{2, 3} {
		v.add(id, 5000, trace.Record{Event: "timeout", Term: 1})
		v.add(id, 5001, trace.Record{
			Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: fmt.Sprintf("1:1500%d", id), Term: 1, Round: 2,
		})
	}
	v.lead(1, 13000, 2)
	in := v.last()
	const want = "voter 2 not heard to answer and then silent, 3 not heard to answer: 1 of 3 remains, " +
		"too few to elect for at least 3.5 s of the 12 s"
	if in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "Voter 2 silent" until 16 s, and node 1, which at level info had written nothing for long, read a message of it
// before. At level debug that says that node 1 had slept: the message may be old.
func TestSilentUntilReadAtLevelInfo(t *testing.T) {
	for level, want := range map[string]int{"info": 9000, "debug": 16000} { // ms
		v := newVoters()
		v.level = level
		v.exchange(1, 0, 1, 2)
		v.exchange(2, 0, 3, 4)
		v.elect(3, 1, 1, 2)
		v.expire(3, 1990, 1)
		v.lose(1, 2000, "unreachable 2, unreachable 3", 1)
		v.ask(1, 2500, 2)
		v.add(1, 9000, trace.Record{
			Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:99", Term: 1, Round: 2, Why: []string{"x -> y"},
		})
		v.lost(2, 9)
		v.add(2, 16000, trace.Record{Event: "timeout", Term: 1})
		v.lead(1, 17000, 2)
		in := v.last()
		if from, until := in.MissingFor(2, "silent"); !from.Equal(atMS(2000)) || !until.Equal(atMS(want)) {
			t.Errorf("%s: from %v until %v: %q", level, from, until, in.Why)
		}
	}
}

// "Voter 2 silent", and it was well: who had lost sight of it had ended, and records of it are missing. Nothing tells
// that it sent nothing meanwhile: at level info others need not write what they read. So it is where its log ends
// before, and others had a message that it sent later; but until then it was there.
func TestSilentInAGapAndSeenByNobody(t *testing.T) {
	for _, c := range []struct {
		missing uint64
		next    bool // who lost sight of it is another process
		cut     bool // its log ends before
		how     string
	}{
		{0, true, false, "silent"},
		{9, false, false, "silent"},
		{9, true, false, "without a sign of life here"},
		{0, false, true, "silent"},
		{0, true, true, "without a sign of life here"},
	} {
		v := newVoters()
		v.level = "info"
		if !c.cut {
			v.exchange(1, 0, 1, 2)
			v.exchange(2, 0, 3, 4)
		}
		v.elect(3, 1, 1, 2)
		v.expire(3, 1990, 1)
		v.lose(1, 2000, "unreachable 2, unreachable 3", 1)
		if c.next {
			v.life[1]++
		}
		v.ask(1, 2500, 2)
		v.lost(2, c.missing)
		if c.cut {
			v.add(2, 2600, trace.Record{Event: "timeout", Term: 1})
			v.add(1, 16000, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE_REPLY", MsgID: "2:99", Term: 1})
		} else {
			v.add(2, 16000, trace.Record{Event: "timeout", Term: 1})
		}
		v.lead(1, 17000, 2)
		in := v.last()
		from, until := in.MissingFor(2, c.how)
		if wrote := c.cut && c.next && from.Before(atMS(2600)); !until.Equal(atMS(16000)) || wrote {
			t.Errorf("%+v: from %v until %v: %q", c, from, until, in.Why)
		}
	}
}

// "Voter 2 silent", and it was well: a message of it came as soon as it was lost. It may have been lost for a moment to
// one that then slept itself.
func TestSilentToOneThatHeardItAtOnce(t *testing.T) {
	for heard, how := range map[bool]string{false: "silent", true: "without a sign of life here"} {
		v := newVoters()
		v.exchange(1, 0, 1, 2)
		v.exchange(2, 0, 3, 4)
		v.elect(3, 1, 1, 2)
		v.expire(3, 1990, 1)
		for ms := 500; ms < 2000; ms += 500 { // it does not sleep
			v.add(1, ms, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1990)})
		}
		v.lose(1, 2000, "unreachable 2, unreachable 3", 1)
		if heard {
			v.add(1, 2090, trace.Record{
				Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:99", Term: 1, Round: 2, Why: []string{"x -> y"},
			})
		}
		v.ask(1, 2500, 2)
		v.lost(2, 9)
		v.add(2, 16000, trace.Record{Event: "timeout", Term: 1})
		v.lead(1, 17000, 2)
		in := v.last()
		if from, until := in.MissingFor(2, how); from.IsZero() || !until.Equal(atMS(16000)) {
			t.Errorf("heard %v: from %v until %v: %q", heard, from, until, in.Why)
		}
	}
}
