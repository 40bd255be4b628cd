package httpapi

import (
	"bytes"
	"cmp"
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

// Verb is a request of an operator.
type Verb string

// The verbs.
const (
	// Transfer hands leadership over to Order.To or, if that is zero, to the best node that is eligible. Any
	// node may be asked: a node that does not lead passes the request on to the leader.
	Transfer Verb = "transfer"
	// Resign makes the asked node, which must lead, step down. The node does not lead
	// again until Resume or a restart.
	Resign Verb = "resign"
	// Pause keeps the asked node from leading until Resume or a restart. The node steps
	// down if it leads. With Order.Cluster no node calls an election, and the present
	// leader goes on.
	Pause Verb = "pause"
	// Resume ends Pause and Resign, or with Order.Cluster the cluster's pause.
	Resume Verb = "resume"
	// Elect makes the asked node call an election, and waits until there is a leader. A leader that has a lease
	// stays: the request then changes nothing.
	Elect Verb = "elect"
)

var verbs = []Verb{Transfer, Resign, Pause, Resume, Elect}

// path returns where the verb is posted to.
func (v Verb) path() string {
	if v == Elect {
		return "/v1/elections"
	}
	return "/v1/" + string(v)
}

// Order is the body of a request; an empty body is the zero Order.
type Order struct {
	To      proto.NodeID `json:"to,omitempty"`      // for Transfer
	Cluster bool         `json:"cluster,omitempty"` // for Pause and Resume
	// Reason is a text for people. Records and answers show it. It has at most MaxReason bytes, all
	// printable.
	Reason string `json:"reason,omitempty"`
	// By says who asks, for the record. A node that passes a request on sets By. Otherwise By is the address
	// from which the request came.
	By string `json:"by,omitempty"`
}

// MaxReason is the longest Order.Reason and Order.By, in bytes.
const MaxReason = 200

// Done is the result of a request.
type Done struct {
	Self proto.NodeID `json:"self"` // the node that carried it out
	// Done says what happened, in a sentence.
	Done   string       `json:"done"`
	Leader proto.NodeID `json:"leader"` // the leader, as Self knows it then; 0 is nobody
	Term   proto.Term   `json:"term"`
	// Millis is how many milliseconds the request took, as Self measured; for a transfer, until the successor
	// led; for an election, until there was a leader.
	Millis float64 `json:"millis"`

	Security string `json:"security,omitempty"` // see Leadership
}

func (d Done) from() proto.NodeID { return d.Self }

// Control carries out requests.
type Control interface {
	// Do carries out a request. It returns when the request is carried out, or when ctx is done. Any
	// goroutine may call it. Errors that wrap ErrConflict, ErrForbidden, ErrNoLeader or
	// context.DeadlineExceeded have an HTTP status of their own.
	Do(ctx context.Context, v Verb, o Order) (Done, error)
}

// Why a request was not carried out.
var (
	// ErrConflict: the request cannot be carried out now. Nothing changed, unless the text says who leads instead.
	ErrConflict = errors.New("refused")
	// ErrNoLeader: nobody leads.
	ErrNoLeader = errors.New("nobody leads")
	// ErrForbidden: the client may not change the node.
	ErrForbidden = errors.New("not allowed")
)

const (
	// DoPatience is how long a node tries to carry a request out.
	DoPatience = 20 * time.Second
	maxOrder   = 4 << 10 // bytes
)

// command returns the handler for the path of one verb.
func command(c Control, v Verb) http.HandlerFunc {
	return only(http.MethodPost, "only POST", func(w http.ResponseWriter, r *http.Request) {
		allowWaiting(w)
		o, err := readOrder(r, v)
		if err != nil {
			write(w, http.StatusBadRequest, refusal{err.Error()})
			return
		}
		// The request is carried out to its end also when the client goes away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), DoPatience)
		defer cancel()
		done, err := c.Do(ctx, v, o)
		if err != nil {
			write(w, statusOf(err), refusal{err.Error()})
			return
		}
		write(w, http.StatusOK, done)
	})
}

// allowWaiting extends the time limit of an answer by the time that carrying out a request may take. The
// server's own limit is for answers that need no waiting.
func allowWaiting(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(DoPatience + limits.Answer))
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrNotLeader):
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
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
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
	err = cmp.Or(o.fits(v), validateText("reason", o.Reason), validateText("by", o.By))
	o.By = requester(r, o.By)
	return o, err
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxOrder))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return body, nil
}

// parseObject reads one JSON object into into. The object may have only the fields of into. An empty body
// changes nothing. The error shows the text like, which is an example of an object.
func parseObject(body []byte, into any, like string) error {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil
	}
	if body[0] != '{' {
		return fmt.Errorf("the request is no object: want one like %s", like)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := other.Field[strings.LastIndex(other.Field, ".")+1:] // without the struct that it is in
		err = fmt.Errorf("%q takes no %s", field, other.Value)
	}
	if err != nil {
		return fmt.Errorf("%w: want an object like %s", err, like)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("the request is more than one JSON object")
	}
	return nil
}

// parseOrder reads an Order. If the body names a successor, the name must be a valid node id. The id 0 does
// not ask for the best node: it is a mistake, for example of a script whose variable is empty.
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

// fits returns an error if the order has fields that the verb does not take. To pause node 2 one
// has to ask node 2: if another node ignored "to", it would pause itself.
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
