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
	m := Message{From: 1, To: 2, Term: 3, Seq: 4, HLC: HLC{Micros: 5}, Body: Vote{Session: Session{6}, Nonce: 7}}
	_, payload, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var before bytes.Buffer
	enc := msgpack.NewEncoder(&before)
	enc.UseCompactInts(true)
	if err := enc.Encode(&struct{ wireRound }{wireRound{envelopeOf(m), wireVoters{}, Session{6}, 7}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(payload, before.Bytes()) {
		t.Errorf("got  %x\nwant %x", payload, before.Bytes())
	}
}

func TestEpochs(t *testing.T) {
	all := []Epoch{{MaxTerm, MaxNodeID, Session{15: 1}}, {1, 1, Session{1}}}
	packed := PackEpochs(all)
	if err := packed.Validate(); err != nil || !slices.Equal(packed.All(), all) {
		t.Errorf("%v came back as %v, %v", all, packed.All(), err)
	}
	if PackEpochs(nil) != "" || Epochs("").All() != nil {
		t.Error("no epochs are not none")
	}
	many := make([]Epoch, MaxEpochs+1)
	for i := range many {
		many[i] = all[1]
	}
	for name, bad := range map[string]Epochs{
		"cut short": packed[1:], "too many": PackEpochs(many),
		"term 0":     PackEpochs([]Epoch{{0, 1, Session{1}}}),
		"term high":  PackEpochs([]Epoch{{MaxTerm + 1, 1, Session{1}}}),
		"nobody":     PackEpochs([]Epoch{{1, 0, Session{1}}}),
		"no session": PackEpochs([]Epoch{{1, 1, Session{}}}),
	} {
		m := Message{From: 1, To: 2, Term: 3, Body: Vote{Session: Session{6}, Nonce: 7, Former: bad}}
		if _, _, err := Marshal(m); !errors.Is(err, ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := Message{From: 1, To: 2, Term: 3, Body: Vote{
		Session: Session{6}, Nonce: 7, Former: PackEpochs(many[:MaxEpochs]),
	}}
	if kind, payload, err := Marshal(full); err != nil {
		t.Error(err)
	} else if back, err := kind.Unmarshal(payload); err != nil || back != full {
		t.Errorf("as many as there may be: %v", err)
	}
}
