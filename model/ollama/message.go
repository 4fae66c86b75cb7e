package ollama

import (
	"context"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/model"
)

// messageWriter makes messages of items.
type messageWriter struct {
	m        *Model
	r        model.Request
	names    map[string]string // of the tools called so far, by the ids of the calls
	noImages bool
	out      []message
}

// addItem adds an item: one message, or one for each result. What would be empty is
// left out.
func (w *messageWriter) addItem(ctx context.Context, it scrollback.Item) error {
	if it.Kind == scrollback.KindTools {
		return nil
	}
	own := it.Model == w.m.facts.Name
	if own {
		it.Parts = thoughts.Join(it.Parts)
	}
	msg := message{Role: string(it.Role)}
	var texts []string
	var thinking strings.Builder
	for _, p := range it.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		case scrollback.Image:
			words, err := w.addImage(ctx, &msg, p)
			if err != nil {
				return err
			}
			if words != "" {
				texts = append(texts, words)
			}
		case scrollback.File:
			texts = append(texts, fmt.Sprintf("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size,
				scrollback.ArtifactRef(p.Artifact)))
		case scrollback.ToolCall:
			msg.ToolCalls = append(msg.ToolCalls, w.encodeCall(len(msg.ToolCalls), p))
		case scrollback.ToolResult:
			w.addResult(p)
		case scrollback.Reasoning:
			if own {
				thinking.WriteString(p.Text)
			}
		}
	}
	between := "\n" // separate texts of somebody else
	if own {
		between = "" // pieces of one answer
	}
	msg.Content = strings.Join(texts, between)
	if len(msg.ToolCalls) > 0 {
		msg.Thinking = thinking.String()
	}
	if msg.Content != "" || len(msg.Images) > 0 || len(msg.ToolCalls) > 0 {
		w.out = append(w.out, msg)
	}
	return nil
}

// encodeCall returns a call as the wire has it: its arguments are an object, its id is free
// text to the server.
func (w *messageWriter) encodeCall(index int, c scrollback.ToolCall) call {
	w.names[c.ID] = c.Name
	return call{ID: c.ID, Function: function{Index: index, Name: c.Name,
		Arguments: model.ParseArguments(string(c.Arguments))}}
}

// addResult adds a result, under the name and the id of its call: older releases and
// many templates know the name only.
func (w *messageWriter) addResult(p scrollback.ToolResult) {
	name := p.Name
	if name == "" {
		name = w.names[p.CallID]
	}
	w.out = append(w.out, message{Role: string(scrollback.RoleTool), Content: p.Text, ToolName: name,
		ToolCallID: p.CallID})
}

// addImage adds an image to a message, or returns its name if it cannot be shown.
func (w *messageWriter) addImage(ctx context.Context, msg *message, p scrollback.Image) (string, error) {
	if w.r.Bytes == nil || w.noImages || p.URL != "" {
		return fmt.Sprintf("[image: %s, %s]", p.Name, p.Location()), nil
	}
	b, err := w.r.Bytes(ctx, p.Artifact)
	if err != nil {
		return "", err
	}
	msg.Images = append(msg.Images, b)
	return "", nil
}
