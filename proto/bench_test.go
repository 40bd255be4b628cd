package proto

import "testing"

// election is a message as elections have most of them: it names a process.
type election struct {
	Candidate Peer `msgpack:"p"`
}

var kindElection = NewKind[election](202, "ELECTION", "I call an election", Nominates)

func (election) Kind() Kind        { return kindElection }
func (b election) String() string  { return Describe(b, "candidate", b.Candidate) }
func (b election) Validate() error { return b.Candidate.ID.Validate() }

// electionMessage is an ELECTION as a running cluster sends it.
func electionMessage() Message {
	return Message{
		From: 4, To: 5, Term: 17, Seq: 312, HLC: HLC{Micros: 1795186664073742, Logical: 2},
		Body: election{Candidate: Peer{ID: 4, Incarnation: Incarnation{1, 2, 3, 4}, Attr: 8_192}},
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
		if _, err := kind.Unmarshal(payload); err != nil {
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
