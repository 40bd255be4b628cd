package storeserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kind is one kind of server.
type kind struct {
	install string // what installs it
	// prepare finds the programs, writes what the server needs, and sets its command line. An error that wraps
	// ErrMissing says that a program is not here.
	prepare func(ctx context.Context, s *Server) error
	serves  func(ctx context.Context, s *Server) bool // whether it answers
	url     func(s *Server, election string) string
	// look is the command of the store's own tool that shows the entry; nil if there is no short one.
	look func(s *Server, election string) []string
}

var kinds = map[string]kind{
	"redis": {
		install: "apt-get install redis-server",
		prepare: prepareRedis,
		serves: func(_ context.Context, s *Server) bool {
			return bytes.HasPrefix(s.says("PING\r\n"), []byte("+PONG"))
		},
		url: func(s *Server, election string) string { return "redis://" + s.address + "/" + election },
		look: func(s *Server, election string) []string {
			return []string{"redis-cli", "-p", s.port(), "GET", election}
		},
	},
	"postgres": {
		install: "apt-get install postgresql",
		prepare: preparePostgres,
		serves: func(_ context.Context, s *Server) bool {
			return strings.Contains(s.Log(), "database system is ready to accept connections")
		},
		url: func(s *Server, election string) string {
			options := url.Values{"election": {election}, "password-file": {s.passwordFile()}}
			return "postgres://postgres@" + s.address + "/postgres?" + options.Encode()
		},
		look: func(s *Server, election string) []string {
			return []string{
				"psql", "-h", "127.0.0.1", "-p", s.port(), "-U", "postgres", "-A", "-t", "-c",
				"SELECT holder, token FROM ringleader_leases WHERE name = '" + election + "'",
			}
		},
	},
	"etcd": {
		install: "apt-get install etcd-server",
		prepare: prepareEtcd,
		serves:  etcdServes,
		url:     func(s *Server, election string) string { return "etcd://" + s.address + "/" + election },
		look: func(s *Server, election string) []string {
			return []string{"etcdctl", "--endpoints", s.address, "get", "--prefix", "/" + election}
		},
	},
	"zookeeper": {
		install: "apt-get install zookeeper",
		prepare: prepareZooKeeper,
		serves:  func(_ context.Context, s *Server) bool { return bytes.Contains(s.says("srvr"), []byte("Mode: ")) },
		url:     func(s *Server, election string) string { return "zookeeper://" + s.address + "/" + election },
	},
}

// missing returns an error that wraps ErrMissing.
func missing(what string) error { return fmt.Errorf("%w: %s", ErrMissing, what) }

func prepareRedis(_ context.Context, s *Server) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return missing("redis-server")
	}
	s.line = []string{
		program, "--port", s.port(), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always",
	}
	return nil
}

// debianPostgres is where Debian keeps the programs of PostgreSQL, out of the PATH.
const debianPostgres = "/usr/lib/postgresql/*/bin/"

func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob(debianPostgres + name)
	if err != nil || len(found) == 0 {
		return "", missing(name)
	}
	return found[len(found)-1], nil
}

func preparePostgres(ctx context.Context, s *Server) error {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return err
	}
	program, err := postgresProgram("postgres")
	if err != nil {
		return err
	}
	// Whoever is a superuser of a database runs programs as its system's user: nobody else on this machine may.
	s.password = rand.Text()
	if err := os.WriteFile(s.passwordFile(), []byte(s.password), 0o600); err != nil {
		return err
	}
	if err := s.unprivileged(); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	made, err := s.output(ctx, initdb, "-D", data, "-U", "postgres", "-A", "scram-sha-256",
		"--pwfile", s.passwordFile(), "-E", "UTF8", "--locale", "C", "--no-sync")
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, made)
	}
	s.line = []string{
		program, "-D", data, "-p", s.port(), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "dynamic_shared_memory_type=mmap",
	}
	// It removes its shared memory, and ends its children, only if it is asked to end.
	s.end = syscall.SIGINT
	return nil
}

// unprivileged has the server run as the user postgres if this process is root, which PostgreSQL refuses.
func (s *Server) unprivileged() error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return missing("a user postgres to run it")
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(os.Chown(s.dir, uid, gid), os.Chown(s.passwordFile(), uid, gid))
}

func (s *Server) passwordFile() string { return filepath.Join(s.dir, "password") }

func prepareEtcd(_ context.Context, s *Server) error {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return missing("etcd")
	}
	clients, peers := "http://"+s.address, "http://"+s.ports.Addrs[1]
	s.line = []string{
		program, "--data-dir", filepath.Join(s.dir, "data"), "--name", "one",
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "one=" + peers,
	}
	return nil
}

func etcdServes(ctx context.Context, s *Server) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/health", http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// debianZooKeeper is where Debian puts ZooKeeper.
const debianZooKeeper = "/usr/share/java/zookeeper.jar"

func prepareZooKeeper(_ context.Context, s *Server) error {
	java, err := exec.LookPath("java")
	if err != nil {
		return missing("java")
	}
	if _, err := os.Stat(debianZooKeeper); err != nil {
		return missing(debianZooKeeper)
	}
	config := filepath.Join(s.dir, "zoo.cfg")
	host, port, _ := net.SplitHostPort(s.address)
	// The tick is the default of ZooKeeper: a session lasts for 2 to 20 of them.
	text := fmt.Sprintf("tickTime=2000\ndataDir=%s\nclientPort=%s\nclientPortAddress=%s\n"+
		"admin.enableServer=false\nmaxClientCnxns=0\n4lw.commands.whitelist=srvr\n", s.dir, port, host)
	s.line = []string{
		java, "-Xmx128m", "-XX:+UseSerialGC", "-Dzookeeper.jmx.log4j.disable=true", "-cp", debianZooKeeper,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", config,
	}
	return os.WriteFile(config, []byte(text), 0o600)
}

// says sends words to the server, and returns the beginning of its answer; nil if there is none.
func (s *Server) says(words string) []byte {
	conn, err := net.DialTimeout("tcp", s.address, probePatience)
	if err != nil {
		return nil
	}
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(probePatience)) != nil {
		return nil
	}
	if _, err := io.WriteString(conn, words); err != nil {
		return nil
	}
	if words == "srvr" { // the server ends the connection
		answer, _ := io.ReadAll(conn)
		return answer
	}
	answer := make([]byte, 64)
	n, _ := conn.Read(answer)
	return answer[:n]
}
