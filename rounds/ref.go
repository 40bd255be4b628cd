package rounds

import "fmt"

// Names says how records are named, so that `ringleader rounds record` finds just the one that is meant.
type Names struct {
	shared map[uint64]uint64 // by node: the highest number that two of its processes reached
}

// Of returns "node:seq", and adds the process's incarnation where another process of the node may have written a record
// of that number, too: "4:17@a41c77f0".
func (n *Names) Of(ref Ref) string {
	if n == nil || ref.Incarnation == "" || ref.Seq > n.shared[ref.Node] {
		return ref.String()
	}
	return ref.String() + "@" + ref.Incarnation
}

// String returns "node:seq".
func (r Ref) String() string { return fmt.Sprintf("%d:%d", r.Node, r.Seq) }

// IsZero reports whether r names neither a record nor the line by which a process says that it runs.
func (r Ref) IsZero() bool { return r == Ref{} }

// MarshalText returns what String returns, and adds the process's incarnation, since each process
// begins to count anew: "4:17@a41c77f0".
func (r Ref) MarshalText() ([]byte, error) {
	switch {
	case r.IsZero():
		return nil, nil
	case r.Incarnation == "":
		return []byte(r.String()), nil
	}
	return []byte(r.String() + "@" + r.Incarnation), nil
}
