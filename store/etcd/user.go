package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

// user is who makes the requests, in the words of etcd's own authentication. The zero user's name is empty.
type user struct {
	name, file string
	remote     pb.AuthClient
	token      atomic.Pointer[string] // nil before the user has logged in
}

// GetRequestMetadata returns the token for a request.
func (u *user) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if token := u.token.Load(); token != nil && *token != "" {
		return map[string]string{rpctypes.TokenFieldNameGRPC: *token}, nil
	}
	return nil, nil
}

// RequireTransportSecurity says that a token may travel without TLS: that is for the configuration to decide.
func (u *user) RequireTransportSecurity() bool { return false }

// does carries out what f asks for. It logs in first if need be. A token may end at any time: then it logs in and
// asks again, which does no harm.
func (u *user) does(ctx context.Context, f func() error) error {
	if u.name == "" {
		return f()
	}
	if u.token.Load() == nil {
		if err := u.login(ctx); err != nil {
			return err
		}
	}
	err := f()
	if !ended(err) {
		return err
	}
	if err := u.login(ctx); err != nil {
		return err
	}
	return f()
}

// ended reports whether etcd wants another token.
func ended(err error) bool {
	if err == nil {
		return false
	}
	known := rpctypes.Error(err)
	return errors.Is(known, rpctypes.ErrInvalidAuthToken) || errors.Is(known, rpctypes.ErrAuthOldRevision) ||
		errors.Is(known, rpctypes.ErrUserEmpty)
}

// login gets a token. It needs none if etcd has its authentication switched off.
func (u *user) login(ctx context.Context) error {
	u.token.Store(nil)
	password, err := storeurl.Password(u.file)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrWrong, err)
	}
	r, err := u.remote.Authenticate(ctx, &pb.AuthenticateRequest{Name: u.name, Password: password})
	if err != nil && !errors.Is(rpctypes.Error(err), rpctypes.ErrAuthNotEnabled) {
		return err
	}
	token := r.GetToken()
	u.token.Store(&token)
	return nil
}
