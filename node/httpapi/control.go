package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/ringleader-dev/ringleader/proto"
)

// Verb is a wish of an operator: the last part of its path.
type Verb string

// The verbs.
const (
	// Transfer hands leadership over to To, without one to the best node that would.
	// Any node may be asked: it asks the leader.
	Transfer Verb = "transfer"
	// Resign makes the node that is asked, which must lead, step down, and stand
	// aside until Resume or a restart.
	Resign Verb = "resign"
	// Pause keeps the node that is asked from leading until Resume or a restart: it
	// steps down if it leads. With Cluster no node elects; who leads goes on.
	Pause Verb = "pause"
	// Resume ends Pause and Resign, or with Cluster the cluster's pause.
	Resume Verb = "resume"
)

var verbs = []Verb{Transfer, Resign, Pause, Resume}

// Order is the body of a wish; an empty body is the zero Order.
type Order struct {
	To      proto.NodeID `json:"to,omitempty"`      // Transfer
	Cluster bool         `json:"cluster,omitempty"` // Pause, Resume
	// Reason is for people, and stands in records and answers. At most MaxReason
	// bytes, printable.
	Reason string `json:"reason,omitempty"`
	// By is who asks, for the record. A node that passes a wish on sets it; else it
	// is the address of whoever asks.
	By string `json:"by,omitempty"`
}

// MaxReason bounds Order.Reason and Order.By.
const MaxReason = 200

// Done is what came of a wish.
type Done struct {
	Self proto.NodeID `json:"self"` // the node that carried it out
	// What happened, in a sentence.
	Done   string       `json:"done"`
	Leader proto.NodeID `json:"leader"` // as Self knows then; 0 is nobody
	Term   proto.Term   `json:"term"`
	// Millis is how long it took, Self says; for a transfer, until the successor led.
	Millis float64 `json:"millis"`
}

func (d Done) from() proto.NodeID { return d.Self }

// Control carries wishes out.
type Control interface {
	// Do is called from any goroutine and returns when the wish is carried out, or
	// ctx is done. Errors that wrap ErrConflict, ErrNoLeader or context's deadline
	// have an HTTP status of their own.
	Do(ctx context.Context, v Verb, o Order) (Done, error)
}

// Why a wish was not carried out.
var (
	// ErrConflict: it cannot be, as things are. Nothing changed.
	ErrConflict = errors.New("refused")
	// ErrNoLeader: nobody leads.
	ErrNoLeader = errors.New("nobody leads")
	// ErrForbidden: whoever asks may not.
	ErrForbidden = errors.New("not allowed")
)

const (
	// DoPatience is how long a node tries to carry a wish out.
	DoPatience = 20 * time.Second
	maxOrder   = 4 << 10 // bytes
)

// command answers the path of one verb.
func command(cfg Config, v Verb) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			write(w, http.StatusMethodNotAllowed, refusal{r.Method + " is not allowed here: only POST"})
			return
		}
		// The server's limit for answers is meant for those that need no waiting.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(DoPatience + limits.Answer))
		o, err := readOrder(r, v)
		if err != nil {
			write(w, http.StatusBadRequest, refusal{err.Error()})
			return
		}
		// What was begun goes on when the client goes away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), DoPatience)
		defer cancel()
		done, err := cfg.Control.Do(ctx, v, o)
		if err != nil {
			write(w, statusOf(err), refusal{err.Error()})
			return
		}
		write(w, http.StatusOK, done)
	}
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrConflict):
		return http.StatusConflict
	case errors.Is(err, ErrForbidden):
		return http.StatusForbidden
	case errors.Is(err, ErrNoLeader):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

func errorOf(status int) error {
	switch status {
	case http.StatusConflict, http.StatusBadRequest:
		return ErrConflict
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrForbidden
	case http.StatusServiceUnavailable:
		return ErrNoLeader
	case http.StatusGatewayTimeout:
		return context.DeadlineExceeded
	}
	return ErrNotANode
}

func readOrder(r *http.Request, v Verb) (Order, error) {
	body, err := readBody(r)
	if err != nil {
		return Order{}, err
	}
	o, err := parseOrder(body)
	if err != nil {
		return Order{}, err
	}
	if err := o.fits(v); err != nil {
		return Order{}, err
	}
	if err := validateText("reason", o.Reason); err != nil {
		return Order{}, err
	}
	if err := validateText("by", o.By); err != nil {
		return Order{}, err
	}
	o.By = asker(r, o.By)
	return o, nil
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxOrder))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return body, nil
}

// parseObject reads one JSON object with no fields but those of into, which an empty body
// leaves as it is. The error shows what one is like.
func parseObject(body []byte, into any, like string) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: want an object like %s", err, like)
	}
	if d.More() {
		return errors.New("the request is more than one JSON object")
	}
	return nil
}

// parseOrder is the Order that body is. A successor that is there must be a node: to
// say 0 is a slip, as of a script whose variable is empty, and no wish for the best.
func parseOrder(body []byte) (Order, error) {
	var said struct {
		Order
		To *proto.NodeID `json:"to"`
	}
	if err := parseObject(body, &said, `{"to": 3, "reason": "maintenance"}`); err != nil {
		return Order{}, err
	}
	o := said.Order
	if said.To == nil {
		return o, nil
	}
	if o.To = *said.To; o.To.Validate() != nil {
		return Order{}, fmt.Errorf(`"to": %w; leave "to" out for the best node that would`, o.To.Validate())
	}
	return o, nil
}

// fits refuses what the verb does not take: to pause node 2 one asks node 2, and to
// take the wish for one of the node that was asked would pause another.
func (o Order) fits(v Verb) error {
	switch {
	case o.To != 0 && v != Transfer:
		return fmt.Errorf(`%s is of the node that is asked, and takes no "to": ask node %v itself`, v, o.To)
	case o.Cluster && v != Pause && v != Resume:
		return fmt.Errorf(`%s takes no "cluster"`, v)
	}
	return nil
}

func validateText(what, s string) error {
	if len(s) > MaxReason || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return fmt.Errorf("%s: want at most %d bytes of printable text", what, MaxReason)
	}
	return nil
}
