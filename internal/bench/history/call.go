package history

import "github.com/ringleader-dev/ringleader/fence"

// Kind says which operation a call asks for.
type Kind string

// The kinds of calls. A Get with a token reads as the leader; one without a token reads as any
// client.
const (
	Put  Kind = "put"
	Get  Kind = "get"
	Seal Kind = "seal"
)

// Outcome says what the client knows about the result of its call.
type Outcome string

// The outcomes.
const (
	Done Outcome = "done"
	// Stale: the storage refused the call, because it has seen the higher token Current.
	Stale Outcome = "stale"
	// Unknown: no answer came. The call took effect before Ended, or never.
	Unknown Outcome = "unknown"
	// Undone: the call never reached the storage.
	Undone Outcome = "undone"
)

// Call is one call to the storage.
type Call struct {
	Client int         `json:"client"`
	Kind   Kind        `json:"kind"`
	Key    string      `json:"key,omitempty"`
	Value  string      `json:"value,omitempty"` // what a Put wrote or a Get read; "" if the Get found none
	Token  fence.Token `json:"token,omitzero"`
	// Began is before the call left the client, Ended after its answer came, both in nanoseconds of
	// one clock. If the outcome is unknown, nothing of the call can be under way any more after
	// Ended.
	Began   int64       `json:"began"`
	Ended   int64       `json:"ended"`
	Outcome Outcome     `json:"outcome"`
	Current fence.Token `json:"current,omitzero"` // the token because of which it is Stale
}

// writes reports whether the call changes the storage if it is done.
func (c Call) writes() bool { return c.Kind != Get }
