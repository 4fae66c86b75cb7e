package bundle

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/seal"
)

// edit is one change of a text: some bytes go, and others come in their place, which are
// given or copied from elsewhere in the bundle. It is small, so that the fuzzer, which
// shortens whatever it finds byte by byte, spends its time on trying.
type edit struct {
	entry    uint8  // which text: an entry, or behind the last one the packed file, sealed again, and the file as it is
	at       uint16 // where
	cut      uint8  // how many bytes go
	from     uint16 // where others are copied from, in all entries one after the other
	borrowed uint8  // how many
	put      []byte
}

// mostPut is how many bytes an edit brings itself at most; what is longer is copied.
const mostPut = 16

func (e edit) of(text, all []byte) []byte {
	at := int(e.at) % (len(text) + 1)
	end := min(at+int(e.cut), len(text))
	from := int(e.from) % (len(all) + 1)
	return slices.Concat(text[:at], e.put, all[from:min(from+int(e.borrowed), len(all))], text[end:])
}

// Whatever a file holds, reading it ends, and what is refused is refused as invalid. What
// is accepted says the same when it is written again.
func FuzzCheck(f *testing.F) {
	items := open(f, tell(f).bundle(f, Limits{}))
	var all []byte
	for i, it := range items {
		all = append(all, it.text...)
		f.Add(uint8(i), uint16(len(it.text)/2), uint8(1), uint16(0), uint8(0), []byte("1"))
		f.Add(uint8(i), uint16(len(it.text)), uint8(0), uint16(len(all)-len(it.text)), uint8(200), []byte{})
	}
	for behind := range uint8(2) {
		f.Add(uint8(len(items))+behind, uint16(40), uint8(1), uint16(0), uint8(0), []byte{7})
	}
	f.Fuzz(func(t *testing.T, entry uint8, at uint16, cut uint8, from uint16, borrowed uint8, put []byte) {
		if len(put) > mostPut {
			return
		}
		edited(t, items, all, edit{entry, at, cut, from, borrowed, put})
	})
}

// fuzzLimits are met by small files too.
var fuzzLimits = Limits{Entries: 100, Records: 100, Bytes: 1 << 20, Entry: 1 << 18, Text: 1 << 18, RatioFrom: 1 << 20,
	Ratio: 10}

func edited(t testing.TB, items []item, all []byte, e edit) {
	t.Helper()
	switch which := int(e.entry) % (len(items) + 2); which {
	case len(items):
		read(t, resealed(t, e.of(stored(t, items), all)))
	case len(items) + 1:
		read(t, e.of(resealed(t, stored(t, items)), all))
	default:
		items = slices.Clone(items)
		items[which].text = e.of(items[which].text, all)
		if which < len(items)-1 {
			fit(t, items)
		}
		read(t, resealed(t, stored(t, items)))
	}
}

// read checks a file. What its records say is judged again under a manifest that fits them;
// if that is accepted, it says the same when it is written once more.
func read(t testing.TB, file []byte) {
	t.Helper()
	invalid(t, check(file, fuzzLimits))
	said, again, err := rewritten(file)
	if err != nil {
		invalid(t, err)
		return
	}
	if err := check(again, fuzzLimits); err != nil {
		invalid(t, err)
		return
	}
	if once, _, err := rewritten(again); err != nil || once != said {
		t.Fatalf("what was accepted says\n%s\nand written again\n%s\n%v", said, once, err)
	}
}

func invalid(t testing.TB, err error) {
	t.Helper()
	if err != nil && scrollback.CodeOf(err) != scrollback.Invalid {
		t.Fatalf("%v (%s)", err, scrollback.CodeOf(err))
	}
}

// rewritten returns what the records of a file say, as JSON, and the bundle that a writer makes
// of them, whatever they say.
func rewritten(file []byte) (string, []byte, error) {
	var header Header
	var records []func(*Writer) error
	var said strings.Builder
	add := func(record any, write func(*Writer) error) error {
		records = append(records, write)
		return json.NewEncoder(&said).Encode(record)
	}
	_, err := Walk(bytes.NewReader(file), fuzzLimits, Visit{
		Header: func(h Header) error { header = h; return nil },
		Artifact: func(id scrollback.ArtifactID, size int64, r io.Reader) error {
			text, err := io.ReadAll(r)
			return errors.Join(err, add(text, func(w *Writer) error { return w.AddArtifact(id, size, bytes.NewReader(text)) }))
		},
		Conversation: func(c Conversation) error { return add(c, func(w *Writer) error { return w.BeginConversation(c) }) },
		Segment:      func(s scrollback.Segment) error { return add(s, func(w *Writer) error { return w.AddSegment(s) }) },
		Branch:       func(b Branch) error { return add(b, func(w *Writer) error { return w.AddBranch(b) }) },
		Mention:      func(a scrollback.Artifact) error { return add(a, func(w *Writer) error { return w.AddMention(a) }) },
		Message:      func(m scrollback.Message) error { return add(m, func(w *Writer) error { return w.AddMessage(m) }) },
		Fold: func(r scrollback.StoredReceipt) error {
			return add(r, func(w *Writer) error { return w.AddReceipt(r) })
		},
		Kept: func(k KeptChange) error { return add(k, func(w *Writer) error { return w.AddKept(k) }) },
	})
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, header.Conversation, fuzzLimits)
	if err == nil && header.Version == Version {
		w.ExpectKept()
	}
	for _, write := range records {
		if err == nil {
			err = write(w)
		}
	}
	if err == nil {
		err = w.Close()
	}
	return said.String(), out.Bytes(), err
}

// fit makes the sums of a manifest, the last item, those of the entries before it.
func fit(t testing.TB, items []item) {
	t.Helper()
	var m Manifest
	last := len(items) - 1
	if err := json.Unmarshal(items[last].text, &m); err != nil {
		t.Fatal(err)
	}
	for i, it := range items[:last] {
		m.Entries[i] = EntrySum{Name: it.name, Size: int64(len(it.text)), SHA256: sha(it.text)}
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	items[last].text = text
}

// stored returns a tar of items as one frame of zstd whose blocks are not compressed: packing
// them takes no time, and the fuzzer does not explore the compressor.
func stored(t testing.TB, items []item) []byte {
	t.Helper()
	// a single segment with a length of four bytes; the longest block; its type
	const single, most, raw = 0xa0, 128 << 10, 0
	var archive bytes.Buffer
	archived(t, &archive, items)
	out := binary.LittleEndian.AppendUint32(append(slices.Clone(zstdMagic), single), uint32(archive.Len()))
	for archive.Len() > 0 {
		block := archive.Next(most)
		head := uint32(len(block)<<3 | raw<<1)
		if archive.Len() == 0 {
			head |= 1
		}
		out = append(append(out, byte(head), byte(head>>8), byte(head>>16)), block...)
	}
	return out
}

// archived writes items as a tar.
func archived(t testing.TB, to io.Writer, items []item) {
	t.Helper()
	w := tar.NewWriter(to)
	for _, it := range items {
		h := &tar.Header{Typeflag: it.kind, Name: it.name, Size: int64(len(it.text)), Mode: 0o644}
		if it.kind == tar.TypeSymlink {
			h.Linkname = "/etc/passwd"
			h.Size = 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(it.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// resealed returns what was packed, with a seal that fits.
func resealed(t testing.TB, packed []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	sealed := seal.NewWriter(&out)
	_, err := sealed.Write(packed)
	if err = errors.Join(err, writeSeal(sealed, 0, DefaultLimits())); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
