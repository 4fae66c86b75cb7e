package dialect_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// plain returns a request without what is remembered of its items.
func plain(r *threading.Request) *threading.Request {
	if r == nil {
		return nil
	}
	for i, it := range r.Items {
		r.Items[i] = threading.Item{Role: it.Role, Kind: it.Kind, Text: it.Text, Name: it.Name, ID: it.ID,
			Message: it.Message, Part: it.Part, Media: it.Media, IsError: it.IsError}
	}
	return r
}

// TestReaderRemembers reads what real clients sent, one request after the other, and bodies that differ from them in a
// few bytes: what a reader remembers changes nothing of what it reads, and lets nothing pass that is no JSON.
func TestReaderRemembers(t *testing.T) {
	files, err := filepath.Glob(filepath.FromSlash("../testdata/recordings/*.ndjson.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	header := func(string) string { return "" }
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		reader := dialect.NewReader()
		lines := json.NewDecoder(bufio.NewReader(z))
		for lines.More() {
			var recorded struct {
				Dialect threading.Dialect
				Request json.RawMessage
			}
			if err := lines.Decode(&recorded); err != nil {
				t.Fatal(err)
			}
			broken := bytes.Clone(recorded.Request)
			for range 1 + rng.IntN(3) {
				broken[rng.IntN(len(broken))] = `{}[]",:0\ x`[rng.IntN(11)]
			}
			for _, body := range [][]byte{recorded.Request, broken, recorded.Request} {
				got, err := reader.Read(recorded.Dialect, header, body)
				want, wrong := dialect.Read(recorded.Dialect, header, body)
				if (err == nil) != (wrong == nil) || !reflect.DeepEqual(plain(got), plain(want)) {
					t.Fatalf("%s: %v instead of %v, for\n%.2000s", name, err, wrong, body)
				}
				if wrong != nil {
					refused++
				}
			}
		}
		f.Close()
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}
