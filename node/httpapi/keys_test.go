package httpapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// keysOf is a Keys that has two keys, and notes the orders.
type keysOf struct {
	fails error
	asked []KeyOrder
}

func (k *keysOf) ChangeKeys(_ context.Context, o KeyOrder) ([]string, error) {
	k.asked = append(k.asked, o)
	return []string{"0123456789ab", "ba9876543210"}, k.fails
}

func TestKeys(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	const answer = `{"self":3,"keys":["0123456789ab","ba9876543210"]}`
	for _, c := range []struct {
		name, method, from, body string
		fails                    error
		code                     int
		answers                  string
		asked                    KeyVerb
	}{
		{"list", "POST", near, `{"do":"list"}`, nil, 200, answer, ListKeys},
		{"add", "POST", near, `{"do":"add","key":"` + key + `"}`, nil, 200, answer, AddKey},
		{"use", "POST", near, `{"do":"use","fingerprint":"0123456789ab"}`, nil, 200, answer, UseKey},
		{"remove", "POST", near, `{"do":"remove","fingerprint":"0123456789ab"}`, nil, 200, answer, RemoveKey},
		{"nothing", "POST", near, ``, nil, 400, "want list, add, use or remove", ""},
		{"null", "POST", near, `null`, nil, 400, "no object: want one like", ""},
		{"a list", "POST", near, `[]`, nil, 400, `{\"do\": \"list\"}`, ""},
		{"another verb", "POST", near, `{"do":"show"}`, nil, 400, "want list, add, use or remove", ""},
		{"list a key", "POST", near, `{"do":"list","key":"` + key + `"}`, nil, 400, "neither", ""},
		{"add nothing", "POST", near, `{"do":"add"}`, nil, 400, "as base64", ""},
		{"add no base64", "POST", near, `{"do":"add","key":"!"}`, nil, 400, "base64", ""},
		{"use by key", "POST", near, `{"do":"use","key":"` + key + `"}`, nil, 400, "not the key", ""},
		{"use no fingerprint", "POST", near, `{"do":"use","fingerprint":"0123"}`, nil, 400, "no fingerprint", ""},
		{"in capitals", "POST", near, `{"do":"use","fingerprint":"0123456789AB"}`, nil, 400, "no fingerprint", ""},
		{"looked at", "GET", near, ``, nil, 405, "only POST", ""},
		{"from afar", "POST", "10.0.0.9:1", `{"do":"list"}`, nil, 401, "needs its token", ""},
		{
			"refused", "POST", near, `{"do":"list"}`, fmt.Errorf("%w: so it is", ErrConflict), 409, "so it is",
			ListKeys,
		},
		{"disk", "POST", near, `{"do":"list"}`, errors.New("no space"), 500, "no space", ListKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &keysOf{fails: c.fails}
			r := httptest.NewRequest(c.method, "http://127.0.0.1:7948/v1/keys", strings.NewReader(c.body))
			r.RemoteAddr = c.from
			w := httptest.NewRecorder()
			Handler(Config{Source: fixed(well()), Keys: k}).ServeHTTP(w, r)
			got := strings.TrimSpace(w.Body.String())
			if w.Code != c.code || !strings.Contains(got, c.answers) || strings.Contains(got, key) {
				t.Errorf("%d %s; want %d %s", w.Code, got, c.code, c.answers)
			}
			if len(k.asked) > 0 != (c.asked != "") {
				t.Errorf("asked %+v", k.asked)
			} else if c.asked != "" && (k.asked[0].Do != c.asked || k.asked[0].By == "") {
				t.Errorf("asked %+v", k.asked[0])
			}
		})
	}
}

// The client tells what the server said, also of a node whose gossip is not encrypted.
func TestKeysClient(t *testing.T) {
	k := &keysOf{}
	server := httptest.NewServer(Handler(Config{Source: fixed(well()), Keys: k}))
	defer server.Close()
	c := Client{Addr: strings.TrimPrefix(server.URL, "http://")}
	got, err := c.ChangeKeys(t.Context(), KeyOrder{Do: AddKey, Key: make([]byte, 32)})
	if err != nil || got.Self != 3 || !slices.Equal(got.Keys, []string{"0123456789ab", "ba9876543210"}) ||
		len(k.asked[0].Key) != 32 {
		t.Errorf("%+v, %v", got, err)
	}
	k.fails = fmt.Errorf("%w: so it is", ErrConflict)
	if _, err := c.ChangeKeys(t.Context(), KeyOrder{Do: ListKeys}); !errors.Is(err, ErrConflict) ||
		!strings.Contains(err.Error(), "so it is") {
		t.Errorf("%v", err)
	}
	plain := httptest.NewServer(Handler(Config{Source: fixed(well())}))
	defer plain.Close()
	c.Addr = strings.TrimPrefix(plain.URL, "http://")
	if _, err := c.ChangeKeys(t.Context(), KeyOrder{Do: ListKeys}); !errors.Is(err, ErrConflict) ||
		!strings.Contains(err.Error(), "this node's gossip is not encrypted") {
		t.Errorf("%v", err)
	}
}
