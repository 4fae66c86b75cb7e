// Package picture makes images small enough for models: it says what bytes are, measures
// them without decoding, and scales down what is larger than models look at.
//
// Words it adds: shape (what an image says about itself), fit (to be kept as it is, or
// scaled down until it can be).
//
// Invariants: what bytes are is judged by the bytes; nothing is decoded that claims more
// pixels than the bound, wherever in the file it claims them; one image at a time is
// decoded, for a bounded time; a scaled image stands upright; the same bytes give the same bytes.
//
// It may not know messages, artifacts or files.
package picture

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/image/webp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

const fitOp = "picture"

// ImageLimits bound images; zero fields are the defaults.
type ImageLimits struct {
	Side   int   // pixels of the longer side of an image that is kept; 0 means 2,000
	Bytes  int64 // of an image that is kept; 0 means 3.75 MiB, which is 5 MiB in base64
	Pixels int64 // of an image that is decoded, and of all frames of one that is kept; 0 means 50 million
	Memory int64 // bytes that decoding may take; 0 means 400 MiB
}

// Picture is what is kept of an image. Width and Height are in pixels, as it is shown.
type Picture struct {
	Bytes         []byte
	MediaType     string
	Width, Height int
	Note          string // what was made of it, such as "8000×6000 scaled to 2000×1500"; empty if it is as it was
}

// Fitter makes images fit. It is safe for concurrent use.
type Fitter struct {
	limits ImageLimits
	gate   chan struct{} // one image at a time is decoded
	time   time.Duration // that decoding it may take
}

// New makes a fitter.
func New(l ImageLimits) *Fitter {
	if l.Side == 0 {
		l.Side = 2000
	}
	if l.Bytes == 0 {
		l.Bytes = 5 << 20 / 4 * 3
	}
	if l.Pixels == 0 {
		l.Pixels = 50_000_000
	}
	if l.Memory == 0 {
		l.Memory = 400 << 20
	}
	return &Fitter{limits: l, gate: make(chan struct{}, 1), time: decodeTime}
}

// Fit returns an image as it is to be kept: unchanged where it fits, else scaled down.
// What is not a PNG, JPEG, GIF or WebP image, is damaged or claims to be too large is
// invalid.
func (f *Fitter) Fit(ctx context.Context, b []byte) (Picture, error) {
	s, err := readShape(b)
	if err != nil {
		return Picture{}, err
	}
	if err := f.checkShape(s); err != nil {
		return Picture{}, err
	}
	out := Picture{Bytes: b, MediaType: "image/" + s.format}
	out.Width, out.Height = s.uprightSize()
	if max(s.width, s.height) <= f.limits.Side && int64(len(b)) <= f.limits.Bytes && s.animated <= f.limits.Pixels {
		return out, nil
	}
	if s.memory > f.limits.Memory {
		return Picture{}, scrollback.Errorf(scrollback.Invalid, fitOp,
			i18n.ImageTooLargeToShrink, s.width, s.height)
	}
	select {
	case f.gate <- struct{}{}:
		defer func() { <-f.gate }()
	case <-ctx.Done():
		return Picture{}, scrollback.Wrap(scrollback.Canceled, fitOp, context.Cause(ctx))
	}
	return f.scaleImage(ctx, out, s)
}

// Measure tells the media type of an image and its size in pixels, as it is shown, from
// its first bytes. What is not an image is invalid; a size that cannot be read is 0.
func Measure(head []byte) (media string, width, height int, err error) {
	s, err := readShape(head)
	if err != nil {
		return "", 0, 0, err
	}
	width, height = s.uprightSize()
	return "image/" + s.format, width, height, nil
}

// checkShape refuses what is not worth decoding or dangerous to decode.
func (f *Fitter) checkShape(s imageShape) error {
	switch {
	case s.width <= 0 || s.height <= 0:
		return scrollback.Errorf(scrollback.Invalid, fitOp, i18n.ImageHasNoSize)
	case int64(s.width)*int64(s.height) > f.limits.Pixels:
		return scrollback.Errorf(scrollback.Invalid, fitOp, i18n.ImageHasTooManyPixels,
			s.width, s.height, f.limits.Pixels/1_000_000)
	case !s.whole:
		return scrollback.Errorf(scrollback.Invalid, fitOp, i18n.ImageEndsEarly)
	}
	return nil
}

// scaleImage decodes an image and makes it fit; was is the image as it came.
func (f *Fitter) scaleImage(ctx context.Context, was Picture, s imageShape) (Picture, error) {
	r, stop := newPacedReader(ctx, was.Bytes, f.time)
	defer stop()
	img, err := decodeImage(r, s)
	if err != nil {
		return was, cmp.Or(r.lateError(), err)
	}
	canvas := image.Rect(0, 0, s.width, s.height)
	for side := min(f.limits.Side, max(s.width, s.height)); side > 0; side = side * 3 / 4 {
		w, h := fitSide(s.width, s.height, side)
		small := rotateUpright(shrinkImage(img, canvas, w, h), s.orientation)
		out, err := encodeImage(small, s.format == "jpeg", f.limits.Bytes)
		if err != nil {
			return was, err
		}
		if out.Bytes != nil {
			out.Width = small.Rect.Dx()
			out.Height = small.Rect.Dy()
			out.Note = describeChange(was, out, s.frames)
			return out, nil
		}
	}
	return was, scrollback.Errorf(scrollback.Invalid, fitOp, i18n.ImageCannotShrink)
}

func decodeImage(r io.Reader, s imageShape) (image.Image, error) {
	var img image.Image
	var err error
	switch s.format {
	case "png":
		img, err = png.Decode(r)
	case "jpeg":
		img, err = jpeg.Decode(r)
	case "gif":
		img, err = gif.Decode(r) // the first frame
	case "webp":
		if s.frames > 1 {
			return nil, scrollback.Errorf(scrollback.Invalid, fitOp, i18n.AnimatedWebPCannotShrink)
		}
		img, err = webp.Decode(r)
	}
	if err != nil {
		return nil, scrollback.Errorf(scrollback.Invalid, fitOp, i18n.ImageDamaged,
			strings.ToValidUTF8(err.Error(), "�"))
	}
	return img, nil
}

// fitSide returns the size of an image scaled to a longer side.
func fitSide(w, h, side int) (int, int) {
	if long := max(w, h); long > side {
		w = (w*side + long/2) / long
		h = (h*side + long/2) / long
	}
	return max(1, w), max(1, h)
}

// quality is that of JPEG images which are made here.
const quality = 85

// encodeImage writes an image: a photo as JPEG, anything else as PNG, unless that is too big
// and it has nothing transparent. Without Bytes it is too big in any form.
func encodeImage(img *image.RGBA, photo bool, most int64) (Picture, error) {
	var b bytes.Buffer
	if !photo {
		if err := png.Encode(&b, img); err != nil {
			return Picture{}, scrollback.Wrap(scrollback.Internal, fitOp, err)
		}
		if int64(b.Len()) <= most {
			return Picture{Bytes: b.Bytes(), MediaType: "image/png"}, nil
		}
		if !img.Opaque() {
			return Picture{}, nil
		}
		b.Reset()
	}
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		return Picture{}, scrollback.Wrap(scrollback.Internal, fitOp, err)
	}
	if int64(b.Len()) <= most {
		return Picture{Bytes: b.Bytes(), MediaType: "image/jpeg"}, nil
	}
	return Picture{}, nil
}

// describeChange returns what was made of an image.
func describeChange(was, out Picture, frames int) string {
	var said []string
	if frames > 1 {
		said = append(said, fmt.Sprintf("the first of %d frames", frames))
	}
	switch {
	case was.Width != out.Width || was.Height != out.Height:
		said = append(said, fmt.Sprintf("%d×%d scaled to %d×%d", was.Width, was.Height, out.Width, out.Height))
	case len(said) == 0:
		said = append(said, fmt.Sprintf("%.1f MB made %.1f MB", float64(len(was.Bytes))/1e6, float64(len(out.Bytes))/1e6))
	}
	return strings.Join(said, ", ")
}

// newNotImageError returns what bytes are instead of an image.
func newNotImageError(b []byte) error {
	media, _, _ := strings.Cut(mimetype.Detect(b).String(), ";")
	if len(b) == 0 {
		media = "empty"
	}
	return scrollback.Errorf(scrollback.Invalid, fitOp, i18n.NotAnImage, media)
}
