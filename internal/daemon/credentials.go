package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/durable"
)

const (
	// rereadEvery is how often the files of the credentials are looked at. Links are then checked, too: a
	// certificate expires without a file that changes.
	rereadEvery = 5 * time.Second
	// expiresSoon is how long before its certificate expires a node warns of it.
	expiresSoon = 30 * 24 * time.Hour
	// warnAgain is how often it does.
	warnAgain = 24 * time.Hour
)

// pin is the file in the data directory that has the identity of the node that votes there: see pinIdentity.
const pin = "identity"

// openCredentials reads the credentials, if there are any.
func (d *Daemon) openCredentials() error {
	if d.CredentialsDir == "" {
		return nil
	}
	k, err := credentials.Open(d.CredentialsDir, d.identity())
	if err != nil {
		return FieldError{"Credentials", wrong(err)}
	}
	d.Credentials = k
	d.warnOfExpiry(time.Now())
	return nil
}

func (d *Daemon) identity() credentials.Identity {
	return credentials.Identity{Cluster: d.Cluster, ID: d.ID}
}

// pinIdentity writes the node's identity beside its votes. From then on only that identity uses them; and nobody
// without credentials, who would look to the others like one that only says that it is that node, unless the operator
// wants it so.
func (d *Daemon) pinIdentity() error {
	path, want := filepath.Join(d.DataDir, pin), d.identity().String()
	text, err := os.ReadFile(path)
	is := strings.TrimSpace(string(text))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return FieldError{"DataDir", err}
	case err != nil && d.Credentials == nil:
		return nil
	case err != nil:
		err := os.WriteFile(path, []byte(want+"\n"), 0o600)
		if err = errors.Join(err, durable.SyncDir(d.DataDir)); err != nil {
			return FieldError{"DataDir", err}
		}
		return nil
	case d.Credentials == nil && !d.Unpinned:
		return FieldError{"Credentials", wrong(fmt.Errorf("the node of %s had credentials, as %s: give them again, or "+
			"say by insecure that it is to go on without", d.DataDir, is))}
	case d.Credentials != nil && is != want:
		return FieldError{"DataDir", wrong(fmt.Errorf("%s is of %.200q, and this node is %s: give it its own data "+
			"directory", path, is, want))}
	}
	return nil
}

// watchCredentials reads the files again when they change, ends links whose other end is not believed any more, and
// warns of a certificate that expires, until ctx is done.
func (d *Daemon) watchCredentials(ctx context.Context) {
	every := time.NewTicker(rereadEvery)
	defer every.Stop()
	warned, failed := time.Now(), ""
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			changed, err := d.Credentials.Reload()
			switch {
			case err != nil && err.Error() != failed:
				failed = err.Error()
				d.log.Error().Err(err).
					Msg("the credentials on disk cannot be used: this node goes on with those it has")
			case err == nil:
				failed = ""
			}
			if changed {
				d.log.Info().Time("expires", d.Credentials.Expires()).Msg("new credentials: no restart is needed")
				warned = time.Time{}
				if err := d.keys.applyReloaded(); err != nil {
					d.log.Error().Err(err).Msg("gossip goes on with the keys that it has")
				}
			}
			d.links.Recheck()
			if now.Sub(warned) > warnAgain {
				warned = now
				d.warnOfExpiry(now)
			}
		}
	}
}

// warnOfExpiry logs when the certificate expires, if that is soon.
func (d *Daemon) warnOfExpiry(now time.Time) {
	if left := d.Credentials.Expires().Sub(now); left < expiresSoon {
		d.log.Warn().Time("expires", d.Credentials.Expires()).Msgf("this node's certificate expires in %v: replace "+
			"the files in %s, and it takes them without a restart", left.Round(time.Second), d.CredentialsDir)
	}
}
