package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// "A node of another cluster label or another algorithm joining (refused or
// flagged, loudly, on both sides)": counted each time, logged once.
func TestMismatchesAreRefusedOnBothSides(t *testing.T) {
	for reason, c := range map[string]struct {
		change func(*Config)
		to     proto.NodeID
		text   string
	}{
		"cluster": {
			func(c *Config) { c.Cluster = "prod" }, 2,
			`node 1 is of cluster \"prod\", node 2 of cluster \"demo\"`,
		},
		"algorithm": {
			func(c *Config) { c.Algorithm = "ring" }, 2,
			`node 1 runs \"ring\", node 2 runs \"bully\"`,
		},
		"voters": {
			func(c *Config) { c.Voters = "1-3" }, 2,
			"node 1 has voters 1-3, node 2 has no voters",
		},
		"other-node": {func(*Config) {}, 3, "node 1 wanted node 3 and found node 2"},
	} {
		t.Run(reason, func(t *testing.T) {
			a, b := start(t, 1, c.change), start(t, 2)
			a.SetPeers([]Peer{{ID: c.to, Addr: b.Addr().String()}})
			eventually(t, "both refuse, again and again", func() bool {
				return a.Stats().Rejected[reason] > 2 && b.Stats().Rejected[reason] > 2
			})
			if x, y := a.logged(c.text), b.logged(c.text); x != 1 || y != 1 {
				t.Errorf("logged %d and %d times, want once each:\n%s%s", x, y, &a.log, &b.log)
			}
			if a.linked() != 0 || len(a.events())+len(b.events()) != 0 {
				t.Errorf("a refusal is no link and no evidence: %q %q", a.events(), b.events())
			}
		})
	}
}

// "A hash of all that must agree": two labels that differ only beyond what is said of them
// make no link.
func TestLabelsAreComparedWhole(t *testing.T) {
	long := strings.Repeat("x", 300)
	a := start(t, 1, func(c *Config) { c.Algorithm = long + "1" })
	b := start(t, 2, func(c *Config) { c.Algorithm = long + "2" })
	same := start(t, 3, func(c *Config) { c.Algorithm = long + "2" })
	for _, n := range []*node{a, same} {
		n.SetPeers([]Peer{{ID: 2, Addr: b.Addr().String()}})
	}
	eventually(t, "one is refused, the other linked", func() bool {
		return a.Stats().Rejected["algorithm"] > 0 && same.linked() == 1
	})
}

// "Lists that differ by one voter have majorities that meet": those exchange messages.
func TestOneVoterMayDiffer(t *testing.T) {
	voters := func(l proto.VoterList) func(*Config) { return func(c *Config) { c.Voters = l } }
	a, b := start(t, 1, voters("1-3")), start(t, 2, voters("1-4"))
	far := start(t, 3, voters("1-5"))
	for _, n := range []*node{b, far} {
		n.SetPeers([]Peer{{ID: 1, Addr: a.Addr().String()}})
	}
	eventually(t, "one is linked, the other refused", func() bool {
		return b.linked() == 1 && far.Stats().Rejected["voters"] > 0
	})
}

func TestACallerWithMyOwnID(t *testing.T) {
	b := start(t, 2)
	r := dialRaw(t, b)
	r.say(b.helloFrom(2))
	if got := r.hear().(proto.Refuse); got.Reason != proto.SameNode || got.ID != 2 {
		t.Errorf("%+v", got)
	}
	r.untilClosed()
	if b.Stats().Rejected["same-id"] != 1 || b.logged("two processes have the id 2") != 1 {
		t.Errorf("%+v\n%s", b.Stats(), &b.log)
	}
}

// Logged once "until it changes": what was put right, and comes back, is news.
func TestALinkMakesAComplaintNewAgain(t *testing.T) {
	b := start(t, 2)
	wrong := b.helloFrom(1)
	wrong.Cluster = "prod"
	for _, h := range []proto.Hello{wrong, wrong, b.helloFrom(1), wrong} {
		r := dialRaw(t, b)
		r.say(h)
		r.hear()
		_ = r.Close()
	}
	eventually(t, "two complaints", func() bool { return b.logged("is of cluster") == 2 })
}

func TestAnotherProtocolVersion(t *testing.T) {
	b := start(t, 2)
	r := dialRaw(t, b)
	kind, payload, err := proto.MarshalLink(b.helloFrom(1))
	if err != nil {
		t.Fatal(err)
	}
	hello := appendFrame(nil, kind, payload)
	hello[4] = version + 1
	r.send(hello)
	if got := r.hear().(proto.Refuse); got.Reason != proto.OtherVersion || got.ID != 2 {
		t.Errorf("%+v", got)
	}
	r.untilClosed()
	if b.Stats().Rejected["version"] != 1 || b.logged(fmt.Sprintf("speaks protocol version %d", version+1)) != 1 {
		t.Errorf("%+v\n%s", b.Stats(), &b.log)
	}

	newer := fake(t, func(r *raw) { // and at the other end
		r.hear()
		r.send([]byte{0, 0, 0, 0, version + 1, byte(proto.KindRefuse)})
		r.untilClosed()
	})
	b.SetPeers([]Peer{{ID: 1, Addr: newer}})
	eventually(t, "the dialler says so", func() bool {
		return b.logged("no link to node 1 at "+newer+
			": the answer to HELLO: the other end speaks protocol version "+strconv.Itoa(version+1)) == 1
	})
}

// What answers a HELLO wrongly is no peer.
func TestAnswersThatMakeNoLink(t *testing.T) {
	for want, answer := range map[string]func(*raw){
		"other-node": func(r *raw) { r.say(proto.Welcome{ID: 9, Incarnation: s1}) },
		"unexpected": func(r *raw) { r.say(proto.Ack{Count: 1}) },
		"payload":    func(r *raw) { r.send(appendFrame(nil, proto.KindWelcome, []byte{0x80})) },
		"oversized":  func(r *raw) { r.send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
		"version":    func(r *raw) { r.send(make([]byte, headerLen)) },
		"no-answer":  func(*raw) {},
	} {
		t.Run(want, func(t *testing.T) {
			a := start(t, 1, hurried)
			addr := fake(t, func(r *raw) {
				r.hear()
				answer(r)
				r.untilClosed()
			})
			a.SetPeers([]Peer{{ID: 2, Addr: addr}})
			eventually(t, "it is counted", func() bool { return a.Stats().Rejected[want] > 0 })
			if slices.ContainsFunc(a.events(), func(e string) bool {
				return strings.HasPrefix(e, "link-up")
			}) {
				t.Errorf("%q", a.events())
			}
		})
	}
}

// "Used to tell a taken id from one's own former life."
func TestProbe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, b, twin := start(t, 1), start(t, 2), start(t, 1)
	for _, n := range []*node{b, twin} {
		w, err := a.Probe(ctx, n.Addr().String())
		if want := (proto.Welcome{ID: n.cfg.ID, Incarnation: n.cfg.Incarnation}); err != nil || w != want {
			t.Errorf("%+v, %v; want %+v", w, err, want)
		}
	}
	if len(b.events()) != 0 || b.inbound.count(1, a.cfg.Incarnation) != 0 {
		t.Error("a probe made a link")
	}
	stranger := start(t, 3, func(c *Config) { c.Cluster = "prod" })
	_, err := a.Probe(ctx, stranger.Addr().String())
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || refused.Answer.Reason != proto.OtherCluster || refused.Answer.ID != 3 {
		t.Errorf("%v", err)
	}
	_ = b.Close()
	if _, err := a.Probe(ctx, b.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("where nobody is: %v", err)
	}
}

func TestProbeEndsWithItsContext(t *testing.T) {
	a := start(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	silent := fake(t, func(r *raw) {
		r.hear()
		cancel()
		r.untilClosed()
	})
	if _, err := a.Probe(ctx, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	_ = a.Close()
	nobody := fake(t, func(*raw) {})
	if _, err := a.Probe(t.Context(), nobody); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, net.ErrClosed)
	}
}

func TestRefusalsForPeople(t *testing.T) {
	h := proto.Hello{ID: 1, Cluster: "a", Algorithm: "ring", Voters: "1-3", To: 2}
	for want, r := range map[string]proto.Refuse{
		"keep them apart":                              {Reason: proto.OtherCluster},
		"start them with another":                      {Reason: proto.OtherAlgorithm},
		"wrong election address":                       {Reason: proto.OtherNode},
		"give one of them":                             {Reason: proto.SameNode},
		"run the same release":                         {Reason: proto.OtherVersion},
		"takes no more":                                {Reason: proto.TooMany},
		"node 1 has voters 1-3, node 0 has voters 2-4": {Reason: proto.DistantVoters, Voters: "2-4"},
		`refused node 1: "later"`:                      {Reason: "later"},
	} {
		if got := (&RefusedError{Hello: h, Answer: r}).Error(); !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	// "The log line names the setting" in which two nodes of one algorithm differ.
	const base = "nomination with leases of 1s"
	redis := StoreLabel("redis jobs", time.Second)
	for _, c := range []struct{ ours, theirs, settings string }{
		{base, "nomination with leases of 2s", "the settings lease, failover-budget or profile"},
		{base, base + ", waited out whoever dies", "the setting await-leases"},
		{base, base + ", a fence agent", "the setting fence-agent"},
		{
			base, "nomination with leases of 2s, a fence agent",
			"the settings lease, failover-budget or profile, and fence-agent",
		},
		{base, "bully", "the setting voters"},
		{base, redis, "the setting store"},
		{"bully", redis, "the setting store"},
		{redis, StoreLabel("redis jobs2", time.Second), "the setting store"},
		{redis, StoreLabel("redis jobs", 2*time.Second), "the setting lease"},
		{redis, StoreLabel("etcd jobs", 2*time.Second), "the settings store, and lease"},
	} {
		for _, labels := range [][2]string{{c.ours, c.theirs}, {c.theirs, c.ours}} {
			h.Algorithm = labels[0]
			r := proto.Refuse{Reason: proto.OtherAlgorithm, Algorithm: labels[1]}
			got := (&RefusedError{Hello: h, Answer: r}).Error()
			if !strings.HasSuffix(got, "with what the others have: "+c.settings) ||
				strings.Contains(got, "change the algorithm") {
				t.Errorf("of %q is said %q", labels, got)
			}
		}
	}
}
