package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// "The group may read a file of root's, if the node does not run as root: so Kubernetes mounts a Secret."
func TestWhoMayReadASecret(t *testing.T) {
	for _, tt := range []struct {
		mode       fs.FileMode
		byRoot     bool
		wantAdvice string
	}{
		{0o600, false, ""},
		{0o400, true, ""},
		{0o440, true, ""},
		{0o640, true, ""},
		{0o440, false, "chmod 600 tls.key"},
		{0o604, false, "chmod 600 tls.key"},
		{0o620, true, "chmod 440 tls.key, as defaultMode: 0440 of a Secret of Kubernetes"},
		{0o450, true, "chmod 440 tls.key, as defaultMode: 0440 of a Secret of Kubernetes"},
		{0o644, true, "chmod 440 tls.key, as defaultMode: 0440 of a Secret of Kubernetes"},
	} {
		err := tooWide("tls.key", tt.mode, tt.byRoot)
		want := fmt.Sprintf("mode %04o lets others read tls.key: %s", tt.mode, tt.wantAdvice)
		if tt.wantAdvice == "" && err != nil || tt.wantAdvice != "" && (err == nil || err.Error() != want) {
			t.Errorf("%04o, given by root: %v: %v, want %q", tt.mode, tt.byRoot, err, want)
		}
	}
}

// "ringleader keys cannot write into a Secret, and says so."
func TestKeysOfAReadOnlyDirectory(t *testing.T) {
	const todo = "this node may not write there; if it is a Secret of Kubernetes, rotate the keys by changing " +
		"gossip.key in the Secrets of all nodes"
	for _, why := range []error{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		err := notSaved("/credentials", &fs.PathError{Op: "open", Path: "/credentials/.gossip.key-1", Err: why})
		if !errors.Is(err, why) || !strings.HasSuffix(err.Error(), todo) {
			t.Errorf("%v: %v", why, err)
		}
	}
	if err := notSaved("/credentials", syscall.ENOSPC); strings.Contains(err.Error(), "Secret") {
		t.Error(err)
	}
}
