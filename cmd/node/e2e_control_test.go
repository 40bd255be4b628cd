package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// do has a node carry out a request.
func (e e2e) do(id proto.NodeID, v httpapi.Verb, o httpapi.Order) (httpapi.Done, error) {
	return httpapi.Client{Addr: e.Node(id).HTTP}.Do(e.ctx, v, o)
}

func (e e2e) must(id proto.NodeID, v httpapi.Verb, o httpapi.Order) httpapi.Done {
	e.Helper()
	done, err := e.do(id, v, o)
	e.check(err)
	return done
}

var askAgain = regexp.MustCompile("did not take over|ask again")

// handsOver asks a node to have leadership handed over, until another leads.
func (e e2e) handsOver(id proto.NodeID, o httpapi.Order) httpapi.Done {
	e.Helper()
	done, err := e.transfer(id, o)
	e.check(err)
	return done
}

// transfer asks a node to have leadership handed over, and asks again as the answer says: on a busy machine
// what the voters say, or the successor's disk, may be too late.
func (e e2e) transfer(id proto.NodeID, o httpapi.Order) (httpapi.Done, error) {
	for {
		done, err := e.do(id, httpapi.Transfer, o)
		if err == nil || !askAgain.MatchString(err.Error()) {
			return done, err
		}
		running := slices.Collect(maps.Keys(e.Beliefs(e.IDs()...)))
		if _, err := e.WaitAgreed(e.ctx, running...); err != nil {
			return done, err
		}
	}
}

// refuses has a node refuse a request, in these words.
func (e e2e) refuses(id proto.NodeID, v httpapi.Verb, o httpapi.Order, words string) {
	e.Helper()
	done, err := e.do(id, v, o)
	if !errors.Is(err, httpapi.ErrConflict) || !strings.Contains(err.Error(), words) {
		e.Errorf("%s %+v at node %v: %+v, %v; want a refusal with %q", v, o, id, done, err, words)
	}
}

// status waits until a node's status is as wanted.
func (e e2e) status(id proto.NodeID, wanted func(httpapi.Status) bool) {
	e.Helper()
	e.eventually(func() string {
		s, err := httpapi.Client{Addr: e.Node(id).HTTP}.Status(e.Context())
		if err == nil && wanted(s) {
			return ""
		}
		return fmt.Sprintf("node %v is never as wanted: %+v, %v", id, s, err)
	})
}

// gap is how long nobody led between the first leader and the next, by their own
// records.
func (e e2e) gap(first, next testcluster.Belief) time.Duration {
	e.Helper()
	left := e.record("the leader stepping down", time.Time{}, func(r trace.Record) bool {
		return r.Node == uint64(first.Leader) && r.Leader == 0 && r.LeaderChange == trace.Resigned
	})
	return e.beganToLead(next.Leader, next.Term).Time.Sub(left.Time)
}

// "ringleader transfer: the successor is asked first, then told to start at once;
// no gap beyond a round trip or two", with voters and without, asked of any node,
// and no preference undoes it; "with who asked and why in the record".
func TestTransfer(t *testing.T) {
	t.Parallel()
	for _, leased := range []bool{true, false} {
		t.Run(fmt.Sprintf("leased %v", leased), func(t *testing.T) {
			t.Parallel()
			names := []string{"bully", "ring"}
			if leased {
				names = append(names, "chubby", "raft", "zookeeper")
			}
			each(t, entriesOf(names...), func(t *testing.T, entry catalog.Entry) {
				args := append([]string{"--preempt=true"}, calm...)
				if leased {
					args = append(args, "--voters", "1-3")
				}
				e := newE2E(t, entry.Name, 3, args...)
				e.check(e.StartAll())
				first := e.leads(3)
				done := e.handsOver(2, httpapi.Order{To: 1, Reason: "a new disk"})
				if done.Self != 3 || done.Leader != 1 {
					t.Errorf("done: %+v", done)
				}
				next := e.leads(1)
				t.Logf("nobody led for %v; the command took %.1f ms", e.gap(first, next), done.Millis)
				asked := e.record("the transfer", time.Time{},
					func(r trace.Record) bool { return r.Event == "transfer" })
				const who = "asked by 127.0.0.1 through node 2 (127.0.0.1) because a new disk"
				if asked.Node != 3 || !strings.Contains(asked.Detail, who) {
					t.Errorf("the record of the transfer says %q, want %q", asked.Detail, who)
				}
				// Nothing undoes it: after a failure elsewhere, it still leads.
				_, err := e.Kill(3)
				e.check(err)
				e.leads(1, 1, 2)
				e.check(e.Start(3))
				if b := e.leads(1); b != next {
					t.Errorf("leader and term %+v, then %+v", next, b)
				}
			})
		})
	}
}

// "Refused clearly when the target is dead, unhealthy, not a voter", with what to do
// next, over HTTP and in the record.
func TestTransferRefused(t *testing.T) {
	e := newE2E(t, "bully", 4, append([]string{"--voters", "1-3"}, calm...)...)
	e.check(e.StartAll())
	first := e.leads(3)
	e.must(2, httpapi.Pause, httpapi.Order{Reason: "an upgrade"})
	e.status(3, func(s httpapi.Status) bool { return len(s.Alive) == 4 })
	e.logs(3, "ineligible 2")
	to := func(id proto.NodeID) httpapi.Order { return httpapi.Order{To: id} }
	const who = "name one that could take over: 1"
	const why = "its status says why: resume it if it is paused, with --cluster if all are, " +
		"mend what ails it if not, or "
	e.refuses(3, httpapi.Transfer, to(3), "no transfer to node 3: it leads already; "+who)
	e.refuses(1, httpapi.Transfer, to(9), "no transfer to node 9: it is no voter; "+who)
	e.refuses(1, httpapi.Transfer, to(4), "no transfer to node 4: it is no voter; "+who)
	e.refuses(1, httpapi.Transfer, to(2), "no transfer to node 2: it is not eligible, as far as the leader "+
		"knows; "+why+who)
	e.logs(3, "a transfer to 9: it is no voter; "+who+" -> change nothing")
	e.refuses(1, httpapi.Resign, httpapi.Order{}, "node 1 does not lead, node 3 does")
	_, err := e.Kill(1)
	e.check(err)
	e.status(3, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
	e.refuses(3, httpapi.Transfer, to(1), "it is not alive, as far as the leader knows; start it: "+
		"no other could take over now")
	e.refuses(3, httpapi.Transfer, to(0), "no other that could lead is alive and eligible; start one, or resume one "+
		"that is paused, with --cluster if all are")
	if b := e.leads(3, 2, 3, 4); b != first {
		t.Errorf("refused transfers changed %+v to %+v", first, b)
	}
	_, err = e.Kill(2)
	e.check(err)
	e.leads(0, 3, 4)
	const nobody = "there is nothing to hand over; ask again once a node does"
	if _, err := e.do(4, httpapi.Transfer, to(3)); !errors.Is(err, httpapi.ErrNoLeader) ||
		!strings.Contains(err.Error(), nobody) {
		t.Errorf("nobody leads: %v; want %q", err, nobody)
	}
}

// "A node obeys its own machine. To ask from another, give all nodes the same
// --api-token-file": of nodes with different tokens the leader does not obey another, and
// that is said of the leader, and not of the node that was asked.
func TestTransferNeedsTheLeadersToken(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3")
	for id := proto.NodeID(1); id <= 3; id++ {
		token := filepath.Join(t.TempDir(), "token")
		e.check(os.WriteFile(token, fmt.Appendf(nil, "0123456789abcdef-of-node-%v", id), 0o600))
		e.check(e.Start(id, "--api-token-file", token))
	}
	e.leads(3)
	const want = "node 3 leads, and does not take orders from node 1: ask it on its own machine, " +
		"or give all nodes the same API token"
	_, err := e.do(1, httpapi.Transfer, httpapi.Order{To: 2})
	if !errors.Is(err, httpapi.ErrForbidden) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// "Refused clearly": a second transfer while one is under way, and one to a node that
// hangs, which nobody has noticed yet.
func TestTransferToOneThatHangs(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3", "--failover-budget", "20s")
	e.check(e.StartAll())
	first := e.leads(3)
	e.status(3, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
	e.check(e.Pause(1))
	ended := make(chan error, 1)
	go func() {
		_, err := e.do(3, httpapi.Transfer, httpapi.Order{To: 1})
		ended <- err
	}()
	e.logs(3, "offer it to 1")
	e.refuses(3, httpapi.Transfer, httpapi.Order{To: 2}, "another transfer is under way; wait until it is over, "+
		"and ask again if another shall lead")
	const silent = "it did not answer in time; see whether it hangs or is cut off, or name one that could take over: 2"
	if err := <-ended; !errors.Is(err, httpapi.ErrConflict) || !strings.Contains(err.Error(), silent) {
		t.Errorf("the first transfer: %v; want %q", err, silent)
	}
	e.logs(3, "what an operator asks was not done")
	e.check(e.Resume(1))
	if b := e.leads(3); b != first {
		t.Errorf("refused transfers changed %+v to %+v", first, b)
	}
}

// isSince reports whether a status says since when, between what and who: "status, why-not
// and every record say since when, who asked, from where, and the reason".
func isSince(text, what, who string) bool {
	since, ok := strings.CutPrefix(strings.TrimSuffix(text, who), what)
	at, err := time.Parse(time.RFC3339, since)
	return ok && strings.HasSuffix(text, who) && err == nil && time.Since(at) < time.Hour
}

// "A sitting leader that is paused as a node steps down", does not stand again
// until it is resumed, says why, and others are told.
func TestPauseTheLeader(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "hs", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, append([]string{
			"--voters", "1-3", "--preempt=true", "--lease", "2500ms",
		}, calm...)...)
		e.check(e.StartAll())
		e.leads(3)
		e.must(3, httpapi.Pause, httpapi.Order{Reason: "an upgrade"})
		e.leads(2)
		e.status(3, func(s httpapi.Status) bool {
			return isSince(s.Ineligible, "paused since ", " by 127.0.0.1 because an upgrade")
		})
		e.logs(1, "ineligible 3")
		e.must(2, httpapi.Resign, httpapi.Order{})
		e.leads(1)
		e.must(3, httpapi.Resume, httpapi.Order{})
		e.leads(3) // which ranks above node 1, and takes over by preference
	})
}

// "No node elects; must survive the node that was asked going away, and reach late
// joiners through gossip; a paused cluster keeps its leader while that lives."
func TestPauseTheCluster(t *testing.T) {
	// A leader that is late to renew, on a busy machine, would have no successor.
	e := newE2E(t, "bully", 4, "--voters", "1-4", "--lease", "15s")
	e.keeps(1, 2, 3, 4)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.check(e.Start(id))
	}
	first := e.leads(3, 1, 2, 3)
	e.must(1, httpapi.Pause, httpapi.Order{Cluster: true, Reason: "network work"})
	paused := func(s httpapi.Status) bool {
		return isSince(s.Ineligible, "the cluster is paused since ", " by 127.0.0.1 because network work")
	}
	e.status(2, paused)
	e.status(3, paused)
	_, err := e.Kill(1) // which was asked
	e.check(err)
	e.check(e.Start(4)) // which joins late
	e.status(4, paused)
	if b := e.leads(3, 2, 3, 4); b != first {
		t.Errorf("the pause changed %+v to %+v", first, b)
	}
	_, err = e.Kill(3)
	e.check(err)
	e.check(e.Start(1))
	e.status(1, paused)
	e.leads(0, 1, 2, 4)
	e.must(4, httpapi.Resume, httpapi.Order{Cluster: true})
	e.agreed(1, 2, 4)
}

// "A paused cluster that is restarted stays paused until resume, and status says since
// when and by whom." Of nodes that differ the newest stands: node 3 was away meanwhile.
func TestPauseOutlivesTheCluster(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3")
	e.check(e.StartAll())
	e.agreed()
	killAll := func(ids ...proto.NodeID) {
		for _, id := range ids {
			_, err := e.Kill(id)
			e.check(err)
		}
	}
	var said string
	paused := func(s httpapi.Status) bool {
		if said == "" {
			said = s.Ineligible
		}
		return strings.HasPrefix(s.Ineligible, "the cluster is paused since ") && s.Ineligible == said
	}
	killAll(3)
	e.must(1, httpapi.Pause, httpapi.Order{Cluster: true, Reason: "a move"})
	e.status(1, paused)
	e.status(2, paused)
	e.kept(2, "a move")
	killAll(1, 2)
	e.check(e.StartAll())
	for id := proto.NodeID(1); id <= 3; id++ {
		e.status(id, paused)
	}
	e.leads(0, 1, 2, 3)

	killAll(1)
	e.must(2, httpapi.Resume, httpapi.Order{Cluster: true})
	e.agreed(2, 3)
	e.kept(3, `"text":""`)
	killAll(2, 3)
	e.check(e.StartAll()) // node 1 kept the pause
	e.agreed(1, 2, 3)
	e.status(1, func(s httpapi.Status) bool { return s.Ineligible == "" })
}

// kept waits until a node's notice on its disk has these words.
func (e e2e) kept(id proto.NodeID, words string) {
	e.Helper()
	e.eventually(func() string {
		data, err := os.ReadFile(filepath.Join(e.Node(id).DataDir, "notice.json"))
		if err == nil && strings.Contains(string(data), words) {
			return ""
		}
		return fmt.Sprintf("node %v keeps %s, %v; want %q", id, data, err, words)
	})
}
