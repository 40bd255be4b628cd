package rounds_test

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Why did nobody lead?": all who might have led were paused, and no event says so. A node that was resumed is
// eligible, though only the next record shows it.
func TestStandAside(t *testing.T) {
	paused := "the cluster is paused"
	for name, c := range map[string]struct {
		why  [2]string // of nodes 1 and 2 while nobody leads; 3 is paused
		want string
	}{
		"both":    {[2]string{paused, paused}, "and nodes 1, 2 and 3 stood aside: the cluster is paused"},
		"one":     {[2]string{paused, ""}, ""},
		"neither": {},
	} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		asked := trace.Record{
			Event: "eligible", Unfit: "resigned", Ineligible: "resigned", Term: 1, Leader: 3, Token: 1,
		}
		v.add(1, 30, asked)
		v.add(1, 40, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1})
		three := uint64(3)
		v.add(3, 500, trace.Record{
			Event: "timeout", Term: 1, PrevLeader: &three, LeaderChange: trace.Deposed, Ineligible: paused,
			Why: []string{"the lease ran out -> lead term 1 no more"},
		})
		for _, ms := range []int{510, 5000} {
			for i, why := range c.why {
				v.add(uint64(i+1), ms, trace.Record{Event: "timeout", Term: 1, Ineligible: why})
			}
		}
		g := v.b.History().Groups[0]
		in := g.Incidents[len(g.Incidents)-1]
		if in.Former != 3 || in.Held() != (c.want != "") || !strings.HasSuffix(in.Why, c.want) {
			t.Errorf("%s: %+v", name, in)
		}
		if got := g.Nodes[0].Ineligible; got != c.why[0] {
			t.Errorf("%s: node 1 is not eligible: %q, want %q", name, got, c.why[0])
		}
	}
}

// "The process of node 3 ended" was all that was told of an outage of eleven seconds where the log of one voter was
// missing: the records of the others tell that the cluster was paused, which holds for all.
func TestAPauseOfTheClusterHoldsForWhoHasNoLogHere(t *testing.T) {
	for without, want := range map[string]string{"n1": "node 2", "n2": "node 1"} {
		text := told(t, readCase(t, "lease-lent", without))
		want = "the process of node 3 ended, and " + want + " stood aside: the cluster is paused since "
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// "Too few to elect for 2.51 s of the 5.51 s": that the cluster was paused for the other three seconds, when a majority
// was there again, was not told.
func TestThoseWhoStoodAsideWhenEnoughWereThereAgainAreTold(t *testing.T) {
	const paused = "the cluster is paused since 2026-11-29T17:46:25Z by 127.0.0.1"
	for why, want := range map[string]string{
		paused: ": 1 of 3 remains, too few to elect for at least 2.5 s of the 5.51 s, and nodes 1 and 2 stood " +
			"aside: " + paused,
		"": ": 1 of 3 remains, too few to elect for at least 2.5 s of the 5.51 s",
	} {
		v := newVoters()
		v.level = "info"
		v.elect(3, 1, 1, 2)
		v.lose(1, 500, "link-closed 3, dial-refused 3", 1, 2)
		v.lose(1, 501, "link-closed 2, dial-refused 2", 1)
		v.add(1, 510, trace.Record{Event: "timeout", Term: 1, Ineligible: why})
		v.start(2, 3001)
		v.add(2, 3002, trace.Record{Event: "eligible", Unfit: why, Ineligible: why})
		v.add(1, 3003, trace.Record{Event: "peers", Alive: []uint64{1, 2}, Evidence: "joined 2", Ineligible: why})
		for _, node := range []uint64{2, 1} {
			v.add(node, 6000, trace.Record{Event: "eligible", Term: 1})
		}
		v.ask(1, 6001, 2)
		v.lead(1, 6010, 2)
		if in := v.last(); !strings.HasSuffix(in.Why, want) || in.Held() != (why != "") {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "Node 3 stopped leading: resigned at noon by 10.0.0.1, and nodes 1 and 2 stood aside: resigned at noon by 10.0.0.1":
// the same reason was told twice.
func TestOneReasonForAllWhoStandAsideIsToldOnce(t *testing.T) {
	const why, late = "resigned at noon by 10.0.0.1", "resigned later by 10.0.0.1"
	for other, want := range map[string]string{
		why:  ", and nodes 1, 2 and 3 stood aside for the same reason",
		late: ", and nodes 2 and 3 stood aside for the same reason, node 1: " + late,
	} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		three := uint64(3)
		v.add(3, 490, trace.Record{Event: "eligible", Unfit: why, Ineligible: why, Term: 1, Leader: 3, Token: 1})
		v.add(3, 500, trace.Record{
			Event: "timeout", Term: 1, PrevLeader: &three, LeaderChange: trace.Resigned, Ineligible: why,
		})
		for _, ms := range []int{510, 5000} {
			v.add(1, ms, trace.Record{Event: "timeout", Term: 1, Ineligible: other})
			v.add(2, ms, trace.Record{Event: "timeout", Term: 1, Ineligible: why})
			v.add(3, ms, trace.Record{Event: "timeout", Term: 1, Ineligible: why})
		}
		if in := v.last(); in.Why != "node 3 stopped leading: "+why+want {
			t.Errorf("%q, want %q", in.Why, want)
		}
	}
}

// "Not standing for election: node 2, paused" was told of the leader: its log ends before it was resumed and won.
func TestWhoLedATermAfterItsRecordsEndStandsAgain(t *testing.T) {
	for later, want := range map[bool]string{true: "", false: "paused"} {
		v := newVoters()
		v.elect(1, 1, 2, 3)
		v.add(2, 500, trace.Record{
			Event: "eligible", Unfit: "paused", Ineligible: "paused", Term: 1, Leader: 1, Token: 1,
			ValidUntil: atMS(1400),
		})
		v.lose(1, 4000, "heartbeat-missed 3", 1, 2)
		if later {
			v.follow(1, 5000, 2, 2)
		}
		if n := v.b.History().Groups[0].Nodes[1]; n.Ineligible != want || n.Aside.IsZero() != later {
			t.Errorf("later %v: %q [%v], want %q", later, n.Ineligible, n.Aside, want)
		}
	}
}
