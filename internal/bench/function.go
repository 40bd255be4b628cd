package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// function is the command that `ringleader exec` runs while its node leads. Its node and term are
// in its environment. It only records that it runs: it writes again and again, into a file of its
// own, when it began and when it last ran. Two functions must never run at the same time.
type function struct {
	Dir string `json:"dir"`
}

// functionBeat is how often a function records that it runs.
const functionBeat = 2 * time.Millisecond

// run records until somebody ends the process. In every other term it ignores the signal to stop,
// so that it has to be killed.
func (f function) run() error {
	node, err := strconv.ParseUint(os.Getenv("RINGLEADER_ID"), 10, 64)
	if err != nil {
		return fmt.Errorf("RINGLEADER_ID: %w", err)
	}
	term, err := strconv.ParseUint(os.Getenv("RINGLEADER_TERM"), 10, 64)
	if err != nil {
		return fmt.Errorf("RINGLEADER_TERM: %w", err)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	name := fmt.Sprintf("%d-%d-%d", node, term, os.Getpid())
	file, err := os.OpenFile(filepath.Join(f.Dir, name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write down that it is at work: %w", err)
	}
	defer file.Close()
	beats := time.NewTicker(functionBeat)
	defer beats.Stop()
	began := now()
	for {
		line := binary.LittleEndian.AppendUint64(nil, uint64(began))
		if _, err := file.WriteAt(binary.LittleEndian.AppendUint64(line, uint64(now())), 0); err != nil {
			return fmt.Errorf("write down that it is at work: %w", err)
		}
		select {
		case <-beats.C:
		case <-told:
			if term%2 == 0 {
				return nil
			}
		}
	}
}

// functionsIn reads the files that functions wrote into dir. The result has an act for each
// function.
func functionsIn(dir string) ([]act, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the functions did: %w", err)
	}
	var acts []act
	for _, f := range files {
		line, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, fmt.Errorf("read what a function did: %w", err)
		}
		words := strings.Split(f.Name(), "-")
		if len(line) < 16 || len(words) != 3 {
			continue // it has not begun
		}
		node, _ := strconv.ParseUint(words[0], 10, 64)
		term, _ := strconv.ParseUint(words[1], 10, 64)
		acts = append(acts, act{
			node: proto.NodeID(node), term: proto.Term(term), process: words[2],
			from:  time.Duration(binary.LittleEndian.Uint64(line)),
			until: time.Duration(binary.LittleEndian.Uint64(line[8:])),
		})
	}
	return acts, nil
}
