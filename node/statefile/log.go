package statefile

import (
	"bytes"
	"fmt"
	"path/filepath"

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
	// blank fills what is not written yet. Not zero: that is what a file system
	// reads where it lost something.
	blank = ' '
)

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
	record := pad(encode(f.owner, s))
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
	return nil
}

// renew replaces the file by one that keeps this record, and has room for more: a
// record that is added later changes neither its size nor where its blocks are, so
// the disk has nothing but the record itself to write.
func (f *File) renew(record []byte) error {
	content := append(record, bytes.Repeat([]byte{blank}, room)...)
	log, err := replace(f.disk, f.dir, tempName, stateName, content)
	if err != nil {
		return err
	}
	if f.log != nil {
		_ = f.log.Close() // whatever was in it is in the new one, or over
	}
	f.log, f.end, f.size = log, len(record), len(content)
	return nil
}

// latest is the last record of a state file. Errors wrap ErrCorrupt.
//
// A last record that a power failure tore is no damage: nothing of what it says left
// the node. Whatever else is wrong is one, in older records too.
func latest(data []byte) (owner Owner, s algorithms.State, err error) {
	damaged := func(what error) (Owner, algorithms.State, error) {
		return Owner{}, algorithms.State{}, fmt.Errorf("%w: %w", ErrCorrupt, what)
	}
	if bytes.HasPrefix(data, []byte("{\n")) {
		return damaged(fmt.Errorf("format version 1, this program reads version %d: "+
			"run the program that wrote it", version))
	}
	first := recordSize(data)
	if len(data) > maxFile || first+room != len(data) {
		return damaged(fmt.Errorf("%d bytes is not the size of a state file", len(data)))
	}
	written := len(bytes.TrimRight(data, string(blank)))
	data = data[:min((written+sector-1)/sector*sector, len(data))]
	for at := 0; at < len(data); {
		record := data[at : at+recordSize(data[at:])]
		o, state, err := decode(record)
		if err != nil && at > 0 && at+len(record) == len(data) && torn(record) {
			break
		}
		if err != nil {
			return damaged(fmt.Errorf("at byte %d: %w", at, err))
		}
		if at > 0 && o != owner {
			return damaged(fmt.Errorf("at byte %d: the state of node %d of cluster %q, behind that of "+
				"node %d of cluster %q", at, o.ID, o.Cluster, owner.ID, owner.Cluster))
		}
		owner, s = o, state
		at += len(record)
	}
	return owner, s, nil
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

// torn reports whether some sectors of a record were never written, which shows where
// there are several: one of them is blank, or its end is missing.
func torn(record []byte) bool {
	for at := 0; at+sector <= len(record); at += sector {
		if len(bytes.TrimRight(record[at:at+sector], string(blank))) == 0 {
			return true
		}
	}
	sealed := bytes.LastIndex(record, []byte(sealKey))
	return record[len(record)-1] != '\n' && (sealed < 0 || sealed+sealSize > len(record))
}
