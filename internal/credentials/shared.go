package credentials

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/durable"
	"github.com/ringleader-dev/ringleader/proto"
)

// Complete writes what the directory of a node, dir/node-ID, lacks, or has empty, and returns the names of the files
// that it wrote. Where the certificate is lost, or its key, it does what Issue does.
func (a *Authority) Complete(who Identity, hosts []string, life time.Duration) (wrote []string, err error) {
	dir := a.nodeDir(who.ID)
	cert, err1 := ifThere(ReadFile(filepath.Join(dir, certFile)))
	key, err2 := ifThere(ReadFile(filepath.Join(dir, keyFile)))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return a.issue(who, hosts, life)
	}
	return a.shareOnce(dir, caFile, revokedFile, gossipFile, tokenFile)
}

// Restore gives the authority the keys of gossip and the tokens that it has lost, and returns the names of the files
// that it wrote. It takes them from the directories that it made: whoever has a node's files has no others.
func (a *Authority) Restore() (wrote []string, err error) {
	for _, name := range []string{gossipFile, tokenFile} {
		if has(a.home(name)) {
			continue
		}
		content, err := a.lost(name)
		if err == nil {
			err = durable.WriteFile(a.home(name), content, 0o600)
		}
		if err != nil {
			return wrote, err
		}
		wrote = append(wrote, name)
	}
	return wrote, nil
}

// lost returns what a file of the authority had in it that nodes have, too.
func (a *Authority) lost(name string) (content []byte, err error) {
	copies, err := filepath.Glob(filepath.Join(a.dir, "*", name))
	if err != nil {
		return nil, err
	}
	for _, path := range copies {
		text, err := ReadSecret(path, maxFile)
		switch {
		case err != nil:
			return nil, err
		case len(text) == 0:
		case content == nil:
			content = text
		case !bytes.Equal(text, content) && name == gossipFile:
			return nil, fmt.Errorf("there is no %s, and those of the nodes' directories differ: run this again with "+
				"--gossip-key and the %s of a node that runs", a.home(name), name)
		case !bytes.Equal(text, content):
			return nil, fmt.Errorf("there is no %s, and those of the other directories differ: copy the one there "+
				"that new nodes are to have", a.home(name))
		}
	}
	notes, err := a.notes()
	switch {
	case err != nil || content != nil:
		return content, err
	case name == tokenFile:
		return newTokens(), nil
	case len(notes) > 0:
		return nil, fmt.Errorf("there is no %s, and none in a node's directory: run this again with --gossip-key and "+
			"the %s of a node that runs; if none runs, make one with head -c 32 /dev/urandom | base64",
			a.home(name), name)
	}
	return formatKeys([][]byte{NewGossipKey()}), nil
}

// has reports whether there is a file with anything in it.
func has(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// GossipKey returns the fingerprint of the key with which a new node seals gossip at first: that which the authority
// made, or the first of TakeGossipKeys.
func (a *Authority) GossipKey() (string, error) {
	keys, err := ReadGossipKeys(a.home(gossipFile))
	if err != nil {
		return "", err
	}
	return Fingerprint(keys[0]), nil
}

// TakeGossipKeys gives the keys in a file, which is like gossip.key, to these nodes, as far as they have a directory,
// and to all that are new from now on.
func (a *Authority) TakeGossipKeys(file string, ids []proto.NodeID) error {
	keys, err := ReadGossipKeys(file)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(a.home(gossipFile), formatKeys(keys), 0o600); err != nil {
		return err
	}
	for _, id := range ids {
		err := isThere(a.nodeDir(id))
		if err == nil {
			_, err = a.share(a.nodeDir(id), gossipFile)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// share copies files of the authority into dir, as far as they are there, and returns their names.
func (a *Authority) share(dir string, names ...string) (shared []string, err error) {
	for _, name := range names {
		content, err := ifThere(ReadFile(a.home(name)))
		if err != nil {
			return shared, err
		}
		mode := fs.FileMode(0o644)
		if name == gossipFile || name == tokenFile {
			mode = 0o600
		}
		if len(content) == 0 {
			continue
		}
		if err := durable.WriteFile(filepath.Join(dir, name), content, mode); err != nil {
			return shared, err
		}
		shared = append(shared, name)
	}
	return shared, nil
}

// shareOnce does what share does for the files that dir does not have, or has empty.
func (a *Authority) shareOnce(dir string, names ...string) (shared []string, err error) {
	return a.share(dir, slices.DeleteFunc(names, func(name string) bool { return has(filepath.Join(dir, name)) })...)
}
