package sim

import (
	"bytes"
	"fmt"
	"testing"
	"text/template"
)

// quorumMutants are the rules of the algorithms that count a quorum themselves, one
// removed at a time. Not in the list, for no run can tell: one that sent ACK does not
// stand in the term, and nothing makes it try; a CHOSEN for a former life is dropped,
// which would be told by another incarnation; and what only saves messages or time.
func quorumMutants() []mutant {
	const (
		phases    = "zookeeper/phases.go"
		zookeeper = "zookeeper/zookeeper.go"
		acceptor  = "consensus/acceptor.go"
		proposer  = "consensus/proposer.go"
		consensus = "consensus/consensus.go"
		count     = "quorum/quorum.go"
	)
	return []mutant{
		{
			"Each process ACKs to at most one that stands", phases,
			"case r.ack.term == r.core.Term() && !r.ack.to.Is(b.Candidate):",
			"case false:", "one-ack",
		},
		{
			"at most one: and so a term has one leader", phases,
			"case r.ack.term == r.core.Term() && !r.ack.to.Is(b.Candidate):",
			"case false:", "one-leader-a-term",
		},
		{
			"only the next in line calls an election at once", zookeeper,
			"if !above {\n\t\treturn false",
			"if true || !above {\n\t\treturn false", herd,
		},
		{
			"the others call one after WatchTimeout", zookeeper,
			"r.core.SetTimer(WatchTimeout(r.core.Delta()))",
			"r.core.SetTimer(time.Hour)", agreement.Name,
		},
		{
			"at most one, across restarts", "nomination/core.go",
			"func (c *Core) MayVote() bool { return c.term > c.bound }",
			"func (c *Core) MayVote() bool { return true }", "one-ack",
		},
		{
			"who receives quorum of ACKs: a voter counts once", count,
			"if !slices.Contains(c.yes, id) {", "if true {", "committed-by-quorum",
		},
		{
			"who receives quorum of ACKs", phases,
			"if r.acks.Of(r.voters) {",
			"if r.acks.Len() > 0 {", "committed-by-quorum",
		},
		{
			"a quorum: any two have a voter in common", "quorum/quorum.go",
			"return len(v)/2 + 1",
			"return (len(v) + 1) / 2", "one-leader-a-term",
		},
		{
			"a promise not to accept any more proposals numbered less than n", acceptor,
			"case b.Compare(s.promised) < 0:",
			"case false:", "keeps-ballots",
		},
		{
			"a promise not to accept: and so one value is chosen", acceptor,
			"case b.Compare(s.promised) < 0:",
			"case false:", "one-chosen",
		},
		{
			"the highest-numbered proposal that it has accepted", acceptor,
			"Last: s.last, Accepted: s.value}",
			"}", "one-chosen",
		},
		{
			"v is the value of the highest-numbered proposal among the responses", proposer,
			"case r.bound.ID != 0:",
			"case false:", "one-chosen",
		},
		{
			"the highest-numbered", proposer,
			"b.Last.Compare(r.last) > 0 {",
			"b.Last.Compare(r.last) < 0 {", "one-chosen",
		},
		{
			"from a majority of acceptors", proposer,
			"if !r.promises.Of(r.voters) {",
			"if r.promises.Len() == 0 {", "one-chosen",
		},
		{
			"accepted by a majority of acceptors", proposer,
			"case !r.accepts.Of(r.voters):",
			"case r.accepts.Len() == 0:", "one-chosen",
		},
		{
			"accepted by a majority: a voter counts once", count,
			"if !slices.Contains(c.yes, id) {", "if true {", "one-chosen",
		},
		{
			"a process must remember what it promised", consensus,
			"if r.acceptor.term != r.core.Term() {",
			"if r.phase == idle || r.acceptor.term != r.core.Term() {", "keeps-ballots",
		},
		{
			"a former life can have taken part in no term above what it had reserved", acceptor,
			"case !r.core.MayVote():",
			"case false:", "keeps-ballots",
		},
	}
}

// herd is no invariant: a crash that all notice costs more messages than the best case.
const herd = "herd"

// quorumRuns is how many fault schedules such a mutant may survive. They take longer
// to get near to a second majority.
const quorumRuns = 4000

// Each rule of a quorum is needed: without it, a random fault schedule breaks an
// invariant. "Votes twice a term; counts an ACK twice; commits without a quorum".
func TestLongEachRuleOfAQuorumIsNeeded(t *testing.T) {
	all := quorumMutants()
	program := copies{[]string{"quorum", "nomination", "zookeeper", "consensus"}, all}.build(t, quorumMutantsMain, all)
	var asked bytes.Buffer
	for i, m := range all {
		name := "zookeeper"
		if m.breaks == "keeps-ballots" || m.breaks == "one-chosen" { // what zookeeper has none of
			name = "consensus"
		}
		fmt.Fprintf(&asked, "m%d %s %d %s\n", i, m.breaks, quorumRuns, name)
	}
	wantCaught(t, program, &asked, all)
}

// An invariant that nothing was ever seen to break proves nothing.
func TestEachInvariantOfAQuorumIsBroken(t *testing.T) {
	wantBroken(t, quorumMutants(), quorumCheckers())
}

// quorumMutantsMain reads lines of a mutant's name, an invariant, a number of runs and
// an algorithm, and writes what run broke the invariant.
var quorumMutantsMain = template.Must(template.New("").Parse(`package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"

	"` + module + `/algorithms"
	"` + module + `/algorithms/catalog"
	"` + module + `/internal/sim"
	"` + module + `/proto"
	{{range $i, $m := .}}
	z{{$i}} "` + module + `/algorithms/mutants/m{{$i}}/zookeeper"
	c{{$i}} "` + module + `/algorithms/mutants/m{{$i}}/consensus"
	{{- end}}
)

var mutants = map[string]func(algorithms.Config) algorithms.Machine{
	{{- range $i, $m := .}}
	"m{{$i}} zookeeper": func(c algorithms.Config) algorithms.Machine { return z{{$i}}.New(c) },
	"m{{$i}} consensus": func(c algorithms.Config) algorithms.Machine { return c{{$i}}.New(c) },
	{{- end}}
}

func main() {
	var workers sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var name, invariant, algorithm string
		var runs uint64
		fmt.Sscan(lines.Text(), &name, &invariant, &runs, &algorithm)
		slots <- true
		workers.Go(func() {
			fmt.Println(name, hunt(mutants[name+" "+algorithm], invariant, runs, algorithm))
			<-slots
		})
	}
	workers.Wait()
}

func hunt(
	mutant func(algorithms.Config) algorithms.Machine, invariant string, runs uint64, algorithm string,
) string {
	others := map[string]int{}
	e, _ := catalog.Lookup(algorithm)
	a := sim.Algorithm{Name: e.Name, Guarantee: e.Guarantee, Agreement: e.Agreement, New: mutant}
	if invariant == "` + herd + `" {
		r, err := sim.Run(sim.Options{
			Algorithm: a, Nodes: 10, Initiators: []proto.NodeID{1}, Crashed: []proto.NodeID{10}, Detector: sim.Perfect,
		})
		if err != nil || r.Messages["total"] <= e.Theory.Best(9) {
			return fmt.Sprint(r.Messages, err)
		}
		return fmt.Sprint(r.Repro, ": ", r.Messages)
	}
	for seed := range runs {
		r, err := sim.Run(sim.Options{Seed: seed, Algorithm: a})
		if err != nil {
			return err.Error()
		}
		for _, v := range r.Violations {
			if v.Name == invariant {
				return fmt.Sprint(r.Repro, ": ", v.Detail)
			}
			others[v.Name]++
		}
	}
	return fmt.Sprint("other violations: ", others)
}
`))
