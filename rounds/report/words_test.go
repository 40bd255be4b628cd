package report_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// caseOf returns the only group of a case, the logs of a real cluster.
func caseOf(t *testing.T, name string) *rounds.Group {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "cases", name, "*.log"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	b := rounds.NewBuilder()
	batch := logs.Batch{Paths: paths}
	batch.Read(b, func(err error) { t.Error(err) })
	return b.History().Groups[0]
}

// tells fails unless the text, without its line breaks, has all of the words, and none of those that begin with "!".
func tells(t *testing.T, text string, words ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range words {
		unwanted, not := strings.CutPrefix(want, "!")
		if strings.Contains(flat, unwanted) == not {
			t.Errorf("it says\n%s\nwant %q", text, want)
		}
	}
}

// One outage has one length wherever it is told, the least that the records prove; whatever else is told of it says
// what it is, and from when on it counts.
func TestAnOutageHasOneLength(t *testing.T) {
	g := caseOf(t, "outage-17s-quorum-lost")
	var list, story bytes.Buffer
	if err := report.List(&list, g, report.Selection{}); err != nil {
		t.Fatal(err)
	}
	tells(t, list.String(), "TERM BEGAN LEADER", " ≥16.2 s voter 5 ended",
		"the longest at least 16.2 s from 11:51:16.284 on, and at most 17.2 s, if from 11:51:15.294 on: ", "!≤17.2 s")
	for _, r := range g.Rounds {
		if r.Term == 3 {
			if err := report.Explain(&story, g, r, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	tells(t, story.String(), "Nobody led for at least 16.2 s, from 11:51:16.284 until",
		"at most 17.2 s, if from 11:51:15.294 on",
		"At 11:51:14.680 (the first sign of term 3) node 3 took the leader, node 4, for gone: ",
		"Node 1 won 17.8 s after the first sign: ", "wrote again 17.7 s after the first sign, so it hung")
	if !strings.Contains(story.String(), "\n\nNot known:\n- Why 79 messages were sent") ||
		!strings.Contains(story.String(), "\n- Whether 88 messages arrived") {
		t.Errorf("what is not known is no list:\n%s", story.String())
	}
}

// A clock is behind another one, and not behind "the others'", of which most are behind, too.
func TestAClockIsBehindAnother(t *testing.T) {
	var text bytes.Buffer
	if err := report.Remarks(&text, caseOf(t, "clocks-all-differ")); err != nil {
		t.Fatal(err)
	}
	tells(t, text.String(), "The wall clock of node 1 is 7m0s behind that of node 5, by which all times here are told",
		"The wall clock of node 3 is 37 s ahead of that of node 5, by which", "!the others'")
}

// Messages in one direction tell only how far two clocks differ at least, and no error of what is told.
func TestAClockIsOffByAtLeast(t *testing.T) {
	g := &rounds.Group{
		Nodes: []rounds.Node{{ID: 1, Records: 1}, {ID: 2, Records: 1}, {ID: 3, Records: 1}},
		Clocks: []rounds.Clock{
			{Node: 2, Offset: -10 * time.Minute}, {Node: 3, Offset: time.Hour, Error: time.Millisecond},
		},
	}
	var text bytes.Buffer
	if err := report.Remarks(&text, g); err != nil {
		t.Fatal(err)
	}
	tells(t, text.String(), "node 2 is at least 10m0s behind that of node 1, by which all times here are told, judged "+
		"by its messages in one direction; ", "node 3 is 1h0m0s ahead of that of node 1, by which all times here are "+
		"told, judged by its messages, give or take 1.00 ms")
	var unknown bytes.Buffer // "The time: not known; clocks differ, so these are estimates"
	r := &rounds.Round{Term: 1, Split: rounds.Split{Estimated: true, Error: time.Millisecond}}
	if err := report.Explain(&unknown, g, r, false); err != nil {
		t.Fatal(err)
	}
	tells(t, unknown.String(), "The time: not known.", "!estimates")
	for most, told := range map[time.Duration]string{
		0:                "so these are estimates, and no messages tell how far off they are",
		time.Millisecond: "so these are estimates, right within 1.00 ms",
	} {
		r := &rounds.Round{Term: 1, Split: rounds.Split{ElectKnown: true, Estimated: true, Error: most}}
		var story bytes.Buffer
		if err := report.Explain(&story, g, r, false); err != nil {
			t.Fatal(err)
		}
		tells(t, strings.Join(strings.Fields(story.String()), " "), "clocks differ, "+told+".")
	}
}

// readUntil reads the lines of the case outage-17s-quorum-lost that were written before a time of the day.
func readUntil(t *testing.T, time string, builders ...*rounds.Builder) {
	t.Helper()
	paths, _ := filepath.Glob("../testdata/cases/outage-17s-quorum-lost/*.log")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var early bytes.Buffer
		for line := range bytes.Lines(text) {
			if at := bytes.Index(line, []byte(`"time":"2026-11-`)); at >= 0 && string(line[at+19:at+27]) < time {
				early.Write(line)
			}
		}
		for _, b := range builders {
			if _, err := logs.Read(bytes.NewReader(early.Bytes()), b); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Why a leader leads no more is told beside which voters were missing then: "1 of 3 remain voters answered" was told.
func TestWhyNotOfWhoLostTheVoters(t *testing.T) {
	b := rounds.NewBuilder()
	readUntil(t, "11:51:34", b)
	var why bytes.Buffer
	if err := report.WhyNot(&why, b.History().Groups[0], 4); err != nil {
		t.Fatal(err)
	}
	tells(t, why.String(), "Node 4 has led nobody since 11:51:16.28", "its lease ended; voter", "of 5 remain [",
		"!remain voters")
}

// Where records leave open when the last leadership ended, nobody leads since then at the latest, wherever it is told.
func TestSinceWhenNobodyLeadsAtTheLatest(t *testing.T) {
	follow, whole := rounds.NewBriefBuilder(), rounds.NewBuilder()
	readUntil(t, "11:51:25", follow, whole)
	var list, why, vacant bytes.Buffer
	g := whole.History().Groups[0]
	follow.Ended(true) // twice: the round of the last leader is over when no record came in between
	follow.Ended(true)
	err := errors.Join(report.List(&list, g, report.Selection{}), report.WhyNot(&why, g, 4))
	for _, v := range follow.Leaderless() {
		err = errors.Join(err, report.Vacant(&vacant, follow.Names(), v))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{list.String(), why.String(), vacant.String()} {
		tells(t, text, "since 11:51:16.284 at the latest, perhaps since 11:51:15.294: ")
	}
	tells(t, why.String(), "Node 4 has led nobody since 11:51:16.284 at the latest, perhaps since 11:51:15.294: ")
}

// Of a node that ended nothing is told that it was until then, such as that it stands aside, also where its peers saw
// its end. Of one that led and was started again, both are told.
func TestWhyNotOfWhatANodeWas(t *testing.T) {
	why := func(name string, id uint64) string {
		var text bytes.Buffer
		if err := report.WhyNot(&text, caseOf(t, name), id); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	tells(t, why("all-told-to-stop", 4), "it said good-bye", "!stands aside")
	tells(t, why("paused-and-killed", 3), "Node 3 has led nobody since 09:22:08.877: its process ended "+
		"[peers saw: 1:6]. It was started again at 09:22:21.927 [3:0@b781635c].")
}

// "Node 3 has led nobody since 09:49:04.196 at the latest, perhaps since 09:48:55.784: ; voters 1 and 2": where no
// record tells how a leadership ended, nothing is told of that.
func TestWhyNotOfAnEndThatNobodySaw(t *testing.T) {
	var text bytes.Buffer
	if err := report.WhyNot(&text, caseOf(t, "all-killed-at-once"), 3); err != nil {
		t.Fatal(err)
	}
	tells(t, text.String(), "perhaps since 09:48:55.784 [")
}

// "It wrote again after that: its last record is of 09:48:37.276" was told of a node that others had lost at
// 09:48:39.922, and that was frozen still. No messages compared its clock with those of the others.
func TestWhoWroteNothingAfterItsLossDidNotWriteAgain(t *testing.T) {
	at := time.Date(2026, 11, 28, 9, 48, 39, 922e6, time.UTC)
	lost := rounds.Dropped{ID: 5, Detection: rounds.Detection{Node: 2, Evidence: "heartbeat-missed 5", At: at}}
	for wrote, again := range map[time.Duration]string{-time.Second: "!It wrote again", time.Second: "It wrote again"} {
		life := rounds.Life{From: at.Add(-time.Minute), Until: at.Add(wrote)}
		g := &rounds.Group{Nodes: []rounds.Node{
			{ID: 2, Records: 1, Lives: []rounds.Life{life}, Gone: []rounds.Dropped{lost}},
			{ID: 5, Records: 1, Lives: []rounds.Life{life}},
		}}
		var text bytes.Buffer
		if err := report.WhyNot(&text, g, 5); err != nil {
			t.Fatal(err)
		}
		tells(t, text.String(), "node 5 stopped answering heartbeats of node 2", again)
	}
}

// A node that says "this node" is named in its place: the words are told in those of others.
func TestNodesAreNamed(t *testing.T) {
	r := &rounds.Round{Term: 6, Cause: rounds.Cause{
		Kind: rounds.HigherRank, Node: 4, Text: "this node ranks above leader 3",
	}}
	var line bytes.Buffer
	if err := report.Line(&line, caseOf(t, "id-taken").Names, r); err != nil {
		t.Fatal(err)
	}
	tells(t, line.String(), " node 4 ranks above leader 3", "!this node", "!(node 4)")
}

// "Nodes 4 and 5 called the election of term 2" was told of node 5 that had been killed before that election, and was
// started again and asked for votes when others had followed the winner for long.
func TestWhoCalledWhenItWasDecidedIsToldApart(t *testing.T) {
	call, win, late := rounds.Ref{Node: 4, Seq: 6}, rounds.Ref{Node: 4, Seq: 7}, rounds.Ref{Node: 5, Seq: 2}
	r := &rounds.Round{
		Term: 2, State: rounds.Decided, Winner: &rounds.Winner{Node: 4, Ref: win}, Aftermath: 2,
		Steps:      []rounds.Step{{Ref: call}, {Ref: win}, {Ref: late}},
		Initiators: []rounds.Initiator{{Node: 4, Ref: call}, {Node: 5, Ref: late}, {Node: 4, Ref: late}},
	}
	var story bytes.Buffer
	if err := report.Explain(&story, &rounds.Group{}, r, false); err != nil {
		t.Fatal(err)
	}
	tells(t, story.String(),
		"Node 4 called the election of term 2 [4:6]. Node 5 called it when it was decided already [5:2].")
}

// Who leads while another leads the same term is not told alone.
func TestTwoLeadersOfATerm(t *testing.T) {
	var list bytes.Buffer
	if err := report.List(&list, caseOf(t, "split-mended-false-lost"), report.Selection{}); err != nil {
		t.Fatal(err)
	}
	tells(t, list.String(), " 11:49:53.802 4, 5 4 of 4 ", "two-leaders: Nodes 4 and 5 both led term 6")
}

// A leader may have been dead or frozen for long when a record first tells that it leads no more. "Node 3 led until
// node 2 did" was told of one that was killed, and "until node 0 did" where the logs end.
func TestUntilWhenAReplacedLeaderLedIsAtTheLatest(t *testing.T) {
	at := time.Date(2026, 11, 28, 6, 40, 9, 898e6, time.UTC)
	by := rounds.Ref{Node: 2, Seq: 14}
	for _, c := range []struct {
		ended  rounds.Ending
		leader uint64
		told   string
	}{
		{
			rounds.Ending{Kind: rounds.EndedByProcess, Known: rounds.PeersSaw, Ref: by},
			2,
			"Node 3 led until 06:40:09.898 at the latest, since its process had ended by then; " +
				"node 2 had begun to lead by 06:40:09.798.",
		},
		{
			rounds.Ending{Kind: rounds.EndedByWord, Known: rounds.OwnWord, Ref: by},
			2,
			"Node 3 led until 06:40:09.898 at the latest, by its own word; " +
				"node 2 had begun to lead by 06:40:09.798.",
		},
		{
			rounds.Ending{Kind: rounds.EndedByWord, Known: rounds.PeersSaw, Ref: by},
			3,
			"Node 3 led until 06:40:09.898 at the latest, by its word to others; " +
				"it had begun to lead again, in term 5, by 06:40:09.798.",
		},
		{
			rounds.Ending{Kind: rounds.EndedByLease, Known: rounds.OwnWord, Ref: by},
			0,
			"Node 3 led until 06:40:09.898 at the latest, since its lease had ended by then; " +
				"nobody led when the logs ended.",
		},
		{
			rounds.Ending{Kind: rounds.EndedByLoss, Known: rounds.PeersSaw, Ref: by},
			2,
			"Node 2 led as soon as node 3 was lost to others.",
		},
	} {
		in := &rounds.Incident{
			Former: 3, FormerTerm: 4, From: at, Ended: c.ended, Leader: c.leader, Term: 5,
			Until: at.Add(-100 * time.Millisecond), Terms: []uint64{5},
		}
		var story bytes.Buffer
		r := &rounds.Round{Term: 5, Incident: in}
		if err := report.Explain(&story, &rounds.Group{}, r, false); err != nil {
			t.Fatal(err)
		}
		tells(t, story.String(), c.told)
	}
}

// The list of which nodes are there is a sentence: "nodes 2 and 3 silent" had no verb.
func TestWhichNodesAreThereIsASentence(t *testing.T) {
	lives := func(id uint64, kind rounds.LifeEventKind) rounds.Node {
		event := rounds.LifeEvent{Kind: kind, Known: rounds.PeersSaw, Ref: rounds.Ref{Node: 1, Seq: id}}
		return rounds.Node{ID: id, Records: 1, Lives: []rounds.Life{{Events: []rounds.LifeEvent{event}}}}
	}
	first := rounds.Ref{Node: 1, Seq: 1}
	for told, nodes := range map[string][]rounds.Node{
		"Of 4 nodes, nodes 2 and 3 are silent to node 1 [peers saw: 1:2 1:3], node 4 has no log here and the other " +
			"runs, as far as the records tell": {lives(2, rounds.Silent), lives(3, rounds.Silent), {ID: 4}},
		"Of 4 nodes, node 2 ended [peers saw: 1:2], node 3 is silent [peers saw: 1:3], node 4 has no log here and": {
			lives(2, rounds.Ended), lives(3, rounds.Silent), {ID: 4},
		},
		"Of 3 nodes, nodes 2 and 3 have no log here and the other runs": {{ID: 2}, {ID: 3}},
	} {
		g := &rounds.Group{
			Nodes:       append([]rounds.Node{{ID: 1, Records: 1, Lives: make([]rounds.Life, 1)}}, nodes...),
			Leaderships: []rounds.Leadership{{Leader: 1, Term: 1, First: first}},
		}
		var list bytes.Buffer
		if err := report.List(&list, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		tells(t, list.String(), told)
	}
}

// Who leads is told of all who may lead. Without a lease, "node 3 leads" was told of a leader that had been killed
// alone beside the one that replaced it in its own term, and a leader that was frozen was passed over.
func TestAllWhoMayLeadAreTold(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	leads := func(node, term uint64, from, until int) rounds.Leadership {
		return rounds.Leadership{
			Leader: node, Term: term, First: rounds.Ref{Node: node, Seq: term},
			From: at.Add(time.Duration(from) * time.Second), Until: at.Add(time.Duration(until) * time.Second),
		}
	}
	ended := leads(1, 2, 5, 6)
	ended.End = at.Add(9 * time.Second)
	ended.Ended = rounds.Ending{Kind: rounds.EndedByProcess, Known: rounds.PeersSaw, Ref: rounds.Ref{Node: 2, Seq: 4}}
	for name, c := range map[string]struct {
		guarantee string
		led       []rounds.Leadership
		told      []string
	}{
		"one": {"best-effort", []rounds.Leadership{leads(3, 1, 0, 0)}, []string{
			"Node 3 leads term 1 since 12:00:00.000, as far as the records go [3:1].", "!No record says",
		}},
		"of one term": {"best-effort", []rounds.Leadership{leads(3, 1, 0, 0), leads(1, 1, 5, 5)}, []string{
			"Node 1 leads term 1 since 12:00:05.000, as far as the records go [1:1]. No record says that node 3 " +
				"stopped leading term 1, which it began to lead at 12:00:00.000 [3:1].",
		}},
		"of two terms": {"best-effort", []rounds.Leadership{leads(3, 1, 0, 0), leads(1, 2, 5, 5)}, []string{
			"Node 1 leads term 2 since 12:00:05.000, as far as the records go [1:2]. No record says that node 3 " +
				"stopped",
		}},
		"under a lease": {"lease", []rounds.Leadership{leads(3, 1, 0, 0), leads(1, 2, 5, 5)}, []string{
			"Node 1 leads term 2 since 12:00:05.000, as far as the records go [1:2].", "!No record says",
		}},
		"the later one ended": {"best-effort", []rounds.Leadership{leads(3, 1, 0, 0), ended}, []string{
			"Perhaps node 3 leads term 1 still, since 12:00:00.000 [3:1]: no record says that it stopped, and node " +
				"1, which led term 2 after it, leads no more [peers saw: 2:4].",
		}},
		"the later one ended, and it wrote on": {"best-effort", []rounds.Leadership{leads(3, 1, 0, 8), ended}, []string{
			"Node 3 leads term 1 since 12:00:00.000, as far as the records go [3:1].", "!Perhaps",
		}},
	} {
		g := &rounds.Group{Guarantee: c.guarantee, Leaderships: c.led}
		for id := range uint64(3) {
			g.Nodes = append(g.Nodes, rounds.Node{ID: id + 1, Records: 1, Lives: make([]rounds.Life, 1), Leader: 1})
		}
		var list bytes.Buffer
		if err := report.List(&list, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { tells(t, list.String(), c.told...) })
	}
}

// Who leads nobody by its last record is told of records that are not from before the leader led: "but to node 2 nobody
// leads" was told of one that had been killed before.
func TestAnOlderRecordIsNotAboutTheLeader(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for late, told := range map[time.Duration]string{
		-time.Second: "!but to node 2", time.Second: "as far as the records go [1:1]; but to node 2 nobody leads",
	} {
		g := &rounds.Group{
			Leaderships: []rounds.Leadership{{Leader: 1, Term: 1, First: rounds.Ref{Node: 1, Seq: 1}, From: at}},
			Nodes: []rounds.Node{
				{ID: 1, Records: 1, Leader: 1, Lives: []rounds.Life{{Until: at}}},
				{ID: 2, Records: 1, Lives: []rounds.Life{{Until: at.Add(late)}}},
			},
		}
		var list bytes.Buffer
		if err := report.List(&list, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		tells(t, list.String(), told)
	}
}

// Who wrote nothing since the leader began to lead does not follow it, and is told, although nobody saw it end:
// "All 3 nodes run, as far as the records tell" was all that was told of one that had been killed when alone.
func TestWhoWroteNothingSinceTheLeaderLed(t *testing.T) {
	at := time.Date(2026, 11, 28, 13, 0, 0, 0, time.UTC)
	life := func(node uint64, until time.Time) []rounds.Life {
		return []rounds.Life{{Until: until, Last: rounds.Ref{Node: node, Seq: 9}}}
	}
	for before, told := range map[time.Duration]string{
		10 * time.Second: "Of 3 nodes, node 3 has no record here since 12:59:50.000 [3:9] and the other 2 run, as " +
			"far as the records tell, which end at 13:00:01.000.",
		-time.Millisecond: "All 3 nodes run, as far as the records tell, which end at 13:00:01.000.",
	} {
		g := &rounds.Group{
			From: at.Add(-time.Minute), Until: at.Add(time.Second),
			Leaderships: []rounds.Leadership{{Leader: 1, Term: 4, First: rounds.Ref{Node: 1, Seq: 1}, From: at}},
			Nodes: []rounds.Node{
				{ID: 1, Records: 1, Leader: 1, Lives: life(1, at)},
				{ID: 2, Records: 1, Lives: life(2, at.Add(time.Millisecond)), Leader: 1},
				{ID: 3, Records: 1, Lives: life(3, at.Add(-before)), Leader: 3},
			},
		}
		var list bytes.Buffer
		if err := report.List(&list, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		tells(t, list.String(), told)
	}
}

// Of a machine that died its log is often not at hand: "node 3 has no log here" was all that was told of it, though its
// peers saw its end. One that a peer saw again is not down.
func TestWithoutALogPeersTellWhoIsDown(t *testing.T) {
	at := time.Date(2026, 11, 28, 13, 0, 0, 0, time.UTC)
	first := rounds.Ref{Node: 1, Seq: 1}
	for _, c := range []struct {
		evidence string
		alive    []uint64
		told     string
	}{
		{
			"link-closed 3, dial-refused 3",
			[]uint64{1, 2},
			"Of 3 nodes, node 3 ended and has no log here [peers saw: 1:7] and",
		},
		{"heartbeat-missed 3", []uint64{1, 2}, "Of 3 nodes, node 3 is silent and has no log here [peers saw: 1:7] and"},
		{"link-closed 3, dial-refused 3", []uint64{1, 2, 3}, "Of 3 nodes, node 3 has no log here and"},
	} {
		seen := rounds.Detection{Node: 1, At: at, Ref: rounds.Ref{Node: 1, Seq: 7}, Evidence: c.evidence}
		g := &rounds.Group{
			Leaderships: []rounds.Leadership{{Leader: 1, Term: 1, First: first, From: at}},
			Nodes: []rounds.Node{
				{
					ID: 1, Records: 1, Leader: 1, Lives: []rounds.Life{{Until: at}},
					Alive: []uint64{1, 2}, Gone: []rounds.Dropped{{ID: 3, Detection: seen}},
				},
				{ID: 2, Records: 1, Leader: 1, Lives: []rounds.Life{{Until: at}}, Alive: c.alive},
				{ID: 3},
			},
		}
		var list bytes.Buffer
		if err := report.List(&list, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		tells(t, list.String(), c.told)
	}
}

// "No false statement": the longest time that nobody may have led is told once, by all that bounds it.
func TestAtMostIsToldOnce(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 28, 12, 0, s, 0, time.UTC) }
	for perhaps, want := range map[time.Time]string{
		{}: "It was at most 8 s: no record of node 2 tells when it began to lead, which may have been from " +
			"12:00:05.000 on.",
		at(1): "It was at most 9 s, if from 12:00:01.000 on: that was the last record of node 1; no record of node 2 " +
			"tells when it began to lead, which may have been from 12:00:05.000 on.",
	} {
		in := rounds.Incident{
			Former: 1, FormerTerm: 1, From: at(2), Ended: rounds.Ending{Kind: rounds.EndedByProcess}, Perhaps: perhaps,
			Leader: 2, Term: 2, Until: at(10), Sooner: at(5), Leaderless: 3 * time.Second, Terms: []uint64{2},
		}
		var story bytes.Buffer
		g := &rounds.Group{Names: rounds.NewBuilder().Names()}
		if err := report.Explain(&story, g, &rounds.Round{Term: 2, Incident: &in}, false); err != nil {
			t.Fatal(err)
		}
		if tells(t, story.String(), want); strings.Count(story.String(), "at most") != 1 {
			t.Errorf("told twice:\n%s", story.String())
		}
	}
}

// Who led in between, in records that are missing, is told, and for how long nobody led at least and at most.
func TestTheStoryTellsWhoLedBetween(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 28, 12, 0, s, 0, time.UTC) }
	in := rounds.Incident{
		Former: 1, FormerTerm: 1, From: at(6), Ended: rounds.Ending{Kind: rounds.EndedUnseen, Known: rounds.Inferred},
		Leader: 2, Term: 3, Until: at(10), Leaderless: 4 * time.Second, Terms: []uint64{3}, Why: "why", Between: 3,
	}
	for leaderless, want := range map[time.Duration]string{
		4 * time.Second: "Nobody led for at least 4 s, from 12:00:06.000 until node 2 led term 3: why. Node 3 led " +
			"after term 1, by its own word, and no record tells when it began to.",
		0: "For how long nobody led before is not known: no record tells until when node 1 led term 1.",
	} {
		in.Leaderless = leaderless
		var story bytes.Buffer
		g := &rounds.Group{Names: rounds.NewBuilder().Names()}
		if err := report.Explain(&story, g, &rounds.Round{Term: 3, Incident: &in}, false); err != nil {
			t.Fatal(err)
		}
		tells(t, story.String(), want)
	}
}

// "For how long nobody led before is not known" was said where the list said "≥8 s".
func TestTheStoryTellsForHowLongNobodyLedAtLeast(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 28, 12, 0, s, 0, time.UTC) }
	in := rounds.Incident{
		Former: 1, FormerTerm: 1, From: at(2), Ended: rounds.Ending{Kind: rounds.EndedUnseen, Known: rounds.Inferred},
		Leader: 2, Term: 2, Until: at(10), Leaderless: 8 * time.Second, Terms: []uint64{2}, Why: "why",
	}
	r := rounds.Round{Term: 2, Incident: &in}
	var out bytes.Buffer
	if err := report.Explain(&out, &rounds.Group{Names: &rounds.Names{}}, &r, false); err != nil {
		t.Fatal(err)
	}
	want := "Nobody led for at least 8 s, from 12:00:02.000 until node 2 led term 2: why. No record tells until when " +
		"node 1 led term 1."
	if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "Term 6 took 9 messages" was told where eight records of its winner are missing.
func TestACountBesideMissingRecordsIsALowerBound(t *testing.T) {
	g := caseOf(t, "missing-leader-file")
	for _, r := range g.Rounds {
		if r.Term != 6 {
			continue
		}
		var story bytes.Buffer
		if err := report.Explain(&story, g, r, false); err != nil {
			t.Fatal(err)
		}
		tells(t, story.String(), "Term 6 took at least 9 messages", "records are missing that may have sent others")
	}
}

// "After the first sign", "later" and "after the first evidence" counted from one time, which no sentence named so. The
// term is explained where it is first used, and only where it is used again.
func TestTheFirstSignIsNamed(t *testing.T) {
	for name, of := range map[string]struct {
		term  uint64
		words []string
	}{
		"outage-17s-quorum-lost": {5, []string{
			"At 11:51:36.817 (the first sign of term 5) node 5, which outranks",
			"Node 5 won 2.03 s after the first sign (the leader's lease held for 2 s of that): ",
		}},
		"all-told-to-stop": {7, []string{"!the first sign"}}, // nobody won
	} {
		g := caseOf(t, name)
		for _, r := range g.Rounds {
			if r.Term != of.term {
				continue
			}
			var story bytes.Buffer
			if err := report.Explain(&story, g, r, false); err != nil {
				t.Fatal(name, err)
			}
			tells(t, story.String(), of.words...)
		}
	}
}

// "CLAIM, ASK, ANSWER": what the messages mean stood in the code alone. With the theory it is told once of each kind
// that is counted, also of those that earlier releases sent, and without it where that is told.
func TestExplainTellsWhatTheMessagesSay(t *testing.T) {
	g := caseOf(t, "outage-17s-quorum-lost")
	story := func(theory bool) string {
		var text bytes.Buffer
		if err := report.Explain(&text, g, g.Rounds[2], theory); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	const hint = "What each message says is told with --theory."
	tells(t, story(false), hint, "!would you grant me the term?")
	says(t, story(true), "\nThe messages, in the words of who sends them:\n- ANSWER: “yes, or what binds me”\n"+
		"- ASK: “would you grant me the term?”\n- CLAIM: “grant me the term”\n- COORDINATOR: “", "!"+hint)
}
