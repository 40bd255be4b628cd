// Package all reads the URL of any store. A program that imports it links the client of each.
package all

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/etcd"
	"github.com/ringleader-dev/ringleader/store/kubernetes"
	"github.com/ringleader-dev/ringleader/store/postgres"
	"github.com/ringleader-dev/ringleader/store/redis"
	"github.com/ringleader-dev/ringleader/store/zookeeper"
)

// kind is one kind of store, by the scheme of its URLs.
type kind struct {
	scheme string
	parse  func(*url.URL) (store.Store, error)
}

var kinds = []kind{
	{"etcd", etcd.Parse},
	{"kubernetes", kubernetes.Parse},
	{"postgres", postgres.Parse},
	{"postgresql", postgres.Parse},
	{"redis", redis.Parse},
	{"rediss", redis.Parse},
	{"zookeeper", zookeeper.Parse},
}

// Parse returns the store that a URL names. Errors never contain a password.
func Parse(text string) (store.Store, error) {
	u, err := storeurl.Split(text)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.scheme == u.Scheme })
	if i < 0 {
		return nil, fmt.Errorf("no store has the scheme %q: want %s", u.Scheme, strings.Join(Schemes(), ", "))
	}
	return kinds[i].parse(u)
}

// Schemes returns the schemes of the URLs of all stores.
func Schemes() []string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = k.scheme
	}
	return all
}
