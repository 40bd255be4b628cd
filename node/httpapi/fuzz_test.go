package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whatever stands in a file of tokens: each token that is taken is long and printable, opens what its role allows,
// and is in no error and no print.
func FuzzParseTokens(f *testing.F) {
	for _, text := range []string{
		"", "a-token-of-one-word", "operate 0123456789abcdef\nread fedcba9876543210\n",
		"# a comment\n\nread 0123456789abcdef",
		"operate 0123456789abcdef\nread 0123456789abcdef\n", "write 0123456789abcdef\nread 1\n", "read \x00\x01",
		"operate\u2028read",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := ParseTokens(text)
		if err != nil {
			return
		}
		if len(tokens.all) == 0 || len(tokens.all) > mostTokens {
			t.Fatalf("%d tokens", len(tokens.all))
		}
		for _, is := range tokens.all {
			if one, err := ParseToken(*is.text); err != nil || one != *is.text || !strings.Contains(text, one) {
				t.Errorf("%q is taken for a token: %v", *is.text, err)
			}
			if r, ok := tokens.role(*is.text); !ok || r != is.role {
				t.Errorf("the token of role %s opens %q", is.role, r)
			}
		}
		if r, ok := tokens.role(""); ok {
			t.Errorf("no token opens %q", r)
		}
	})
}

// Whatever is sent to an address that changes the node: an answer in JSON, and an order only if it is valid. The key
// that was sent is not in the answer.
func FuzzOrders(f *testing.F) {
	for _, body := range []string{
		"", `{"do":"list"}`, `{"do":"add","key":"AAAA"}`, `{"do":"use","fingerprint":"0123456789ab"}`, `{"do":"use"}{}`,
		`{"to":3,"reason":"x"}`, `{"to":0}`, `{"to":-1}`, `[[[[`, `{"do":"list","x":1}`, "{\"do\":\"\u2028\"}",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		k := &keysOf{}
		h := Handler(Config{Source: fixed(well()), Keys: k})
		for _, path := range []string{keysPath, "/v1/transfer", "/v1/lease", "/v1/leases"} {
			r := httptest.NewRequest("POST", "http://127.0.0.1:7948"+path, bytes.NewReader(body))
			r.RemoteAddr = near
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if answer := w.Body.Bytes(); strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") &&
				!json.Valid(answer) {
				t.Errorf("%s: %d %q", path, w.Code, answer)
			}
		}
		for _, o := range k.asked {
			if err := o.validate(); err != nil {
				t.Errorf("asked %+v: %v", o, err)
			}
		}
	})
}
