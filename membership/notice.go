package membership

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/proto"
)

// MaxNotice bounds the text of a Notice, in bytes.
const MaxNotice = 512

// Notice is a line that the whole cluster shares: the newest wins everywhere. It
// is spread at once to all members, and with every exchange of states, so that who
// was cut off, and who joins later, learns it from anybody. It lives in memory: a host
// that gives it to its next process, by Config.Notice, lets it outlive all of them.
type Notice struct {
	// Version counts the changes, Origin is who made this one: the higher pair
	// stands. Zero before the first. See Bounded.
	Version uint64
	Origin  proto.NodeID
	// Text is empty when there is nothing to tell any more.
	Text string
}

// Bounded is n, or the same text as the oldest version if n's is higher than any can be:
// there is no more than one change in a microsecond, and none was before 1970. So the
// next change is newer than all that a node keeps, whatever it was told or finds on its
// disk, and is taken by each node whose clock has reached that microsecond too.
func (n Notice) Bounded(now time.Time) Notice {
	if n.Version > maxVersion(now) {
		n.Version = oldest
	}
	return n
}

// oldest is a version below that of each notice which is made.
const oldest = 1

// maxVersion is the highest version at an instant. A clock that was never set, and begins
// at 1970, still leaves room for every change that people make.
func maxVersion(now time.Time) uint64 { return uint64(max(1<<32, now.UnixMicro())) }

// newer reports whether n stands over m.
func (n Notice) newer(m Notice) bool {
	return cmp.Or(cmp.Compare(n.Version, m.Version), cmp.Compare(n.Origin, m.Origin)) > 0
}

// On the wire, in big endian: 'N' | version 8 bytes | origin 8 | length 2 + text.
const (
	noticeTag = 'N'
	noticeLen = 1 + 8 + 8 + 2
)

func (n Notice) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{noticeTag}, n.Version)
	b = binary.BigEndian.AppendUint64(b, uint64(n.Origin))
	b = binary.BigEndian.AppendUint16(b, uint16(len(n.Text)))
	return append(b, n.Text...)
}

// decodeNotice reads a notice and returns what follows it.
func decodeNotice(b []byte) (n Notice, rest []byte, err error) {
	if len(b) < noticeLen || b[0] != noticeTag {
		return Notice{}, nil, fmt.Errorf("%w: %d bytes are no notice", errWire, len(b))
	}
	n.Version = binary.BigEndian.Uint64(b[1:])
	n.Origin = proto.NodeID(binary.BigEndian.Uint64(b[9:]))
	size := int(binary.BigEndian.Uint16(b[17:]))
	rest = b[noticeLen:]
	if size > MaxNotice || size > len(rest) {
		return Notice{}, nil, fmt.Errorf("%w: a notice of %d bytes", errWire, size)
	}
	n.Text, rest = string(rest[:size]), rest[size:]
	if err := n.validate(); err != nil {
		return Notice{}, nil, fmt.Errorf("%w: %w", errWire, err)
	}
	return n, rest, nil
}

func (n Notice) validate() error {
	switch {
	case n.Version >= 1<<63:
		return fmt.Errorf("notice version %d", n.Version)
	case n.Version > 0 && n.Origin.Validate() != nil, !utf8.ValidString(n.Text), len(n.Text) > MaxNotice:
		return fmt.Errorf("a notice by %d of %d bytes", n.Origin, len(n.Text))
	}
	return nil
}

// SetNotice replaces the cluster's notice, for all; text is at most MaxNotice
// bytes and may be empty. It never blocks.
func (g *Group) SetNotice(text string) {
	if len(text) > MaxNotice {
		text = strings.ToValidUTF8(text[:MaxNotice], "")
	}
	g.queue.post(func() {
		n := Notice{Version: max(oldest, g.Notice().Version) + 1, Origin: g.me.id, Text: text}
		g.setNotice(n)
		for _, m := range *g.listed.Load() {
			go g.sendNotice(m, n)
		}
	})
}

// Notice is the cluster's notice as this node knows it.
func (g *Group) Notice() Notice { return g.notice.Load().Bounded(time.Now()) }

func (g *Group) sendNotice(m Member, n Notice) {
	if err := g.list.SendReliable(m.gossipNode(), n.encode()); err != nil {
		g.log.Debug().Err(err).Uint64("peer", uint64(m.ID)).
			Msg("notice not delivered: the next exchange of states brings it")
	}
}

// onNotice: another process knows this notice.
func (g *Group) onNotice(n Notice) {
	if limit := maxVersion(time.Now()); n.Version > limit {
		g.log.Debug().Msgf("dropped a notice of version %d by node %d: there cannot be more than %d; "+
			"that node has a wrong clock, or the notice is forged", n.Version, n.Origin, limit)
		return
	}
	if n.newer(g.Notice()) {
		g.setNotice(n)
	}
}

func (g *Group) setNotice(n Notice) {
	g.notice.Store(&n)
	if g.cfg.OnNotice != nil {
		g.cfg.OnNotice(n)
	}
}
