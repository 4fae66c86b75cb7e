package picture

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// decodeTime is how long one image may take to be decoded: one of the most pixels takes about two
// seconds.
const decodeTime = 20 * time.Second

var errSlow = errors.New("it takes too long to decode")

// pacedReader gives a decoder the bytes of an image until it has had its time. The libraries have no bound
// of their own: a progressive JPEG may go over all of its pixels again with every sixty bytes. They
// ask for a few kilobytes at a time, so that the clock is looked at while they work.
type pacedReader struct {
	*bytes.Reader
	ctx context.Context
}

// newPacedReader gives the bytes of an image for so long.
func newPacedReader(ctx context.Context, b []byte, within time.Duration) (*pacedReader, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errSlow)
	return &pacedReader{bytes.NewReader(b), ctx}, cancel
}

// pieceBytes is the most that is given at a time.
const pieceBytes = 512

// Read implements io.Reader.
func (p *pacedReader) Read(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.Reader.Read(b[:min(len(b), pieceBytes)])
}

// ReadByte implements io.ByteReader.
func (p *pacedReader) ReadByte() (byte, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.Reader.ReadByte()
}

// lateError returns the error of a decoder whose bytes were stopped.
func (p *pacedReader) lateError() error {
	switch err := context.Cause(p.ctx); {
	case errors.Is(err, errSlow):
		return scrollback.Errorf(scrollback.Invalid, fitOp, i18n.ImageDecodesTooLong)
	case err != nil:
		return scrollback.Wrap(scrollback.Canceled, fitOp, err)
	}
	return nil
}
