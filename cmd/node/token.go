package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

// The token that lets its bearer change a node is never on a command line, where
// every user of the machine could read it.
const (
	tokenEnv   = "RINGLEADER_API_TOKEN"
	leastToken = 16 // bytes
	mostToken  = 4 << 10
)

// readToken reads the token that file holds.
func readToken(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", err
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("mode %04o lets others read the token: chmod 600 %s", info.Mode().Perm(), file)
	case info.Size() > mostToken:
		return "", fmt.Errorf("%d bytes are no token: at most %d", info.Size(), mostToken)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return checkToken(string(text))
}

// openToken reads the token that a node was configured with, if it was.
func (s *settings) openToken() (err error) {
	switch {
	case s.tokenFile != "":
		if s.apiToken, err = readToken(s.tokenFile); err != nil {
			return mark(errConfig, fmt.Errorf("api-token-file %s: %w", s.tokenFile, err))
		}
	case s.apiToken != "":
		if s.apiToken, err = checkToken(s.apiToken); err != nil {
			return mark(errConfig, fmt.Errorf("%s: %w", tokenEnv, err))
		}
	}
	return nil
}

func checkToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	switch {
	case len(token) < leastToken:
		return "", fmt.Errorf("a token of %d bytes is easily guessed: want at least %d, as from "+
			"head -c 24 /dev/urandom | base64", len(token), leastToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("a token is one word of printable ASCII")
	}
	return token, nil
}

func tokenFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "api-token-file", DefaultText: "$" + tokenEnv,
		Usage: "`FILE` with the node's token, to ask from another machine",
	}
}

// clientToken is the token for a command that changes a node: of the file, or the
// environment, or none.
func clientToken(ctx *cli.Context) (string, error) {
	file := ctx.String("api-token-file")
	if file == "" {
		file = os.Getenv(envName("api-token-file"))
	}
	if file != "" {
		token, err := readToken(file)
		if err != nil {
			return "", mark(errConfig, fmt.Errorf("--api-token-file %s: %w", file, err))
		}
		return token, nil
	}
	if text := os.Getenv(tokenEnv); text != "" {
		token, err := checkToken(text)
		return token, mark(errConfig, err)
	}
	return "", nil
}
