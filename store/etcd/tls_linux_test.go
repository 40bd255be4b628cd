package etcd

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// A server that wants TLS, and a certificate of the client.
func TestTLS(t *testing.T) {
	cert, key := storetest.Pair(t)
	s, secure := start(t), freeAddr(t)
	s.kill()
	urls := "http://" + s.addr + ",https://" + secure
	s.args = append(s.args, "--listen-client-urls", urls, "--advertise-client-urls", urls,
		"--cert-file", cert, "--key-file", key, "--trusted-ca-file", cert, "--client-cert-auth")
	s.run(t)
	for url, want := range map[string]string{
		"etcd://" + secure + "/k?ca=" + cert + "&cert=" + cert + "&key-file=" + key: "",
		// The server tells why, and ends the connection: which of them is noticed first is chance.
		"etcd://" + secure + "/k?ca=" + cert: "Unavailable",
		"etcd://" + secure + "/k?tls=true":   "is not trusted: give ca=FILE",
		"etcd://" + secure + "/k":            "give tls=true",
		"etcd://" + s.addr + "/k":            "",
	} {
		u, err := storeurl.Split(url)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		p := storetest.Open(t, e, 1, ttl)
		err = p.Check(t.Context())
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", url, err, want)
		case want == "" && err != nil:
			t.Errorf("%s: %v", url, err)
		case want == "":
			p.Leads(p.Stand())
			p.Leave()
		}
	}
}
