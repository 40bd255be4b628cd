package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// Who has the token may change a node. The token is never given on a command line, where
// every user of the machine could read it.
const (
	tokenEnv  = "RINGLEADER_API_TOKEN"
	mostToken = 4 << 10
)

// readToken returns the token in file.
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

// tokenFrom returns the token in file or, without a file, the one in text; "" without both.
// In an error the parameter where names the setting that the file's name came from.
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

// openToken reads the node's token, if the settings have one.
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

// clientToken returns the token for a command that changes a node: from the file of
// --api-token-file or of its variable, else from RINGLEADER_API_TOKEN, else "".
func clientToken(ctx *cli.Context) (string, error) {
	file, where := ctx.String("api-token-file"), "--api-token-file"
	if file == "" {
		where = envName("api-token-file")
		file = os.Getenv(where)
	}
	return tokenFrom(where, file, os.Getenv(tokenEnv))
}
