package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func showCerts(ctx *cli.Context) error {
	if ctx.NArg() == 0 {
		return usagef("certs show: name a directory with credentials")
	}
	all, invalid := 0, 0
	var wrong []error
	for _, dir := range ctx.Args().Slice() {
		found, err := credentials.Show(dir)
		if err == nil {
			node := slices.ContainsFunc(found, func(c credentials.Certificate) bool { return c.Identity.ID != 0 })
			err = checkTokens(filepath.Join(dir, "api.token"), node)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, c := range found {
			all++
			now := time.Now()
			state := c.Invalid(now)
			if state == "" {
				state = fmt.Sprintf("%d days left", int(c.NotAfter.Sub(now).Hours()/24))
			} else {
				invalid++
			}
			if err := writeCert(ctx.App.Writer, c, state); err != nil {
				return err
			}
		}
	}
	if invalid > 0 {
		wrong = append(wrong, fmt.Errorf("%d of %d certificates %s not valid now", invalid, all,
			words.Either(invalid, "is", "are")))
	}
	return mark(errConfig, errors.Join(wrong...))
}

// checkTokens returns why the tokens in a file, which need not be there, are not taken: by a node or, unless it is a
// node's, by one who asks nodes.
func checkTokens(file string, node bool) error {
	parse := httpapi.ParseTokens
	if node {
		parse = httpapi.ParseTokenFile
	}
	text, err := credentials.ReadSecret(file, mostToken)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if _, err := parse(string(text)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func writeCert(w io.Writer, c credentials.Certificate, state string) error {
	who := c.Subject + ", which names no node"
	switch {
	case c.Identity.ID != 0:
		who = fmt.Sprintf("node %v of cluster %s", c.Identity.ID, c.Identity.Cluster)
	case c.Authority:
		who = "authority " + c.Subject
	}
	if c.Issuer != c.Subject {
		who += ", by " + c.Issuer
	}
	_, err := fmt.Fprintf(w, "%s: %s, until %s: %s\n", c.Path, who, c.NotAfter.UTC().Format(time.RFC3339), state)
	return err
}
