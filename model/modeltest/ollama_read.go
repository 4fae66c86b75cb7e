package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// ollamaBody is a request as Ollama decodes it.
type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream   *bool          `json:"stream"`
	Think    ollamaThink    `json:"think"`
	Truncate *bool          `json:"truncate"`
	Shift    *bool          `json:"shift"`
	Options  map[string]any `json:"options"`
}

type ollamaMessage struct {
	Role       string       `json:"role"`
	Content    string       `json:"content"`
	Thinking   string       `json:"thinking"`
	Images     [][]byte     `json:"images"`
	ToolCalls  []ollamaCall `json:"tool_calls"`
	ToolName   string       `json:"tool_name"`
	ToolCallID string       `json:"tool_call_id"`
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     *int            `json:"index,omitempty"`
		Name      string          `json:"name"`
		Arguments ollamaArguments `json:"arguments"`
	} `json:"function"`
}

// ollamaArguments are an object.
type ollamaArguments json.RawMessage

func (a *ollamaArguments) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return errors.New("Value looks like object, but can't find closing '}' symbol") //nolint:staticcheck // the words of the server
	}
	*a = slices.Clone(raw)
	return nil
}

func (a ollamaArguments) MarshalJSON() ([]byte, error) { return a, nil }

// ollamaThink is a bool, a level or nothing.
type ollamaThink struct {
	set, on bool
	level   string
}

func (t *ollamaThink) UnmarshalJSON(raw []byte) error {
	t.set = true
	if json.Unmarshal(raw, &t.on) == nil {
		return nil
	}
	if json.Unmarshal(raw, &t.level) != nil {
		return errors.New(`think must be a boolean or string ("high", "medium", "low", true, or false)`)
	}
	if t.on = slices.Contains([]string{"low", "medium", "high"}, t.level); !t.on {
		return fmt.Errorf(`invalid think value: %q (must be "high", "medium", "low", true, or false)`, t.level)
	}
	return nil
}

// read judges a request in the order in which Ollama does.
func (p *ollama) read(r *http.Request, raw []byte) (model.Request, *Refused) {
	var none model.Request
	if why := p.key(r); why != nil {
		return none, why
	}
	var body ollamaBody
	if err := json.Unmarshal(raw, &body); len(bytes.TrimSpace(raw)) == 0 || errors.Is(err, io.EOF) {
		return none, refusef("body", http.StatusBadRequest, "", "missing request body")
	} else if err != nil {
		return none, refusef("body", http.StatusBadRequest, "", "%s", err)
	}
	if why := p.parameters(raw); why != nil {
		return none, why
	}
	if body.Model == "" {
		return none, refusef("model", http.StatusBadRequest, "", "model is required")
	}
	m, why := p.find(body.Model)
	if why != nil {
		return none, why
	}
	if why := p.able(m, body); why != nil {
		return none, why
	}
	window, why := p.load(m, body)
	if why != nil {
		return none, why
	}
	asked := ollamaAsked{model: body.Model, load: len(body.Messages) == 0}
	if !asked.load {
		if asked.tokens, why = p.fit(&body, window); why != nil {
			return none, why
		}
		if why := ollamaShown(m, body); why != nil {
			return none, why
		}
		if p.o.Pedantic {
			if why := p.pedantic(body, raw); why != nil {
				return none, why
			}
		}
	}
	p.pending.Store(r, asked)
	return ollamaRequest(body), nil
}

// parameters refuses what a server that is not Ollama's own does not take.
func (p *ollama) parameters(raw []byte) *Refused {
	var top map[string]json.RawMessage
	var options map[string]json.RawMessage
	_ = json.Unmarshal(raw, &top)                // it was decoded before
	_ = json.Unmarshal(top["options"], &options) // it may be absent
	for _, name := range p.o.Refuses {
		_, above := top[name]
		if _, within := options[name]; above || within {
			return refusef("parameter", http.StatusBadRequest, "", "unknown parameter: %s", name)
		}
	}
	return nil
}

// able refuses what the model cannot do.
func (p *ollama) able(m OllamaModel, body ollamaBody) *Refused {
	if m.NoThink && body.Think.on {
		return refusef("thinking", http.StatusBadRequest, "", "%q does not support thinking", body.Model)
	}
	if m.NoTools && len(body.Tools) > 0 {
		full := "registry.ollama.ai/library/" + body.Model
		if !strings.Contains(body.Model, ":") {
			full += ":latest"
		}
		return refusef("tools", http.StatusBadRequest, "", "%s does not support tools", full)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy < p.o.Busy {
		p.busy++
		return refusef("busy", http.StatusServiceUnavailable, "", "server busy, please try again.  maximum pending requests exceeded")
	}
	return nil
}

// load loads the model, and is the window it then has.
func (p *ollama) load(m OllamaModel, body ollamaBody) (int64, *Refused) {
	window := p.o.Window
	if m.NumCtx > 0 {
		window = m.NumCtx
	}
	for _, name := range []string{"num_ctx", "num_predict"} {
		v, ok := body.Options[name]
		n, number := v.(float64)
		switch {
		case ok && !number:
			return 0, refusef("options", http.StatusInternalServerError, "", "option %q must be of type integer", name)
		case ok && name == "num_ctx":
			window = int64(n)
		}
	}
	if m.Trained > 0 {
		window = min(window, m.Trained)
	}
	if p.o.Memory > 0 && window > p.o.Memory {
		return 0, refusef("memory", http.StatusInternalServerError, "", "model requires more system memory (%d.0 GiB) than is available (%d.0 GiB)", window>>10, p.o.Memory>>10)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loaded[body.Model] = window
	return window, nil
}

// ollamaShown refuses images that the model cannot be shown, and levels of
// thinking that it does not know.
func ollamaShown(m OllamaModel, body ollamaBody) *Refused {
	for _, msg := range body.Messages {
		switch {
		case m.OneImage && len(msg.Images) > 1:
			return refusef("images", http.StatusInternalServerError, "", "this model only supports one image while more than one image requested")
		case m.NoImages && len(msg.Images) > 0:
			return refusef("images", http.StatusInternalServerError, "", "Failed to create new sequence: failed to process inputs: this model is missing data required for image input")
		}
	}
	if body.Think.level != "" && !m.Levels {
		return refusef("levels", http.StatusBadRequest, "", "think value %q is not supported for this model", body.Think.level)
	}
	return nil
}

// ollamaRequest is a request in words of ours, without images.
func ollamaRequest(body ollamaBody) model.Request {
	r := model.Request{}
	if body.Think.set {
		r.Thinking = model.Thinking{On: &body.Think.on, Effort: body.Think.level}
	}
	if n, ok := body.Options["num_predict"].(float64); ok {
		r.MaxOutputTokens = int64(n)
	}
	for _, m := range body.Messages {
		it := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.Role(m.Role)}
		switch {
		case m.Role == "tool":
			it.Parts = scrollback.Parts{scrollback.ToolResult{CallID: m.ToolCallID, Name: m.ToolName, Text: m.Content}}
		case m.Content != "":
			it.Parts = scrollback.Parts{scrollback.Text{Text: m.Content}}
		}
		for _, c := range m.ToolCalls {
			it.Parts = append(it.Parts, scrollback.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
		}
		r.Items = append(r.Items, it)
	}
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, scrollback.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters})
	}
	return r
}
