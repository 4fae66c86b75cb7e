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

var errUnpacked = fmt.Errorf("it unpacks to more than %d bytes", int64(maxUnpacked))

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
	u := &unpacked{file: f, left: maxUnpacked}
	u.dec, err = zstd.NewReader(packedBytes{u}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return u, nil
}

// unpacked is a packed rollout while it is read. The bound on its length is an error, because an end
// there would look like that of the rollout.
type unpacked struct {
	dec  *zstd.Decoder
	file fs.File
	left int64
	err  error // of the file, which is no damage of what is packed in it
}

// packedBytes are the bytes of the file.
type packedBytes struct{ of *unpacked }

// Read implements io.Reader.
func (p packedBytes) Read(b []byte) (int, error) {
	n, err := p.of.file.Read(b)
	if err != nil && !transcript.Ended(err) {
		p.of.err = err
	}
	return n, err
}

// Read implements io.Reader.
func (u *unpacked) Read(b []byte) (int, error) {
	if u.left <= 0 {
		if n, err := u.dec.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, errUnpacked
	}
	n, err := u.dec.Read(b[:min(int64(len(b)), u.left)])
	u.left -= int64(n)
	return n, err
}

func (u *unpacked) Close() error {
	u.dec.Close()
	return u.file.Close()
}

// eachLine reads a rollout, until a reader of its lines has had enough. A packed one that is
// damaged, or unpacks to too much, ends with a bad line.
func eachLine(r io.Reader, do func(line) bool) error {
	packed, isPacked := r.(*unpacked)
	in := transcript.NewRecords(r)
	var began int64 // of lines without a time
	first := true
	for {
		rec, err := in.Next()
		switch {
		case transcript.Ended(err):
			return nil
		case err != nil && isPacked && packed.err != nil:
			return packed.err
		case errors.Is(err, errUnpacked):
			do(line{n: in.Line(), ordinal: -1, bad: err.Error()})
			return nil
		case err != nil && isPacked:
			do(line{n: in.Line(), ordinal: -1, bad: "damaged: " + err.Error()})
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
			began, first = l.at, false
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
		l.bad = why(err)
		return l
	}
	l.at, l.kind, l.payload, l.summary = transcript.Stamp(v.Timestamp), v.Type, v.Payload, v.Metadata.Summary
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

// why says what is wrong with JSON.
func why(err error) string {
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
