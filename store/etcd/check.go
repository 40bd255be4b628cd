package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ringleader-dev/ringleader/store"
)

// Check asks for the version of etcd, whether this user may write below the prefix, and what is there.
func (e *election) Check(ctx context.Context) error {
	return e.target.Check(ctx, func(ctx context.Context) error {
		return e.does(ctx, func() error { return e.check(ctx) })
	})
}

func (e *election) check(ctx context.Context) error {
	r, err := pb.NewMaintenanceClient(e.client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return err
	}
	var major, minor int
	if n, _ := fmt.Sscanf(r.Version, "%d.%d", &major, &minor); n == 2 && (major < 3 || major == 3 && minor < 4) {
		return fmt.Errorf("%w: this is etcd %s: use etcd 3.4 or later", store.ErrWrong, r.Version)
	}
	// No key has a version below zero: this writes nothing. It is refused to whoever may not write.
	key := e.prefix + "check"
	never := clientv3.Compare(clientv3.Version(key), "<", 0)
	if _, err := e.client.Txn(ctx).If(never).Then(clientv3.OpPut(key, "")).Commit(); err != nil {
		return err
	}
	list, err := e.do(ctx)
	if err != nil {
		return err
	}
	if len(list) > 0 && list[0].Lease == 0 {
		return fmt.Errorf("%w: the key %.80q in etcd is no candidate of an election, for it has no lease: "+
			"delete it, or choose another prefix", store.ErrWrong, list[0].Key)
	}
	for _, kv := range list {
		if of, deeper := cutLast(string(kv.Key[len(e.prefix):])); deeper && kv.Lease != 0 {
			return fmt.Errorf("%w: there is an election %.80q, which lies below %s: name another prefix, for one "+
				"would queue behind the candidates of the other",
				store.ErrWrong, e.prefix+of, e.prefix[:len(e.prefix)-1])
		}
	}
	return e.checkAbove(ctx)
}

// checkAbove refuses a prefix below that of another election, whose candidates would queue behind ours.
func (e *election) checkAbove(ctx context.Context) error {
	own := strings.TrimSuffix(e.prefix, "/")
	for above, found := cutLast(own); found && above != ""; above, found = cutLast(above) {
		r, err := e.client.Get(ctx, above+"/", clientv3.WithPrefix(), clientv3.WithLimit(listed),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend), clientv3.WithKeysOnly())
		if errors.Is(rpctypes.Error(err), rpctypes.ErrPermissionDenied) {
			return nil // it is not ours to know
		}
		if err != nil {
			return err
		}
		for _, kv := range r.Kvs {
			lease, err := strconv.ParseInt(string(kv.Key[len(above)+1:]), 16, 64)
			if err == nil && lease == kv.Lease && lease != 0 {
				return fmt.Errorf(
					"%w: the prefix lies below %s, where another election is: name another prefix, for "+
						"its candidates would queue behind ours",
					store.ErrWrong,
					above,
				)
			}
		}
	}
	return nil
}

// cutLast returns what is before the last slash.
func cutLast(text string) (before string, found bool) {
	i := strings.LastIndexByte(text, '/')
	return text[:max(i, 0)], i >= 0
}

// advice is what to do about errors that do not pass, or that may not.
var advice = []struct {
	code codes.Code
	text string // what the error's text contains
	do   string
	may  bool // it may pass: a server that ends does the same
}{
	{code: codes.Unimplemented, do: other},
	{code: codes.Unavailable, text: "looked like an HTTP/1", do: other},
	{code: codes.Unavailable, text: "frame too large", do: other},
	{
		code: codes.Unavailable, text: "does not look like a TLS handshake",
		do: "etcd is not encrypted here: leave out tls, ca and cert",
	},
	{
		code: codes.Unavailable, text: "x509:",
		do: "etcd's certificate is not trusted: give ca=FILE, or correct the address",
	},
	{
		code: codes.Unavailable, text: "tls: ",
		do: "etcd does not accept this encryption: give ca=FILE, and cert=FILE and key-file=FILE",
	},
	{
		code: codes.Unavailable, text: "handshake failed: ", may: true,
		do: "if etcd is not encrypted here, leave out tls, ca and cert",
	},
	{
		code: codes.Unavailable, text: "server preface: ", may: true,
		do: "if etcd is encrypted here, give tls=true or ca=FILE",
	},
}

const other = "this is not etcd: correct the address"

// wrong returns err in words for people. It wraps store.ErrWrong if the configuration is to blame.
func wrong(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrWrong) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("etcd does not answer: %w", cause)
	}
	known := rpctypes.Error(err)
	for _, refused := range []error{
		rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty, rpctypes.ErrUserNotFound, rpctypes.ErrAuthFailed,
		rpctypes.ErrInvalidAuthMgmt,
	} {
		if errors.Is(known, refused) {
			return fmt.Errorf("%w: correct user=NAME and password-file=FILE, or the user's roles in etcd (%w)",
				store.ErrWrong, err)
		}
	}
	text := err.Error()
	if s, ok := status.FromError(err); ok {
		for _, a := range advice {
			if s.Code() != a.code || !strings.Contains(text, a.text) {
				continue
			}
			if a.may {
				return fmt.Errorf("etcd: %w: %s", err, a.do)
			}
			return fmt.Errorf("%w: %s (%w)", store.ErrWrong, a.do, err)
		}
	}
	return fmt.Errorf("etcd: %w", err)
}
