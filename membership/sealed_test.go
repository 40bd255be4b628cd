package membership

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
)

// testKey is a key of 32 equal bytes.
func testKey(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func testKeyring(t testing.TB, keys ...byte) *Keyring {
	t.Helper()
	var all [][]byte
	for _, b := range keys {
		all = append(all, testKey(b))
	}
	k, err := NewKeyring(all)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// seal encrypts as memberlist does: with version 0, the plain text has its padding already.
func seal(key, plain, additional []byte, version byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	head := append([]byte{version}, make([]byte, sealNonce)...)
	return aead.Seal(head, head[1:], plain, additional)
}

// sealStream encrypts one message of a stream.
func sealStream(key, plain []byte, version byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{encryptMsg}, uint32(sealOverhead+len(plain)))
	return append(head, seal(key, plain, head, version)...)
}

func TestKeyring(t *testing.T) {
	k := testKeyring(t, 1)
	check := func(what string, err, want error, keys ...byte) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		var wanted [][]byte
		for _, b := range keys {
			wanted = append(wanted, testKey(b))
		}
		if got := k.List(); !slices.EqualFunc(got, wanted, bytes.Equal) {
			t.Errorf("%s: keys %x", what, got)
		}
		theirs := k.ring.GetKeys()
		if len(theirs) != len(wanted) || !bytes.Equal(theirs[0], wanted[0]) {
			t.Errorf("%s: memberlist has %x", what, theirs)
		}
		for _, key := range wanted {
			if keyAt(theirs, key) < 0 {
				t.Errorf("%s: memberlist has not %x", what, key)
			}
		}
	}
	check("add", k.Add(testKey(2)), nil, 1, 2)
	check("add again", k.Add(testKey(1)), nil, 1, 2)
	check("add a third", k.Add(testKey(3)), nil, 1, 2, 3)
	check("use", k.Use(testKey(2)), nil, 2, 1, 3)
	check("use another", k.Use(testKey(9)), ErrNoKey, 2, 1, 3)
	check("remove what seals", k.Remove(testKey(2)), ErrSealsNow, 2, 1, 3)
	check("remove from the middle", k.Remove(testKey(1)), nil, 2, 3)
	check("remove again", k.Remove(testKey(1)), nil, 2, 3)
	check("a short key", k.Add([]byte("short")), errKeyLength, 2, 3)
	check("set", k.Set([][]byte{testKey(7), testKey(3), testKey(7)}), nil, 7, 3)
	check("set nothing", k.Set(nil), errNoKeys, 7, 3)
	if _, err := NewKeyring(nil); !errors.Is(err, errNoKeys) {
		t.Errorf("no keys: %v", err)
	}
}

// Keys change while memberlist and the guard read them; one that all have opens at any moment. For the race detector.
func TestKeyringWhileRead(t *testing.T) {
	k := testKeyring(t, 1)
	packet := seal(testKey(1), []byte{pingMsg, 1}, nil, sealVersion)
	var over atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !over.Load() {
				if _, err := k.open(nil, packet, nil); err != nil {
					t.Errorf("the key that stays does not open: %v", err)
				}
				for _, key := range k.ring.GetKeys() {
					_ = append([]byte(nil), key...)
				}
			}
		})
	}
	for i := range 300 {
		b := byte(2 + i%5)
		if err := errors.Join(k.Add(testKey(b)), k.Add(testKey(b+1)), k.Use(testKey(b+1)), k.Use(testKey(1)),
			k.Remove(testKey(b)), k.Remove(testKey(b+1))); err != nil {
			t.Fatal(err)
		}
	}
	over.Store(true)
	readers.Wait()
}

// sealedConfig is the config of a process whose gossip is encrypted.
func (c *cluster) sealedConfig(id int, keys ...byte) Config {
	cfg := c.config(id)
	if len(keys) > 0 {
		cfg.Keys = testKeyring(c.t, keys...)
	}
	return cfg
}

// Three nodes with one key meet. One with an older key does not, and both sides say why. It meets them once all have
// its key.
func TestEncryptedGossip(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(1)} // which so never dials node 4
		for id := 1; id <= 3; id++ {
			c.start(c.sealedConfig(id, 7), gossipAddr(id))
		}
		three := slices.Clone(c.nodes)
		c.eventually(5*time.Second, []int{1, 2, 3}, three...)
		late := c.start(c.sealedConfig(4, 6), gossipAddr(4))
		words := "is sealed with a key that this node has not"
		c.until(10*time.Second, "both sides say so", func() bool {
			return three[0].log.count("gossip from 10.0.0.4 "+words) > 0 &&
				late.log.count("gossip from 10.0.0.1 "+words) > 0
		})
		time.Sleep(time.Minute)
		c.eventually(0, []int{1, 2, 3}, three...)
		c.eventually(0, []int{4}, late)
		if n := late.log.count("gossip from 10.0.0.1 " + words); n > 4 {
			t.Errorf("in a minute the log says %d times the same", n)
		}
		if late.Dropped().UnknownKey == 0 || three[0].Dropped().UnknownKey == 0 {
			t.Errorf("counted %+v and %+v", late.Dropped(), three[0].Dropped())
		}
		for n, from := range map[*testNode]string{three[0]: "10.0.0.4", late: "10.0.0.1"} {
			if u := n.Unread(); len(u) != 1 || u[0].From != from || !strings.Contains(u[0].Why, words) {
				t.Errorf("dropped lately: %+v", u)
			}
		}
		for _, n := range c.nodes {
			if err := errors.Join(n.cfg.Keys.Add(testKey(7)), n.cfg.Keys.Add(testKey(6))); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range c.nodes {
			if err := n.cfg.Keys.Use(testKey(7)); err != nil {
				t.Fatal(err)
			}
		}
		c.eventually(10*time.Second, []int{1, 2, 3, 4}, c.nodes...)
		time.Sleep(unreadFor)
		if u := late.Unread(); len(u) > 0 {
			t.Errorf("nodes that have met drop nothing, and it says %+v", u)
		}
	})
}

// A node without keys and nodes with keys do not meet, and both sides say why. The other side may be of a release that
// knows no keys, and then says nothing that its people understand: this one says what it is, and what to do.
func TestUnencryptedBesideEncrypted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(1)}
		a := c.start(c.sealedConfig(1, 7), gossipAddr(1))
		b := c.start(c.sealedConfig(2), gossipAddr(2))
		c.until(10*time.Second, "both sides say so", func() bool {
			return a.log.count("is not encrypted, as this node's gossip is") > 0 &&
				b.log.count("is encrypted, and this node has no keys of gossip") > 0
		})
		if a.log.count("its node runs without credentials, or is of a release that knows none") == 0 ||
			a.log.count("start it with credentials of this cluster") == 0 {
			t.Errorf("it says\n%s", a.log.String())
		}
		if u := a.Unread(); len(u) != 1 || u[0].From != "10.0.0.2" || !strings.Contains(u[0].Why, "not encrypted") {
			t.Errorf("dropped lately: %+v", u)
		}
		c.eventually(5*time.Second, []int{1}, a)
		c.eventually(5*time.Second, []int{2}, b)
	})
}

// A node that cannot join says what is not encrypted: the gossip of the other, and not the attempt to join it.
func TestWhyNoJoin(t *testing.T) {
	for _, tt := range []struct {
		there []byte // keys of the other
		says  string
	}{
		{nil, "is not encrypted, as this node's gossip is"},
		{[]byte{6}, "is sealed with a key that this node has not (an older key?)"},
	} {
		inBubble(t, func(t *testing.T, c *cluster) {
			c.start(c.sealedConfig(1, tt.there...), gossipAddr(1))
			c.seeds = []string{gossipAddr(1)}
			joiner := c.start(c.sealedConfig(2, 7), gossipAddr(2))
			c.until(10*time.Second, "the node that joins says why it cannot: "+tt.says, func() bool {
				return strings.Contains(joiner.log.String(), "failed to join 10.0.0.1:7946: its gossip "+tt.says)
			})
		})
	}
}

// Keys are rotated again and again under a cluster that loses nobody.
func TestKeysAreRotated(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(1), gossipAddr(2), gossipAddr(3)}
		for id := 1; id <= 3; id++ {
			c.start(c.sealedConfig(id, 1), gossipAddr(id))
		}
		c.eventually(5*time.Second, []int{1, 2, 3}, c.nodes...)
		time.Sleep(5 * time.Second) // until all that is told of a start is told
		for _, n := range c.nodes {
			n.forget()
		}
		all := func(do func(*Keyring) error) {
			for _, n := range c.nodes {
				if err := do(n.cfg.Keys); err != nil {
					t.Fatal(err)
				}
				time.Sleep(37 * time.Millisecond)
			}
		}
		for i := range 200 {
			old, next := testKey(byte(1+i)), testKey(byte(2+i))
			all(func(k *Keyring) error { return k.Add(next) })
			all(func(k *Keyring) error { return k.Use(next) })
			all(func(k *Keyring) error { return k.Remove(old) })
		}
		for _, n := range c.nodes {
			if told := n.evidence(); len(told) > 0 {
				t.Errorf("node %d was told %v", n.id, told)
			}
			if d := n.Dropped(); d != (Dropped{}) {
				t.Errorf("node %d dropped %+v", n.id, d)
			}
			if theirs := n.cfg.Keys.ring.GetKeys(); len(theirs) != 1 {
				t.Errorf("memberlist has %d keys", len(theirs))
			}
		}
		c.eventually(0, []int{1, 2, 3}, c.nodes...)
	})
}

// hostilePlain is what nobody sends who runs this program, by name.
var hostilePlain = map[string]struct {
	packet, stream []byte
}{
	"nothing":          {[]byte{}, []byte{}},
	"compressed":       {[]byte{compressMsg, 1}, []byte{compressMsg, 1, 2, 3}},
	"behind checksum":  {[]byte{checksumMsg, 0, 0, 0, 0, compressMsg}, []byte{checksumMsg, 0, 0, 0, 0, 6}},
	"nested":           {[]byte{compoundMsg, 1, 0, 2, compoundMsg, 0}, []byte{encryptMsg, 0, 0, 0, 1, 6}},
	"absurd lengths":   {[]byte{compoundMsg, 2, 0xff, 0xff}, lengths(pushPullMsg, "Nodes", 0xce, 0, 0x10, 0, 0)},
	"head cut short":   {[]byte{compoundMsg, 255, 0, 1}, lengths(pushPullMsg, "Nodes", 0xcd, 1)},
	"endless map":      {[]byte{compoundMsg, 1, 0, 1, compressMsg}, []byte{userMsg, 0xdf, 0xff, 0xff, 0xff, 0xff}},
	"giant user state": {[]byte{compressMsg}, lengths(pushPullMsg, "UserStateLen", 0xce, 0x7f, 0, 0, 0)},
}

// Whoever has a key of gossip gets no more past the guard than one who needs none, and ends no process.
func TestHostileSealed(t *testing.T) {
	k := testKeyring(t, 7, 6)
	g := &guard{keys: k, large: make(chan struct{}, maxLarge)}
	pass := func(frame []byte) ([]byte, error) {
		body, err := g.checkStream(bytes.NewReader(frame))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(body)
	}
	for _, key := range [][]byte{testKey(7), testKey(6)} {
		for name, c := range hostilePlain {
			if _, err := g.checkPacket(nil, seal(key, c.packet, nil, sealVersion)); !errors.Is(err, errHostile) {
				t.Errorf("a packet, %s: %v", name, err)
			}
			if _, err := pass(sealStream(key, c.stream, sealVersion)); !errors.Is(err, errHostile) {
				t.Errorf("a stream, %s: %v", name, err)
			}
		}
		good := seal(key, []byte{compoundMsg, 1, 0, 2, pingMsg, 1}, nil, sealVersion)
		if _, err := g.checkPacket(nil, good); err != nil {
			t.Errorf("a good packet: %v", err)
		}
		// memberlist takes 255 bytes of padding off 16 bytes, and the process ends
		padded := bytes.Repeat([]byte{255}, 16)
		if _, err := g.checkPacket(nil, seal(key, padded, nil, 0)); !errors.Is(err, errUnsealed) {
			t.Errorf("a packet of version 0: %v", err)
		}
		if _, err := pass(sealStream(key, padded, 0)); !errors.Is(err, errHostile) {
			t.Errorf("a stream of version 0: %v", err)
		}
	}
	good := sealStream(testKey(6), lengths(pushPullMsg, "Nodes", 5), sealVersion)
	if got, err := pass(append(good, "what follows is not read"...)); err != nil || !bytes.Equal(got, good) {
		t.Errorf("a good stream: %x, %v", got, err)
	}
	for _, tt := range []struct {
		name  string
		frame []byte
		want  error
	}{
		{"nothing", nil, io.EOF},
		{"plain", lengths(pushPullMsg, "Nodes", 5), errUnsealed},
		{"a label", []byte{244, 1, 2}, errUnsealed},
		{"a giant length", []byte{encryptMsg, 0x7f, 0xff, 0xff, 0xff}, errHostile},
		{"one byte too long", binary.BigEndian.AppendUint32([]byte{encryptMsg}, maxStream-streamHead+1), errHostile},
		{"no length", []byte{encryptMsg, 0, 0, 0, 0}, errHostile},
		{"a length cut short", []byte{encryptMsg, 0, 0}, io.ErrUnexpectedEOF},
		{"cut short", good[:len(good)-1], io.ErrUnexpectedEOF},
		{"an unknown key", sealStream(testKey(5), []byte{pingMsg}, sealVersion), errUnknownKey},
		{"nothing but zeros", slices.Concat(good[:streamHead], make([]byte, len(good))), errHostile},
	} {
		if _, err := pass(tt.frame); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	changed := bytes.Clone(good)
	changed[len(changed)-1] ^= 1
	if _, err := pass(changed); !errors.Is(err, errUnknownKey) {
		t.Errorf("one bit changed: %v", err)
	}
}

// Sealed with the real key and thrown at a live group: it goes on.
func TestHostileSealedLive(t *testing.T) {
	cfg := loopbackConfig(1)
	cfg.Keys = testKeyring(t, 7)
	a := startLoopback(t, cfg)
	packets, err := net.Dial("udp", a.GossipAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	for _, key := range [][]byte{testKey(7), testKey(5)} {
		for _, c := range hostilePlain {
			for version := range byte(3) {
				packet, stream := slices.Concat(c.packet, padding), slices.Concat(c.stream, padding)
				if version == sealVersion {
					packet, stream = c.packet, c.stream
				}
				_, _ = packets.Write(seal(key, packet, nil, version))
				throw(t, a.GossipAddr(), sealStream(key, stream, version))
			}
		}
	}
	other := loopbackConfig(2, a.GossipAddr())
	other.Keys = testKeyring(t, 7)
	b := startLoopback(t, other)
	awaitAlive(t, a, 2)
	awaitAlive(t, b, 2)
	if d := a.Dropped(); d.Hostile == 0 || d.UnknownKey == 0 || d.Unencrypted == 0 {
		t.Errorf("counted %+v", d)
	}
}

var padding = bytes.Repeat([]byte{255}, 32)

// What a stream says of its length costs nothing before the bytes come, and only a few large ones are read at a time.
func TestSealedStreamsAreBounded(t *testing.T) {
	g := &guard{keys: testKeyring(t, 7), large: make(chan struct{}, maxLarge)}
	head := binary.BigEndian.AppendUint32([]byte{encryptMsg}, maxStream-streamHead)
	var open []net.Conn
	var reading sync.WaitGroup
	for range maxLarge {
		near, far := net.Pipe()
		open = append(open, far)
		reading.Go(func() { _, _ = g.checkStream(near) })
		if _, err := far.Write(append(bytes.Clone(head), 1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.checkStream(bytes.NewReader(head)); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("one more: %v", err)
	}
	small := sealStream(testKey(7), lengths(pushPullMsg, "Nodes", 5), sealVersion)
	if _, err := g.checkStream(bytes.NewReader(small)); err != nil {
		t.Errorf("a small one: %v", err)
	}
	for _, far := range open {
		_ = far.Close()
	}
	reading.Wait()
	cost := testing.AllocsPerRun(10, func() { _, _ = g.checkStream(bytes.NewReader(head)) })
	bytesEach := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = g.checkStream(bytes.NewReader(head))
		}
	}).AllocedBytesPerOp()
	if bytesEach > 8<<10 {
		t.Errorf("a head alone costs %d bytes in %v allocations", bytesEach, cost)
	}
}

// The largest packets of nodes whose addresses are long fit into one datagram, sealed.
func TestSealedPacketsFit(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		var largest atomic.Int64
		c.seeds = []string{gossipAddr(1)}
		for id := 1; id <= 20; id++ {
			cfg := c.sealedConfig(id, 7)
			cfg.ElectionAddr = fmt.Sprintf("%s-%d:7001", strings.Repeat("e", 130), id)
			cfg.HTTPAddr = fmt.Sprintf("%s-%d:8001", strings.Repeat("h", 130), id)
			cfg.Transport = &sizing{c.net.Transport(gossipAddr(id)), &largest}
			cfg.Logger = zerolog.Nop()
			g, err := Start(cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = g.Close() })
			if id == 20 {
				for v := range g.Views() {
					if len(v.Alive) == 20 {
						break
					}
				}
			}
		}
		time.Sleep(10 * time.Second)
		const most = 1500 - 40 - 8 // IPv6 and UDP on Ethernet
		if n := largest.Load(); n < 1000 || n > most {
			t.Errorf("the largest packet has %d bytes, want at most %d", n, most)
		}
	})
}

// sizing is a transport that notes the size of the largest packet.
type sizing struct {
	memberlist.Transport
	largest *atomic.Int64
}

func (s *sizing) WriteTo(b []byte, addr string) (time.Time, error) {
	for n := s.largest.Load(); int64(len(b)) > n && !s.largest.CompareAndSwap(n, int64(len(b))); n = s.largest.Load() {
	}
	return s.Transport.WriteTo(b, addr)
}

// Whatever arrives where gossip is encrypted: the guard does not fall, passes only what it opened, and passes that on
// as it was. The plain text is sealed with the key, too.
func FuzzSealed(f *testing.F) {
	for _, c := range hostilePlain {
		f.Add(c.packet)
		f.Add(c.stream)
		f.Add(seal(testKey(7), c.packet, nil, sealVersion))
		f.Add(sealStream(testKey(7), c.stream, sealVersion))
	}
	f.Add(lengths(pushPullMsg, "Nodes", 5))
	k := testKeyring(f, 7)
	g := &guard{keys: k, large: make(chan struct{}, maxLarge)}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, frame := range [][]byte{b, sealStream(testKey(7), b, sealVersion)} {
			body, err := g.checkStream(bytes.NewReader(frame))
			if err != nil {
				continue
			}
			got, err := io.ReadAll(body)
			if err != nil || !bytes.HasPrefix(frame, got) || len(got) <= streamHead+sealOverhead {
				t.Errorf("passed %x as %x, %v", frame, got, err)
			}
		}
		for _, packet := range [][]byte{b, seal(testKey(7), b, nil, sealVersion)} {
			plain, err := g.checkPacket(nil, packet)
			if err == nil && (len(plain) == 0 || !packetIsPlain(plain)) {
				t.Errorf("passed %x, which holds %x", packet, plain)
			}
		}
	})
}
