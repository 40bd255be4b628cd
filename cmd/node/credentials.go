package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

const credentialsEnv = envPrefix + "CREDENTIALS"

func credentialsFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "credentials", DefaultText: "$" + credentialsEnv,
		Usage: "`DIR` with ca.crt and api.token, to ask over HTTPS",
	}
}

// askingKeeper returns the credentials of who asks nodes, from --credentials or its variable; nil without both.
func askingKeeper(ctx *cli.Context) (*credentials.Keeper, error) {
	where, dir := "--credentials", ctx.String("credentials")
	if dir == "" {
		where, dir = credentialsEnv, os.Getenv(credentialsEnv)
	}
	if dir == "" {
		return nil, nil //nolint:nilnil // to ask without is no error
	}
	if strings.Contains(dir, "{id}") {
		return nil, mark(errConfig, fmt.Errorf("%s %s: {id} stands for the id of a node that runs: "+
			"to ask, name one directory with --credentials", where, dir))
	}
	keeper, err := credentials.Asking(dir)
	if err != nil {
		return nil, mark(errConfig, fmt.Errorf("%s %s: %w", where, dir, err))
	}
	return keeper, nil
}

// probe asks a node of this machine whether it is well, and needs no secret for that: it believes whatever
// certificate is shown, and sends no token. So the health check of a container works whoever it runs as.
func probe(ctx context.Context, node httpapi.Client) (httpapi.Health, error) {
	unverified := &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}
	first, second, other := (*tls.Config)(nil), unverified, httpapi.ErrHTTPS
	if os.Getenv(credentialsEnv) != "" { // most likely it serves HTTPS: it logs whoever asks otherwise
		first, second, other = unverified, nil, httpapi.ErrPlainHTTP
	}
	node.TLS = first
	h, err := node.Health(ctx)
	if errors.Is(err, other) {
		node.TLS = second
		h, err = node.Health(ctx)
	}
	return h, err
}
