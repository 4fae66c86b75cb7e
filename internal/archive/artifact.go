package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// spoolBytes is how much of an incoming artifact is held in memory; the rest
// waits in a temporary file until its hash, and so its name, is known.
const spoolBytes = 1 << 20

// PutArtifact stores the bytes of r and returns their id. Bytes that were put a
// moment ago are not written again; an object that no longer has them is replaced. More than maxBytes is invalid,
// wrapping
// [scrollback.ErrTooLarge], and nothing is stored. An error of r is invalid, unless it
// has a code.
func (a *Archive) PutArtifact(ctx context.Context, r io.Reader, maxBytes int64) (scrollback.ArtifactID, int64, error) {
	const op = "archive.PutArtifact"
	var s spool
	defer s.discard()
	sum := sha256.New()
	maxBytes = min(max(0, maxBytes), math.MaxInt64-1)
	size, err := io.Copy(io.MultiWriter(sum, &s), io.LimitReader(readUntilDone(ctx, r), maxBytes+1))
	if s.err != nil {
		return "", 0, scrollback.Wrap(scrollback.Unavailable, op, s.err)
	}
	if err != nil {
		return "", 0, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	if size > maxBytes {
		return "", 0, scrollback.Errorf(scrollback.Invalid, op, i18n.MoreThanBytes,
			maxBytes).WithReason(scrollback.ErrTooLarge)
	}
	id := scrollback.ArtifactID(hex.EncodeToString(sum.Sum(nil)))
	at, err := a.bucket.Attributes(ctx, artifactKey(id))
	if err == nil && at.Size == size && a.now().Sub(at.ModTime) < a.grace/2 && a.hasBytes(ctx, id) {
		// Its writer may not have made it durable yet.
		return id, size, a.makeDurable(op, artifactKey(id))
	}
	if err != nil && !errors.Is(err, blob.ErrMissing) {
		return "", 0, a.words.explainFault(op, err)
	}
	content, err := s.openContent()
	if err != nil {
		return "", 0, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	err = a.bucket.Write(ctx, artifactKey(id), content, "application/octet-stream")
	if err != nil {
		return "", 0, a.words.explainFault(op, err)
	}
	return id, size, a.makeDurable(op, artifactKey(id))
}

// hasBytes reports whether an object has the bytes of its name now.
func (a *Archive) hasBytes(ctx context.Context, id scrollback.ArtifactID) bool {
	r, err := a.bucket.Open(ctx, artifactKey(id))
	if err != nil {
		return false
	}
	sum := sha256.New()
	_, err = io.Copy(sum, readUntilDone(ctx, r))
	closed := r.Close()
	return err == nil && closed == nil && hex.EncodeToString(sum.Sum(nil)) == string(id)
}

// makeDurable makes an object survive a power cut.
func (a *Archive) makeDurable(op, name string) error {
	if a.durable == nil {
		return nil
	}
	return scrollback.Wrap(scrollback.Unavailable, op, a.durable(name))
}

// OpenArtifact returns the bytes of an artifact and their number. The reader
// lives no longer than ctx; an artifact that is not stored is not_found, and one whose
// bytes no longer match its name is internal.
func (a *Archive) OpenArtifact(ctx context.Context, id scrollback.ArtifactID) (io.ReadSeekCloser, int64, error) {
	if err := checkArtifactID(id); err != nil {
		return nil, 0, err
	}
	at, err := a.bucket.Attributes(ctx, artifactKey(id))
	if err != nil {
		return nil, 0, a.words.explainFault("archive.OpenArtifact", err)
	}
	if err := a.checkBytes(ctx, id, at); err != nil {
		return nil, 0, err
	}
	return a.OpenUnchecked(ctx, id)
}

// HashArtifact returns the id and the size that PutArtifact would return, and stores nothing.
func HashArtifact(ctx context.Context, r io.Reader, maxBytes int64) (scrollback.ArtifactID, int64, error) {
	const op = "archive.HashArtifact"
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(readUntilDone(ctx, r), maxBytes+1))
	if err != nil {
		return "", 0, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	if size > maxBytes {
		return "", 0, scrollback.Errorf(scrollback.Invalid, op, i18n.MoreThanBytes,
			maxBytes).WithReason(scrollback.ErrTooLarge)
	}
	return scrollback.ArtifactID(hex.EncodeToString(sum.Sum(nil))), size, nil
}

// HasArtifact reports whether the bytes of an artifact are stored.
func (a *Archive) HasArtifact(ctx context.Context, id scrollback.ArtifactID) (bool, error) {
	if err := checkArtifactID(id); err != nil {
		return false, err
	}
	has, err := blob.Exists(ctx, a.bucket, artifactKey(id))
	if err != nil {
		return false, a.words.explainFault("archive.HasArtifact", err)
	}
	return has, nil
}

// OpenUnchecked is OpenArtifact for callers that check the bytes themselves.
func (a *Archive) OpenUnchecked(ctx context.Context, id scrollback.ArtifactID) (io.ReadSeekCloser, int64, error) {
	const op = "archive.OpenArtifact"
	if err := checkArtifactID(id); err != nil {
		return nil, 0, err
	}
	r, err := a.bucket.Open(ctx, artifactKey(id))
	if err != nil {
		return nil, 0, a.words.explainFault(op, err)
	}
	return r, r.Size(), nil
}

// NewTextReader returns what reads artifacts of a bucket as search does: their first bytes, at most
// most bytes, cut between characters. A text is empty for an artifact that is missing or is not
// text, and an error if the bucket cannot be read now. explain is as in [Options].
func NewTextReader(bucket blob.Bucket, explain func(op string, err error) error) func(ctx context.Context,
	id scrollback.ArtifactID, most int64) (string, error) {
	const op = "archive.NewTextReader"
	return func(ctx context.Context, id scrollback.ArtifactID, most int64) (string, error) {
		if checkArtifactID(id) != nil {
			return "", nil
		}
		r, err := bucket.OpenRange(ctx, artifactKey(id), 0, most+1)
		if err != nil && explain != nil {
			err = explain(op, err)
		}
		if errors.Is(err, blob.ErrMissing) {
			return "", nil
		}
		if err != nil {
			return "", bucketError(op, err)
		}
		defer func() { _ = r.Close() }()
		b, err := io.ReadAll(r)
		if err != nil {
			return "", scrollback.Wrap(scrollback.Unavailable, op, err)
		}
		if cut := int(most); len(b) > cut {
			for cut > 0 && !utf8.RuneStart(b[cut]) {
				cut--
			}
			b = b[:cut]
		}
		if !utf8.Valid(b) {
			return "", nil
		}
		return string(b), nil
	}
}

// TextReader is [NewTextReader] for the bucket of an archive.
func TextReader(a *Archive) func(ctx context.Context, id scrollback.ArtifactID, most int64) (string, error) {
	return NewTextReader(a.bucket, a.words)
}

// artifactPrefix begins the keys of all artifacts.
const artifactPrefix = "artifacts/"

// Artifacts yields the keys of the bucket that hold artifacts, ascending, each with
// its artifact; the id is empty for a key that is not one of ours.
func (a *Archive) Artifacts(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for o, err := range a.bucket.List(ctx, artifactPrefix) {
			if err != nil {
				yield(Object{}, a.words.explainFault("archive.Artifacts", err))
				return
			}
			out := Object{Key: o.Key}
			if id := scrollback.ArtifactID(o.Key[strings.LastIndexByte(o.Key, '/')+1:]); checkArtifactID(id) == nil &&
				artifactKey(id) == o.Key {
				out.ID = id
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// Object is bytes in the bucket.
type Object struct {
	Key string
	ID  scrollback.ArtifactID
}

// DeleteArtifact removes the bytes of an artifact that nothing mentions any more,
// and reports whether they are gone: those put a moment ago stay, because the program that put
// them may be about to mention them; see [Options].
func (a *Archive) DeleteArtifact(ctx context.Context, id scrollback.ArtifactID) (gone bool, err error) {
	const op = "archive.DeleteArtifact"
	if err := checkArtifactID(id); err != nil {
		return false, err
	}
	at, err := a.bucket.Attributes(ctx, artifactKey(id))
	if err == nil && a.now().Sub(at.ModTime) < a.grace {
		return false, nil
	}
	if err == nil {
		err = a.bucket.Delete(ctx, artifactKey(id))
	}
	if err == nil || errors.Is(err, blob.ErrMissing) {
		return true, nil
	}
	return false, a.words.explainFault(op, err)
}

// openTextArtifact returns an artifact as a body if it begins like text.
func (a *Archive) openTextArtifact(ctx context.Context, id scrollback.ArtifactID, mediaType string) (*refBody, error) {
	const op = "archive.Read"
	if err := checkArtifactID(id); err != nil {
		return nil, err
	}
	at, err := a.bucket.Attributes(ctx, artifactKey(id))
	if err != nil {
		return nil, a.words.explainFault(op, err)
	}
	if err := a.checkBytes(ctx, id, at); err != nil {
		return nil, err
	}
	b := &refBody{size: at.Size, close: func() error { return nil }}
	b.at = func(ctx context.Context, off int64, n int) ([]byte, error) {
		buf := make([]byte, n)
		if n == 0 {
			return buf, nil
		}
		r, err := a.bucket.OpenRange(ctx, artifactKey(id), off, int64(n))
		if err != nil {
			return nil, a.words.explainFault(op, err)
		}
		defer func() { _ = r.Close() }() // read-only
		if _, err := io.ReadFull(r, buf); err != nil {
			return nil, a.words.explainFault(op, err)
		}
		return buf, nil
	}
	head, err := b.at(ctx, 0, int(min(headBytes, b.size)))
	if err != nil {
		return nil, err
	}
	if !isText(head, int64(len(head)) < b.size) {
		return nil, newNotTextError(mediaType, b.size)
	}
	return b, nil
}

// isText reports whether b is UTF-8; if it was cut, it may end within a character.
func isText(b []byte, cut bool) bool {
	if cut {
		for k := 1; k < utf8.UTFMax && k <= len(b); k++ {
			if utf8.RuneStart(b[len(b)-k]) {
				if !utf8.FullRune(b[len(b)-k:]) {
					b = b[:len(b)-k]
				}
				break
			}
		}
	}
	return utf8.Valid(b)
}

func newNotTextError(mediaType string, size int64) error {
	if mediaType == "" {
		mediaType = "of unknown type"
	}
	if isDocument(mediaType) {
		return scrollback.ParamErrorf("archive.Read", "ref",
			i18n.AttachmentNotText, mediaType, size)
	}
	return scrollback.ParamErrorf("archive.Read", "ref", i18n.NotText, mediaType, size)
}

// isDocument reports whether a media type is that of a file with text in it that only
// another program can read.
func isDocument(mediaType string) bool {
	for _, begin := range []string{"application/pdf", "application/msword", "application/rtf", "application/vnd.ms-",
		"application/vnd.openxmlformats-officedocument",
		"application/vnd.oasis.opendocument", "application/x-ole-storage"} {
		if strings.HasPrefix(mediaType, begin) {
			return true
		}
	}
	return false
}

func artifactKey(id scrollback.ArtifactID) string {
	return artifactPrefix + string(id[:2]) + "/" + string(id)
}

func checkArtifactID(id scrollback.ArtifactID) error {
	if len(id) != 2*sha256.Size || strings.Trim(string(id), "0123456789abcdef") != "" {
		return scrollback.ParamErrorf("archive.checkArtifact", "ref", i18n.MalformedArtifactID)
	}
	return nil
}

// bucketWords are those for errors of the bucket; nil knows none.
type bucketWords func(op string, err error) error

// explainFault returns an error of the bucket, in words if there are some.
func (say bucketWords) explainFault(op string, err error) error {
	if say != nil {
		err = say(op, err)
	}
	return bucketError(op, err)
}

func bucketError(op string, err error) error {
	var said *scrollback.Error
	if errors.As(err, &said) {
		return err
	}
	if errors.Is(err, blob.ErrEndless) {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.ObjectListDoesNotEnd).
			WithReason(scrollback.ErrObjects).WithAdvice(scrollback.AdviceCheckAddress, "")
	}
	code := scrollback.Unavailable
	switch {
	case errors.Is(err, blob.ErrMissing):
		return scrollback.Errorf(scrollback.NotFound, op, i18n.ArtifactBytesMissing)
	case errors.Is(err, context.Canceled):
		code = scrollback.Canceled
	}
	return scrollback.Wrap(code, op, err)
}

// readFunc is a function as a reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// readUntilDone reads r as long as ctx lives.
func readUntilDone(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, scrollback.Wrap(scrollback.Canceled, "archive.read", ctx.Err())
		}
		return r.Read(p)
	})
}

// spool holds what is written to it, once, in memory or else in a file.
type spool struct {
	memory bytes.Buffer
	file   *os.File
	err    error // why it could not hold a byte
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= spoolBytes {
		return s.memory.Write(p)
	}
	if s.file == nil {
		if s.file, s.err = os.CreateTemp("", "scrollback-artifact-*"); s.err != nil {
			return 0, s.err
		}
		if _, s.err = s.memory.WriteTo(s.file); s.err != nil {
			return 0, s.err
		}
	}
	n, err := s.file.Write(p)
	s.err = errors.Join(s.err, err)
	return n, err
}

func (s *spool) openContent() (io.Reader, error) {
	if s.file == nil {
		return &s.memory, nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return s.file, err
}

func (s *spool) discard() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}

// Download is how a URL of a bucket sends an object: its media type, and the headers
// Content-Disposition and Cache-Control. The URL is good for some time.
type Download struct {
	MediaType, Disposition, Cache string
	For                           time.Duration
}

// CanSign reports whether the artifacts of an archive may be fetched from the bucket itself.
func CanSign(a *Archive) bool { return a.signing != nil }

// SignArtifact returns a URL that reads the bytes of an artifact from the bucket, for
// anybody who has it; empty if that is off or the bucket has none. An artifact that is not
// stored is not_found. The bytes are not held against their name.
func SignArtifact(ctx context.Context, a *Archive, id scrollback.ArtifactID, d Download) (string, error) {
	if a.signing == nil {
		return "", nil
	}
	if err := checkArtifactID(id); err != nil {
		return "", err
	}
	if _, err := a.bucket.Attributes(ctx, artifactKey(id)); err != nil {
		return "", a.words.explainFault("archive.SignArtifact", err)
	}
	return a.signing(ctx, artifactKey(id), d)
}
