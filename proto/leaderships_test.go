package proto

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// "None unless the cluster fences": a VOTE without former holders is the same
// bytes as before there was such a thing.
func TestVoteWithoutFencing(t *testing.T) {
	m := Message{From: 1, To: 2, Term: 3, Seq: 4, HLC: HLC{Micros: 5}}
	m.Body = Vote{Incarnation: Incarnation{6}, Nonce: 7}
	_, payload, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var before bytes.Buffer
	enc := msgpack.NewEncoder(&before)
	enc.UseCompactInts(true)
	if err := enc.Encode(&struct{ wireRound }{wireRound{envelopeOf(m), wireVoters{}, Incarnation{6}, 7}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(payload, before.Bytes()) {
		t.Errorf("got  %x\nwant %x", payload, before.Bytes())
	}
}

func TestLeaderships(t *testing.T) {
	all := []Leadership{{MaxTerm, MaxNodeID, Incarnation{15: 1}}, {1, 1, Incarnation{1}}}
	packed := PackLeaderships(all)
	if err := packed.Validate(); err != nil || !slices.Equal(packed.All(), all) {
		t.Errorf("%v came back as %v, %v", all, packed.All(), err)
	}
	if PackLeaderships(nil) != "" || Leaderships("").All() != nil {
		t.Error("no leaderships are not none")
	}
	many := make([]Leadership, MaxLeaderships+1)
	for i := range many {
		many[i] = all[1]
	}
	for name, bad := range map[string]Leaderships{
		"cut short": packed[1:], "too many": PackLeaderships(many),
		"term 0":         PackLeaderships([]Leadership{{0, 1, Incarnation{1}}}),
		"term high":      PackLeaderships([]Leadership{{MaxTerm + 1, 1, Incarnation{1}}}),
		"nobody":         PackLeaderships([]Leadership{{1, 0, Incarnation{1}}}),
		"no incarnation": PackLeaderships([]Leadership{{1, 1, Incarnation{}}}),
	} {
		m := Message{From: 1, To: 2, Term: 3, Body: Vote{Incarnation: Incarnation{6}, Nonce: 7, Former: bad}}
		if _, _, err := Marshal(m); !errors.Is(err, ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := Message{From: 1, To: 2, Term: 3, Body: Vote{
		Incarnation: Incarnation{6}, Nonce: 7, Former: PackLeaderships(many[:MaxLeaderships]),
	}}
	if kind, payload, err := Marshal(full); err != nil {
		t.Error(err)
	} else if back, err := kind.Unmarshal(payload); err != nil || back != full {
		t.Errorf("as many as there may be: %v", err)
	}
}
