package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// The scripts begin alike. Each answers with the value of the entry, how long it lasts, and the token.
// A script that finds an entry of ours that a later request has changed does nothing.
const common = `
local key, counter, asks = KEYS[1], KEYS[2], KEYS[3]
local own, lent, ttl, number = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local want, again, isLent = tonumber(ARGV[5]), ARGV[6] == '1', ARGV[7] == '1'
local gone, goneToken = ARGV[8], tonumber(ARGV[9])
local value = redis.call('GET', key)
local function token() return tonumber(redis.call('GET', counter) or '0') end
local function changed() redis.call('PUBLISH', key .. ':changed', '') end
local mine = (value == own or value == lent) and tonumber(redis.call('GET', asks) or '0') <= number
local function keep(text)
  redis.call('SET', key, text, 'PX', ttl)
  redis.call('SET', asks, ARGV[4], 'PX', ttl)
end
local function remove()
  if gone ~= '' and value == gone and token() == goneToken then
    redis.call('DEL', key)
    value = false
    changed()
  end
end
local function answer()
  return {redis.call('GET', key) or '', redis.call('PTTL', key), redis.call('GET', counter) or '0'}
end
`

// verb is the script of one verb.
type verb = *redis.Script

func script(body string) verb { return redis.NewScript(common + body + "\nreturn answer()") }

var (
	look = script(``)
	// "SET resource_name my_random_value NX PX 30000". The token is the wanted one where a majority counts, and
	// the next one where one server does.
	stand = script(`
remove()
if not value and want == 0 then
  redis.call('INCR', counter)
  keep(own)
  changed()
elseif not value and (token() < want or (again and token() == want)) then
  redis.call('SET', counter, ARGV[5])
  keep(own)
  changed()
elseif mine then
  if token() < want then redis.call('SET', counter, ARGV[5]) end
  keep(value)
end`)
	renew = script(`
if mine then
  local text = own
  if isLent or value == lent then text = lent end
  keep(text)
  if text ~= value then changed() end
end`)
	// "Remove the key only if it exists and the value stored at the key is exactly the one I expect to be."
	leave = script(`
if mine and token() == want then
  redis.call('DEL', key, asks)
  changed()
end`)
	removal = script(`remove()`)
)

// ask is what a script needs to know beyond the candidate.
type ask struct {
	number      uint64
	want        proto.Term // the token to stand with, 0 for the next one; or that of the entry to leave
	again, lent bool
	remove      algorithms.Entry
}

// seen is what one server answered.
type seen struct {
	value string
	lasts time.Duration // negative if there is no end to it
	token proto.Term
}

// run runs a script on one server.
func (e *election) run(ctx context.Context, s *redis.Client, v verb, a ask) (seen, error) {
	gone := ""
	if a.remove.ID != 0 && !a.remove.Lent {
		gone = store.Candidate{Cluster: e.Cluster, Peer: proto.Peer{
			ID: a.remove.ID, Incarnation: a.remove.Incarnation,
		}}.Value(false)
	}
	keys := []string{e.Key, e.Key + tokenOf, e.Key + askOf}
	reply, err := v.Run(ctx, s, keys, e.Value(false), e.Value(true), e.TTL.Milliseconds(), a.number, uint64(a.want),
		a.again, a.lent, gone, uint64(a.remove.Token)).Slice()
	if err != nil {
		return seen{}, explain(s, err)
	}
	if len(reply) == 3 {
		value, isText := reply[0].(string)
		lasts, isNumber := reply[1].(int64)
		counter, _ := reply[2].(string)
		token, err := strconv.ParseUint(counter, 10, 64)
		switch {
		case isText && isNumber && err != nil:
			return seen{}, wrong(s, spoilt)
		case isText && isNumber:
			return seen{value, time.Duration(lasts) * time.Millisecond, proto.Term(token)}, nil
		}
	}
	return seen{}, wrong(s, "this is not Redis: it answers %v", reply)
}

// said is what came of something that was done on one server.
type said[T any] struct {
	at   int
	what T
	err  error
}

// each does something on all servers at once. It waits until all have answered, or a majority has and stragglers
// had a moment more, or ctx is done: the client library reads on after that. Who did not answer has an error.
// A server does one thing after the other: what was given up may still be under way there, and must not come after
// what is done next.
func each[T any](
	ctx context.Context, e *election, do func(context.Context, *redis.Client) (T, error),
) (all []T, errs []error) {
	all, errs = make([]T, len(e.servers)), make([]error, len(e.servers))
	answers := make(chan said[T], len(e.servers))
	var over atomic.Bool
	defer func() { over.Store(ctx.Err() == nil) }()
	for i, s := range e.servers {
		errs[i] = fmt.Errorf("%s: no answer came in time", s.Options().Addr)
		e.done.Go(func() {
			doing, stop := context.WithTimeout(e.life, e.patience())
			defer stop()
			defer context.AfterFunc(ctx, func() {
				if !over.Load() {
					stop() // it was given up: what has not left yet stays here
				} // and a straggler goes on, lest its connection is never made
			})()
			select {
			case e.turns[i] <- struct{}{}:
				what, err := do(doing, s)
				<-e.turns[i]
				answers <- said[T]{i, what, err}
			case <-doing.Done(): // the one before hangs
				answers <- said[T]{at: i, err: doing.Err()}
			}
		})
	}
	var enough <-chan time.Time
	well, ill := 0, 0
	for range e.servers {
		select {
		case a := <-answers:
			all[a.at], errs[a.at] = a.what, a.err
			if a.err == nil {
				well++
			} else {
				ill++
			}
		case <-enough:
			return all, errs
		case <-ctx.Done():
			return all, errs
		}
		if enough == nil && (well >= e.majority() || ill >= e.majority()) {
			enough = time.After(e.TTL / stragglers)
		}
	}
	return all, errs
}

// stragglers is the part of the TTL for which servers are waited for that are not needed. To stand takes up to
// three such waits, and a host gives an ask up after a quarter of the TTL.
const stragglers = 20

// patience bounds what is done on one server. It is longer than a host waits for an answer: the next ask finds the
// connection that this one made.
func (e *election) patience() time.Duration { return min(e.TTL, 5*time.Second) }

// poll runs a script on all servers, and returns what those saw that answered: a majority at least.
func (e *election) poll(ctx context.Context, v verb, a ask) ([]seen, error) {
	all, errs := each(ctx, e, func(ctx context.Context, s *redis.Client) (seen, error) { return e.run(ctx, s, v, a) })
	var saw []seen
	for i, err := range errs {
		if err == nil {
			saw = append(saw, all[i])
		}
	}
	switch err := errors.Join(errs...); {
	case len(saw) >= e.majority():
		return saw, nil
	case len(e.servers) == 1:
		return saw, err
	default:
		return saw, fmt.Errorf("%d of %d servers answer: %w", len(saw), len(e.servers), err)
	}
}

func (e *election) majority() int { return len(e.servers)/2 + 1 }

// Ask carries out one ask.
func (e *election) Ask(ctx context.Context, asked algorithms.Ask) (algorithms.Answered, error) {
	e.listen()
	e.number++
	a := ask{number: e.number, lent: asked.Lent, remove: asked.Remove}
	var saw []seen
	var err error
	switch asked.Verb {
	case algorithms.AskLook:
		saw, err = e.poll(ctx, look, a)
	case algorithms.AskStand:
		saw, err = e.stand(ctx, a)
	case algorithms.AskRenew:
		saw, err = e.poll(ctx, renew, a)
	case algorithms.AskLeave:
		leaving := look
		if a.want = asked.Remove.Token; a.want != 0 {
			leaving = leave
		}
		saw, err = e.poll(ctx, leaving, a)
	case algorithms.AskRemove:
		saw, err = e.poll(ctx, removal, a)
	default:
		return algorithms.Answered{}, fmt.Errorf("a store cannot %s", asked.Verb)
	}
	if err != nil {
		return algorithms.Answered{}, err
	}
	answer := e.answer(saw)
	answer.Number, e.held = asked.Number, answer.Own
	return answer, nil
}

// stand stands: on one server at once, on several in two phases.
func (e *election) stand(ctx context.Context, a ask) ([]seen, error) {
	if len(e.servers) == 1 {
		return e.poll(ctx, stand, a)
	}
	if !e.held.IsZero() {
		a.want, a.again = e.held.Token, true
		saw, err := e.poll(ctx, stand, a)
		if err != nil || !e.answer(saw).Own.IsZero() {
			return saw, err
		}
		e.number++
		a.number, a.again = e.number, false
	}
	saw, err := e.poll(ctx, look, a)
	if err != nil {
		return nil, err
	}
	a.want = 0
	for _, s := range saw {
		a.want = max(a.want, s.token)
	}
	a.want++
	saw, err = e.poll(ctx, stand, a)
	if err == nil && !e.answer(saw).Own.IsZero() {
		return saw, nil
	}
	// "If the client failed to acquire the lock for some reason … it will try to unlock all the instances."
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.TTL/10)
	defer cancel()
	if back, undone := e.poll(undo, leave, a); err == nil && undone == nil {
		saw = back
	}
	return saw, err
}

// answer counts what the servers saw.
func (e *election) answer(saw []seen) algorithms.Answered {
	var first algorithms.Entry
	lasts := time.Duration(-1)
	for _, s := range saw {
		if s.value == "" {
			continue
		}
		if s.lasts >= 0 && (lasts < 0 || s.lasts < lasts) {
			lasts = s.lasts
		}
		same, entry := 0, e.read(s)
		for _, other := range saw {
			if other.value == "" {
				continue
			}
			o := e.read(other)
			entry.Lent = entry.Lent || o.Key == entry.Key && o.Lent
			// Others may have raised the token since a stranger led here, and only there.
			if o.Key == entry.Key || entry.ID == 0 && o.Foreign == entry.Foreign {
				same++
				entry.Token = max(entry.Token, o.Token)
			}
		}
		entry.Key = key(s.value, entry)
		// A server that did not answer may have the entry, too. Only one that all know of is our own.
		unknown := len(e.servers) - len(saw)
		if entry.Of(e.Peer) {
			unknown = 0
		}
		if same+unknown >= e.majority() && (first.IsZero() || entry.Of(e.Peer)) {
			first = entry
		}
	}
	e.expect(lasts)
	a := algorithms.Answered{Holder: first}
	if first.Of(e.Peer) {
		a.Own, a.Keeps = first, e.TTL
		if len(e.servers) > 1 {
			// "MIN_VALIDITY=TTL-(T2-T1)-CLOCK_DRIFT": the host counts from T1, before it asked.
			a.Keeps -= e.TTL/100 + 2*time.Millisecond
		}
	}
	return a
}

// read reads an entry that a server has.
func (e *election) read(s seen) algorithms.Entry {
	entry := e.Read("", s.value, s.token)
	if entry.Foreign != "" && s.lasts < 0 {
		entry.Foreign += e.forEver()
	}
	entry.Key = key(s.value, entry)
	return entry
}

// forEver is said of a stranger's entry without a TTL.
func (e *election) forEver() string {
	db := ""
	if e.DB != 0 {
		db = fmt.Sprintf("-n %d ", e.DB)
	}
	return fmt.Sprintf(", which has no TTL and stays for ever (redis-cli %sGET %q shows it; DEL %[2]q in place of GET "+
		"removes it)", db, e.Key)
}

// key names an entry by its value, whether it is lent or not, and its token.
func key(value string, e algorithms.Entry) string {
	if e.ID != 0 {
		value = strings.TrimSuffix(value, "/lent")
	}
	return value + " " + strconv.FormatUint(uint64(e.Token), 10)
}

// expect gives a hint when the first entry should have ended.
func (e *election) expect(lasts time.Duration) {
	if e.expiry != nil {
		e.expiry.Stop()
	}
	if lasts >= 0 {
		e.expiry = time.AfterFunc(lasts+time.Millisecond, e.hint.Give)
	}
}
