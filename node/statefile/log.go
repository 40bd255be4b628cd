package statefile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

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
func fill(first uint64, sectorNumber int) []byte {
	out := make([]byte, sector)
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
		content = append(content, fill(first, len(record)/sector+i)...)
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
	if f.log == nil || f.end+len(record) > f.size || !f.log.Named(filepath.Join(f.dir, stateName)) {
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
	if len(data) > maxFile || at+room != len(data) {
		return damaged(fmt.Errorf("its %d bytes are not records, and room for the next", len(data)))
	}
	if owner, s, last, err = decode(data[:at]); err != nil {
		return damaged(fmt.Errorf("at byte 0: %w", err))
	}
	for blanks := emptyFrom(data, at, last); at < len(data); {
		size := recordSize(data[at:])
		o, state, n, err := decode(data[at : at+size])
		if err == nil && n != last+1 {
			err = fmt.Errorf("record %d, where %d belongs", n, last+1)
		}
		if err != nil && unfinished(data[at:], blanks[at:], last+1) {
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

// emptyFrom tells of each byte of a file whether it is still as it was when the file was
// made. The first record, whose number is first, ends at at.
func emptyFrom(data []byte, at int, first uint64) []bool {
	is := make([]bool, len(data))
	for ; at < len(data); at += sector {
		for i, b := range fill(first, at/sector) {
			is[at+i] = data[at+i] == b
		}
	}
	return is
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

// unfinished reports whether rest, which is behind the last whole record, is what a crash
// can leave of the file and record number next. A write puts bytes of a record where the
// file was empty; a crash may keep any of them from the disk. So each byte is as it was,
// or one that the record may have there, and some byte of the record is as it was: a
// record of which nothing is missing was perhaps acknowledged.
func unfinished(rest []byte, empty []bool, next uint64) bool {
	head := fmt.Appendf(nil, headFormat, version, next)
	for i, b := range rest {
		switch {
		case empty[i]:
		case i < len(head) && b != head[i]:
			return false
		case (b < ' ' || b > '~') && (b != '\n' || (i+1)%sector != 0):
			return false
		}
	}
	size, known, ok := sizeIn(rest[len(head):], empty[len(head):])
	if !ok || size > len(rest) {
		return false
	}
	if !known {
		return true
	}
	for i := sector - 1; i < size; i += sector {
		if !empty[i] && (rest[i] == '\n') != (i == size-1) {
			return false
		}
	}
	return slices.Contains(empty[:size], true) && !slices.Contains(empty[size:], false)
}

// sizeIn reads how long the record is, in bytes, behind its head; known is false where that was
// not written, ok where it is nothing that we wrote.
func sizeIn(rest []byte, empty []bool) (size int, known, ok bool) {
	for i, b := range rest[:min(len(rest), maxDigits)] {
		switch {
		case empty[i]:
			return 0, false, true
		case '0' <= b && b <= '9':
			size = 10*size + int(b-'0')*sector
		default:
			return size, true, b == ',' && size > 0
		}
	}
	return 0, false, false
}

// maxDigits is how many digits a record's length has at most, and one for its end.
const maxDigits = 5
