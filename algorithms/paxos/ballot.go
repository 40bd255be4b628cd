// Package paxos has the numbers of ballots, which processes of a consensus and those that check
// its rules compare.
package paxos

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ringleader-dev/ringleader/proto"
)

// Ballot numbers an attempt at having a value chosen: no two processes have the same.
// The zero Ballot is below all.
type Ballot struct {
	Round uint64       `msgpack:"r"`
	By    proto.NodeID `msgpack:"i"`
}

// Compare is negative if b is below c, and positive if it is above.
func (b Ballot) Compare(c Ballot) int {
	return cmp.Or(cmp.Compare(b.Round, c.Round), cmp.Compare(b.By, c.By))
}

// String is "round.proposer".
func (b Ballot) String() string { return fmt.Sprintf("%d.%d", b.Round, b.By) }

// Validate refuses a ballot that nobody opens.
func (b Ballot) Validate() error {
	if b.Round == 0 || b.Round > math.MaxInt64 {
		return fmt.Errorf("round %d of a ballot: 1 to %d", b.Round, int64(math.MaxInt64))
	}
	return b.By.Validate()
}

// Act is what the sender of a message does in a ballot, for those that check the rules of
// ballots. The body has a method Act that says it.
type Act struct {
	Ballot Ballot
	// Opens: it is the sender's own ballot, which begins.
	Opens bool
	// Accepts: the sender accepts the ballot's value. Value is that, where it is the sender who
	// proposes it.
	Accepts bool
	Value   proto.Session
}
