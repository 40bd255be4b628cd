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
	// version is the version of the format. If a field changes its meaning, the version becomes the next
	// number.
	version = 3
	// noticeFormat is the version of a notice's format.
	noticeFormat = 2
	// maxCluster is the longest cluster label, in bytes.
	maxCluster = 255
	// maxSize is the longest document, in bytes: six for each byte of the label, in case all are
	// escaped, then the votes, and the rest.
	maxSize = 6*maxCluster + 1024 + proto.MaxLeaderships*maxVote
	// maxVote is the longest encoding of a vote, in bytes.
	maxVote = 200
)

// document is the JSON of one state, on one line. Its last key is the checksum; see seal. A new
// field needs no new version if its zero value means what documents without the field meant.
type document struct {
	Version int `json:"version"`
	// Record numbers the records of a directory without a gap. Sectors is the length of this
	// record. These fields come first, so that a torn record can be recognized.
	Record  uint64       `json:"record"`
	Sectors int          `json:"sectors"`
	Cluster string       `json:"cluster"`
	ID      proto.NodeID `json:"id"`
	Term    proto.Term   `json:"term"`
	// Reserved is the highest term that the node may have taken part in.
	Reserved proto.Term    `json:"reserved"`
	Vote     *documentVote `json:"vote,omitempty"`
	// Stopped says that the process that Vote names was seen to stop. Former are earlier votes for processes
	// that were not seen to stop.
	Stopped bool           `json:"stopped,omitempty"`
	Former  []documentVote `json:"former,omitempty"`
	// Promise is the longest time for which the node ever promised to vote for no other process.
	Promise string          `json:"promise,omitempty"`
	Voters  *documentVoters `json:"voters,omitempty"`
	CRC32C  string          `json:"crc32c,omitempty"`
}

type documentVote struct {
	Term        proto.Term   `json:"term"`
	ID          proto.NodeID `json:"id"`
	Incarnation string       `json:"session"` // the key is the same in all versions of the format
}

// documentVoters is the list of voters under which the node voted.
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

// seal returns the bytes that must follow body. A reader compares them as a whole: so it also refuses a
// document that was cut short, or that anything follows.
func seal(body []byte) []byte {
	return fmt.Appendf(nil, sealFormat, crc32.Checksum(body, castagnoli))
}

// firstSealFormat ended the document of version 1, which was a whole file of several lines.
const firstSealFormat = ",\n  \"crc32c\": \"%08x\"\n}\n"

// otherFormat returns an error that wraps ErrFormat if the file begins with a sealed document of another
// version of the format; otherwise it returns nil. It ignores the bytes behind that document: a later version
// may change their meaning.
func otherFormat(file []byte) error {
	doc, format := file, firstSealFormat
	if !bytes.HasPrefix(file, []byte("{\n")) {
		line, _, _ := bytes.Cut(file, []byte("\n"))
		doc, format = bytes.TrimRight(line, string(blank)), sealFormat
	}
	body := doc[:max(0, len(doc)-len(fmt.Sprintf(format, 0)))]
	sealed := fmt.Appendf(nil, format, crc32.Checksum(body, castagnoli))
	var says struct{ Version int }
	if !bytes.HasSuffix(doc, sealed) ||
		json.Unmarshal(doc, &says) != nil || says.Version < 1 || says.Version == version {
		return nil
	}
	err := fmt.Errorf("%w: it is not damaged; its format is version %d, and this release reads version %d: "+
		"run the release that wrote it", ErrFormat, says.Version, version)
	if says.Version > version {
		return err
	}
	return fmt.Errorf("%w; to change to this one, start the node with an empty data directory while the "+
		"other nodes run: if it is a voter, it asks them what it voted", err)
}

// headFormat is the beginning of a record, with the record's number. The record's length follows.
const headFormat = `{"version":%d,"record":%d,"sectors":`

// encode returns the document that keeps s, for the record with this number.
func encode(owner Owner, s algorithms.State, record uint64) []byte {
	doc := document{
		Version: version, Record: record, Cluster: owner.Cluster, ID: owner.ID, Term: s.Term, Reserved: s.Reserved,
	}
	if s.Vote != (algorithms.Vote{}) {
		doc.Vote = &documentVote{s.Vote.Term, s.Vote.ID, s.Vote.Incarnation.String()}
	}
	doc.Stopped = s.Stopped
	for _, e := range s.Former.All() {
		doc.Former = append(doc.Former, documentVote{e.Term, e.Leader, e.Incarnation.String()})
	}
	if s.Promise != 0 {
		doc.Promise = s.Promise.String()
	}
	if v := s.Voters; v != (algorithms.VoterState{}) {
		doc.Voters = &documentVoters{v.List, v.Version, v.Committed, v.Changed}
	}
	for { // the length counts its own digits
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

// ascii escapes the characters of a JSON text that are not printable ASCII; all such characters are in
// strings. So any other byte in a record is damage.
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

// decode reads a record: a document that encode returned and pad extended.
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
		return owner, s, 0, fmt.Errorf("a record of format version %d, not %d", doc.Version, version)
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

func formerOf(votes []documentVote) (proto.Leaderships, error) {
	former := make([]proto.Leadership, 0, len(votes))
	for _, v := range votes {
		vote, err := v.value()
		if err != nil {
			return "", err
		}
		former = append(former, proto.Leadership{Term: vote.Term, Leader: vote.ID, Incarnation: vote.Incarnation})
	}
	return proto.PackLeaderships(former), nil
}

func (v *documentVote) value() (algorithms.Vote, error) {
	vote := algorithms.Vote{Term: v.Term, ID: v.ID}
	incarnation, err := hex.DecodeString(v.Incarnation)
	if err != nil || len(incarnation) != len(vote.Incarnation) {
		return vote, fmt.Errorf("vote for node %d, incarnation %q", v.ID, v.Incarnation)
	}
	copy(vote.Incarnation[:], incarnation)
	return vote, nil
}

// validate returns an error for states that no correct node has. Save and Open both call it: a node
// with a state that can be saved but not read back could never start again.
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
	if s.Vote.ID == 0 && s.Vote.Incarnation.IsZero() {
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
