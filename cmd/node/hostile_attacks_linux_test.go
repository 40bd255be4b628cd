//go:build hostile

package main

import (
	"bytes"
	"compress/lzw"
	"context"
	"crypto/aes"
	"crypto/cipher"
	crand "crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages of memberlist, by the first byte.
const (
	memberPing       = 0
	memberAlive      = 4
	memberDead       = 5
	memberPushPull   = 6
	memberCompound   = 7
	memberCompressed = 9
	memberEncrypted  = 10
)

// linkVersion is the version of the protocol of links.
const linkVersion = 6

// oneStream is after how many packets of gossip a frame goes over a connection of its own, which costs more.
const oneStream = 50

// someone returns the ip of one of the nodes.
func (a *attack) someone() string { return a.h.ip(proto.NodeID(1 + rand.IntN(hostileNodes))) }

func at(ip string, port int) string { return net.JoinHostPort(ip, strconv.Itoa(port)) }

// packets opens a socket for packets. It is ended with the test.
func (a *attack) packets() (send func(payload []byte, to string)) {
	conn, err := net.ListenUDP("udp4", nil)
	if err != nil {
		a.Error(err)
		return func([]byte, string) {}
	}
	context.AfterFunc(a.end, func() { _ = conn.Close() })
	addrs := map[string]*net.UDPAddr{}
	return func(payload []byte, to string) {
		addr := addrs[to]
		if addr == nil {
			addr, _ = net.ResolveUDPAddr("udp4", to) // an address in numbers
			addrs[to] = addr
		}
		_, _ = conn.WriteToUDP(payload, addr) // the kernel may have no room: it was sent all the same
	}
}

// dial dials a node. It returns nil if the node takes no connection now.
func (a *attack) dial(addr string) *net.TCPConn {
	conn, err := net.DialTimeout("tcp4", addr, time.Second)
	if err != nil {
		return nil
	}
	tcp := conn.(*net.TCPConn)
	_ = tcp.SetLinger(0) // or the attacker has no ports left
	_ = tcp.SetDeadline(time.Now().Add(10 * time.Second))
	return tcp
}

// throws sends bytes over a connection of their own, and waits for the beginning of an answer, or the end, but not
// for long.
func (a *attack) throws(b []byte, addr string) {
	conn := a.dial(addr)
	if conn == nil {
		return
	}
	defer conn.Close()
	if _, err := conn.Write(b); err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
		_, _ = conn.Read(make([]byte, 512))
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = crand.Read(b)
	return b
}

// garbage sends bytes without any meaning.
func (a *attack) garbage() {
	send := a.packets()
	pool := noise(1 << 16)
	for i := 0; a.more(1); i++ {
		from, size := rand.IntN(len(pool)-1500), 1+rand.IntN(1400)
		if i%oneStream > 0 {
			send(pool[from:from+size], at(a.someone(), gossipPort))
			continue
		}
		a.throws(pool[from:from+size], at(a.someone(), []int{gossipPort, electionPort, httpPort}[rand.IntN(3)]))
	}
}

// linkFrame returns a frame of a link.
func linkFrame(number uint8, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	return append(append(b, linkVersion, number), payload...)
}

// validShape sends what a node would send that runs without credentials, or with others.
func (a *attack) validShape() {
	send := a.packets()
	foreign, err := newForeign(a)
	if err != nil {
		a.Error(err)
		return
	}
	var frames [][]byte
	for id := range proto.NodeID(20) {
		for _, m := range gossipOf(id + 1) {
			frames = append(frames, m, sealed(foreign.key, m))
		}
	}
	for i := 0; a.more(1); i++ {
		to := proto.NodeID(1 + rand.IntN(hostileNodes))
		ip := a.h.ip(to)
		switch {
		case i%oneStream > 0:
			send(frames[rand.IntN(len(frames))], at(ip, gossipPort))
		case rand.IntN(3) > 0:
			stream := linkOf(1+to%hostileNodes, to)
			a.throws(stream, at(ip, electionPort))
			a.sent.Add(2 * linkMessages)
		default:
			a.shakes(foreign.keeper, to, ip)
		}
	}
}

// foreign are credentials of the same cluster's label, of another authority.
type foreign struct {
	keeper *credentials.Keeper
	key    []byte
}

func newForeign(a *attack) (f foreign, err error) {
	ca, err := credentials.NewAuthority(a.TempDir(), testcluster.ClusterLabel)
	if err != nil {
		return f, err
	}
	me := credentials.Identity{Cluster: testcluster.ClusterLabel, ID: 1}
	dir, err := ca.Issue(me, nil, time.Hour)
	if err != nil {
		return f, err
	}
	f.keeper, err = credentials.Open(dir, me)
	f.key = credentials.NewGossipKey()
	return f, err
}

// shakes does a handshake of TLS with credentials of another authority, and does not look whom it meets.
func (a *attack) shakes(k *credentials.Keeper, to proto.NodeID, ip string) {
	raw := a.dial(at(ip, electionPort))
	if raw == nil {
		return
	}
	defer raw.Close()
	cfg := k.Ask()
	cfg.VerifyConnection, cfg.InsecureSkipVerify = nil, true
	conn := tls.Client(raw, cfg)
	if conn.Handshake() != nil {
		return
	}
	_, _ = conn.Write(linkOf(1+to%hostileNodes, to))
	_, _ = conn.Read(make([]byte, 512)) // an alert, or the end
}

// linkMessages is how many messages of each kind linkOf returns.
const linkMessages = 20

// linkOf returns what a node says on a link without credentials: a HELLO, and messages.
func linkOf(from, to proto.NodeID) []byte {
	kind, payload, err := proto.MarshalLink(proto.Hello{
		Cluster: testcluster.ClusterLabel, Algorithm: "bully", Voters: "1-3", ID: from,
		Incarnation: proto.NewIncarnation(), To: to,
	})
	if err != nil {
		panic(err)
	}
	b := linkFrame(uint8(kind), payload)
	for seq := range uint64(linkMessages) {
		for _, body := range []proto.Body{
			nomination.TimeoutNow{}, proto.RequestVote{Incarnation: proto.NewIncarnation(), Nonce: seq},
		} {
			number, payload, err := proto.Marshal(proto.Message{From: from, To: to, Term: 99, Seq: seq + 1, Body: body})
			if err != nil {
				panic(err)
			}
			b = append(b, linkFrame(number.Number(), payload)...)
		}
	}
	return b
}

// gossipOf returns messages of memberlist that are about a member.
func gossipOf(id proto.NodeID) [][]byte {
	name := id.String()
	must := func(kind byte, v any) []byte {
		b, err := msgpack.Marshal(v)
		if err != nil {
			panic(err)
		}
		return append([]byte{kind}, b...)
	}
	all := [][]byte{
		must(memberPing, map[string]any{"SeqNo": 7, "Node": name}),
		must(memberDead, map[string]any{"Incarnation": 1 << 30, "Node": name, "From": name}),
		must(memberAlive, map[string]any{
			"Incarnation": 1 << 30, "Node": name, "Addr": []byte{10, 11, 12, 200}, "Port": gossipPort,
			"Meta": noise(200), "Vsn": []byte{1, 5, 2, 0, 0, 0},
		}),
	}
	together := []byte{memberCompound, byte(len(all))}
	for _, m := range all {
		together = binary.BigEndian.AppendUint16(together, uint16(len(m)))
	}
	return append(all, append(together, bytes.Join(all, nil)...))
}

// sealed encrypts a packet as memberlist does.
func sealed(key, plain []byte) []byte { return sealedWith(key, plain, nil) }

func sealedWith(key, plain, additional []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	head := append([]byte{1}, noise(aead.NonceSize())...)
	return aead.Seal(head, head[1:], plain, additional)
}

// sealedStream encrypts one message of a stream of gossip.
func sealedStream(key, plain []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{memberEncrypted}, uint32(1+12+16+len(plain)))
	return append(head, sealedWith(key, plain, head)...)
}

// replayed sends again what nodes sent to each other, to whom it was sent and to others.
func (a *attack) replayed() {
	send := a.packets()
	links, gossip := a.h.all(strconv.Itoa(electionPort)), a.h.all(strconv.Itoa(gossipPort))
	for i := 0; a.more(1); i++ {
		if i%oneStream > 0 {
			p := a.h.gossip[rand.IntN(len(a.h.gossip))]
			if i%3 == 0 {
				p.to = at(a.someone(), gossipPort)
			}
			send(p.payload, p.to)
			continue
		}
		s := links[rand.IntN(len(links))]
		if len(gossip) > 0 && i%(4*oneStream) == 0 {
			s = gossip[rand.IntN(len(gossip))]
		}
		a.throws(s.payload, s.to)
	}
}

// held are connections that are left open. The oldest makes room.
type held struct {
	conns []*net.TCPConn
	next  int
}

const mostHeld = 1500 // by each of the goroutines that attack

func (h *held) add(c *net.TCPConn) {
	if len(h.conns) < mostHeld {
		h.conns = append(h.conns, c)
		return
	}
	_ = h.conns[h.next].Close()
	h.conns[h.next] = c
	h.next = (h.next + 1) % mostHeld
}

func (h *held) close() {
	for _, c := range h.conns {
		_ = c.Close()
	}
}

// opens opens connections, calls the function begin with each, and leaves it open. To some of them it writes a byte
// now and then.
func (a *attack) opens(begin func(conn *net.TCPConn, port int), ports ...int) {
	var open held
	defer open.close()
	for a.more(1) {
		port := ports[rand.IntN(len(ports))]
		conn := a.dial(at(a.someone(), port))
		if conn == nil {
			continue
		}
		begin(conn, port)
		open.add(conn)
		_, _ = open.conns[rand.IntN(len(open.conns))].Write([]byte{0})
	}
}

// slow opens connections that say nothing, say a byte now and then, or end halfway.
func (a *attack) slow() {
	a.opens(func(conn *net.TCPConn, _ int) {
		switch rand.IntN(3) {
		case 0:
			_ = conn.CloseWrite()
		case 1:
			_, _ = conn.Write([]byte{0})
		}
	}, gossipPort, electionPort, httpPort)
}

// unfinished begins handshakes of TLS, as a node does, and does not go on.
func (a *attack) unfinished() {
	links := a.h.all(strconv.Itoa(electionPort))
	a.opens(func(conn *net.TCPConn, _ int) {
		first := links[rand.IntN(len(links))].payload
		if len(first) < 5 {
			return
		}
		hello := first[:min(len(first), 5+int(binary.BigEndian.Uint16(first[3:])))] // the first record
		_, _ = conn.Write(hello[:len(hello)-rand.IntN(2)])                          // or all but the last byte
	}, electionPort, httpPort)
}

// huge sends packets as large as they can be, compressed ones that become large, and streams that say that they are.
// Some are sealed with the real key.
func (a *attack) huge() {
	send := a.packets()
	key, err := gossipKey(a.h.Cluster)
	if err != nil {
		a.Error(err)
		return
	}
	var packets, streams [][]byte
	for _, size := range []int{1 << 16, 1 << 20, 8 << 20} {
		b, err := compressed(make([]byte, size))
		if err != nil {
			a.Error(err)
			return
		}
		within := append([]byte{memberCompound, 1, byte(len(b) >> 8), byte(len(b))}, b...)
		for _, m := range [][]byte{b, within} {
			if len(m) < 65000 {
				packets = append(packets, m, sealed(key, m))
			}
			streams = append(streams, m, sealedStream(key, m))
		}
	}
	packets = append(packets, noise(65507), sealed(key, append([]byte{memberAlive}, noise(65000)...)))
	giant := append([]byte{memberPushPull, 0x81, 0xa5}, "Nodes\xce\x7f\xff\xff\xff"...)
	streams = append(streams, giant, sealedStream(key, giant), []byte{memberEncrypted, 0x7f, 0xff, 0xff, 0xff},
		binary.BigEndian.AppendUint32([]byte{memberEncrypted}, 1<<20),
		append([]byte{memberEncrypted, 0, 0xf, 0, 0}, noise(1<<19)...))
	for i := 0; a.more(1); i++ {
		if i%4 > 0 {
			send(packets[rand.IntN(len(packets))], at(a.someone(), gossipPort))
		} else {
			a.throws(streams[rand.IntN(len(streams))], at(a.someone(), gossipPort))
		}
	}
}

// compressed returns a message of memberlist that becomes b.
func compressed(b []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := lzw.NewWriter(&packed, lzw.LSB, 8)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	body, err := msgpack.Marshal(map[string]any{"Algo": 0, "Buf": packed.Bytes()})
	return append([]byte{memberCompressed}, body...), err
}

// gossipKey returns the key with which the nodes of a cluster seal.
func gossipKey(c *testcluster.Cluster) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(c.Credentials(), "node-1", "gossip.key"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			return base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		}
	}
	return nil, fmt.Errorf("no key of gossip in %s", c.Credentials())
}

// http floods the HTTP service: under TLS and without; with bodies that do not end, and large headers.
func (a *attack) http() {
	var open held
	defer open.close()
	for a.more(1) {
		raw := a.dial(at(a.someone(), httpPort))
		if raw == nil {
			continue
		}
		open.add(raw)
		var conn net.Conn = raw
		if rand.IntN(4) > 0 {
			sealed := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
			if sealed.Handshake() != nil {
				continue
			}
			conn = sealed
		}
		switch rand.IntN(4) {
		case 0: // many requests, with tokens that are guessed
			r := fmt.Sprintf("GET /v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %x\r\n\r\n", noise(16))
			for range 10 {
				_, _ = io.WriteString(conn, r)
			}
			a.sent.Add(9)
			_, _ = conn.Read(make([]byte, 512))
			_ = raw.Close()
		case 1: // a body of which little comes
			_, _ = fmt.Fprintf(conn, "POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{", 1<<30)
		case 2: // a header that does not end
			_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Big: "+strings.Repeat("x", 1<<18))
		case 3: // half a line
			_, _ = io.WriteString(conn, "GET /lead")
		}
	}
}
