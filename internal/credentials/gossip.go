package credentials

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	gossipKeyLen = 32 // AES-256
	// MaxGossipKeys is how many keys of gossip a node has at most.
	MaxGossipKeys = 8
)

// NewGossipKey draws a key of gossip.
func NewGossipKey() []byte {
	key := make([]byte, gossipKeyLen)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	return key
}

// parseGossipKey reads one key: 16, 24 or 32 bytes as base64. The error does not show the key.
func parseGossipKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("a key is not base64")
	}
	return key, ValidateGossipKey(key)
}

// ValidateGossipKey returns an error unless a key has 16, 24 or 32 bytes. The error does not show the key.
func ValidateGossipKey(key []byte) error {
	switch len(key) {
	case 16, 24, 32:
		return nil
	}
	return fmt.Errorf("a key of %d bytes: want 32, as from head -c 32 /dev/urandom | base64", len(key))
}

// parseKeys reads one key a line. Empty lines, and those that begin with #, say nothing. A key that is there twice
// counts where it is first.
func (m *material) parseKeys(text []byte) error {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := parseGossipKey(line)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(m.keys, func(k []byte) bool { return bytes.Equal(k, key) }) {
			m.keys = append(m.keys, key)
		}
	}
	switch n := len(m.keys); {
	case n == 0:
		return errors.New("there is no key in it")
	case n > MaxGossipKeys:
		return fmt.Errorf("%d keys in it: at most %d", n, MaxGossipKeys)
	}
	return nil
}

// ReadGossipKeys reads the keys in a file, which is like gossip.key. Errors do not show a key.
func ReadGossipKeys(file string) (keys [][]byte, err error) {
	text, err := ReadSecret(file, maxFile)
	if err != nil {
		return nil, err
	}
	var m material
	if err := m.parseKeys(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m.keys, nil
}

// formatKeys returns the text of a file with these keys.
func formatKeys(keys [][]byte) []byte {
	var b bytes.Buffer
	b.WriteString("# keys of gossip, the one to seal with first\n")
	for _, k := range keys {
		b.WriteString(base64.StdEncoding.EncodeToString(k) + "\n")
	}
	return b.Bytes()
}

// Fingerprint returns a name for a key that does not tell the key: the beginning of its SHA-256.
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(append([]byte("ringleader gossip key\n"), key...))
	return hex.EncodeToString(sum[:6])
}
