package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// soundArtifacts remembers which artifacts were found to match their names, and when their
// objects had been written.
type soundArtifacts struct {
	mu    sync.Mutex
	known map[scrollback.ArtifactID]time.Time
}

// checkBytes compares the bytes of an artifact with its name: they are read through
// once by each process, and again if they were rewritten. A mismatch is internal.
func (a *Archive) checkBytes(ctx context.Context, id scrollback.ArtifactID, at blob.Attributes) error {
	const op = "archive.OpenArtifact"
	a.sound.mu.Lock()
	written, known := a.sound.known[id]
	a.sound.mu.Unlock()
	if known && written.Equal(at.ModTime) {
		return nil
	}
	r, err := a.bucket.Open(ctx, artifactKey(id))
	if err != nil {
		return a.words.explainFault(op, err)
	}
	h := sha256.New()
	_, err = io.Copy(h, readUntilDone(ctx, r))
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	switch {
	case scrollback.CodeOf(err) == scrollback.Canceled:
		return err
	case err != nil:
		return a.words.explainFault(op, err)
	case hex.EncodeToString(h.Sum(nil)) != string(id):
		return scrollback.Errorf(scrollback.Internal, op, i18n.ArtifactBytesChanged, id)
	}
	if time.Since(at.ModTime) < settled { // written again, it might show the same time
		return nil
	}
	a.sound.mu.Lock()
	defer a.sound.mu.Unlock()
	if a.sound.known == nil || len(a.sound.known) >= maxTrusted {
		a.sound.known = map[scrollback.ArtifactID]time.Time{}
	}
	a.sound.known[id] = at.ModTime
	return nil
}
