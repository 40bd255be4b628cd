package sim

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// checker watches a run for one invariant. It sees every Step that had effects,
// before the node takes on the new belief and deadline, and must do with
// constant time a message.
type checker interface {
	// invariant is what must hold.
	invariant() Invariant
	// check returns what in the Step breaks it, "" for nothing.
	check(s *step) string
}

// Invariant is something that must hold in every run.
type Invariant struct {
	Name string `json:"invariant"`
	Rule string `json:"rule"` // one sentence
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant
	Seconds float64      `json:"seconds"` // true time since the run began
	Node    proto.NodeID `json:"node,omitempty"`
	Detail  string       `json:"detail"`
}

// String is the violation in one line.
func (v Violation) String() string {
	where := ""
	if v.Node != 0 {
		where = fmt.Sprintf(" at node %d", v.Node)
	}
	return fmt.Sprintf("[%7.3f] %s%s: %s (%s)", v.Seconds, v.Name, where, v.Detail, v.Rule)
}

// check shows a Step to every checker.
func (c *cluster) check(s *step) {
	if c.algo.Office {
		s.listen()
	}
	for _, k := range c.checkers {
		if detail := k.check(s); detail != "" {
			c.violated(k.invariant(), s.node.id, detail)
		}
	}
}

// violated reports a broken invariant, the first time only: what follows in the
// same run may be an echo.
func (c *cluster) violated(broken Invariant, id proto.NodeID, detail string) {
	for _, v := range c.violations {
		if v.Invariant == broken {
			return
		}
	}
	v := Violation{Invariant: broken, Seconds: c.now.Seconds(), Node: id, Detail: detail}
	c.violations = append(c.violations, v)
	c.trace.note(c.now, "VIOLATION %v", v)
}
