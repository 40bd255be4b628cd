package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/proto"
)

const (
	noticeName = "notice.json"
	noticeTemp = "notice.json.tmp"
	// maxNotice bounds a notice's text, in bytes, and stays below what Open reads.
	maxNotice = 512
)

// Notice is the last that a node knew of what its whole cluster shares, and of who
// made it: the higher (Version, Origin) stands. It is kept beside the state, in a file
// of its own, since it changes when an operator wishes and binds nobody's vote.
type Notice struct {
	Version uint64
	Origin  proto.NodeID
	Text    string // empty when there is nothing to tell any more
}

// noticeDocument is the file's JSON. The checksum follows as its last key; see seal.
type noticeDocument struct {
	Format  int          `json:"format"`
	Cluster string       `json:"cluster"`
	Version uint64       `json:"version"`
	Origin  proto.NodeID `json:"origin"`
	Text    string       `json:"text"`
	CRC32C  string       `json:"crc32c,omitempty"`
}

// Notice is what SaveNotice last kept in this directory, the zero Notice for nothing.
// Errors wrap ErrCorrupt, ErrForeign or what the system said.
func (f *File) Notice() (Notice, error) {
	path := filepath.Join(f.dir, noticeName)
	data, err := readSmall(f.disk, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Notice{}, nil
	}
	if err != nil {
		return Notice{}, f.unusable(err)
	}
	cluster, n, err := decodeNotice(data)
	switch {
	case err != nil:
		return Notice{}, fmt.Errorf("notice file %s: %w: %w: remove the file, and pause the cluster again "+
			"if it was paused", path, ErrCorrupt, err)
	case cluster != f.owner.Cluster:
		return Notice{}, fmt.Errorf("notice file %s: %w: it is of cluster %q, this is cluster %q: "+
			"give each node a directory of its own", path, ErrForeign, cluster, f.owner.Cluster)
	}
	return n, nil
}

// SaveNotice returns once n is durable. It may be called from any goroutine, one at a
// time; whatever becomes of it, the state stays as it is.
func (f *File) SaveNotice(n Notice) error {
	if err := n.validate(); err != nil {
		return fmt.Errorf("save a notice: %w: %w", ErrState, err)
	}
	file, err := replace(f.disk, f.dir, noticeTemp, noticeName, encodeNotice(f.owner.Cluster, n))
	if err != nil {
		return fmt.Errorf("save a notice in %s: %w", f.dir, err)
	}
	return file.Close()
}

func encodeNotice(cluster string, n Notice) []byte {
	doc := noticeDocument{Format: noticeFormat, Cluster: cluster, Version: n.Version, Origin: n.Origin, Text: n.Text}
	data, _ := json.Marshal(doc) // strings and numbers never fail
	body := bytes.TrimSuffix(data, []byte("}"))
	return append(body, seal(body)...)
}

func decodeNotice(data []byte) (cluster string, n Notice, err error) {
	if len(data) < sealSize {
		return "", n, fmt.Errorf("%d bytes is not the size of a notice", len(data))
	}
	body, end := data[:len(data)-sealSize], data[len(data)-sealSize:]
	if !bytes.Equal(end, seal(body)) {
		return "", n, errors.New("the checksum does not match the content")
	}
	var doc noticeDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		return "", n, err
	}
	if doc.Format != noticeFormat {
		return "", n, fmt.Errorf("format version %d, this program reads version %d: "+
			"run the program that wrote it", doc.Format, noticeFormat)
	}
	n = Notice{Version: doc.Version, Origin: doc.Origin, Text: doc.Text}
	return doc.Cluster, n, n.validate()
}

// validate refuses what no correct node is told.
func (n Notice) validate() error {
	if n.Version == 0 || n.Version >= 1<<63 || len(n.Text) > maxNotice || !utf8.ValidString(n.Text) {
		return fmt.Errorf("notice %d of %d bytes", n.Version, len(n.Text))
	}
	return n.Origin.Validate()
}
