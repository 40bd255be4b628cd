package attribute

import "golang.org/x/sys/unix"

// totalMemory is the machine's memory in bytes.
func totalMemory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	return uint64(info.Totalram) * uint64(info.Unit), nil //nolint:unconvert // on 32-bit machines
}

// freeBytes is the space left to an ordinary user where dir is. Blocks are
// counted in fragments, which some FUSE file systems have smaller than the
// block size.
func freeBytes(dir string) (uint64, error) {
	var info unix.Statfs_t
	if err := unix.Statfs(dir, &info); err != nil {
		return 0, err
	}
	return info.Bavail * uint64(info.Frsize), nil
}
