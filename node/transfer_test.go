package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// belief is that node id leads term.
func belief(id proto.NodeID, term proto.Term) algorithms.Leader {
	return algorithms.Leader{ID: id, Term: term}
}

// handing is a Machine that leads term 7. A Transfer ends at the next Timeout as
// end says, and after another one next leads.
type handing struct {
	end     algorithms.TransferEnd
	next    algorithms.Leader
	under   bool
	believe algorithms.Leader
	gone    bool
	due     time.Time
}

func (m *handing) step(now time.Time, ev algorithms.Event) (algorithms.Output, bool) {
	out := algorithms.Output{Deadline: m.due}
	switch ev.(type) {
	case algorithms.Start:
		m.believe = belief(self, 7)
	case algorithms.Transfer:
		m.under = true
		out.Deadline = now.Add(time.Second)
	case algorithms.Timeout:
		out.Deadline = time.Time{}
		switch {
		case m.under:
			end := m.end
			out.Transfer, m.under = &end, false
			if end.Refused == "" {
				m.believe, m.gone = belief(0, 7), true
				out.Deadline = now.Add(time.Second)
			}
		case m.gone:
			m.believe = m.next
		}
	}
	out.Leader, m.due = m.believe, out.Deadline
	return out, true
}

// Promise: Transfer "returns the new belief once the successor leads. Errors wrap
// ErrRefused when nothing changed, ErrNotTaken when another leads instead,
// ErrStopped, or the cause of ctx."
func TestTransfer(t *testing.T) {
	cases := []struct {
		name  string
		m     handing
		limit time.Duration
		want  error
		words string
	}{
		{"taken over", handing{end: algorithms.TransferEnd{To: 2}, next: belief(2, 8)}, time.Minute, nil, ""},
		{
			"refused",
			handing{end: algorithms.TransferEnd{To: 2, Refused: "it is dead"}},
			time.Minute, ErrRefused, "to node 2: it is dead",
		},
		{
			"refused, to nobody",
			handing{end: algorithms.TransferEnd{Refused: "nobody leads"}},
			time.Minute, ErrRefused, "no transfer: nobody leads",
		},
		{
			"another took over",
			handing{end: algorithms.TransferEnd{To: 2}, next: belief(3, 8)},
			time.Minute, ErrNotTaken, "node 3 leads",
		},
		{
			"the former leader again",
			handing{end: algorithms.TransferEnd{To: 2}, next: belief(self, 9)},
			time.Minute, ErrNotTaken, "",
		},
		{
			"no answer in time",
			handing{end: algorithms.TransferEnd{To: 2}},
			time.Second / 2,
			context.DeadlineExceeded, "",
		},
		{
			"nobody took over in time",
			handing{end: algorithms.TransferEnd{To: 2}},
			time.Minute,
			context.DeadlineExceeded, "",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, c.m.step)
				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()
				l, err := f.Transfer(ctx, 2, "a test")
				if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.words) {
					t.Errorf("Transfer = %+v, %v; want %v with %q", l, err, c.want, c.words)
				}
				if err == nil && l != c.m.next {
					t.Errorf("the leader is %+v", l)
				}
				if err := f.stop(); err != nil {
					t.Error(err)
				}
				if _, err := f.Transfer(t.Context(), 2, ""); !errors.Is(err, ErrStopped) {
					t.Errorf("after its end: %v", err)
				}
			})
		})
	}
}

// The cause with which work ends says to whom leadership was handed, or who leads instead.
func TestCauseNamesTheNextLeader(t *testing.T) {
	taken := &algorithms.TransferEnd{To: 2}
	refused := &algorithms.TransferEnd{To: 2, Refused: "it is dead"}
	for want, last := range map[string]algorithms.Output{
		"leadership was handed to node 2":              {Transfer: taken, Leader: belief(0, 7)},
		"this node leads no more":                      {Transfer: refused, Leader: belief(0, 7)},
		"this node leads no more: node 3 leads term 8": {Leader: belief(3, 8)},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
					if _, ok := ev.(algorithms.Campaign); ok {
						return last, true
					}
					return algorithms.Output{Leader: belief(self, 7)}, true
				})
				causes := make(chan error, 1)
				go lead(t, f, func(ctx context.Context, _ Lease) error {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return errDone
				})
				synctest.Wait()
				f.campaign("lose")
				if cause := <-causes; !errors.Is(cause, ErrNotLeader) || cause.Error() != want {
					t.Errorf("ends with %v", cause)
				}
				if err := f.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// One transfer at a time: the second is refused, the first ends as it does.
func TestTransferTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &handing{end: algorithms.TransferEnd{To: 2}, next: belief(2, 8)}
		f := start(t, m.step)
		first := make(chan error)
		go func() {
			_, err := f.Transfer(t.Context(), 2, "")
			first <- err
		}()
		synctest.Wait()
		if _, err := f.Transfer(t.Context(), 3, ""); !errors.Is(err, ErrRefused) {
			t.Errorf("the second: %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the first: %v", err)
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Promise: AwaitEligible "returns once the Machine has heard what SetEligible said before
// the call".
func TestHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard int
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			if _, ok := ev.(algorithms.Eligible); ok {
				heard++
			}
			return algorithms.Output{}, true
		})
		for i := range 20 {
			f.SetEligible("test", i%2 == 1, "")
			if err := f.AwaitEligible(t.Context()); err != nil {
				t.Fatal(err)
			}
			if heard != i+1 {
				t.Fatalf("heard %d changes of %d", heard, i+1)
			}
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		if err := f.AwaitEligible(t.Context()); !errors.Is(err, ErrStopped) {
			t.Errorf("after its end: %v", err)
		}
	})
}
