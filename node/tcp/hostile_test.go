package tcp

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// attacks are bytes that no correct peer sends on a link from node 1 to node 2
// whose handshake is done.
func attacks(t testing.TB) map[string]struct {
	bytes  []byte
	reason string
} {
	t.Helper()
	good := frameOf(t, message(1, 2, 1))
	with := func(i int, b byte) []byte {
		bad := slices.Clone(good)
		bad[i] = b
		return bad
	}
	frame := func(k proto.Kind, payload ...byte) []byte { return appendFrame(nil, k.Number(), payload) }
	type attack = struct {
		bytes  []byte
		reason string
	}
	return map[string]attack{
		"oversized":           {[]byte{0, 1, 0, 1, version, 17, 0}, "oversized"},
		"as long as can be":   {[]byte{255, 255, 255, 255, version, 17}, "oversized"},
		"other version":       {with(4, version+1), "version"},
		"kind 0":              {with(5, 0), "unexpected"},
		"kind unknown":        {with(5, 255), "unexpected"},
		"a second HELLO":      {with(5, byte(proto.KindHello)), "unexpected"},
		"an ACK":              {with(5, byte(proto.KindAck)), "unexpected"},
		"no payload":          {frame(nomination.KindTimeoutNow), "payload"},
		"payload cut":         {frame(nomination.KindTimeoutNow, good[headerLen:len(good)-1]...), "payload"},
		"payload too long":    {frame(nomination.KindTimeoutNow, append(good[headerLen:], 0)...), "payload"},
		"huge array":          {frame(nomination.KindTimeoutNow, 0xdd, 0x7f, 0xff, 0xff, 0xff), "payload"},
		"term -1":             {frame(nomination.KindTimeoutNow, 0x81, 0xa1, 'n', 0xff), "payload"},
		"in another's name":   {frameOf(t, message(3, 2, 1)), "envelope"},
		"to somebody else":    {frameOf(t, message(1, 3, 1)), "envelope"},
		"other software":      {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "oversized"},
		"good, then garbage":  {append(slices.Clone(good), "garbage"...), "oversized"},
		"good, then a replay": {append(slices.Clone(good), with(4, 0)...), "version"},
	}
}

// "Oversized, wrong version, unknown kind, bad payload: connection closed,
// counted by reason, logged once with a clear sentence; never changes state."
func TestHostileFramesEndTheirLink(t *testing.T) {
	b, honest := start(t, 2), start(t, 4)
	connect(t, b, honest)
	for name, a := range attacks(t) {
		before, said := b.Stats().Rejected[a.reason], b.logged(`"reason":"`+a.reason+`"`)
		r := joinRaw(t, b, 1)
		r.send(a.bytes)
		r.untilClosed()
		eventually(t, name+" is counted", func() bool {
			return b.Stats().Rejected[a.reason] == before+1
		})
		if n := b.logged(`"reason":"`+a.reason+`"`) - said; n != 1 {
			t.Errorf("%s: logged %d times", name, n)
		}
	}
	good := message(1, 2, 1)
	good.Sender = proto.Incarnation{1}
	for _, m := range b.messages() {
		if m != good {
			t.Errorf("handed up: %+v", m)
		}
	}
	honest.Send(message(4, 2, 77))
	eventually(t, "the honest peer is heard", func() bool {
		return slices.Contains(b.received(), 77)
	})
	if n := len(b.events()); n != 1 || b.linked() != 1 {
		t.Errorf("%d events about the honest peer: %q", n, b.events())
	}
}

// The same before the handshake.
func TestHostileGreetings(t *testing.T) {
	b := start(t, 2)
	hello := func(change func(*proto.Hello)) []byte {
		h := b.helloFrom(1)
		change(&h)
		kind, payload, err := proto.MarshalLink(h)
		if err != nil {
			t.Fatal(err)
		}
		return appendFrame(nil, kind, payload)
	}
	for name, c := range map[string]struct {
		bytes  []byte
		reason string
	}{
		"garbage":        {[]byte(strings.Repeat("garbage ", 9)), "oversized"},
		"above 1 KiB":    {[]byte{0, 0, 4, 1, version, byte(proto.KindHello)}, "oversized"},
		"no HELLO":       {frameOf(t, message(1, 2, 1)), "unexpected"},
		"empty HELLO":    {appendFrame(nil, proto.KindHello, []byte{0x80}), "payload"},
		"kind unknown":   {appendFrame(nil, uint8(99), nil), "unexpected"},
		"for no id":      {appendFrame(nil, proto.KindHello, []byte{0xc0}), "payload"},
		"other cluster":  {hello(func(h *proto.Hello) { h.Cluster = "x" }), "cluster"},
		"other's node":   {hello(func(h *proto.Hello) { h.To = 3 }), "other-node"},
		"other software": {[]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), "plaintext"},
	} {
		before := b.Stats().Rejected[c.reason]
		r := dialRaw(t, b)
		r.send(c.bytes)
		r.untilClosed()
		eventually(t, name+" is counted", func() bool {
			return b.Stats().Rejected[c.reason] == before+1
		})
	}
	if len(b.received()) != 0 {
		t.Errorf("handed up: %v", b.messages())
	}
}

// An acceptor may lie as well: its link ends, and what was not acknowledged in
// truth is not lost.
func TestAcknowledgementsThatLie(t *testing.T) {
	for want, lie := range map[string][]byte{
		"ack":        ackFrame(t, 99),
		"unexpected": frameOf(t, message(2, 1, 1)),
		"payload":    appendFrame(nil, proto.KindAck, []byte{0x81, 0xa1, 'n', 0xff}),
		"oversized":  []byte("HTTP/1.1 400 Bad Request\r\n"),
		"version":    {0, 0, 0, 0, version + 1, byte(proto.KindAck)},
	} {
		t.Run(want, func(t *testing.T) {
			a, b := start(t, 1), start(t, 2, func(c *Config) { c.Incarnation = s1 })
			liar := fake(t, func(r *raw) {
				r.say(proto.Welcome{ID: r.hear().(proto.Hello).To, Incarnation: s1})
				r.send(lie)
				r.untilClosed()
			})
			via := newProxy(t, liar)
			a.SetPeers([]Peer{b.as(via.addr)})
			a.Send(message(1, 2, 1))
			eventually(t, "the link is ended", func() bool {
				return a.Stats().Rejected[want] > 0 &&
					slices.Contains(a.events(), said(proto.LinkReset, s1, 0))
			})
			via.aim(b.Addr().String())
			eventually(t, "the message arrives", func() bool {
				return slices.Contains(b.received(), 1)
			})
		})
	}
}

func ackFrame(t testing.TB, n uint64) []byte {
	t.Helper()
	kind, payload, err := proto.MarshalLink(proto.Ack{Count: n})
	if err != nil {
		t.Fatal(err)
	}
	return appendFrame(nil, kind, payload)
}

// "Idle pre-handshake connections and their number are bounded": an honest
// node gets through a crowd of silent ones, and the silent ones are sent away.
func TestSilentConnectionsAreBounded(t *testing.T) {
	const limit, all = 8, 8 + 36
	b := start(t, 2)
	b.admitWaiting(limit)
	var crowd []*raw
	for range all {
		crowd = append(crowd, dialRaw(t, b))
	}
	sentAway := func() uint64 {
		s := b.Stats().Rejected
		return s["crowded"] + s["too-slow"]
	}
	// The honest node comes last: later ones of the same address would throw it out too.
	eventually(t, "all are in a handshake, or were", func() bool {
		b.handshakes.mu.Lock()
		defer b.handshakes.mu.Unlock()
		return sentAway()+uint64(len(b.handshakes.waiting)) == all
	})
	a := start(t, 1)
	a.SetPeers([]Peer{b.asPeer()})
	a.Send(message(1, 2, 1))
	eventually(t, "the honest node is heard", func() bool { return len(b.received()) == 1 })
	for _, r := range crowd {
		r.untilClosed()
	}
	eventually(t, "all are counted", func() bool { return sentAway() == all })
	if b.Stats().Rejected["crowded"] == 0 {
		t.Error("there were never too many handshakes")
	}
	if x, y := b.logged(`"reason":"crowded"`), b.logged(`"reason":"too-slow"`); x > 2 || y > 2 {
		t.Errorf("logged %d and %d times", x, y)
	}
}

// Whoever had to give up its place has been counted and told of: what it says, or fails to say
// in time, at the same moment is nobody's concern.
func TestTheEvictedAreCountedOnce(t *testing.T) {
	b := start(t, 2, hurried)
	here, there := net.Pipe()
	defer there.Close()
	if _, _, _, err := b.awaitHello(t.Context(), here); !errors.Is(err, net.ErrClosed) {
		t.Errorf("one that is without a place: %v", err)
	}
}

// A HELLO that drips in by the byte takes no longer than a silent one.
func TestADrippingHello(t *testing.T) {
	b := start(t, 2, hurried)
	r := dialRaw(t, b)
	closed := make(chan struct{})
	go func() { r.untilClosed(); close(closed) }()
	hello := []byte{0, 0, 3, 0, version, byte(proto.KindHello)}
	for i := 0; ; i = min(i+1, len(hello)-1) {
		if _, err := r.Write(hello[i : i+1]); err != nil {
			break
		}
		select {
		case <-closed:
		default:
			continue
		}
		break
	}
	<-closed
}

// "A cap": the established links are bounded too. Whoever has one can renew it, and of those that nobody knows
// the one makes room that has been silent for the longest time.
func TestLinksAreBounded(t *testing.T) {
	var a inboundConnections
	in := func(id int) *inbound {
		c, _ := net.Pipe()
		in := &inbound{conn: c, id: proto.NodeID(id), done: make(chan struct{})}
		in.heard.Store(int64(id))
		return in
	}
	var all []*inbound
	for id := 1; id <= maxUnknown; id++ {
		all = append(all, in(id))
		if out := a.enter(all[id-1]); out != nil {
			t.Fatalf("link %d took the place of %d", id, out.id)
		}
	}
	all[0].heard.Store(maxUnknown)
	if out := a.enter(in(maxUnknown + 1)); out != all[1] || a.leave(all[1]) {
		t.Errorf("link %d took the place of %v", maxUnknown+1, out)
	}
	again := in(1)
	ended := make(chan bool)
	go func() { ended <- a.leave(all[0]) }()
	if a.enter(again) != nil || !a.leave(again) {
		t.Error("a process that has a link cannot renew it")
	}
	<-ended
}

// "The links of one node are bounded": false processes of a node that is known make room for each other, never
// in place of the process that is expected, and neither do they take places of others.
func TestLinksOfOneNodeAreBounded(t *testing.T) {
	expected := proto.Incarnation{200}
	a := inboundConnections{expects: func(id proto.NodeID) (bool, proto.Incarnation) { return id == 2, expected }}
	in := func(id proto.NodeID, incarnation byte, silent bool) *inbound {
		c, _ := net.Pipe()
		return &inbound{
			conn: c, id: id, incarnation: proto.Incarnation{incarnation}, silent: silent, done: make(chan struct{}),
		}
	}
	others := in(7, 1, false)
	first, silent := in(2, 200, false), in(2, 200, true)
	for _, l := range []*inbound{others, first, silent} {
		if out := a.enter(l); out != nil {
			t.Errorf("took the place of %v", out.caller())
		}
	}
	for i := range byte(100) {
		for _, quiet := range []bool{false, true} {
			if out := a.enter(in(2, i, quiet)); out != nil && (out == first || out == silent || out == others) {
				t.Errorf("took the place of %v", out.caller())
			}
		}
	}
	if got := len(a.links); got != 2*maxPerNode+1 {
		t.Errorf("%d links", got)
	}
	for id := range proto.NodeID(2 * maxUnknown) { // of nodes that are unknown, and talk more
		l := in(1000+id, 1, false)
		l.heard.Store(1)
		if out := a.enter(l); out == first || out == silent {
			t.Fatalf("took the place of %v", out.caller())
		}
	}
	if got := len(a.links); got != 2*maxPerNode+maxUnknown {
		t.Errorf("%d links", got)
	}
}

// "1,024 valid HELLOs do not fill a node": it takes a bounded number of links from those that it does not know,
// and all from the nodes that it knows: members and voters, the next process of each too.
func TestFloodOfLinksKeepsNobodyOut(t *testing.T) {
	b := start(t, 1, func(c *Config) { c.SilentPeers = []proto.NodeID{3} })
	member, voter := start(t, 2), start(t, 3)
	connect(t, b, member)
	for id := range 2 * maxUnknown {
		joinRaw(t, b, proto.NodeID(1000+id))
	}
	b.inbound.mu.Lock()
	if got := len(b.inbound.links); got > maxUnknown+1 {
		t.Errorf("%d links", got)
	}
	b.inbound.mu.Unlock()
	voter.SetPeers([]Peer{b.asPeer()}) // nobody has told the node of it
	eventually(t, "the voter's link is up", func() bool { return voter.linked() == 1 })
	again := start(t, 2) // the next process of the member
	again.SetPeers([]Peer{b.asPeer()})
	eventually(t, "the next process's link is up", func() bool { return again.linked() == 1 })
	for id := range maxUnknown {
		joinRaw(t, b, proto.NodeID(5000+id))
	}
	for _, n := range []*node{member, voter, again} {
		if b.inbound.count(n.cfg.ID, n.cfg.Incarnation) != 1 {
			t.Errorf("node %d lost its link", n.cfg.ID)
		}
	}
	if b.Stats().Rejected["crowded"] == 0 {
		t.Error("what made room is not counted")
	}
}
