package survey

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// after returns the time of a number of seconds after noon.
func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// node is the answer of a node that follows the leader, or nobody, since some seconds after noon.
func node(id, leader proto.NodeID, term proto.Term, since int, alive ...proto.NodeID) httpapi.Status {
	s := httpapi.Status{
		Since: after(since), Incarnation: fmt.Sprint("life of ", id), Cluster: "x", Healthy: true, Alive: alive,
		Leadership: httpapi.Leadership{
			Self: id, IsLeader: id == leader, Leader: leader, Term: term, Algorithm: "bully", Guarantee: "lease",
		},
	}
	if leader == 0 {
		s.Reason = "no leader is known"
	}
	return s
}

// asking returns the survey of these answers; the first one is of the node that was asked.
func asking(answers ...httpapi.Status) *survey {
	s := &survey{
		asked: answers[0], said: map[proto.NodeID]httpapi.Status{}, silent: map[proto.NodeID]error{},
		strangers: map[proto.NodeID]httpapi.Status{}, mute: map[string]error{}, now: after(600),
	}
	for _, status := range answers {
		s.said[status.Self] = status
	}
	for _, id := range s.asked.Alive {
		s.members = append(s.members, httpapi.Member{ID: id, Incarnation: fmt.Sprint("life of ", id)})
	}
	return s
}

// with returns the answer, changed.
func with(s httpapi.Status, change func(*httpapi.Status)) httpapi.Status {
	change(&s)
	return s
}

// lost is what a node tells of a process that it lost.
func lost(id proto.NodeID, life, evidence string, at int) func(*httpapi.Status) {
	return func(s *httpapi.Status) {
		s.Gone = append(s.Gone, httpapi.Gone{ID: id, Incarnation: life, Evidence: evidence, At: after(at)})
	}
}

const takesOver = "Once it is alive to all it takes over after a short while, unless it stands aside because it was " +
	"asked to resign, pre-emption is off, or an operator chose the leader."

// live has surveys of which all is known, and what they are to say of a node: each sentence, in order.
var live = map[string]struct {
	of   proto.NodeID
	ask  func() *survey
	want []string
}{
	"it leads, and others know better": {3, func() *survey {
		return asking(node(1, 3, 2, 5, 1, 2, 3), node(2, 4, 3, 9, 1, 2, 3), node(3, 3, 2, 4, 1, 2, 3))
	}, []string{
		"Node 3 leads term 2 since 12:00:04.000 UTC, it says itself (lease).",
		"But node 4 leads term 3 since 12:00:09.000 UTC, by the word of node 2.",
	}},
	"another leads, and outranks it": {2, func() *survey {
		return asking(node(1, 3, 2, 6, 1, 2, 3), node(2, 3, 2, 5, 1, 2, 3), node(3, 3, 2, 4, 1, 2, 3))
	}, []string{
		"Node 3 leads term 2 since 12:00:04.000 UTC, by the word of nodes 1, 2 and 3.",
		"Node 3 outranks node 2: its id is higher.",
	}},
	"it outranks the leader": {3, func() *survey {
		s := asking(node(1, 2, 2, 6, 1, 2, 3), node(2, 2, 2, 5, 1, 2, 3), node(3, 2, 2, 7, 1, 2, 3))
		s.members[1].Attr = 4
		s.members[2].Attr = 7
		return s
	}, []string{
		"Node 2 leads term 2 since 12:00:05.000 UTC, by the word of nodes 1, 2 and 3.",
		"Node 3 outranks node 2: its attribute is 7, that of node 2 is 4.",
		takesOver,
	}},
	// Node 1 was cut off, and had no leader, long before the leader of the others was lost.
	"nobody leads since the last of them lost the leader": {2, func() *survey {
		return asking(node(1, 0, 1, 5, 1, 2, 3), node(2, 0, 1, 300, 1, 2, 3), node(3, 0, 1, 301, 1, 2, 3))
	}, []string{"Nobody leads since 12:05:01.000 UTC, by the word of nodes 1, 2 and 3: no leader is known."}},
	"a majority is missing": {2, func() *survey {
		no := func(s *httpapi.Status) {
			s.Reason = "no quorum: 2 of 5 voters are alive to this node, 3 are needed; missing: 3, 4, 5"
			s.Voters = []proto.NodeID{1, 2, 3, 4, 5}
		}
		return asking(with(node(1, 0, 1, 5, 1, 2), no), with(node(2, 0, 1, 5, 1, 2), no))
	}, []string{
		"Nobody leads since 12:00:05.000 UTC, by the word of nodes 1 and 2: no quorum: 2 of 5 voters are alive to " +
			"them, 3 are needed; missing: 3, 4, 5.",
	}},
	"one of them hangs": {1, func() *survey {
		return asking(node(1, 0, 1, 5, 1, 2), with(node(2, 0, 1, 0, 1, 2), func(s *httpapi.Status) {
			s.Healthy, s.Since, s.NotReady = false, time.Time{}, "the election loop last ticked 8s ago"
			s.Reason = s.NotReady
		}))
	}, []string{
		"Nobody leads since 12:00:05.000 UTC, by the word of node 1: no leader is known.",
		"Node 2 does not know who leads: the election loop last ticked 8s ago.",
	}},
	"it hangs": {2, func() *survey {
		return asking(node(1, 1, 1, 5, 1, 2), with(node(2, 0, 1, 0, 1, 2), func(s *httpapi.Status) {
			s.Healthy, s.Since, s.NotReady = false, time.Time{}, "the election loop last ticked 8s ago"
			s.Reason = s.NotReady
		}))
	}, []string{
		"Node 1 leads term 1 since 12:00:05.000 UTC, by the word of node 1.",
		"Node 2 is not well: the election loop last ticked 8s ago.",
	}},
	"neither it nor others stand": {3, func() *survey {
		aside := func(why string) func(*httpapi.Status) {
			return func(s *httpapi.Status) {
				s.Ineligible, s.Reason = why, "no leader is known, and this node does not stand: "+why
			}
		}
		return asking(with(node(1, 0, 1, 5, 1, 2, 3), aside("ill")), with(node(2, 0, 1, 5, 1, 2, 3), aside("ill")),
			with(node(3, 0, 1, 5, 1, 2, 3), aside("paused")))
	}, []string{
		"Nobody leads since 12:00:05.000 UTC, by the word of nodes 1, 2 and 3: no leader is known.",
		"Node 3 does not stand for election: paused.",
		"Nodes 1 and 2 do not stand for election either: ill.",
	}},
	// "Node 2 does not stand for election either" was said of a node beside one that was dead, which did neither.
	"it is dead, and another does not stand": {3, func() *survey {
		gone := lost(3, "life of 3", "proven-dead 3", 30)
		paused := func(s *httpapi.Status) {
			gone(s)
			s.Ineligible, s.Reason = "paused", "no leader is known, and this node does not stand: paused"
		}
		return asking(with(node(1, 0, 1, 5, 1, 2), gone), with(node(2, 0, 1, 5, 1, 2), paused))
	}, []string{
		"Nobody leads since 12:00:05.000 UTC, by the word of nodes 1 and 2: no leader is known.",
		"Node 2 does not stand for election: paused.",
		"At 12:00:30.000 UTC nodes 1 and 2 lost node 3: its process is proven dead (peers saw it).",
	}},
	"neither it nor another votes": {2, func() *survey {
		empty := func(s *httpapi.Status) {
			s.Recovery = fmt.Sprintf("nothing is saved of voter %d", s.Self)
			s.Reason, s.Since = "no leader is known, and this node does not vote: "+s.Recovery, time.Time{}
		}
		return asking(with(node(1, 0, 0, 0, 1, 2), empty), with(node(2, 0, 0, 0, 1, 2), empty))
	}, []string{
		"Nobody leads, by the word of nodes 1 and 2: no leader is known.",
		"Node 2 votes for nobody, and does not stand: nothing is saved of voter 2.",
		"Node 1 does not vote: nothing is saved of voter 1.",
	}},
	// The leader cannot be asked: the asked node knows the voters, too.
	"it is none of the voters": {4, func() *survey {
		voters := func(s *httpapi.Status) { s.Voters = []proto.NodeID{1, 2, 3} }
		s := asking(with(node(1, 3, 2, 6, 1, 3, 4), voters), with(node(4, 3, 2, 7, 1, 3, 4), voters))
		s.silent[3] = errors.New("it serves no HTTP")
		return s
	}, []string{
		"Node 3 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 4.",
		"Node 4 is none of the voters (1 2 3): it may follow, and never leads.",
	}},
	"it has other voters": {4, func() *survey {
		return asking(with(node(1, 1, 2, 6, 1, 4), func(s *httpapi.Status) { s.Voters = []proto.NodeID{1} }),
			with(node(4, 0, 0, 0, 1, 4), func(s *httpapi.Status) {
				s.Voters, s.Since = []proto.NodeID{2, 3, 4}, time.Time{}
			}))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"But nobody leads, by the word of node 4: no leader is known.",
		"Node 4 has another list of voters than node 1, the leader: it has voters 2-4, node 1 has voter 1.",
		"They exchange no votes, since two majorities might lead.",
		"Start the one that is wrong again with the list of the others, and change one voter at a time.",
	}},
	"it says that settings differ": {1, func() *survey {
		return asking(with(node(1, 0, 0, 5, 1), func(s *httpapi.Status) { s.Differ = []string{"node 2 has store B"} }))
	}, []string{
		"Nobody leads since 12:00:05.000 UTC, by the word of node 1: no leader is known.",
		"Node 1 says: node 2 has store B.",
	}},
	"others drop what it sends": {3, func() *survey {
		unmet := func(s *httpapi.Status) {
			s.Unmet = []httpapi.Unmet{
				{Nodes: []proto.NodeID{3}, From: "h", Why: "gossip from h, maybe of node 3, is not encrypted: do A"},
				{Nodes: []proto.NodeID{4}, From: "i", Why: "gossip from i, maybe of node 4, is not encrypted: do A"},
			}
		}
		return asking(with(node(1, 1, 2, 6, 1, 2), unmet), with(node(2, 1, 2, 6, 1, 2), unmet))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"No node that answers has ever heard of node 3: 1 and 2 never did, since they started.",
		"Nodes 1 and 2 say: gossip from h, maybe of node 3, is not encrypted: do A.",
	}},
	"its gossip is heard, and its links are refused": {3, func() *survey {
		unmet := func(s *httpapi.Status) {
			s.Unmet = []httpapi.Unmet{
				{From: "h", Why: "gossip from h is encrypted: do B"},
				{Nodes: []proto.NodeID{3}, From: "h:1", Why: "no link to node 3 at h:1: do A"},
			}
		}
		return asking(with(node(1, 1, 2, 6, 1, 2, 3), unmet), with(node(2, 1, 2, 6, 1, 2, 3), unmet),
			node(3, 0, 0, 5, 1, 2, 3))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"But nobody leads since 12:00:05.000 UTC, by the word of node 3: no leader is known.",
		"Nodes 1 and 2 say: no link to node 3 at h:1: do A.",
	}},
	"one whose links all others refuse has none to it": {2, func() *survey {
		return asking(node(1, 1, 2, 6, 1, 2, 3), node(2, 1, 2, 6, 1, 2, 3), with(node(3, 0, 0, 5, 1, 2, 3),
			func(s *httpapi.Status) {
				s.Unmet = []httpapi.Unmet{
					{Nodes: []proto.NodeID{2}, From: "h:1", Why: "no link to node 2 at h:1: do A"},
				}
			}))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"But nobody leads since 12:00:05.000 UTC, by the word of node 3: no leader is known.",
		"Node 3 says: no link to node 2 at h:1: do A.",
		"Node 2 outranks node 1: its id is higher.",
		takesOver,
	}},
	"it drops what others send": {3, func() *survey {
		return asking(node(1, 1, 2, 6, 1), with(node(3, 0, 0, 5, 3), func(s *httpapi.Status) {
			s.Unmet = []httpapi.Unmet{{From: "h", Why: "gossip from h is encrypted: do B"}}
		}))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"But nobody leads since 12:00:05.000 UTC, by the word of node 3: no leader is known.",
		"Node 3 was never alive to node 1, since it started.",
		"Node 3 says: gossip from h is encrypted: do B.",
	}},
	"it alone was asked, and drops what others send": {3, func() *survey {
		return asking(with(node(3, 0, 0, 5, 3), func(s *httpapi.Status) {
			s.Unmet = []httpapi.Unmet{{From: "h", Why: "gossip from h is encrypted: do B"}}
		}))
	}, []string{
		"Nobody leads since 12:00:05.000 UTC, by the word of node 3: no leader is known.",
		"Node 3 says: gossip from h is encrypted: do B.",
	}},
	"others drop what somebody else sends": {2, func() *survey {
		return asking(with(node(1, 1, 2, 6, 1, 2), func(s *httpapi.Status) {
			s.Unmet = []httpapi.Unmet{{From: "h", Why: "gossip from h is encrypted: do B"}}
		}))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"Node 2 outranks node 1: its id is higher.",
		takesOver,
	}},
	"it is of another cluster": {4, func() *survey {
		s := asking(node(1, 1, 2, 6, 1))
		s.strangers[4] = with(node(4, 4, 7, 1, 4), func(s *httpapi.Status) { s.Cluster, s.Algorithm = "y", "ring" })
		return s
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		`Node 4 is of cluster "y", the others of "x".`,
		"Node 4 runs ring, the others bully: they do not understand each other.",
		"No node that answers has ever heard of node 4: 1 never did, since it started.",
	}},
	"nobody knows it": {4, func() *survey {
		return asking(node(1, 1, 2, 6, 1, 2), node(2, 1, 2, 6, 1, 2))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"No node that answers has ever heard of node 4: 1 and 2 never did, since they started.",
		`If it runs, it has another label than "x" or another algorithm than bully, or reaches none of them: ask it ` +
			"too, with a second --addr.",
		"If it ran before they started, the logs tell: ringleader why-not 4 LOGS.",
	}},
	"nobody knows it, nor answers where it should be": {4, func() *survey {
		s := asking(node(1, 1, 2, 6, 1))
		s.mute["h:1"] = errors.New("refused")
		return s
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"No node that answers has ever heard of node 4: 1 never did, since it started.",
		"At h:1 nobody answers (refused).",
		"If that is where it serves HTTP, it is not running, paused, or cut off from here.",
	}},
	"it does not answer": {2, func() *survey {
		s := asking(node(1, 1, 2, 6, 1, 2))
		s.silent[2] = errors.New("no answer")
		return s
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"Node 2 itself does not answer (no answer).",
		"If it cannot be asked from here, ask it where it runs; if it can, it may be paused or hang.",
		"Node 2 outranks node 1: its id is higher.",
		takesOver,
	}},
	"its process ended": {3, func() *survey {
		return asking(with(node(1, 2, 2, 6, 1, 2), lost(3, "life of 3", "link-closed 3, dial-refused 3", 5)),
			with(node(2, 2, 2, 6, 1, 2), lost(3, "life of 3", "link-closed 3, dial-refused 3", 4)))
	}, []string{
		"Node 2 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"At 12:00:04.000 UTC nodes 1 and 2 lost node 3: connection closed and port refused; its process ended " +
			"(peers saw it).",
	}},
	// Node 1 was cut off from the process that came after the one whose end it saw.
	"its last process fell silent, and a former one ended": {3, func() *survey {
		return asking(with(node(1, 2, 2, 6, 1, 2), lost(3, "former life", "link-closed 3, dial-refused 3", 5)),
			with(node(2, 2, 2, 6, 1, 2), lost(3, "life of 3", "heartbeat-missed 3", 400)))
	}, []string{
		"Node 2 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"At 12:06:40.000 UTC node 3 stopped answering heartbeats of node 2: it was paused, hung or cut off.",
		"Node 1 lost a process of node 3 before the last one, and never saw the last one.",
	}},
	"a former process ended, and it is alive to another": {3, func() *survey {
		s := asking(node(2, 2, 2, 6, 1, 2, 3),
			with(node(1, 2, 2, 6, 1, 2), lost(3, "former life", "link-closed 3, dial-refused 3", 5)))
		s.silent[3] = errors.New("it serves no HTTP")
		return s
	}, []string{
		"Node 2 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"Node 3 itself does not answer (it serves no HTTP).",
		"If it cannot be asked from here, ask it where it runs; if it can, it may be paused or hang.",
		"Node 1 lost a process of node 3 before the last one, and never saw the last one.",
		"Node 3 outranks node 2: its id is higher.",
		takesOver,
	}},
	"it answers, and nobody sees it since it started again": {3, func() *survey {
		return asking(with(node(1, 2, 2, 6, 1, 2), lost(3, "former life", "link-closed 3, dial-refused 3", 5)),
			with(node(2, 2, 2, 6, 1, 2), lost(3, "former life", "link-closed 3, dial-refused 3", 4)),
			with(node(3, 0, 0, 0, 3), func(s *httpapi.Status) { s.Since = time.Time{} }))
	}, []string{
		"Node 2 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1 and 2.",
		"But nobody leads, by the word of node 3: no leader is known.",
		"Nodes 1 and 2 lost a process of node 3 before the last one, and never saw the last one.",
	}},
	"it was lost, and answers": {3, func() *survey {
		return asking(with(node(1, 2, 2, 6, 1, 2), lost(3, "life of 3", "heartbeat-missed 3", 5)),
			node(2, 2, 2, 6, 1, 2), node(3, 2, 2, 7, 3))
	}, []string{
		"Node 2 leads term 2 since 12:00:06.000 UTC, by the word of nodes 1, 2 and 3.",
		"At 12:00:05.000 UTC node 3 stopped answering heartbeats of node 1.",
		"It answers now.",
		"Node 3 was never alive to node 2, since it started.",
	}},
	"it cannot be reached": {3, func() *survey {
		return asking(with(node(1, 1, 2, 6, 1), lost(3, "life of 3", "unreachable 3", 5)))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"At 12:00:05.000 UTC node 1 lost node 3: cannot be reached; its machine was down, or the network between " +
			"them was cut.",
	}},
	"it is gone, yesterday": {3, func() *survey {
		return asking(with(node(1, 1, 2, 6, 1), lost(3, "life of 3", "link-closed 3", -86400)))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"At 2026-11-26 12:00:00.000 UTC node 1 lost node 3: connection closed; it was paused, hung or cut off, or " +
			"its process ended: nobody saw which.",
	}},
	"it is gone, and it is not known how": {3, func() *survey {
		return asking(with(node(1, 1, 2, 6, 1), lost(3, "life of 3", "", 5)))
	}, []string{
		"Node 1 leads term 2 since 12:00:06.000 UTC, by the word of node 1.",
		"By 12:00:05.000 UTC node 1 had lost node 3: no record says how.",
	}},
}

// "A test walks all sentences: subject, life and time are the record's." Of each kind of sentence that why-not makes
// from the answers of running nodes, at least one stands in a survey of which all is known. Whoever is named said so,
// the time is the one that was said, and what was said of a former process is not told of the last one.
func TestEveryLiveSentence(t *testing.T) {
	walked := map[string]bool{}
	for about, c := range live {
		s := c.ask()
		var got []string
		for _, sentence := range slices.Concat(s.about(c.of).Paragraphs()...) {
			got = append(got, shape(`\. ([A-Z])`).ReplaceAllString(sentence, ".\n$1"))
		}
		got = strings.Split(strings.Join(got, "\n"), "\n")
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: it says\n  %s\nand should say\n  %s", about, strings.Join(got, "\n  "),
				strings.Join(c.want, "\n  "))
		}
		for _, sentence := range got {
			kinds := 0
			for name, kind := range sentences {
				m := kind.is.FindStringSubmatch(sentence)
				if m == nil {
					continue
				}
				kinds++
				walked[name] = true
				if kind.holds != nil && !kind.holds(s, c.of, m) {
					t.Errorf("%s: no answer says so: %s", about, sentence)
				}
			}
			if kinds != 1 {
				t.Errorf("%s: a sentence of %d kinds: %s", about, kinds, sentence)
			}
		}
	}
	for kind := range sentences {
		if !walked[kind] {
			t.Errorf("no survey has a sentence of the kind %q", kind)
		}
	}
}

const (
	nodesNamed = `nodes? (` + idList + `)`
	idList     = `[0-9, and]+`
	clockTime  = `((?:[0-9-]+ )?\d\d:\d\d:\d\d\.\d\d\d) UTC`
)

// sentences are the kinds of sentences, and whether the answers bear one out.
var sentences = map[string]struct {
	is    *regexp.Regexp
	holds func(s *survey, of proto.NodeID, m []string) bool
}{
	"itself leads": {
		shape(`^Node (\d+) leads term (\d+) since ` + clockTime + `, it says itself \((\S+)\)\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			own := s.said[of]
			return ids(m[1])[0] == of && own.IsLeader && fmt.Sprint(own.Term) == m[2] && is(own.Since, m[3]) &&
				string(own.Guarantee) == m[4]
		},
	},
	"leads": {
		shape(`^(?:But n|N)ode (\d+) leads term (\d+) since ` + clockTime + `, by the word of ` + nodesNamed +
			`\.$`),
		func(s *survey, _ proto.NodeID, m []string) bool {
			return s.believe(ids(m[4]), ids(m[1])[0], m[2], func(since time.Time) bool { return is(since, m[3]) })
		},
	},
	"nobody leads": {
		shape(`^(?:But n|N)obody leads(?: since ` + clockTime + `)?, by the word of ` + nodesNamed + `: .*\.$`),
		func(s *survey, _ proto.NodeID, m []string) bool {
			by := ids(m[2])
			return s.believe(by, 0, "", func(since time.Time) bool {
				return m[1] == "" && since.IsZero() || m[1] != "" && is(since, m[1])
			}) && !slices.ContainsFunc(by, func(id proto.NodeID) bool { // all of them believed so by then
				return m[1] != "" && s.said[id].Since.Format(printed) > m[1]
			})
		},
	},
	"ill": {shape(`^Node (\d+) is not well: (.*)\.$`), func(s *survey, of proto.NodeID, m []string) bool {
		return ids(m[1])[0] == of && !s.said[of].Healthy && s.said[of].NotReady == m[2]
	}},
	"does not know": {
		shape(`^Nodes? ([0-9, and]+) (?:does|do) not know who leads: (.*)\.$`),
		func(s *survey, _ proto.NodeID, m []string) bool {
			return s.each(ids(m[1]), func(own httpapi.Status) bool { return !own.Healthy && own.NotReady == m[2] })
		},
	},
	"stands aside": {
		shape(`^Nodes? ([0-9, and]+) (?:does|do) not stand for election(?: either)?: (.*)\.$`),
		func(s *survey, _ proto.NodeID, m []string) bool {
			return s.each(ids(m[1]), func(own httpapi.Status) bool { return own.Ineligible == m[2] })
		},
	},
	"does not vote": {
		shape(`^Nodes? ([0-9, and]+) (?:votes for nobody, and does not stand|(?:does|do) not vote): (.*)\.$`),
		func(s *survey, _ proto.NodeID, m []string) bool {
			return s.each(ids(m[1]), func(own httpapi.Status) bool { return own.Recovery == m[2] })
		},
	},
	"no voter": {
		shape(`^Node (\d+) is none of the voters \(([0-9 ]+)\): it may follow, and never leads\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			return ids(m[1])[0] == of && slices.Equal(ids(m[2]), s.asked.Voters)
		},
	},
	"other voters": {
		shape(`^Node (\d+) has another list of voters than node (\d+)(?:, the leader)?: .*\.$`),
		func(s *survey, _ proto.NodeID, m []string) bool {
			return !slices.Equal(s.said[ids(m[1])[0]].Voters, s.said[ids(m[2])[0]].Voters)
		},
	},
	"settings differ": {shape(`^Node (\d+) says: (node .*)\.$`), func(s *survey, _ proto.NodeID, m []string) bool {
		return slices.Contains(s.said[ids(m[1])[0]].Differ, m[2])
	}},
	"unmet": {
		shape(`^Nodes? ([0-9, and]+) says?: ((?:gossip|no link) .*)\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			return s.each(ids(m[1]), func(own httpapi.Status) bool {
				return slices.ContainsFunc(own.Unmet, func(u httpapi.Unmet) bool {
					return u.Why == m[2] && (own.Self == of || slices.Contains(u.Nodes, of))
				})
			})
		},
	},
	"stranger": {
		shape(`^Node (\d+) (?:is of cluster "y", the others of "x"|runs ring, the others bully: .*)\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			return ids(m[1])[0] == of && s.strangers[of].Self == of
		},
	},
	"does not answer": {
		shape(`^Node (\d+) itself does not answer \((.*)\)\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			return ids(m[1])[0] == of && s.silent[of].Error() == m[2]
		},
	},
	"lost": {
		shape(`^(?:At|By) ` + clockTime + ` ` + nodesNamed + ` (?:had )?lost node (\d+): .*\.$`),
		func(s *survey, of proto.NodeID, m []string) bool { return s.lostIt(of, m[1], ids(m[2]), ids(m[3])) },
	},
	"silent": {
		shape(`^At ` + clockTime + ` node (\d+) stopped answering heartbeats of ` + nodesNamed + `(?:: .*)?\.$`),
		func(s *survey, of proto.NodeID, m []string) bool { return s.lostIt(of, m[1], ids(m[3]), ids(m[2])) },
	},
	"answers now": {shape(`^It answers now\.$`), func(s *survey, of proto.NodeID, _ []string) bool {
		return s.said[of].Self == of
	}},
	"former process": {
		shape(`^Nodes? ([0-9, and]+) lost a process of node (\d+) before the last one, and never saw the last ` +
			`one\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			return ids(m[2])[0] == of && s.each(ids(m[1]), func(own httpapi.Status) bool {
				return !slices.Contains(own.Alive, of) && own.Gone[0].Incarnation == "former life"
			})
		},
	},
	"never seen": {
		shape(`^Node (\d+) was never alive to ` + nodesNamed + `, since (?:it|they) started\.$`),
		func(s *survey, of proto.NodeID, m []string) bool { return ids(m[1])[0] == of && s.never(of, ids(m[2])) },
	},
	"never heard of": {
		shape(`^No node that answers has ever heard of node (\d+): ([0-9, and]+) never did, since (?:it|they) ` +
			`started\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			return ids(m[1])[0] == of && s.never(of, ids(m[2])) && len(ids(m[2])) == len(s.said)
		},
	},
	"nobody there": {shape(`^At (\S+) nobody answers \((.*)\)\.$`), func(
		s *survey, _ proto.NodeID, m []string,
	) bool {
		return s.mute[m[1]].Error() == m[2]
	}},
	"rank": {
		shape(`^Node (\d+) outranks node (\d+): its (?:id is higher|attribute is (\d+), that of node \d+ is ` +
			`(\d+))\.$`),
		func(s *survey, of proto.NodeID, m []string) bool {
			a, b := s.rank(ids(m[1])[0]), s.rank(ids(m[2])[0])
			by := *a.Attr == *b.Attr && a.ID > b.ID
			if m[3] != "" {
				by = fmt.Sprint(*a.Attr) == m[3] && fmt.Sprint(*b.Attr) == m[4] && *a.Attr > *b.Attr
			}
			return by && (a.ID == uint64(of) || b.ID == uint64(of))
		},
	},
	"advice": {shape(`^(?:If it |If that is|Once it is alive|They exchange|Start the one that is wrong)`), nil},
}

var shape = regexp.MustCompile

const printed = "15:04:05.000"

// is reports whether that is how the time is printed.
func is(t time.Time, text string) bool {
	return t.Format(printed) == text || t.Format("2006-01-02 "+printed) == text
}

// ids returns the numbers in a text.
func ids(text string) (list []proto.NodeID) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.ParseUint(word, 10, 64)
		list = append(list, proto.NodeID(n))
	}
	return list
}

// each reports whether something is true of the answers of all of the nodes.
func (s *survey) each(ids []proto.NodeID, holds func(httpapi.Status) bool) bool {
	return !slices.ContainsFunc(ids, func(id proto.NodeID) bool { return s.said[id].Self != id || !holds(s.said[id]) })
}

// believe reports whether all of the nodes name the leader of the term, and one of them since such a time.
func (s *survey) believe(by []proto.NodeID, leader proto.NodeID, term string, at func(time.Time) bool) bool {
	return s.each(by, func(own httpapi.Status) bool {
		return own.Healthy && own.Leader == leader && cmp.Or(term, fmt.Sprint(own.Term)) == fmt.Sprint(own.Term)
	}) && slices.ContainsFunc(by, func(id proto.NodeID) bool { return at(s.said[id].Since) })
}

// lostIt reports whether these nodes, and no others with the same evidence, lost the last process of the node, and one
// of them at that time.
func (s *survey) lostIt(of proto.NodeID, at string, by, subject []proto.NodeID) bool {
	first := false
	return subject[0] == of && s.each(by, func(own httpapi.Status) bool {
		g := own.Gone[0]
		first = first || is(g.At, at)
		return g.ID == of && g.Incarnation == "life of "+of.String()
	}) && first
}

// never reports whether none of the nodes has or had the node.
func (s *survey) never(of proto.NodeID, by []proto.NodeID) bool {
	return s.each(by, func(own httpapi.Status) bool {
		return !slices.Contains(own.Alive, of) && len(own.Gone) == 0
	})
}
