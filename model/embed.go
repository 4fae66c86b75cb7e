package model

import (
	"context"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Embedder is a model that turns texts into vectors, near each other where the texts mean the same. A [Model] may be
// one; it need not be able to answer. It is safe for concurrent use.
type Embedder interface {
	// EmbedTexts returns a vector for each text, all of one length. Its errors are those of a stream, and like
	// them it tries again what may be temporary.
	EmbedTexts(ctx context.Context, texts []string) (Embeddings, error)
}

// Embeddings are the vectors of texts, in their order, and what they took: tokens as the server counts them, 0 if it
// does not say.
type Embeddings struct {
	Vectors     [][]float32
	InputTokens int64
}

// Check returns an error unless there are as many vectors as texts, all of one length.
func (e Embeddings) Check(texts int) error {
	whole := len(e.Vectors) == texts
	for _, v := range e.Vectors {
		whole = whole && len(v) > 0 && len(v) == len(e.Vectors[0])
	}
	if !whole {
		return scrollback.Errorf(scrollback.Unavailable, "model.EmbedTexts", i18n.EmbeddingsAreNotWhole, texts,
			len(e.Vectors)).WithReason(scrollback.ErrUpstream)
	}
	return nil
}

// GuardEmbedder returns an embedder that takes the faults of a model of one's own for errors of its server, as
// [GuardStream] does.
func GuardEmbedder(name string, e Embedder) Embedder { return guardedEmbedder{name, e} }

type guardedEmbedder struct {
	name string
	of   Embedder
}

// EmbedTexts implements [Embedder].
func (g guardedEmbedder) EmbedTexts(ctx context.Context, texts []string) (out Embeddings, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			out = Embeddings{}
			err = panicError(g.name, fault)
		}
	}()
	out, err = g.of.EmbedTexts(ctx, texts)
	var known *scrollback.Error
	switch {
	case err == nil:
		err = out.Check(len(texts))
	case !errors.As(err, &known) && !errors.Is(err, context.Canceled):
		err = scrollback.Errorf(scrollback.Unavailable, "model.EmbedTexts", i18n.ModelFailed, g.name, err).
			WithReason(scrollback.ErrUpstream)
	}
	return out, err
}
