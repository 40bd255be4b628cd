package proto

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

// plain says nothing, and rich says something of every sort that travels.
type (
	plain struct{}
	rich  struct {
		Best Peer   `msgpack:"p"`
		Roll Roll   `msgpack:"m"`
		Hops uint64 `msgpack:"h"`
		Flag bool   `msgpack:"k"`
	}
)

var (
	kindPlain = NewKind[plain](200, "PLAIN", "nothing", Nominates)
	kindRich  = NewKind[rich](201, "RICH", "something of every sort", TellsAll, HandsOver)
	table     = tableOf(append(LeaseKinds(), kindPlain, kindRich)...)
)

func tableOf(kinds ...Kind) *Kinds {
	t, err := NewKinds(kinds...)
	if err != nil {
		panic(err)
	}
	return t
}

func (plain) Kind() Kind       { return kindPlain }
func (b plain) String() string { return Describe(b) }
func (plain) Validate() error  { return nil }

func (rich) Kind() Kind       { return kindRich }
func (b rich) String() string { return Describe(b, "best", b.Best, "roll", b.Roll) }

func (b rich) Validate() error {
	if b.Hops > 9 {
		return fmt.Errorf("%d hops: at most 9", b.Hops)
	}
	return errors.Join(b.Best.ID.Validate(), b.Roll.Validate())
}

// messages has one message of every kind of the table, with values at their limits.
func messages() []Message {
	incarnation := Incarnation{0: 0xff, 15: 1}
	low := Peer{ID: 1, Incarnation: incarnation, Attr: math.MinInt64}
	high := Peer{ID: MaxNodeID, Incarnation: incarnation, Attr: math.MaxInt64}
	voters := VoterSet{MaxVoterVersion, math.MaxInt64, true, 0}
	around := func(b Body) Message {
		return Message{
			From: 4, To: 5, Term: 7, Seq: 12, HLC: HLC{Micros: 1795186664073742, Logical: 3}, Body: b,
		}
	}
	limits := around(rich{Best: high})
	limits.From, limits.To = MaxNodeID, 1
	limits.Term, limits.Seq = MaxTerm, math.MaxInt64
	limits.HLC = HLC{Micros: math.MaxInt64, Logical: math.MaxUint32}
	return []Message{
		around(plain{}),
		around(rich{Best: low, Hops: 1}),
		around(rich{Best: high, Roll: Roll("").Add(low).Add(high), Hops: 9, Flag: true}),
		around(rich{Best: Peer{ID: 5, Incarnation: incarnation, Ineligible: true}, Roll: fullRoll(high)}),
		around(PreVote{incarnation, 1, voters}),
		around(PreVoteReply{incarnation, math.MaxInt64, Answer{}, voters}),
		around(PreVoteReply{incarnation, 2, Answer{DeniedPromised, MaxNodeID}, voters}),
		around(RequestVote{incarnation, math.MaxInt64, voters}),
		around(Vote{incarnation, 5, Answer{}, VoterSet{}, ""}),
		around(Vote{
			incarnation, 5,
			Answer{},
			voters,
			PackLeaderships([]Leadership{{1, 1, incarnation}, {MaxTerm, MaxNodeID, incarnation}}),
		}),
		around(Vote{incarnation, 6, Answer{DeniedStands, 9}, voters, ""}),
		around(Release{Incarnation: incarnation}),
		around(Release{incarnation, MaxNodeID}),
		around(Offer{incarnation, 7, Incarnation{3: 1}}),
		around(Reply{incarnation, 7, NoDecline}),
		around(Reply{incarnation, 7, DeclineBehind}),
		around(TakeOver{incarnation, Incarnation{3: 1}, true}),
		around(Heartbeat{high, 0, MaxLease, VoterSet{Version: 1, Hash: 1, Changed: MaxNodeID}, false}),
		around(Heartbeat{low, 1, time.Microsecond, VoterSet{}, false}),
		around(Recover{incarnation, 7, 0}),
		around(Recover{incarnation, 0, math.MaxInt64}),
		around(VoterState{incarnation, 8, MaxTerm, MaxLease, voters, "", true, Leadership{}, 0}),
		around(VoterState{incarnation, 0, 1, 0, voters, "", false, Leadership{MaxTerm, MaxNodeID, incarnation}, 9}),
		around(Unvoted{incarnation, Roll("").Add(Peer{ID: MaxNodeID, Incarnation: incarnation}), MaxTerm, true, false}),
		around(Unvoted{incarnation, "", 0, false, true}),
		around(VoterState{
			incarnation, 8, 1, 0,
			VoterSet{},
			PackLeaderships([]Leadership{{1, 1, incarnation}, {MaxTerm, MaxNodeID, incarnation}}), false,
			Leadership{},
			0,
		}),
		around(Heartbeat{high, 3, MaxLease, voters, true}),
		around(Heartbeat{low, 0, time.Microsecond, VoterSet{}, false}),
		around(HeartbeatReply{incarnation, 3, Answer{}, voters, 0}),
		around(HeartbeatReply{incarnation, 3, Answer{Denial: DeniedVoters}, voters, 2 * MaxLease}),
		limits,
		{From: 1, To: 2, Body: plain{}},
	}
}

// fullRoll is as long as a roll may be.
func fullRoll(p Peer) (r Roll) {
	one := Roll("").Add(p)
	for range MaxRoll {
		r += one
	}
	return r
}

func TestEveryMessageComesBackAsItWas(t *testing.T) {
	seen := map[Kind]bool{}
	for _, m := range messages() {
		kind, payload, err := Marshal(m)
		if err != nil {
			t.Fatalf("marshal %+v: %v", m, err)
		}
		seen[kind] = true
		back, err := table.Unmarshal(kind.Number(), payload)
		if err != nil || back != m {
			t.Errorf("%v: came back as %+v, %v; want %+v", kind, back, err, m)
		}
	}
	for _, kind := range table.All() {
		if !seen[kind] {
			t.Errorf("kind %d %v has no message here", kind.Number(), kind)
		}
	}
}

// The keys are an agreement between versions: they are never reused for
// another meaning.
func TestWireKeys(t *testing.T) {
	peer := Peer{ID: 3, Incarnation: Incarnation{1}, Attr: -7}
	m := Message{
		From: 4, To: 5, Term: 6, Seq: 8, HLC: HLC{Micros: 9, Logical: 10},
		Body: rich{Best: peer, Hops: 7},
	}
	_, payload, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := msgpack.Unmarshal(payload, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"f": int8(4), "t": int8(5), "n": int8(6), "q": int8(8), "u": int8(9), "l": int8(10),
		"b": map[string]any{
			"p": map[string]any{"i": int8(3), "s": peer.Incarnation[:], "a": int8(-7), "x": false},
			"m": []byte{}, "h": int8(7), "k": false,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("on the wire: %v\nwant %v", got, want)
	}
}

func TestMarshalRefusesWhatItsReaderWouldRefuse(t *testing.T) {
	good := Message{From: 1, To: 2, Body: rich{Best: Peer{ID: 1}}}
	change := func(f func(*Message)) Message { m := good; f(&m); return m }
	cases := map[string]struct {
		m    Message
		want error
	}{
		"no sender":       {change(func(m *Message) { m.From = 0 }), ErrValue},
		"no receiver":     {change(func(m *Message) { m.To = 0 }), ErrValue},
		"absurd sender":   {change(func(m *Message) { m.From = MaxNodeID + 1 }), ErrValue},
		"absurd term":     {change(func(m *Message) { m.Term = MaxTerm + 1 }), ErrValue},
		"absurd number":   {change(func(m *Message) { m.Seq = math.MaxInt64 + 1 }), ErrValue},
		"negative clock":  {change(func(m *Message) { m.HLC.Micros = -1 }), ErrValue},
		"nobody proposed": {change(func(m *Message) { m.Body = rich{} }), ErrValue},
		"torn roll": {change(func(m *Message) {
			m.Body = rich{Best: Peer{ID: 1}, Roll: "torn"}
		}), ErrValue},
		"nobody on a roll": {change(func(m *Message) {
			m.Body = rich{Best: Peer{ID: 1}, Roll: Roll("").Add(Peer{})}
		}), ErrValue},
		"endless roll": {change(func(m *Message) {
			m.Body = rich{Best: Peer{ID: 1}, Roll: fullRoll(Peer{ID: 1}).Add(Peer{ID: 1})}
		}), ErrValue},
		"absurd hops": {change(func(m *Message) { m.Body = rich{Best: Peer{ID: 1}, Hops: 10} }), ErrValue},
		"no kind":     {change(func(m *Message) { m.Body = kindless{} }), ErrKind},
		"another's":   {change(func(m *Message) { m.Body = impostor{} }), ErrKind},
		"no body":     {change(func(m *Message) { m.Body = nil }), ErrKind},
	}
	for name, c := range cases {
		if _, _, err := Marshal(c.m); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, _, err := Marshal(good); err != nil {
		t.Errorf("the message that the others are made from: %v", err)
	}
}

// kindless has no kind, and impostor that of another struct.
type kindless struct{ plain }

func (kindless) Kind() Kind { return Kind{} }

type impostor struct{ plain }

// fields encodes a PLAIN between 1 and 2 with some fields changed or added.
func fields(t testing.TB, change map[string]any) []byte {
	t.Helper()
	all := map[string]any{"f": 1, "t": 2, "n": 3, "q": 4, "u": 5, "l": 6}
	for k, v := range change {
		all[k] = v
	}
	payload, err := msgpack.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// body is a RICH with some fields changed: those of its best, which have the keys i, s and
// a, or its own.
func body(change map[string]any) map[string]any {
	best, all := map[string]any{"i": 1}, map[string]any{}
	for k, v := range change {
		if k == "h" || k == "m" {
			all[k] = v
			continue
		}
		best[k] = v
	}
	all["p"] = best
	return map[string]any{"b": all}
}

// "-1 decodes into a uint64 as its maximum, which poisons a term; 300 into a
// uint8 becomes 44": whatever would wrap is refused.
func TestUnmarshalRefusesValuesNoCorrectNodeSends(t *testing.T) {
	incarnation := make([]byte, 16)
	cases := map[string]struct {
		kind   Kind
		change map[string]any
		want   error
	}{
		"from -1":               {kindPlain, map[string]any{"f": -1}, ErrValue},
		"to 0":                  {kindPlain, map[string]any{"t": 0}, ErrValue},
		"term -1":               {kindPlain, map[string]any{"n": -1}, ErrValue},
		"term minimum":          {kindPlain, map[string]any{"n": int64(math.MinInt64)}, ErrValue},
		"term too high":         {kindPlain, map[string]any{"n": uint64(MaxTerm) + 1}, ErrValue},
		"term a text":           {kindPlain, map[string]any{"n": "3"}, ErrMalformed},
		"term a float":          {kindPlain, map[string]any{"n": 3.0}, ErrMalformed},
		"term a list":           {kindPlain, map[string]any{"n": []int{3}}, ErrMalformed},
		"number -1":             {kindPlain, map[string]any{"q": -1}, ErrValue},
		"clock negative":        {kindPlain, map[string]any{"u": -1}, ErrValue},
		"counter wraps":         {kindPlain, map[string]any{"l": uint64(math.MaxUint32) + 1}, ErrValue},
		"counter -1":            {kindPlain, map[string]any{"l": -1}, ErrValue},
		"beyond int64":          {kindPlain, map[string]any{"q": uint64(math.MaxInt64) + 1}, ErrMalformed},
		"attr wraps":            {kindRich, body(map[string]any{"i": 1, "a": uint64(1 << 63)}), ErrMalformed},
		"nobody":                {kindRich, body(map[string]any{"i": 0, "s": incarnation}), ErrValue},
		"incarnation short":     {kindRich, body(map[string]any{"i": 1, "s": incarnation[:15]}), ErrMalformed},
		"incarnation long":      {kindRich, body(map[string]any{"i": 1, "s": make([]byte, 17)}), ErrMalformed},
		"incarnation a text":    {kindRich, body(map[string]any{"i": 1, "s": string(incarnation)}), ErrMalformed},
		"hops too many":         {kindRich, body(map[string]any{"h": 10}), ErrValue},
		"hops negative":         {kindRich, body(map[string]any{"h": -1}), ErrValue},
		"roll torn":             {kindRich, body(map[string]any{"m": []byte{1}}), ErrValue},
		"roll a number":         {kindRich, body(map[string]any{"m": 1}), ErrMalformed},
		"a body absent":         {kindRich, nil, ErrValue},
		"a body of no map":      {kindRich, map[string]any{"b": "text"}, ErrMalformed},
		"a denial there is not": {KindVote, map[string]any{"s": make([]byte, 16), "b": 200}, ErrValue},
		"a lease for nothing":   {KindHeartbeat, map[string]any{"i": 1, "e": 0}, ErrValue},
		"an unknown decline":    {KindReply, map[string]any{"s": incarnation[:], "b": 99}, ErrValue},
		"a wait for ever": {
			KindHeartbeatReply, map[string]any{"s": incarnation[:], "w": uint64(math.MaxInt64)}, ErrValue,
		},
		"a leader of no term": {
			KindVoterState, map[string]any{"s": incarnation[:], "w": map[string]any{"i": 1}}, ErrValue,
		},
		"a lease for ever": {KindHeartbeat, map[string]any{"i": 1, "e": uint64(math.MaxInt64)}, ErrValue},
	}
	for name, c := range cases {
		m, err := table.Unmarshal(c.kind.Number(), fields(t, c.change))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v; want %v", name, m, err, c.want)
		}
		if m != (Message{}) {
			t.Errorf("%s: refused, and yet it returned %+v", name, m)
		}
	}
}

// A field that a newer version added is skipped.
func TestUnmarshalSkipsUnknownKeys(t *testing.T) {
	later := map[string]any{"zz": map[string]any{"deep": []any{1, "x", true, 2.5}}, "y": []byte{1}}
	m, err := table.Unmarshal(kindPlain.Number(), fields(t, later))
	want := Message{From: 1, To: 2, Term: 3, Seq: 4, HLC: HLC{Micros: 5, Logical: 6}, Body: plain{}}
	if err != nil || m != want {
		t.Errorf("%+v, %v; want %+v", m, err, want)
	}
}

func TestUnmarshalKeepsNothingOfItsPayload(t *testing.T) {
	m := messages()[1]
	kind, payload, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := table.Unmarshal(kind.Number(), payload)
	if err != nil {
		t.Fatal(err)
	}
	clear(payload)
	if back != m {
		t.Errorf("%+v after its payload was overwritten, want %+v", back, m)
	}
}

func TestErrorsSayWhichKindAndWhy(t *testing.T) {
	_, err := table.Unmarshal(kindPlain.Number(), fields(t, map[string]any{"n": -1}))
	for _, part := range []string{"PLAIN", "term", "at most 9007199254740992"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// "A message kind of an algorithm that this binary does not have" is refused, in clear words.
func TestTableRefusesWhatItHasNot(t *testing.T) {
	for _, number := range []uint8{0, uint8(KindHello), 202, 255} {
		m, err := table.Unmarshal(number, fields(t, nil))
		if !errors.Is(err, ErrKind) || m != (Message{}) {
			t.Errorf("number %d: %+v, %v", number, m, err)
		}
		want := fmt.Sprintf("no algorithm of this program has number %d", number)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestKindsAreClaimedOnce(t *testing.T) {
	again := NewKind[plain](kindRich.Number(), "OTHER", "")
	if _, err := NewKinds(kindRich, again); err == nil || !strings.Contains(err.Error(), "both have number 201") {
		t.Errorf("two kinds of one number: %v", err)
	}
	if _, err := NewKinds(NewKind[plain](15, "LOW", "")); err == nil {
		t.Error("a number of the link was taken")
	}
	if _, err := NewKinds(Kind{}); err == nil {
		t.Error("no kind was taken")
	}
	if kinds, err := NewKinds(kindRich, kindPlain, kindRich); err != nil || len(kinds.All()) != 2 {
		t.Errorf("one kind of two parts: %v", err)
	}
	if !kindRich.Is(TellsAll) || !kindRich.Is(HandsOver) || kindRich.Is(Nominates) || !kindPlain.Is(Nominates) {
		t.Error("traits are not those that were declared")
	}
	if kindPlain.Says() != "nothing" || (Kind{}).String() != "no kind" {
		t.Error("a kind's words are not those that were declared")
	}
}
