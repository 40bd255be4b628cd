package rank

import "golang.org/x/sys/unix"

// totalMemory returns the machine's memory in bytes.
func totalMemory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	return uint64(info.Totalram) * uint64(info.Unit), nil //nolint:unconvert // on 32-bit machines
}

// freeBytes returns how many bytes an ordinary user may still fill where dir is. It counts in
// fragments, which on some FUSE file systems are smaller than blocks.
func freeBytes(dir string) (uint64, error) {
	var info unix.Statfs_t
	if err := unix.Statfs(dir, &info); err != nil {
		return 0, err
	}
	return info.Bavail * uint64(info.Frsize), nil
}
