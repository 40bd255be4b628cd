package membership

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

func sampleMeta() meta {
	return meta{
		Peer:    proto.Peer{ID: 5, Incarnation: proto.Incarnation{1, 2, 3}, Attr: -9},
		started: 946684800000000, listed: true,
		electionAddr: "n5.example:7001", httpAddr: "[fd00::5]:8001",
		cluster: "demo", algorithm: "bully",
	}
}

func TestMetaRoundTrip(t *testing.T) {
	for _, m := range []meta{
		sampleMeta(),
		{
			Peer: proto.Peer{
				ID: proto.MaxNodeID, Incarnation: proto.Incarnation{15: 1}, Attr: math.MinInt64,
				Ineligible: true,
			},
			started: 1, electionAddr: "a:1", cluster: "ü", algorithm: "ring",
			store: Store{Place: math.MaxUint32, TTL: 1},
		},
		largestMeta(),
	} {
		got, err := decodeMeta(m.encode())
		if err != nil || got != m {
			t.Errorf("%+v came back as %+v, %v", m, got, err)
		}
	}
}

// largestMeta is as long as a meta can be.
func largestMeta() meta {
	m := sampleMeta()
	m.electionAddr = strings.Repeat("e", maxAddr-6) + ":65535"
	m.httpAddr = strings.Repeat("h", maxAddr-6) + ":65535"
	m.cluster = strings.Repeat("c", maxCluster)
	m.algorithm = strings.Repeat("a", maxAlgorithm)
	// Three of the longest ids and one of twelve digits, and what is between them.
	list := proto.ListVoters([]proto.NodeID{1e11, proto.MaxNodeID / 4, proto.MaxNodeID / 2, proto.MaxNodeID})
	m.voters = Voters{List: list, Version: proto.MaxVoterVersion, Committed: true}
	return m
}

// "Meta over 512 bytes panics: keep it well below."
func TestMetaIsAlwaysWellBelow512Bytes(t *testing.T) {
	m := largestMeta()
	if err := m.validate(); err != nil {
		t.Fatal(err)
	}
	if n := len(m.encode()); n > 511 || len(m.voters.List) > proto.MaxVoterList {
		t.Errorf("%d bytes", n)
	}
}

func TestMetaRefuses(t *testing.T) {
	change := func(f func(*meta)) []byte {
		m := sampleMeta()
		f(&m)
		return m.encode()
	}
	good := sampleMeta().encode()
	at := func(i int, b byte) []byte {
		c := bytes.Clone(good)
		c[i] = b
		return c
	}
	for name, b := range map[string][]byte{
		"nothing":           nil,
		"another version":   at(0, 1),
		"unknown flags":     at(1, 8),
		"trailing bytes":    append(bytes.Clone(good), 0),
		"cut short":         good[:len(good)-1],
		"length beyond end": at(metaFixed, 255),
		"id 0":              change(func(m *meta) { m.ID = 0 }),
		"id too large":      change(func(m *meta) { m.ID = proto.MaxNodeID + 1 }),
		"no incarnation":    change(func(m *meta) { m.Incarnation = proto.Incarnation{} }),
		"start time 0":      change(func(m *meta) { m.started = 0 }),
		"negative start":    change(func(m *meta) { m.started = -1 }),
		"no election addr":  change(func(m *meta) { m.electionAddr = "" }),
		"no port":           change(func(m *meta) { m.electionAddr = "n5" }),
		"port 0":            change(func(m *meta) { m.electionAddr = "n5:0" }),
		"port 65536":        change(func(m *meta) { m.electionAddr = "n5:65536" }),
		"unspecified":       change(func(m *meta) { m.httpAddr = "0.0.0.0:80" }),
		"space in host":     change(func(m *meta) { m.httpAddr = "n 5:80" }),
		"no cluster":        change(func(m *meta) { m.cluster = "" }),
		"control in label":  change(func(m *meta) { m.cluster = "a\nb" }),
		"broken UTF-8":      change(func(m *meta) { m.cluster = "\xff" }),
		"long label": change(func(m *meta) {
			m.cluster = strings.Repeat("c", maxCluster+1)
		}),
		"voters":           change(func(m *meta) { m.voters.List = "3-1" }),
		"a version beyond": change(func(m *meta) { m.voters.Version = proto.MaxVoterVersion + 1 }),
		"no algorithm":     change(func(m *meta) { m.algorithm = "" }),
	} {
		if m, err := decodeMeta(b); !errors.Is(err, errMeta) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// A hostile meta never panics, and what is accepted has this one encoding.
func FuzzMeta(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(sampleMeta().encode())
	f.Add(largestMeta().encode())
	f.Add(sampleMeta().encode()[:metaFixed+3])
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err == nil && !bytes.Equal(m.encode(), b) {
			t.Errorf("%x decodes to %+v, which encodes to %x", b, m, m.encode())
		}
	})
}

// Rolls and goodbyes come from anywhere too.
func FuzzWire(f *testing.F) {
	me := identity{1, proto.Incarnation{1}}
	f.Add(encodeGoodbye(me))
	f.Add(encodeRoll(me, []Member{{Peer: proto.Peer{ID: 2, Incarnation: proto.Incarnation{2}}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if who, err := decodeGoodbye(b); err == nil && !bytes.Equal(encodeGoodbye(who), b) {
			t.Errorf("goodbye %x came back as %x", b, encodeGoodbye(who))
		}
		_, listed, err := decodeRoll(b, me)
		if err == nil && listed && !bytes.Contains(b, me.append(nil)) {
			t.Errorf("roll %x lists %+v", b, me)
		}
	})
}

func TestRollSaysWhomItLists(t *testing.T) {
	sender, two := identity{1, proto.Incarnation{1}}, identity{2, proto.Incarnation{2}}
	roll := encodeRoll(sender, []Member{
		{Peer: proto.Peer{ID: 2, Incarnation: two.incarnation}},
		{Peer: proto.Peer{ID: 3, Incarnation: proto.Incarnation{3}}},
	})
	for _, tt := range []struct {
		me   identity
		want bool
	}{
		{two, true},
		{identity{2, proto.Incarnation{9}}, false}, // another process of the id
		{identity{4, two.incarnation}, false},
		{sender, false}, // a sender does not vouch for itself
	} {
		got, listed, err := decodeRoll(roll, tt.me)
		if err != nil || got != sender || listed != tt.want {
			t.Errorf("for %v: from %v, listed %v, %v", tt.me, got, listed, err)
		}
	}
	for _, bad := range [][]byte{nil, {rollTag}, roll[:len(roll)-1], encodeGoodbye(sender)} {
		if _, _, err := decodeRoll(bad, two); !errors.Is(err, errWire) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}
