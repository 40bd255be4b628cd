package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/store"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

var none algorithms.Entry

// "The lease runs from before the ask left, and is shorter than the TTL by all that clocks may differ."
// "The term of a leadership is the token that the store gave", saved in the same Step.
func TestStandsAndLeads(t *testing.T) {
	r := standing(t, nil)
	r.wantWhy("store.stand(store.nominated)")
	r.answer(delta, entry(3, 7), entry(3, 7))
	r.wantWhy("store.lead(store.nominated, 7)")
	r.wantLeader(r.leads(7, leased-delta))
	want := algorithms.Vote{Term: 7, ID: 3, Incarnation: steptest.Incarnation(3)}
	if r.Last.Save == nil || r.Last.Save.Vote != want {
		t.Errorf("saves %+v", r.Last.Save)
	}
	body := proto.Heartbeat{Leader: steptest.Peer(3), Remaining: leased - delta}
	r.Sends(r.Last, r.Msg(1, 7, body), r.Msg(2, 7, body))
	if r.raised != 7 {
		t.Errorf("the nomination knows of term %d", r.raised)
	}
}

// "A leader renews at a third of the TTL."
func TestRenewsAtAThird(t *testing.T) {
	r := leading(t, nil)
	if want := r.In(ttl/3 - delta); !r.Last.Deadline.Equal(want) {
		t.Errorf("wakes in %v", r.Last.Deadline.Sub(r.Now))
	}
	r.Fire()
	r.wantAsk(algorithms.AskRenew, none)
	r.answer(2*delta, entry(3, 7), entry(3, 7))
	r.wantLeader(r.leads(7, leased-2*delta))
}

// "An answer that comes after the lease would have ended makes nobody a leader."
func TestLeadsByNoLateAnswer(t *testing.T) {
	r := standing(t, nil)
	a := algorithms.Answered{Number: r.Last.Ask.Number, Holder: entry(3, 7), Own: entry(3, 7), Keeps: 2 * delta}
	r.Step(2*delta, a)
	r.wantLeader(algorithms.Leader{Term: 7})
	r.wantWhy("store.too-late")
	r.wantAsk(algorithms.AskRenew, none) // to know better
	r.answer(delta, entry(3, 7), entry(3, 7))
	r.wantLeader(r.leads(7, leased-delta))
}

// "If the store says that the entry is gone, it leads no more from that Step on."
func TestStepsDownWhenItsEntryIsGone(t *testing.T) {
	for name, holder := range map[string]algorithms.Entry{"another's": entry(1, 9), "nobody's": none} {
		r := leading(t, nil)
		r.Fire()
		r.answer(delta, holder, none)
		if r.Last.Leader.ID == 3 {
			t.Errorf("%s: leads on", name)
		}
		r.wantAsk("", none) // its work has not stopped
	}
}

// "Or when it reads that its entry is gone": a hint that the entries changed makes a leader read them, and
// as what it reads may be old, it renews before it believes that.
func TestALeaderReadsWhatChanged(t *testing.T) {
	r := leading(t, nil)
	r.Step(delta, algorithms.StoreChanged{})
	r.wantAsk(algorithms.AskLook, none)
	r.answer(0, entry(3, 7), entry(3, 7))
	r.wantAsk("", none)
	for name, a := range map[string]algorithms.Entry{"it is gone": none, "an old answer": entry(3, 7)} {
		r := leading(t, nil)
		r.Step(delta, r.heartbeat(1, 9, leased)) // a rival, as it says, is such a hint, too
		r.wantAsk(algorithms.AskLook, none)
		r.answer(delta, entry(1, 6), none)
		if r.Last.Leader.ID != 3 {
			t.Errorf("%s: leads no more by what it read", name)
		}
		r.wantAsk(algorithms.AskRenew, none)
		r.answer(delta, a, a)
		if leads := r.Last.Leader.ID == 3; leads == a.IsZero() {
			t.Errorf("%s: leads %v", name, leads)
		}
	}
	r = leading(t, nil) // no answer to that delays a renewal
	r.Step(ttl/3-2*delta, algorithms.StoreChanged{})
	r.Fire()
	r.wantAsk(algorithms.AskRenew, none)
}

// "No node leads by an entry that it has asked to remove", and none leads on by another than it began with.
func TestLeadsOnByTheVeryEntry(t *testing.T) {
	r := leading(t, nil)
	r.Fire()
	r.answer(delta, entry(3, 8), entry(3, 8))
	r.wantLeader(algorithms.Leader{Term: 8})
	r.wantWhy("store.step-down(store.replaced(8), 7)")
	r.Step(delta, algorithms.WorkStopped{Term: 7})
	r.wantAsk(algorithms.AskLeave, entry(3, 7))
	r.answer(delta, entry(3, 8), entry(3, 8))
	r.wantAsk(algorithms.AskRenew, none)
	r.answer(delta, entry(3, 8), entry(3, 8))
	r.wantLeader(r.leads(8, leased-delta))
}

func TestLeadsByNoEntryThatItLeft(t *testing.T) {
	r := started(t, nil)
	r.Step(0, algorithms.Eligible{Why: "a check failed"})
	r.answer(delta, entry(3, 7), entry(3, 7)) // made by a request that came late
	r.wantAsk(algorithms.AskLeave, entry(3, 7))
	r.Step(delta, algorithms.Eligible{OK: true})
	r.Fire() // no answer: it may still be carried out
	r.nominate(0, 3)
	for range 5 {
		r.Fire()
		if ask := r.Last.Ask; ask != nil && (ask.Verb != algorithms.AskLeave || ask.Remove != entry(3, 7)) {
			t.Fatalf("asks %+v", ask)
		}
	}
	if r.Last.Ask == nil {
		r.Fire()
	}
	r.answer(delta, none, none)
	r.wantAsk(algorithms.AskStand, none)
}

// "If the store does not answer, it leads until its lease ends." "Leaving: it leads no more; then its work
// stops; only then it removes its entry", and then tells the others.
func TestLeavesInOrder(t *testing.T) {
	r := leading(t, nil)
	until := r.Last.Leader.Until
	for r.Last.Leader.ID == 3 {
		if r.Now.After(until) {
			t.Fatal("it leads on")
		}
		r.Fire()
	}
	if !r.Now.Equal(until) {
		t.Errorf("it led %v too short", until.Sub(r.Now))
	}
	r.wantAsk("", none)
	r.Step(ttl, algorithms.Timeout{})
	r.wantAsk("", none)
	r.Step(delta, algorithms.WorkStopped{Term: 7})
	if r.Last.Ask == nil {
		r.Fire() // the store has just failed
	}
	r.wantAsk(algorithms.AskLeave, entry(3, 7))
	if r.sends(proto.KindRelease) {
		t.Error("RELEASE before the entry is gone")
	}
	r.answer(delta, none, none)
	release := proto.Release{Incarnation: steptest.Incarnation(3)}
	r.Sends(r.Last, r.Msg(1, 7, release), r.Msg(2, 7, release))
}

// "A leader whose lease ran out leaves, too: it leads again only with a new entry": an answer that comes
// then is no answer to an open ask.
func TestLeadsNotAgainWithItsToken(t *testing.T) {
	r := leading(t, nil)
	r.Fire()
	number := r.Last.Ask.Number
	r.Step(r.Last.Leader.Until.Sub(r.Now), algorithms.Answered{
		Number: number, Holder: entry(3, 7), Own: entry(3, 7), Keeps: ttl,
	})
	r.wantLeader(algorithms.Leader{Term: 7})
}

// "The entry of a process that is proven dead is removed: by the nominee in the request by which it stands."
func TestRemovesTheDeadAsItStands(t *testing.T) {
	dead := algorithms.PeerProvenDead{ID: 1, Incarnation: steptest.Incarnation(1)}
	r := following(t, nil)
	r.nominate(0, 3)
	r.wantAsk("", none) // the leader is not dead
	r.Step(delta, dead)
	r.wantAsk(algorithms.AskStand, entry(1, 5))

	r = following(t, nil) // "or, a moment later, by another node"
	r.nominate(0, 2)
	r.Step(delta, dead)
	if r.Last.Ask != nil && r.Last.Ask.Verb != algorithms.AskLook {
		t.Errorf("asks %+v at once", r.Last.Ask)
	}
	r.answer(delta/2, entry(1, 5), none)
	r.Step(2*delta, algorithms.Timeout{})
	r.wantAsk(algorithms.AskRemove, entry(1, 5))
}

// "Only that very entry": not another life's, not on a view, not if it is lent, not if leases are to be
// awaited, and never a stranger's.
func TestRemovesNothingElse(t *testing.T) {
	lent, stranger := entry(1, 5), algorithms.Entry{Key: "foreign", Token: 5, Foreign: "a stranger"}
	lent.Lent = true
	dead := algorithms.PeerProvenDead{ID: 1, Incarnation: steptest.Incarnation(1)}
	for name, c := range map[string]struct {
		holder algorithms.Entry
		ev     algorithms.Event
		await  bool
	}{
		"another life":   {entry(1, 5), algorithms.PeerProvenDead{ID: 1, Incarnation: proto.Incarnation{99}}, false},
		"a view":         {entry(1, 5), steptest.Alive(2, 3), false},
		"lent":           {lent, dead, false},
		"a stranger":     {stranger, dead, false},
		"leases awaited": {entry(1, 5), dead, true},
		"taken back":     {entry(1, 5), algorithms.PeerHeardAgain(dead), false},
	} {
		r := started(t, func(cfg *algorithms.Config) { cfg.AwaitLeases = c.await })
		r.answer(delta, c.holder, none)
		if name == "taken back" {
			r.Step(0, dead)
		}
		r.nominate(0, 3)
		r.Step(delta, c.ev)
		for range 10 {
			if r.Last.Ask != nil && !r.Last.Ask.Remove.IsZero() {
				if name != "taken back" || r.Last.Ask.Verb != algorithms.AskStand {
					t.Errorf("%s: asks %+v", name, r.Last.Ask)
				}
			}
			if r.Last.Ask != nil {
				r.answer(0, c.holder, none)
			}
			if r.Last.Ask == nil {
				r.Fire()
			}
		}
	}
}

// "The nominee stands first. Another node stands only when nobody has led for a while."
func TestStandsWithoutNomination(t *testing.T) {
	r := newRig(t, 1, nil)
	r.Start(0, 1, 2, 3)
	began := r.Now
	for r.Last.Ask == nil || r.Last.Ask.Verb != algorithms.AskStand {
		if r.Last.Ask != nil {
			r.answer(0, none, none)
			continue
		}
		r.Fire()
	}
	if waited, want := r.Now.Sub(began), 16*delta+2*lease.AnswerTimeout(delta); waited != want {
		t.Errorf("stood after %v, want %v", waited, want)
	}
}

// "Only an answer of the store makes a leader", and only one to a request for the lead: what is read may be
// old.
func TestLookingMakesNoLeader(t *testing.T) {
	r := started(t, nil)
	r.answer(delta, entry(3, 7), entry(3, 7))
	r.wantLeader(algorithms.Leader{Term: 7})
	r.wantAsk(algorithms.AskRenew, none)
}

// "A token that is not above the highest leadership that this node has saved shows that the store has
// forgotten: the node ends."
func TestEndsOnATokenThatWentBack(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Step(0, algorithms.Start{Saved: algorithms.State{
		Vote: algorithms.Vote{Term: 40, ID: 2, Incarnation: steptest.Incarnation(2)},
	}})
	r.Step(0, steptest.Alive(1, 2, 3))
	r.answer(delta, none, none)
	r.nominate(delta, 3)
	r.answer(delta, entry(3, 7), entry(3, 7))
	if r.Last.Leader.ID == 3 || !strings.Contains(r.Last.End, "above 40") {
		t.Errorf("leader %+v, end %q", r.Last.Leader, r.Last.End)
	}
}

// A token that was given before another led, of whom the node heard while the answer was under way, shows
// nothing: it asks again.
func TestAsksAgainAfterALaterLeader(t *testing.T) {
	r := standing(t, nil)
	r.Step(delta, r.heartbeat(1, 9, delta))
	r.answer(delta, entry(3, 7), entry(3, 7))
	if r.Last.Leader.ID == 3 || r.Last.End != "" {
		t.Errorf("leader %+v, end %q", r.Last.Leader, r.Last.End)
	}
	r.wantWhy("store.not-renewed(1)", "store.old(7, 9)")
	r.wantAsk(algorithms.AskRenew, none)
}

// A loan: the entry "is marked as lent before anything is lent".
func TestMarksThenLends(t *testing.T) {
	r := leading(t, nil)
	r.Step(delta, algorithms.Lend{})
	r.wantAsk(algorithms.AskRenew, none)
	if !r.Last.Ask.Lent || r.Last.Lent != nil {
		t.Fatalf("asks %+v, lends %+v", r.Last.Ask, r.Last.Lent)
	}
	marked := entry(3, 7)
	marked.Lent = true
	r.answer(delta, marked, marked)
	left := leased - delta
	want := algorithms.LendEnd{For: lease.ByAnyClock(left), Until: r.In(left)}
	if r.Last.Lent == nil || *r.Last.Lent != want {
		t.Errorf("lends %+v, want %+v", r.Last.Lent, want)
	}
	r.Fire()
	if !r.Last.Ask.Lent {
		t.Error("the next renewal does not say that it is lent")
	}
}

// A renewal that was under way said nothing of the loan: what comes of it is not lent.
func TestLendsByTheNextRenewal(t *testing.T) {
	r := leading(t, nil)
	r.Fire()
	r.Step(delta, algorithms.Lend{})
	r.answer(delta, entry(3, 7), entry(3, 7))
	if r.Last.Lent != nil || r.Last.Ask == nil || !r.Last.Ask.Lent {
		t.Errorf("lends %+v, asks %+v", r.Last.Lent, r.Last.Ask)
	}
}

// A transfer: the successor is asked, and refuses if it does not reach the store.
func TestDeclinesAnOfferWithoutTheStore(t *testing.T) {
	offer := proto.Offer{Incarnation: steptest.Incarnation(1), Nonce: 4, To: steptest.Incarnation(3)}
	reply := proto.Reply{Incarnation: steptest.Incarnation(1), Nonce: 4}
	r := following(t, nil)
	r.Step(0, r.From(1, 5, offer))
	r.Sends(r.Last)
	r.wantAsk(algorithms.AskLook, none)
	r.answer(delta, entry(1, 5), none)
	r.Sends(r.Last, r.Msg(1, 5, reply))

	r = following(t, nil)
	r.Step(0, r.From(1, 5, offer))
	reply.No = proto.DeclineStore
	r.fail(delta)
	r.Sends(r.Last, r.Msg(1, 5, reply))
	r.Step(0, r.From(1, 5, offer)) // it has just failed
	r.Sends(r.Last, r.Msg(1, 5, reply))
	for range 20 { // it asks on although heartbeats come, so that it knows when it reaches the store again
		r.Step(delta, r.heartbeat(1, 5, leased))
		if r.Last.Ask != nil {
			return
		}
		if !r.Last.Deadline.After(r.Now) {
			t.Fatal("busy")
		}
		r.Step(0, algorithms.Timeout{})
	}
	t.Error("it never reads the store again")
}

// The leader leads on if the offer is declined; else it leaves, and "TIMEOUT_NOW" follows the removal.
func TestTransfers(t *testing.T) {
	r := leading(t, nil)
	r.Step(0, algorithms.Transfer{To: 2})
	reply := proto.Reply{Incarnation: steptest.Incarnation(3), Nonce: 1, No: proto.DeclineStore}
	r.Step(delta, r.From(2, 7, reply))
	if r.Last.Leader.ID != 3 || r.Last.Transfer == nil || r.Last.Transfer.Refused == "" {
		t.Errorf("leader %+v, transfer %+v", r.Last.Leader, r.Last.Transfer)
	}
	r.Step(0, algorithms.Transfer{To: 2})
	r.Step(delta, r.From(2, 7, proto.Reply{Incarnation: steptest.Incarnation(3), Nonce: 2}))
	if r.Last.Leader.ID == 3 || r.Last.Transfer == nil || r.Last.Transfer.Refused != "" {
		t.Errorf("leader %+v, transfer %+v", r.Last.Leader, r.Last.Transfer)
	}
	r.Step(delta, algorithms.WorkStopped{Term: 7})
	r.wantAsk(algorithms.AskLeave, entry(3, 7))
	if r.sends(proto.KindTakeOver) {
		t.Error("TIMEOUT_NOW before the entry is gone")
	}
	r.answer(delta, none, none)
	takeOver := proto.TakeOver{Incarnation: steptest.Incarnation(3), To: steptest.Incarnation(2), Chosen: true}
	if !slices.Contains(r.Last.Send, r.Msg(2, 7, takeOver)) {
		t.Errorf("sends %v", r.Last.Send)
	}
}

// The successor stands at once.
func TestTakesOver(t *testing.T) {
	r := following(t, nil)
	r.Step(delta, r.From(1, 5, proto.TakeOver{Incarnation: steptest.Incarnation(1), To: steptest.Incarnation(3)}))
	r.wantAsk(algorithms.AskStand, none)
}

// TIMEOUT_NOW may come when the successor has stood already, since it heard of the release first. That it was chosen
// says nothing of a later election.
func TestChosenOnce(t *testing.T) {
	r := newRig(t, 2, func(c *algorithms.Config) { c.Preempt = true })
	r.Start(0, 1, 2, 3)
	r.answer(delta, entry(1, 5), none)
	r.Step(delta, r.heartbeat(1, 5, leased))
	r.nominate(0, 2)
	r.Step(delta, r.From(1, 5, proto.Release{Incarnation: steptest.Incarnation(1), Successor: 2}))
	r.wantAsk(algorithms.AskStand, none)
	takeOver := proto.TakeOver{Incarnation: steptest.Incarnation(1), To: steptest.Incarnation(2), Chosen: true}
	r.Step(0, r.From(1, 5, takeOver))
	r.answer(delta, entry(2, 7), entry(2, 7))
	r.nominate(0, 3)
	r.Step(2*lease.PreferAfter(ttl), algorithms.Timeout{}) // its lease has run out
	r.Step(0, algorithms.WorkStopped{Term: 7})
	r.answer(delta, none, none)
	for r.Last.Ask == nil || r.Last.Ask.Verb != algorithms.AskStand {
		if r.Last.Ask != nil {
			r.answer(delta, none, none)
		} else {
			r.Fire()
		}
	}
	if got := steptest.Texts(r.Last.Why); !slices.Contains(got, "store.stand(store.vacant)") {
		t.Errorf("it stands again, and says %v", got)
	}
	r.answer(delta, entry(2, 8), entry(2, 8))
	for end := r.Now.Add(3 * lease.PreferAfter(ttl)); r.Now.Before(end) && !r.sends(proto.KindOffer); {
		if r.Last.Ask != nil {
			r.answer(delta, entry(2, 8), entry(2, 8))
		} else {
			r.Fire()
		}
	}
	if !r.sends(proto.KindOffer) {
		t.Error("it offers nothing to the better node, as if an operator had chosen it for this leadership")
	}
}

// A leader whose entry was overwritten by another program renews at once.
func TestOverwritten(t *testing.T) {
	r := leading(t, nil)
	r.Step(delta, algorithms.StoreChanged{})
	r.wantAsk(algorithms.AskLook, none)
	strange := entry(3, 7)
	strange.ID, strange.Foreign = 0, "another program"
	r.answer(delta, strange, strange)
	r.wantAsk(algorithms.AskRenew, none)
}

// While a lease is lent, a leader that hands over is heard no more. When its entry is gone, the nominee waits a moment
// for the news of who was chosen, and stands if none comes.
func TestChosenWhileLent(t *testing.T) {
	for name, c := range map[string]struct {
		successor proto.NodeID // in RELEASE; 0 for no RELEASE
		stands    bool
	}{"another": {2, false}, "this node": {3, true}, "nobody says": {0, true}} {
		r := following(t, nil)
		r.nominate(0, 3)
		for r.Last.Leader.ID != 0 {
			r.Fire()
			if r.Last.Ask != nil {
				r.answer(0, entry(1, 5), none)
			}
		}
		if r.Last.Ask == nil {
			r.Step(delta, algorithms.StoreChanged{})
		}
		r.answer(delta, none, none)
		r.wantAsk("", none)
		if c.successor != 0 {
			r.Step(delta, r.From(1, 5, proto.Release{Incarnation: steptest.Incarnation(1), Successor: c.successor}))
		}
		r.Step(lease.AnswerTimeout(delta), algorithms.Timeout{})
		if got := r.Last.Ask != nil && r.Last.Ask.Verb == algorithms.AskStand; got != c.stands {
			t.Errorf("%s: stands %v: %v", name, got, steptest.Texts(r.Last.Why))
		}
	}
}

// Whatever it asked for that failed, it reads the store again: the reason for that request may be gone.
func TestReadsAgainAfterAnyFailure(t *testing.T) {
	r := following(t, nil)
	r.nominate(0, 3)
	r.Step(delta, algorithms.PeerProvenDead{ID: 1, Incarnation: steptest.Incarnation(1)})
	r.wantAsk(algorithms.AskStand, entry(1, 5))
	r.Step(delta, algorithms.PeerHeardAgain{ID: 1, Incarnation: steptest.Incarnation(1)})
	r.fail(delta)
	r.Fire()
	r.wantAsk(algorithms.AskLook, none)
}

// No Deadline is left that has passed, so no host is kept busy: whatever fails, requests are made ever more
// rarely.
func TestIsNeverBusy(t *testing.T) {
	for name, r := range map[string]*rig{
		"starts": started(t, nil), "stands": standing(t, nil), "leads": leading(t, nil), "follows": following(t, nil),
	} {
		asks, began := r.lastAsk(), r.Now
		for range 200 {
			if r.Last.Ask != nil {
				r.fail(0)
			}
			if r.Last.Leader.ID == 0 && name == "leads" {
				r.Step(0, algorithms.WorkStopped{Term: 7})
			}
			if r.Last.Ask == nil {
				r.Fire()
				if at := r.Last.Deadline; !at.IsZero() && !at.After(r.Now) {
					t.Fatalf("%s: after a Timeout the deadline is %v ago", name, r.Now.Sub(at))
				}
			}
		}
		if n, most := r.lastAsk()-asks, uint64(10+r.Now.Sub(began)/(store.RenewEvery(ttl)/2)); n > most {
			t.Errorf("%s: %d asks in %v", name, n, r.Now.Sub(began))
		}
	}
}

func (r *rig) lastAsk() uint64 {
	if r.Last.Ask == nil {
		return 0
	}
	return r.Last.Ask.Number
}

// What is no message of an election on a store is dropped.
func TestDropsForeignMessages(t *testing.T) {
	r := started(t, nil)
	r.Step(0, r.From(2, 1, proto.PreVote{Incarnation: steptest.Incarnation(2)}))
	if !r.Last.Warn {
		t.Error("no warning")
	}
	r.wantWhy("store.foreign(PRE_VOTE)")
}
