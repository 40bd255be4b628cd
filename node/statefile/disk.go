package statefile

import (
	"errors"
	"io"
	"path/filepath"
)

// replace writes content durably to the file name in dir. It writes to the file temp first and
// renames that. It returns the open file.
func replace(disk Disk, dir, temp, name string, content []byte) (DiskFile, error) {
	temp = filepath.Join(dir, temp)
	f, err := disk.Create(temp)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = disk.Rename(temp, filepath.Join(dir, name))
	}
	if err == nil {
		err = disk.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSmall reads a file, but at most maxFile+1 bytes. A file with so many bytes is too large, and is no
// whole number of sectors.
func readSmall(disk Disk, path string) ([]byte, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
