package statefile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/ringleader-dev/ringleader/algorithms"
)

const (
	// sector is the least that a disk writes at once, in bytes: a record is a whole
	// number of them, so that no write ever touches one that is durable.
	sector = 512
	// room is what a new file has behind its first record, in bytes.
	room = 32 * sector
	// maxFile bounds a state file, in bytes.
	maxFile = (maxSize/sector+1)*sector + room
	// blank fills a record's last sector.
	blank = ' '
)

// fill is what a sector holds of which nothing was written yet: tabs and carriage
// returns, which no record has, in an order that no other sector has, nor this one in a
// file that begins with another record. So it is known at each byte whether what is there
// was put there by us, and a sector that was wiped, or holds what belongs elsewhere, is no
// room for records.
func fill(first uint64, sectorNumber int) (out [sector]byte) {
	state := first<<20 ^ uint64(sectorNumber)
	var word uint64
	for i := range out {
		if i%64 == 0 {
			state += 0x9e3779b97f4a7c15 // splitmix64 (Steele, Lea and Flood 2014)
			word = (state ^ state>>30) * 0xbf58476d1ce4e5b9
			word = (word ^ word>>27) * 0x94d049bb133111eb
			word ^= word >> 31
		}
		out[i] = "\t\r"[word&1]
		word >>= 1
	}
	return out
}

// newFile is a file that begins with this record, whose number is first, and has room for
// more.
func newFile(record []byte, first uint64) []byte {
	content := bytes.Clone(record)
	for i := range room / sector {
		empty := fill(first, len(record)/sector+i)
		content = append(content, empty[:]...)
	}
	return content
}

// pad makes a record of a document: blanks, and a newline as the last byte of its
// last sector.
func pad(doc []byte) []byte {
	record := bytes.Repeat([]byte{blank}, (len(doc)/sector+1)*sector)
	copy(record, doc)
	record[len(record)-1] = '\n'
	return record
}

// write makes s durable, behind the record before or, where that cannot be, in a new
// file.
func (f *File) write(s algorithms.State) error {
	record := pad(encode(f.owner, s, f.last+1))
	if f.end+len(record) > f.size || !f.log.Named(filepath.Join(f.dir, stateName)) {
		return f.renew(record)
	}
	if _, err := f.log.WriteAt(record, int64(f.end)); err != nil {
		return err
	}
	if err := f.log.SyncData(); err != nil {
		return err
	}
	f.end += len(record)
	f.last++
	return nil
}

// renew replaces the file by one that keeps this record, and has room for more: a
// record that is added later changes neither its size nor where its blocks are, so
// the disk has nothing but the record itself to write.
func (f *File) renew(record []byte) error {
	content := newFile(record, f.last+1)
	log, err := replace(f.disk, f.dir, tempName, stateName, content)
	if err != nil {
		return err
	}
	if f.log != nil {
		_ = f.log.Close() // whatever was in it is in the new one, or over
	}
	f.log, f.end, f.size = log, len(record), len(content)
	f.last++
	return nil
}

// latest is the last record of a state file, and its number. Errors wrap ErrCorrupt.
//
// A record that a crash tore, behind the last, is no damage: nothing of what it says left
// the node. Whatever else is wrong is one, in older records too.
func latest(data []byte) (owner Owner, s algorithms.State, last uint64, err error) {
	damaged := func(what error) (Owner, algorithms.State, uint64, error) {
		return Owner{}, algorithms.State{}, 0, fmt.Errorf("%w: %w", ErrCorrupt, what)
	}
	if bytes.HasPrefix(data, []byte("{\n")) {
		return damaged(fmt.Errorf("format version 1, this program reads version %d: "+
			"run the program that wrote it", version))
	}
	at := recordSize(data)
	if at+room != len(data) {
		return damaged(fmt.Errorf("its %d bytes are not records, and room for the next", len(data)))
	}
	if owner, s, last, err = decode(data[:at]); err != nil {
		return damaged(fmt.Errorf("at byte 0: %w", err))
	}
	for first := last; at < len(data); {
		size := recordSize(data[at:])
		o, state, n, err := decode(data[at : at+size])
		if err == nil && n != last+1 {
			err = fmt.Errorf("record %d, where %d belongs", n, last+1)
		}
		if err != nil && unfinished(data, at, first, last+1) {
			break
		}
		if err != nil {
			return damaged(fmt.Errorf("at byte %d: %w", at, err))
		}
		if o != owner {
			return damaged(fmt.Errorf("at byte %d: the state of node %d of cluster %q, behind that of "+
				"node %d of cluster %q", at, o.ID, o.Cluster, owner.ID, owner.Cluster))
		}
		s, last = state, n
		at += size
	}
	return owner, s, last, nil
}

// recordSize is how long the record is that data begins with: the sectors up to the
// first that ends in a newline.
func recordSize(data []byte) int {
	for at := sector; at <= len(data); at += sector {
		if data[at-1] == '\n' {
			return at
		}
	}
	return len(data)
}

// unfinished reports whether what is behind the last whole record, which ends at at, is what
// a crash can leave of record number next in a file that begins with record number first. A
// write puts bytes of a record where the file was empty, and nothing is written behind it
// before it is durable; a crash may keep any of its bytes from the disk. So each byte is as it
// was, or one that the record may have there. Some byte of the record is as it was: a record
// of which nothing is missing was perhaps acknowledged. And behind it all is as it was: what
// was written there was written when nothing of the record was missing.
func unfinished(data []byte, at int, first, next uint64) bool {
	head := fmt.Appendf(nil, headFormat, version, next)
	start, end, missing := at, len(data), false
	// Where its length was not written, it ends in the first sector that ends in a newline.
	digits, _, _ := bytes.Cut(data[at+len(head):at+sector], []byte(","))
	sectors, err := strconv.ParseUint(string(digits), 10, 16)
	known := err == nil
	if known {
		end = at + int(sectors)*sector
	}
	if end > len(data) {
		return false
	}
	for ; at < end; at += sector {
		here, empty := [sector]byte(data[at:]), fill(first, at/sector)
		if at > start && bytes.HasPrefix(here[:], head[:len(`{"version":`)]) {
			return false // a later record
		}
		for i, b := range here {
			switch place := at + i; {
			case b == empty[i]:
				missing = true
			case place < start+len(head):
				if b != head[place-start] {
					return false
				}
			case b == '\n' && i == sector-1 && (!known || at+sector == end):
				end = at + sector
			case b < ' ' || b > '~' || place == end-1:
				return false
			}
		}
	}
	for ; at < len(data); at += sector {
		if [sector]byte(data[at:]) != fill(first, at/sector) {
			return false
		}
	}
	return missing
}
