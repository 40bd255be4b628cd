package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/store/all"
)

// The words for all stores and for none in a list of stores.
const (
	everyStore = "all"
	noStore    = "none"
)

// ParseStores reads kinds of stores that are separated by commas, or all or none.
func ParseStores(text string) (some []string, err error) {
	switch text {
	case everyStore:
		return storeserver.Kinds(), nil
	case noStore:
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		kind := strings.ToLower(strings.TrimSpace(word))
		switch {
		case !slices.Contains(storeserver.Kinds(), kind):
			return nil, fmt.Errorf("unknown store %q: want %s, %s, or one or more of %s, with commas between them",
				kind, everyStore, noStore, strings.Join(storeserver.Kinds(), ","))
		case slices.Contains(some, kind):
			return nil, fmt.Errorf("%s is named twice", kind)
		}
		some = append(some, kind)
	}
	return some, nil
}

// stores are the servers of the stores.
type stores struct {
	servers map[string]*storeserver.Server // by kind
	missing map[string]string              // why there is no server of a kind
	places  int                            // how many elections were named
}

// startStores starts a server of each kind. A kind whose programs are not installed is missing. The caller must
// close the stores, with an error, too.
func startStores(ctx context.Context, kinds []string) (*stores, error) {
	s := &stores{servers: map[string]*storeserver.Server{}, missing: map[string]string{}}
	for _, kind := range kinds {
		server, err := storeserver.Start(ctx, kind)
		switch {
		case errors.Is(err, storeserver.ErrMissing):
			s.missing[kind] = err.Error()
		case err != nil:
			return s, err
		default:
			s.servers[kind] = server
		}
	}
	return s, nil
}

// place returns the URL of an election in which no cluster has stood yet.
func (s *stores) place(kind string) string {
	s.places++
	return s.servers[kind].URL(fmt.Sprintf("compare%d", s.places))
}

// lacks returns why there is no server of a kind; "" if there is one, or if none was looked for yet.
func (s *stores) lacks(kind string) string {
	if s == nil {
		return ""
	}
	return s.missing[kind]
}

func (s *stores) close() error {
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}

// guaranteeOn returns what a kind of store promises of a leadership on one server of it.
func guaranteeOn(kind string) algorithms.Guarantee {
	s, err := all.Parse(kind + "://127.0.0.1/compare")
	if err != nil { // no such store can be asked for
		return algorithms.BestEffort
	}
	return s.Guarantee()
}

// checkStores returns an error if stores are asked for, and no algorithm can stand on one.
func (o Options) checkStores() error {
	if len(o.Stores) == 0 || slices.ContainsFunc(o.contenders(), func(c contender) bool { return c.store != "" }) {
		return nil
	}
	return fmt.Errorf("%w: on a store stands an algorithm that nominates, as bully; those named decide by themselves",
		bench.ErrOptions)
}
