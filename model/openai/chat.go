package openai

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/wire"
)

// chat is a request of chat completions that is being written.
type chat struct {
	wire.ChatRequest
	r      model.Request
	known  scrollback.Learned
	ids    *callSpeller
	params []string // what the server may refuse, and is sent
	once   []string // and what it may refuse of this request alone

	at, bareUntil int    // the item that is being written; those before bareUntil send nothing signed
	lastSigned    string // the payload of the last thought or call that is sent with one
}

func (c *chat) dropped(name string) bool { return remote.Dropped(c.known, name) }

// may notes a parameter that the server may refuse, and says whether to send it.
func (c *chat) may(name string) bool {
	if c.dropped(name) {
		return false
	}
	c.params = append(c.params, name)
	return true
}

// complete plans an exchange of chat completions.
func (m *Model) complete(ctx context.Context, r model.Request, known scrollback.Learned) (remote.Exchange, error) {
	r = remote.Shown(r, known)
	c := &chat{r: r, known: known, ChatRequest: wire.ChatRequest{Model: m.at.Model, Stream: true}}
	if c.may("stream_options") {
		c.StreamOptions = &wire.StreamOptions{IncludeUsage: true}
	}
	m.bound(c)
	m.think(c)
	c.ids = m.newCallSpeller(known, false)
	ends := ends{}
	c.bareUntil = c.refusedThoughts()
	for i, it := range r.Items {
		c.at = i
		if it.Kind == scrollback.KindTools {
			continue
		}
		ms, err := m.messages(ctx, c, it)
		if err != nil {
			return remote.Exchange{}, err
		}
		c.Messages = append(c.Messages, ms...)
		ends.note(it.Layer, c.Messages)
	}
	m.mark(c, ends)
	for _, t := range r.Tools {
		c.Tools = append(c.Tools, wire.Tool{Type: "function",
			Function: wire.Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
	}
	read := func(a *remote.Answer) error {
		return (&reader{a: a, calls: gathering{taken: callIDs(r), tools: r.Tools}}).read()
	}
	switch {
	case !r.WebSearch || m.d.search == "" || c.dropped(model.WebSearch):
	case m.d.responses: // this API cannot search, and no newer one is known to the server
		read = func(a *remote.Answer) error {
			if err := a.Emit(model.Delta{Lesson: &model.Lesson{Drop: model.WebSearch}}); err != nil {
				return err
			}
			return (&reader{a: a, calls: gathering{taken: callIDs(r), tools: r.Tools}}).read()
		}
	case c.may(model.WebSearch):
		c.Tools = append(c.Tools, wire.Tool{Type: m.d.search})
	}
	if r.AnswerOnly && len(c.Tools) > 0 && c.may("tool_choice") {
		c.ToolChoice = "none"
	}
	header := map[string]string{}
	switch name, isHeader := strings.CutPrefix(m.d.cacheKey, ":"); {
	case r.CacheKey == "" || name == "":
	case isHeader:
		header[name] = r.CacheKey
	case c.may("prompt_cache_key"):
		c.PromptCacheKey = r.CacheKey
	}
	return remote.Exchange{URL: m.at.BaseURL + "/chat/completions", Header: header, Body: c.ChatRequest, Params: c.params,
		Once: c.once, Judge: c.judge(m), Read: read}, nil
}

// bound says how long the answer may be, in the one of two fields that the server
// takes.
func (m *Model) bound(c *chat) {
	most := remote.MaxOutput(c.r, c.known)
	if most <= 0 {
		return
	}
	older := m.d.oldMaxTokens
	if c.dropped("max_tokens") || c.dropped("max_completion_tokens") {
		older = c.dropped("max_completion_tokens")
	}
	switch {
	case older && c.may("max_tokens"):
		c.MaxTokens = most
	case !older && c.may("max_completion_tokens"):
		c.MaxCompletionTokens = most
	}
}

// callIDs are the ids of calls that a request holds already.
func callIDs(r model.Request) map[string]bool {
	out := map[string]bool{}
	for _, it := range r.Items {
		for _, c := range it.Parts.Calls() {
			out[c.ID] = true
		}
	}
	return out
}

// messages is an item on the wire: one message, or for tool results one each, and
// none where nothing is said.
func (m *Model) messages(ctx context.Context, c *chat, it scrollback.Item) ([]wire.Message, error) {
	out := wire.Message{Role: string(it.Role), Name: it.Name}
	c.ids.item(it)
	var results []wire.Message
	var before []int // how much of the content stands before each thought
	for _, p := range it.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				out.Content = append(out.Content, wire.ContentPart{Type: "text", Text: p.Text})
			}
		case scrollback.Image:
			part, err := m.image(ctx, c, p)
			if err != nil {
				return nil, err
			}
			out.Content = append(out.Content, part)
		case scrollback.File:
			out.Content = append(out.Content, wire.ContentPart{Type: "text", Text: attached(p)})
		case scrollback.ToolCall:
			call := wire.ToolCall{ID: wire.Word(c.ids.call(it, p.ID)), Type: "function",
				Function: wire.FunctionCall{Name: p.Name, Arguments: wire.Inner(p.Arguments)}}
			m.beside(c, &call, it, p, len(out.ToolCalls) == 0)
			out.ToolCalls = append(out.ToolCalls, call)
		case scrollback.ToolResult:
			results = append(results, wire.Message{Role: "tool", ToolCallID: c.ids.result(p.CallID),
				Content: wire.Content{{Type: "text", Text: p.Text}}})
		case scrollback.Reasoning: // below
			before = append(before, len(out.Content))
		}
	}
	if it.Role == scrollback.RoleTool {
		return results, nil
	}
	apart := out.Content
	out.Content = plain(out.Content)
	if len(out.Content) == 0 && len(out.ToolCalls) == 0 {
		return nil, nil // a message is never empty
	}
	if it.Role == scrollback.RoleAssistant {
		m.reason(c, &out, it, apart, before)
		if len(out.Content) == 0 && m.d.noNull {
			out.Content = wire.NoText()
		}
	}
	return []wire.Message{out}, nil
}

// plain is content as one text where there is nothing but text: some servers take a
// list in no message, many in none but a user's.
func plain(c wire.Content) wire.Content {
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

func attached(p scrollback.File) string {
	return fmt.Sprintf("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size, scrollback.ArtifactRef(p.Artifact))
}

// image is an image by its address or as a data: URL, or its name for a model that sees none.
func (m *Model) image(ctx context.Context, c *chat, p scrollback.Image) (wire.ContentPart, error) {
	if c.r.Bytes == nil || c.dropped("image_url") || p.URL != "" && (m.d.noAddresses || c.dropped(remote.Addresses)) {
		return wire.ContentPart{Type: "text", Text: named(p)}, nil
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

func named(p scrollback.Image) string {
	return fmt.Sprintf("[image: %s, %s]", p.Name, p.Where())
}

func imageURL(ctx context.Context, r model.Request, p scrollback.Image) (string, error) {
	if p.URL != "" {
		return p.URL, nil
	}
	b, err := r.Bytes(ctx, p.Artifact)
	return "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(b), err
}
