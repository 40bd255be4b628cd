// Package paxos has the numbers of ballots. The processes of a consensus compare them, and so do
// the programs that check the rules of the consensus.
package paxos

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ringleader-dev/ringleader/proto"
)

// Ballot numbers an attempt to have a value chosen: no two processes use the same Ballot. The zero
// Ballot is below all others.
type Ballot struct {
	Round uint64       `msgpack:"r"`
	By    proto.NodeID `msgpack:"i"`
}

// Compare returns a negative number if b is below c, a positive number if b is above c, and otherwise 0.
func (b Ballot) Compare(c Ballot) int {
	return cmp.Or(cmp.Compare(b.Round, c.Round), cmp.Compare(b.By, c.By))
}

// String returns the ballot in the form "round.proposer".
func (b Ballot) String() string { return fmt.Sprintf("%d.%d", b.Round, b.By) }

// Validate returns an error for a ballot that no proposer can begin.
func (b Ballot) Validate() error {
	if b.Round == 0 || b.Round > math.MaxInt64 {
		return fmt.Errorf("round %d of a ballot: 1 to %d", b.Round, int64(math.MaxInt64))
	}
	return b.By.Validate()
}

// Act says what the sender of a message does in a ballot. The message's body returns it from a method
// Act, for programs that check the rules of ballots.
type Act struct {
	Ballot Ballot
	// Opens says that the sender begins its own ballot.
	Opens bool
	// Accepts says that the sender accepts the ballot's value. Value is that value if the sender
	// proposes it.
	Accepts bool
	Value   proto.Incarnation
}
