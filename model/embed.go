package model

import (
	"context"

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
