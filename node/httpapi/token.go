package httpapi

import (
	"errors"
	"fmt"
	"strings"
)

const leastToken = 16 // in bytes

// ParseToken reads the token that a client needs to change a node. A token is one word; white space around it
// is ignored. The error says what is wrong, and does not show the token.
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
