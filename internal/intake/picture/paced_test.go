package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// manyScans returns a progressive JPEG that goes over all of its blocks again and again: a scan says with
// a few dozen bytes that none of them changes.
func manyScans(width, height uint16, scans int) []byte {
	var b bytes.Buffer
	segment := func(marker byte, body ...byte) {
		b.Write([]byte{0xff, marker})
		_ = binary.Write(&b, binary.BigEndian, uint16(len(body)+2))
		b.Write(body)
	}
	b.Write([]byte{0xff, 0xd8})
	table := make([]byte, 65)
	for i := range table[1:] {
		table[i+1] = 1
	}
	segment(0xdb, table...)
	segment(0xc2, 8, byte(height>>8), byte(height), byte(width>>8), byte(width), 1, 1, 0x11, 0)
	lengths := make([]byte, 16)
	lengths[0] = 1
	segment(0xc4, append(append([]byte{0x00}, lengths...), 0x00)...) // one code: no difference
	segment(0xc4, append(append([]byte{0x10}, lengths...), 0xe0)...) // one code: 2^14 blocks and more have ended
	blocks := (int(width) + 7) / 8 * ((int(height) + 7) / 8)
	segment(0xda, 1, 1, 0x00, 0, 0, 0)
	b.Write(make([]byte, (blocks+7)/8))
	for range scans {
		segment(0xda, 1, 1, 0x00, 1, 63, 0)
		bits := 0
		for left := blocks; left > 0; left -= 1 << 14 {
			bits += 1 + 14 // the code, and nothing more than the least
		}
		b.Write(make([]byte, (bits+7)/8))
	}
	b.Write([]byte{0xff, 0xd9})
	return b.Bytes()
}

// An image may be small, have few pixels and take hours: decoding ends by the clock, and by its caller.
func TestDecodingEnds(t *testing.T) {
	f := New(ImageLimits{})
	got, err := f.Fit(t.Context(), manyScans(2400, 2400, 3))
	if err != nil || got.Width != 2000 {
		t.Fatalf("a few scans: %+v, %v", got.Note, err)
	}
	long := manyScans(4000, 4000, 30_000) // about five minutes
	f.time = 50 * time.Millisecond
	if _, err := f.Fit(t.Context(), long); scrollback.CodeOf(err) != scrollback.Invalid ||
		!strings.Contains(err.Error(), "too long") {
		t.Errorf("by the clock: %v", err)
	}
	f.time = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.Fit(ctx, long); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Errorf("by its caller: %v", err)
	}
}
