package bench

import (
	"errors"
	"time"
)

// prover is a cluster with a storage, and a worker beside each node.
type prover struct {
	FencingOptions
	*Crew
	rig  *rig
	done map[string]int // faults by kind
}

// thinking is how long a prover's workers take between a look and a write.
const thinking = 10 * time.Millisecond

// startProver starts everything.
func startProver(o FencingOptions) (*prover, error) {
	r, err := o.start(mayCut(o.Nodes) == nil)
	if err != nil {
		return nil, err
	}
	crew, err := StartCrew(CrewConfig{
		Cluster: r.Cluster, Binary: o.Binary, Work: o.Work, Dir: o.Dir, Think: thinking,
	})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return &prover{FencingOptions: o, Crew: crew, rig: r, done: map[string]int{}}, nil
}

func (p *prover) close() error { return errors.Join(p.Close(), p.rig.close()) }
