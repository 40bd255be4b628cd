package statefile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// version is the format's. A change of meaning takes the next number.
	version = 3
	// noticeFormat is that of a notice.
	noticeFormat = 2
	// maxCluster bounds a cluster's label, in bytes.
	maxCluster = 255
	// maxSize bounds a document, in bytes: six for each byte of the label,
	// were all of them escaped, the votes, and the rest.
	maxSize = 6*maxCluster + 1024 + proto.MaxEpochs*maxVote
	// maxVote bounds a vote, in bytes.
	maxVote = 200
)

// document is the JSON of one state, on one line. The checksum follows as its last
// key; see seal. A new field needs no new version where zero means what was before.
type document struct {
	Version int `json:"version"`
	// Record numbers the records of a directory without a gap, and Sectors is how long
	// this one is: with them it is known what belongs where. Nothing comes before them.
	Record  uint64       `json:"record"`
	Sectors int          `json:"sectors"`
	Cluster string       `json:"cluster"`
	ID      proto.NodeID `json:"id"`
	Term    proto.Term   `json:"term"`
	// Reserved is the highest term that the node may have taken part in.
	Reserved proto.Term    `json:"reserved"`
	Vote     *documentVote `json:"vote,omitempty"`
	// Stopped and Former say whose processes were, and were not, seen to stop.
	Stopped bool           `json:"stopped,omitempty"`
	Former  []documentVote `json:"former,omitempty"`
	// Promise is the longest that the node ever promised to grant nobody else.
	Promise string          `json:"promise,omitempty"`
	Voters  *documentVoters `json:"voters,omitempty"`
	CRC32C  string          `json:"crc32c,omitempty"`
}

type documentVote struct {
	Term    proto.Term   `json:"term"`
	ID      proto.NodeID `json:"id"`
	Session string       `json:"session"`
}

// documentVoters is the list of voters that the node voted under.
type documentVoters struct {
	List      proto.VoterList `json:"list"`
	Version   uint64          `json:"version"`
	Committed bool            `json:"committed"`
	Changed   proto.NodeID    `json:"changed,omitempty"`
}

// sealFormat ends every document; %08x is the checksum of all bytes before it.
const (
	sealKey    = `,"crc32c":"`
	sealFormat = sealKey + `%08x"}`
	sealSize   = len(sealFormat) - len("%08x") + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal is what must follow body. As it is compared as a whole, it also tells a
// document that was cut short or has something after its end.
func seal(body []byte) []byte {
	return fmt.Appendf(nil, sealFormat, crc32.Checksum(body, castagnoli))
}

// headFormat is what a record of a number begins with: its length, and more, follow.
const headFormat = `{"version":%d,"record":%d,"sectors":`

// encode is the document that keeps s in a record of this number.
func encode(owner Owner, s algorithms.State, record uint64) []byte {
	doc := document{
		Version: version, Record: record, Cluster: owner.Cluster, ID: owner.ID, Term: s.Term, Reserved: s.Reserved,
	}
	if s.Vote != (algorithms.Vote{}) {
		doc.Vote = &documentVote{s.Vote.Term, s.Vote.ID, s.Vote.Session.String()}
	}
	doc.Stopped = s.Stopped
	for _, e := range s.Former.All() {
		doc.Former = append(doc.Former, documentVote{e.Term, e.Leader, e.Session.String()})
	}
	if s.Promise != 0 {
		doc.Promise = s.Promise.String()
	}
	if v := s.Voters; v != (algorithms.VoterState{}) {
		doc.Voters = &documentVoters{v.List, v.Version, v.Committed, v.Changed}
	}
	for { // the length is part of what it is the length of
		data, _ := json.Marshal(doc) // strings and numbers never fail
		body := ascii(bytes.TrimSuffix(data, []byte("}")))
		whole := append(body, seal(body)...)
		sectors := len(whole)/sector + 1
		if doc.Sectors == sectors {
			return whole
		}
		doc.Sectors = sectors
	}
}

// ascii writes the characters of a JSON text that are no printable ASCII, which all are
// in strings, as escapes. So whatever else is found in a record is damage.
func ascii(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}

// decode reads what encode wrote, and pad made a record of.
func decode(record []byte) (owner Owner, s algorithms.State, n uint64, err error) {
	data := bytes.TrimRight(bytes.TrimSuffix(record, []byte("\n")), string(blank))
	if len(data) < sealSize {
		return owner, s, 0, fmt.Errorf("%d bytes is not the size of a state", len(data))
	}
	body, end := data[:len(data)-sealSize], data[len(data)-sealSize:]
	if !bytes.Equal(end, seal(body)) {
		return owner, s, 0, errors.New("the checksum does not match the content")
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return owner, s, 0, err
	}
	if doc.Version != version {
		return owner, s, 0, fmt.Errorf("format version %d, this program reads version %d: "+
			"run the program that wrote it", doc.Version, version)
	}
	if doc.Sectors*sector != len(record) {
		return owner, s, 0, fmt.Errorf("record %d says that it is of %d sectors", doc.Record, doc.Sectors)
	}
	owner = Owner{Cluster: doc.Cluster, ID: doc.ID}
	s.Term, s.Reserved = doc.Term, doc.Reserved
	if doc.Promise != "" {
		if s.Promise, err = time.ParseDuration(doc.Promise); err != nil {
			return owner, s, 0, err
		}
	}
	if doc.Vote != nil {
		if s.Vote, err = doc.Vote.value(); err != nil {
			return owner, s, 0, err
		}
	}
	if v := doc.Voters; v != nil {
		s.Voters = algorithms.VoterState{List: v.List, Version: v.Version, Committed: v.Committed, Changed: v.Changed}
	}
	s.Stopped = doc.Stopped
	if s.Former, err = formerOf(doc.Former); err != nil {
		return owner, s, 0, err
	}
	if err := owner.validate(); err != nil {
		return owner, s, 0, err
	}
	return owner, s, doc.Record, validate(s)
}

func formerOf(votes []documentVote) (proto.Epochs, error) {
	former := make([]proto.Epoch, 0, len(votes))
	for _, v := range votes {
		vote, err := v.value()
		if err != nil {
			return "", err
		}
		former = append(former, proto.Epoch{Term: vote.Term, Leader: vote.ID, Session: vote.Session})
	}
	return proto.PackEpochs(former), nil
}

func (v *documentVote) value() (algorithms.Vote, error) {
	vote := algorithms.Vote{Term: v.Term, ID: v.ID}
	session, err := hex.DecodeString(v.Session)
	if err != nil || len(session) != len(vote.Session) {
		return vote, fmt.Errorf("vote for node %d, session %q", v.ID, v.Session)
	}
	copy(vote.Session[:], session)
	return vote, nil
}

// validate refuses what no correct node reaches. Save and Open ask it alike: a
// state that could be saved but not read back would end the node for good.
func validate(s algorithms.State) error {
	if s.Reserved > proto.MaxTerm {
		return fmt.Errorf("term %d is above %d", s.Reserved, proto.MaxTerm)
	}
	if s.Reserved < s.Term {
		return fmt.Errorf("terms up to %d reserved at term %d", s.Reserved, s.Term)
	}
	if s.Promise < 0 {
		return fmt.Errorf("a promise of %v", s.Promise)
	}
	if err := s.Former.Validate(); err != nil {
		return fmt.Errorf("former holders: %w", err)
	}
	if err := validateVoters(s.Voters); err != nil {
		return err
	}
	if s.Vote == (algorithms.Vote{}) {
		return nil
	}
	if s.Vote.Term == 0 || s.Vote.Term > proto.MaxTerm {
		return fmt.Errorf("a vote in term %d", s.Vote.Term)
	}
	if s.Vote.ID == 0 && s.Vote.Session.IsZero() {
		return nil // a voter that lost its disk does not vote up to this term
	}
	return s.Vote.ID.Validate()
}

func validateVoters(v algorithms.VoterState) error {
	set := proto.VoterSet{Version: v.Version, Committed: v.Committed, Changed: v.Changed}
	if set.Validate() != nil || v.List == "" && v != (algorithms.VoterState{}) {
		return fmt.Errorf("voters %+v", v)
	}
	return v.List.Validate()
}

func (o Owner) validate() error {
	if len(o.Cluster) > maxCluster || !utf8.ValidString(o.Cluster) {
		return fmt.Errorf("cluster label %.40q: want at most %d bytes of UTF-8",
			o.Cluster, maxCluster)
	}
	return o.ID.Validate()
}
