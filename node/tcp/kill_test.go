package tcp

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// victimEnv makes the test binary a node, peer of the one whose address the
// variable has, until it is killed.
const victimEnv = "RINGLEADER_TEST_VICTIM_OF"

func beVictim(parent string) {
	up := make(chan struct{}, 1)
	tr, err := Listen(Config{
		Cluster: "demo", Algorithm: "bully", ID: 2, Session: proto.NewSession(),
		Bind: "127.0.0.1:0", Receive: func(proto.Message) {}, Log: zerolog.Nop(),
		Evidence: func(Evidence) { up <- struct{}{} },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	tr.SetPeers([]Peer{{ID: 1, Addr: parent}})
	<-up
	fmt.Println(tr.Addr(), tr.cfg.Session)
	_, _ = io.Copy(io.Discard, os.Stdin) // a parent that dies takes its victim along
}

// "The peer with an open TCP connection reads EOF at once, and dialling again
// is refused": SIGKILL of a process is evidence, in this order.
func TestAKilledProcessIsWitnessed(t *testing.T) {
	n := start(t, 1)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+n.Addr().String())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, session, _ := strings.Cut(strings.TrimSpace(line), " ")
	victim := sessionOf(t, session)

	n.SetPeers([]Peer{{ID: 2, Session: victim, Addr: addr}})
	begun := time.Now()
	eventually(t, "the link is up, and no longer so new that its loss is not dialled at once",
		func() bool { return n.linked() == 1 && time.Since(begun) > 2*timingFor(defaultPatience).minBackoff })
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventuallyEqual(t, "evidence", n.events,
		said(LinkUp, victim, 1), said(LinkClosed, victim, 1),
		said(LinkClosed, victim, 0), said(DialRefused, victim, 0))
	t.Logf("proven dead %v after the kill", time.Since(killed))
	_ = cmd.Wait()
}

func sessionOf(t *testing.T, s string) proto.Session {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(proto.Session{}) {
		t.Fatalf("session %q: %v", s, err)
	}
	return proto.Session(b)
}
