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

// Lease is a lease that the node has lent to whoever asked for it: the only answer that
// is a permission to act as the leader.
type Lease struct {
	Self proto.NodeID `json:"self"`
	ID   uint64       `json:"id"` // of this process of the node alone, to give it back by
	Term proto.Term   `json:"term"`
	// FencingToken is what a storage wants to see.
	FencingToken fence.Token `json:"fencing_token"`
	// ValidForMS is for how many milliseconds it is lent, from a moment BEFORE THE ASKER
	// SENT its question, by the asker's own clock. Counted from the answer it is too
	// long. The clock must go on while the machine is suspended, as CLOCK_BOOTTIME does.
	ValidForMS int64 `json:"valid_for_ms"`
}

// ValidFor is ValidForMS as a time.
func (l Lease) ValidFor() time.Duration { return time.Duration(l.ValidForMS) * time.Millisecond }

// Lender lends the node's lease.
type Lender interface {
	// Lend is called from any goroutine and returns what is lent, or why nothing is: an
	// error that wraps ErrNotLeader, ErrNoLeader or ErrConflict.
	Lend(ctx context.Context) (Lease, error)
	// Return gives a lease back, and reports whether it had not ended.
	Return(id uint64) bool
}

// ErrNotLeader says that another leads than the node that was asked for its lease.
var ErrNotLeader = errors.New("not the leader")

const leasePath = "/v1/lease"

// borrow is the body of a request for a lease; an empty one is the zero borrow.
type borrow struct {
	// Renews is a lease of the same node that this one takes the place of.
	Renews uint64 `json:"renews,omitempty"`
}

// notLent answers who gets no lease.
type notLent struct {
	refusal
	NotLeader bool `json:"not_leader,omitempty"`
}

func lend(l Lender) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			write(w, http.StatusMethodNotAllowed, refusal{r.Method + " is not allowed here: POST asks for a " +
				"lease, DELETE " + leasePath + "/ID gives it back"})
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(DoPatience + limits.Answer))
		b, err := readBorrow(r)
		if err != nil {
			write(w, http.StatusBadRequest, refusal{err.Error()})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), DoPatience)
		defer cancel()
		lease, err := l.Lend(ctx)
		if err != nil {
			code := statusOf(err)
			if errors.Is(err, ErrNotLeader) {
				code = http.StatusConflict
			}
			write(w, code, notLent{refusal{err.Error()}, code != http.StatusGatewayTimeout &&
				(errors.Is(err, ErrNotLeader) || errors.Is(err, ErrNoLeader))})
			return
		}
		if b.Renews != 0 {
			l.Return(b.Renews)
		}
		write(w, http.StatusOK, lease)
	}
}

func readBorrow(r *http.Request) (b borrow, err error) {
	body, err := readBody(r)
	if err != nil {
		return b, err
	}
	err = parseObject(body, &b, `{"renews": 7}, or nothing`)
	return b, err
}

// giveBack answers DELETE /v1/lease/ID.
func giveBack(l Lender) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodDelete {
			w.Header().Set("Allow", http.MethodDelete)
			write(w, http.StatusMethodNotAllowed, refusal{r.Method + " is not allowed here: only DELETE"})
			return
		}
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
	}
}

// Lend asks the node, which must lead, for its lease; renews is one that it lent before,
// and that this one takes the place of, or zero. Errors wrap ErrUnreachable, ErrNotANode,
// ErrNotLeader, ErrConflict, ErrForbidden or context.DeadlineExceeded, and a Told where
// the node said why.
//
// The caller reads its clock before the call: Lease.ValidForMS counts from there.
func (c Client) Lend(ctx context.Context, renews uint64) (Lease, error) {
	var said struct {
		Lease
		Error     string `json:"error"`
		NotLeader bool   `json:"not_leader"`
	}
	status, err := c.change(ctx, http.MethodPost, leasePath, borrow{renews}, &said)
	switch {
	case err != nil:
	case status == http.StatusOK && said.Self.Validate() == nil && said.ValidForMS > 0:
		return said.Lease, nil
	case status == http.StatusOK, said.Error == "":
		err = fmt.Errorf("%w: %d: does another program listen there?", ErrNotANode, status)
	case said.NotLeader:
		err = Told{said.Error, ErrNotLeader}
	default:
		err = Told{said.Error, errorOf(status)}
	}
	return Lease{}, fmt.Errorf("lease: ask %s: %w", c.Addr, err)
}

// Return gives a lease back that the node lent. Errors are as with Lend; one that has
// ended is ErrConflict.
func (c Client) Return(ctx context.Context, id uint64) error {
	var said refusal
	status, err := c.change(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", leasePath, id), nil, &said)
	switch {
	case err != nil:
	case status == http.StatusNoContent:
		return nil
	case said.Error == "":
		err = fmt.Errorf("%w: %d: does another program listen there?", ErrNotANode, status)
	case status == http.StatusNotFound:
		err = Told{said.Error, ErrConflict}
	default:
		err = Told{said.Error, errorOf(status)}
	}
	return fmt.Errorf("give lease %d back: ask %s: %w", id, c.Addr, err)
}
