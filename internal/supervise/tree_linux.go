package supervise

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is one process as /proc shows it.
type process struct {
	pid, parent, group int
}

// processes returns all processes that this process can see.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil {
		return nil, err
	}
	all := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it ended meanwhile
		}
		// The name in parentheses may hold anything, a parenthesis too.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		group, _ := strconv.Atoi(string(fields[2]))
		all = append(all, process{pid, parent, group})
	}
	return all, nil
}

// descendants returns the descendants of root, without the processes in except and their
// descendants.
func descendants(root int, except map[int]bool) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]process, len(all))
	for _, p := range all {
		if !except[p.pid] {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	found := slices.Clone(children[root])
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found, nil
}

// listed returns the descendants of root that it finds in the kernel's lists of children. It looks at no
// other process, so it is quick on a machine with many processes. It misses processes that start
// meanwhile, and finds nothing if the kernel keeps no such lists.
func listed(root int) []int {
	found := []int{root}
	for i := 0; i < len(found); i++ {
		tasks := "/proc/" + strconv.Itoa(found[i]) + "/task"
		threads, _ := os.ReadDir(tasks) // an error: it ended meanwhile
		for _, thread := range threads {
			children, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children")
			for _, child := range bytes.Fields(children) {
				if pid, err := strconv.Atoi(string(child)); err == nil {
					found = append(found, pid)
				}
			}
		}
	}
	return found[1:]
}

// signalAll sends sig to the processes. If one of them leads a process group, it signals the whole
// group, so that no member escapes by a fork.
func signalAll(found []process, sig unix.Signal) {
	for _, p := range found {
		if p.group == p.pid {
			_ = unix.Kill(-p.pid, sig)
		}
	}
	for _, p := range found {
		leads := func(q process) bool { return q.pid == p.group }
		if p.group != p.pid && !slices.ContainsFunc(found, leads) {
			_ = unix.Kill(p.pid, sig) // an error: it ended meanwhile, or is not ours to end
		}
	}
}
