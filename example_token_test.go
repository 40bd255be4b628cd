package ringleader_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/fence"
)

// storage takes a value from the leader only: not from one that was replaced and does not know
// it yet.
type storage struct {
	highest fence.Token
	value   string
}

func (s *storage) put(token fence.Token, value string) error {
	if err := fence.Admit(s.highest, token); err != nil {
		return err
	}
	s.highest, s.value = token, value
	return nil
}

// A lease may end between the last look at it and the act, so the storage looks at the fencing
// token, which the leader shows with every write.
func ExampleLease_Token() {
	node, err := ringleader.Start(context.Background(), ringleader.Config{
		ID: 2, Voters: []ringleader.NodeID{2}, FirstTerm: 7,
		GossipBind: "127.0.0.1:0", ElectionBind: "127.0.0.1:0", HTTPBind: "127.0.0.1:0",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Leave()
	var s storage
	done := errors.New("written")
	fmt.Println(node.Lead(context.Background(), func(_ context.Context, l ringleader.Lease) error {
		if err := s.put(l.Token(), "of this leader"); err != nil {
			return err
		}
		return done
	}))
	former := fence.Token{Term: 6, Leader: 1, Incarnation: [16]byte{1}}
	err = s.put(former, "late, of a former leader")
	fmt.Println(errors.Is(err, fence.ErrStaleToken), s.value)
	// Output:
	// written
	// true of this leader
}
