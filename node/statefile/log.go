package statefile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/ringleader-dev/ringleader/algorithms"
)

const (
	// sector is the smallest number of bytes that a disk writes. A record is a whole number of sectors, so no
	// write touches a sector of another record.
	sector = 512
	// room is the number of bytes that a new file has for more records, after its first record.
	room = 32 * sector
	// maxFile is the largest state file, in bytes.
	maxFile = (maxSize/sector+1)*sector + room
	// blank fills a record's last sector.
	blank = ' '
)

// fill returns the bytes that fill a sector before a record is written there: tabs and carriage returns,
// which no record has. Their order is different in every sector, and in a file that begins with another
// record. So each byte shows whether a record was written over it. A sector that was wiped, or that holds
// bytes from elsewhere, is not mistaken for an unused one.
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

// newFile returns the content of a file that begins with this record and has room for more. The parameter
// first is the record's number.
func newFile(record []byte, first uint64) []byte {
	content := bytes.Clone(record)
	for i := range room / sector {
		empty := fill(first, len(record)/sector+i)
		content = append(content, empty[:]...)
	}
	return content
}

// pad makes a record from a document: it adds blanks up to the end of a sector, whose last byte is
// a newline.
func pad(doc []byte) []byte {
	record := bytes.Repeat([]byte{blank}, (len(doc)/sector+1)*sector)
	copy(record, doc)
	record[len(record)-1] = '\n'
	return record
}

// write makes s durable. It writes s after the last record, or in a new file if there is no room.
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

// renew replaces the file by one that has this record and room for more. Adding a record later
// changes neither the file's size nor the place of its blocks, so the disk has to write only the
// record.
func (f *File) renew(record []byte) error {
	content := newFile(record, f.last+1)
	log, err := replace(f.disk, f.dir, tempName, stateName, content)
	if err != nil {
		return err
	}
	if f.log != nil {
		_ = f.log.Close() // the new file has all that counts
	}
	f.log, f.end, f.size = log, len(record), len(content)
	f.last++
	return nil
}

// latest reads the last record of a state file, and its number. Errors wrap ErrCorrupt or ErrFormat.
//
// A torn record after the last one is no damage: the node has sent nothing that depends on it. Anything else
// that is wrong is damage, also in older records.
func latest(data []byte) (owner Owner, s algorithms.State, last uint64, err error) {
	damaged := func(what error) (Owner, algorithms.State, uint64, error) {
		return Owner{}, algorithms.State{}, 0, fmt.Errorf("%w: %w", ErrCorrupt, what)
	}
	if err := otherFormat(data); err != nil {
		return Owner{}, algorithms.State{}, 0, err
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

// recordSize returns the length of the record at the beginning of data: the sectors up to the first
// that ends in a newline.
func recordSize(data []byte) int {
	for at := sector; at <= len(data); at += sector {
		if data[at-1] == '\n' {
			return at
		}
	}
	return len(data)
}

// unfinished reports whether a crash in the write of record number next can have left the bytes from the
// place at on, where the last whole record ends. The parameter first is the number of the file's first
// record. A crash may keep any bytes of a write from the disk, and nothing is written behind a record before
// it is durable. So three things are true of a torn record:
//
//  1. Each of its bytes is what fill wrote there, or one that the record may have there.
//  2. At least one is what fill wrote. If none is missing, the record was perhaps
//     acknowledged, and is damaged.
//  3. Behind it is only what fill wrote.
func unfinished(data []byte, at int, first, next uint64) bool {
	head := fmt.Appendf(nil, headFormat, version, next)
	start, end, missing := at, len(data), false
	// If the length was not written, the record ends with the first sector that ends in a
	// newline.
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
