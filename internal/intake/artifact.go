package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// StoreArtifact stores bytes as an artifact, its media type judged by what it holds.
func (in *Intake) StoreArtifact(ctx context.Context, r io.Reader, name string) (scrollback.Artifact, error) {
	// Not by the library's own reader, to which a file that is cut off has ended.
	head, err := io.ReadAll(io.LimitReader(r, 3072))
	if err != nil {
		return scrollback.Artifact{}, scrollback.Wrap(scrollback.Invalid, "intake.StoreArtifact", err)
	}
	kind := mimetype.Detect(head)
	id, size, err := in.put(ctx, io.MultiReader(bytes.NewReader(head), r), in.Limits.ArtifactBytes)
	if errors.Is(err, scrollback.ErrTooLarge) {
		err = scrollback.ParamErrorf("intake.StoreArtifact", "file", i18n.AttachmentTooLarge,
			in.Limits.ArtifactBytes).WithReason(scrollback.ErrTooLarge)
	}
	media, _, _ := strings.Cut(kind.String(), ";")
	return scrollback.Artifact{ID: id, MediaType: media, Name: name, Size: size, CreatedAt: in.store.Now()}, err
}

// ReadArtifact reads a whole artifact.
func (in *Intake) ReadArtifact(ctx context.Context, id scrollback.ArtifactID) ([]byte, error) {
	f, _, err := in.archive.OpenArtifact(ctx, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, in.Limits.ArtifactBytes+1))
	return b, scrollback.Wrap(scrollback.Unavailable, "intake.ReadArtifact", err)
}

// fillFile fills in a file part, with the attached bytes or those already stored.
func (a *admission) fillFile(ctx context.Context, i int, p scrollback.File) (scrollback.Part, error) {
	art, err := a.findArtifact(ctx, i, p.Artifact, p.Name)
	if err != nil {
		return p, err
	}
	p.Artifact = art.ID
	p.MediaType = art.MediaType
	p.Size = art.Size
	return p, nil
}

// findArtifact returns the artifact of part i: of the bytes that are attached to it, or one that is stored.
func (a *admission) findArtifact(ctx context.Context, i int, id scrollback.ArtifactID,
	name string) (scrollback.Artifact, error) {
	if b := a.attached[i]; b != nil {
		return a.storeAttached(ctx, b, name)
	}
	return a.checkMentioned(ctx, id)
}

// storeAttached stores attached bytes, which the message then mentions.
func (a *admission) storeAttached(ctx context.Context, b []byte, name string) (scrollback.Artifact, error) {
	art, err := a.StoreArtifact(ctx, bytes.NewReader(b), name)
	if err == nil && !slices.ContainsFunc(a.out.Mentions, func(m scrollback.Artifact) bool { return m.ID == art.ID }) {
		a.out.Mentions = append(a.out.Mentions, art)
	}
	return art, err
}

// checkMentioned checks that the conversation may name an artifact.
func (a *admission) checkMentioned(ctx context.Context, id scrollback.ArtifactID) (scrollback.Artifact, error) {
	for _, known := range a.out.Mentions {
		if known.ID == id {
			return known, nil
		}
	}
	ref, err := a.store.Refs.Get(ctx, a.id, scrollback.ArtifactRef(id))
	if err != nil {
		return scrollback.Artifact{}, err
	}
	return scrollback.Artifact{ID: id, MediaType: ref.MediaType, Name: ref.Hint, Size: ref.Bytes,
		CreatedAt: ref.CreatedAt}, nil
}

// artifactEnds returns at most first and last bytes of the two ends of a text artifact,
// cut between characters; if they are not text, it is invalid.
func (in *Intake) artifactEnds(ctx context.Context, id scrollback.ArtifactID,
	first, last int64) (head, tail string, err error) {
	const op = "intake"
	f, size, err := in.archive.OpenArtifact(ctx, id)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	read := func(from, n int64) (string, error) {
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			return "", scrollback.Wrap(scrollback.Unavailable, op, err)
		}
		b, err := io.ReadAll(io.LimitReader(f, n))
		return string(b), scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	if head, err = read(0, min(size, first+utf8.UTFMax)); err != nil {
		return "", "", err
	}
	head = clip.HeadBytes(head, int(first))
	if tail, err = read(max(0, size-last), last); err != nil {
		return "", "", err
	}
	for range utf8.UTFMax - 1 {
		if tail != "" && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	if !utf8.ValidString(head) || !utf8.ValidString(tail) {
		return "", "", scrollback.ParamErrorf(op, "artifact", i18n.ArtifactIsNotText, id)
	}
	return head, tail, nil
}
