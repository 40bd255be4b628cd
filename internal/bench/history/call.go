package history

import "github.com/ringleader-dev/ringleader/fence"

// Kind is what a call asks for.
type Kind string

// The kinds. A Get with a token reads as the leader, one without as anybody.
const (
	Put  Kind = "put"
	Get  Kind = "get"
	Seal Kind = "seal"
)

// Outcome is what a client learnt of its call.
type Outcome string

// The outcomes.
const (
	Done Outcome = "done"
	// Stale: refused, because of the token Current.
	Stale Outcome = "stale"
	// Unknown: no answer came. It may have been done before Return, or never.
	Unknown Outcome = "unknown"
	// Undone: it never reached the storage.
	Undone Outcome = "undone"
)

// Call is one call to the storage.
type Call struct {
	Client int         `json:"client"`
	Kind   Kind        `json:"kind"`
	Key    string      `json:"key,omitempty"`
	Value  string      `json:"value,omitempty"` // of a Put; of a Get that was done, "" for none
	Token  fence.Token `json:"token,omitzero"`
	// Began is before the call left the client, Ended after its answer came, both
	// in nanoseconds of one clock. Of an unknown outcome, Ended is when nothing of
	// the call could be under way any more.
	Began   int64       `json:"began"`
	Ended   int64       `json:"ended"`
	Outcome Outcome     `json:"outcome"`
	Current fence.Token `json:"current,omitzero"` // why it is Stale
}

// writes reports whether the call changes the storage if it is done.
func (c Call) writes() bool { return c.Kind != Get }
