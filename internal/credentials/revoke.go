package credentials

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/durable"
	"github.com/ringleader-dev/ringleader/proto"
)

// Revoke takes back all certificates of nodes that the authority has made so far, and writes the list of all that
// were taken back into every directory. A later Issue makes one that is believed. With an UnsharedError it is done but
// for the directories that lack the list, and with ErrNotMade nothing is.
func (a *Authority) Revoke(ids ...proto.NodeID) error {
	var made []*big.Int
	for _, id := range ids {
		of, err := a.issued(id)
		if err != nil {
			return err
		}
		made = append(made, of...)
	}
	entries, count, err := a.revoked()
	if err != nil {
		return err
	}
	entries = merge(entries, made)
	if err := a.note(wordRevoked, made...); err != nil {
		return err
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: count.Add(count, big.NewInt(1)), RevokedCertificateEntries: entries,
		ThisUpdate: time.Now(), NextUpdate: a.cert.NotAfter,
	}, a.cert, a.key)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(a.home(revokedFile), encode("X509 CRL", der), 0o644); err != nil {
		return err
	}
	return a.shareRevoked()
}

// UnsharedError says that certificates were taken back, and that directories lack the list.
type UnsharedError struct {
	Have []string // the directories that have it
	Lack []string // why the others lack it
}

func (e UnsharedError) Error() string {
	return fmt.Sprintf("the new %s is in %s alone: %s", revokedFile, strings.Join(e.Have, ", "),
		strings.Join(e.Lack, "; "))
}

// shareRevoked writes the list into every directory that can have it.
func (a *Authority) shareRevoked() error {
	all, err := filepath.Glob(filepath.Join(a.dir, nodeDirs))
	if err != nil {
		return err
	}
	to := UnsharedError{Have: []string{filepath.Join(a.dir, authorityDir)}}
	for _, dir := range append(all, filepath.Join(a.dir, operatorDir)) {
		err := isThere(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, err = a.share(dir, revokedFile)
		}
		if err != nil {
			to.Lack = append(to.Lack, err.Error())
		} else {
			to.Have = append(to.Have, dir)
		}
	}
	if len(to.Lack) > 0 {
		return to
	}
	return nil
}

// merge adds the numbers that no entry has.
func merge(entries []x509.RevocationListEntry, numbers []*big.Int) []x509.RevocationListEntry {
	for _, n := range numbers {
		if !slices.ContainsFunc(entries, func(e x509.RevocationListEntry) bool { return e.SerialNumber.Cmp(n) == 0 }) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: n, RevocationTime: time.Now()})
		}
	}
	return entries
}

// revoked returns what was taken back before, and the number of the last list. The authority's own list may be lost, or
// be an older one: those in the directories that it made, and its notes, count as well.
func (a *Authority) revoked() (entries []x509.RevocationListEntry, number *big.Int, err error) {
	lists, err := filepath.Glob(filepath.Join(a.dir, "*", revokedFile))
	if err != nil {
		return nil, nil, err
	}
	number = new(big.Int)
	for _, path := range lists {
		list, err := a.listIn(path)
		switch {
		case err != nil && path == a.home(revokedFile):
			return nil, nil, fmt.Errorf("%s: %w: delete it, and what the nodes' directories and %s know is written",
				path, err, a.home(issuedFile))
		case err != nil: // it is another authority's, or a new one replaces it
			continue
		}
		for _, e := range list.RevokedCertificateEntries {
			if len(merge(entries, []*big.Int{e.SerialNumber})) > len(entries) {
				entries = append(entries, e)
			}
		}
		if list.Number.Cmp(number) > 0 {
			number = list.Number
		}
	}
	noted, err := a.noted(wordRevoked)
	return merge(entries, noted), number, err
}

// listIn returns the list of this authority in a file, which may have another one's, too.
func (a *Authority) listIn(path string) (*x509.RevocationList, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	ders, err := blocks(text, "X509 CRL")
	if err != nil {
		return nil, err
	}
	for _, der := range ders {
		var list *x509.RevocationList
		if list, err = x509.ParseRevocationList(der); err == nil {
			err = list.CheckSignatureFrom(a.cert)
		}
		if err == nil {
			return list, nil
		}
	}
	return nil, err
}

// issuedFile has lines of a word and the number of a certificate. The word is the id of the node for which the
// authority made it, or one of those below.
const (
	issuedFile  = "issued"
	wordRevoked = "revoked" // it was taken back
	wordLost    = "lost"    // the file was lost: there may have been certificates that are not in it
)

// note writes down that a certificate was made, before anybody has it, or taken back.
func (a *Authority) note(word string, numbers ...*big.Int) error {
	text, err := a.notes()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if line := fmt.Appendf(nil, "%s %v\n", word, n); !bytes.Contains(text, line) {
			text = append(text, line...)
		}
	}
	return durable.WriteFile(a.home(issuedFile), text, 0o600)
}

// notes returns what issuedFile has. If it is lost, these are the certificates that the nodes' directories have.
func (a *Authority) notes() (text []byte, err error) {
	if text, err = ifThere(ReadFile(a.home(issuedFile))); err != nil || len(text) > 0 {
		return text, err
	}
	nodes, err := filepath.Glob(filepath.Join(a.dir, nodeDirs))
	for _, dir := range nodes {
		if c := certIn(dir); c != nil && c.CheckSignatureFrom(a.cert) == nil {
			who, _ := identityOf(c)
			text = fmt.Appendf(text, "%v %v\n", who.ID, c.SerialNumber)
		}
	}
	if _, gone := os.Stat(a.home(issuedFile)); gone != nil || len(text) > 0 {
		text = fmt.Appendf(text, "%s 0\n", wordLost)
	}
	return text, err
}

// noted returns the numbers that stand behind a word.
func (a *Authority) noted(word string) (numbers []*big.Int, err error) {
	text, err := a.notes()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		of, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, ok := new(big.Int).SetString(number, 10)
		if !ok {
			return nil, fmt.Errorf("%s: %.100q: want the id of a node and the number of its certificate",
				a.home(issuedFile), line)
		}
		if of == word {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// ErrNotMade says that the authority knows no certificate of a node.
var ErrNotMade = errors.New("no certificate was made")

// issued returns the numbers of all certificates that were made for a node.
func (a *Authority) issued(id proto.NodeID) (numbers []*big.Int, err error) {
	numbers, err = a.noted(id.String())
	if err == nil && len(numbers) == 0 {
		err = fmt.Errorf("%w for node %v in %s", ErrNotMade, id, a.dir)
		if forgot, _ := a.Forgot(); forgot {
			err = fmt.Errorf("%w that is known: %s was lost, and %s has no certificate of this authority: bring one "+
				"of them back", ErrNotMade, a.home(issuedFile), a.nodeDir(id))
		}
	}
	return numbers, err
}

// Forgot reports whether the file was lost that has the numbers of all certificates. Then Revoke takes back those alone
// that the nodes' directories showed, and what was made since.
func (a *Authority) Forgot() (bool, error) {
	lost, err := a.noted(wordLost)
	return len(lost) > 0, err
}

// Made returns an error, which wraps ErrNotMade if nothing else is wrong, unless the authority has made a certificate
// for the node.
func (a *Authority) Made(id proto.NodeID) error {
	_, err := a.issued(id)
	return err
}
