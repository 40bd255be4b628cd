package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Result is the outcome of one run.
type Result struct {
	Algorithm string       `json:"algorithm"`
	Nodes     int          `json:"nodes"`
	Seed      uint64       `json:"seed"`
	Leader    proto.NodeID `json:"leader"` // the leader that all living nodes agree on; 0 if they do not
	Term      proto.Term   `json:"term"`   // the highest term of any node
	// Messages counts the messages that were sent, those to dead nodes included. In an analysis it
	// counts only those that follow from the initiators' causes.
	Messages Counts `json:"messages"`
	// TransmissionTimes is the longest causal chain of messages and timeouts that
	// ends in a message, as the lecture notes count it.
	TransmissionTimes int         `json:"transmission_times"`
	Violations        []Violation `json:"violations"`
	// Finding says in words why an analysis ended without agreement although every rule was kept: what the
	// lecture notes call incompleteness. Empty if there is nothing to say.
	Finding string `json:"finding,omitempty"`
	// Missed says which of Options.Crashes waited for a message that never came.
	Missed []string `json:"missed,omitempty"`

	Preempt      bool    `json:"preempt"`
	DeltaSeconds float64 `json:"delta_seconds"`
	Steps        int     `json:"steps"`
	// Seconds is how long the run took in virtual time; in an analysis, how long the election took.
	Seconds float64 `json:"seconds"`
	// AgreedSeconds is the time from when the network was calm until all nodes agreed for good.
	// BoundSeconds is the longest time that this may take.
	AgreedSeconds float64 `json:"agreed_seconds"`
	BoundSeconds  float64 `json:"bound_seconds"`
	// LeaderlessSeconds is how long no node believed that it leads, and ContestedSeconds how long
	// more than one did. Best-effort algorithms do not bound these figures.
	LeaderlessSeconds float64 `json:"leaderless_seconds"`
	ContestedSeconds  float64 `json:"contested_seconds"`

	Drawn []string `json:"drawn"` // everything that the seed drew
	Repro string   `json:"repro"` // the command line that repeats the run
}

// result returns the outcome of the run.
func (c *cluster) result(o Options) Result {
	c.census.advance(c.now)
	c.facts.end(c)
	e, _ := c.census.leadership()
	return Result{
		Algorithm: c.algo.Name, Nodes: len(c.nodes), Seed: o.Seed,
		Leader: e.Leader, Term: c.highestTerm(),
		Messages: c.tally.counts(), TransmissionTimes: int(c.tally.deepest),
		Violations: append([]Violation{}, c.violations...),
		Preempt:    c.preempt, DeltaSeconds: c.delta.Seconds(),
		Steps: c.steps, Seconds: c.now.Seconds(),
		LeaderlessSeconds: c.census.leaderless.Seconds(),
		ContestedSeconds:  c.census.contested.Seconds(),
		Drawn:             []string{}, Repro: o.Repro(),
	}
}

func (c *cluster) highestTerm() proto.Term {
	var term proto.Term
	for _, n := range c.nodes {
		term = max(term, n.disk.Term)
		if n.life != nil {
			term = max(term, n.life.belief.Term)
		}
	}
	return term
}

// JSON returns the result as one line.
func (r Result) JSON() ([]byte, error) { return json.Marshal(r) }

// Text writes the result for people.
func (r Result) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Repro)
	for _, line := range r.Drawn {
		fmt.Fprintf(&b, "  drew %s\n", line)
	}
	fmt.Fprintf(&b, "algorithm           %s, %d nodes, preempt %v, delta %v\n",
		r.Algorithm, r.Nodes, r.Preempt, seconds(r.DeltaSeconds))
	fmt.Fprintf(&b, "seed                %d\n", r.Seed)
	fmt.Fprintf(&b, "leader              %v of term %d\n", orNobody(r.Leader), r.Term)
	fmt.Fprintf(&b, "messages            %s\n", r.Messages)
	fmt.Fprintf(&b, "transmission times  %d\n", r.TransmissionTimes)
	fmt.Fprintf(&b, "time                %v, nobody led for %v, more than one for %v\n",
		seconds(r.Seconds), seconds(r.LeaderlessSeconds), seconds(r.ContestedSeconds))
	if r.BoundSeconds > 0 {
		fmt.Fprintf(&b, "agreed              %v after calm, bound %v\n",
			seconds(r.AgreedSeconds), seconds(r.BoundSeconds))
	}
	if r.Finding != "" {
		fmt.Fprintf(&b, "finding             %s\n", r.Finding)
	}
	fmt.Fprintf(&b, "violations          %d\n", len(r.Violations))
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "  %v\n", v)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String returns a text such as "ELECTION 3, OK 2, total 5".
func (c Counts) String() string {
	parts := make([]string, 0, len(c))
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, c[kind]))
	}
	return strings.Join(parts, ", ") // "total" sorts last: kinds are capitals
}

func orNobody(id proto.NodeID) string {
	if id == 0 {
		return "nobody"
	}
	return id.String()
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond)
}
