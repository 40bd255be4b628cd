package sim

import (
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// checker checks one invariant during a run. It sees every Step that had effects, before the node
// takes over the new belief and deadline. It must work in constant time a message.
type checker struct {
	Invariant
	// check says how the Step breaks the invariant; "" if it does not.
	check func(s *step) string
}

// Invariant is something that must hold in every run.
type Invariant struct {
	Name string `json:"invariant"`
	Rule string `json:"rule"` // what must hold, in one sentence
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant
	Seconds float64      `json:"seconds"` // true time since the run began
	Node    proto.NodeID `json:"node,omitempty"`
	Detail  string       `json:"detail"`
}

// String returns the violation as one line.
func (v Violation) String() string {
	where := ""
	if v.Node != 0 {
		where = fmt.Sprintf(" at node %d", v.Node)
	}
	return fmt.Sprintf("[%7.3f] %s%s: %s (%s)", v.Seconds, v.Name, where, v.Detail, v.Rule)
}

// check shows a Step to every checker.
func (c *cluster) check(s *step) {
	if c.algo.Leased {
		s.listen()
	}
	for _, k := range c.checkers {
		if detail := k.check(s); detail != "" {
			c.violated(k.Invariant, s.node.id, detail)
		}
	}
}

// violated records a broken invariant. It records each invariant once in a run: later violations
// may be consequences of the first.
func (c *cluster) violated(broken Invariant, id proto.NodeID, detail string) {
	if slices.ContainsFunc(c.violations, func(v Violation) bool { return v.Invariant == broken }) {
		return
	}
	v := Violation{Invariant: broken, Seconds: c.now.Seconds(), Node: id, Detail: detail}
	c.violations = append(c.violations, v)
	c.trace.note(c.now, "VIOLATION %v", v)
}
