package httpapi

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Role is what a token allows.
type Role string

// The roles, each of which allows what the one before it allows, too.
const (
	RoleRead    Role = "read"    // to ask
	RoleOperate Role = "operate" // to change the node, and to borrow its lease
)

// allows reports whether the role allows what wanted allows.
func (r Role) allows(wanted Role) bool { return r == wanted || r == RoleOperate && wanted == RoleRead }

const (
	leastToken = 16 // in bytes
	mostTokens = 64
)

// Tokens are the tokens that a node takes. The zero Tokens are none. They never print what they are.
type Tokens struct{ all []roleToken }

type roleToken struct {
	role Role
	sum  [sha256.Size]byte
	text *string // package fmt prints where it is, also in a struct that hides it from Format
}

func (t roleToken) same(other roleToken) bool { return t.role == other.role && t.sum == other.sum }

// ParseToken reads the token that a client needs to change a node. A token is one word; white space around it
// is ignored. The error says what is wrong, and does not show the token.
func ParseToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	switch {
	case token == "":
		return "", errors.New("it is empty: want a token, as from head -c 24 /dev/urandom | base64")
	case len(token) < leastToken:
		return "", fmt.Errorf("a token of %d bytes is easily guessed: want at least %d, as from "+
			"head -c 24 /dev/urandom | base64", len(token), leastToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("a token is one word of printable ASCII")
	}
	return token, nil
}

// ParseTokens reads tokens: each line is "operate TOKEN" or "read TOKEN", or the text is one token alone, which may
// operate. White space around a line, empty lines and lines that begin with # say nothing. The error does not show
// any of the text.
func ParseTokens(text string) (Tokens, error) {
	var lines [][]string
	var numbers []int
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines, numbers = append(lines, strings.Fields(line)), append(numbers, number)
		}
	}
	if len(lines) <= 1 && (len(lines) == 0 || len(lines[0]) == 1) {
		var alone string
		if len(lines) == 1 {
			alone = lines[0][0]
		}
		return Tokens{}.with(RoleOperate, alone)
	}
	if len(lines) > mostTokens {
		return Tokens{}, fmt.Errorf("%d tokens: at most %d", len(lines), mostTokens)
	}
	var t Tokens
	for i, words := range lines {
		role := Role(words[0])
		if len(words) != 2 || role != RoleRead && role != RoleOperate {
			return Tokens{}, fmt.Errorf("line %d: want %s TOKEN or %s TOKEN", numbers[i], RoleOperate, RoleRead)
		}
		var err error
		if t, err = t.with(role, words[1]); err != nil {
			return Tokens{}, fmt.Errorf("line %d: %w", numbers[i], err)
		}
	}
	return t, nil
}

// ParseTokenFile reads the tokens in a file that may just be written: it does what ParseTokens does, but refuses a text
// whose last line has no end, and a token without a role, which half of a line may look like.
func ParseTokenFile(text string) (Tokens, error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return Tokens{}, errors.New("its last line has no end: it is half written, or lacks a line feed")
	}
	t, err := ParseTokens(text)
	if err == nil && len(strings.Fields(text)) == 1 {
		err = fmt.Errorf("want lines %s TOKEN and %s TOKEN", RoleOperate, RoleRead)
	}
	return t, err
}

// with returns the tokens and one more.
func (t Tokens) with(role Role, text string) (Tokens, error) {
	token, err := ParseToken(text)
	if err != nil {
		return Tokens{}, err
	}
	sum := sha256.Sum256([]byte(token))
	if i := slices.IndexFunc(t.all, func(other roleToken) bool { return other.sum == sum }); i >= 0 {
		return Tokens{}, fmt.Errorf("the token is another line's, too: give each role its own")
	}
	return Tokens{append(slices.Clip(t.all), roleToken{role, sum, &token})}, nil
}

// role returns what a token allows; ok is false if it is none of these. How long it takes does not depend on which
// of the tokens it is, nor on how much of it is right.
func (t Tokens) role(given string) (r Role, ok bool) {
	sum, found := sha256.Sum256([]byte(given)), -1
	for i := range t.all {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.all[i].sum[:]), i, found)
	}
	if found < 0 {
		return "", false
	}
	return t.all[found].role, true
}

// Equal reports whether both are the same tokens, with the same roles, in the same order.
func (t Tokens) Equal(other Tokens) bool { return slices.EqualFunc(t.all, other.all, roleToken.same) }

// Best returns the token that allows most; "" if there is none.
func (t Tokens) Best() string { return cmp.Or(t.first(RoleOperate), t.first(RoleRead)) }

// Operate returns a token that allows to change a node; "" if there is none.
func (t Tokens) Operate() string { return t.first(RoleOperate) }

func (t Tokens) first(role Role) string {
	for _, is := range t.all {
		if is.role == role {
			return *is.text
		}
	}
	return ""
}

// Format implements fmt.Formatter: whatever the verb, it says how many tokens there are.
func (t Tokens) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "(tokens: %d)", len(t.all)) }
