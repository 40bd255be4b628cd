package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/smalldisk"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// execE2E is a cluster whose nodes run workers.
type execE2E struct {
	e2e
	dir string
}

func newExecE2E(t *testing.T, nodes int, args ...string) execE2E {
	t.Helper()
	path, err := exec.LookPath("worker") // this test binary: see TestMain
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	e := newE2EOf(t, []string{path, dir, "daemon"}, "bully", nodes, args...)
	e.check(e.StartAll())
	return execE2E{e, dir}
}

// works waits for the work of a stint after so many others, and returns all.
func (e execE2E) works(after int) (all []stint) {
	e.Helper()
	err := e.Wait(e.ctx, func() bool {
		all = stints(e.T, e.dir)
		return len(all) > after
	})
	e.check(err)
	return all
}

// sinceBoot is a time of a record by the clock of the workers.
func sinceBoot(t time.Time) time.Duration {
	return clock.SinceBoot(clock.Now().Add(time.Until(t)))
}

// "Never releases before it is dead": the process of the leader is killed, and so
// cannot end its command, which ignores every signal, has daemonised and holds
// nothing of the node's. No other node's command runs before that is dead; and yet
// nobody waits for the lease.
func TestExecKilled(t *testing.T) {
	e := newExecE2E(t, 3, "--voters", "1-3", "--lease", "30s")
	before := e.works(0)
	leader := proto.NodeID(before[0].node)
	killed, err := e.Send(leader, syscall.SIGKILL)
	e.check(err)
	all := e.works(1)
	if all[1].node == before[0].node {
		t.Fatalf("node %v was killed and works: %+v", leader, all)
	}
	took := all[1].first - sinceBoot(killed)
	t.Logf("killed; its command lived for another %v; the next one began after %v",
		all[0].last-sinceBoot(killed), took)
	if took > 20*time.Second {
		t.Errorf("the next command began after %v: the promise was waited out", took)
	}
}

// "So that it is dead before the lease is": also when the node is stopped and cannot
// do a thing. When it wakes it ends with 75 under --restart never.
func TestExecStopped(t *testing.T) {
	e := newExecE2E(t, 3, "--voters", "1-3", "--lease", "4s", "--preempt=false", "--restart", "never")
	before := e.works(0)
	leader := proto.NodeID(before[0].node)
	e.check(e.Pause(leader))
	e.works(1)
	e.check(e.Resume(leader))
	e.exits(leader, exitLost)
	all := stints(t, e.dir)
	if end := sinceBoot(e.leaseEnd(leader)); all[0].last > end || all[1].first < end {
		t.Errorf("one worked until %v after the end of the lease, the next from %v after it",
			all[0].last-end, all[1].first-end)
	}
}

// "Optional restart when elected again": the node stays, and its command runs again
// in a later term.
func TestExecRestart(t *testing.T) {
	const best = 3 // it is handed leadership as long as it is well
	e := newExecE2E(t, 3, "--voters", "1-3")
	worksAgain := func(all []stint) (after int) {
		for all[len(all)-1].node != best {
			all = e.works(len(all))
		}
		return len(all)
	}
	before := worksAgain(e.works(0))
	e.check(e.Pause(best))
	e.works(before)
	e.check(e.Resume(best))
	if after := worksAgain(e.works(before)); after < before+2 {
		t.Errorf("%d stints, %d before the node was stopped", after, before)
	}
}

// "Work that was cancelled within a term either begins again in it or the term is given
// up": the node stalls until its subreaper has killed the command, and renews its lease
// before that ends. It does not go on leading without a command.
func TestExecStalls(t *testing.T) {
	e := newExecE2E(t, 1, "--voters", "1", "--lease", "10s")
	starts := func() []string {
		text, _ := os.ReadFile(filepath.Join(e.dir, "starts"))
		return strings.Fields(string(text)) // two words a line
	}
	e.works(0)
	e.check(e.Pause(1))
	lock, err := os.Open(filepath.Join(e.dir, "lock"))
	e.check(err)
	defer lock.Close()
	for _, how := range []int{syscall.LOCK_EX, syscall.LOCK_UN} { // the command holds it while it lives
		e.check(syscall.Flock(int(lock.Fd()), how))
	}
	e.check(e.Resume(1))
	e.check(e.Wait(e.ctx, func() bool { return len(starts()) == 4 }))
	e.works(0) // at no time two
	t.Logf("the command ran in term %s, and again in term %s", starts()[0], starts()[2])
}

// A node whose disk fails ends with that once its command is dead.
func TestExecDiskFull(t *testing.T) {
	disk := smalldisk.Mount(t, "64k")
	path, err := exec.LookPath("worker")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	e := newE2EOf(t, []string{path, dir, "daemon"}, "bully", 1, "--voters", "1",
		"--health-disk", "0")
	e.check(e.Start(1, "--data-dir", disk))
	execE2E{e, dir}.works(0)
	smalldisk.Fill(t, disk)
	ended := make(chan error, 1)
	go func() {
		code, err := e.WaitExit(e.ctx, 1)
		if err == nil && code != exitError {
			err = fmt.Errorf("ended with code %d", code)
		}
		ended <- err
	}()
	for {
		for _, verb := range []httpapi.Verb{httpapi.Pause, httpapi.Resume} {
			_, _ = e.do(1, verb, httpapi.Order{}) // it stands again, and votes
		}
		for leads := false; !leads; { // else nothing is saved anew
			select {
			case err := <-ended:
				e.check(err)
				e.logs(1, "no space left on device")
				return
			case <-time.After(20 * time.Millisecond):
				answer, err := httpapi.Client{Addr: e.Node(1).HTTP}.Leader(e.ctx)
				leads = err == nil && answer.IsLeader
			}
		}
	}
}

// "Whoever asked gets the answer that is true": a transfer ends a node under --restart
// never. It has told that the successor leads before it leaves.
func TestExecTransfer(t *testing.T) {
	t.Parallel()
	for _, leased := range []bool{true, false} {
		t.Run(fmt.Sprintf("leased %v", leased), func(t *testing.T) {
			args := append([]string{"--preempt=false", "--restart", "never"}, calm...)
			if leased {
				args = append(args, "--voters", "1-3")
			}
			e := newExecE2E(t, 3, args...)
			first := e.leads(3)
			e.works(0)
			done := e.handsOver(3, httpapi.Order{To: 1})
			if done.Leader != 1 || done.Term <= first.Term {
				t.Errorf("after node 3 in term %v: %+v", first.Term, done)
			}
			e.exits(3, exitLost)
			e.leads(1, 1, 2)
		})
	}
}

// "A node whose command ended because it lost leadership stays, votes and stands again":
// three nodes and two transfers leave three nodes. "Its log names what happened."
func TestExecStays(t *testing.T) {
	e := newExecE2E(t, 3, append([]string{"--preempt=false", "--voters", "1-3"}, calm...)...)
	from := proto.NodeID(3)
	e.leads(from)
	works := e.works(0)
	for _, to := range []proto.NodeID{2, 3} {
		e.handsOver(from, httpapi.Order{To: to})
		e.logs(from, "leadership was handed to node "+to.String()+"; this node stays, votes and stands again")
		works = e.works(len(works))
		if last := works[len(works)-1].node; last != uint64(to) {
			t.Errorf("node %v works after the transfer to node %v", last, to)
		}
		e.leads(to, 1, 2, 3)
		from = to
	}
}

// "Passes signals and the exit code on": the node leads on while the command ends,
// and given free at once when it has.
func TestExecTold(t *testing.T) {
	e := newExecE2E(t, 3, "--voters", "1-3", "--lease", "10m", "--stop-grace", "300ms")
	leader := proto.NodeID(e.works(0)[0].node)
	e.check(e.Terminate(leader))
	e.works(1) // long before the promises end
	e.exits(leader, 128+int(syscall.SIGKILL))
}

// "Best-effort clusters: allowed with the loud warning." Both may lead for a moment, so that their
// commands clash.
func TestExecBestEffort(t *testing.T) {
	e := newExecE2E(t, 2)
	e.check(e.Wait(e.ctx, func() bool {
		_, err := os.Stat(filepath.Join(e.dir, "starts"))
		return err == nil
	}))
	e.logs(1, "no voters are configured: leadership is best-effort")
}

// A command that floods standard output and error, which nobody reads, costs no
// election: the lease is renewed again and again.
func TestExecFlood(t *testing.T) {
	t.Parallel()
	addrs := threeAddresses(t)
	cmd := exec.Command("ringleader", "exec", "--id", "1", "--voters", "1", "--lease", "10s",
		"--gossip-bind", addrs[0], "--election-bind", addrs[1], "--http-bind", addrs[2],
		"--data-dir", t.TempDir(), "--log-level", "debug", "--profile", "local", "--grace", "50ms", "--",
		"sh", "-c", "while :; do echo flood; echo flood >&2; done")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	client := httpapi.Client{Addr: addrs[2]}
	var first time.Time
	// Another process's answer: it can only be asked again.
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		answer, err := client.Leader(t.Context())
		if err == nil && answer.IsLeader && answer.Term == 1 {
			if first.IsZero() {
				first = time.Now()
			}
			if time.Since(first) > 5*time.Second { // many leases
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}

// "Work outside the process must be inside the proof": while what looks after the
// command cannot end it, the killed node's address refuses nobody, so that it is not
// proven dead; and once the command is dead it is.
func TestExecIsInsideTheProof(t *testing.T) {
	e := newExecE2E(t, 3, "--voters", "1-3", "--lease", "10m")
	leader := proto.NodeID(e.works(0)[0].node)
	subreaper := subreaperOf(t, e.PID(leader))
	// A process group that loses its incarnation's last parent is woken by the kernel:
	// the subreaper has to fall to this process.
	e.check(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { e.check(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
	e.check(syscall.Kill(subreaper, syscall.SIGSTOP))
	t.Cleanup(func() { // it has fallen to this process
		e.check(syscall.Kill(subreaper, syscall.SIGCONT))
		_, err := syscall.Wait4(subreaper, nil, 0, nil)
		e.check(err)
	})
	killed, err := e.Send(leader, syscall.SIGKILL)
	e.check(err)
	others := without(leader, 1, 2, 3)
	for _, id := range others {
		e.logs(id, "unreachable "+leader.String()) // they have dialled for seconds
	}
	before := e.works(0)
	if len(before) != 1 || before[0].last < sinceBoot(killed) {
		t.Fatalf("the command did not go on alone: %+v", before)
	}
	for _, id := range others {
		if strings.Contains(e.Log(id), "dial-refused "+leader.String()) {
			t.Errorf("node %v was refused while the command lived", id)
		}
	}
	e.check(syscall.Kill(subreaper, syscall.SIGCONT))
	e.works(1)
}

// "Passes signals and the exit code on."
func TestExecSignals(t *testing.T) {
	dir := t.TempDir()
	script := `cd "$0"; for s in HUP USR1 USR2; do trap ": >$s" $s; done; trap "exit 9" TERM; : >ready; ` +
		`while :; do sleep 0.02; done`
	e := newE2EOf(t, []string{"sh", "-c", script, dir}, "bully", 1, "--voters", "1", "--lease", "10m")
	e.check(e.StartAll())
	awaitFile(t, filepath.Join(dir, "ready"))
	for name, sig := range map[string]syscall.Signal{
		"HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
	} {
		_, err := e.Send(1, sig)
		e.check(err)
		awaitFile(t, filepath.Join(dir, name))
	}
	e.check(e.Terminate(1))
	e.exits(1, 9)
}

// subreaperOf is the process that looks after the command of a node.
func subreaperOf(t *testing.T, node int) int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		text, err := os.ReadFile(dir)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(node) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("node process %d has no child", node)
	return 0
}

// asFirst is how to run a command as the first process of a PID namespace.
func asFirst(t *testing.T) []string {
	t.Helper()
	enter := []string{"unshare", "--pid", "--fork", "--mount-proc"}
	out, err := exec.Command(enter[0], append(enter[1:], "true")...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	needs.Here(t, "the first process of a container", err)
	return enter
}

// "Reaps orphans as PID 1": the first process of a container, to which what others
// leave behind falls. Here a health command leaves a process in another incarnation.
func TestExecFirstOfContainer(t *testing.T) {
	t.Parallel()
	enter := asFirst(t)
	dir := t.TempDir()
	addrs := threeAddresses(t)
	line := append(enter[1:], "ringleader", "exec", "--id", "1", "--voters", "1", "--profile", "fast",
		"--lease", "1m", "--gossip-bind", addrs[0], "--election-bind", addrs[1], "--http-bind", addrs[2],
		"--data-dir", dir,
		"--health-interval", "20ms", "--health-cmd", "echo >>"+dir+"/runs; (setsid sleep 0.01 &)", "--",
		"sh", "-c", `while [ "$(wc -l <"$0/runs")" -lt 60 ]; do sleep 0.05; done; `+
			`grep -l "^State:.Z" /proc/[0-9]*/status >"$0/zombies"; exit 5`, dir)
	cmd := exec.Command(enter[0], line...)
	out, _ := cmd.CombinedOutput()
	zombies, err := os.ReadFile(filepath.Join(dir, "zombies"))
	if n := strings.Count(string(zombies), "\n"); err != nil || n > 5 || cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("exit code %d, %d zombies, %v\n%s", cmd.ProcessState.ExitCode(), n, err, out)
	}
}

// "Where ringleader exec is the first process of a container the kernel ends all with
// it": also a daemon that holds nothing of the node's, when the node and the subreaper are
// killed in the same instant.
func TestExecKilledWithItsSubreaper(t *testing.T) {
	t.Parallel()
	enter := asFirst(t)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const free = "127.0.0.1:0"
	dir, data := t.TempDir(), t.TempDir()
	cmd := exec.Command(enter[0], append(enter[1:], "ringleader", "exec", "--id", "1", "--voters", "1",
		"--profile", "fast", "--lease", "1m", "--gossip-bind", free, "--election-bind", free, "--http-bind", free,
		"--data-dir", data, "--", "worker", dir, "daemon")...)
	check(cmd.Start())
	for len(stints(t, dir)) == 0 {
		time.Sleep(time.Millisecond) // another process's file: it can only be looked at again
	}
	node := subreaperOf(t, cmd.Process.Pid) // the child of unshare
	subreaper := subreaperOf(t, node)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		check(syscall.Kill(subreaper, sig))
		check(syscall.Kill(node, sig))
	}
	_ = cmd.Wait()
	lock, err := os.Open(filepath.Join(dir, "lock"))
	check(err)
	defer lock.Close()
	check(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)) // the daemon held it while it lived
}
