package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	text, err := credentials.ReadFile(path)
	is := strings.TrimSpace(string(text))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return FieldError{"DataDir", err}
	case err != nil && d.Credentials == nil:
		return nil
	case is == "" && d.Credentials != nil:
		if err := durable.WriteFile(path, []byte(want+"\n"), 0o600); err != nil {
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
	w := credentialsWatch{Daemon: d, reload: d.Credentials.Reload, warned: time.Now()}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			w.look(ctx, now)
			d.links.Recheck()
		}
	}
}

// credentialsWatch is what the log has been told of the credentials.
type credentialsWatch struct {
	*Daemon
	reload  func() (changed bool, err error)
	reading chan reloaded // gets what a reload returns that has not been waited for to the end; nil without one
	warned  time.Time     // when it was last told that the certificate expires
	failed  string        // why the files cannot be used; "" if they can
}

// reloaded is what a reload returned.
type reloaded struct {
	changed bool
	err     error
}

// read reads the files again. It waits no longer than rereadEvery, nor once ctx is done: a disk of the network may
// never answer. The next read then waits for the same answer.
func (w *credentialsWatch) read(ctx context.Context) reloaded {
	if w.reading == nil {
		answer := make(chan reloaded, 1)
		w.reading = answer
		go func() {
			changed, err := w.reload()
			w.tokens.get() // logs what is new of them, also if nobody asks this node anything
			answer <- reloaded{changed, err}
		}()
	}
	late := time.NewTimer(rereadEvery)
	defer late.Stop()
	select {
	case r := <-w.reading:
		w.reading = nil
		return r
	case <-ctx.Done():
		return reloaded{err: ctx.Err()}
	case <-late.C:
		return reloaded{err: fmt.Errorf("%s: the files have not been read within %v", w.CredentialsDir, rereadEvery)}
	}
}

// look reads the files, and logs what is new of them, and of what the others think of this node's certificate.
func (w *credentialsWatch) look(ctx context.Context, now time.Time) {
	r := w.read(ctx)
	if ctx.Err() != nil {
		return
	}
	changed, err, why := r.changed, r.err, lasting(r.err)
	switch {
	case err != nil && why != w.failed:
		w.log.Error().Err(err).
			Msg("credentials on disk cannot be used: this node goes on with what it has in their place")
	case err == nil && !changed && w.failed != "":
		w.log.Info().Msg("the credentials on disk can be used again, and this node uses them")
	}
	w.failed = why
	if changed {
		w.log.Info().Time("expires", w.Credentials.Expires()).Msg("new credentials: no restart is needed")
		w.warned = time.Time{}
		if err := w.keys.applyReloaded(); err != nil {
			w.log.Error().Err(err).Msg("gossip goes on with the keys that it has")
		}
	}
	w.lookForRefusal()
	if now.Sub(w.warned) > warnAgain {
		w.warned = now
		w.warnOfExpiry(now)
	}
}

// lasting returns a text by which to know an error again, whatever the clock says by then; "" for none.
func lasting(err error) string {
	if u, ok := errors.AsType[credentials.UntimelyError](err); ok {
		u.Now = time.Time{}
		return u.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// lookForRefusal finds out whether the others would refuse a new link of this node, and logs when that changes.
func (w *credentialsWatch) lookForRefusal() {
	why := ""
	if err := w.Credentials.Refused(); err != nil {
		why = err.Error()
	}
	switch before := w.refusal(); {
	case why != "" && before == "":
		w.log.Error().Str("why", why).Msgf("this node's certificate is not valid: once %s has one that is, this "+
			"node takes it without a restart", w.CredentialsDir)
	case why == "" && before != "":
		w.log.Info().Msg("this node's certificate is valid again")
	}
	w.refused.Store(&why)
}

// refusal returns why the others would refuse a new link of this node, as it was found out last; "" if they would
// accept one.
func (d *Daemon) refusal() string {
	if why := d.refused.Load(); why != nil {
		return *why
	}
	return ""
}

// warnOfExpiry logs when the certificate expires, if that is soon, and is not over.
func (d *Daemon) warnOfExpiry(now time.Time) {
	if left := d.Credentials.Expires().Sub(now); 0 < left && left < expiresSoon {
		d.log.Warn().Time("expires", d.Credentials.Expires()).Msgf("this node's certificate expires in %v: replace "+
			"the files in %s, and it takes them without a restart", left.Round(time.Second), d.CredentialsDir)
	}
}
