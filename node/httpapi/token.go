package httpapi

import (
	"errors"
	"fmt"
	"strings"
)

const leastToken = 16 // bytes

// ParseToken reads a token that lets its bearer change a node: one word, with white space around
// it that does not count. The error says what is wrong, and not what the token is.
func ParseToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	switch {
	case len(token) < leastToken:
		return "", fmt.Errorf("a token of %d bytes is easily guessed: want at least %d, as from "+
			"head -c 24 /dev/urandom | base64", len(token), leastToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("a token is one word of printable ASCII")
	}
	return token, nil
}
