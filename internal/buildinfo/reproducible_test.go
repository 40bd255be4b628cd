package buildinfo

import (
	"crypto/sha256"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

var emptyCache = flag.Bool("empty-cache", false, "TestLongReproducible compiles everything anew for its second build")

// Who builds a commit with the same version of Go, for the same platform, gets the same bytes: make build
// twice, in directories of other names and depths. make supply has the second one compile everything anew.
func TestLongReproducible(t *testing.T) {
	_, err := exec.LookPath("git")
	needs.Here(t, "a reproducible build", err)
	files := sources(t) // read once: somebody may be at work on them
	dir := t.TempDir()
	first := build(t, files, filepath.Join(dir, "a"))
	var cache []string
	if *emptyCache {
		cache = append(cache, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	second := build(t, files, filepath.Join(dir, "another place", "deeper"), cache...)
	if first.sum != second.sum {
		t.Errorf("two builds: SHA-256 %x and %x", first.sum, second.sum)
	}
	t.Logf("two builds, one SHA-256: %x", first.sum)

	if said := output(t, exec.Command(first.binary, "version")); !strings.Contains(said, ", commit ") {
		t.Errorf("the build does not know its commit: %s", said)
	}
	bom := output(t, exec.Command(first.binary, "version", "--sbom"))
	for line := range strings.Lines(output(t, exec.Command("go", "version", "-m", first.binary))) {
		f := strings.Fields(line)
		if f[0] == "dep" && !strings.Contains(bom, `"name":"`+f[1]+`","version":"`+f[2]+`"`) {
			t.Errorf("%s %s is linked, and not in the bill of materials: %s", f[1], f[2], bom)
		}
	}
}

// sources reads all files but what is built, and git's own: there need be no git here, or the files may be another
// user's, whom git does not trust.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	root := os.DirFS(top)
	files := make(map[string][]byte)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".git" || path == "bin":
			return fs.SkipDir
		case entry.Type().IsRegular():
			files[path], err = fs.ReadFile(root, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type built struct {
	binary string
	sum    [sha256.Size]byte
}

// build copies the files into dir, as one commit that is the same in every directory, and builds there
// as a user does.
func build(t *testing.T, files map[string][]byte, dir string, env ...string) built {
	t.Helper()
	for file, b := range files {
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const date = "2026-01-01T00:00:00Z"
	for _, args := range [][]string{
		{"git", "init", "-q"},
		{"git", "add", "-A"},
		{"git", "-c", "user.name=test", "-c", "user.email=", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "all"},
		{"make", "build"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date,
			"GOFLAGS=-buildvcs=true", "GOCACHEPROG=", "MAKEFLAGS=")
		cmd.Env = append(cmd.Env, env...)
		output(t, cmd)
	}
	binary := filepath.Join(dir, "bin", "ringleader")
	b, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return built{binary, sha256.Sum256(b)}
}
