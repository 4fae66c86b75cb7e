package picture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// quarters returns an image with a colour in each corner, so that one sees how it stands: red
// and green above, blue and white below.
func quarters(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, c := range []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}} {
		at := image.Pt(i%2*w/2, i/2*h/2)
		draw.Draw(img, image.Rect(0, 0, (w+1)/2, (h+1)/2).Add(at), image.NewUniform(c), image.Point{}, draw.Src)
	}
	return img
}

// corners tells the colours of an image's corners as letters, row by row.
func corners(t *testing.T, b []byte) string {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r := img.Bounds()
	out := ""
	for _, at := range []image.Point{{r.Dx() / 5, r.Dy() / 5}, {r.Dx() * 4 / 5, r.Dy() / 5}, {r.Dx() / 5, r.Dy() * 4 / 5},
		{r.Dx() * 4 / 5, r.Dy() * 4 / 5}} {
		red, green, blue, alpha := img.At(r.Min.X+at.X, r.Min.Y+at.Y).RGBA()
		const half = 0x8000
		letter := map[[3]bool]string{{true, false, false}: "r", {false, true, false}: "g", {false, false, true}: "b",
			{true, true, true}: "w"}[[3]bool{red > half, green > half, blue > half}]
		if alpha < half {
			letter = "-"
		}
		out += letter
	}
	return out
}

func asPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t *testing.T, img image.Image, orientation byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x02"+
		"\x01\x0f\x00\x02\x00\x00\x00\x01\x00\x00\x00\x00"),
		1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(out, b.Bytes()[2:]...)
}

func asGIF(t *testing.T, w, h, frames int) []byte {
	t.Helper()
	g := gif.GIF{Config: image.Config{Width: w, Height: h}}
	for range frames {
		p := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.NRGBA{255, 0, 0, 255}})
		g.Image = append(g.Image, p)
		g.Delay = append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// chunk returns one of a PNG file.
func chunk(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func header(w, h uint32, rest ...byte) []byte {
	return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h), rest...)
}

// What fits stays byte for byte, under the type that its bytes have.
func TestWhatFitsStays(t *testing.T) {
	deep := image.NewNRGBA64(image.Rect(0, 0, 30, 20))
	for name, c := range map[string]struct {
		b     []byte
		media string
		w, h  int
	}{
		"png":            {asPNG(t, quarters(2000, 10)), "image/png", 2000, 10},
		"16-bit png":     {asPNG(t, deep), "image/png", 30, 20},
		"jpeg":           {asJPEG(t, quarters(40, 30), 1), "image/jpeg", 40, 30},
		"four inks":      {inked(24, 40), "image/jpeg", 24, 40},
		"jpeg on a side": {asJPEG(t, quarters(40, 30), 6), "image/jpeg", 30, 40},
		"gif":            {asGIF(t, 12, 9, 1), "image/gif", 12, 9},
		"moving gif":     {asGIF(t, 12, 9, 30), "image/gif", 12, 9},
		"webp":           {asWebP(75, 3), "image/webp", 75, 3},
	} {
		got, err := New(ImageLimits{}).Fit(t.Context(), c.b)
		if err != nil || !bytes.Equal(got.Bytes, c.b) || got.MediaType != c.media || got.Width != c.w || got.Height != c.h ||
			got.Note != "" {
			t.Errorf("%s: %s %d×%d %q, %v", name, got.MediaType, got.Width, got.Height, got.Note, err)
		}
	}
}

// asWebP returns a lossless WebP image of one colour, a few bytes at any size.
func asWebP(w, h uint32) []byte {
	var bits uint64
	var n int
	var body []byte
	write := func(v uint64, count int) {
		for bits, n = bits|v<<n, n+count; n >= 8; bits, n = bits>>8, n-8 {
			body = append(body, byte(bits))
		}
	}
	write(0x2f, 8)
	write(uint64(w-1), 14)
	write(uint64(h-1), 14)
	write(0, 1+3) // no alpha, version 0
	write(0, 3)   // no transforms, colour cache or groups
	for _, symbol := range []uint64{0, 255, 0, 255} {
		write(1|1<<2|symbol<<3, 11) // a code of one symbol of eight bits: green, red, blue, alpha
	}
	write(1, 4) // distances: one symbol of one bit
	write(0, 8)
	return riff("VP8L", body)
}

func riff(chunks ...any) []byte {
	out := []byte("WEBP")
	for i := 0; i < len(chunks); i += 2 {
		body := chunks[i+1].([]byte)
		out = append(out, chunks[i].(string)...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
		out = append(out, body...)
		if len(body)%2 == 1 {
			out = append(out, 0)
		}
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(out))), out...)
}

// inked returns a red JPEG image of four inks, as programs for print write them.
func inked(w, h int) []byte {
	segment := func(kind byte, body []byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, kind}, uint16(len(body)+2)), body...)
	}
	out := append([]byte{0xff, 0xd8}, segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"))...)
	out = append(out, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...))...)
	frame := append([]byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), 4}, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4,
		0x11, 0)
	out = append(out, segment(0xc0, frame)...)
	// 0, 10 and 110
	out = append(out, segment(0xc4, append(append([]byte{0, 1, 1, 1}, make([]byte, 13)...), 0, 10, 11))...)
	out = append(out, segment(0xc4, append(append([]byte{0x10, 1}, make([]byte, 15)...), 0))...)
	out = append(out, segment(0xda, []byte{4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0})...)
	// Each block says how much lighter it is than the one before, and ends.
	bits := ""
	for _, v := range []int{1016, -1024, -1024, 1016} {
		if v > 0 {
			bits += fmt.Sprintf("10%010b0", v)
		} else {
			bits += fmt.Sprintf("110%011b0", v+2047)
		}
	}
	bits += strings.Repeat("00", 4*((w+7)/8*((h+7)/8)-1))
	for bits += "1111111"; len(bits) >= 8; bits = bits[8:] {
		v, _ := strconv.ParseUint(bits[:8], 2, 8)
		if out = append(out, byte(v)); v == 0xff {
			out = append(out, 0)
		}
	}
	return append(out, 0xff, 0xd9)
}

// deflated returns n zeros in a zlib stream.
func deflated(t *testing.T, n int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := io.CopyN(w, zeros{}, n); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// What is larger than models look at is scaled down, upright and with what was transparent.
func TestScaled(t *testing.T) {
	hole := quarters(4000, 3000)
	draw.Draw(hole, image.Rect(0, 0, 2000, 1500), image.Transparent, image.Point{}, draw.Src)
	deep := image.NewNRGBA64(image.Rect(0, 0, 2500, 10))
	draw.Draw(deep, deep.Rect, quarters(2500, 10), image.Point{}, draw.Src)
	for name, c := range map[string]struct {
		b              []byte
		media, corners string
		w, h           int
		note           string
	}{
		"png":         {asPNG(t, quarters(8000, 6000)), "image/png", "rgbw", 2000, 1500, "8000×6000 scaled to 2000×1500"},
		"narrow":      {asPNG(t, quarters(10, 5001)), "image/png", "rgbw", 4, 2000, "10×5001 scaled to 4×2000"},
		"a line":      {asPNG(t, quarters(30000, 1)), "image/png", "bwbw", 2000, 1, "30000×1 scaled to 2000×1"},
		"transparent": {asPNG(t, hole), "image/png", "-gbw", 2000, 1500, "4000×3000 scaled to 2000×1500"},
		"16-bit":      {asPNG(t, deep), "image/png", "rgbw", 2000, 8, "2500×10 scaled to 2000×8"},
		"jpeg": {asJPEG(t, quarters(2400, 480), 1), "image/jpeg", "rgbw", 2000, 400,
			"2400×480 scaled to 2000×400"},
		"four inks": {inked(2400, 40), "image/jpeg", "rrrr", 2000, 33, "2400×40 scaled to 2000×33"},
		"mirrored": {asJPEG(t, quarters(2400, 480), 2), "image/jpeg", "grwb", 2000, 400,
			"2400×480 scaled to 2000×400"},
		"on its head": {asJPEG(t, quarters(2400, 480), 3), "image/jpeg", "wbgr", 2000, 400,
			"2400×480 scaled to 2000×400"},
		"upside down": {asJPEG(t, quarters(2400, 480), 4), "image/jpeg", "bwrg", 2000, 400,
			"2400×480 scaled to 2000×400"},
		"transposed": {asJPEG(t, quarters(2400, 480), 5), "image/jpeg", "rbgw", 400, 2000,
			"480×2400 scaled to 400×2000"},
		"to the left": {asJPEG(t, quarters(2400, 480), 6), "image/jpeg", "brwg", 400, 2000,
			"480×2400 scaled to 400×2000"},
		"transverse": {asJPEG(t, quarters(2400, 480), 7), "image/jpeg", "wgbr", 400, 2000,
			"480×2400 scaled to 400×2000"},
		"to the right": {asJPEG(t, quarters(2400, 480), 8), "image/jpeg", "gwrb", 400, 2000,
			"480×2400 scaled to 400×2000"},
		"webp": {asWebP(3000, 30), "image/png", "rrrr", 2000, 20, "3000×30 scaled to 2000×20"},
		"gif":  {asGIF(t, 2100, 10, 1), "image/png", "", 2000, 10, "2100×10 scaled to 2000×10"},
		"large moving": {asGIF(t, 2100, 10, 3), "image/png", "", 2000, 10,
			"the first of 3 frames, 2100×10 scaled to 2000×10"},
		"long moving": {asGIF(t, 500, 400, 300), "image/png", "", 500, 400, "the first of 300 frames"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := New(ImageLimits{})
			got, err := f.Fit(t.Context(), c.b)
			if err != nil || got.MediaType != c.media || got.Width != c.w || got.Height != c.h || got.Note != c.note {
				t.Fatalf("%s %d×%d %q, %v", got.MediaType, got.Width, got.Height, got.Note, err)
			}
			if is := corners(t, got.Bytes); c.corners != "" && is != c.corners {
				t.Errorf("its corners are %s, not %s", is, c.corners)
			}
			again, err := f.Fit(t.Context(), got.Bytes)
			if err != nil || again.Note != "" || again.Width != c.w || again.Height != c.h {
				t.Errorf("what was scaled does not fit: %q, %v", again.Note, err)
			}
			if twice, _ := f.Fit(t.Context(), c.b); !bytes.Equal(twice.Bytes, got.Bytes) {
				t.Error("the same image gives other bytes")
			}
		})
	}
}

// An image that takes too many bytes becomes a photo, or smaller if that cannot be.
func TestManyBytes(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 600, 600))
	v := uint32(1)
	for i := range noise.Pix {
		v = v*1664525 + 1013904223
		noise.Pix[i] = byte(v >> 24)
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	f := New(ImageLimits{Bytes: 400_000})
	got, err := f.Fit(t.Context(), asPNG(t, noise))
	if err != nil || got.MediaType != "image/jpeg" || got.Width != 600 || len(got.Bytes) > 400_000 ||
		!strings.HasPrefix(got.Note, "1.1 MB made 0.") {
		t.Errorf("%s %d×%d, %d bytes, %q, %v", got.MediaType, got.Width, got.Height, len(got.Bytes), got.Note, err)
	}
	noise.Pix[3] = 0
	got, err = f.Fit(t.Context(), asPNG(t, noise))
	if err != nil || got.MediaType != "image/png" || got.Width >= 600 || len(got.Bytes) > 400_000 {
		t.Errorf("%s %d×%d, %d bytes, %q, %v", got.MediaType, got.Width, got.Height, len(got.Bytes), got.Note, err)
	}
}

// What is not an image, is broken or claims too much is refused, in little memory.
func TestRefused(t *testing.T) {
	whole := asPNG(t, quarters(300, 200))
	photo := asJPEG(t, quarters(300, 200), 1)
	moving := asGIF(t, 100, 100, 5)
	sig := []byte("\x89PNG\r\n\x1a\n")
	empty := func(w, h uint32, depth byte) []byte {
		head := chunk("IHDR", header(w, h, depth, 6, 0, 0, depth/16))
		return slices.Concat(sig, head, chunk("IEND", nil))
	}
	liar := riff("VP8X", []byte{0, 0, 0, 0, 9, 0, 0, 9, 0, 0}, "VP8L", asWebP(16384, 16384)[20:])
	wide := append([]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), moving[13:]...)
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing": {nil, "not an image: it is empty"},
		"text":    {[]byte("a cat sat"), "not an image: it is text/plain"},
		"svg": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`),
			"not an image: it is image/svg+xml"},
		"pdf":              {[]byte("%PDF-1.7\n%\xe2\xe3"), "not an image: it is application/pdf"},
		"png bomb":         {empty(60000, 60000, 8), "claims 60000×60000 pixels; at most 50 million"},
		"webp that lies":   {liar, "claims 16384×16384 pixels"},
		"gif bomb":         {wide, "claims 65535×65535 pixels"},
		"webp bomb":        {asWebP(16384, 16384), "claims 16384×16384 pixels"},
		"no width":         {empty(0, 5, 8), "it has no size"},
		"below zero":       {empty(1<<31, 5, 8), "it has no size"},
		"only a name":      {sig, "it has no size"},
		"half a png":       {whole[:len(whole)/2], "it ends too early"},
		"half a jpeg":      {photo[:len(photo)/2], "it ends too early"},
		"half a gif":       {moving[:len(moving)/2], "it ends too early"},
		"half a webp":      {asWebP(3000, 30)[:24], "it has no size"},
		"short webp":       {asWebP(3000, 30)[:30], "it ends too early"},
		"16-bit, too deep": {empty(7000, 7000, 16), "too large to be scaled down"},
		"no pixels":        {empty(2500, 2500, 8), "the image is damaged: png"},
	} {
		f := New(ImageLimits{})
		var got Picture
		var err error
		taken := allocated(func() { got, err = f.Fit(t.Context(), c.b) })
		if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(scrollback.PublicMessage(err), c.want) {
			t.Errorf("%s: %q %v, want %q", name, got.Note, err, c.want)
		}
		if taken > 32<<20 {
			t.Errorf("%s took %d bytes", name, taken)
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A stream that unpacks to far more than the image needs is read as far as it needs, and
// thousands of frames are counted without looking at them.
func TestBombs(t *testing.T) {
	zeros := deflated(t, 256<<20)
	b := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", header(2400, 2400, 8, 6, 0, 0, 0)),
		chunk("zTXt", append([]byte("a\x00\x00"), zeros...)), chunk("IDAT", zeros), chunk("IEND", nil))
	taken := allocated(func() {
		if got, err := New(ImageLimits{}).Fit(t.Context(), b); err == nil && got.Width != 2000 {
			t.Errorf("%+v", got.Note)
		}
	})
	if most := uint64(2400*2400*4 + 2000*2000*4*2 + 16<<20); taken > most {
		t.Errorf("a stream of 256 MiB took %d bytes, at most %d are expected", taken, most)
	}
	many := asGIF(t, 120, 120, 5000)
	taken = allocated(func() {
		got, err := New(ImageLimits{}).Fit(t.Context(), many)
		if err != nil || got.Note != "the first of 5000 frames" || got.Width != 120 {
			t.Errorf("%q, %v", got.Note, err)
		}
	})
	if taken > 16<<20 {
		t.Errorf("5,000 frames took %d bytes", taken)
	}
}

// Who waits while another image is decoded may give up.
func TestWaiting(t *testing.T) {
	f := New(ImageLimits{})
	f.gate <- struct{}{}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := f.Fit(ctx, asPNG(t, quarters(2001, 1))); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Errorf("%v", err)
	}
	if _, err := f.Fit(ctx, asPNG(t, quarters(200, 1))); err != nil {
		t.Errorf("an image that fits waits: %v", err)
	}
}

// Whatever the bytes are: what is kept fits, and the memory has a bound.
func FuzzFit(f *testing.F) {
	t := &testing.T{}
	for _, b := range [][]byte{nil, asPNG(t, quarters(120, 9)), asJPEG(t, quarters(120, 90), 6), asGIF(t, 120, 9, 3),
		asWebP(120, 5),
		riff("VP8X", make([]byte, 10), "EXIF", []byte("II*\x00\x08\x00\x00\x00\x01\x00")), []byte("<svg/>")} {
		f.Add(b)
	}
	l := ImageLimits{Side: 100, Bytes: 4000, Pixels: 1_000_000, Memory: 8_000_000}
	fit := New(l)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		var got Picture
		var err error
		taken := allocated(func() { got, err = fit.Fit(t.Context(), b) })
		if most := uint64(2*l.Memory + 8<<20); taken > most {
			t.Errorf("%d bytes took %d", len(b), taken)
		}
		if err != nil {
			return
		}
		if max(got.Width, got.Height) > l.Side || min(got.Width, got.Height) < 1 || int64(len(got.Bytes)) > l.Bytes ||
			(got.Note == "") != bytes.Equal(got.Bytes, b) {
			t.Errorf("%d×%d, %d bytes, %q", got.Width, got.Height, len(got.Bytes), got.Note)
		}
		if again, err := fit.Fit(t.Context(), got.Bytes); err != nil || again.Note != "" || again.MediaType != got.MediaType {
			t.Errorf("again: %+v, %v", again.Note, err)
		}
	})
}
