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

// MaxNotice is the longest text of a Notice, in bytes.
const MaxNotice = 512

// Notice is a line of text that the whole cluster shares: the newest one replaces all others. A new notice is
// sent to all members at once, and goes with every exchange of states: so a node that was cut off, or joins
// later, learns it from any other node. With Config.LinksProve it goes over the links alone, and what gossip says of
// notices counts for nothing. The group keeps it in memory only. The next process of the node gets
// it back in Config.Notice.
type Notice struct {
	// Version counts the changes, and Origin is the node that made this change. Of two notices the one with
	// the higher (Version, Origin) is the newer. Version is zero before the first change; see Bounded.
	Version uint64
	Origin  proto.NodeID
	// Text is empty if there is nothing to tell any more.
	Text string
}

// Bounded returns n. If n's version is higher than any version can be at the time now, it returns the same
// text with the lowest version. There is at most one change in a microsecond, and none was made before 1970.
// So the next change is newer than any notice that a node has been sent or has on its disk, and each node
// accepts it unless its clock is behind the change.
func (n Notice) Bounded(now time.Time) Notice {
	if n.Version > maxVersion(now) {
		n.Version = oldest
	}
	return n
}

// oldest is the version that Bounded gives to a notice. Every notice that somebody makes has a higher
// version.
const oldest = 1

// maxVersion returns the highest version that a notice can have at an instant. A clock that was never set,
// and begins at 1970, still leaves room for every change that people make.
func maxVersion(now time.Time) uint64 { return uint64(max(1<<32, now.UnixMicro())) }

// newer reports whether n is newer than m.
func (n Notice) newer(m Notice) bool {
	return cmp.Or(cmp.Compare(n.Version, m.Version), cmp.Compare(n.Origin, m.Origin)) > 0
}

// The encoding of a notice, in big endian: 'N' | version 8 bytes | origin 8 | length 2 + text.
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

// SetNotice replaces the notice of the whole cluster. The text may be empty; what is longer than MaxNotice
// bytes is cut. SetNotice never blocks.
func (g *Group) SetNotice(text string) {
	if len(text) > MaxNotice {
		text = strings.ToValidUTF8(text[:MaxNotice], "")
	}
	g.queue.post(func() {
		n := Notice{Version: max(oldest, g.Notice().Version) + 1, Origin: g.me.id, Text: text}
		g.setNotice(n)
		if g.cfg.LinksProve {
			return
		}
		for _, m := range *g.listed.Load() {
			go g.sendNotice(m, n)
		}
	})
}

// Notice returns the cluster's notice as this node knows it.
func (g *Group) Notice() Notice { return g.notice.Load().Bounded(time.Now()) }

func (g *Group) sendNotice(m Member, n Notice) {
	if err := g.list.SendReliable(m.gossipNode(), n.encode()); err != nil {
		g.log.Debug().Err(err).Uint64("peer", uint64(m.ID)).
			Msg("notice not delivered: the next exchange of states brings it")
	}
}

// onNotice handles a notice that another process knows.
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
	g.tellNews()
	if g.cfg.OnNotice != nil {
		g.cfg.OnNotice(n)
	}
}
