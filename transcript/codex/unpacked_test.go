package codex

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

const packedName = "rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl.zst"

// brokenDisk has a file that cannot be read behind some bytes.
type brokenDisk struct {
	fs.FS
	left int
}

var errDisk = errors.New("input/output error")

// Open implements fs.FS.
func (b brokenDisk) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	return &brokenFile{f, b.left}, err
}

type brokenFile struct {
	fs.File
	left int
}

// Read implements io.Reader.
func (b *brokenFile) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errDisk
	}
	n, err := b.File.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// A packed rollout that unpacks to more than is read says so, and one that the disk does not give is
// not called damaged.
func TestUnpackedToItsEnd(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat(`{"type":"event_msg","payload":{"a":"b"}}`+"\n", 5000)
	files := fstest.MapFS{packedName: {Data: enc.EncodeAll([]byte(text), nil)}}
	read := func(files fs.FS, left int64) (lines int, bad string, err error) {
		in, err := openRollout(files, packedName)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if left > 0 {
			in.(*unpackedFile).Reader = &boundedReader{in.(*unpackedFile).dec, left}
		}
		err = eachLine(in, true, func(l line) bool {
			lines++
			if l.bad != "" {
				bad = l.bad
			}
			return true
		})
		return lines, bad, err
	}
	if n, bad, err := read(files, int64(len(text))); n != 5000 || bad != "" || err != nil {
		t.Errorf("exactly as long as is read: %d lines, %q, %v", n, bad, err)
	}
	if n, bad, err := read(files, int64(len(text)/2)); n > 2501 || !strings.Contains(bad, "unpacks to more than") ||
		err != nil {
		t.Errorf("longer than is read: %d lines, %q, %v", n, bad, err)
	}
	if n, bad, err := read(brokenDisk{files, 40}, 0); bad != "" || !errors.Is(err, errDisk) {
		t.Errorf("a disk that fails: %d lines, %q, %v", n, bad, err)
	}
}
