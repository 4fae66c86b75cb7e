//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// talker answers everything with many words in Markdown, as fast as a fast provider.
type talker struct{ words int }

// Facts implements model.Model.
func (talker) Facts() model.Facts {
	return model.Facts{Name: "talker", Limit: 200_000, NoSummaries: true}
}

// Stream implements model.Model.
func (t talker) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for n := 0; n < t.words; n += 10 {
			text := "The gauge of the ferry pier reads **two metres** again. "
			switch {
			case n%1000 == 0:
				text = "\n\n## Part " + fmt.Sprint(n/1000+1) + "\n\n" + text
			case n%200 == 0:
				text = "\n\n```go\nrows = append(rows, design(o.Time, constituents))\n```\n\n" + text
			case n%70 == 0:
				text = "\n\n" + text
			}
			select {
			case <-ctx.Done():
				yield(model.Delta{}, ctx.Err())
				return
			case <-tick.C:
			}
			if !yield(model.Delta{Text: text}, nil) {
				return
			}
		}
		yield(model.Delta{Finish: scrollback.FinishStop}, nil)
	}
}

// place is a server with something to show.
type place struct {
	url  string
	long scrollback.ConversationID // of many messages
	talk scrollback.ConversationID // to be answered by the talker
	end  func()
}

// fillServer fills a database and serves it.
func fillServer(ctx context.Context, s size) (*place, error) {
	dir, err := os.MkdirTemp("", "scrollback-page")
	if err != nil {
		return nil, err
	}
	sb, err := local.Open(ctx, dir, &local.Options{Models: map[string]model.Model{"talker": talker{s.words}},
		Engine: engine.Options{Limit: 32_000}})
	if err != nil {
		return nil, err
	}
	p := &place{}
	var many bytes.Buffer
	enc := json.NewEncoder(&many)
	for i := range s.conversations {
		for _, role := range []string{"user", "assistant"} {
			if err := enc.Encode(map[string]any{"role": role, "content": fmt.Sprintf("Berth %d, please.", i),
				"conversation_id": fmt.Sprintf("c%d", i)}); err != nil {
				return nil, err
			}
		}
	}
	if _, err := sb.Import(ctx, bytes.NewReader(many.Bytes()), transfer.ImportRequest{}); err != nil {
		return nil, fmt.Errorf("many conversations: %w", err)
	}
	var long bytes.Buffer
	if _, _, err := sample.WriteSample(&long, "A very long talk",
		sample.Options{Seed: 3, Messages: s.messages}); err != nil {
		return nil, err
	}
	out, err := sb.Import(ctx, bytes.NewReader(long.Bytes()), transfer.ImportRequest{})
	if err != nil {
		return nil, fmt.Errorf("the long conversation: %w", err)
	}
	p.long = out.Conversations[0].ID
	c, _, err := sb.Create(ctx, scrollback.Conversation{Title: "A long answer", Model: "talker"})
	if err != nil {
		return nil, err
	}
	p.talk = c.ID
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer,
		server.Options{Version: "bench", Log: slog.New(slog.DiscardHandler)}, true))
	p.url = srv.URL
	p.end = func() {
		srv.CloseClientConnections()
		srv.Config.Handler = http.NotFoundHandler()
		_ = sb.Close()        // what was measured is known
		_ = os.RemoveAll(dir) // a temporary folder
	}
	return p, nil
}

// addressOf returns the address of a conversation.
func (p *place) addressOf(id scrollback.ConversationID) string {
	return strings.TrimSuffix(p.url, "/") + "/#" + string(id)
}
