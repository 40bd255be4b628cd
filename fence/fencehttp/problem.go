package fencehttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/web"
)

// Problem is the answer to a request that was not done (RFC 9457).
type Problem struct {
	Type   string `json:"type"`   // the address of a text about such problems
	Title  string `json:"title"`  // the same for every problem of the type
	Status int    `json:"status"` // the HTTP status
	Detail string `json:"detail"` // what happened, and what to do
	// Current is the highest token, if the request's token is stale.
	Current fence.Token `json:"current,omitzero"`
}

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Docs is the beginning of a problem's type: the address of the page that describes the types. The
// name of the type follows.
const Docs = "https://github.com/ringleader-dev/ringleader/blob/main/docs/FENCING.md#"

// Refuse answers a request that could not be done because of err.
func Refuse(w http.ResponseWriter, err error) { Describe(err).Write(w) }

// Describe returns the Problem for err. An unknown error is a failure of the server.
func Describe(err error) Problem {
	for _, k := range known {
		if !errors.Is(err, k.err) {
			continue
		}
		p := Problem{Type: Docs + k.name, Title: k.err.Error(), Status: k.status}
		p.Detail = err.Error() + ": " + k.advice
		if stale, ok := errors.AsType[*fence.StaleError](err); ok {
			p.Current = stale.Highest
		}
		return p
	}
	return Problem{
		Type: Docs + "failed", Title: "the write failed",
		Status: http.StatusInternalServerError, Detail: err.Error(),
	}
}

// known lists the problems by their causes; the first that matches err counts.
var known = []struct {
	err    error
	status int
	name   string // of the type
	advice string
}{
	{
		fence.ErrOtherHolder, http.StatusPreconditionFailed, "other-holder",
		"stop, and find out what granted one term twice",
	},
	{
		fence.ErrStaleToken, http.StatusPreconditionFailed, "stale-token",
		"stop: you do not lead any more",
	},
	{
		fence.ErrUnsealed, http.StatusPreconditionFailed, "unsealed-token",
		"or leave the token out to read as anybody",
	},
	{
		fence.ErrNoToken, http.StatusPreconditionRequired, "no-token",
		"show the one of your leadership in the header " + Header,
	},
	{
		fence.ErrMalformedToken, http.StatusBadRequest, "malformed-token",
		"show the one of your leadership in one header " + Header + ", letter for letter",
	},
	{
		context.DeadlineExceeded, http.StatusServiceUnavailable, "busy",
		"lower tokens are refused by now; try again",
	},
	{
		context.Canceled, http.StatusServiceUnavailable, "busy",
		"lower tokens are refused by now; try again",
	},
}

// Write sends the answer.
func (p Problem) Write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"status":500}`) // a Problem is always JSON
		p.Status = http.StatusInternalServerError
	}
	body = append(body, '\n')
	if !p.Current.IsZero() {
		w.Header().Set(Header, p.Current.String())
	}
	web.Answer(w, p.Status, ProblemType, body)
}
