package cluster

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/fence/store"
)

// Refused is the answer of a leader that says no.
type Refused string

func (r Refused) Error() string { return string(r) }

// Answer is a handler that returns its answer: 200 and the text, 409 for a Refused, 404 for what is not
// there, and 503, which says "ask again", for every other error.
type Answer func(r *http.Request) (string, error)

func (answer Answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := answer(r)
	refused, is := errors.AsType[Refused](err)
	switch {
	case is:
		http.Error(w, string(refused), http.StatusConflict)
	case errors.Is(err, store.ErrNotFound):
		http.Error(w, "there is none", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		fmt.Fprint(w, text)
	}
}

// client has no patience with a node that hangs.
var client = http.Client{Timeout: 5 * time.Second}

// Ask asks the nodes in turn until the leader answers, also across a failover: then the request may have
// been done twice, so whoever asks names what he asks for. The error is a Refused, or store.ErrNotFound.
func Ask(addrs []string, method, path, body string) (string, error) {
	for turn := 0; ; turn++ {
		r, err := http.NewRequest(method, "http://"+addrs[turn%len(addrs)]+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		answer, err := client.Do(r)
		if err == nil {
			text, bad := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			switch {
			case bad != nil: // it died while it answered
			case answer.StatusCode == http.StatusOK:
				return string(text), nil
			case answer.StatusCode == http.StatusNotFound:
				return "", store.ErrNotFound
			case answer.StatusCode < http.StatusInternalServerError:
				return "", Refused(strings.TrimSpace(string(text)))
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Ask asks whoever leads.
func (n *Node) Ask(method, path string) (string, error) { return Ask(n.Addrs, method, path, "") }
