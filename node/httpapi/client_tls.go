package httpapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// Why a Client and a node do not understand each other, or the Client does not believe that it is a node.
var (
	// ErrHTTPS: the node serves HTTPS, and the Client has no TLS.
	ErrHTTPS = errors.New("the node serves HTTPS: give --credentials DIR")
	// ErrPlainHTTP: what answers speaks plain HTTP, and the Client has TLS. It has sent no token.
	ErrPlainHTTP = errors.New("plain HTTP is spoken there, and by no node with credentials: no request was sent; is " +
		"the address right? A node that was started without credentials is safely asked only on its own machine, " +
		"without --credentials: from another one its answer could be anybody's, and a token would go in clear")
	// ErrTokenInClear: the Client has a token and no TLS, the node is not of this machine, and InClear is not set.
	ErrTokenInClear = errors.New("the token would go to another machine in clear, for whoever is on the way to read: " +
		"it was not sent; give --credentials DIR or, if the node runs without and you trust the network, --insecure")
	// ErrUntrusted: Client.TLS refuses what the node shows. The Client has sent no token.
	ErrUntrusted = errors.New("the node there is not to be believed")
)

// notHTTPS is the answer to one who speaks plain HTTP to a node that serves HTTPS.
var notHTTPS = otherScheme{refusal{"this node serves HTTPS, and nothing else: ask it with https://"}, true}

type otherScheme struct {
	refusal
	HTTPS bool `json:"https"`
}

// wantsHTTPS reports whether an answer over plain HTTP is notHTTPS.
func wantsHTTPS(status int, body []byte) bool {
	var said otherScheme
	return status == http.StatusBadRequest && json.Unmarshal(body, &said) == nil && said.HTTPS
}

// http returns what sends the client's requests.
func (c Client) http() *http.Client {
	if c.TLS == nil {
		return caller
	}
	secured := *caller
	secured.Transport = &http.Transport{DisableKeepAlives: true, DialTLSContext: c.dial}
	return &secured
}

// dial connects to the node, and does the handshake of TLS.
func (c Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg, refused := c.TLS.Clone(), error(nil)
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(addr)
	}
	if verify := cfg.VerifyConnection; verify != nil {
		cfg.VerifyConnection = func(s tls.ConnectionState) error {
			refused = verify(s)
			return refused
		}
	}
	conn := tls.Client(raw, cfg)
	if err = conn.HandshakeContext(ctx); err == nil {
		return conn, nil
	}
	_ = raw.Close()
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	switch {
	case refused != nil:
		return nil, fmt.Errorf("%w: %w", ErrUntrusted, refused)
	case errors.As(err, &certificate):
		return nil, fmt.Errorf("%w: %w", ErrUntrusted, certificate.Err)
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return nil, ErrPlainHTTP
	}
	return nil, fmt.Errorf("TLS handshake: %w", err)
}

// unanswered says why a request got no answer.
func unanswered(err error) error {
	for _, known := range []error{ErrPlainHTTP, ErrUntrusted} {
		if errors.Is(err, known) {
			if wrapped, ok := errors.AsType[*url.Error](err); ok {
				return wrapped.Err
			}
		}
	}
	return unreachable(err, askHint)
}
