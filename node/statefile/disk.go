package statefile

import (
	"io"
	"os"
)

// readSmall reads a file, but no more than tells that it is too large.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
