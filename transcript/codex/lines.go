package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback/transcript"
)

// zstdMagic begins a packed rollout.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxUnpacked bounds what a packed rollout may unpack to, in bytes.
const maxUnpacked = 4 << 30

// line is a line of a rollout.
type line struct {
	n       int    // in its own file, from 1
	thread  string // whose line it is
	pos     int    // in a file of that thread: n, but for a copied line
	shared  bool   // it is another thread's, or a copy of one of that
	at      int64  // Unix ms
	ordinal int64  // -1 without one
	kind    string
	payload json.RawMessage
	summary bool // what a model said to compact its window
	torn    bool // the last one, not ended
	bad     string
}

// openRollout opens a rollout, packed or not.
func openRollout(fsys fs.FS, name string) (io.ReadCloser, error) {
	f, err := fsys.Open(name)
	if err != nil || !strings.HasSuffix(name, ".zst") {
		return f, err
	}
	file := &packedSource{File: f}
	dec, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &unpackedFile{&boundedReader{dec, maxUnpacked}, dec, file}, nil
}

// errUnpacked is about a packed rollout that is longer than what is read of one.
var errUnpacked = fmt.Errorf("it unpacks to more than %d bytes; what is behind that is not read", int64(maxUnpacked))

// boundedReader reads a bounded number of bytes, and fails with [errUnpacked] where there are more.
type boundedReader struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if n, err := io.ReadFull(b.r, make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, errUnpacked
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// packedSource is a packed file, and why it could not be read: what is packed in it is not damaged then.
type packedSource struct {
	fs.File
	err error
}

// Read implements io.Reader.
func (s *packedSource) Read(b []byte) (int, error) {
	n, err := s.File.Read(b)
	if err != nil && !transcript.IsEnd(err) {
		s.err = err
	}
	return n, err
}

type unpackedFile struct {
	io.Reader
	dec  *zstd.Decoder
	file *packedSource
}

func (u *unpackedFile) Close() error {
	u.dec.Close()
	return u.file.Close()
}

// eachLine reads a rollout, until a reader of its lines has had enough. A packed one that is
// damaged, or unpacks to too much, ends with a bad line.
func eachLine(r io.Reader, packed bool, do func(line) bool) error {
	from, _ := r.(*unpackedFile)
	in := transcript.NewRecords(r)
	var began int64 // of lines without a time
	first := true
	for {
		rec, err := in.Next()
		switch {
		case transcript.IsEnd(err):
			return nil
		case err != nil && from != nil && from.file.err != nil:
			return from.file.err
		case errors.Is(err, errUnpacked):
			do(line{n: in.CurrentLine(), ordinal: -1, bad: err.Error()})
			return nil
		case err != nil && packed:
			do(line{n: in.CurrentLine(), ordinal: -1, bad: "damaged: " + err.Error()})
			return nil
		case err != nil:
			return err
		}
		l := line{ordinal: -1, bad: rec.Reason, torn: rec.Torn}
		if rec.JSON != nil {
			l = parseLine(rec.JSON, first && rec.Line == 1)
		}
		if l.n = rec.Line; l.at == 0 {
			l.at = began
		}
		if first {
			began = l.at
			first = false
		}
		if !do(l) {
			return nil
		}
	}
}

// parseLine reads a line of either form: one with a type and a payload, or, in the oldest
// rollouts, the payload alone.
func parseLine(raw []byte, first bool) line {
	var v struct {
		Timestamp string          `json:"timestamp"`
		Ordinal   *int64          `json:"ordinal"`
		Type      string          `json:"type"`
		Payload   json.RawMessage `json:"payload"`
		Record    string          `json:"record_type"`
		Metadata  struct {
			Summary bool `json:"compaction_output"`
		} `json:"metadata"`
	}
	l := line{ordinal: -1}
	if err := json.Unmarshal(raw, &v); err != nil {
		l.bad = explainJSON(err)
		return l
	}
	l.at = transcript.ParseTime(v.Timestamp)
	l.kind = v.Type
	l.payload = v.Payload
	l.summary = v.Metadata.Summary
	if v.Ordinal != nil && *v.Ordinal >= 0 {
		l.ordinal = *v.Ordinal
	}
	if v.Payload != nil {
		return l
	}
	l.payload = bytes.Clone(raw)
	switch {
	case first && v.Type == "":
		l.kind = "session_meta"
	case v.Record != "":
		l.kind = "state"
	default:
		l.kind = "response_item"
	}
	return l
}

// explainJSON returns what is wrong with JSON.
func explainJSON(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field == "" {
			return "it is " + kind.Value + " where an object should be"
		}
		return kind.Field + " is " + kind.Value
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return "malformed JSON: " + err.Error()
	}
	return err.Error()
}
