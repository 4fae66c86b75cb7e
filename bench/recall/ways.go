package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/token"
)

// shown is how many hits a way is asked for.
const shown = 20

// answer is what a way returns for a question: the places of its hits, best
// first, and the text that a model would get.
type answer struct {
	places []int
	text   string
}

// way finds things in one talk.
type way interface {
	find(ctx context.Context, question string) (answer, error)
}

// product is scrollback itself: the recall tool over a store.
type product struct {
	e  *engine.View
	id scrollback.ConversationID
}

// newProduct writes a talk as an import does.
func newProduct(ctx context.Context, s *store.Store, t talk) (product, error) {
	eng := engine.New(s, archive.New(s, blob.NewMemory(), nil), engine.Options{Model: "none"})
	e := eng.As(scrollback.Operator())
	c, _, err := s.CreateConversation(ctx, scrollback.Conversation{Title: t.lang})
	if err != nil {
		return product{}, err
	}
	head, err := s.ReadHead(ctx, c.ID)
	for from := 0; from < len(t.said) && err == nil; from += 500 {
		var in []store.IncomingMessage
		for _, m := range t.said[from:min(from+500, len(t.said))] {
			in = append(in, store.IncomingMessage{Message: m.toMessage()})
		}
		var done store.AppendResult
		if done, err = s.AppendMessages(ctx, head, in); err == nil {
			head = done.Head
		}
	}
	return product{e, c.ID}, err
}

// toMessage returns a message as it is imported.
func (s said) toMessage() scrollback.Message {
	parts := scrollback.Parts{scrollback.Text{Text: s.text}}
	if s.photo != "" {
		parts = append(parts, scrollback.Image{URL: "https://example.com/photo.jpg", MediaType: "image/jpeg", Name: s.photo})
	}
	return scrollback.Message{Role: scrollback.Role(s.role), Name: s.name, CreatedAt: s.at.UnixMilli(), Parts: parts}
}

// find calls the tool that models call.
func (p product) find(ctx context.Context, question string) (answer, error) {
	args, err := json.Marshal(map[string]any{"query": question, "limit": shown})
	if err != nil {
		return answer{}, err
	}
	text, err := p.e.Recall().RunTool(ctx, p.id, "context_search", args, recall.RoomMax)
	if err != nil {
		return answer{}, err
	}
	var got scrollback.SearchResult
	err = json.Unmarshal([]byte(text), &got)
	return answer{placesOf(got), text}, err
}

func placesOf(found scrollback.SearchResult) []int {
	var out []int
	for _, h := range found.Hits {
		out = append(out, int(h.Seq)-1)
	}
	return out
}

// overHTTP is what GET /api/search returns.
type overHTTP struct{ product }

func (p overHTTP) find(ctx context.Context, question string) (answer, error) {
	found, err := p.e.Recall().Search(ctx, scrollback.SearchQuery{Conversation: p.id, Query: question, Limit: shown,
		Around: scrollback.AroundDefault})
	if err != nil {
		return answer{}, err
	}
	text, err := json.Marshal(found)
	return answer{placesOf(found), string(text)}, err
}

// recent is the newest messages, whatever the question is.
type recent struct{ answer }

// newRecent reads back as far as the largest window goes.
func newRecent(t talk) recent {
	var r recent
	var b strings.Builder
	for i, tokens := len(t.said)-1, 0; i >= 0 && tokens <= windows[len(windows)-1]; i-- {
		if len(r.places) < shown {
			r.places = append(r.places, i)
		}
		s := t.said[i].shorten(i)
		tokens += token.Count(s)
		b.WriteString(s)
	}
	r.text = b.String()
	return r
}

// shorten returns a message in few tokens, with its place as [endOf] looks for it.
func (s said) shorten(i int) string {
	body, _ := json.Marshal(s.readableText()) // a string always has its JSON
	return fmt.Sprintf("{\"seq\":%d,\"role\":%q,\"content\":%s},\n", i+1, s.role, body)
}

func (r recent) find(context.Context, string) (answer, error) { return r.answer, nil }
