package openai

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// chatRequest is a request of chat completions that is being written.
type chatRequest struct {
	wire.ChatRequest
	r      model.Request
	known  scrollback.Learned
	ids    *callSpeller
	params []string // what the server may refuse, and is sent
	once   []string // and what it may refuse of this request alone

	at, bareUntil int    // the item that is being written; those before bareUntil send nothing signed
	lastSigned    string // the payload of the last thought or call that is sent with one
}

func (c *chatRequest) isDropped(name string) bool { return remote.IsDropped(c.known, name) }

// mayUse notes a parameter that the server may refuse, and says whether to send it.
func (c *chatRequest) mayUse(name string) bool {
	if c.isDropped(name) {
		return false
	}
	c.params = append(c.params, name)
	return true
}

// planChat plans an exchange of chat completions.
func (m *Model) planChat(ctx context.Context, r model.Request, known scrollback.Learned) (remote.Exchange, error) {
	r = remote.WithoutRefusedImages(r, known)
	c := &chatRequest{r: r, known: known, ChatRequest: wire.ChatRequest{Model: m.at.Model, Stream: true}}
	if c.mayUse("stream_options") {
		c.StreamOptions = &wire.StreamOptions{IncludeUsage: true}
	}
	m.setMaxOutput(c)
	m.setThinking(c)
	c.ids = m.newCallSpeller(known, false)
	ends := layerEnds{}
	c.bareUntil = c.refusedThoughts()
	for i, it := range r.Items {
		c.at = i
		if it.Kind == scrollback.KindTools {
			continue
		}
		ms, err := m.encodeItem(ctx, c, it)
		if err != nil {
			return remote.Exchange{}, err
		}
		c.Messages = append(c.Messages, ms...)
		ends.noteMessages(it.Layer, c.Messages)
	}
	m.markCache(c, ends)
	for _, t := range r.Tools {
		c.Tools = append(c.Tools, wire.Tool{Type: "function",
			Function: wire.Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
	}
	read := func(a *remote.Answer) error {
		return (&chunkReader{a: a, calls: callGatherer{taken: callIDs(r.Items), tools: r.Tools}}).readAnswer()
	}
	switch {
	case !r.WebSearch || m.d.search == "" || c.isDropped(model.WebSearch):
	case m.d.responses: // this API cannot search, and no newer one is known to the server
		read = func(a *remote.Answer) error {
			if err := a.EmitDelta(model.Delta{Lesson: &model.Lesson{Drop: model.WebSearch}}); err != nil {
				return err
			}
			return (&chunkReader{a: a, calls: callGatherer{taken: callIDs(r.Items), tools: r.Tools}}).readAnswer()
		}
	case c.mayUse(model.WebSearch):
		c.Tools = append(c.Tools, wire.Tool{Type: m.d.search})
	}
	if r.AnswerOnly && len(c.Tools) > 0 && c.mayUse("tool_choice") {
		c.ToolChoice = "none"
	}
	header := map[string]string{}
	switch name, isHeader := strings.CutPrefix(m.d.cacheKey, ":"); {
	case r.CacheKey == "" || name == "":
	case isHeader:
		header[name] = r.CacheKey
	case c.mayUse("prompt_cache_key"):
		c.PromptCacheKey = r.CacheKey
	}
	return remote.Exchange{URL: m.at.BaseURL + "/chat/completions", Header: header, Body: c.ChatRequest, Params: c.params,
		Once: c.once, Judge: c.explainRefusal(m), Read: read}, nil
}

// setMaxOutput says how long the answer may be, in the one of two fields that the server
// takes.
func (m *Model) setMaxOutput(c *chatRequest) {
	most := remote.OutputLimit(c.r, c.known)
	if most <= 0 {
		return
	}
	older := m.d.oldMaxTokens
	if c.isDropped("max_tokens") || c.isDropped("max_completion_tokens") {
		older = c.isDropped("max_completion_tokens")
	}
	switch {
	case older && c.mayUse("max_tokens"):
		c.MaxTokens = most
	case !older && c.mayUse("max_completion_tokens"):
		c.MaxCompletionTokens = most
	}
}

// callIDs returns the ids of calls that a request holds already.
func callIDs(items []scrollback.Item) map[string]bool {
	out := map[string]bool{}
	for i := range items {
		for _, c := range items[i].Parts.Calls() {
			out[c.ID] = true
		}
	}
	return out
}

// encodeItem returns an item on the wire: one message, or for tool results one each, and
// none where nothing is said.
func (m *Model) encodeItem(ctx context.Context, c *chatRequest, it scrollback.Item) ([]wire.Message, error) {
	if m.isOwn(it) {
		it.Parts = thoughts.Join(it.Parts)
	}
	out := wire.Message{Role: string(it.Role), Name: it.Name}
	c.ids.beginItem(it)
	var results []wire.Message
	var before []int // how much of the content stands before each thought
	for _, p := range it.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				out.Content = append(out.Content, wire.ContentPart{Type: "text", Text: p.Text})
			}
		case scrollback.Image:
			part, err := m.encodeImage(ctx, c, p)
			if err != nil {
				return nil, err
			}
			out.Content = append(out.Content, part)
		case scrollback.File:
			out.Content = append(out.Content, wire.ContentPart{Type: "text", Text: fileText(p)})
		case scrollback.ToolCall:
			call := wire.ToolCall{ID: wire.Word(c.ids.spellCall(it, p.ID)), Type: "function",
				Function: wire.FunctionCall{Name: p.Name, Arguments: wire.Inner(p.Arguments)}}
			m.restoreBeside(c, &call, it, p, len(out.ToolCalls) == 0)
			out.ToolCalls = append(out.ToolCalls, call)
		case scrollback.ToolResult:
			results = append(results, wire.Message{Role: "tool", ToolCallID: c.ids.spellResult(p.CallID),
				Content: wire.Content{{Type: "text", Text: p.Text}}})
		case scrollback.Reasoning: // below
			before = append(before, len(out.Content))
		}
	}
	if it.Role == scrollback.RoleTool {
		return results, nil
	}
	apart := out.Content
	out.Content = plainContent(out.Content)
	if len(out.Content) == 0 && len(out.ToolCalls) == 0 {
		return nil, nil // a message is never empty
	}
	if it.Role == scrollback.RoleAssistant {
		m.restoreReasoning(c, &out, it, apart, before)
		if len(out.Content) == 0 && m.d.noNull {
			out.Content = wire.NoText()
		}
	}
	return []wire.Message{out}, nil
}

// plainContent returns content as one text where there is nothing but text: some servers take a
// list in no message, many in none but a user's.
func plainContent(c wire.Content) wire.Content {
	var texts []string
	for _, p := range c {
		if p.Type != "text" {
			return c
		}
		texts = append(texts, p.Text)
	}
	if len(texts) == 0 {
		return nil
	}
	return wire.Content{{Type: "text", Text: strings.Join(texts, "\n")}}
}

func fileText(p scrollback.File) string {
	return fmt.Sprintf("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size, scrollback.ArtifactRef(p.Artifact))
}

// encodeImage returns an image by its address or as a data: URL, or its name for a model that sees none.
func (m *Model) encodeImage(ctx context.Context, c *chatRequest, p scrollback.Image) (wire.ContentPart, error) {
	if c.r.Bytes == nil || c.isDropped("image_url") || p.URL != "" && (m.d.noAddresses || c.isDropped(remote.Addresses)) {
		return wire.ContentPart{Type: "text", Text: imageName(p)}, nil
	}
	url, err := imageURL(ctx, c.r, p)
	if err != nil {
		return wire.ContentPart{}, err
	}
	if p.URL != "" {
		c.once = append(c.once, remote.Addresses)
	}
	c.params = append(c.params, "image_url")
	return wire.ContentPart{Type: "image_url", ImageURL: &wire.ImageURL{Detail: p.Detail, URL: url}}, nil
}

func imageName(p scrollback.Image) string {
	return fmt.Sprintf("[image: %s, %s]", p.Name, p.Location())
}

func imageURL(ctx context.Context, r model.Request, p scrollback.Image) (string, error) {
	if p.URL != "" {
		return p.URL, nil
	}
	b, err := r.Bytes(ctx, p.Artifact)
	return "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(b), err
}
