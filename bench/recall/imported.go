package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/claudecode"
)

// byTool brings a talk as the session of a coding agent, which has no names of speakers.
func byTool(ctx context.Context, s *store.Store, t talk) (product, error) {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(t.said)*10+len(t.lang))
	file, err := t.asSession(id)
	if err != nil {
		return product{}, err
	}
	name := "projects/-home-u-project/" + id + ".jsonl"
	at := time.UnixMilli(s.Now())
	place := transcript.Place{FS: fstest.MapFS{name: {Data: file, ModTime: at.AddDate(0, 0, -1)}}, Name: name,
		Now: at.UnixMilli()}
	a := archive.New(s, blob.NewMemory(), nil)
	e := engine.New(s, a, engine.Options{Models: func(string) (model.Model,
		error) {
		return &listener{}, nil
	}}).As(scrollback.Operator())
	tool := claudecode.Tool{}
	for session, err := range tool.Sessions(ctx, place) {
		if err != nil {
			return product{}, err
		}
		out, err := transfer.New(s, a, transfer.Options{}).ImportSession(ctx, e,
			transfer.Session{Tool: tool, Place: place, Session: session}, transfer.ImportRequest{})
		if err == nil && (len(out.Conversations) != 1 || out.Conversations[0].Messages != int64(len(t.said)) ||
			len(out.Skipped) > 0) {
			err = fmt.Errorf("%d messages were brought as %+v", len(t.said), out)
		}
		if err != nil {
			return product{}, err
		}
		return product{e, out.Conversations[0].ID}, nil
	}
	return product{}, fmt.Errorf("the tool's session was not found")
}

// asSession returns a talk as the file of a coding agent.
func (t talk) asSession(id string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	parent := any(nil)
	for i, m := range t.said {
		own := fmt.Sprintf("%08x-0000-4000-8000-%s", i+1, id[len(id)-12:])
		message := map[string]any{"role": m.role, "content": m.readableText()}
		if m.role == "assistant" {
			message = map[string]any{"id": "msg_" + own, "type": "message", "role": m.role, "model": "claude-made",
				"stop_reason": "end_turn",
				"content":     []any{map[string]string{"type": "text", "text": m.readableText()}},
				"usage":       map[string]int{"input_tokens": 1, "output_tokens": 1}}
		}
		if err := enc.Encode(map[string]any{"type": m.role, "uuid": own, "parentUuid": parent, "sessionId": id,
			"timestamp": m.at.UTC().Format("2006-01-02T15:04:05.000Z"),
			"cwd":       "/home/u/project", "gitBranch": "main", "version": "2.1.197", "isSidechain": false,
			"message": message}); err != nil {
			return nil, err
		}
		parent = own
	}
	return b.Bytes(), nil
}

// compareImported compares what is found of a set when it was brought from a tool's files with
// what is found of the same talks otherwise: the Markdown of a report.
func compareImported(ctx context.Context, s set, of []form) (string, error) {
	var forms []form
	for _, f := range of {
		if !f.pair {
			forms = append(forms, f)
		}
	}
	rows := map[string]*score{}
	for name, bring := range map[string]func(context.Context, *store.Store,
		talk) (product, error){"as it stands": newProduct, "from a tool's files": byTool} {
		r := &run{forms: forms, bring: bring, scores: map[key]*score{}, anatomy: map[string]*anatomy{s.name: {}}}
		if err := r.runSet(ctx, s); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		rows[name] = r.scores[key{s.name, ways[0], "", "all"}]
	}
	var b strings.Builder
	b.WriteString(`
## Talk that was imported

The talks of a person with an assistant, of the half that is held out, as they are stored here and as a coding agent's session
files that were imported; context_search.

| | questions | @5 | @10 | @20 | in 2,000 | in 4,000 |
|---|---|---|---|---|---|---|
`)
	for _, name := range []string{"as it stands", "from a tool's files"} {
		fmt.Fprintf(&b, "| %s %s", name, rows[name].tableRow())
	}
	return b.String(), nil
}
