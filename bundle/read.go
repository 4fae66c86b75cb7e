package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// maxWindow bounds what unpacking keeps in memory.
const maxWindow = 64 << 20

// zstdMagic begins a zstd file.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Sniff reports whether a file with this beginning may be a bundle: it is compressed
// with zstd, and no other readable format is.
func Sniff(head []byte) bool { return bytes.HasPrefix(head, zstdMagic) }

// Visit takes what a bundle holds, in the order of the file; see [Writer]. Nil
// functions are skipped. An error ends the walk and is returned unchanged.
type Visit struct {
	Header       func(Header) error
	Artifact     func(id scrollback.ArtifactID, size int64, r io.Reader) error
	Conversation func(Conversation) error
	Segment      func(scrollback.Segment) error
	Branch       func(Branch) error
	Mention      func(scrollback.Artifact) error
	File         func(name string, sum EntrySum) error
	Message      func(scrollback.Message) error
	Fold         func(scrollback.StoredReceipt) error
	Kept         func(KeptChange) error
}

// Walk reads a bundle: its seal, then every entry, compared with the manifest at the
// end. It does not check what the records say; see [Check]. r is read twice. An error
// of r itself keeps its code, and is unavailable without one.
func Walk(r io.ReadSeeker, limits Limits, v Visit) (Manifest, error) {
	w := bundleWalker{limits: limits.withDefaults(DefaultLimits()), visit: v}
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return w.sum, wrapWriteError(err)
	}
	if err := checkFirstEntry(r, w.limits); err != nil {
		return w.sum, err
	}
	packed, err := checkSeal(r, size)
	if err != nil {
		return w.sum, err
	}
	src := &sourceReader{r: io.LimitReader(r, packed)}
	zip, err := openZstd(src)
	if err != nil {
		return w.sum, err
	}
	defer zip.Close()
	w.in = &unpackMeter{r: zip, left: w.limits.maxUnpacked(size)}
	w.tar = tar.NewReader(w.in)
	for !w.closed {
		if err = w.nextEntry(); err != nil {
			break
		}
	}
	if err == nil {
		err = w.checkEnd()
	}
	switch {
	case src.err != nil:
		err = wrapWriteError(src.err)
	case w.in.over:
		err = newLimitError("it unpacks to more than %d bytes for each of its %d", w.limits.Ratio, size)
	}
	return w.sum, err
}

func openZstd(r io.Reader) (*zstd.Decoder, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "bundle.Walk", err)
	}
	return d, nil
}

// checkFirstEntry reads the first entry: a file that is not a bundle, or is from a newer
// program, is refused as such before anything else is said about it.
func checkFirstEntry(r io.ReadSeeker, l Limits) error {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return wrapWriteError(err)
	}
	src := &sourceReader{r: r}
	zip, err := openZstd(bufio.NewReaderSize(src, 4<<10))
	if err != nil {
		return err
	}
	defer zip.Close()
	var header Header
	t := tar.NewReader(&unpackMeter{r: zip, left: 64 << 10})
	h, err := t.Next()
	var text []byte
	if err == nil && h.Name == headerName && h.Size < 4<<10 {
		text, err = io.ReadAll(t)
	}
	switch {
	case src.err != nil:
		return wrapWriteError(src.err)
	case err != nil || decodeRecord(text, &header, "") != nil || header.Format != Format:
		return newRefusal(i18n.NotABundle)
	case header.Version > Version:
		return newRefusal(i18n.BundleTooNew,
			header.Version, Version)
	case header.Version < 1:
		return newDamageError("it says that it has version %d", header.Version)
	}
	return nil
}

// sourceReader remembers an error of reading the file itself: that is not damage.
type sourceReader struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
