package proto

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

func linkBodies() []LinkBody {
	label := strings.Repeat("ä", MaxLabel/2)
	return []LinkBody{
		Hello{Cluster: label, Algorithm: "ring", ID: 1, Incarnation: Incarnation{1}, To: MaxNodeID},
		Hello{ID: 1, Incarnation: Incarnation{1}},
		Welcome{ID: MaxNodeID, Incarnation: Incarnation{15: 255}},
		Refuse{Reason: OtherCluster, ID: 1, Cluster: "demo", Algorithm: "bully"},
		Refuse{Reason: "a word of a newer version", ID: 1},
		Ack{},
		Ack{Count: math.MaxInt64},
		Ping{Count: 1, Micros: 1},
		Ping{Count: math.MaxInt64, Micros: maxPingMicros},
		Pong{Count: math.MaxInt64, Micros: 1},
		PingReq{Number: 1, Target: MaxNodeID, Incarnation: Incarnation{15: 255}},
		PingRes{Number: math.MaxInt64},
		PingRes{Number: 1, Heard: true},
		News{},
		News{Bytes: strings.Repeat("\xff\x00", MaxNews/2)},
	}
}

func TestEveryLinkBodyComesBackAsItWas(t *testing.T) {
	for _, b := range linkBodies() {
		kind, payload, err := MarshalLink(b)
		if err != nil {
			t.Fatalf("marshal %+v: %v", b, err)
		}
		if back, err := UnmarshalLink(kind, payload); err != nil || back != b {
			t.Errorf("came back as %+v, %v; want %+v", back, err, b)
		}
	}
}

func TestMarshalLinkRefusesWhatItsReaderWouldRefuse(t *testing.T) {
	good := Hello{Cluster: "demo", Algorithm: "ring", ID: 1, Incarnation: Incarnation{1}}
	change := func(f func(*Hello)) Hello { h := good; f(&h); return h }
	for name, b := range map[string]LinkBody{
		"no id":            change(func(h *Hello) { h.ID = 0 }),
		"no incarnation":   change(func(h *Hello) { h.Incarnation = Incarnation{} }),
		"absurd to":        change(func(h *Hello) { h.To = MaxNodeID + 1 }),
		"label too long":   change(func(h *Hello) { h.Cluster = strings.Repeat("x", MaxLabel+1) }),
		"label not UTF-8":  change(func(h *Hello) { h.Algorithm = "\xff" }),
		"welcome, no id":   Welcome{Incarnation: Incarnation{1}},
		"nobody's welcome": Welcome{ID: 1},
		"refuse, no id":    Refuse{Reason: OtherNode},
		"ack too high":     Ack{Count: math.MaxInt64 + 1},
		"ping too high":    Ping{Count: math.MaxInt64 + 1, Micros: 1},
		"ping every 0":     Ping{Count: 1},
		"ping too rare":    Ping{Count: 1, Micros: maxPingMicros + 1},
		"pong too high":    Pong{Count: math.MaxInt64 + 1, Micros: 1},
		"too much news":    News{Bytes: strings.Repeat("x", MaxNews+1)},
		"pong every 0":     Pong{Count: 1},
		"question 0":       PingReq{Target: 1, Incarnation: Incarnation{1}},
		"about no node":    PingReq{Number: 1, Incarnation: Incarnation{1}},
		"about no process": PingReq{Number: 1, Target: 1},
		"answer 0":         PingRes{Heard: true},
		"answer too high":  PingRes{Number: math.MaxInt64 + 1},
	} {
		if _, _, err := MarshalLink(b); !errors.Is(err, ErrValue) {
			t.Errorf("%s: %v, want %v", name, err, ErrValue)
		}
	}
}

func TestUnmarshalLinkRefuses(t *testing.T) {
	encode := func(v any) []byte {
		b, err := msgpack.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	s := make([]byte, 16)
	for name, c := range map[string]struct {
		kind    LinkKind
		payload []byte
		want    error
	}{
		"a message's kind": {LinkKind(kindPlain.Number()), encode(map[string]any{}), ErrKind},
		"unknown kind":     {0, encode(map[string]any{}), ErrKind},
		"empty hello":      {KindHello, encode(map[string]any{}), ErrValue},
		"hello of a list":  {KindHello, encode([]any{"demo", "ring", 1, s, 2}), ErrMalformed},
		"ack -1":           {KindAck, encode(map[string]any{"n": -1}), ErrValue},
		"no bytes":         {KindAck, nil, ErrMalformed},
		"empty ping":       {KindPing, encode(map[string]any{}), ErrValue},
		"ping and more":    {KindPing, append(encode(Ping{Count: 1, Micros: 1}), 0), ErrMalformed},
		"pong -1":          {KindPong, encode(map[string]any{"n": -1, "e": 1}), ErrValue},
	} {
		if b, err := UnmarshalLink(c.kind, c.payload); !errors.Is(err, c.want) || b != nil {
			t.Errorf("%s: %+v, %v; want %v", name, b, err, c.want)
		}
	}
}
