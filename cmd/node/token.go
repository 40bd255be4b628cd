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

// tokenFrom is the token that file holds or, without a file, the one in text; "" without both.
// where is what names the file in an error.
func tokenFrom(where, file, text string) (token string, err error) {
	switch {
	case file != "":
		if token, err = readToken(file); err != nil {
			err = fmt.Errorf("%s %s: %w", where, file, err)
		}
	case text != "":
		if token, err = httpapi.ParseToken(text); err != nil {
			err = fmt.Errorf("%s: %w", tokenEnv, err)
		}
	}
	return token, mark(errConfig, err)
}

// openToken reads the token that a node was configured with, if it was.
func (r *resolved) openToken() (err error) {
	r.APIToken, err = tokenFrom("api-token-file", r.tokenFile, r.tokenText)
	return err
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
	return tokenFrom(where, file, os.Getenv(tokenEnv))
}
