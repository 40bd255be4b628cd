package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// errDocker says that nodes cannot be containers on this machine.
var errDocker = errors.New("docker kill needs a Docker engine on this machine")

// dockerLabel is the label of all that belongs to a cluster in an engine. Its value is the
// cluster's name.
const dockerLabel = "ringleader.bench"

// engine is the Docker engine of this machine with an image of the program
// that is measured.
type engine struct {
	name  string // the image's name; names of clusters begin with it
	built int    // how many clusters were made so far
}

// mayDocker returns an error that says why this many nodes cannot be containers here; nil if they
// can.
func mayDocker(nodes int, binary string) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: %w: on %s it runs in a virtual machine, where the death of a process "+
			"cannot be seen", ErrOptions, errDocker, runtime.GOOS)
	}
	if nodes > testcluster.MaxSubnet {
		return fmt.Errorf("%w: %d containers on one network: at most %d", ErrCapacity, nodes, testcluster.MaxSubnet)
	}
	if _, err := exec.LookPath("docker"); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrOptions, errDocker, err)
	}
	// An older or another docker may not know contexts: then its processes tell.
	if at, err := docker(nil, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"); err == nil {
		if err := checkLocal(at); err != nil {
			return err
		}
	}
	platform, err := docker(nil, "version", "--format", "{{.Server.Os}}/{{.Server.Arch}}")
	if err != nil {
		return fmt.Errorf("%w: %w: %w", ErrOptions, errDocker, err)
	}
	if own := runtime.GOOS + "/" + runtime.GOARCH; platform != own {
		return fmt.Errorf("%w: the engine runs %s, this program is for %s", ErrOptions, platform, own)
	}
	return checkStatic(binary)
}

// checkLocal returns an error if an engine with this address is on another machine.
func checkLocal(endpoint string) error {
	if strings.HasPrefix(endpoint, "unix://") {
		return nil
	}
	return fmt.Errorf("%w: %w, not at %s: the death of a process is seen from its own kernel only "+
		"(see DOCKER_HOST and docker context)", ErrOptions, errDocker, endpoint)
}

// checkStatic returns an error if this executable could not run in an image that holds nothing
// else.
func checkStatic(binary string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return fmt.Errorf("read this program's own file: %w", err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%w: %s needs shared libraries, which an empty image lacks: "+
				"build it with CGO_ENABLED=0, as make build does", ErrOptions, binary)
		}
	}
	return nil
}

// newEngine makes the image with the executable.
func newEngine(binary string) (*engine, error) {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	e := &engine{name: fmt.Sprintf("ringleader-bench-%d-%s", os.Getpid(), hex.EncodeToString(random[:]))}
	if err := importImage(e.name, binary); err != nil {
		return nil, fmt.Errorf("make an image of this program: %w", err)
	}
	return e, nil
}

// close removes the image. No container of it may be left. It does nothing if e is nil.
func (e *engine) close() error {
	if e == nil {
		return nil
	}
	if _, err := docker(nil, "image", "rm", e.name); err != nil {
		return fmt.Errorf("remove the image %s: %w", e.name, err)
	}
	return nil
}

// docker runs one docker command and returns what it printed. An interrupt of this program does not
// reach the command: what it began in the engine would go on unseen.
func docker(stdin io.Reader, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
