package cluster

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"sync"

	"github.com/ringleader-dev/ringleader"
)

// Serve answers requests: while this node leads with the handler that lead returns, and otherwise by
// sending the client to the leader. It never returns.
func (n *Node) Serve(lead func(context.Context, ringleader.Lease) (http.Handler, error)) {
	var mu sync.RWMutex // a request holds it, so that none outlasts the leadership
	var leading http.Handler
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		mu.RLock()
		defer mu.RUnlock()
		switch leader := n.Leader().ID; {
		case leading != nil:
			leading.ServeHTTP(w, r)
		case leader == 0 || leader == n.ID:
			http.Error(w, "nobody leads yet: ask again", http.StatusServiceUnavailable)
		default:
			http.Redirect(w, r, "http://"+n.Addrs[leader-1]+r.RequestURI, http.StatusTemporaryRedirect)
		}
	})
	become := func(h http.Handler) { mu.Lock(); leading = h; mu.Unlock() }
	go func() { log.Fatal(http.Serve(n.http, nil)) }()
	log.Fatal(n.Lead(context.Background(), func(ctx context.Context, lease ringleader.Lease) error {
		handler, err := lead(ctx, lease)
		if err == nil {
			fmt.Println("leads", lease.Term())
			become(handler)
			<-ctx.Done()
			become(nil)
		}
		if ctx.Err() != nil {
			return nil // another leads: wait for the next time
		}
		return err
	}))
}
