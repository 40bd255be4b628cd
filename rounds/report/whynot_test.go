package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// whyNot returns the answer about a node, in one line, from those lines of a sample log, or of all in a directory, that
// have none of the words.
// A word that begins with "+" is a line more.
func whyNot(t *testing.T, file string, id uint64, without ...string) string {
	t.Helper()
	var log []byte
	files, _ := filepath.Glob("../testdata/" + file + "/*.log")
	for _, file := range append(files, "../testdata/"+file+".log")[:max(len(files), 1)] {
		one, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, one...)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(log)) {
		drop := false
		for _, word := range without {
			drop = drop || strings.Contains(line, word)
		}
		if !drop {
			kept.WriteString(line)
		}
	}
	for _, word := range without {
		if line, ok := strings.CutPrefix(word, "+"); ok {
			kept.WriteString(line + "\n")
		}
	}
	b := rounds.NewBuilder()
	if _, err := logs.Read(strings.NewReader(kept.String()), b); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.WhyNot(&out, b.History().Groups[0], id); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// says checks that a text has some phrases, and does not have those that begin with "!".
func says(t *testing.T, text string, phrases ...string) {
	t.Helper()
	for _, phrase := range phrases {
		unwanted, not := strings.CutPrefix(phrase, "!")
		if strings.Contains(text, unwanted) == not {
			t.Errorf("want %q in: %s", phrase, text)
		}
	}
}

// "Node 5 stands aside, and stands again when it is asked to": its process has ended.
func TestWhyNotOfAnEndedNode(t *testing.T) {
	says(t, whyNot(t, "cases/graceful-stop-code14/n5", 5),
		"Node 5 does not run: its process ended at 11:57:42.663, by its own word: told to stop [5:10].",
		"!stands aside")
}

// Evidence is told with its time, in the past tense, and only if it is about the node's last process. If the
// process wrote again, that is said, and not that it ended or hung.
func TestEvidenceOfThePast(t *testing.T) {
	says(t, whyNot(t, "bully-kill", 5), "At 15:18:38.852 nodes 1, 2, 3 and 4 lost node 5: connection closed and port "+
		"refused; its process ended [peers saw: 1:8 1:9 2:9 2:10 3:9 3:10 4:12 4:13].",
		"Node 5 has led nobody since 15:18:38.852 [peers saw: 2:9].")
	// Of a former process, although the records do not tell that the others saw the next one.
	says(t, whyNot(t, "bully-restart", 5, "new-session 5"), "Node 5 leads term 3", "!lost node 5", "!process ended",
		"!not alive")
	// Of a process that wrote again, although the records do not tell that the others heard it again.
	says(t, whyNot(t, "bully-cut", 5, "heartbeat-back 5", "link-up 5"), "Node 5 leads term 3",
		"node 5 stopped answering heartbeats of nodes 1, 2, 3 and 4 [",
		"It wrote again after that: its last record is of ",
		"!hangs", "!hung", "!not alive")
	// Of one that was paused until the records end.
	says(t, whyNot(t, "office-pause", 5, "T17:18:09.37", "T17:18:09.3694"), "Node 4 leads term 2",
		"At 17:18:08.653 node 5 stopped answering heartbeats of nodes 1, 2, 3 and 4: it was paused, hung or cut off [",
		"!process ended")
}

// A node that leads: which term, since when, and who believes otherwise.
func TestWhyNotTheLeader(t *testing.T) {
	says(t, whyNot(t, "bully-restart", 5), "Node 5 leads term 3 since 15:18:39.664, as far as the records go [5:8].",
		"!outrank", "!But ", "!does lead")
	says(t, whyNot(t, "bully-restart", 5, `"time":"2026-11-21T15:18:39.664334194Z","cluster":"demo","node":2`,
		`+{"level":"info","time":"2026-11-21T15:18:40Z","cluster":"demo","node":2,"session":"4c9d8d76","algo":"bully",`+
			`"seq":19,"hlc":"1795274320000000.0","term":2,"event":"idle","role":"follower","leader":4,`+
			`"guarantee":"best-effort"}`),
		"Node 5 leads term 3", "But node 4 leads term 2, by the last record of node 2 [2:19].")
}

// Where nobody leads: since when, why, and who would be needed.
func TestWhyNotNobody(t *testing.T) {
	says(t, whyNot(t, "office-no-quorum", 1),
		"Nobody leads since 17:18:12.132: voters 2 and 3 ended: 1 of 3 remains [inferred: 1:11 1:5].",
		"At least 1 of nodes 2 and 3 has to come back: 2 of the 3 voters are needed [inferred: 1:12 "+
			"1:11 1:5].", "No quorum: node 1 asked")
}

// A process that ended at once, since its voters were others or another process was the node, is told.
func TestWhyNotRefused(t *testing.T) {
	says(t, whyNot(t, "cases/voters-refused/n1", 1), "Node 1 does not run: its process ended at 09:16:36.861, by its "+
		"own word: told to stop [1:5]. At 09:17:16.368 node 1 was started again, and refused to run, by its own word: "+
		"--voters: the voters are not those")
	says(t, whyNot(t, "cases/id-taken/n2", 2, `+{"level":"error","cluster":"I","node":2,"error":"node id is taken: id `+
		`2 belongs to node 2 (incarnation 7ed11a3d) at a, which is alive","exit_code":5,`+
		`"time":"2026-11-25T09:17:44.160Z","message":"the node ended"}`),
		"At 09:17:44.160 another process was to be node 2, and ended, by its own word: node id is taken",
		"!does not run")
}

// Nor is it left out of a node whose end others saw: three voters of five refused to run, and of each was told only how
// it had been lost.
func TestWhyNotRefusedAfterAnEndThatOthersSaw(t *testing.T) {
	at := time.Date(2026, 11, 28, 9, 47, 50, 550e6, time.UTC)
	end := rounds.LifeEvent{Kind: rounds.Ended, At: at, Known: rounds.PeersSaw, Ref: rounds.Ref{Node: 3, Seq: 40}}
	g := &rounds.Group{Nodes: []rounds.Node{{
		ID: 1, Records: 1, Lives: []rounds.Life{{Events: []rounds.LifeEvent{end}}},
		Refused: &rounds.Refusal{At: at.Add(2 * time.Second), Why: "the voters are not those"},
	}}}
	var text bytes.Buffer
	if err := report.WhyNot(&text, g, 1); err != nil {
		t.Fatal(err)
	}
	tells(t, text.String(), "At 09:47:52.550 node 1 was started again, and refused to run, by its own word: the voters")
}

// One kill that some saw and others only inferred has one explanation.
func TestWhyNotOneEnd(t *testing.T) {
	at := time.Date(2026, 11, 25, 9, 24, 0, 0, time.UTC)
	c := report.Case{Node: 3, Now: at, Losses: []report.Loss{
		{At: at, By: []uint64{1}, Evidence: "link-closed 3, dial-refused 3"},
		{At: at.Add(time.Millisecond), By: []uint64{4}, Evidence: "unreachable 3"},
	}}
	var text string
	for _, sentences := range c.Paragraphs() {
		text += strings.Join(sentences, " ") + " "
	}
	says(t, text, "its process ended", "node 4 lost node 3: cannot be reached", "!machine was down")
}

// Where nothing is saved of what a voter voted, it says so.
func TestWhyNotVoteless(t *testing.T) {
	says(t, whyNot(t, "cases/votes-wiped/n1", 1),
		"Node 1 votes for nobody, and does not stand: nothing is saved of earlier votes [1:1@f8d5cdf6].")
}

// Where the records end before anybody called an election, that is said.
func TestWhyNotNobodyYet(t *testing.T) {
	says(t, whyNot(t, "office-no-quorum", 1, `"seq":12`, `"seq":13`), "Nobody leads since 17:18:12.132",
		"later, without a later term [1:11].")
}

// "Node 5 outranks node 2", in the words of people, and never where rank does not decide.
func TestRankDecides(t *testing.T) {
	says(t, whyNot(t, "bully-restart", 1), "Node 5 outranks node 1: its id is higher.")
	says(t, whyNot(t, "bully-kill", 3), "In term 2 node 4 outranked node 3:")
	for algorithm, outranks := range map[string]bool{"bully": true, "ring": true, "raft": false, "chubby": false} {
		attr := int64(7)
		c := report.Case{
			Node: 2, Algorithm: algorithm, Rank: &report.Rank{Attr: &attr, ID: 2},
			LeaderRank: &report.Rank{Attr: &attr, ID: 5}, Beliefs: []report.Belief{{Leader: 5, Term: 3}},
		}
		for _, rank := range []*report.Rank{c.LeaderRank, {Attr: &attr, ID: 1}} {
			c.LeaderRank = rank
			text := ""
			for _, p := range c.Paragraphs() {
				text += strings.Join(p, " ")
			}
			if strings.Contains(text, "outranks node") != outranks {
				t.Errorf("%s, against node %d: %s", algorithm, rank.ID, text)
			}
		}
		c.LeaderRank = c.Rank // the node itself
		if text := strings.Join(c.Paragraphs()[len(c.Paragraphs())-1], ""); text != "" {
			t.Errorf("a node beside itself: %s", text)
		}
	}
}

// Another list of voters: which lists, and what to do. A list of a former process does not count.
func TestOtherListOfVoters(t *testing.T) {
	says(t, whyNot(t, "office-two-lists", 1),
		"Node 1 has another list of voters than node 5, the leader: it has voters 1-3, node 5 has voters 1-5 "+
			"[2:8 5:6].",
		"Start the one that is wrong again with the list of the others")
	says(t, whyNot(t, "office-two-lists", 3), "!another list")
}

// A node without a log of its own: what the others tell of it.
func TestNodeWithoutLog(t *testing.T) {
	says(t, whyNot(t, "bully-kill", 5, `"node":5,`), "No record of node 5 itself is here: its log is missing",
		"Others followed it in term 1 [peers saw: 1:7].",
		"nodes 1, 2, 3 and 4 lost node 5: connection closed and port refused", "!never heard of")
	says(t, whyNot(t, "bully-restart", 5, `"node":5,`), "Node 5 leads term 3", "Others followed it in terms 1 and 3",
		"It was alive to nodes 1, 2, 3 and 4, by their last view [peers saw: ", "!lost node 5")
	// Evidence of before it led again does not count.
	says(t, whyNot(t, "bully-restart", 5, `"node":5,`, "new-session 5"), "Others followed it in terms 1 and 3",
		"!lost node 5")
	says(t, whyNot(t, "office-no-quorum", 77), "Node 77 was never heard of: no record is its own, and none names it.")
}

// Where no record says why an election began, that is said in plain words.
func TestWhyNotBegunWithoutACause(t *testing.T) {
	files, _ := logs.Files([]string{"../testdata/cases/all-told-to-stop"})
	b := rounds.NewBuilder()
	others := slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "n3.log") })
	batch := logs.Batch{Paths: others}
	batch.Read(b, func(err error) { t.Fatal(err) })
	var out bytes.Buffer
	if err := report.WhyNot(&out, b.History().Groups[0], 3); err != nil {
		t.Fatal(err)
	}
	says(t, strings.Join(strings.Fields(out.String()), " "),
		"Term 7 began at 16:43:47.183, and no record says why [2:17@6e80b9e5].", "!because of this: not known")
}

// Why node 1 lost was told in its own words, "4 ranks above this node", where node 4, which won, tells it, too.
func TestWhyNotInTheWordsOfTheWinner(t *testing.T) {
	says(t, whyNot(t, "ring-restart", 1), "In term 2 node 4 suppressed the call of node 1: ", "wrote node 4 [4:8].",
		"!wrote node 1")
}

// "Its process ended" was said of the moment in which it said good-bye, beside its own word that it ended two seconds
// later. And "no quorum" was said beside term 7, and was so in term 6.
func TestWhyNotOfWhoSaidGoodbye(t *testing.T) {
	says(t, whyNot(t, "cases/all-told-to-stop", 1), "Node 1 does not run: its process ended at 16:43:49.185, by its "+
		"own word: told to stop [1:17@c6ebaa4c]. At 16:43:47.183 nodes 2, 3 and 4 lost node 1: it said good-bye "+
		"[peers saw: ",
		"Term 7 began", "In term 6, no quorum: node 3 asked the voters")
}

// "At least 1 of nodes 1 and 2 has to come back" and "node 2 did not answer": nothing tells that node 2 was away. The
// last record of all is the one that asks it.
func TestWhyNotOfWhoHadNoTimeToAnswer(t *testing.T) {
	says(t, whyNot(t, "cases/paused-and-killed", 2), "!has to come back", "!did not answer",
		"Node 2 wrote nothing after node 3 had asked the voters [3:7]: its last record is of 09:22:25.893 [2:10].")
}

// "Its last record is of 09:16:34.602" was told as the reason why node 1 did not answer, beside its own word that its
// process had ended at 09:16:36.861.
func TestWhyNotOfWhoHadEndedSaysNoMore(t *testing.T) {
	says(t, whyNot(t, "cases/voters-refused", 1), "Node 1 does not run: its process ended at 09:16:36.861",
		"!its last record is of", "!either")
}

// When the logs end was told as "1.09 ms later", after two times.
func TestWhyNotWhenTheLogsEnd(t *testing.T) {
	says(t, whyNot(t, "cases/outage-17s-quorum-lost", 4), "Nobody leads since 11:51:42.743 at the latest, perhaps "+
		"since 11:51:40.410: ", "The logs end 1.09 ms after the later of these times, without a later term [8:72].")
}

// Of a node that was started again, was silent, or voted, `why-not` said how the winner had won, and not why the node
// did not. "Its process ended" was told twice of one that had led.
func TestWhyNotSaysWhatTheNodeDid(t *testing.T) {
	at := time.Date(2026, 11, 29, 5, 34, 4, 0, time.UTC)
	event := func(kind rounds.LifeEventKind, after time.Duration) rounds.LifeEvent {
		ref := rounds.Ref{Node: 2, Seq: 40}
		return rounds.LifeEvent{Kind: kind, At: at.Add(after), Known: rounds.PeersSaw, Ref: ref}
	}
	life := func(from time.Duration, events ...rounds.LifeEvent) rounds.Life {
		return rounds.Life{
			Incarnation: fmt.Sprint(from), From: at.Add(from), Until: at.Add(from), Events: events,
			First: rounds.Ref{Node: 1, Seq: 1}, Last: rounds.Ref{Node: 1, Seq: 9},
		}
	}
	const votes = "a majority of the voters"
	for name, c := range map[string]struct {
		lives []rounds.Life
		says  []string
	}{
		"started again": {
			[]rounds.Life{life(-time.Minute, event(rounds.Ended, -time.Second)), life(time.Second)},
			[]string{
				"When node 2 won term 7, node 1 did not run [peers saw: 2:57 2:40].",
				"It was started again by 05:34:05.000 [1:1].", "!" + votes,
			},
		},
		"silent": {
			[]rounds.Life{life(-time.Minute, event(rounds.Silent, -time.Second))},
			[]string{"When node 2 won term 7, node 1 was silent [peers saw: 2:57 2:40].", "!" + votes},
		},
		"silent once": {
			[]rounds.Life{
				life(-time.Minute, event(rounds.Silent, -time.Second), event(rounds.Resumed, -time.Millisecond)),
			},
			[]string{"Node 1 voted for node 2 in term 7 [2:57 1:9].", "!was silent", "!" + votes},
		},
	} {
		win := rounds.Ref{Node: 2, Seq: 57}
		vote := rounds.Voice{Voter: 1, Granted: true, Counted: true, Vote: rounds.Ref{Node: 1, Seq: 9}}
		g := &rounds.Group{
			Algorithm: "raft", Guarantee: "lease", From: at, Until: at.Add(time.Minute),
			Leaderships: []rounds.Leadership{{Leader: 2, Term: 7, From: at, First: win}},
			Rounds: []*rounds.Round{{
				Term: 7, Winner: &rounds.Winner{Node: 2, Why: "elected", Ref: win, At: at},
				Ballot: &rounds.Ballot{Candidate: 2, Voters: []uint64{1, 2}, Voices: []rounds.Voice{vote}},
			}},
			Nodes: []rounds.Node{
				{ID: 1, Records: 9, Lives: c.lives, Leader: 2, Term: 7},
				{ID: 2, Records: 57, Lives: []rounds.Life{life(-time.Minute)}, Leader: 2, Term: 7},
			},
		}
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			if err := report.WhyNot(&text, g, 1); err != nil {
				t.Fatal(err)
			}
			says(t, strings.Join(strings.Fields(text.String()), " "), c.says...)
		})
	}
}
