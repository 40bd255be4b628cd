package bench

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// Storage is a `ringleader fence` process. It keeps its data and its address when it is restarted.
type Storage struct {
	Addr   string // host:port
	binary string
	dir    string
	ports  *testcluster.Ports // held as long as the address is in use
	life   *testcluster.Process
}

// errStorage says that the storage does not serve, because its process ended.
var errStorage = errors.New("the storage ended by itself")

// startStorage starts a storage with data in dir. The caller must Close it.
func startStorage(binary, dir string) (*Storage, error) {
	ports, err := testcluster.HoldPorts(1)
	if err != nil {
		return nil, fmt.Errorf("choose a port for the storage: %w", err)
	}
	s := &Storage{Addr: ports.Addrs[0], binary: binary, dir: dir, ports: ports}
	if err := s.Start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// URL returns the address at which the storage serves HTTP.
func (s *Storage) URL() string { return "http://" + s.Addr }

// Start starts the storage, or restarts it, and returns once it serves.
func (s *Storage) Start() (err error) {
	var log strings.Builder
	serves := make(chan string, 1)
	line := []string{s.binary, "fence", "--bind", s.Addr, "--data-dir", s.dir}
	s.life, err = testcluster.StartHelper(line, &log, func(line []byte) {
		select {
		case serves <- string(line):
		default: // only the first line counts
		}
	})
	if err != nil {
		return fmt.Errorf("start the storage: %w", err)
	}
	said := ""
	select {
	case said = <-serves:
	case <-s.life.Done():
	}
	if strings.Contains(said, s.Addr) {
		return nil
	}
	err = s.Kill() // by then all of its log is there
	return errors.Join(fmt.Errorf("%w: it said %q: %s", errStorage, said, log.String()), err)
}

// Kill sends SIGKILL to the storage and returns once it has ended.
func (s *Storage) Kill() error {
	if s.life == nil {
		return nil
	}
	return s.life.Kill()
}

// Close ends the storage for good.
func (s *Storage) Close() error {
	defer s.ports.Release()
	return s.Kill()
}
