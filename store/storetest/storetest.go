// Package storetest has the tests that every store passes: on a real server, at the pace of its clock.
package storetest

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// Rig is how the tests reach one store.
type Rig struct {
	// New returns an election that nobody has used before.
	New func(t *testing.T) store.Store
	// TTL is the TTL of the tests: short, and one that the store can keep.
	TTL time.Duration
}

// patience bounds what the tests wait for. It is for a machine that does much else at the same time.
const patience = time.Minute

// Run runs the tests.
func Run(t *testing.T, r Rig) {
	for name, test := range map[string]func(*testing.T, Rig){
		"one leads":                       oneLeads,
		"a renewed entry stays":           staysRenewed,
		"an entry ends with its TTL":      endsWithTTL,
		"only the very entry is removed":  removesExactly,
		"a lent entry is not removed":     keepsLent,
		"a lost reply leaves no second":   lostReply,
		"who looks changes nothing":       looks,
		"a change is told":                tellsChange,
		"a stranger's cluster is foreign": foreign,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, r)
		})
	}
}

// FreePort returns a port of this machine at which nobody listens. A server may bind it much later, as ZooKeeper does
// when it comes to lead: so it is none that the kernel gives to outgoing connections.
func FreePort(t *testing.T) (port string) {
	t.Helper()
	const first, count, tries = 10_000, 20_000, 100
	for range tries {
		port = strconv.Itoa(first + rand.IntN(count))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("%d ports from %d on are taken", tries, first)
	return ""
}

// Player is a candidate under test.
type Player struct {
	*testing.T
	store.Candidate
	store.Election
	number uint64
}

// Open opens the election for a new process of the node id.
func Open(t *testing.T, s store.Store, id proto.NodeID, ttl time.Duration) *Player {
	return open(t, s, "test", id, ttl)
}

func open(t *testing.T, s store.Store, cluster string, id proto.NodeID, ttl time.Duration) *Player {
	t.Helper()
	p := &Player{T: t, Candidate: store.Candidate{
		Cluster: cluster, Peer: proto.Peer{ID: id, Incarnation: proto.NewIncarnation()}, TTL: ttl,
	}}
	var err error
	if p.Election, err = s.Open(p.Candidate); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return p
}

// Do asks the store, and fails the test if there is no answer.
func (p *Player) Do(verb algorithms.AskVerb, ask algorithms.Ask) algorithms.Answered {
	p.Helper()
	p.number++
	ask.Verb, ask.Number = verb, p.number
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := p.Ask(ctx, ask)
	if err != nil {
		p.Fatalf("node %d asks to %s: %v", p.ID, verb, err)
	}
	return answer
}

// Stand stands, and Renew renews.
func (p *Player) Stand() algorithms.Answered {
	p.Helper()
	return p.Do(algorithms.AskStand, algorithms.Ask{})
}

// Renew renews the entry.
func (p *Player) Renew() algorithms.Answered {
	p.Helper()
	return p.Do(algorithms.AskRenew, algorithms.Ask{})
}

// Leave removes the entry, if there is one.
func (p *Player) Leave() algorithms.Answered {
	p.Helper()
	return p.Do(algorithms.AskLeave, algorithms.Ask{Remove: p.Look().Own})
}

// Look reads who leads.
func (p *Player) Look() algorithms.Answered {
	p.Helper()
	return p.Do(algorithms.AskLook, algorithms.Ask{})
}

// Leads fails the test unless the answer says that this player leads.
func (p *Player) Leads(a algorithms.Answered) algorithms.Entry {
	p.Helper()
	switch {
	case !a.Held() || !a.Holder.Of(p.Peer) || a.Holder.Token == 0:
		p.Fatalf("node %d does not lead: %+v", p.ID, a)
	case a.Keeps <= 0 || a.Keeps > p.TTL:
		p.Fatalf("the store keeps the entry of node %d for %v, of a TTL of %v", p.ID, a.Keeps, p.TTL)
	}
	return a.Holder
}

// Follows fails the test unless the answer says that the entry of another player is the first.
func (p *Player) Follows(a algorithms.Answered, first algorithms.Entry) {
	p.Helper()
	first.Lent = a.Holder.Lent
	if a.Held() || a.Holder != first {
		p.Fatalf("node %d sees %+v, want %+v first", p.ID, a, first)
	}
}

// Takes waits until this player leads, and returns its entry.
func (p *Player) Takes() algorithms.Entry {
	p.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(p.TTL / 20) {
		a := p.Stand()
		if a.Held() {
			return p.Leads(a)
		}
		if time.Now().After(end) {
			p.Fatalf("node %d does not take over: %+v", p.ID, a)
		}
	}
}

// pair opens one election for the nodes 1 and 2.
func pair(t *testing.T, r Rig) (one, two *Player) {
	s := r.New(t)
	return Open(t, s, 1, r.TTL), Open(t, s, 2, r.TTL)
}

// One leads, whoever stands, and each leader's token is above those before.
func oneLeads(t *testing.T, r Rig) {
	one, two := pair(t, r)
	var last proto.Term
	for range 3 {
		first := one.Leads(one.Stand())
		two.Follows(two.Stand(), first)
		if again := one.Leads(one.Stand()); again != first {
			t.Errorf("standing twice gives %+v, and then %+v", first, again)
		}
		if first.Token <= last {
			t.Errorf("the token %d is not above %d", first.Token, last)
		}
		last = first.Token
		if a := one.Leave(); !a.Own.IsZero() || a.Holder == first {
			t.Fatalf("having left: %+v", a)
		}
		second := two.Leads(two.Stand())
		if second.Token <= last {
			t.Errorf("the token %d is not above %d", second.Token, last)
		}
		last = second.Token
		if a := one.Renew(); !a.Own.IsZero() {
			t.Errorf("renewing makes an entry: %+v", a)
		}
		two.Leave()
	}
	if a := one.Leave(); !a.Own.IsZero() || !a.Holder.IsZero() {
		t.Errorf("leaving twice: %+v", a)
	}
}

// An entry that is renewed outlives its TTL.
func staysRenewed(t *testing.T, r Rig) {
	one, two := pair(t, r)
	first := one.Leads(one.Stand())
	for began := time.Now(); time.Since(began) < 2*r.TTL; time.Sleep(r.TTL / 10) {
		if again := one.Leads(one.Renew()); again != first {
			t.Fatalf("renewed, %+v is %+v", first, again)
		}
	}
	two.Follows(two.Look(), first)
}

// An entry that is not renewed ends, and not before the time for which the store said that it keeps it.
func endsWithTTL(t *testing.T, r Rig) {
	one, two := pair(t, r)
	began := time.Now()
	a := one.Stand()
	first := one.Leads(a)
	second := two.Takes()
	if took := time.Since(began); took < a.Keeps {
		t.Errorf("the store said that it keeps the entry for %v, and gave it away after %v", a.Keeps, took)
	}
	if second.Token <= first.Token {
		t.Errorf("the token %d is not above %d", second.Token, first.Token)
	}
	if a := one.Renew(); a.Held() {
		t.Errorf("it leads on: %+v", a)
	}
}

// "A survivor removes exactly its entry (compare and delete of that very incarnation's key)."
func removesExactly(t *testing.T, r Rig) {
	one, two := pair(t, r)
	former := one.Leads(one.Stand())
	one.Leave()
	first := one.Leads(one.Stand())
	two.Follows(two.Do(algorithms.AskRemove, algorithms.Ask{Remove: former}), first)
	two.Follows(two.Do(algorithms.AskStand, algorithms.Ask{Remove: former}), first)
	if a := one.Do(algorithms.AskLeave, algorithms.Ask{Remove: former}); a.Own != first {
		t.Errorf("a request to leave that comes late removes the next entry: %+v", a)
	}
	began := time.Now()
	second := two.Leads(two.Do(algorithms.AskStand, algorithms.Ask{Remove: two.Look().Holder}))
	if took := time.Since(began); took > r.TTL/2 {
		t.Errorf("the entry was removed after %v: it ended by itself", took)
	}
	if second.Token <= first.Token {
		t.Errorf("the token %d is not above %d", second.Token, first.Token)
	}
	if a := one.Renew(); !a.Own.IsZero() {
		t.Errorf("it has an entry still: %+v", a)
	}
}

// "Not while a lease is lent."
func keepsLent(t *testing.T, r Rig) {
	one, two := pair(t, r)
	first := one.Leads(one.Stand())
	seen := two.Look().Holder
	if a := one.Do(algorithms.AskRenew, algorithms.Ask{Lent: true}); !a.Held() || !a.Holder.Lent {
		t.Fatalf("lent: %+v", a)
	}
	a := two.Do(algorithms.AskRemove, algorithms.Ask{Remove: seen})
	two.Follows(a, first)
	if !a.Holder.Lent {
		t.Errorf("another sees no loan: %+v", a)
	}
	two.Follows(two.Do(algorithms.AskStand, algorithms.Ask{Remove: seen}), first)
	for _, verb := range []algorithms.AskVerb{algorithms.AskRenew, algorithms.AskStand} {
		if a := one.Do(verb, algorithms.Ask{}); !a.Held() || !a.Holder.Lent {
			t.Errorf("a request to %s that says nothing of the loan takes its mark away: %+v", verb, a)
		}
	}
	if a := one.Leave(); !a.Own.IsZero() {
		t.Errorf("it leaves, and has its lent entry still: %+v", a)
	}
}

// A reply that was lost after the effect: whoever asks again has one entry.
func lostReply(t *testing.T, r Rig) {
	one, two := pair(t, r)
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		one.number++
		_, _ = one.Ask(ctx, algorithms.Ask{Number: one.number, Verb: algorithms.AskStand})
		cancel()
	}
	one.Leads(one.Stand())
	if a := one.Leave(); !a.Own.IsZero() || !a.Holder.IsZero() {
		t.Errorf("having left once: %+v", a)
	}
	two.Leads(two.Stand())
}

// Looking makes no entry and keeps none.
func looks(t *testing.T, r Rig) {
	one, two := pair(t, r)
	if a := one.Look(); !a.Holder.IsZero() || !a.Own.IsZero() {
		t.Errorf("in an empty election: %+v", a)
	}
	first := one.Leads(one.Stand())
	two.Follows(two.Look(), first)
	if a := two.Look(); !a.Own.IsZero() {
		t.Errorf("looking made an entry: %+v", a)
	}
}

// A change of the first entry is told, if the store can tell, or when the entry should have ended.
func tellsChange(t *testing.T, r Rig) {
	one, two := pair(t, r)
	one.Leads(one.Stand())
	two.Look()
	for drained := false; !drained; {
		select {
		case <-two.Changed():
			two.Look()
		case <-time.After(r.TTL / 10):
			drained = true
		}
	}
	one.Leave()
	select {
	case <-two.Changed():
	case <-time.After(patience):
		t.Error("nobody told that the entry is gone")
	}
}

// "Two clusters on one key": each sees the other as a stranger.
func foreign(t *testing.T, r Rig) {
	s := r.New(t)
	one, two := Open(t, s, 1, r.TTL), open(t, s, "other", 1, r.TTL)
	one.Leads(one.Stand())
	a := two.Stand()
	if a.Held() || a.Holder.ID != 0 || a.Holder.Foreign != "node 1 of the cluster test" {
		t.Errorf("the other cluster sees %+v", a)
	}
}
