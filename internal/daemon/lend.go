package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// TokenOf returns the fencing token of this process as the leader of a term.
func (d *Daemon) TokenOf(term proto.Term) fence.Token {
	return fence.Token{Term: term, Leader: d.ID, Incarnation: d.Incarnation}
}

// lender lends the lease of the daemon's node.
type lender struct{ *Daemon }

// Lend implements httpapi.Lender.
func (l lender) Lend(ctx context.Context) (httpapi.Lease, error) {
	loan, err := l.Node.Lend(ctx)
	if err != nil {
		return httpapi.Lease{}, l.because(err)
	}
	return httpapi.Lease{
		Self: l.ID, ID: loan.ID, Term: loan.Term, FencingToken: l.TokenOf(loan.Term),
		ValidForMS: loan.For.Milliseconds(),
	}, nil
}

// because returns the API's error for the error of a node that does not lend.
func (l lender) because(err error) error {
	if !errors.Is(err, node.ErrNotLent) {
		return err
	}
	switch leader := l.Node.Status().Leader.ID; {
	case !l.Leased():
		return fmt.Errorf("%w: %w: name the voters, or a store", httpapi.ErrConflict, err)
	case leader == 0:
		return fmt.Errorf("%w: %w", httpapi.ErrNoLeader, err)
	case leader != l.ID:
		return fmt.Errorf("%w: %w", httpapi.ErrNotLeader, err)
	}
	return fmt.Errorf("%w: %w", httpapi.ErrConflict, err)
}

// Return implements httpapi.Lender.
func (l lender) Return(id uint64) bool { return l.Node.Return(id) }
