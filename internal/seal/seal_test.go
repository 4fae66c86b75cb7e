package seal_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/seal"
)

// What is written has the same hash as what is read again, also of a part; a file that ends early is found.
func TestSeal(t *testing.T) {
	var out bytes.Buffer
	w := seal.NewWriter(&out)
	for _, piece := range []string{"one ", "two ", "three"} {
		if _, err := io.WriteString(w, piece); err != nil {
			t.Fatal(err)
		}
	}
	want := sha256.Sum256([]byte("one two three"))
	if w.Len() != 13 || !bytes.Equal(w.Sum(), want[:]) {
		t.Errorf("%d bytes with the sum %x", w.Len(), w.Sum())
	}
	r := bytes.NewReader(out.Bytes())
	if got, err := seal.SumOf(r, 13); err != nil || !bytes.Equal(got, want[:]) {
		t.Errorf("read again: %x, %v", got, err)
	}
	part := sha256.Sum256([]byte("one "))
	if got, err := seal.SumOf(r, 4); err != nil || !bytes.Equal(got, part[:]) {
		t.Errorf("a part: %x, %v", got, err)
	}
	p := make([]byte, 3)
	if err := seal.ReadAt(r, 4, p); err != nil || string(p) != "two" {
		t.Errorf("at 4: %q, %v", p, err)
	}
	if err := seal.ReadAt(r, 13, p); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("behind the end: %v", err)
	}
	if err := seal.ReadAt(r, 12, p); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("across the end: %v", err)
	}
	if _, err := seal.SumOf(r, 14); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("more than there is: %v", err)
	}
}
