package bundle

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// bundleWalker is where a walk stands.
type bundleWalker struct {
	limits Limits
	visit  Visit
	in     *unpackMeter
	tar    *tar.Reader
	sum    Manifest
	total  int64
	closed bool

	artifact scrollback.ArtifactID // the last one
	seen     []scrollback.ConversationID
	kind     recordKind
	number   int
}

// nextEntry reads an entry.
func (w *bundleWalker) nextEntry() error {
	h, err := w.tar.Next()
	if errors.Is(err, io.EOF) {
		return newDamageError("it ends before its manifest")
	}
	if err != nil {
		return newDamageError("the tar inside cannot be read")
	}
	if h.Typeflag != tar.TypeReg || len(h.PAXRecords) > 0 {
		return newRefusal(i18n.BundleHoldsNoPlainFile, clipText(h.Name))
	}
	if len(w.sum.Entries) >= w.limits.Entries {
		return newLimitError("it has more than %d entries", w.limits.Entries)
	}
	bound := w.limits.Text
	if strings.HasPrefix(h.Name, artifactFolder) {
		bound = w.limits.Entry
	}
	if h.Size < 0 || h.Size > bound {
		return newLimitError("%q has %d bytes, at most %d are taken", clipText(h.Name), h.Size, bound)
	}
	if w.total += h.Size; w.total > w.limits.Bytes {
		return newLimitError("it has more than %d bytes", w.limits.Bytes)
	}
	sum := sha256.New()
	body := io.TeeReader(w.tar, sum)
	if err := w.readEntry(h.Name, h.Size, body); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return newDamageError("%q cannot be read", clipText(h.Name))
	}
	e := EntrySum{Name: h.Name, Size: h.Size, SHA256: hex.EncodeToString(sum.Sum(nil))}
	if w.closed {
		return nil
	}
	if id, ok := strings.CutPrefix(h.Name, artifactFolder); ok && id != e.SHA256 {
		return newDamageError("artifact %s has the SHA-256 %s", id, e.SHA256)
	}
	w.sum.Entries = append(w.sum.Entries, e)
	if w.kind == kindFile && w.visit.File != nil && len(w.seen) > 0 {
		return w.visit.File(h.Name, e)
	}
	return nil
}
