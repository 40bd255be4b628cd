package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// Lease is a lease that the node has lent to the client. No other answer permits the client to act
// as the leader.
type Lease struct {
	Self proto.NodeID `json:"self"`
	ID   uint64       `json:"id"` // identifies the lease in this process of the node, to return it
	Term proto.Term   `json:"term"`
	// FencingToken must be sent with each request to a storage.
	FencingToken fence.Token `json:"fencing_token"`
	// ValidForMS is for how many milliseconds the lease is lent. The client counts them by its own clock from
	// a moment BEFORE IT SENT the request; a client that counts them from the answer uses the lease for too
	// long. The clock must go on while the machine is suspended, as CLOCK_BOOTTIME does.
	ValidForMS int64 `json:"valid_for_ms"`

	Security string `json:"security,omitempty"` // see Leadership
}

func (l Lease) from() proto.NodeID { return l.Self }

// ValidFor returns ValidForMS as a duration.
func (l Lease) ValidFor() time.Duration { return time.Duration(l.ValidForMS) * time.Millisecond }

// Lender lends the node's lease.
type Lender interface {
	// Lend lends the lease. Errors wrap ErrNotLeader, ErrNoLeader or ErrConflict. Any
	// goroutine may call it.
	Lend(ctx context.Context) (Lease, error)
	// Return ends the loan of a lease. It reports false if the loan had ended. Any goroutine may call it.
	Return(id uint64) bool
}

// ErrNotLeader says that another node leads than the one that was asked for its lease.
var ErrNotLeader = errors.New("not the leader")

const (
	leasePath = "/v1/lease"
	lendHint  = "POST asks for a lease, DELETE " + leasePath + "/ID gives it back"
)

// borrow is the body of a request for a lease; an empty one is the zero borrow.
type borrow struct {
	// Renews is the id of an earlier lease of the same node, which the new lease replaces.
	Renews uint64 `json:"renews,omitempty"`
}

// notLent is the answer to a client that gets no lease.
type notLent struct {
	refusal
	NotLeader bool `json:"not_leader,omitempty"`
}

func lend(l Lender) http.HandlerFunc {
	return only(http.MethodPost, lendHint, func(w http.ResponseWriter, r *http.Request) {
		allowWaiting(w)
		var b borrow
		body, err := readBody(r)
		if err == nil {
			err = parseObject(body, &b, `{"renews": 7}, or nothing`)
		}
		if err != nil {
			write(w, http.StatusBadRequest, refusal{err.Error()})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), DoPatience)
		defer cancel()
		lease, err := l.Lend(ctx)
		if err != nil {
			code := statusOf(err)
			elsewhere := errors.Is(err, ErrNotLeader) || errors.Is(err, ErrNoLeader)
			write(w, code, notLent{refusal{err.Error()}, elsewhere && code != http.StatusGatewayTimeout})
			return
		}
		if b.Renews != 0 {
			l.Return(b.Renews)
		}
		write(w, http.StatusOK, lease)
	})
}

// giveBack answers DELETE /v1/lease/ID.
func giveBack(l Lender) http.HandlerFunc {
	return only(http.MethodDelete, "only DELETE", func(w http.ResponseWriter, r *http.Request) {
		text := strings.TrimPrefix(r.URL.Path, leasePath+"/")
		id, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err != nil:
			write(w, http.StatusBadRequest, refusal{fmt.Sprintf("lease %q: want the id of a lease, as %s/7",
				text, leasePath)})
		case !l.Return(id):
			write(w, http.StatusNotFound, refusal{fmt.Sprintf("lease %d has ended, or this process of the node "+
				"never lent it: there is nothing to give back", id)})
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

// Lend asks the node, which must lead, for its lease. The new lease replaces the lease with the id renews,
// which the node lent before; 0 means that it replaces none. Errors wrap ErrUnreachable, ErrNotANode,
// ErrNotLeader, ErrConflict, ErrForbidden or context.DeadlineExceeded. If the node said why, they also wrap a
// Told.
//
// The caller must read its clock before the call: Lease.ValidForMS counts from there.
func (c Client) Lend(ctx context.Context, renews uint64) (Lease, error) {
	lease, err := change[Lease](ctx, c, leasePath, borrow{renews})
	if err == nil && lease.ValidForMS <= 0 {
		err = notANode(errors.New("a lease without a duration"))
	}
	if err != nil {
		return Lease{}, fmt.Errorf("lease: ask %s: %w", c.Addr, err)
	}
	return lease, nil
}

// Return returns a lease that the node lent. Errors are as with Lend; for a lease that has ended, the error
// wraps ErrConflict.
func (c Client) Return(ctx context.Context, id uint64) error {
	status, body, err := c.exchange(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", leasePath, id), nil)
	switch {
	case err != nil:
	case status == http.StatusNoContent:
		return nil
	case status == http.StatusNotFound:
		err = told(status, body, ErrConflict)
	default:
		err = told(status, body, errorOf(status))
	}
	return fmt.Errorf("give lease %d back: ask %s: %w", id, c.Addr, err)
}
