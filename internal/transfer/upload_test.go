package transfer

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// cutSeeker is a file of which the rest cannot be read.
type cutSeeker struct{ io.Reader }

func (c *cutSeeker) Seek(int64, int) (int64, error) {
	c.Reader = io.MultiReader(strings.NewReader("be"), iotest.ErrReader(io.ErrUnexpectedEOF))
	return 8, nil
}

// Reading beyond the end is an end, and a source that is cut is none.
func TestUploadReadAt(t *testing.T) {
	whole, err := newUpload(bytes.NewReader([]byte("beginning")), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if n, err := whole.ReadAt(b, 6); n != 3 || !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	cut, err := newUpload(&cutSeeker{}, "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := cut.ReadAt(b, 0); n != 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: %d, %v", n, err)
	}
}
