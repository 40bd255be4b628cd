package proto

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

// messages has one message of every kind, with values at their limits.
func messages() []Message {
	session := Session{0: 0xff, 15: 1}
	low := Peer{ID: 1, Session: session, Attr: math.MinInt64}
	high := Peer{ID: MaxNodeID, Session: session, Attr: math.MaxInt64}
	reign := Epoch{MaxTerm, MaxNodeID, session}
	voters := VoterSet{MaxVoterVersion, math.MaxInt64, true, 0}
	around := func(b Body) Message {
		return Message{
			From: 4, To: 5, Term: 7, Seq: 12, HLC: HLC{Micros: 1795186664073742, Logical: 3}, Body: b,
		}
	}
	limits := around(Election{Candidate: high})
	limits.From, limits.To = MaxNodeID, 1
	limits.Term, limits.Seq = MaxTerm, math.MaxInt64
	limits.HLC = HLC{Micros: math.MaxInt64, Logical: math.MaxUint32}
	return []Message{
		around(TimeoutNow{}),
		around(Election{Candidate: low}),
		around(OK{}),
		around(Coordinator{Leader: high}),
		around(RingElection{Initiator: 9, Best: low, Hops: MaxHops}),
		around(Elected{Leader: high, Hops: 1}),
		around(Identity{Self: low}),
		around(TokenElection{Initiator: 9, Roll: Roll("").Add(low).Add(high), Hops: 2}),
		around(TokenElection{Initiator: MaxNodeID, Roll: fullRoll(high), Hops: MaxHops}),
		around(TokenElection{Initiator: 1}),
		around(TokenCoordinator{Leader: low, Hops: 1}),
		around(Probe{Candidate: low, Phase: MaxPhase, Clockwise: true, Hops: MaxHops}),
		around(Probe{Candidate: high, Hops: 1}),
		around(ProbeReply{Candidate: MaxNodeID, Phase: 3, Clockwise: true, Hops: 4}),
		around(ProbeReply{Candidate: 1, Hops: MaxHops}),
		around(Candidate{Candidate: low, Round: MaxPhase, Clockwise: true, Hops: MaxHops}),
		around(Candidate{Candidate: high, Hops: 1}),
		around(Halt{low}),
		around(Halted{}),
		around(Reject{high}),
		around(Leads{low}),
		around(NotNorm{high}),
		around(AreYouCoordinator{low}),
		around(Group{Peer{ID: 5, Session: session, Ineligible: true}}),
		around(Invitation{high}),
		around(AcceptInvitation{}),
		around(Ready{low}),
		around(TokenCoordinator{Leader: high, Taken: true, Hops: MaxHops}),
		around(Watch{low}),
		around(Exists{}),
		around(NewLeader{high}),
		around(NewLeaderAck{session}),
		around(Commit{low}),
		around(Prepare{Ballot{1, MaxNodeID}}),
		around(Promise{Ballot: Ballot{math.MaxInt64, 1}}),
		around(Promise{Ballot{3, 1}, Ballot{2, 9}, high, low}),
		around(Accept{Ballot{3, 1}, high}),
		around(Accepted{Ballot{3, 1}}),
		around(Chosen{low, false}),
		around(Enquiry{high}),
		around(Chosen{high, true}),
		around(Ask{session, 1, voters}),
		around(Answer{session, math.MaxInt64, true, NoBar, 0, voters}),
		around(Answer{session, 2, false, BarPromise, MaxNodeID, voters}),
		around(Claim{session, 3, voters}),
		around(Renew{session, 4, voters, false}),
		around(Renew{session, 4, VoterSet{Version: 1, Hash: 1, Changed: MaxNodeID}, true}),
		around(Grant{session, 5, VoterSet{}, ""}),
		around(Grant{session, 5, voters, PackEpochs([]Epoch{{1, 1, session}, {MaxTerm, MaxNodeID, session}})}),
		around(Deny{session, 6, BarSelf, 9}),
		around(Release{Session: session}),
		around(Release{session, MaxNodeID}),
		around(Offer{session, 7, Session{3: 1}}),
		around(Reply{session, 7, NoDecline}),
		around(Reply{session, 7, DeclineBehind}),
		around(TakeOver{session, Session{3: 1}, true}),
		around(Lease{high, MaxLease, voters}),
		around(Lease{low, time.Microsecond, VoterSet{}}),
		around(Account{reign, MaxReign, time.Microsecond, true, Epoch{MaxTerm, 3, session}}),
		around(Account{Reign: reign}),
		around(Truce{session}),
		around(Settled{Reign: reign}),
		around(Settled{
			reign, time.Second, time.Minute, true,
			Epoch{MaxTerm, 3, session},
			Epoch{1, 4, session},
			MaxReign, 3, -1, "exit status 1",
		}),
		around(Return{session, 7}),
		around(Standing{session, 8, MaxTerm, MaxLease, voters, "", true}),
		around(Unvoted{session, Roll("").Add(Peer{ID: MaxNodeID, Session: session}), MaxTerm, true, false}),
		around(Unvoted{session, "", 0, false, true}),
		around(Standing{
			session, 8, 1, 0, VoterSet{}, PackEpochs([]Epoch{{1, 1, session}, {MaxTerm, MaxNodeID, session}}), false,
		}),
		around(PreVote{session, 1, voters}),
		around(RequestVote{session, math.MaxInt64, voters}),
		around(Vote{session, 2, voters}),
		around(Heartbeat{high, 3, MaxLease, voters, true}),
		around(Heartbeat{low, 0, time.Microsecond, VoterSet{}, false}),
		around(HeartbeatAck{session, 3, voters}),
		limits,
		{From: 1, To: 2, Body: OK{}},
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
		back, err := Unmarshal(kind, payload)
		if err != nil || back != m {
			t.Errorf("%v: came back as %+v, %v; want %+v", kind, back, err, m)
		}
	}
	for kind := range names {
		if kind >= KindTimeoutNow && !seen[kind] {
			t.Errorf("kind %d %v has no message here", kind, kind)
		}
	}
}

// The keys are an agreement between versions: they are never reused for
// another meaning.
func TestWireKeys(t *testing.T) {
	peer := Peer{ID: 3, Session: Session{1}, Attr: -7}
	m := Message{
		From: 4, To: 5, Term: 6, Seq: 8, HLC: HLC{Micros: 9, Logical: 10},
		Body: RingElection{Initiator: 11, Best: peer, Hops: 12},
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
		"o": int8(11), "i": int8(3), "s": peer.Session[:], "a": int8(-7), "h": int8(12),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("on the wire: %v\nwant %v", got, want)
	}
}

func TestMarshalRefusesWhatItsReaderWouldRefuse(t *testing.T) {
	good := Message{From: 1, To: 2, Body: Election{Candidate: Peer{ID: 1}}}
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
		"nobody proposed": {change(func(m *Message) { m.Body = Election{} }), ErrValue},
		"absurd phase": {change(func(m *Message) {
			m.Body = Probe{Candidate: Peer{ID: 1}, Phase: MaxPhase + 1}
		}), ErrValue},
		"absurd round": {change(func(m *Message) {
			m.Body = Candidate{Candidate: Peer{ID: 1}, Round: MaxPhase + 1}
		}), ErrValue},
		"a reply to nobody":  {change(func(m *Message) { m.Body = ProbeReply{} }), ErrValue},
		"halted by nobody":   {change(func(m *Message) { m.Body = Halt{} }), ErrValue},
		"rejected by nobody": {change(func(m *Message) { m.Body = Reject{} }), ErrValue},
		"led by nobody":      {change(func(m *Message) { m.Body = Leads{} }), ErrValue},
		"nobody is not norm": {change(func(m *Message) { m.Body = NotNorm{} }), ErrValue},
		"nobody asks":        {change(func(m *Message) { m.Body = AreYouCoordinator{} }), ErrValue},
		"nobody's group":     {change(func(m *Message) { m.Body = Group{} }), ErrValue},
		"nobody invites":     {change(func(m *Message) { m.Body = Invitation{} }), ErrValue},
		"nobody is ready":    {change(func(m *Message) { m.Body = Ready{} }), ErrValue},
		"torn roll": {change(func(m *Message) {
			m.Body = TokenElection{Initiator: 1, Roll: "torn"}
		}), ErrValue},
		"nobody on a roll": {change(func(m *Message) {
			m.Body = TokenElection{Initiator: 1, Roll: Roll("").Add(Peer{})}
		}), ErrValue},
		"endless roll": {change(func(m *Message) {
			m.Body = TokenElection{Initiator: 1, Roll: fullRoll(Peer{ID: 1}).Add(Peer{ID: 1})}
		}), ErrValue},
		"a ballot of nobody": {change(func(m *Message) { m.Body = Prepare{Ballot{1, 0}} }), ErrValue},
		"round 0":            {change(func(m *Message) { m.Body = Accepted{Ballot{0, 1}} }), ErrValue},
		"nobody accepted": {change(func(m *Message) {
			m.Body = Promise{Ballot: Ballot{2, 1}, Last: Ballot{1, 1}}
		}), ErrValue},
		"accepted in no ballot": {change(func(m *Message) {
			m.Body = Promise{Ballot: Ballot{2, 1}, Accepted: Peer{ID: 1}}
		}), ErrValue},
		"an absurd proposal": {change(func(m *Message) {
			m.Body = Promise{Ballot: Ballot{2, 1}, Proposal: Peer{ID: MaxNodeID + 1}}
		}), ErrValue},
		"nobody to accept": {change(func(m *Message) { m.Body = Accept{Ballot: Ballot{1, 1}} }), ErrValue},
		"nobody chosen":    {change(func(m *Message) { m.Body = Chosen{} }), ErrValue},
		"absurd hops": {change(func(m *Message) {
			m.Body = Elected{Leader: Peer{ID: 1}, Hops: MaxHops + 1}
		}), ErrValue},
		"no initiator": {change(func(m *Message) {
			m.Body = RingElection{Best: Peer{ID: 1}}
		}), ErrValue},
		"no body": {change(func(m *Message) { m.Body = nil }), ErrKind},
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

// fields encodes an OK between 1 and 2 with some fields changed or added.
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

// "-1 decodes into a uint64 as its maximum, which poisons a term; 300 into a
// uint8 becomes 44": whatever would wrap is refused.
func TestUnmarshalRefusesValuesNoCorrectNodeSends(t *testing.T) {
	session := make([]byte, 16)
	cases := map[string]struct {
		kind   Kind
		change map[string]any
		want   error
	}{
		"from -1":             {KindOK, map[string]any{"f": -1}, ErrValue},
		"to 0":                {KindOK, map[string]any{"t": 0}, ErrValue},
		"term -1":             {KindOK, map[string]any{"n": -1}, ErrValue},
		"term minimum":        {KindOK, map[string]any{"n": int64(math.MinInt64)}, ErrValue},
		"term too high":       {KindOK, map[string]any{"n": uint64(MaxTerm) + 1}, ErrValue},
		"term a text":         {KindOK, map[string]any{"n": "3"}, ErrMalformed},
		"term a float":        {KindOK, map[string]any{"n": 3.0}, ErrMalformed},
		"term a list":         {KindOK, map[string]any{"n": []int{3}}, ErrMalformed},
		"number -1":           {KindOK, map[string]any{"q": -1}, ErrValue},
		"clock negative":      {KindOK, map[string]any{"u": -1}, ErrValue},
		"counter wraps":       {KindOK, map[string]any{"l": uint64(math.MaxUint32) + 1}, ErrValue},
		"counter -1":          {KindOK, map[string]any{"l": -1}, ErrValue},
		"beyond int64":        {KindOK, map[string]any{"q": uint64(math.MaxInt64) + 1}, ErrMalformed},
		"attr wraps":          {KindElection, map[string]any{"i": 1, "a": uint64(1 << 63)}, ErrMalformed},
		"nobody":              {KindElection, map[string]any{"s": session}, ErrValue},
		"session short":       {KindElection, map[string]any{"i": 1, "s": session[:15]}, ErrMalformed},
		"session long":        {KindElection, map[string]any{"i": 1, "s": make([]byte, 17)}, ErrMalformed},
		"session a text":      {KindElection, map[string]any{"i": 1, "s": string(session)}, ErrMalformed},
		"hops too many":       {KindElected, map[string]any{"i": 1, "h": MaxHops + 1}, ErrValue},
		"a bar there is not":  {KindDeny, map[string]any{"s": make([]byte, 16), "b": 200}, ErrValue},
		"a lease for nothing": {KindLease, map[string]any{"i": 1, "e": 0}, ErrValue},
		"an unknown decline":  {KindReply, map[string]any{"s": session[:], "b": 99}, ErrValue},
		"a lease for ever":    {KindLease, map[string]any{"i": 1, "e": uint64(math.MaxInt64)}, ErrValue},
		"a reign of nobody":   {KindAccount, map[string]any{"o": 1, "s": session}, ErrValue},
		"a reign of term 0":   {KindAccount, map[string]any{"i": 1, "s": session}, ErrValue},
		"a reign, absurd term": {
			KindAccount, map[string]any{"i": 1, "s": session, "o": uint64(MaxTerm) + 1}, ErrValue,
		},
		"a reign for ever": {
			KindAccount, map[string]any{"i": 1, "s": session, "o": 1, "e": uint64(math.MaxInt64)}, ErrValue,
		},
		"a reign before it": {
			KindAccount, map[string]any{"i": 1, "s": session, "o": 1, "e": -1}, ErrValue,
		},
		"a reign after one of term 0": {
			KindAccount, map[string]any{"i": 1, "s": session, "o": 1, "ri": 2}, ErrValue,
		},
		"a truce of nobody": {KindTruce, map[string]any{"s": make([]byte, 16)}, ErrValue},
		"settled, after one of term 0": {
			KindSettled, map[string]any{"i": 1, "s": session, "o": 1, "pi": 2}, ErrValue,
		},
		"a rival of term 0": {
			KindSettled, map[string]any{"i": 1, "s": session, "o": 1, "ri": 2}, ErrValue,
		},
		"an exit code there is not": {
			KindSettled, map[string]any{"i": 1, "s": session, "o": 1, "x": 256}, ErrValue,
		},
		"a problem without end": {
			KindSettled, map[string]any{"i": 1, "s": session, "o": 1, "w": strings.Repeat("x", 300)}, ErrValue,
		},
		"hops negative":    {KindElected, map[string]any{"i": 1, "h": -1}, ErrValue},
		"initiator absent": {KindRingElection, map[string]any{"i": 1}, ErrValue},
		"kind of the link": {KindHello, nil, ErrKind},
		"kind unknown":     {200, nil, ErrKind},
	}
	for name, c := range cases {
		m, err := Unmarshal(c.kind, fields(t, c.change))
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
	m, err := Unmarshal(KindOK, fields(t, later))
	want := Message{From: 1, To: 2, Term: 3, Seq: 4, HLC: HLC{Micros: 5, Logical: 6}, Body: OK{}}
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
	back, err := Unmarshal(kind, payload)
	if err != nil {
		t.Fatal(err)
	}
	clear(payload)
	if back != m {
		t.Errorf("%+v after its payload was overwritten, want %+v", back, m)
	}
}

func TestErrorsSayWhichKindAndWhy(t *testing.T) {
	_, err := Unmarshal(KindOK, fields(t, map[string]any{"n": -1}))
	for _, part := range []string{"OK", "term", "at most 9007199254740992"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
