package openai

import (
	"context"
	"time"

	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

var _ model.Embedder = (*Model)(nil)

// embedTime bounds how long vectors of a batch may take.
const embedTime = 5 * time.Minute

// embedBody is a request for vectors.
type embedBody struct {
	Model  string   `json:"model"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

// EmbedTexts implements model.Embedder, through POST /embeddings.
func (m *Model) EmbedTexts(ctx context.Context, texts []string) (model.Embeddings, error) {
	var got struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Tokens wire.Number `json:"prompt_tokens"`
			Total  wire.Number `json:"total_tokens"`
		} `json:"usage"`
	}
	x := remote.Exchange{URL: m.at.BaseURL + "/embeddings",
		Body: embedBody{Model: m.at.Model, Input: texts, Format: "float"}}
	if err := m.client.RequestJSON(ctx, x, embedTime, &got); err != nil {
		return model.Embeddings{}, err
	}
	out := model.Embeddings{Vectors: make([][]float32, len(got.Data)),
		InputTokens: max(int64(got.Usage.Tokens), int64(got.Usage.Total), 0)}
	for _, d := range got.Data { // they need not come in order
		if d.Index < 0 || d.Index >= len(out.Vectors) {
			return model.Embeddings{}, model.Embeddings{}.Check(len(texts))
		}
		out.Vectors[d.Index] = d.Embedding
	}
	return out, out.Check(len(texts))
}
