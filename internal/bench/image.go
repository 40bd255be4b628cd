package bench

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
)

// The paths of the image's only file and only directory, and the user as which the node runs: the
// same as in the Dockerfile.
const (
	imageBinary = "/ringleader"
	imageData   = "/data"
	imageUser   = 65532
)

// importImage makes an image that holds only the executable. It needs no registry, no Dockerfile
// and no checkout.
func importImage(name, binary string) error {
	files, fill := io.Pipe()
	go func() { fill.CloseWithError(writeImage(fill, binary)) }()
	defer files.Close() // ends the writer, too
	_, err := docker(
		files, "import",
		"--change", fmt.Sprintf("USER %d:%[1]d", imageUser),
		"--change", fmt.Sprintf("ENTRYPOINT [%q]", imageBinary),
		"-", name,
	)
	return err
}

// writeImage writes the image's file system as a tar archive.
func writeImage(w io.Writer, binary string) error {
	f, err := os.Open(binary)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	// A volume takes its owner from the directory.
	err = t.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir, Name: imageData[1:] + "/", Mode: 0o755, Uid: imageUser, Gid: imageUser,
	})
	if err != nil {
		return err
	}
	err = t.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: imageBinary[1:], Mode: 0o755, Size: info.Size(),
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(t, f); err != nil {
		return err
	}
	return t.Close()
}
