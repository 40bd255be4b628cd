package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// Who has a token may ask a node, or change it. A token is never given on a command line, where
// every user of the machine could read it.
const (
	tokenEnv  = "RINGLEADER_API_TOKEN"
	mostToken = 64 << 10
)

// readToken returns the text of file, which has tokens for httpapi.ParseTokens.
func readToken(file string) (string, error) {
	text, err := credentials.ReadSecret(file, mostToken)
	if err != nil {
		return "", err
	}
	_, err = httpapi.ParseTokens(string(text))
	return strings.TrimSpace(string(text)), err
}

// tokenFrom returns the tokens in file or, without a file, those in text, which both are for httpapi.ParseTokens; ""
// without both. In an error the parameter where names the setting that the file's name came from.
func tokenFrom(where, file, text string) (token string, err error) {
	switch {
	case file != "":
		if token, err = readToken(file); err != nil {
			err = fmt.Errorf("%s %s: %w", where, file, err)
		}
	case text != "":
		token = text
		if _, err = httpapi.ParseTokens(text); err != nil {
			err = fmt.Errorf("%s: %w", tokenEnv, err)
		}
	}
	return token, mark(errConfig, err)
}

// openToken reads the node's token, if the settings have one, and takes it out of the environment: no process that
// the node starts is to have it.
func (r *resolved) openToken() (err error) {
	r.APIToken, err = tokenFrom("api-token-file", r.tokenFile, r.tokenText)
	return cmp.Or(err, os.Unsetenv(tokenEnv))
}

func tokenFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "api-token-file", DefaultText: "$" + envName("api-token-file") + ", or the token in $" + tokenEnv,
		Usage: "`FILE` with the node's token, if not that of the credentials",
	}
}

func inClearFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: "insecure", DefaultText: "$" + envName("insecure"),
		Usage: "send the token in clear to another machine's node, which runs without credentials",
	}
}

// inClear reports whether the token may go in clear to another machine: --insecure or its variable says so.
func inClear(ctx *cli.Context) (bool, error) {
	text := os.Getenv(envName("insecure"))
	if ctx.IsSet("insecure") || text == "" {
		return ctx.Bool("insecure"), nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		err = mark(errConfig, fmt.Errorf("%s %q: want true or false", envName("insecure"), text))
	}
	return yes, err
}

// clientToken returns the token for a command that asks a node: from the file of --api-token-file or of its variable,
// else from RINGLEADER_API_TOKEN, else from the directory of credentials, if keeper is not nil, else "". Where there
// are several, it is the one that allows most.
func clientToken(ctx *cli.Context, keeper *credentials.Keeper) (string, error) {
	file, where := ctx.String("api-token-file"), "--api-token-file"
	if file == "" {
		where = envName("api-token-file")
		file = os.Getenv(where)
	}
	text, err := tokenFrom(where, file, os.Getenv(tokenEnv))
	if err == nil && text == "" && keeper != nil {
		where, file = "credentials", keeper.Token()
		if _, missing := os.Lstat(file); errors.Is(missing, fs.ErrNotExist) {
			return "", nil // the node says that it wants one
		}
		text, err = tokenFrom(where, file, "")
	}
	if err != nil || text == "" {
		return "", err
	}
	tokens, err := httpapi.ParseTokens(text)
	return tokens.Best(), err
}
