package credentials

import (
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Revoke takes back all certificates of a node that the authority has made so far, and writes the list of all that
// were taken back into every directory. A later Issue makes one that is believed.
func (a *Authority) Revoke(id proto.NodeID) error {
	made, err := a.issued(id)
	if err != nil {
		return err
	}
	entries, count, err := a.revoked()
	if err != nil {
		return err
	}
	for _, n := range made {
		if !slices.ContainsFunc(entries, func(e x509.RevocationListEntry) bool { return e.SerialNumber.Cmp(n) == 0 }) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: n, RevocationTime: time.Now()})
		}
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: count.Add(count, big.NewInt(1)), RevokedCertificateEntries: entries,
		ThisUpdate: time.Now(), NextUpdate: a.cert.NotAfter,
	}, a.cert, a.key)
	if err != nil {
		return err
	}
	if err := writeFile(a.home(revokedFile), encode("X509 CRL", der), 0o644); err != nil {
		return err
	}
	all, err := filepath.Glob(filepath.Join(a.dir, "node-*"))
	for _, dir := range append(all, filepath.Join(a.dir, operatorDir)) {
		if _, err := os.Stat(dir); err == nil {
			if _, err := a.share(dir, revokedFile); err != nil {
				return err
			}
		}
	}
	return err
}

// issuedFile has a line for each certificate that the authority made: the node's id, and the certificate's number.
const issuedFile = "issued"

// note writes down that a certificate was made, before anybody has it.
func (a *Authority) note(id proto.NodeID, number *big.Int) error {
	before, err := ifThere(os.ReadFile(a.home(issuedFile)))
	if err != nil {
		return err
	}
	return writeFile(a.home(issuedFile), fmt.Appendf(before, "%v %v\n", id, number), 0o600)
}

// issued returns the numbers of all certificates that were made for a node.
func (a *Authority) issued(id proto.NodeID) (numbers []*big.Int, err error) {
	text, err := ifThere(os.ReadFile(a.home(issuedFile)))
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
		if of == id.String() {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("no certificate was made for node %v in %s: %w", id, a.dir, fs.ErrNotExist)
	}
	return numbers, nil
}

// revoked returns what was taken back before, and the number of that list.
func (a *Authority) revoked() (entries []x509.RevocationListEntry, number *big.Int, err error) {
	text, err := ifThere(readPublic(a.home(revokedFile)))
	if err != nil || text == nil {
		return nil, new(big.Int), err
	}
	ders, err := blocks(text, "X509 CRL")
	if err != nil {
		return nil, nil, err
	}
	list, err := x509.ParseRevocationList(ders[0])
	if err != nil {
		return nil, nil, err
	}
	return list.RevokedCertificateEntries, list.Number, nil
}
