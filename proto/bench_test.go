package proto

import "testing"

// electionMessage is a bully's ELECTION as a running cluster sends it.
func electionMessage() Message {
	return Message{
		From: 4, To: 5, Term: 17, Seq: 312, HLC: HLC{Micros: 1795186664073742, Logical: 2},
		Body: Election{Candidate: Peer{ID: 4, Session: Session{1, 2, 3, 4}, Attr: 8_192}},
	}
}

func BenchmarkMarshal(b *testing.B) {
	m := electionMessage()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Marshal(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	kind, payload, err := Marshal(electionMessage())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Unmarshal(kind, payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	_, payload, err := Marshal(electionMessage())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(payload); err != nil {
			b.Fatal(err)
		}
	}
}
