package fencehttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencehttp"
	"github.com/ringleader-dev/ringleader/proto"
)

// volatile forgets the highest token when the program ends. A real TokenStore writes it
// down before Seal returns.
type volatile struct{ highest fence.Token }

func (v *volatile) Highest() (fence.Token, error) { return v.highest, nil }
func (v *volatile) Seal(t fence.Token) error      { v.highest = t; return nil }

// Any handler becomes one that a leader which was replaced cannot write to.
func ExampleProtect() {
	guard, err := fence.NewGuard(&volatile{})
	if err != nil {
		panic(err)
	}
	storage := fencehttp.Protect(guard, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	put := func(term proto.Term) {
		r := httptest.NewRequest(http.MethodPut, "/balance", nil)
		r.Header.Set(fencehttp.Header, fence.Token{
			Term: term, Leader: 3, Incarnation: proto.Incarnation{byte(term)},
		}.String())
		w := httptest.NewRecorder()
		storage.ServeHTTP(w, r)
		fmt.Println("term", term, "->", w.Code)
	}
	put(1)
	put(2)
	put(1)
	// Output:
	// term 1 -> 200
	// term 2 -> 200
	// term 1 -> 412
}
