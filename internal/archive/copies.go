package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Copy is a full copy of a conversation in the bucket. Its key names it within its
// conversation; CreatedAt is Unix ms.
type Copy struct {
	Key       string `json:"key"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	CreatedAt int64  `json:"created_at"`
}

// Every copy has a note beside it, which is written last: what has none was cut off.
const (
	copyPrefix = "archives/"
	copyEnding = ".json"
	noteEnding = ".note"
	maxNote    = 4 << 10
)

// CopyKey returns the key of a copy that is begun at a time, in Unix ms. unique is an id that
// was just made; keys sort by time.
func CopyKey(at int64, unique string) string {
	sum := sha256.Sum256([]byte(unique))
	return fmt.Sprintf("%013d-%s%s", at, hex.EncodeToString(sum[:4]), copyEnding)
}

// isCopyKey reports whether a key is one that CopyKey makes.
func isCopyKey(key string) bool {
	at, rest, _ := strings.Cut(strings.TrimSuffix(key, copyEnding), "-")
	return len(at) == 13 && strings.Trim(at, "0123456789") == "" && len(rest) == 8 &&
		strings.Trim(rest, "0123456789abcdef") == "" &&
		strings.HasSuffix(key, copyEnding)
}

func newNoCopyError(id scrollback.ConversationID) error {
	return scrollback.Errorf(scrollback.NotFound, "archive.Copy", i18n.NoSuchCopy, id)
}

// copyName returns the name in the bucket of a conversation's copy; not_found for a key that
// is not one of ours.
func copyName(id scrollback.ConversationID, key string) (string, error) {
	if !isCopyKey(key) || checkName(string(id)) != nil {
		return "", newNoCopyError(id)
	}
	return copyPrefix + string(id) + "/" + key, nil
}

// counter counts and hashes what is written.
type counter struct {
	n int64
	w io.Writer
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// errUploadEnded is what a copy is written into when the bucket takes no more.
var errUploadEnded = errors.New("the upload has ended")

// PutCopy stores what write writes as a copy of a conversation. If write fails, nothing
// is stored.
func (a *Archive) PutCopy(ctx context.Context, id scrollback.ConversationID, made Copy,
	write func(io.Writer) error) (Copy, error) {
	const op = "archive.PutCopy"
	name, err := copyName(id, made.Key)
	if err != nil {
		return made, err
	}
	writing, abandon := context.WithCancel(ctx)
	defer abandon()
	// The bucket reads, instead of being written to: the writers of some stores do not outlive
	// an upload that fails.
	r, w := io.Pipe()
	sum := sha256.New()
	out := &counter{w: io.MultiWriter(w, sum)}
	written := make(chan error, 1)
	go func() {
		err := write(out)
		if err != nil {
			abandon() // so that the bucket keeps nothing
		}
		_ = w.CloseWithError(err)
		written <- err
	}()
	uploaded := a.bucket.Write(writing, name, r, "application/json")
	_ = r.CloseWithError(errUploadEnded)
	if err := <-written; err != nil && !errors.Is(err, errUploadEnded) {
		return made, err
	}
	if uploaded != nil {
		return made, a.words.explainFault(op, uploaded)
	}
	made.Bytes = out.n
	made.SHA256 = hex.EncodeToString(sum.Sum(nil))
	note, err := json.Marshal(made)
	if err == nil {
		err = a.makeDurable(op, name)
	}
	if err != nil {
		return made, err
	}
	if err := a.bucket.Write(ctx, name+noteEnding, bytes.NewReader(note), "application/json"); err != nil {
		return made, a.words.explainFault(op, err)
	}
	return made, a.makeDurable(op, name+noteEnding)
}

// OpenCopy returns a conversation's copy and its bytes. A key that is unknown, or not one
// of ours, is not_found; bytes whose number is not the one that was stored are internal.
func (a *Archive) OpenCopy(ctx context.Context, id scrollback.ConversationID, key string) (Copy, io.ReadCloser, error) {
	const op = "archive.OpenCopy"
	made, err := a.readCopyNote(ctx, id, key)
	if err != nil {
		return made, nil, err
	}
	r, err := a.bucket.Open(ctx, copyPrefix+string(id)+"/"+key)
	if err != nil {
		if errors.Is(err, blob.ErrMissing) {
			return made, nil, newNoCopyError(id)
		}
		return made, nil, a.words.explainFault(op, err)
	}
	if r.Size() != made.Bytes {
		err := scrollback.Errorf(scrollback.Internal, op, i18n.CopyHasWrongSize, key, r.Size(), made.Bytes)
		return made, nil, errors.Join(err, r.Close())
	}
	return made, r, nil
}

// readCopyNote reads the note of a copy.
func (a *Archive) readCopyNote(ctx context.Context, id scrollback.ConversationID, key string) (Copy, error) {
	name, err := copyName(id, key)
	if err != nil {
		return Copy{}, err
	}
	r, err := a.bucket.Open(ctx, name+noteEnding)
	if err != nil {
		if errors.Is(err, blob.ErrMissing) {
			return Copy{}, newNoCopyError(id)
		}
		return Copy{}, a.words.explainFault("archive.Copy", err)
	}
	defer func() { _ = r.Close() }() // read-only
	var made Copy
	b, err := io.ReadAll(io.LimitReader(r, maxNote))
	if err == nil {
		err = json.Unmarshal(b, &made)
	}
	if err != nil || made.Key != key {
		return made, scrollback.Errorf(scrollback.Internal, "archive.Copy", i18n.CopyNoteUnreadable, key)
	}
	return made, nil
}

// Copies lists the newest copies of a conversation, newest first, at most as many as are
// asked for.
func (a *Archive) Copies(ctx context.Context, id scrollback.ConversationID, most int) ([]Copy, error) {
	var keys []string
	err := a.eachCopy(ctx, id, func(name string) error {
		if key := strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], noteEnding); isCopyKey(key) &&
			strings.HasSuffix(name, noteEnding) {
			if keys = append(keys, key); len(keys) > most { // they come oldest first
				keys = slices.Delete(keys, 0, 1)
			}
		}
		return nil
	})
	out := []Copy{}
	for _, key := range slices.Backward(keys) {
		made, broken := a.readCopyNote(ctx, id, key)
		if scrollback.CodeOf(broken) == scrollback.NotFound {
			continue // it was removed meanwhile
		}
		if broken != nil {
			return out, broken
		}
		out = append(out, made)
	}
	return out, err
}

// deleteCopies removes all copies of a conversation, and what is left of some that were cut
// off.
func (a *Archive) deleteCopies(ctx context.Context, id scrollback.ConversationID) error {
	return a.eachCopy(ctx, id, func(name string) error {
		if err := a.bucket.Delete(ctx, name); err != nil && !errors.Is(err, blob.ErrMissing) {
			return a.words.explainFault("archive.Drop", err)
		}
		return nil
	})
}

// eachCopy does something with every object among a conversation's copies, in order.
func (a *Archive) eachCopy(ctx context.Context, id scrollback.ConversationID, do func(name string) error) error {
	if err := checkName(string(id)); err != nil {
		return err
	}
	for o, err := range a.bucket.List(ctx, copyPrefix+string(id)+"/") {
		if err != nil {
			return a.words.explainFault("archive.Copies", err)
		}
		if err := do(o.Key); err != nil {
			return err
		}
	}
	return nil
}
