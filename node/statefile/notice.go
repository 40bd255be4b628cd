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
	// maxNotice is the longest text of a notice, in bytes. It must be below what Open reads.
	maxNotice = 512
)

// Notice is the newest notice of the whole cluster that a node knew. Of two notices the one with the higher
// (Version, Origin) is the newer. The notice is in a file of its own beside the state, since it changes when
// an operator asks, and no vote depends on it.
type Notice struct {
	Version uint64
	Origin  proto.NodeID
	Text    string // empty if there is nothing to tell any more
}

// noticeDocument is the JSON of the notice file. Its last key is the checksum; see seal.
type noticeDocument struct {
	Format  int          `json:"format"`
	Cluster string       `json:"cluster"`
	Version uint64       `json:"version"`
	Origin  proto.NodeID `json:"origin"`
	Text    string       `json:"text"`
	CRC32C  string       `json:"crc32c,omitempty"`
}

// Notice returns the notice that SaveNotice last saved in this directory; the zero Notice if there
// is none. Errors wrap ErrCorrupt, ErrForeign or the system's error.
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

// SaveNotice makes n durable before it returns. Any goroutine may call it, but only one at a time. It never
// touches the state, even if it fails.
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

// validate returns an error for a notice that no correct node gets.
func (n Notice) validate() error {
	if n.Version == 0 || n.Version >= 1<<63 || len(n.Text) > maxNotice || !utf8.ValidString(n.Text) {
		return fmt.Errorf("notice %d of %d bytes", n.Version, len(n.Text))
	}
	return n.Origin.Validate()
}
