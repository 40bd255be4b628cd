package redis

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// A server that wants TLS, and a certificate of the client.
func TestTLS(t *testing.T) {
	cert, key := storetest.Pair(t)
	port := storetest.FreePort(t)
	s := start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert)
	address := "127.0.0.1:" + port
	mutual := "/k?ca=" + cert + "&cert=" + cert + "&key-file=" + key
	for url, want := range map[string]string{
		"rediss://" + address + mutual: "",
		"redis://" + address + mutual:  "",
		"redis://" + s.address + "/k":  "",
		"rediss://" + address + "/k":   "its certificate is not trusted",
	} {
		p, err := parse(url)
		if err != nil {
			t.Fatal(err)
		}
		err = storetest.Open(t, p, 1, ttl).Check(t.Context())
		if want == "" && err == nil {
			continue
		}
		if want == "" || !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}
