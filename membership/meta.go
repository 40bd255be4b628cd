package membership

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/proto"
)

// The gossip meta is a process's description of itself, in big endian:
//
//	version 1 byte | flags 1 | id 8 | incarnation 16 | attribute 8 | started 8 |
//	version of the voters 8 | digest of the place in the store 4 | TTL 4 |
//	election address, HTTP address, cluster, algorithm, voters: length 1 byte + text each
//
// memberlist panics above 512 bytes. The bounds below keep it at most at 511.
const (
	metaVersion  = 3
	metaFixed    = 1 + 1 + 8 + 16 + 8 + 8 + 8 + 4 + 4
	metaListed   = 1 // a flag, like the next two constants
	metaBarred   = 2
	metaVoters   = 4 // the list of voters is committed
	maxAddr      = 144
	maxCluster   = 64
	maxAlgorithm = 32
)

var errMeta = errors.New("unreadable gossip meta")

// meta is the gossip meta of one process.
type meta struct {
	proto.Peer
	started int64 // when the process started, by its own clock: unix microseconds
	listed  bool  // a peer has listed this process
	// each is host:port; httpAddr may be empty
	electionAddr, httpAddr string
	cluster, algorithm     string
	voters                 Voters
	store                  Store
}

// encode returns the encoded meta, which must be valid.
func (m meta) encode() []byte {
	flags := byte(0)
	if m.listed {
		flags |= metaListed
	}
	if m.Ineligible {
		flags |= metaBarred
	}
	if m.voters.Committed {
		flags |= metaVoters
	}
	b := make([]byte, 0, metaFixed+5+maxAddr)
	b = append(b, metaVersion, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(m.ID))
	b = append(b, m.Incarnation[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Attr))
	b = binary.BigEndian.AppendUint64(b, uint64(m.started))
	b = binary.BigEndian.AppendUint64(b, m.voters.Version)
	b = binary.BigEndian.AppendUint32(b, m.store.Place)
	b = binary.BigEndian.AppendUint32(b, m.store.TTL)
	for _, s := range []string{m.electionAddr, m.httpAddr, m.cluster, m.algorithm, string(m.voters.List)} {
		b = append(b, byte(len(s)))
		b = append(b, s...)
	}
	return b
}

// decodeMeta decodes and validates a meta from any source. Each meta has exactly one encoding.
func decodeMeta(b []byte) (meta, error) {
	if len(b) < metaFixed {
		return meta{}, fmt.Errorf("%w: %d bytes", errMeta, len(b))
	}
	if b[0] != metaVersion {
		return meta{}, fmt.Errorf("%w: version %d, this node reads %d", errMeta, b[0], metaVersion)
	}
	if b[1]&^(metaListed|metaBarred|metaVoters) != 0 {
		return meta{}, fmt.Errorf("%w: unknown flags %#x", errMeta, b[1])
	}
	m := meta{listed: b[1]&metaListed != 0}
	m.Ineligible = b[1]&metaBarred != 0
	m.voters.Committed = b[1]&metaVoters != 0
	m.ID = proto.NodeID(binary.BigEndian.Uint64(b[2:]))
	copy(m.Incarnation[:], b[10:])
	m.Attr = int64(binary.BigEndian.Uint64(b[26:]))
	m.started = int64(binary.BigEndian.Uint64(b[34:]))
	m.voters.Version = binary.BigEndian.Uint64(b[42:])
	m.store = Store{binary.BigEndian.Uint32(b[50:]), binary.BigEndian.Uint32(b[54:])}
	rest := b[metaFixed:]
	var voters string
	for _, s := range []*string{&m.electionAddr, &m.httpAddr, &m.cluster, &m.algorithm, &voters} {
		if len(rest) == 0 || len(rest)-1 < int(rest[0]) {
			return meta{}, fmt.Errorf("%w: cut short", errMeta)
		}
		n := 1 + int(rest[0])
		*s, rest = string(rest[1:n]), rest[n:]
	}
	m.voters.List = proto.VoterList(voters)
	if len(rest) != 0 {
		return meta{}, fmt.Errorf("%w: %d bytes too many", errMeta, len(rest))
	}
	if err := m.validate(); err != nil {
		return meta{}, fmt.Errorf("%w: %w", errMeta, err)
	}
	return m, nil
}

// validate returns an error for a meta that no correct process has.
func (m meta) validate() error {
	if err := m.ID.Validate(); err != nil {
		return err
	}
	if m.Incarnation.IsZero() {
		return errors.New("incarnation: missing")
	}
	if m.started <= 0 {
		return fmt.Errorf("start time %d: not after 1970", m.started)
	}
	if err := validateAddr("election address", m.electionAddr); err != nil {
		return err
	}
	if m.httpAddr != "" {
		if err := validateAddr("HTTP address", m.httpAddr); err != nil {
			return err
		}
	}
	if err := validateLabel("cluster label", m.cluster, maxCluster); err != nil {
		return err
	}
	if err := validateLabel("algorithm", m.algorithm, maxAlgorithm); err != nil {
		return err
	}
	return m.voters.validate()
}

// validateLabel returns an error for an empty, too long or unprintable label.
func validateLabel(what, s string, limit int) error {
	switch {
	case s == "":
		return fmt.Errorf("%s: missing", what)
	case len(s) > limit:
		return fmt.Errorf("%s %.20q…: %d bytes, at most %d", what, s, len(s), limit)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable):
		return fmt.Errorf("%s %q: not printable", what, s)
	}
	return nil
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// validateAddr returns an error unless s is a host:port that others could dial.
func validateAddr(what, s string) error {
	if len(s) > maxAddr {
		return fmt.Errorf("%s %.20q…: %d bytes, at most %d", what, s, len(s), maxAddr)
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || strings.ContainsFunc(host, notInHost) {
		return fmt.Errorf("%s %q: want host:port", what, s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%s %q: the port must be a number from 1 to 65535", what, s)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		return fmt.Errorf("%s %q: nobody can dial %s; name an address of this machine",
			what, s, host)
	}
	return nil
}

func notInHost(r rune) bool { return r <= ' ' || r > '~' }
