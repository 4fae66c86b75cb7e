package openai

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// encrypted asks for reasoning in a form that can be sent back to a server that
// stores nothing.
const encrypted = "reasoning.encrypted_content"

// payloads are what a server refuses when it cannot read reasoning that it made:
// then the request goes without.
const payloads = "encrypted_content"

// nothing is the schema of a tool without parameters; the field is required.
var nothing = json.RawMessage(`{"type":"object","properties":{}}`)

// responsesRequest is a request of responses that is being written.
type responsesRequest struct {
	wire.ResponsesRequest
	r     model.Request
	known scrollback.Learned
	ids   *callSpeller

	at, bareUntil int    // the item that is being written; those before bareUntil send no reasoning
	lastThought   string // the payload of the last reasoning that is sent

	params []string // what the server may refuse, and is sent
	once   []string // and what it may refuse of this request alone
}

// mayUse notes a parameter that the server may refuse, and says whether to send it.
func (b *responsesRequest) mayUse(name string) bool {
	if remote.IsDropped(b.known, name) {
		return false
	}
	b.params = append(b.params, name)
	return true
}

func (b *responsesRequest) addItem(item any) error {
	raw, err := json.Marshal(item)
	b.Input = append(b.Input, raw)
	return scrollback.Wrap(scrollback.Internal, "openai.respond", err)
}

// planResponses plans an exchange of responses. The server stores nothing.
func (m *Model) planResponses(ctx context.Context, r model.Request, known scrollback.Learned) (remote.Exchange, error) {
	r = remote.WithoutRefusedImages(r, known)
	b := &responsesRequest{r: r, known: known, ResponsesRequest: wire.ResponsesRequest{Model: m.at.Model}}
	b.ids = m.newCallSpeller(known, true)
	b.Stream = b.mayUse("stream") // some models are streamed to verified organisations only
	b.bareUntil = b.refusedThoughts()
	for i, it := range r.Items {
		b.at = i
		if it.Kind == scrollback.KindTools {
			continue
		}
		if err := m.addInput(ctx, b, it); err != nil {
			return remote.Exchange{}, err
		}
	}
	for _, t := range r.Tools {
		tool := wire.ResponsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters,
			Strict: new(bool)}
		if len(tool.Parameters) == 0 {
			tool.Parameters = nothing
		}
		b.Tools = append(b.Tools, tool)
	}
	if r.WebSearch && m.d.search != "" && b.mayUse(model.WebSearch) {
		b.Tools = append(b.Tools, wire.ResponsesTool{Type: m.d.search})
	}
	if r.AnswerOnly && len(b.Tools) > 0 && b.mayUse("tool_choice") {
		b.ToolChoice = "none"
	}
	if most := remote.OutputLimit(r, known); most > 0 && b.mayUse("max_output_tokens") {
		b.MaxOutputTokens = max(most, 16) // the least that is taken
	}
	if r.CacheKey != "" && b.mayUse("prompt_cache_key") {
		b.PromptCacheKey = r.CacheKey
	}
	m.setReasoning(b)
	return remote.Exchange{URL: m.at.BaseURL + "/responses", Body: b.ResponsesRequest, Params: b.params, Once: b.once,
		Judge: b.explainRefusal(m), OlderAPI: m.at.Custom,
		Read: func(a *remote.Answer) error { return (&respReader{a: a, tools: r.Tools}).readAnswer() }}, nil
}

// refusedThoughts returns the place behind the last item with reasoning that the server refused.
func (b *responsesRequest) refusedThoughts() int {
	for i := len(b.r.Items) - 1; i >= 0 && len(b.known.Dropped) > 0; i-- {
		for _, p := range b.r.Items[i].Parts {
			if t, ok := p.(scrollback.Reasoning); ok && remote.IsDropped(b.known, model.UpTo(payloads, string(t.Opaque))) {
				return i + 1
			}
		}
	}
	return 0
}

// explainRefusal recognises what is refused of the conversation's calls and reasoning.
func (b *responsesRequest) explainRefusal(m *Model) func(p remote.Problem) *scrollback.Error {
	calls := m.explainRefusal(b.params)
	return func(p remote.Problem) *scrollback.Error {
		words := strings.ToLower(p.Message + " " + p.Code)
		if b.lastThought != "" && p.Status >= 400 && p.Status < 500 && !strings.Contains(words, "include") &&
			(strings.Contains(words, payloads) || strings.Contains(words, "encrypted content")) {
			return remote.NewRefusalError(m.at.Options.Provider, model.UpTo(payloads, b.lastThought))
		}
		return calls(p)
	}
}

// setReasoning says how much to think, and asks for what was thought: a summary to
// show, and its encrypted form to send back.
func (m *Model) setReasoning(b *responsesRequest) {
	level := b.r.Thinking.EffortLevel()
	thinks := m.isFamily("gpt-5", "gpt-6", "o1", "o3", "o4", "codex", "grok-4", "grok-5", "grok-build", "grok-code",
		"grok-3-mini")
	if (thinks || level != "") && b.mayUse("include") {
		b.Include = []string{encrypted}
	}
	var wish wire.ResponsesReasoning
	if level != "" && b.mayUse("reasoning.effort") {
		wish.Effort = level
	}
	if thinks && level != "none" && b.mayUse("reasoning.summary") {
		wish.Summary = "auto"
	}
	if wish != (wire.ResponsesReasoning{}) && b.mayUse("reasoning") {
		b.Reasoning = &wish
	}
}
