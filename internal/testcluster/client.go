package testcluster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// Operator returns the directory of credentials of those who ask the nodes of a secured Cluster.
func (c *Cluster) Operator() string { return filepath.Join(c.Credentials(), "operator") }

// Client returns a client of a node, which may change it. For a secured Cluster it has the operator's credentials.
func (c *Cluster) Client(id proto.NodeID) (httpapi.Client, error) {
	client := httpapi.Client{Addr: c.Node(id).HTTP}
	if !c.cfg.Secured {
		return client, nil
	}
	keeper, err := credentials.Asking(c.Operator())
	if err != nil {
		return client, err
	}
	text, err := os.ReadFile(keeper.Token())
	if err != nil {
		return client, err
	}
	tokens, err := httpapi.ParseTokens(string(text))
	if err != nil {
		return client, fmt.Errorf("%s: %w", keeper.Token(), err)
	}
	client.TLS, client.Token = keeper.Ask(), tokens.Operate()
	return client, nil
}
