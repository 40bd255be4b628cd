package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// election is an Election.
type election struct {
	*place
	store.Candidate
	hint   store.Hint
	prefix string // of the own znode

	// mu guards what the end of an entry that is not renewed needs to know.
	mu      sync.Mutex
	session *session
	asking  bool
	until   time.Time // when the own entry ends if it is not renewed; zero if there is none
	late    *time.Timer
	ending  sync.WaitGroup
	closed  bool

	flight   chan struct{} // closed when the request that was given up has ended
	own      string        // the name of the own znode, or ""
	sure     bool          // without an own name: there is none, whatever became of former requests
	leads    bool          // the own znode was the first
	watching string        // the znode that is watched, or the path
	watch    <-chan struct{}
	read     znode // the first that was read last
}

// znode is a candidate's znode as it was read.
type znode struct {
	algorithms.Entry
	name    string
	version int32
	session int64
}

// begin begins an ask: the entry does not end in the midst of it.
func (e *election) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asking = true
}

// finish ends an ask.
func (e *election) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asking = false
	if e.late != nil {
		e.late.Stop()
	}
	if s := e.session; s != nil && !e.until.IsZero() {
		e.late = time.AfterFunc(time.Until(e.until), func() { e.expire(s) })
	}
}

// expire ends the session of an entry that was not renewed in time.
func (e *election) expire(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.asking && e.session == s && !e.until.IsZero() && !time.Now().Before(e.until) {
		e.drop(true)
	}
}

// drop gives up the session, and ends it on the servers if so wanted. If not, the own entry is kept for as long as was
// said, since somebody may lead by it. The caller has locked mu.
func (e *election) drop(ended bool) {
	if s := e.session; s != nil {
		e.session, e.until = nil, time.Time{}
		e.ending.Go(func() { s.close(ended) })
		e.hint.Give()
	}
}

// setUntil says when the own entry ends if it is not renewed.
func (e *election) setUntil(t time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until = t
}

func (e *election) Close() error {
	e.mu.Lock()
	s := e.session
	e.session, e.closed = nil, true
	if e.late != nil {
		e.late.Stop()
	}
	e.mu.Unlock()
	if s != nil {
		s.close(false)
	}
	e.ending.Wait()
	return nil
}

// open returns the session, a new one if there is none.
func (e *election) open() (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("the election is closed")
	}
	if e.session == nil {
		s, err := e.connect(e.TTL, e.hint)
		if err != nil {
			return nil, err
		}
		e.session = s
		// What the session before left ends with that, but when is not known.
		e.sure = e.sure && e.own == ""
		e.own, e.leads, e.watching = "", false, ""
	}
	return e.session, nil
}

// do makes requests. Requests are made one after another, also when the one before was given up.
func (e *election) do(ctx context.Context, request func(*zk.Conn) error) error {
	s, err := e.open()
	if err != nil {
		return err
	}
	if e.flight != nil {
		select {
		case <-e.flight:
			e.flight = nil
		case <-ctx.Done():
			return s.why(fmt.Errorf("the request before has no answer: %w", ctx.Err()))
		}
	}
	done := make(chan error, 1)
	flight := make(chan struct{})
	auth := s.auth
	go func() {
		defer close(flight)
		if e.User != "" && !auth {
			password, err := e.password()
			if err == nil {
				err = s.conn.AddAuth("digest", password)
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- request(s.conn)
	}()
	select {
	case err = <-done:
	case <-s.odd:
		e.flight, err = flight, s.why(errors.New("no connection"))
	case <-ctx.Done():
		e.flight, err = flight, s.why(ctx.Err())
	}
	switch {
	case err == nil:
		s.auth = true
	case errors.Is(err, zk.ErrNoServer):
		err = s.why(err)
	case errors.Is(err, zk.ErrNoAuth):
		err = fmt.Errorf("%w: the user may not do this below %s: it needs create, delete, read and write (%w)",
			store.ErrWrong, e.Path, err)
	case errors.Is(err, zk.ErrAuthFailed):
		err = fmt.Errorf("%w: the user or the password is wrong (%w)", store.ErrWrong, err)
	case errors.Is(err, zk.ErrNoChildrenForEphemerals):
		err = fmt.Errorf("%w: %s or a znode above it is ephemeral, and can have no candidates below (%w)",
			store.ErrWrong, e.Path, err)
	}
	if errors.Is(err, store.ErrWrong) { // a new session may meet a better server, or password
		e.mu.Lock()
		defer e.mu.Unlock()
		e.drop(false)
	}
	return err
}

// Ask carries out one ask.
func (e *election) Ask(ctx context.Context, asked algorithms.Ask) (algorithms.Answered, error) {
	began := time.Now()
	e.begin()
	defer e.finish()
	var err error
	switch asked.Verb {
	case algorithms.AskLook, algorithms.AskRenew:
	case algorithms.AskStand:
		err = e.stand(ctx, began, asked.Remove)
	case algorithms.AskLeave:
		err = e.leave(ctx, asked.Remove)
	case algorithms.AskRemove:
		err = e.remove(ctx, asked.Remove)
	default:
		err = fmt.Errorf("a store cannot %s", asked.Verb)
	}
	if err != nil {
		return algorithms.Answered{}, err
	}
	holder, own, err := e.look(ctx)
	if err == nil && asked.Verb == algorithms.AskStand && own.IsZero() { // it was there, and has ended
		if err = e.stand(ctx, began, algorithms.Entry{}); err == nil {
			holder, own, err = e.look(ctx)
		}
	}
	if err == nil && asked.Verb == algorithms.AskRenew && !own.IsZero() &&
		(asked.Lent && !own.Lent || !own.Of(e.Peer)) {
		holder, own, err = e.rewrite(ctx, holder, own, asked.Lent)
	}
	if err != nil {
		return algorithms.Answered{}, err
	}
	answer := algorithms.Answered{Number: asked.Number, Holder: holder.Entry, Own: own.Entry}
	if !own.IsZero() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if asked.Verb == algorithms.AskStand || asked.Verb == algorithms.AskRenew {
			e.until = began.Add(e.TTL)
		}
		if e.session == nil || e.session.conn.SessionID() != own.session {
			return algorithms.Answered{}, errors.New("the session has ended in the midst of it")
		}
		answer.Keeps = e.session.keeps(began)
	}
	return answer, nil
}

// stand makes an own znode if there is none, and removes one.
func (e *election) stand(ctx context.Context, began time.Time, removed algorithms.Entry) error {
	if _, err := e.open(); err != nil {
		return err
	}
	if !e.sure && e.own == "" {
		if err := e.find(ctx); err != nil {
			return err
		}
	}
	if e.own != "" {
		return e.remove(ctx, removed)
	}
	e.setUntil(began.Add(e.TTL))
	create := &zk.CreateRequest{
		Path: e.Path + "/" + e.prefix, Data: []byte(e.Value(false)), Acl: e.acl(),
		Flags: zk.FlagEphemeral | zk.FlagSequence,
	}
	if !removed.IsZero() && removed.Key == e.read.Key && !e.read.Lent && e.read.ID != 0 {
		// "Deleted in one request": all of it is done, or nothing.
		if path, err := e.multi(ctx, &zk.DeleteRequest{
			Path: e.Path + "/" + e.read.name, Version: e.read.version,
		}, create); err != nil || path != "" {
			return err
		}
	}
	if err := e.remove(ctx, removed); err != nil {
		return err
	}
	err := e.create(ctx, create)
	if errors.Is(err, zk.ErrNoNode) {
		if err = e.makePath(ctx); err == nil {
			err = e.create(ctx, create)
		}
	}
	return err
}

// multi removes one znode and makes the own. It returns no path if the former is not as it was.
func (e *election) multi(ctx context.Context, remove *zk.DeleteRequest, create *zk.CreateRequest) (string, error) {
	e.sure = false
	var path string
	err := e.do(ctx, func(c *zk.Conn) error {
		answers, err := c.Multi(remove, create)
		if err == nil && len(answers) == 2 && answers[0].Error == nil && answers[1].Error == nil {
			path = answers[1].String
		}
		if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
			err = nil
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if path != "" {
		e.made(path)
	}
	return path, nil
}

func (e *election) create(ctx context.Context, create *zk.CreateRequest) error {
	e.sure = false
	var path string
	err := e.do(ctx, func(c *zk.Conn) (err error) {
		path, err = c.Create(create.Path, create.Data, create.Flags, create.Acl)
		return err
	})
	if err == nil {
		e.made(path)
	}
	return err
}

func (e *election) made(path string) {
	e.own, e.leads, e.sure = path[strings.LastIndexByte(path, '/')+1:], false, true
}

// find finds the own znode that a request made whose reply was lost, and removes what a former session left.
func (e *election) find(ctx context.Context) error {
	names, err := e.list(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, e.prefix) {
			continue
		}
		z, err := e.get(ctx, name, false)
		switch {
		case err != nil:
			return err
		case z.IsZero():
		case e.own == "" && e.ours(z):
			e.own = name
		default:
			if err := e.remove1(ctx, name, -1); err != nil {
				return err
			}
		}
	}
	e.sure = true
	return nil
}

// ours reports whether the znode belongs to the session that we have.
func (e *election) ours(z znode) bool {
	s, err := e.open()
	return err == nil && z.session != 0 && z.session == s.conn.SessionID() && strings.HasPrefix(z.name, e.prefix)
}

// leave removes the entry, if this candidate made it.
func (e *election) leave(ctx context.Context, entry algorithms.Entry) error {
	name := nameIn(entry)
	if !strings.HasPrefix(name, e.prefix) {
		return nil // it is of another process, or of none
	}
	if err := e.remove1(ctx, name, -1); err != nil {
		return err
	}
	if name == e.own {
		e.own, e.sure, e.leads = "", false, false
		e.setUntil(time.Time{})
	}
	return nil
}

// nameIn returns the name of an entry's znode; "" for none.
func nameIn(entry algorithms.Entry) string {
	return entry.Key[:max(0, strings.LastIndexByte(entry.Key, ' '))]
}

// remove removes this very entry, unless it is lent.
func (e *election) remove(ctx context.Context, entry algorithms.Entry) error {
	if entry.IsZero() {
		return nil
	}
	name := nameIn(entry)
	if _, _, ok := contender(name); !ok {
		return nil
	}
	z, err := e.get(ctx, name, false)
	if err != nil || z.Key != entry.Key || z.Lent || z.ID == 0 {
		return err
	}
	return e.remove1(ctx, name, z.version)
}

// remove1 removes the znode if it is at this version, and does nothing if it is not.
func (e *election) remove1(ctx context.Context, name string, version int32) error {
	return e.do(ctx, func(c *zk.Conn) error {
		err := c.Delete(e.Path+"/"+name, version)
		if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
			return nil
		}
		return err
	})
}

// rewrite marks the own entry as lent, or writes anew what another program wrote into it: the znode is that of our
// session all the same, and leads.
func (e *election) rewrite(ctx context.Context, holder, own znode, lent bool) (first, mine znode, err error) {
	value := e.Value(lent)
	err = e.do(ctx, func(c *zk.Conn) error {
		_, err := c.Set(e.Path+"/"+own.name, []byte(value), own.version)
		return err
	})
	if err != nil {
		return znode{}, znode{}, err
	}
	own.Entry = e.Read(own.Key, value, own.Token)
	own.version++
	if holder.name == own.name {
		holder = own
	}
	if e.read.name == own.name {
		e.read = own
	}
	return holder, own, nil
}

// look returns the first entry and the own, as they are now.
func (e *election) look(ctx context.Context) (first, own znode, err error) {
	if err := e.do(ctx, func(c *zk.Conn) error {
		_, err := c.Sync(e.Path)
		return err
	}); err != nil {
		return znode{}, znode{}, err
	}
	if e.own != "" {
		if own, err = e.get(ctx, e.own, e.leads); err != nil {
			return znode{}, znode{}, err
		}
		if !e.ours(own) {
			own = znode{}
			e.own, e.sure, e.leads = "", false, false
		}
		if e.leads { // whoever is first remains so: the numbers grow
			return own, own, nil
		}
	}
	for {
		names, err := e.list(ctx)
		if err != nil || len(names) == 0 {
			e.read = znode{}
			return znode{}, znode{}, err
		}
		if first, err = e.get(ctx, names[0], true); err != nil {
			return znode{}, znode{}, err
		}
		if first.IsZero() {
			continue
		}
		e.read = first
		for _, name := range names {
			if e.own == "" && strings.HasPrefix(name, e.prefix) {
				if own, err = e.get(ctx, name, false); err != nil {
					return znode{}, znode{}, err
				}
				if !e.ours(own) {
					own = znode{}
				}
				e.own = own.name
			}
		}
		e.leads = e.own != "" && e.own == names[0]
		if e.leads {
			own = first
		}
		return first, own, nil
	}
}

// list returns the candidates, the first first. Without one it watches for one.
func (e *election) list(ctx context.Context) ([]string, error) {
	gone := e.unwatched(e.Path)
	var names []string
	var changed <-chan zk.Event
	err := e.do(ctx, func(c *zk.Conn) (err error) {
		if names, _, err = c.Children(e.Path); err == nil {
			names = inOrder(names)
		}
		if errors.Is(err, zk.ErrNoNode) {
			names, err = nil, nil
		}
		if err == nil && len(names) == 0 && gone {
			if names, _, changed, err = c.ChildrenW(e.Path); err == nil {
				names = inOrder(names)
			}
			if errors.Is(err, zk.ErrNoNode) {
				_, _, changed, err = c.ExistsW(e.Path)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if changed != nil {
		e.watchFor(e.Path, changed)
	}
	return names, nil
}

// get reads a candidate, and watches it if so wanted. It returns the zero znode if there is none.
func (e *election) get(ctx context.Context, name string, watch bool) (znode, error) {
	var data []byte
	var stat *zk.Stat
	var changed <-chan zk.Event
	path := e.Path + "/" + name
	watch = watch && e.unwatched(name)
	err := e.do(ctx, func(c *zk.Conn) (err error) {
		if watch {
			data, stat, changed, err = c.GetW(path)
		} else {
			data, stat, err = c.Get(path)
		}
		return err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return znode{}, nil
	}
	if err != nil {
		return znode{}, err
	}
	if changed != nil {
		e.watchFor(name, changed)
	}
	key := name + " " + strconv.FormatInt(stat.Czxid, 10)
	return znode{
		e.Read(key, string(data), proto.Term(stat.Czxid)), name, stat.Version, stat.EphemeralOwner,
	}, nil
}

// unwatched reports whether what has this name is not watched.
func (e *election) unwatched(name string) bool {
	if e.watching != name {
		return true
	}
	select {
	case <-e.watch:
		return true
	default:
		return false
	}
}

// watchFor gives a hint at the event.
func (e *election) watchFor(name string, event <-chan zk.Event) {
	seen := make(chan struct{})
	e.watching, e.watch = name, seen
	go func() {
		<-event // the client library gives one, at the latest when it ends
		close(seen)
		e.hint.Give()
	}()
}
