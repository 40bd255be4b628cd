package kubernetes

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// access is how the API server is reached, and who we are for it.
type access struct {
	server *url.URL
	tls    *tls.Config // nil without TLS
	token  func() (string, error)
}

// source is where a text is: in a file, or at hand.
type source struct {
	file string
	text []byte
}

func inFile(name string) source { return source{file: name} }

func (s source) isZero() bool { return s.file == "" && len(s.text) == 0 }

func (s source) read() ([]byte, error) {
	if len(s.text) > 0 {
		return s.text, nil
	}
	return os.ReadFile(s.file)
}

// identity is who we are, and whom we trust.
type identity struct {
	token, tokenFile string
	ca, cert, key    source
	serverName       string
	insecure         bool
}

func accessBy(server string, is identity) (a access, err error) {
	a.server, err = url.Parse(server)
	switch {
	case err != nil || a.server.Host == "" || a.server.User != nil || a.server.RawQuery != "":
		return a, fmt.Errorf("the server %.80q: write server=https://HOST:PORT", server)
	case a.server.Scheme != "https" && a.server.Scheme != "http":
		return a, fmt.Errorf("the server %.80q: want https:// or http://", server)
	}
	a.token = func() (string, error) {
		if is.tokenFile == "" {
			return is.token, nil
		}
		text, err := os.ReadFile(is.tokenFile)
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	if _, err := a.token(); err != nil {
		return a, err
	}
	if a.server.Scheme == "http" {
		return a, nil
	}
	a.tls = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: is.serverName, InsecureSkipVerify: is.insecure}
	if !is.ca.isZero() {
		text, err := is.ca.read()
		if err != nil {
			return a, fmt.Errorf("read the CA: %w", err)
		}
		a.tls.RootCAs = x509.NewCertPool()
		if !a.tls.RootCAs.AppendCertsFromPEM(text) {
			return a, errors.New("there is no certificate in the CA")
		}
	}
	if is.cert.isZero() {
		return a, nil
	}
	// Read anew for each connection: certificates are renewed while we run.
	pair := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		cert, certErr := is.cert.read()
		key, keyErr := is.key.read()
		if err := errors.Join(certErr, keyErr); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		return &pair, err
	}
	if _, err := pair(nil); err != nil {
		return a, fmt.Errorf("read the certificate: %w", err)
	}
	a.tls.GetClientCertificate = pair
	return a, nil
}

// serviceAccount is where a pod has its service account.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// fromPod returns the access of the pod that this process is in.
func fromPod(dir string) (access, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), cmp.Or(os.Getenv("KUBERNETES_SERVICE_PORT"), "443")
	if host == "" {
		return access{}, errors.New("this is no pod: give kubeconfig=FILE, or server=URL and token-file=FILE")
	}
	a, err := accessBy("https://"+net.JoinHostPort(host, port), identity{
		tokenFile: filepath.Join(dir, "token"), ca: inFile(filepath.Join(dir, "ca.crt")),
	})
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("the pod has no service account (automountServiceAccountToken): %w", err)
	}
	return a, err
}

// kubeconfig is what we need of such a file.
type kubeconfig struct {
	Current  string `yaml:"current-context"`
	Contexts []struct {
		Name    string
		Context struct{ Cluster, User string }
	}
	Clusters []struct {
		Name    string
		Cluster struct {
			Server     string
			CA         string `yaml:"certificate-authority"`
			CAData     string `yaml:"certificate-authority-data"`
			ServerName string `yaml:"tls-server-name"`
			Insecure   bool   `yaml:"insecure-skip-tls-verify"`
			Proxy      string `yaml:"proxy-url"`
		}
	}
	Users []struct {
		Name string
		User struct {
			Token     string
			TokenFile string `yaml:"tokenFile"`
			Cert      string `yaml:"client-certificate"`
			CertData  string `yaml:"client-certificate-data"`
			Key       string `yaml:"client-key"`
			KeyData   string `yaml:"client-key-data"`
			Username  string
			As        string
			Exec      any
			Provider  any `yaml:"auth-provider"`
		}
	}
}

// fromKubeconfig returns the access of a context in the file, of the current one if name is empty.
func fromKubeconfig(file, name string) (a access, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return a, fmt.Errorf("read the kubeconfig: %w", err)
	}
	var k kubeconfig
	if yaml.Unmarshal(text, &k) != nil { // the error may quote a token
		return a, fmt.Errorf("%s is no kubeconfig", file)
	}
	name = cmp.Or(name, k.Current)
	for _, c := range k.Contexts {
		if c.Name == name {
			if a, err = k.access(filepath.Dir(file), c.Context.Cluster, c.Context.User); err != nil {
				err = fmt.Errorf("the context %q of %s: %w", name, file, err)
			}
			return a, err
		}
	}
	return a, fmt.Errorf("there is no context %q in %s", name, file)
}

// access returns that of a user to a cluster. Names of files are relative to dir.
func (k *kubeconfig) access(dir, cluster, user string) (a access, err error) {
	var is identity
	var server string
	in := func(file, data string) (s source) {
		if s.file = file; file != "" && !filepath.IsAbs(file) {
			s.file = filepath.Join(dir, file)
		}
		var bad error
		if s.text, bad = base64.StdEncoding.DecodeString(data); bad != nil {
			err = errors.New("its data is not in base64")
		}
		return s
	}
	for _, c := range k.Clusters {
		if c.Name != cluster {
			continue
		}
		if c.Cluster.Proxy != "" {
			return a, errors.New("a proxy-url is not supported")
		}
		server, is.insecure, is.serverName = c.Cluster.Server, c.Cluster.Insecure, c.Cluster.ServerName
		is.ca = in(c.Cluster.CA, c.Cluster.CAData)
	}
	for _, u := range k.Users {
		if u.Name != user {
			continue
		}
		if is := u.User; is.Exec != nil || is.Provider != nil || is.Username != "" || is.As != "" {
			return a, errors.New("of a user only a token and a certificate are supported: make a service account")
		}
		is.token, is.tokenFile = u.User.Token, in(u.User.TokenFile, "").file
		is.cert, is.key = in(u.User.Cert, u.User.CertData), in(u.User.Key, u.User.KeyData)
	}
	if err == nil && server == "" {
		err = fmt.Errorf("there is no server of the cluster %q", cluster)
	}
	if err != nil {
		return a, err
	}
	return accessBy(server, is)
}
