package request

import (
	"context"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// listContent returns what a window sends, in the model's tokens, with what is cut marked.
func (x *Previewer) listContent(
	ctx context.Context,
	w scrollback.Window,
	factor float64,
) ([]scrollback.ContextItem, error) {
	items := window.ListContent(w)
	for i := range items {
		it := &items[i]
		it.Tokens = int64(math.Round(float64(it.Tokens) * factor))
		for k, p := range it.Parts {
			cut, err := x.findCut(ctx, it.Parts, k, factor)
			if err != nil {
				return nil, err
			}
			if cut == nil {
				continue
			}
			it.Parts = append(scrollback.Parts{}, it.Parts...)
			switch p := p.(type) {
			case scrollback.Text:
				p.Cut = cut
				it.Parts[k] = p
			case scrollback.ToolResult:
				p.Cut = cut
				it.Parts[k] = p
			}
		}
	}
	return items, nil
}

// findCut returns what the whole weighs of a part that shows only the ends of a text; nil for any
// other.
func (x *Previewer) findCut(ctx context.Context, ps scrollback.Parts, i int, factor float64) (*scrollback.Cut, error) {
	var text string
	var of []scrollback.ArtifactID
	switch p := ps[i].(type) {
	case scrollback.Text:
		text = p.Text
		for _, other := range ps {
			if f, ok := other.(scrollback.File); ok {
				of = append(of, f.Artifact)
			}
		}
	case scrollback.ToolResult:
		text = p.Text
		of = append(of, p.Artifact)
	}
	for _, id := range of {
		ref := scrollback.ArtifactRef(id)
		if id == "" || !strings.Contains(text, "The whole is "+string(ref)) {
			continue
		}
		size, tokens, err := x.weighArtifact(ctx, id)
		if err != nil {
			return nil, err
		}
		return &scrollback.Cut{Ref: ref, Bytes: size, Tokens: int64(math.Round(tokens * factor))}, nil
	}
	return nil, nil
}

// weightCache remembers what artifacts weigh.
type weightCache struct {
	mu sync.Mutex
	of map[scrollback.ArtifactID]artifactWeight
}

type artifactWeight struct {
	bytes  int64
	tokens float64
}

// Of a longer text than countBytes, the tokens of its beginning stand for the rest; the
// weights of at most wholesMost artifacts are remembered.
const (
	countBytes = 256 << 10
	maxWeights = 1024
)

// weighArtifact returns the size of an artifact of text, in bytes and in tokens of ours. One whose bytes
// are gone has none.
func (x *Previewer) weighArtifact(ctx context.Context, id scrollback.ArtifactID) (int64, float64, error) {
	x.weights.mu.Lock()
	w, ok := x.weights.of[id]
	x.weights.mu.Unlock()
	if ok {
		return w.bytes, w.tokens, nil
	}
	f, size, err := x.archive.OpenUnchecked(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, countBytes))
	if err != nil {
		return 0, 0, scrollback.Wrap(scrollback.Unavailable, "engine.Context", err)
	}
	w = artifactWeight{bytes: size, tokens: float64(token.Count(string(head)))}
	if n := int64(len(head)); n > 0 && n < size {
		w.tokens *= float64(size) / float64(n)
	}
	x.weights.mu.Lock()
	defer x.weights.mu.Unlock()
	if x.weights.of == nil || len(x.weights.of) >= maxWeights {
		x.weights.of = map[scrollback.ArtifactID]artifactWeight{}
	}
	x.weights.of[id] = w
	return w.bytes, w.tokens, nil
}
