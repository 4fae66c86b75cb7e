package ollamaapi

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
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// request is a request as Ollama decodes it.
type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream   *bool          `json:"stream"`
	Think    think          `json:"think"`
	Truncate *bool          `json:"truncate"`
	Shift    *bool          `json:"shift"`
	Options  map[string]any `json:"options"`
}

type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Thinking   string   `json:"thinking"`
	Images     [][]byte `json:"images"`
	ToolCalls  []call   `json:"tool_calls"`
	ToolName   string   `json:"tool_name"`
	ToolCallID string   `json:"tool_call_id"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     *int      `json:"index,omitempty"`
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments are an object.
type arguments json.RawMessage

func (a *arguments) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return errors.New("Value looks like object, but can't find closing '}' symbol") //nolint:staticcheck // the words of the server
	}
	*a = slices.Clone(raw)
	return nil
}

func (a arguments) MarshalJSON() ([]byte, error) { return a, nil }

// think is a bool, a level or nothing.
type think struct {
	set, on bool
	level   string
}

func (t *think) UnmarshalJSON(raw []byte) error {
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

// Read judges a request in the order in which Ollama does.
func (s *server) Read(r *http.Request, raw []byte) (model.Request, *modeltest.Refused) {
	var none model.Request
	if why := s.checkKey(r); why != nil {
		return none, why
	}
	var body request
	if err := json.Unmarshal(raw, &body); len(bytes.TrimSpace(raw)) == 0 || errors.Is(err, io.EOF) {
		return none, newRefusal("body", http.StatusBadRequest, "missing request body")
	} else if err != nil {
		return none, newRefusal("body", http.StatusBadRequest, "%s", err)
	}
	if why := s.checkParameters(raw); why != nil {
		return none, why
	}
	if body.Model == "" {
		return none, newRefusal("model", http.StatusBadRequest, "model is required")
	}
	m, why := s.findModel(body.Model)
	if why != nil {
		return none, why
	}
	if why := s.checkAbilities(m, body); why != nil {
		return none, why
	}
	window, why := s.loadModel(m, body)
	if why != nil {
		return none, why
	}
	asked := pendingAnswer{model: body.Model, load: len(body.Messages) == 0}
	if !asked.load {
		if asked.tokens, why = s.fitPrompt(&body, window); why != nil {
			return none, why
		}
		if why := checkShown(m, body); why != nil {
			return none, why
		}
		if s.o.Pedantic {
			if why := s.checkPedantic(body, raw); why != nil {
				return none, why
			}
		}
	}
	s.pending.Store(r, asked)
	return toRequest(body), nil
}

// checkParameters refuses what a server that is not Ollama's own does not take.
func (s *server) checkParameters(raw []byte) *modeltest.Refused {
	var top map[string]json.RawMessage
	var options map[string]json.RawMessage
	_ = json.Unmarshal(raw, &top)                // it was decoded before
	_ = json.Unmarshal(top["options"], &options) // it may be absent
	for _, name := range s.o.Refuses {
		_, above := top[name]
		if _, within := options[name]; above || within {
			return newRefusal("parameter", http.StatusBadRequest, "unknown parameter: %s", name)
		}
	}
	return nil
}

// checkAbilities refuses what the model cannot do.
func (s *server) checkAbilities(m Model, body request) *modeltest.Refused {
	if m.NoThink && body.Think.on {
		return newRefusal("thinking", http.StatusBadRequest, "%q does not support thinking", body.Model)
	}
	if m.NoTools && len(body.Tools) > 0 {
		full := "registry.ollama.ai/library/" + body.Model
		if !strings.Contains(body.Model, ":") {
			full += ":latest"
		}
		return newRefusal("tools", http.StatusBadRequest, "%s does not support tools", full)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy < s.o.Busy {
		s.busy++
		return newRefusal("busy", http.StatusServiceUnavailable,
			"server busy, please try again.  maximum pending requests exceeded")
	}
	return nil
}

// loadModel loads the model, and is the window it then has.
func (s *server) loadModel(m Model, body request) (int64, *modeltest.Refused) {
	window := s.o.Window
	if m.NumCtx > 0 {
		window = m.NumCtx
	}
	for _, name := range []string{"num_ctx", "num_predict"} {
		v, ok := body.Options[name]
		n, number := v.(float64)
		switch {
		case ok && !number:
			return 0, newRefusal("options", http.StatusInternalServerError, "option %q must be of type integer", name)
		case ok && name == "num_ctx":
			window = int64(n)
		}
	}
	if m.Trained > 0 {
		window = min(window, m.Trained)
	}
	if s.o.Memory > 0 && window > s.o.Memory {
		return 0, newRefusal("memory", http.StatusInternalServerError,
			"model requires more system memory (%d.0 GiB) than is available (%d.0 GiB)", window>>10, s.o.Memory>>10)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded[body.Model] = window
	return window, nil
}

// checkShown refuses images that the model cannot be shown, and levels of
// thinking that it does not know.
func checkShown(m Model, body request) *modeltest.Refused {
	for _, msg := range body.Messages {
		switch {
		case m.OneImage && len(msg.Images) > 1:
			return newRefusal("images", http.StatusInternalServerError,
				"this model only supports one image while more than one image requested")
		case m.NoImages && len(msg.Images) > 0:
			return newRefusal("images", http.StatusInternalServerError,
				"Failed to create new sequence: failed to process inputs: this model is missing data required for image input")
		}
	}
	if body.Think.level != "" && !m.Levels {
		return newRefusal("levels", http.StatusBadRequest, "think value %q is not supported for this model", body.Think.level)
	}
	return nil
}

// toRequest returns a request in words of ours, without images.
func toRequest(body request) model.Request {
	r := model.Request{}
	if body.Think.set {
		r.Thinking = scrollback.Thinking{On: &body.Think.on, Effort: body.Think.level}
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
			it.Parts = append(it.Parts, scrollback.ToolCall{ID: c.ID, Name: c.Function.Name,
				Arguments: json.RawMessage(c.Function.Arguments)})
		}
		r.Items = append(r.Items, it)
	}
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, scrollback.Tool{Name: t.Function.Name, Description: t.Function.Description,
			Parameters: t.Function.Parameters})
	}
	return r
}
