package rounds_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// The logs in testdata/cases are of real clusters of the release before. What was done to each, by signals from
// outside, is known; it stands beside the wants.
func readCase(t *testing.T, name string, without ...string) *rounds.Group {
	t.Helper()
	files, errs := logs.Files([]string{"testdata/cases/" + name})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	b := rounds.NewBuilder()
	for _, file := range files {
		if slices.ContainsFunc(without, func(node string) bool { return strings.HasSuffix(file, "/"+node+".log") }) {
			continue
		}
		batch := logs.Batch{Paths: []string{file}}
		batch.Read(b, func(err error) { t.Fatal(err) })
	}
	groups := b.History().Groups
	if len(groups) != 1 {
		t.Fatalf("%s: %d groups", name, len(groups))
	}
	return groups[0]
}

// told returns the list of a group and the stories of all its rounds, in one line.
func told(t *testing.T, g *rounds.Group) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.List(&out, g, report.Selection{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range g.Rounds {
		if err := report.Explain(&out, g, r, false); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// "No false statement, no finding on a healthy run, no missed finding on a broken one."
func TestCases(t *testing.T) {
	for name, c := range map[string]struct {
		findings  []rounds.FindingName
		says, not []string
	}{
		// 3 killed; 2 paused for 12 s, so that it asks as it wakes, before it votes; leader 5 paused for 3 s; 2 and 4
		// killed. One leader a term: 5, then 1, and then nobody, since 2 of 5 voters are left.
		"raft-false-two-leaders": {
			[]rounds.FindingName{rounds.NoEnd},
			[]string{
				"2 12:29:47.052 1 2 of 2", "370 ms", "voters 2, 3 and 4 without a sign of life here: 2 of 5 remain",
			},
			[]string{"both led", "went back", "node 5 won term 2"},
		},
		// Raft, voters 1 to 5, 2 at level debug. SIGTERM to 5 at 23:01:29.451, and started with another --cluster at
		// 30.370: refused. SIGTERM to 1 at 31.905, and started at 32.725; the logs of 2 and 4 truncated at 32.722;
		// leader 4 killed at 32.876, started at 35.914. All nodes that ran followed each leader.
		"raft-rotated-and-killed": {
			nil,
			[]string{
				"1 23:01:27.228 5 ≥2 of 3", "Whether node 2 followed: records of it are missing that may tell.",
				"Nodes 1, 3 and 5 followed; the records do not tell how soon [1:10@ae63ac49 3:10 5:12]. " +
					"Node 2 followed, perhaps later; whether it was there when the winner won is not known [2:56].",
				"Node 5 had ended [5:12].",
			},
			[]string{
				"left behind", "came later", "5, which the winner believed alive", "1 not heard to answer",
				"2 of 5 remain",
			},
		},
		// Node 1 was frozen, and then leader 3 killed: why 705 ms passed stood only in records of node 5.
		"ring-neighbour-frozen": {
			nil,
			[]string{
				"the longest 705 ms from 05:33:49.263 on: the process of node 3 ended (connection closed and port " +
					"refused), and finding node 1 silent took 704 ms of the 705 ms [peers saw: 5:13 4:2 5:12].",
			},
			nil,
		},
		// Leader 3 of voters 1 to 3 was killed, with --await-leases: why 1.54 s passed stood only in `explain`.
		"lease-awaited": {
			nil,
			[]string{
				"the longest at least 1.54 s from 05:54:52.902 on: the process of node 3 ended (connection closed " +
					"and port refused), and voter 1 had promised node 3 to elect nobody else for a while " +
					"[inferred: 2:13 1:7 2:11].",
			},
			nil,
		},
		// Voters 1 to 3 of six. Node 3 called for term 3 at 14:01:18.861, in vain. Asked of leader 2 at 21.1: lease; it
		// was killed at 21.223. Asked of node 5 at 36.3: pause --cluster; leader 3 killed at 41.431; resumed at 52.5.
		"lease-lent": {
			nil,
			[]string{
				"3 14:01:21.222 3 1 of 1",
				"At 14:01:21.222 (the first sign of term 3) node 3 noticed that the leader, node 2, was gone",
				"the process of node 2 ended (connection closed and port refused), and a lease that node 2 had lent " +
					"bound voters 1 and 3 for 1.98 s of the 1.98 s [peers saw: 3:25 3:21 1:17].",
				"At 14:01:52.579 (the first sign of term 4) node 2 was eligible again, and stood, as nobody led: " +
					"no leader was heard of for",
			},
			[]string{"took over", "began to take over"},
		},
		// Voters 1 to 3. Asked of node 1: transfer --to 2 --reason "a new disk". Then node 2: resign; node 3: pause
		// --reason late; SIGTERM to all.
		"lease-asked-to-hand-over": {
			nil,
			[]string{
				"node 3 handed over: transfer to node 2, asked by 127.0.0.1, at node 1 through 127.0.0.1 " +
					"because \"a new disk\"",
				"node 2 handed over: resigned at 2026-11-24T23:03:24Z by 127.0.0.1",
				"node 3 handed over: paused since 2026-11-24T23:03:25Z by 127.0.0.1 because \"late\"",
				"Nobody leads since 23:03:26.679: node 1 stopped leading: it was asked to resign",
			},
			[]string{"stood, as nobody led", "was chosen", "without a sign of life"},
		},
		// Three with --preempt: 3 killed, started again, and SIGTERM to all.
		"preempt-hand-over": {
			nil,
			[]string{
				"node 2 handed over: node 3 would take over",
				"node 3 stopped leading: it was asked to resign",
			},
			[]string{"gave up"},
		},
		// Five voters with nothing saved and --first-term 1: 1 and 2 start, 8 s later 3, 6 s later 4 and 5, 6 s later
		// SIGTERM to all. Each that started called an election while another led on.
		"voters-come-late": {
			nil,
			[]string{
				"until node 3 led term 3: node 2 handed over: node 3 would take over [3:19 2:19]",
				"Nobody leads since 16:05:37.676: node 3 stopped leading: it was asked to resign [3:38 3:37 3:29].",
			},
			[]string{"term 3: no leader was known"},
		},
		// Five voters. 5 killed at 16:43:14.550 and started at 18.020; leader 4 paused from 22.653 to 26.932; 1, 2, 3
		// and leader 5 killed from 31.014 to 36.532; 1, 2 and 3 started at 40.05; transfer at 44.9; SIGTERM to all at
		// 47.187.
		"all-told-to-stop": {
			[]rounds.FindingName{rounds.NoEnd},
			[]string{
				"3 of 3 ≥35 - - 0.60 ms ≥11.2 ms node 4 stopped answering (no answer to heartbeats)",
				// node 3 had called for term 5 as it started, and followed node 4 in term 4 before it was asked
				"3 of 3 ≥43 - 2.19 ms 0.34 ms 2.46 ms node 4 handed over: transfer to the best node, asked by " +
					"127.0.0.1 [3:22@5ec33832 4:55 4:56 3:19@5ec33832]",
				"Nobody leads since 16:43:47.185: node 3 stopped leading: it was asked to resign",
				"node 4 (it was asked to resign), which did not lead, asked node 3 to call the next election " +
					"[4:61 3:25@5ec33832].",
				"Nodes 1, 2 and 4 followed within 0.34 ms", "Node 5, which the winner believed alive, had ended",
			},
			[]string{
				"node 4 outranks node 3 and took over", "the leader handed over (it was asked to resign)",
				"others that the winner believed alive (1, 2 and 4)", // it believed node 5 alive, too
			},
		},
		// Two laps of SIGTERM and start.
		"raft-rolling-restart-healthy": {nil, []string{"leader 5 gave up term 1"}, []string{"went back", "is gone"}},
		// A ring of five, whose clocks were shifted by -420, +10800, +37, -1.5 and 0 s afterwards.
		"clocks-all-differ": {
			[]rounds.FindingName{rounds.Overlap}, []string{"at once, for 1.72 s", "3-6"}, []string{"1h30m"},
		},
		// 3 killed at 11:51:45.298; 1 killed at 48.302 and started at 52.312; 3 started at 57.321.
		"ring3-votes-misattributed": {
			nil,
			[]string{
				"Nobody led for 4.43 s", "voter 3 ended, 1 without a sign of life here: 1 of 3 remains",
				"All 3 nodes run, as far as the records tell, which end at 11:51:58.391",
				" 1 ended, unseen; started again by 11:51:52.418 [1:1@6e3652c6]",
				" 3 ended without a good-bye at 11:51:45.299 [peers saw: 1:6]; started again by 11:51:57.412 " +
					"[3:1@d6d48b2c]",
			},
			[]string{"nobody holds the office (node 2)"},
		},
		// --log-format console. Leader 3 killed at 09:25:15.924 and started at 18.930; all told to stop at 22.942.
		"text-killed-and-restarted": {
			nil,
			[]string{"Nobody led for 6.00 ms, from 09:25:15.926 until node 2 led term 2: the process of node 3 ended"},
			[]string{"had not died", "led on"},
		},
		// 9 killed, 5 and 2 killed, leader 4 paused from 14.329 to 32.345, 5 and 2 started, 5 told to stop.
		"outage-17s-quorum-lost": {
			[]rounds.FindingName{rounds.NoEnd},
			[]string{
				"Nobody led for at least 16.2 s, from 11:51:16.284 until node 1 led term 3: voter 5 ended, " +
					"4 silent, 2 without a sign of life here: 2 of 5 remain",
				"and at most 17.2 s, if from 11:51:15.294 on",
				"node 5 outranks node 4 and took over", "node 5 handed over: it was asked to resign",
				"(the leader's lease held for 2 s of that)",
			},
			[]string{"Node 4, which had started anew", "flapping", "false-evidence"},
		},
		// Voters 1 to 3. Asked of 1 and 2: pause --reason "disk swap 1" and 2; 3 killed 1 s later, at 09:22:08.875;
		// 9 s later asked of 1: resume. 3 started at 21.891.
		"paused-and-killed": {
			nil,
			[]string{
				"Nobody led for 9.01 s, from 09:22:08.877 until node 1 led term 2: the process of node 3 ended (its " +
					"process is proven dead), and node 1 stood aside: paused since 2026-11-25T09:22:07Z by 127.0.0.1 " +
					`because "disk swap 1", node 2: paused since 2026-11-25T09:22:07Z by 127.0.0.1 ` +
					`because "disk swap 2"`,
			},
			nil,
		},
		// Voters 1 to 3. 1 and 2 killed at 09:16:34.52, their data deleted, started at 37.53; 3 killed at 53.788 and
		// started at 17:00.792.
		"votes-wiped": {
			[]rounds.FindingName{rounds.NoEnd},
			[]string{
				"voters 1 and 2 not heard to answer and then voting for nobody, with nothing saved: 1 of 3 remains " +
					"[inferred: 3:7 1:1@f8d5cdf6 2:1@4e937b52 3:6]",
			},
			[]string{"the lease of node 3 ended", "just started"},
		},
		// Voters 1 to 3. SIGTERM to 1, and started with --voters 1-5: refused at 09:16:36.870. 3 killed at 40.877;
		// started so at 54.967 and 17:09.359, 2 at 17:07.023: refused.
		"voters-refused": {
			[]rounds.FindingName{rounds.NoEnd},
			[]string{
				"Nobody leads since 09:16:40.879: " +
					"voter 3 ended and then refused to run, 1 started " +
					"again and refusing to run, for a time 2 started again and refusing to run and then voting for " +
					"nobody, with nothing saved: 1 of 3 remains [",
				"nodes 1 and 3 refused to run when started again",
				"was told to stop, and ended at 09:16:36.861 [1:5]; started 2 times from 09:16:36.870 to " +
					"09:17:16.368, " +
					"it refused to run, by its own word: --voters: the voters are not those that this node voted under",
				"was told to stop, and ended at 09:17:07.309 [2:6]; started at 09:17:07.364, it refused to run, " +
					"by its " +
					"own word: --voters",
				"; started 2 times from 09:16:54.967 to 09:17:09.359, it refused to run",
			},
			nil,
		},
		// 2 is two processes: the second one, which wrote 44.157, was refused at 09:17:44.160. 2 ran on.
		"id-taken": {nil, nil, []string{"ended ["}},
		// SETTLED from 5 arrived in another term's records.
		"split-mended-false-lost": {
			[]rounds.FindingName{rounds.Overlap, rounds.TwoLeaders},
			[]string{"node 5 began at least 50.1 ms after node 4"}, // the records in which node 4 began are missing
			[]string{"never arrived"},
		},
		// SIGTERM to all at once.
		"graceful-stop-code14": {
			nil,
			[]string{
				"Nobody leads since 11:57:42.384: node 5 handed over",
				"All 5 nodes ended [",
			},
			[]string{"round-without-end", " run, as far as"},
		},
		// The file of leader 5 is absent; the records of the others tell of the split.
		"missing-leader-file": {
			[]rounds.FindingName{rounds.Overlap, rounds.TwoLeaders},
			[]string{
				"Of 5 nodes, node 5 has no log here and the other 4 run, as far as the records tell",
				"For how long nobody led after 2 leaderships is not known.",
				"Node 4 led as soon as node 5 was lost to others [peers saw: 4:13",
				"for 2.16 s in all, by the report of node 5",
			},
			[]string{"within -", "0 messages"},
		},
	} {
		g := readCase(t, name)
		found := slices.Compact(slices.Sorted(slices.Values(names(g.Findings))))
		if !slices.Equal(found, c.findings) {
			t.Errorf("%s: found %v, want %v", name, found, c.findings)
		}
		text := told(t, g)
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in: %s", name, want, text)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q in: %s", name, not, text)
			}
		}
	}
}

// "A voter's answer is the voter's": node 1 had just started when it was asked for term 3, and not in term 2.
func TestVotesOfTheirElection(t *testing.T) {
	g := readCase(t, "ring3-votes-misattributed")
	for term, want := range map[uint64]string{2: "", 3: "just started"} {
		for _, r := range g.Rounds {
			if r.Term == term && r.Ballot.Voices[0].No != want {
				t.Errorf("term %d: node 1 said no: %q, want %q", term, r.Ballot.Voices[0].No, want)
			}
		}
	}
	for _, r := range readCase(t, "outage-17s-quorum-lost").Rounds {
		if r.Term == 5 && r.Ballot.Voices[3].Denial != "" {
			t.Errorf("term 5: leader 4 said no: %+v", r.Ballot.Voices[3])
		}
	}
}

// "The normal case": no two clocks show the same time, and all are corrected within a millisecond.
func TestAllClocksDiffer(t *testing.T) {
	g := readCase(t, "clocks-all-differ")
	offsets := map[uint64]time.Duration{}
	for _, c := range g.Clocks {
		offsets[c.Node] = c.Offset
		if c.Error > time.Millisecond {
			t.Errorf("node %d: error %v", c.Node, c.Error)
		}
	}
	for node, shift := range map[uint64]time.Duration{
		1: -420 * time.Second, 2: 10800 * time.Second, 3: 37 * time.Second, 4: -1500 * time.Millisecond,
	} {
		if off := offsets[node] - offsets[5] - shift; off.Abs() > 200*time.Microsecond {
			t.Errorf("node %d: off by %v", node, off)
		}
	}
}

// "An uninvolved follower's file absent, and the winner flips": it does not, whose file is absent.
func TestWinnersDoNotFlip(t *testing.T) {
	for name, leaders := range map[string][]string{
		"split-mended-false-lost": {"n4", "n5"}, "outage-17s-quorum-lost": {"n1", "n4", "n5"},
		"raft-false-two-leaders": {"n1", "n5"}, "clocks-all-differ": {"n3", "n4", "n5"},
	} {
		winners := func(g *rounds.Group) map[uint64]uint64 {
			won := map[uint64]uint64{}
			for _, r := range g.Rounds {
				if r.Winner != nil {
					won[r.Term] = r.Winner.Node
				}
			}
			return won
		}
		want := winners(readCase(t, name))
		for _, node := range []string{"n1", "n2", "n3", "n4", "n5"} {
			if slices.Contains(leaders, node) {
				continue
			}
			for term, won := range winners(readCase(t, name, node)) {
				if won != want[term] {
					t.Errorf("%s without %s: node %d won term %d, want %d", name, node, won, term, want[term])
				}
			}
		}
	}
}
