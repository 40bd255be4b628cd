package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/ringleader-dev/ringleader/internal/bench/rival"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// part is the job of a process that a benchmark starts beside the nodes, or that a node runs while
// it leads. One of its fields is set. The process is `ringleader bench part JSON`.
type part struct {
	Bare     *bareProcess `json:"bare,omitempty"`
	Worker   *worker      `json:"worker,omitempty"`
	Function *function    `json:"function,omitempty"`
	Rival    *rival.Rival `json:"rival,omitempty"`
}

// RunPart does the job that text describes as JSON, until in ends or somebody ends the process.
func RunPart(text string, in io.Reader, out io.Writer) error {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return fmt.Errorf("%w: the part %s: %w", ErrOptions, text, err)
	}
	switch {
	case p.Bare != nil:
		return p.Bare.run(in, out)
	case p.Worker != nil:
		return p.Worker.run(in, out)
	case p.Function != nil:
		return p.Function.run()
	case p.Rival != nil:
		return p.Rival.Run(in, out)
	}
	return fmt.Errorf("%w: the part %s: nothing to do", ErrOptions, text)
}

// line returns the command line of a process that does this job.
func (p part) line() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	text, err := json.Marshal(p)
	return []string{self, "bench", "part", string(text)}, err
}

// start starts a process that does this job. The words of enter, if any, stand before the command
// line and run it on another network. Each line that the process writes is passed to said, from one
// goroutine.
func (p part) start(enter []string, said func(line []byte)) (*testcluster.Process, error) {
	line, err := p.line()
	if err != nil {
		return nil, err
	}
	return testcluster.StartHelper(append(enter, line...), os.Stderr, said)
}
