package store

import (
	"encoding/binary"
	"hash/crc32"
	"unicode"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// The limits of keys and values, in bytes.
const (
	MaxKey   = 512
	MaxValue = 1 << 20
)

// A record has a checksum, the token that wrote the record, and a value. bbolt has no
// checksum for its pages of data, and a flipped bit in a token could let an
// old leader in. The checksum covers the key, too: a record under another key is
// damage.
const (
	sumSize    = 4
	tokenSize  = 8 + 8 + len(proto.Incarnation{})
	headerSize = sumSize + tokenSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encode(key []byte, t fence.Token, value []byte) []byte {
	record := make([]byte, sumSize, headerSize+len(value))
	record = binary.BigEndian.AppendUint64(record, uint64(t.Term))
	record = binary.BigEndian.AppendUint64(record, uint64(t.Leader))
	record = append(record, t.Incarnation[:]...)
	record = append(record, value...)
	binary.BigEndian.PutUint32(record, checksum(key, record))
	return record
}

// decode splits a record into its token and its value. It returns ErrCorrupt for bytes that encode
// did not write. The value shares the memory of record.
func decode(key, record []byte) (fence.Token, []byte, error) {
	if len(record) < headerSize || binary.BigEndian.Uint32(record) != checksum(key, record) {
		return fence.Token{}, nil, ErrCorrupt
	}
	t := fence.Token{
		Term:   proto.Term(binary.BigEndian.Uint64(record[sumSize:])),
		Leader: proto.NodeID(binary.BigEndian.Uint64(record[sumSize+8:])),
	}
	copy(t.Incarnation[:], record[sumSize+16:])
	return t, record[headerSize:], nil
}

// checksum returns the checksum of a record's key and of the record without its checksum.
func checksum(key, record []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record[sumSize:])
}

// CheckKey returns ErrKey for a text that cannot be a key.
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKey || !utf8.ValidString(key) {
		return ErrKey
	}
	for _, r := range key {
		if unicode.IsControl(r) {
			return ErrKey
		}
	}
	return nil
}
