package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// secure is a node that serves HTTPS: only its API.
type secure struct {
	*testing.T
	addr     string
	dir      string // of the authority
	operator string // the directory of who asks
	own      string // the directory of the node
	mu       sync.Mutex
	log      bytes.Buffer
	asked    int
}

// Snapshot says that node 1 leads.
func (s *secure) Snapshot() httpapi.Snapshot {
	return httpapi.Snapshot{
		Self: 1, Cluster: "blue", Running: true, Gossiping: true, LastTick: time.Now(), Leader: algorithms.Leader{
			ID: 1, Term: 7,
		}, Members: []httpapi.Member{{ID: 1, HTTPAddr: s.addr}},
	}
}

func (s *secure) Do(context.Context, httpapi.Verb, httpapi.Order) (httpapi.Done, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return httpapi.Done{Self: 1, Done: "node 1 stood aside", Leader: 1, Term: 7}, nil
}

func (s *secure) Lend(context.Context) (httpapi.Lease, error) {
	return httpapi.Lease{Self: 1, ID: 7, Term: 7, ValidForMS: 1000}, nil
}

func (s *secure) Return(uint64) bool { return true }

func (s *secure) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func newSecure(t *testing.T) *secure {
	t.Helper()
	s := &secure{T: t, dir: t.TempDir()}
	a, err := credentials.NewAuthority(s.dir, "blue")
	s.check(err)
	who := credentials.Identity{Cluster: "blue", ID: 1}
	s.own, err = a.Issue(who, nil, time.Hour)
	s.check(err)
	_, err = a.Issue(credentials.Identity{Cluster: "blue", ID: 2}, nil, time.Hour)
	s.check(err)
	s.operator, err = a.Operator()
	s.check(err)
	keeper, err := credentials.Open(s.own, who)
	s.check(err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	s.check(err)
	s.addr = ln.Addr().String()
	text, err := os.ReadFile(keeper.Token())
	s.check(err)
	tokens, err := httpapi.ParseTokens(string(text))
	s.check(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- httpapi.Serve(ctx, ln, httpapi.Config{
			Source: s, Control: s, Lender: s, TLS: keeper.Web, ErrorLog: log.New(s, "", 0),
			Tokens: func() httpapi.Tokens { return tokens },
		})
	}()
	t.Cleanup(func() { cancel(); s.check(<-done) })
	return s
}

func (s *secure) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// tokens returns the lines of a file of tokens, by role.
func (s *secure) tokens() map[string]string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.operator, "api.token"))
	s.check(err)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		role, token, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[role] = token
	}
	return all
}

// file writes a file that only its owner may read.
func (s *secure) file(text string) string {
	s.Helper()
	name := filepath.Join(s.TempDir(), "file")
	s.check(os.WriteFile(name, []byte(text), 0o600))
	return name
}

// run runs a command with variables, and returns its exit code and all that it wrote.
func (s *secure) run(env []string, args ...string) (code int, out string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "ringleader", args...)
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(text)
	}
	s.check(err)
	return 0, string(text)
}

// askOverHTTPS asks in all the ways there are, and returns all that was written.
func (s *secure) askOverHTTPS() (all string) {
	tokens := s.tokens()
	reads := s.file("read " + tokens["read"] + "\n")
	wrong := s.file("0123456789abcdef-wrong-token\n")
	spoilt := s.file("operate " + tokens["operate"] + " " + tokens["read"] + "\n")
	open := s.file("operate " + tokens["operate"] + "\n")
	s.check(os.Chmod(open, 0o644))
	other := s.TempDir()
	_, err := credentials.NewAuthority(other, "blue")
	s.check(err)
	other = filepath.Join(other, "authority")
	with := []string{credentialsEnv + "=" + s.operator}
	nodes := []string{credentialsEnv + "=" + filepath.Join(s.dir, "node-{id}")}
	here := []string{"--addr", s.addr}
	for _, c := range []struct {
		env  []string
		args []string
		code int
		says string
	}{
		{with, []string{"status"}, 0, "cluster blue"},
		{nil, []string{"status", "--credentials", s.operator}, 0, "cluster blue"},
		{nil, []string{"status", "--credentials", s.own, "-o", "json"}, 0, `"cluster":"blue"`},
		{with, []string{"leader", "--is-me"}, 0, "node 1 leads"},
		{with, []string{"why-not", "1"}, 0, "Node 1 leads"},
		{with, []string{"pause", "--reason", "work"}, 0, "stood aside"},
		{with, []string{"resume"}, 0, "stood aside"},
		{with, []string{"resign"}, 0, "stood aside"},
		{with, []string{"transfer"}, 0, "stood aside"},
		{with, []string{"elect"}, 0, "node 1 says"},
		{with, []string{"lease"}, 0, "lent lease 7"},
		{with, []string{"lease", "--return", "7"}, 0, "given back"},
		{with, []string{"health"}, 0, "node 1 is well"},
		// A health check of this machine needs no secret, nor that the directory can be read.
		{nil, []string{"health"}, 0, "node 1 is well"},
		{nodes, []string{"health"}, 0, "node 1 is well"},
		{nil, []string{"health", "--credentials", s.operator}, 0, "node 1 is well"},
		{nil, []string{"health", "--credentials", other}, 1, "not to be believed"},
		{nodes, []string{"status"}, 4, "{id} stands for the id of a node that runs"},
		{nil, []string{"status"}, 1, "the node serves HTTPS: give --credentials DIR"},
		{nil, []string{"pause"}, 1, "the node serves HTTPS: give --credentials DIR"},
		{nil, []string{"status", "--credentials", other}, 1, "no authority of ca.crt vouches"},
		{nil, []string{"status", "--credentials", filepath.Join(s.dir, "nowhere")}, 4, "there is no directory"},
		// The token of a file goes before that of the directory.
		{with, []string{"leader", "--api-token-file", reads}, 0, "node 1 leads"},
		{with, []string{"pause", "--api-token-file", reads}, 1, "this token may only read"},
		{with, []string{"leader", "--api-token-file", wrong}, 1, "the token is not this node's"},
		{append(with, tokenEnv+"=0123456789abcdef-wrong-token"), []string{"leader"}, 1, "the token is not this node's"},
		{with, []string{"leader", "--api-token-file", spoilt}, 4, "line 1: want operate TOKEN or read TOKEN"},
		{with, []string{"leader", "--api-token-file", open}, 4, "chmod 600"},
		{append(with, tokenEnv+"="+tokens["read"][:10]), []string{"leader"}, 4, "a token of 10 bytes"},
	} {
		args := append(append([]string{c.args[0]}, here...), c.args[1:]...)
		code, out := s.run(c.env, args...)
		if code != c.code || !strings.Contains(out, c.says) {
			s.Errorf("%q with %q: exit %d, want %d and %q:\n%s", args, c.env, code, c.code, c.says, out)
		}
		all += out
	}
	s.check(os.Chmod(filepath.Join(s.own, "tls.key"), 0o644))
	if code, out := s.run(nil, "status", "--addr", s.addr, "--credentials", s.own); code != exitConfig ||
		!strings.Contains(out, "chmod 600") {
		s.Errorf("with a key that all may read: exit %d: %s", code, out)
	}
	return all
}

// secrets returns what no text may have in it: tokens, keys, and parts of them.
func (s *secure) secrets() (all []string) {
	s.Helper()
	for _, token := range s.tokens() {
		all = append(all, token)
	}
	for _, path := range []string{filepath.Join(s.own, "tls.key"), filepath.Join(s.dir, "authority", "ca.key")} {
		text, err := os.ReadFile(path)
		s.check(err)
		block, _ := pem.Decode(text)
		all = append(all, base64.StdEncoding.EncodeToString(block.Bytes[36:66]), string(block.Bytes[36:68]))
		all = append(all, strings.Split(string(text), "\n")[1])
	}
	text, err := os.ReadFile(filepath.Join(s.own, "gossip.key"))
	s.check(err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	key := lines[len(lines)-1]
	raw, err := base64.StdEncoding.DecodeString(key)
	s.check(err)
	return append(all, key, string(raw), fmt.Sprintf("%x", raw), "0123456789abcdef-wrong-token")
}

// "No secret in any log, error, record, page, config show or process list."
func TestNoSecretIsTold(t *testing.T) {
	e := newE2E(t, "bully", 2, append([]string{"--voters", "none", "--cluster", "blue"}, calm...)...)
	s := newSecure(t)
	nodes := filepath.Join(s.dir, "node-{id}")
	for _, id := range e.IDs() {
		e.check(e.Start(id, "--credentials", nodes))
	}
	e.leads(2)
	tokens, texts := s.tokens(), map[string]string{}
	with, token := credentialsEnv+"="+s.operator, s.file(tokens["operate"])
	for _, c := range []struct {
		env, what, says string
		args            []string
	}{
		{with, "a transfer through another node", "node 1 leads", []string{"transfer", "--addr", e.Node(1).HTTP}},
		{with, "status", `"cluster":"blue"`, []string{"status", "--addr", e.Node(2).HTTP, "-o", "json"}},
		{with, "why-not", "by the word of nodes 1 and 2", []string{"why-not", "2", "--addr", e.Node(1).HTTP}},
		{with, "a wrong token", "not this node's", []string{
			"pause", "--addr", e.Node(1).HTTP, "--api-token-file", s.file("0123456789abcdef-wrong-token"),
		}},
		{"", "no token", "the node serves HTTPS", []string{"pause", "--addr", e.Node(1).HTTP}},
		{"", "config show", "api-token-file", []string{
			"config", "show", "--id", "1", "--api-token-file", token, "--credentials", nodes,
		}},
		{tokenEnv + "=" + tokens["operate"], "config show of the environment", "api-token-file", []string{
			"config", "show", "-o", "json", "--id", "1",
		}},
	} {
		_, texts[c.what] = s.run([]string{c.env}, c.args...)
		if !strings.Contains(texts[c.what], c.says) {
			t.Errorf("%s: want %q in\n%s", c.what, c.says, texts[c.what])
		}
	}
	texts["what was asked over HTTPS"] = s.askOverHTTPS()
	for _, id := range e.IDs() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.PID(id)))
		if err == nil { // there is none on other systems
			texts[fmt.Sprintf("the command line of node %v", id)] = string(line)
		}
		texts[fmt.Sprintf("the log of node %v", id)] = e.Log(id)
		var kept strings.Builder
		e.check(fs.WalkDir(os.DirFS(e.Node(id).DataDir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(e.Node(id).DataDir, path))
			kept.Write(text)
			return err
		}))
		texts[fmt.Sprintf("the data directory of node %v", id)] = kept.String()
	}
	s.mu.Lock()
	texts["the log of the API"] = s.log.String()
	s.mu.Unlock()
	for what, text := range texts {
		if text == "" {
			t.Errorf("%s is empty", what)
		}
		for _, secret := range s.secrets() {
			if strings.Contains(text, secret) {
				t.Errorf("%s has a secret in it:\n%s", what, text)
			}
		}
	}
}
