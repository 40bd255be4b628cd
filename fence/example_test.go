package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// volatile forgets the highest token when the program ends. A real TokenStore writes it
// down before Seal returns.
type volatile struct{ highest fence.Token }

func (v *volatile) Highest() (fence.Token, error) { return v.highest, nil }
func (v *volatile) Seal(t fence.Token) error      { v.highest = t; return nil }

// A leader that was paused wakes up after another was elected, and writes.
func ExampleGuard() {
	guard, err := fence.NewGuard(&volatile{})
	if err != nil {
		panic(err)
	}
	write := func(t fence.Token) {
		leave, err := guard.Enter(context.Background(), t)
		var stale *fence.StaleError
		if errors.As(err, &stale) {
			fmt.Printf("the write of term %d is refused\n", t.Term)
			return
		}
		if err != nil {
			panic(err)
		}
		defer leave()
		fmt.Printf("the write of term %d is done\n", t.Term)
	}
	former := fence.Token{Term: 1, Leader: 3, Incarnation: proto.Incarnation{1}}
	present := fence.Token{Term: 2, Leader: 2, Incarnation: proto.Incarnation{2}}
	write(former)
	write(present)
	write(former)
	// Output:
	// the write of term 1 is done
	// the write of term 2 is done
	// the write of term 1 is refused
}
