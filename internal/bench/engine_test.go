package bench

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The death of a process on another machine cannot be seen.
func TestCheckLocal(t *testing.T) {
	if err := checkLocal("unix:///var/run/docker.sock"); err != nil {
		t.Error(err)
	}
	for _, endpoint := range []string{"tcp://10.0.0.1:2376", "ssh://me@there", "npipe:////./pipe/docker"} {
		err := checkLocal(endpoint)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "not at "+endpoint) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// An image of nothing but the executable has no loader for it.
func TestCheckStatic(t *testing.T) {
	for _, c := range []struct {
		segment elf.ProgType
		want    string
	}{
		{elf.PT_LOAD, ""}, {elf.PT_INTERP, "CGO_ENABLED=0"},
	} {
		var b bytes.Buffer
		const headerSize, segmentSize = 64, 56
		for _, part := range []any{
			elf.Header64{
				Ident: [elf.EI_NIDENT]byte{
					0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT),
				},
				Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
				Phoff: headerSize, Ehsize: headerSize, Phentsize: segmentSize, Phnum: 1,
			},
			elf.Prog64{Type: uint32(c.segment)},
		} {
			if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, b.Bytes(), 0o755); err != nil {
			t.Fatal(err)
		}
		err := checkStatic(file)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.segment, err)
		case c.want != "" && (!errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v, want %q", c.segment, err, c.want)
		}
	}
}

// The image is the executable and a directory that the node may write to.
func TestWriteImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("the program"), 0o600); err != nil {
		t.Fatal(err)
	}
	var image bytes.Buffer
	if err := writeImage(&image, file); err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(&image)
	data, err := files.Next()
	if err != nil || data.Name != "data/" || data.Uid != imageUser || data.Mode != 0o755 {
		t.Errorf("%+v, %v", data, err)
	}
	program, err := files.Next()
	if err != nil || program.Name != "ringleader" || program.Mode != 0o755 {
		t.Errorf("%+v, %v", program, err)
	}
	if text, err := io.ReadAll(files); string(text) != "the program" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if more, err := files.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%+v, %v", more, err)
	}
}
