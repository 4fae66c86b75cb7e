package fullcopy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript/fullcopy"
)

// A sealed copy is one JSON document whose last member is the SHA-256 of the bytes before it. With
// any bit changed, or cut off anywhere behind its first line, it is refused.
func TestSeal(t *testing.T) {
	whole, err := os.ReadFile("testdata/archive.json")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := fullcopy.CheckSeal(bytes.NewReader(whole))
	if err != nil || !sealed {
		t.Fatalf("sealed: %v, %v", sealed, err)
	}
	var last struct {
		Seal string `json:"seal"`
	}
	sum := sha256.Sum256(whole[:bytes.LastIndex(whole, []byte(`"seal"`))])
	if err := json.Unmarshal(whole, &last); err != nil || last.Seal != hex.EncodeToString(sum[:]) {
		t.Errorf("%q, %v", last.Seal, err)
	}
	refused := func(b []byte) bool {
		_, err := fullcopy.CheckSeal(bytes.NewReader(b))
		return scrollback.CodeOf(err) == scrollback.Invalid
	}
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		if !refused(changed) {
			t.Errorf("byte %d of %d: not refused", i, len(whole))
		}
	}
	for n := bytes.IndexByte(whole, '\n'); n < len(whole); n++ {
		if !refused(whole[:n]) {
			t.Errorf("cut off at %d: not refused", n)
		}
	}
}

// A copy of an older program has no seal, and is not taken for a new one that lost its seal.
func TestUnsealed(t *testing.T) {
	whole, err := os.ReadFile("testdata/unsealed.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{whole, nil, []byte("{}"), []byte("a text")} {
		if sealed, err := fullcopy.CheckSeal(bytes.NewReader(b)); err != nil || sealed {
			t.Errorf("%.20q: %v, %v", b, sealed, err)
		}
	}
	if out := load(t, bytes.NewReader(whole)); len(out.all) != 5 || len(out.bad) > 0 {
		t.Errorf("%d messages, bad %v", len(out.all), out.bad)
	}
}
