package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// The token that lets its bearer change a node is never on a command line, where
// every user of the machine could read it.
const (
	tokenEnv  = "RINGLEADER_API_TOKEN"
	mostToken = 4 << 10
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
	return httpapi.ParseToken(string(text))
}

// openToken reads the token that a node was configured with, if it was.
func (r *resolved) openToken() (err error) {
	switch {
	case r.tokenFile != "":
		if r.APIToken, err = readToken(r.tokenFile); err != nil {
			return mark(errConfig, fmt.Errorf("api-token-file %s: %w", r.tokenFile, err))
		}
	case r.tokenText != "":
		if r.APIToken, err = httpapi.ParseToken(r.tokenText); err != nil {
			return mark(errConfig, fmt.Errorf("%s: %w", tokenEnv, err))
		}
	}
	return nil
}

func tokenFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "api-token-file", DefaultText: "$" + envName("api-token-file") + ", or the token in $" + tokenEnv,
		Usage: "`FILE` with the node's token, to ask from another machine",
	}
}

// clientToken is the token for a command that changes a node: of the file, or the
// environment, or none.
func clientToken(ctx *cli.Context) (string, error) {
	file, where := ctx.String("api-token-file"), "--api-token-file"
	if file == "" {
		where = envName("api-token-file")
		file = os.Getenv(where)
	}
	if file != "" {
		token, err := readToken(file)
		if err != nil {
			return "", mark(errConfig, fmt.Errorf("%s %s: %w", where, file, err))
		}
		return token, nil
	}
	if text := os.Getenv(tokenEnv); text != "" {
		token, err := httpapi.ParseToken(text)
		if err != nil {
			return "", mark(errConfig, fmt.Errorf("%s: %w", tokenEnv, err))
		}
		return token, nil
	}
	return "", nil
}
