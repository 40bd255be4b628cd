package rounds_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "No finding on a healthy run": at level info a process writes no record of its start, but it says when it is up. One
// that began after a leader had stopped cannot know of it, and may lead the same term where there are no voters.
func TestBeganAfterTheLeader(t *testing.T) {
	for _, up := range []int{900, 1900} {
		s := newScript()
		s.add(2, -100, trace.Record{
			Term: 3, Event: "timeout", Leader: 2, Why: []string{"no higher node is alive -> lead term 3"},
			Sent: []string{"COORDINATOR>1#2:1"},
		})
		s.add(1, -99, trace.Record{
			Term: 3, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1", Leader: 2,
			Why: []string{"2 leads term 3 -> follow it"},
		})
		s.add(1, 0, trace.Record{
			Term: 4, Event: "peers", Alive: []uint64{1}, Evidence: "link-closed 2, dial-refused 2", Leader: 1,
			Why: []string{"leader 2 is gone -> call an election of term 4", "no higher node is alive -> lead term 4"},
		})
		s.add(1, 1600, trace.Record{
			Term: 4, Event: "resign", Why: []string{"asked to resign -> step down, nobody is there to take over"},
		})
		s.incarnation, s.seq[2] = "bbbbbbbb", 0
		s.b.Up(trace.Greeting{
			Time: s.zero.Add(time.Duration(up) * time.Millisecond), Cluster: "c", Node: 2, Incarnation: s.incarnation,
		})
		s.add(2, 2400, trace.Record{
			Term: 4, Event: "timeout", Leader: 2,
			Why: []string{
				"no leader was heard of -> call an election of term 4", "no higher node is alive -> lead term 4",
			},
		})
		g := s.b.History().Groups[0]
		if found := len(g.Findings) > 0; found != (up < 1600) {
			t.Errorf("up after %d ms: %+v", up, g.Findings)
		}
	}
}

// greet writes that a process of the node begins, which writes no record.
func (v *voters) greet(node uint64, ms int) {
	v.life[node]++
	v.b.Up(trace.Greeting{
		Time: atMS(ms), Cluster: "c", Node: node, Algorithm: "raft",
		Incarnation: fmt.Sprintf("n%dlife%d", node, v.life[node]),
	})
}

// livesOf returns what is told of the processes of a node.
func (v *voters) livesOf(node uint64) []rounds.Life {
	for _, n := range v.b.History().Groups[0].Nodes {
		if n.ID == node {
			return n.Lives
		}
	}
	return nil
}

// "lives: not as many as there were": a process that was killed before its first record said that it runs. The one
// before it had ended by then, and it had ended itself when the next one began.
func TestKilledBeforeItsFirstRecord(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.follow(2, 20, 1, 1)
	v.greet(2, 1000)
	v.start(2, 2000)
	lives := v.livesOf(2)
	if len(lives) != 3 {
		t.Fatalf("%+v", lives)
	}
	up := rounds.Ref{Node: 2, Incarnation: "n2life1"}
	first, silent := lives[0].Events, lives[1]
	if len(first) != 1 || first[0].Kind != rounds.Ended || first[0].Known != rounds.Inferred ||
		!first[0].At.Equal(atMS(1000)) || first[0].Ref != up {
		t.Errorf("the process before it: %+v", first)
	}
	if silent.First != up || silent.Last != up || !silent.From.Equal(atMS(1000)) || len(silent.Events) != 2 ||
		silent.Events[0].Kind != rounds.Started || silent.Events[0].Known != rounds.OwnWord ||
		silent.Events[1].Kind != rounds.Ended || !silent.Events[1].At.Equal(atMS(2000)) {
		t.Errorf("%+v", silent)
	}
}

// The last process of a node believes nothing before its first record, whatever the one before it believed; and its
// peers may see its end.
func TestLastProcessWithoutRecords(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.greet(2, 1000)
	v.lose(1, 1100, "new-incarnation 2", 1, 2, 3)
	v.lose(1, 2000, "link-closed 2, dial-refused 2", 1, 3)
	for _, n := range v.b.History().Groups[0].Nodes {
		if n.ID != 2 {
			continue
		}
		up := rounds.Ref{Node: 2, Incarnation: "n2life1"}
		if n.Leader != 0 || n.Last != up || n.Restarts != 1 || n.Records != 1 {
			t.Errorf("%+v", n)
		}
		e := n.Lives[len(n.Lives)-1].Events
		if len(e) != 2 || e[1].Kind != rounds.Ended || e[1].Known != rounds.PeersSaw || !e[1].At.Equal(atMS(2000)) {
			t.Errorf("%+v", e)
		}
	}
}

// A process that says that it runs, and ends since another one is its node, ends nobody's life. Nor does one of another
// algorithm, or one that wrote records after all.
func TestGreetingsThatEndNoLife(t *testing.T) {
	for name, happens := range map[string]func(v *voters){
		"the one before it went on": func(v *voters) {
			v.greet(2, 1000)
			v.life[2]--
			v.add(2, 1500, trace.Record{Event: "timeout"})
		},
		"its id was taken": func(v *voters) {
			v.greet(2, 1000)
			v.b.Left(trace.Farewell{
				Time: atMS(1100), Cluster: "c", Node: 2, Error: "taken (incarnation n2life0)", Code: 5,
			})
		},
		"another algorithm": func(v *voters) {
			v.b.Up(trace.Greeting{
				Time: atMS(1000), Cluster: "c", Node: 2, Algorithm: "ring", Incarnation: "other",
			})
		},
		"it wrote before": func(v *voters) {
			v.b.Up(trace.Greeting{
				Time: atMS(25), Cluster: "c", Node: 2, Algorithm: "raft", Incarnation: "n2life0",
			})
		},
	} {
		v := newVoters()
		v.level = "info"
		v.follow(2, 20, 1, 1)
		happens(v)
		over := func(e rounds.LifeEvent) bool { return e.Kind != rounds.Started }
		if lives := v.livesOf(2); len(lives) != 1 || slices.ContainsFunc(lives[0].Events, over) {
			t.Errorf("%s: %+v", name, lives)
		}
	}
}

// "Lives on the timeline: started … as far as records and peers tell": at level info no record tells of a start that
// decided nothing, but the line by which the process says that it runs.
func TestStartByGreeting(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.greet(2, 1000)
	v.follow(2, 3000, 1, 1)
	want := rounds.LifeEvent{
		Kind: rounds.Started, At: atMS(1000), Known: rounds.OwnWord, Ref: rounds.Ref{Node: 2, Incarnation: "n2life1"},
	}
	if lives := v.livesOf(2); len(lives) != 1 || !slices.Equal(lives[0].Events, []rounds.LifeEvent{want}) {
		t.Errorf("%+v", lives)
	}
}

// "Nobody led, but somebody did": a leader had ended when the next process of its node said that it runs, and not when
// the one after that wrote a record.
func TestLeaderEndedByGreeting(t *testing.T) {
	v := newVoters()
	v.level, v.guarantee = "info", "best-effort"
	v.lead(3, 10, 1)
	v.follow(2, 20, 3, 1)
	v.greet(3, 1000)
	v.start(3, 4000)
	led := v.b.History().Groups[0].Leaderships[0]
	if !led.End.Equal(atMS(1000)) || led.Ended.Kind != rounds.EndedByProcess || led.Ended.Known != rounds.Inferred ||
		led.Ended.Ref != (rounds.Ref{Node: 3, Incarnation: "n3life1"}) {
		t.Errorf("%v: %+v", led.End, led.Ended)
	}
}

// "A voter was dead, and it was well": it was back when its next process said that it runs, although that wrote no
// record, and was away again from the time when it was lost again.
func TestBackByGreeting(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(1, 0, 1)
	v.elect(1, 1, 2, 3)
	v.expire(1, 900, 1)
	v.lose(1, 1000, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
	v.greet(3, 4000)
	v.ask(1, 5000, 2)
	v.lead(1, 5500, 2)
	in := v.last()
	if from, until := in.Lack(); in.Why != "voters 2 and 3 ended: 1 of 3 remains,"+
		" too few to elect for at least 3 s of the 4.6 s" ||
		!until.Equal(atMS(4000)) {
		t.Errorf("%q, %v to %v", in.Why, from, until)
	}
}

// A process that wrote a record after all is told by its records: the end of the one before is inferred from the first.
func TestGreetingBeforeTheFirstRecord(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.follow(2, 20, 1, 1)
	v.lead(1, 10, 1)
	v.greet(2, 1000)
	v.add(2, 1010, trace.Record{Event: "timeout"})
	lives := v.livesOf(2)
	if len(lives) != 2 || lives[1].First.Seq != 1 || !lives[0].Events[0].At.Equal(atMS(1010)) {
		t.Errorf("%+v", lives)
	}
}

// What is told of processes without records is the same while records come in, although what is over is forgotten.
func TestGreetingsOfAStream(t *testing.T) {
	told := func(b *rounds.Builder) []rounds.Life {
		v := newVoters()
		v.b = b
		v.level = "info"
		v.greet(3, 0)
		for term := 1; term < 20; term++ {
			at := 20_000 * term
			if term%3 == 1 {
				v.start(3, at)
			}
			v.lead(1, at+10, uint64(term))
			v.follow(2, at+20, 1, uint64(term))
			v.follow(3, at+30, 1, uint64(term))
			if term%3 == 0 {
				v.greet(3, at+5000)
				v.greet(3, at+6000)
			}
		}
		return v.livesOf(3)
	}
	stream, batch := told(rounds.NewBoundedBuilder(rounds.Bounds{Records: 16, Whole: true})), told(rounds.NewBuilder())
	if len(batch) != 20 || !reflect.DeepEqual(stream, batch) {
		t.Errorf("while records come in:\n%+v\nat the end:\n%+v", stream, batch)
	}
}

// "No false statement": if no messages compare the clocks of two leaders of one term, one may have been dead when the
// other ceased to lead, and the finding says so.
func TestTwoLeadersByClocksThatAreNotCompared(t *testing.T) {
	for _, ahead := range []int{0, 3600e3} { // by how much the clock of node 1 is ahead, in ms
		s := newScript()
		for node, at := range map[uint64]int{1: ahead, 2: 100} {
			for _, ms := range []int{0, 500} {
				s.add(node, at+ms, trace.Record{
					Term: 4, Event: "timeout", Leader: node, Why: []string{"no higher node is alive -> lead term 4"},
				})
			}
		}
		found := s.b.History().Groups[0].Findings
		if len(found) != 1 || found[0].Name != rounds.TwoLeaders {
			t.Fatalf("%d ms ahead: %+v", ahead, found)
		}
		if unsure := strings.Contains(found[0].Text, "No messages compare their clocks"); unsure != (ahead > 0) {
			t.Errorf("%d ms ahead: %q", ahead, found[0].Text)
		}
	}
}

// "No finding on a healthy run": a leader that wrote nothing any more may have been killed when another one, which had
// started anew and could not know of it, began to lead its term. That is said, unless a record tells that it led on.
func TestTwoLeadersOfWhichOneMayHaveEnded(t *testing.T) {
	for _, ledOn := range []bool{false, true} {
		v := newVoters()
		v.level, v.guarantee = "info", "best-effort"
		v.exchange(1, 1, -900, -899)
		v.exchange(2, 1, -800, -799)
		v.leadAlone(1, 0, 4)
		v.life[2]++
		v.leadAlone(2, 2000, 4)
		if ledOn {
			v.add(1, 3000, trace.Record{Event: "peers", Term: 4, Leader: 1, Alive: []uint64{1}})
		}
		found := v.b.History().Groups[0].Findings
		if len(found) != 1 || found[0].Name != rounds.TwoLeaders {
			t.Fatalf("led on %v: %+v", ledOn, found)
		}
		unsure := "It is no fault if node 1 had ended by then: the last record that tells of it is from 2 s before."
		if strings.Contains(found[0].Text, unsure) == ledOn {
			t.Errorf("led on %v: %q", ledOn, found[0].Text)
		}
	}
}

// "No false statement": a leader whose records are missing may have been dead when another one began to lead its term.
// Under a lease no two may lead it, one after the other or not.
func TestFollowedOneWhoseRecordsAreMissing(t *testing.T) {
	for _, guarantee := range []string{"best-effort", "lease"} {
		v := newVoters()
		v.guarantee = guarantee
		v.follow(3, 20, 1, 4)
		v.lead(2, 1000, 4)
		found := v.b.History().Groups[0].Findings
		if len(found) != 1 || found[0].Name != rounds.TwoLeaders {
			t.Fatalf("%s: %+v", guarantee, found)
		}
		if unsure := strings.Contains(found[0].Text, "It is no fault if"); unsure == (guarantee == "lease") {
			t.Errorf("%s: %q", guarantee, found[0].Text)
		}
	}
}

// "0 of 3 when the logs end": a voter is there whose process says so in the last line of all.
func TestBackAsTheLogsEnd(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(1, 0, 1)
	v.elect(1, 1, 2, 3)
	v.expire(1, 900, 1)
	v.lose(1, 1000, "link-closed 2, dial-refused 2, link-closed 3, dial-refused 3", 1)
	v.ask(1, 4000, 2)
	v.greet(1, 5000)
	v.b.Line("c", 1, atMS(5000))
	if in, want := v.last(), "voters 2 and 3 ended: 1 of 3 remains"; in.Why != want {
		t.Errorf("%q, want %q", in.Why, want)
	}
}

// A message is paired with its receipt, however many processes of its sender were killed before they wrote a record.
func TestMessageAfterManySilentProcesses(t *testing.T) {
	v := newVoters()
	v.start(2, 0)
	v.start(1, 0)
	for i := range 20 {
		v.greet(1, 100+10*i)
	}
	v.start(1, 1000)
	v.send(1, 1010, 1, "1:1", "x -> y")
	v.receive(2, 1020, 1, "1:1")
	g := v.b.History().Groups[0]
	arrived := false
	for _, m := range g.Rounds[len(g.Rounds)-1].Messages {
		arrived = arrived || m.ID == "1:1" && m.ReceiveStep >= 0
	}
	if !arrived {
		t.Errorf("%+v", g.Rounds[len(g.Rounds)-1].Messages)
	}
}

// "Where several processes of the node wrote a 17th record, the process is named too": so it is where one of them ended
// since the other one was the node. "[1:1]" was told of either.
func TestRecordsOfWhoWasNotTheNodeAreNamedWithTheirProcess(t *testing.T) {
	v := newVoters()
	v.follow(2, 20, 1, 1)
	v.life[2]++
	v.add(2, 1000, trace.Record{Event: "timeout"})
	v.b.Left(trace.Farewell{Time: atMS(1100), Cluster: "c", Node: 2, Error: "taken (incarnation n2life0)", Code: 5})
	v.life[2]--
	v.add(2, 1500, trace.Record{Event: "timeout"})
	for seq, want := range map[uint64]string{1: "2:1@n2life0", 2: "2:2"} {
		ref := rounds.Ref{Node: 2, Incarnation: "n2life0", Seq: seq}
		if got := v.b.History().Groups[0].Names.Of(ref); got != want {
			t.Errorf("named %q, want %q", got, want)
		}
	}
}

// "Nobody led for 10.1 s" until the logs end, "nodes 1, 2 and 3 stopped": they were started again with another
// algorithm, and led by it. What a process of another algorithm writes is not of the log of this one.
func TestLogsEndWhereAnotherAlgorithmBegins(t *testing.T) {
	for _, wrote := range []bool{false, true} {
		v := newVoters()
		v.elect(3, 1, 1, 2)
		v.resign(3, 1000, 1)
		v.b.Left(trace.Farewell{Time: atMS(1500), Cluster: "c", Node: 2})
		v.b.Up(trace.Greeting{Time: atMS(9000), Cluster: "c", Node: 3, Algorithm: "ring", Incarnation: "n3life1"})
		v.b.Line("c", 3, atMS(9500))
		if wrote {
			v.algo = "ring"
			v.life[3]++
			v.add(3, 9400, trace.Record{Event: "timeout", Term: 2})
		}
		if in := v.b.History().Groups[0].Incidents; in[len(in)-1].Leaderless != 500*time.Millisecond {
			t.Errorf("wrote %v: %+v", wrote, in)
		}
	}
}

// "The nodes run different algorithms, and cannot elect a leader together" was told of nodes that elect under one
// lease, whatever nominates there: a cluster that changes its algorithm node by node. It was told, too, of a node that
// had run another one for a while, and did so no more.
func TestAlgorithmsAtOnce(t *testing.T) {
	const ran = "The nodes of cluster \"c\" ran different algorithms at once, "
	for _, c := range []struct {
		algo  string
		again bool
		want  string
	}{
		{"ring", false, ran + "under one lease: bully on nodes 1, 2 and 3, ring on node 3, each told by itself."},
		{"ring", true, ran + "under one lease: bully on nodes 1, 2 and 3, ring on node 3, each told by itself."},
		{"raft", true, ran + "and could not elect a leader together then: bully on nodes 1, 2 and 3, raft on node 3."},
		{"raft", false, "The nodes of cluster \"c\" run different algorithms, and cannot elect a leader together: " +
			"bully on nodes 1, 2 and 3, raft on node 3."},
	} {
		v := newVoters()
		v.algo = "bully"
		v.elect(2, 1, 1, 3)
		v.algo = c.algo
		v.life[3]++
		v.follow(3, 2000, 2, 1)
		v.algo = "bully"
		v.add(1, 3000, trace.Record{Event: "timeout", Term: 1, Leader: 2})
		if c.again {
			v.life[3]++
			v.follow(3, 4000, 2, 1)
		}
		if notes := v.b.History().Notes; len(notes) != 1 || notes[0] != c.want {
			t.Errorf("%s, again %v: %q, want %q", c.algo, c.again, notes, c.want)
		}
	}
}

// "The nodes run different algorithms, and cannot elect a leader together" was told of nodes that had all been started
// again with another one, and had elected a leader.
func TestAlgorithmsOneAfterTheOther(t *testing.T) {
	for last, want := range map[int]string{
		2000: "The nodes of cluster \"c\" changed their algorithm: raft on nodes 1, 2 and 3, then bully on nodes " +
			"1, 2 and 3, each told by itself.",
		6000: "The nodes of cluster \"c\" run different algorithms, and cannot elect a leader together: raft on nodes",
	} {
		v := newVoters()
		v.elect(3, 1, 1, 2)
		v.resign(3, 1000, 1)
		v.add(1, last, trace.Record{Event: "timeout", Term: 1})
		v.algo = "bully"
		for node := range uint64(3) {
			v.life[node+1]++
			v.follow(node+1, 5000, 3, 2)
		}
		if notes := v.b.History().Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
			t.Errorf("%q, want %q", notes, want)
		}
	}
}
