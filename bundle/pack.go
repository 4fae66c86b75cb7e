package bundle

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// segmentPath returns the name of a segment's file.
func segmentPath(of scrollback.ConversationID, s scrollback.Segment) string {
	return fmt.Sprintf("%s%s/history/%d-%d-%s.md", conversationPath, of, s.FirstSeq, s.LastSeq, s.ID)
}

// writeRecord adds a line to the entry that is being filled.
func (b *Writer) writeRecord(k recordKind, v any) error {
	if k != b.kind {
		if err := b.flushRecords(); err != nil {
			return err
		}
		b.kind = k
		b.number = 0
	}
	text, err := marshalLine(v)
	if err != nil {
		return err
	}
	b.chunk.Write(text)
	if b.lines++; b.lines < chunkRecords && b.chunk.Len() < chunkBytes {
		return nil
	}
	return b.flushRecords()
}

// flushRecords writes the waiting records.
func (b *Writer) flushRecords() error {
	if b.lines == 0 {
		return nil
	}
	b.number++
	name := recordPath(b.at, b.kind, b.number)
	if int64(b.chunk.Len()) > b.limits.Text {
		return newLimitError("%s has %d bytes, at most %d are taken", name, b.chunk.Len(), b.limits.Text)
	}
	err := b.writeEntry(name, int64(b.chunk.Len()), &b.chunk)
	b.chunk.Reset()
	b.lines = 0
	return err
}

// recordPath returns the name of the nth entry of records of a kind.
func recordPath(of scrollback.ConversationID, k recordKind, n int) string {
	return fmt.Sprintf("%s%s/%s/%06d.jsonl", conversationPath, of, folders[k], n)
}

// writeEntry adds a file to the tar.
func (b *Writer) writeEntry(name string, size int64, r io.Reader) error {
	if len(b.sum.Entries) >= b.limits.Entries {
		return newLimitError("it would have more than %d entries", b.limits.Entries)
	}
	if bound := b.limits.Entry; size > bound {
		return newLimitError("%s has %d bytes, at most %d are taken", name, size, bound)
	}
	if b.total += size; b.total > b.limits.Bytes {
		return newLimitError("it would have more than %d bytes", b.limits.Bytes)
	}
	err := b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644,
		Format: tar.FormatUSTAR})
	if err != nil {
		return wrapWriteError(err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(b.tar, sum), r)
	if err == nil && n != size {
		err = fmt.Errorf("%s has %d bytes instead of %d", name, n, size)
	}
	if err != nil {
		return wrapWriteError(err)
	}
	b.sum.Entries = append(b.sum.Entries, EntrySum{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

func wrapWriteError(err error) error {
	return scrollback.Wrap(scrollback.Unavailable, "bundle.Writer", err)
}

// marshalLine is one line of JSON without HTML escapes.
func marshalLine(v any) ([]byte, error) {
	out, err := plainjson.Marshal(v)
	return append(out, '\n'), scrollback.Wrap(scrollback.Internal, "bundle.Writer", err)
}
