package zipped_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript/zipped"
)

// entry is a file of a zip that a test makes.
type entry struct {
	name, text string
	method     uint16
	flags      uint16
	claim      uint64 // how many bytes it says it has, if not as many as it has
}

func packed(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method, Flags: e.flags}
		body := []byte(e.text)
		var out io.Writer
		var err error
		if e.claim != 0 || e.method > zip.Deflate {
			h.CRC32 = crc32.ChecksumIEEE(body)
			h.CompressedSize64 = uint64(len(body))
			h.UncompressedSize64 = max(e.claim, uint64(len(body)))
			out, err = w.CreateRaw(h)
		} else {
			out, err = w.CreateHeader(h)
		}
		if err == nil {
			_, err = out.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlace(t *testing.T) {
	b := packed(t, entry{name: "conversations.json", text: "[]", method: zip.Deflate},
		entry{name: "user-1/file-A.png", text: "image", method: zip.Store}, entry{name: "empty/"})
	if !zipped.Sniff(b) || zipped.Sniff([]byte("[]")) {
		t.Error("a zip is not told from what is none")
	}
	p, err := zipped.Open(bytes.NewReader(b), int64(len(b)), 7)
	if err != nil || p.Name != "." || p.Now != 7 || p.Path != "" {
		t.Fatalf("a place %+v, %v", p, err)
	}
	if err := fstest.TestFS(p.FS, "conversations.json", "user-1/file-A.png"); err != nil {
		t.Error(err)
	}
	if got, err := fs.ReadFile(p.FS, "user-1/file-A.png"); string(got) != "image" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := p.FS.Open("nothing.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestRefused(t *testing.T) {
	good := packed(t, entry{name: "a.json", text: strings.Repeat("[1]", 100), method: zip.Deflate})
	for name, c := range map[string]struct {
		zip  []byte
		want string
	}{
		"no zip":          {[]byte("{}"), "damaged"},
		"nothing":         {nil, "damaged"},
		"cut short":       {good[:len(good)-30], "damaged"},
		"a name upwards":  {packed(t, entry{name: "../a.json"}), "leads outside"},
		"upwards below":   {packed(t, entry{name: "a/../../b.json"}), "leads outside"},
		"from the root":   {packed(t, entry{name: "/etc/passwd"}), "leads outside"},
		"with a drive":    {packed(t, entry{name: `c:\a.json`}), "leads outside"},
		"with backslash":  {packed(t, entry{name: `..\a.json`}), "leads outside"},
		"too many bytes":  {packed(t, entry{name: "a", claim: 1 << 40}), "unpack to more"},
		"shared by names": {overlapping(t, 300), "more bytes than it has"},
		"too many files":  {many(t, 200_001), "more than 200000 files"},
		"a long list":     {long(t), "64 MB of names"},
	} {
		_, err := zipped.Open(bytes.NewReader(c.zip), int64(len(c.zip)), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	failing := errors.New("the disk is gone")
	if _, err := zipped.Open(broken{failing}, 100, 0); !errors.Is(err, failing) ||
		scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("a failing reader: %v", err)
	}
}

func TestEntryRefused(t *testing.T) {
	flipped := packed(t, entry{name: "a", text: "the text of a file that is stored", method: zip.Store})
	flipped[bytes.Index(flipped, []byte("stored"))] = 'S'
	for name, c := range map[string]struct {
		zip  []byte
		want string
	}{
		"encrypted":      {packed(t, entry{name: "a", text: "secret", flags: 1, claim: 6}), "is encrypted"},
		"another method": {packed(t, entry{name: "a", text: "text", method: 99}), "packed in a way"},
		"a bomb": {packed(t, entry{name: "a", text: strings.Repeat("x", 70<<20), method: zip.Deflate}),
			"times of what it takes"},
		"another text":  {flipped, "is damaged"},
		"no deflate":    {packed(t, entry{name: "a", text: "\xff\xff\xff\xff", method: zip.Deflate, claim: 4}), "is damaged"},
		"not all of it": {packed(t, entry{name: "a", text: "text", claim: 9}), "is damaged"},
	} {
		p, err := zipped.Open(bytes.NewReader(c.zip), int64(len(c.zip)), 0)
		if err != nil {
			t.Errorf("%s: the zip is refused: %v", name, err)
			continue
		}
		_, err = fs.ReadFile(p.FS, "a")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if names, err := fs.Glob(p.FS, "*"); !slices.Equal(names, []string{"a"}) || err != nil {
			t.Errorf("%s: it has %v, %v", name, names, err)
		}
	}
}

// overlapping returns a zip whose entries are all the same bytes.
func overlapping(t *testing.T, n int) []byte {
	b := packed(t, entry{name: "aaa", text: strings.Repeat("kernel", 1000), method: zip.Store})
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	at := bytes.Index(b, []byte("PK\x01\x02"))
	var out bytes.Buffer
	out.Write(b[:at])
	for i := range n {
		one := bytes.Clone(b[at:end])
		out.Write(bytes.Replace(one, []byte("aaa"), fmt.Appendf(nil, "%03d", i), 1))
	}
	tail := bytes.Clone(b[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*(end-at)))
	out.Write(tail)
	return out.Bytes()
}

func many(t *testing.T, n int) []byte {
	entries := make([]entry, n)
	for i := range entries {
		entries[i].name = fmt.Sprint(i)
	}
	return packed(t, entries...)
}

// long returns a zip whose names are longer than its list may be.
func long(t *testing.T) []byte {
	entries := make([]entry, 1100)
	for i := range entries {
		entries[i].name = fmt.Sprint(i) + strings.Repeat("x", 65000)
	}
	return packed(t, entries...)
}

type broken struct{ err error }

func (b broken) ReadAt([]byte, int64) (int, error) { return 0, b.err }

// Whatever the bytes are, a zip is read or refused, and gives no more than it may.
func FuzzOpen(f *testing.F) {
	f.Add(packed(f, entry{name: "a/b.json", text: "[]", method: zip.Deflate}, entry{name: "c", text: "x"}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := zipped.Open(bytes.NewReader(b), int64(len(b)), 0)
		if err != nil {
			return
		}
		err = fs.WalkDir(p.FS, ".", func(name string, d fs.DirEntry, err error) error {
			if !fs.ValidPath(name) {
				t.Fatalf("%q is a name", name)
			}
			if err == nil && d.Type().IsRegular() {
				_, _ = fs.ReadFile(p.FS, name) // it may be damaged
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
