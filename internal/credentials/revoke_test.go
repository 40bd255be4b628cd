package credentials_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/proto"
)

// revoking has nodes 1 to 3, of which 1 asks whether the certificates of the others count.
type revoking struct {
	*testing.T
	*credentials.Authority
	home string
	one  *credentials.Keeper
}

func newRevoking(t *testing.T) revoking {
	t.Helper()
	a, home := authority(t)
	for _, id := range []proto.NodeID{1, 2, 3} {
		issue(t, a, node(id))
	}
	return revoking{t, a, home, open(t, filepath.Join(home, "node-1"), node(1))}
}

func (r revoking) revoke(id proto.NodeID) {
	r.Helper()
	if err := r.Revoke(id); err != nil {
		r.Fatal(err)
	}
}

func (r revoking) lose(paths ...string) {
	r.Helper()
	for _, p := range paths {
		if err := os.Remove(filepath.Join(r.home, p)); err != nil {
			r.Fatal(err)
		}
	}
}

// dir returns the directory of a node.
func (r revoking) dir(id proto.NodeID) string { return filepath.Join(r.home, "node-"+id.String()) }

// refuses fails unless a node that starts now is refused with each of these directories.
func (r revoking) refuses(dirs ...string) {
	r.Helper()
	for _, dir := range dirs {
		list, err1 := os.ReadFile(filepath.Join(r.dir(1), "revoked.crl"))
		err2 := os.WriteFile(filepath.Join(dir, "revoked.crl"), list, 0o600)
		if err := errors.Join(err1, err2); err != nil {
			r.Fatal(err)
		}
		found, _ := credentials.Show(dir)
		if len(found) == 0 || !found[0].Revoked {
			r.Errorf("%s is believed", dir)
		}
	}
}

// "Who was taken back stays so": whatever of the authority's files is lost, the list that it writes next has all who
// were taken back before.
func TestNobodyIsLetInAgain(t *testing.T) {
	for name, lost := range map[string][]string{
		"the list": {"authority/revoked.crl"},
		"every list, as where the authority is kept apart": {
			"authority/revoked.crl", "node-1/revoked.crl", "node-2/revoked.crl", "node-3/revoked.crl",
		},
		"the list, and what was issued": {"authority/revoked.crl", "authority/issued"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRevoking(t)
			r.revoke(2)
			r.lose(lost...)
			r.revoke(3)
			r.refuses(r.dir(2), r.dir(3))
		})
	}
	r := newRevoking(t)
	r.revoke(2)
	path := filepath.Join(r.home, "authority", "revoked.crl")
	if err := os.Truncate(path, 40); err != nil {
		t.Fatal(err)
	}
	want := path + ": a PEM block in it is not whole, or does not begin at the beginning of a line: delete it, and " +
		"what the nodes' directories and " + filepath.Join(r.home, "authority", "issued") + " know is written"
	if err := r.Revoke(3); err == nil || err.Error() != want {
		t.Errorf("half a list: %v, want %s", err, want)
	}
	r.lose("authority/revoked.crl")
	r.revoke(3)
	r.refuses(r.dir(2), r.dir(3))
}

// A list of another authority is not taken for one of this authority.
func TestOthersListsAreNotMerged(t *testing.T) {
	r, other := newRevoking(t), newRevoking(t)
	other.revoke(2)
	list, err := os.ReadFile(filepath.Join(other.dir(1), "revoked.crl"))
	if err = errors.Join(err, os.WriteFile(filepath.Join(r.dir(2), "revoked.crl"), list, 0o600)); err != nil {
		t.Fatal(err)
	}
	r.revoke(3)
	r.refuses(r.dir(3))
	if _, err := r.one.Reload(); err != nil {
		t.Error(err)
	}
	found, err := credentials.Show(r.dir(2))
	if err != nil || found[0].Revoked {
		t.Errorf("%+v, %v", found, err)
	}
}

// replace writes files of directories, one after the other, into the file of another.
func replace(t *testing.T, into, name string, from ...string) {
	t.Helper()
	var all []byte
	for _, dir := range from {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	if err := os.WriteFile(filepath.Join(into, name), all, 0o600); err != nil {
		t.Fatal(err)
	}
}

// "`certs revoke` … copy `revoked.crl` to all others": a directory that cannot have the list keeps none of the others
// from it, and is named; the certificate is revoked anyway.
func TestADirectoryThatCannotHaveTheList(t *testing.T) {
	r := newRevoking(t)
	err := errors.Join(os.RemoveAll(r.dir(2)), os.WriteFile(r.dir(2), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	err = r.Revoke(3)
	unshared, ok := errors.AsType[credentials.UnsharedError](err)
	have := []string{filepath.Join(r.home, "authority"), r.dir(1), r.dir(3)}
	if !ok || !slices.Equal(unshared.Have, have) || !strings.Contains(err.Error(), r.dir(2)) {
		t.Errorf("%v", err)
	}
	r.refuses(r.dir(3))
}

// While one authority replaces another, nodes have the lists of both in one file.
func TestAListBehindAnothers(t *testing.T) {
	r, other := newRevoking(t), newRevoking(t)
	r.revoke(2)
	other.revoke(2)
	replace(t, r.dir(1), "revoked.crl", other.dir(1), r.dir(1))
	r.lose("authority/revoked.crl", "authority/issued", "node-2/revoked.crl", "node-3/revoked.crl")
	r.revoke(3)
	r.refuses(r.dir(2), r.dir(3))
}

// Without the file that has the numbers of all certificates, those that the nodes' directories show are known, also
// once they were renewed; and the authority knows that there may have been others.
func TestWhatWasIssuedIsFoundAgain(t *testing.T) {
	r := newRevoking(t)
	if forgot, err := r.Forgot(); forgot || err != nil {
		t.Errorf("%v, %v", forgot, err)
	}
	before := filepath.Join(t.TempDir(), "node-2")
	if err := os.CopyFS(before, os.DirFS(r.dir(2))); err != nil {
		t.Fatal(err)
	}
	r.lose("authority/issued")
	if err2, err7 := r.Made(2), r.Made(7); err2 != nil || !errors.Is(err7, credentials.ErrNotMade) {
		t.Errorf("what was made is not known: %v, %v", err2, err7)
	}
	issue(t, r.Authority, node(2))
	r.revoke(2)
	r.refuses(before, r.dir(2))
	if forgot, err := r.Forgot(); !forgot || err != nil {
		t.Errorf("%v, %v", forgot, err)
	}
}
