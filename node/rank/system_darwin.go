package rank

import "golang.org/x/sys/unix"

// totalMemory returns the machine's memory in bytes.
func totalMemory() (uint64, error) { return unix.SysctlUint64("hw.memsize") }

// freeBytes returns how many bytes an ordinary user may still fill where dir is.
func freeBytes(dir string) (uint64, error) {
	var info unix.Statfs_t
	if err := unix.Statfs(dir, &info); err != nil {
		return 0, err
	}
	return info.Bavail * uint64(info.Bsize), nil
}
