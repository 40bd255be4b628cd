package follow

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// out collects what is printed.
type out struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *out) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *out) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// lease is a record of a cluster of voters 1 to 3.
func lease(at time.Time, node, seq int, rest string) string {
	return fmt.Sprintf(`{"level":"info","time":%q,"cluster":"c","node":%d,"incarnation":"inc%d","algo":"bully",`+
		`"seq":%d,"hlc":"%d.0","term":1,"guarantee":"lease",%s}`+"\n",
		at.Format(time.RFC3339Nano), node, node, seq, at.UnixMicro(), rest)
}

// following calls act with a function by which nodes say something, while Run follows that, and one that returns what
// Run has printed a second later.
func following(t *testing.T, act func(say func(line string), printed func() string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		logged, write := io.Pipe()
		defer write.Close()
		var text out
		done := make(chan error)
		go func() {
			_, err := Run(ctx, Config{
				Files: []string{"-"}, Stdin: logged, Out: &text, Remarks: io.Discard,
				Builder: rounds.NewBriefBuilder(), Filter: func(to logs.Sink) logs.Sink { return to },
				Unread: func(err error) { t.Error(err) },
			})
			done <- err
		}()
		act(func(line string) {
			if _, err := io.WriteString(write, line); err != nil {
				t.Error(err)
			}
		}, func() string {
			time.Sleep(time.Second)
			synctest.Wait()
			return text.String()
		})
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// "--follow speaks within a second of a quorum lost": two of three voters end, and nobody leads.
func TestQuorumLost(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		say := func(node, seq int, rest string) { write(lease(time.Now(), node, seq, rest)) }
		say(3, 1, `"event":"timeout","why":["no leader was heard of -> ask the voters for term 1"],"role":"looking",`+
			`"leader":0,"sent":["PRE_VOTE>1#3:1","PRE_VOTE>2#3:2"]`)
		say(3, 2, `"event":"receive","why":["a majority voted in term 1 -> lead"],"role":"leader","leader":3,`+
			`"token":1,"leader_change":"elected","prev_leader":0`)
		for node := 1; node <= 2; node++ {
			say(node, 1, `"event":"receive","why":["3 leads term 1 -> follow it"],"role":"follower","leader":3,`+
				`"token":1,"leader_change":"elected","prev_leader":0`)
		}
		time.Sleep(time.Minute)
		if text := printed(); strings.Contains(text, "Nobody leads") {
			t.Errorf("somebody leads: %s", text)
		}
		for seq, dead := range []int{2, 3} {
			say(1, 2+seq, fmt.Sprintf(`"event":"peers","alive":[1],"evidence":"link-closed %d, dial-refused %d",`+
				`"role":"looking","leader":0`, dead, dead))
		}
		const want = "* Nobody leads cluster c, bully since 00:01:01.000: voters 2 and 3 ended: 1 of 3 remains " +
			"[inferred: 1:3 1:2]."
		if text := printed(); !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, text)
		}
		time.Sleep(time.Minute)
		if text := printed(); strings.Count(text, "Nobody leads") != 1 {
			t.Errorf("it is not said once: %s", text)
		}
	})
}

// "Nobody leads", or that another node does, and nothing told what to ask next. The head of the list does. Of the
// changes that are told at once, the last one is named.
func TestWhatToAskNext(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		say := func(node, seq, term int, rest string) {
			write(strings.Replace(lease(time.Now(), node, seq, rest), `"term":1`, fmt.Sprintf(`"term":%d`, term), 1))
		}
		for term := 1; term <= 2; term++ {
			say(3, 2*term, term, fmt.Sprintf(`"event":"timeout","role":"looking","leader":0,`+
				`"sent":["PRE_VOTE>1#3:%d"],`+
				`"why":["no leader was heard of -> ask the voters for term %d"]`, term, term))
			say(3, 2*term+1, term, fmt.Sprintf(`"event":"receive","role":"leader","leader":3,"token":%d,`+
				`"leader_change":"elected","prev_leader":0,"why":["a majority voted in term %d -> lead"]`, term, term))
		}
		const change = "\n        Next: ringleader explain 2 LOG… (how term 2 went).\n"
		if text := printed(); strings.Count(text, "Next: ") != 1 || !strings.HasSuffix(text, change) {
			t.Errorf("not %q last, and once: %s", change, text)
		}
		say(1, 1, 2, `"event":"receive","why":["3 leads term 2 -> follow it"],"role":"follower","leader":3,"token":2,`+
			`"leader_change":"elected","prev_leader":0`)
		for seq, dead := range []int{2, 3} {
			say(1, 2+seq, 2, fmt.Sprintf(`"event":"peers","alive":[1],"evidence":"link-closed %d, dial-refused %d",`+
				`"role":"looking","leader":0`, dead, dead))
		}
		const vacant = "\n        Next: ringleader why-not 1 LOG… (why node 1 does not lead).\n"
		if text := printed(); strings.Count(text, "Next: ") != 2 || !strings.HasSuffix(text, vacant) {
			t.Errorf("not %q last, and once: %s", vacant, text)
		}
	})
}

// speakers returns what writes a record of a term, and one in which a node begins to lead it.
func speakers(write func(string)) (say func(node, seq, term int, rest string), leads func(node, seq, term int)) {
	say = func(node, seq, term int, rest string) {
		write(strings.Replace(lease(time.Now(), node, seq, rest), `"term":1`, fmt.Sprintf(`"term":%d`, term), 1))
	}
	return say, func(node, seq, term int) {
		say(node, seq, term, fmt.Sprintf(`"event":"receive","why":["a majority voted in term %d -> lead"],`+
			`"role":"leader","leader":%d,"token":%d,"leader_change":"elected","prev_leader":0`, term, node, term))
	}
}

// "--follow tells one outage twice": a term that brought no leader had its line before the next one, which brought one
// and whose line tells of both.
func TestATermInVainHasNoLineBeforeTheNextLeader(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		say, leads := speakers(write)
		asks := func(node, seq, term int) {
			say(node, seq, term, fmt.Sprintf(`"event":"timeout","why":["no leader was heard of -> ask the voters for `+
				`term %d"],"role":"looking","leader":0,"sent":["PRE_VOTE>2#%d:%d"]`, term, node, 100+seq))
		}
		asks(3, 1, 1)
		leads(3, 2, 1)
		say(1, 1, 1, `"event":"receive","why":["3 leads term 1 -> follow it"],"role":"follower","leader":3,"token":1,`+
			`"leader_change":"elected","prev_leader":0`)
		time.Sleep(time.Minute)
		say(1, 2, 1, `"event":"peers","alive":[1,2],"evidence":"link-closed 3, dial-refused 3","role":"looking",`+
			`"leader":0,"leader_change":"lost","prev_leader":3`)
		asks(1, 3, 2)
		time.Sleep(700 * time.Millisecond)
		asks(1, 4, 3)
		leads(1, 5, 3)
		for seq := 6; seq < 12; seq++ { // the round of term 3 goes on, and that of term 2 does not
			time.Sleep(300 * time.Millisecond)
			say(1, seq, 3, `"event":"receive","from":2,"role":"leader","leader":1,"token":3`)
		}
		time.Sleep(20 * time.Second)
		if text := printed(); strings.Contains(text, "\n     2  ") || strings.Count(text, "\n   2-3  ") != 1 {
			t.Errorf("one outage has other lines than one: %s", text)
		}
	})
}

// "The wall clock of node 2 is 37 s behind" came at the end only: all times before are told by the others.
func TestAClockThatIsNotRight(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		const behind = 37 * time.Second
		say := func(node, seq int, rest string) {
			line, now := lease(time.Now(), node, seq, rest), time.Now()
			if node == 2 { // by its wall clock, and not by the hybrid one
				line = strings.Replace(line, now.Format(time.RFC3339Nano), now.Add(-behind).Format(time.RFC3339Nano), 1)
			}
			write(line)
		}
		say(1, 1, `"event":"timeout","why":["no leader was heard of -> ask the voters for term 1"],"role":"looking",`+
			`"leader":0,"sent":["PRE_VOTE>2#1:2","PRE_VOTE>3#1:3"]`)
		time.Sleep(time.Millisecond)
		for node := 2; node <= 3; node++ {
			say(node, 1, fmt.Sprintf(`"event":"receive","from":1,"msg":"PRE_VOTE","msg_id":"1:%d","why":["1 asks for `+
				`term 1 -> yes"],"role":"looking","leader":0,"sent":["PRE_VOTE_REPLY>1#%d:1"]`, node, node))
		}
		time.Sleep(time.Millisecond)
		say(1, 2, `"event":"receive","from":3,"msg":"PRE_VOTE_REPLY","msg_id":"3:1","role":"looking","leader":0`)
		say(1, 3, `"event":"receive","from":2,"msg":"PRE_VOTE_REPLY","msg_id":"2:1",`+
			`"why":["a majority voted in term 1 -> lead"],"role":"leader","leader":1,"token":1,`+
			`"leader_change":"elected","prev_leader":0`)
		time.Sleep(20 * time.Second)
		const want = "* The wall clock of node 2 is 37 s behind those of nodes 1 and 3, by which all times"
		if text := printed(); strings.Count(text, want) != 1 {
			t.Errorf("it is not said once that a clock is not right: %s", text)
		}
	})
}

// A new leader was told only when none of its round came for half a second: seconds late where records of the round
// kept coming, such as those of a voter that asks again and again. It is told within a second, once.
func TestALeaderWhoseRoundGoesOn(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		say, leads := speakers(write)
		asks := func(node, seq, term int) {
			say(node, seq, term-1, fmt.Sprintf(`"event":"timeout","role":"looking","leader":0,`+
				`"sent":["PRE_VOTE>2#%d:%d"],"why":["nobody leads -> ask the voters for term %d"]`, node, seq, term))
		}
		asks(3, 1, 1)
		leads(3, 2, 1)
		time.Sleep(time.Minute)
		say(1, 1, 1, `"event":"peers","alive":[1,2],"evidence":"link-closed 3, dial-refused 3","role":"looking",`+
			`"leader":0,"leader_change":"lost","prev_leader":3`)
		asks(1, 2, 2)
		leads(1, 3, 2)
		const want = "* Node 1 leads cluster c, bully since 00:01:00.000, in term 2, of which records still come [1:3]."
		go func() {
			for seq := 1; seq < 40; seq++ {
				time.Sleep(90 * time.Millisecond)
				say(2, seq, 2, `"event":"receive","from":3,"msg":"REQUEST_VOTE","role":"follower","leader":1,`+
					`"token":2,"why":["3 wants term 2 -> deny it: no, promised 1"]`)
			}
		}()
		if text := printed(); !strings.Contains(text, want) {
			t.Errorf("not told within a second: %s", text)
		}
		time.Sleep(20 * time.Second)
		if text := printed(); strings.Count(text, want) != 1 || strings.Count(text, "\n     2  ") != 1 ||
			strings.Count(text, "Next: ringleader explain 2 LOG… (how term 2 went).") != 1 {
			t.Errorf("it is not told once: %s", text)
		}
	})
}

// A second leader of a term was known when the line of the term had been printed: no line told of it, also not at the
// end.
func TestASecondLeaderOfATermThatWasTold(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		say := func(node, seq int, rest string) {
			write(strings.Replace(lease(time.Now(), node, seq, rest), `"lease"`, `"best-effort"`, 1))
		}
		const leads = `"event":"timeout","why":["no leader was heard of -> call an election of term 1",` +
			`"no higher node is alive -> lead term 1"],"role":"leader","leader":%d,"leader_change":"elected",` +
			`"prev_leader":0`
		say(4, 1, `"event":"start","role":"looking","leader":0`)
		say(5, 1, fmt.Sprintf(leads, 5))
		time.Sleep(time.Minute)
		if text := printed(); !strings.Contains(text, "no leader was heard of (node 5)") {
			t.Fatalf("not told yet: %s", text)
		}
		say(5, 2, `"event":"resign","why":["asked to resign -> step down"],"role":"looking","leader":0,`+
			`"leader_change":"resigned","prev_leader":5`)
		time.Sleep(5 * time.Second)
		say(4, 2, fmt.Sprintf(leads, 4))
		for _, want := range []string{
			"! two-leaders: Nodes 5 and 4 both led term 1; node 4 began 66 s after node 5, for it found: " +
				"no higher node is alive",
			"* Later node 4 began to lead term 1 [4:2 5:2]. Nobody led for 5 s, from 00:01:01.000 until node 4 led " +
				"term 1: node 5 stopped leading: it was asked to resign",
		} {
			if text := printed(); strings.Count(text, want) != 1 {
				t.Errorf("want %q once in: %s", want, text)
			}
		}
		time.Sleep(time.Minute)
		if text := printed(); strings.Count(text, "two-leaders") != 1 || strings.Count(text, "Later") != 1 {
			t.Errorf("it is not said once: %s", text)
		}
	})
}

// Nor did a line tell of a second leader whose log is not followed, so that only who follows it tells of it.
func TestASecondLeaderWhoseLogIsNotFollowed(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		say := func(node, seq int, rest string) {
			write(strings.Replace(lease(time.Now(), node, seq, rest), `"lease"`, `"best-effort"`, 1))
		}
		say(3, 1, `"event":"start","role":"looking","leader":0`)
		say(5, 1, `"event":"timeout","why":["no leader was heard of -> call an election of term 1",`+
			`"no higher node is alive -> lead term 1"],"role":"leader","leader":5,"leader_change":"elected",`+
			`"prev_leader":0`)
		time.Sleep(time.Minute)
		if text := printed(); !strings.Contains(text, "no leader was heard of (node 5)") {
			t.Fatalf("not told yet: %s", text)
		}
		say(5, 2, `"event":"resign","detail":"told to stop by SIGTERM","why":["asked to resign -> step down"],`+
			`"role":"looking","leader":0,"leader_change":"resigned","prev_leader":5`)
		time.Sleep(5 * time.Second)
		say(3, 2, `"event":"receive","from":4,"msg":"COORDINATOR","msg_id":"4:7",`+
			`"why":["4 leads term 1 -> follow it"],"role":"follower","leader":4,"leader_change":"elected",`+
			`"prev_leader":0`)
		time.Sleep(time.Minute)
		say(3, 3, `"event":"timeout","role":"follower","leader":4`)
		const want = "! two-leaders: Node 5 led term 1, and node 3 followed node 4 in the same term. Records of " +
			"node 4 are missing: they would tell whether it led."
		if text := printed(); strings.Count(text, want) != 1 {
			t.Errorf("want %q once in: %s", want, text)
		}
	})
}

// "Two-leaders" was told twice of one second leader: by who followed it, and then by its own log, which came later. So
// it was also if who followed it was known when the line of the term was printed.
func TestASecondLeaderIsToldOnce(t *testing.T) {
	for _, early := range []bool{true, false} {
		following(t, func(write func(string), printed func() string) {
			say := func(node, seq int, rest string) {
				write(strings.Replace(lease(time.Now(), node, seq, rest), `"lease"`, `"best-effort"`, 1))
			}
			follow := func() {
				say(3, 2, `"event":"receive","from":4,"msg":"COORDINATOR","msg_id":"4:7","role":"follower","leader":4,`+
					`"why":["4 leads term 1 -> follow it"],"leader_change":"elected","prev_leader":0`)
			}
			const leads = `"event":"timeout","why":["no leader was heard of -> call an election of term 1",` +
				`"no higher node is alive -> lead term 1"],"role":"leader","leader":%d,"leader_change":"elected",` +
				`"prev_leader":0`
			say(3, 1, `"event":"start","role":"looking","leader":0`)
			say(5, 1, fmt.Sprintf(leads, 5))
			if early {
				follow()
			}
			time.Sleep(time.Minute)
			if !early {
				follow()
				time.Sleep(time.Minute)
			}
			if text := printed(); strings.Count(text, "two-leaders") != 1 {
				t.Errorf("early %v: not told yet: %s", early, text)
			}
			say(4, 2, fmt.Sprintf(leads, 4))
			time.Sleep(time.Minute)
			if text := printed(); strings.Count(text, "two-leaders") != 1 {
				t.Errorf("early %v: not told once: %s", early, text)
			}
		})
	}
}

// "--follow" ends with a signal, and the files that it read were not asked any more what they had: which lines are
// damaged. A compressed file was followed as one without records.
func TestRemarksOfFollowedFiles(t *testing.T) {
	began := lease(time.Now(), 3, 1, `"event":"start","role":"looking","leader":0`)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, began+began[:150]+"\n"+began[:150]+"\n"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "n.log")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	var remarks out
	if _, err := Run(ctx, Config{
		Files: []string{path}, Out: io.Discard, Remarks: &remarks, Builder: rounds.NewBriefBuilder(),
		Filter: func(to logs.Sink) logs.Sink { return to }, Unread: func(err error) { t.Error(err) },
	}); err != nil {
		t.Error(err)
	}
	if !strings.Contains(remarks.String(), "2 lines look like records") {
		t.Errorf("%s", &remarks)
	}
}

// "Nobody leads" came before the lines of the terms that were led until then, where a log had ended before it was read.
func TestAFinishedLogIsToldInItsOrder(t *testing.T) {
	following(t, func(write func(string), printed func() string) {
		began := time.Now()
		say := func(after time.Duration, node, seq, term int, rest string) {
			line := lease(began.Add(after), node, seq, rest)
			write(strings.Replace(line, `"term":1`, fmt.Sprintf(`"term":%d`, term), 1))
		}
		const asks = `"event":"timeout","why":["no leader was heard of -> ask the voters for term %d"],` +
			`"role":"looking","leader":0`
		leads := func(after time.Duration, node, seq, term int) {
			say(after, node, seq, term, fmt.Sprintf(asks, term))
			say(after+time.Millisecond, node, seq+1, term, fmt.Sprintf(`"event":"receive","role":"leader",`+
				`"why":["a majority voted in term %d -> lead"],"leader":%d,"token":%d,"leader_change":"elected",`+
				`"prev_leader":0`, term, node, term))
		}
		resigns := func(after time.Duration, node, seq, term int) {
			say(after, node, seq, term, fmt.Sprintf(`"event":"resign","detail":"told to stop by SIGTERM",`+
				`"why":["asked to resign -> step down"],"role":"looking","leader":0,"leader_change":"resigned",`+
				`"prev_leader":%d`, node))
		}
		leads(0, 3, 1, 1)
		resigns(time.Minute, 3, 3, 1)
		say(time.Minute+time.Second, 1, 1, 2, fmt.Sprintf(asks, 2))
		leads(time.Minute+2*time.Second, 2, 1, 3)
		resigns(time.Minute+4*time.Second, 2, 3, 3)
		time.Sleep(time.Second)
		text := printed()
		_, rest, _ := strings.Cut(text, "\n     1  ")
		_, rest, _ = strings.Cut(rest, "\n   2-3  ")
		if !strings.Contains(rest, "Nobody leads") {
			t.Errorf("not in the order of the log: %s", text)
		}
	})
}

// A log that ended said nothing of it that nobody led then.
func TestAPipeThatEndsTellsThatNobodyLeads(t *testing.T) {
	now := time.Now()
	text := lease(now, 3, 1, `"event":"receive","why":["a majority voted in term 1 -> lead"],"role":"leader",`+
		`"leader":3,"token":1,"leader_change":"elected","prev_leader":0`) +
		lease(now.Add(time.Second), 3, 2, `"event":"resign","why":["asked to resign -> step down"],`+
			`"role":"looking","leader":0,"leader_change":"resigned","prev_leader":3`)
	var told out
	if _, err := Run(t.Context(), Config{
		Files: []string{"-"}, Stdin: strings.NewReader(text), Out: &told, Remarks: io.Discard,
		Builder: rounds.NewBriefBuilder(), Filter: func(to logs.Sink) logs.Sink { return to },
	}); err != nil {
		t.Error(err)
	}
	_, rest, _ := strings.Cut(told.String(), "\n     1  ")
	if !strings.Contains(rest, "Nobody leads") {
		t.Errorf("it is not told that nobody leads: %s", &told)
	}
}

// A node whose log came into the directory later, since it was started later, was not heard. A log that gets another
// name when the node begins a new one is no new log.
func TestALogThatComesLater(t *testing.T) {
	dir := t.TempDir()
	leads := func(node int) string {
		return lease(time.Now().Add(-time.Minute), node, 1, fmt.Sprintf(`"event":"receive","role":"leader",`+
			`"leader":%d,"token":1,"why":["a majority voted in term 1 -> lead"],"leader_change":"elected",`+
			`"prev_leader":0`, node))
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1.log", lease(time.Now(), 1, 1, `"event":"start","role":"looking","leader":0`))
	ctx, stop := context.WithTimeout(t.Context(), 3500*time.Millisecond)
	defer stop()
	go func() {
		time.Sleep(700 * time.Millisecond)
		if err := os.Rename(filepath.Join(dir, "1.log"), filepath.Join(dir, "1.log.1")); err != nil {
			t.Error(err)
		}
		write("2.log", leads(2))
		write("3.log.gz", leads(3))
	}()
	b := rounds.NewBriefBuilder()
	var told out
	if _, err := Run(ctx, Config{
		Paths: []string{dir}, Files: []string{filepath.Join(dir, "1.log")}, Out: &told, Remarks: io.Discard, Builder: b,
		Filter: func(to logs.Sink) logs.Sink { return to }, Unread: func(err error) { t.Error(err) },
	}); err != nil {
		t.Error(err)
	}
	if n := b.Records(); n != 2 || strings.Count(told.String(), "\n     1  ") != 1 {
		t.Errorf("%d records: %s", n, &told)
	}
}
