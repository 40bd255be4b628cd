package tcp

import (
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// SetNews tells all peers what this node says of itself, of at most proto.MaxNews bytes: at once, and again whenever a
// link comes up. Between two calls a peer may miss what was replaced, never what is told last. Without Config.Security
// nothing is told: anybody could say it.
func (t *Transport) SetNews(news []byte) {
	news = slices.Clone(news)
	t.news.Store(&news)
	for _, p := range *t.peers.Load() {
		signal(p.news)
	}
}

// tellNews sends NEWS, if there is any.
func (p *peer) tellNews(l *link) error {
	news := p.t.news.Load()
	if news == nil || p.t.cfg.Security == nil {
		return nil
	}
	return sayWithin(l.conn, proto.News{Bytes: string(*news)}, p.t.cfg.timing.write)
}

// hearNews handles NEWS. It is believed only of a node that is proven.
func (t *Transport) hearNews(in *inbound, payload []byte) error {
	if t.cfg.Security == nil || t.cfg.News == nil {
		return faultf(unexpected, "%v where nothing proves who says it", proto.KindNews)
	}
	body, err := decodeControl(proto.KindNews, payload)
	if err == nil {
		t.cfg.News(in.id, in.incarnation, []byte(body.(proto.News).Bytes))
	}
	return err
}
