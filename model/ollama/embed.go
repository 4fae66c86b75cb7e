package ollama

import (
	"context"
	"time"

	"github.com/scrollback-ai/scrollback/model"
)

var _ model.Embedder = (*Model)(nil)

// embedTime bounds how long vectors of a batch may take: a model may have to be loaded first.
const embedTime = 5 * time.Minute

// embedBody is a request for vectors. A text that is too long for the model is cut by the server.
type embedBody struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"`
}

// EmbedTexts implements model.Embedder, through POST /api/embed.
func (m *Model) EmbedTexts(ctx context.Context, texts []string) (model.Embeddings, error) {
	var got struct {
		Embeddings [][]float32 `json:"embeddings"`
		Tokens     count       `json:"prompt_eval_count"`
	}
	x := m.newExchange("/api/embed", embedBody{Model: m.at.Model, Input: texts, Truncate: true})
	if err := m.client.RequestJSON(ctx, x, embedTime, &got); err != nil {
		return model.Embeddings{}, err
	}
	out := model.Embeddings{Vectors: got.Embeddings, InputTokens: max(int64(got.Tokens), 0)}
	return out, out.Check(len(texts))
}
