package etcd

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ringleader-dev/ringleader/store"
)

// Parse returns the election that the URL names:
//
//	etcd://HOST:PORT,HOST:PORT/PREFIX?tls=true&ca=FILE&cert=FILE&key=FILE&user=NAME&password-file=FILE
//
// The slash before PREFIX is part of it, as in "etcdctl elect /PREFIX". A port that is missing is 2379. The user
// may also stand before the first host, as NAME@HOST.
func Parse(u *url.URL) (store.Store, error) {
	switch {
	case u.Scheme != "etcd":
		return nil, fmt.Errorf("scheme %q: want etcd://HOST:PORT/PREFIX", u.Scheme)
	case u.Opaque != "" || u.Host == "":
		return nil, errors.New("no host in the URL of etcd: want etcd://HOST:PORT/PREFIX")
	case u.Fragment != "":
		return nil, fmt.Errorf("the URL of etcd ends with #%s: write %%23 for # in a prefix", u.Fragment)
	}
	o := Options{Prefix: u.Path}
	if o.Prefix == "" || o.Prefix == "/" {
		return nil, errors.New("no prefix in the URL of etcd: want etcd://HOST:PORT/PREFIX")
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		if host != "" && !strings.Contains(host[strings.LastIndex(host, "]")+1:], ":") {
			host += ":2379"
		}
		o.Endpoints = append(o.Endpoints, host)
	}
	if u.User != nil {
		if _, ok := u.User.Password(); ok {
			return nil, errors.New("the URL of etcd has a password, which others could read: " +
				"write it to a file, and give password-file=FILE")
		}
		o.User = u.User.Username()
	}
	if err := o.read(u.RawQuery); err != nil {
		return nil, err
	}
	return New(o)
}

// read reads the options of a URL.
func (o *Options) read(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("the options in the URL of etcd: %w", err)
	}
	for name, value := range values {
		if len(value) != 1 || value[0] == "" {
			return fmt.Errorf("the option %s in the URL of etcd: want one value", name)
		}
		switch text := value[0]; name {
		case "ca":
			o.CA = text
		case "cert":
			o.Cert = text
		case "key":
			o.Key = text
		case "password-file":
			o.PasswordFile = text
		case "user":
			if o.User != "" && o.User != text {
				return fmt.Errorf("the URL of etcd names two users, %q and %q", o.User, text)
			}
			o.User = text
		case "tls":
			if text != "true" && text != "false" {
				return fmt.Errorf("tls=%s in the URL of etcd: want true or false", text)
			}
			o.TLS = text == "true"
		default:
			return fmt.Errorf("the URL of etcd has no option %q: "+
				"the options are ca, cert, key, password-file, tls and user", name)
		}
	}
	if values.Get("tls") == "false" && (o.CA != "" || o.Cert != "") {
		return errors.New("the URL of etcd has certificates, and tls=false: leave one out")
	}
	return nil
}
