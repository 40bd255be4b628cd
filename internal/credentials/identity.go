package credentials

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// scheme is the scheme of the URI that names a node.
const scheme = "ringleader"

// Identity is whom a certificate names.
type Identity struct {
	Cluster string
	ID      proto.NodeID
}

// label matches labels of any length. A limit of the length in the expression would cost each node
// 50 KiB of memory.
var label = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// CheckCluster refuses a text that is no label of a cluster.
func CheckCluster(text string) error {
	if len(text) > 64 || !label.MatchString(text) {
		return fmt.Errorf("a label is 1 to 64 letters, digits, dots, dashes or underscores, which %.80q is not", text)
	}
	return nil
}

// URI returns the name of the identity in a certificate, as ringleader:///CLUSTER/node/ID.
func (i Identity) URI() *url.URL {
	return &url.URL{Scheme: scheme, Path: "/" + i.Cluster + "/node/" + i.ID.String()}
}

// String returns the URI.
func (i Identity) String() string { return i.URI().String() }

// ParseIdentity reads the form that String returns.
func ParseIdentity(text string) (Identity, error) {
	wrong := fmt.Errorf("%.100q names no node: want %s:///CLUSTER/node/ID", text, scheme)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != scheme {
		return Identity{}, wrong
	}
	cluster, rest, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/node/")
	if !ok || CheckCluster(cluster) != nil {
		return Identity{}, wrong
	}
	id, err := proto.ParseNodeID(rest)
	i := Identity{cluster, id}
	if err != nil || i.String() != text {
		return Identity{}, wrong
	}
	return i, nil
}

// identityOf returns the one node that a certificate names.
func identityOf(c *x509.Certificate) (Identity, error) {
	var found []*url.URL
	for _, u := range c.URIs {
		if u.Scheme == scheme {
			found = append(found, u)
		}
	}
	switch len(found) {
	case 0:
		return Identity{}, errors.New("the certificate names no node: it needs the URI " +
			scheme + ":///CLUSTER/node/ID among its alternative names")
	case 1:
		return ParseIdentity(found[0].String())
	}
	return Identity{}, fmt.Errorf("the certificate names %d nodes: want one", len(found))
}
