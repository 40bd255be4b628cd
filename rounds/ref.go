package rounds

import "fmt"

// String returns "node:seq".
func (r Ref) String() string { return fmt.Sprintf("%d:%d", r.Node, r.Seq) }

// IsZero reports whether r names no record.
func (r Ref) IsZero() bool { return r.Seq == 0 }

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
