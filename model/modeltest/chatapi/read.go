package chatapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// message is a message as it was sent: what is missing is not what is null.
type message struct {
	raw     map[string]json.RawMessage
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []wire.ToolCall `json:"tool_calls"`
	CallID  string          `json:"tool_call_id"`
	Details []any           `json:"reasoning_details"`
}

func (m message) isNull() bool { return len(m.Content) == 0 || string(m.Content) == "null" }
func (m message) isList() bool { return len(m.Content) > 0 && m.Content[0] == '[' }

func (m message) contentText() string {
	var c wire.Content
	_ = json.Unmarshal(m.Content, &c) // no words, where it is something else
	return c.Text()
}

// returnedReasoning returns the reasoning that a message brings back, and whether it has a field
// for it.
func (m message) returnedReasoning() (text string, there bool) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		if raw, ok := m.raw[field]; ok {
			there = true
			_ = json.Unmarshal(raw, &text) // nothing, for null
		}
	}
	return text, there
}

func (s *server) Read(r *http.Request, body []byte) (model.Request, *modeltest.Refused) {
	if s.o.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.o.Key {
		return model.Request{}, s.refuseKey()
	}
	if modeltest.IllFormed(body) {
		return model.Request{}, badRequest("well-formed", "invalid_request_error",
			"We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)")
	}
	var raw map[string]json.RawMessage
	var req wire.ChatRequest
	var messages []message
	if json.Unmarshal(body, &raw) != nil || json.Unmarshal(body, &req) != nil ||
		json.Unmarshal(raw["messages"], &messages) != nil {
		return model.Request{}, badRequest("json", "invalid_request_error",
			"We could not parse the JSON body of your request.")
	}
	var bare []map[string]json.RawMessage
	_ = json.Unmarshal(raw["messages"], &bare) // they were read before
	for i := range messages {
		messages[i].raw = bare[i]
	}
	if s.o.Models != nil && !slices.Contains(s.o.Models, req.Model) {
		return model.Request{}, s.refuseModel(req.Model)
	}
	for _, m := range messages {
		for _, c := range m.Calls {
			if modeltest.IllFormed([]byte(c.Function.Arguments)) { // which templates read as JSON
				return model.Request{}, badRequest("well-formed", "invalid_request_error",
					"'utf-8' codec can't encode character: surrogates not allowed")
			}
		}
	}
	for _, judge := range []func() *modeltest.Refused{
		func() *modeltest.Refused { return s.checkParameters(raw, req) },
		func() *modeltest.Refused { return s.checkContents(messages) },
		func() *modeltest.Refused { return s.checkRoles(messages) },
		func() *modeltest.Refused { return s.checkCalls(messages) },
		func() *modeltest.Refused { return s.checkThoughts(messages, req) },
		func() *modeltest.Refused { return s.checkLengths(raw, req) },
	} {
		if why := judge(); why != nil {
			return model.Request{}, why
		}
	}
	return modeltest.RequestOf(req), nil
}

// checkParameters refuses what the server does not take.
func (s *server) checkParameters(raw map[string]json.RawMessage, req wire.ChatRequest) *modeltest.Refused {
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains([]string{"model", "messages", "tools", "stream"}, name) && !slices.Contains(s.o.Takes, name) {
			return s.refuseParameter(name)
		}
	}
	for _, t := range req.Tools {
		if t.Type != "function" && t.Type != s.o.Search || t.Type == "function" && t.Function.Name == "" {
			return badRequest("tool-type", "invalid_request_error", "Tool type %s is not supported", t.Type)
		}
	}
	tools := len(req.Tools) > 0
	switch {
	case !req.Stream && req.EnableThinking != nil && *req.EnableThinking:
		return badRequest("stream", "invalid_parameter_error",
			"parameter.enable_thinking must be set to false for non-streaming calls")
	case tools && s.hasRule(NoThoughtWithTools) && req.ReasoningEffort != "none",
		tools && s.hasRule(NoEffortWithTools) && req.ReasoningEffort != "" && req.ReasoningEffort != "none":
		why := badRequest("effort-with-tools", "",
			"Function tools with reasoning_effort are not supported for %s in /v1/chat/completions. Please use /v1/responses instead, or set reasoning_effort to 'none'.", req.Model)
		why.Param = "reasoning_effort"
		return why
	case req.MaxTokens > 0 && req.MaxCompletionTokens > 0 && s.hasRule(OneMaximum):
		return badRequest("one-maximum", "InvalidParameter",
			"max_tokens and max_completion_tokens cannot be set at the same time.")
	}
	return nil
}

// checkContents refuses messages that say nothing, or in a form that is not taken.
func (s *server) checkContents(messages []message) *modeltest.Refused {
	for i, m := range messages {
		switch {
		case m.isNull() && s.hasRule(NoNull):
			return badRequest("null", "5006",
				"AiError: Bad input: Error: oneOf at '/' not met, 0 matches: required properties at '/' are 'prompt', Type mismatch of '/messages/%d/content', 'array' not in 'string','null'", i)
		case m.isList() && m.Role != "user" && s.hasRule(NoLists) && s.o.Server == "workers-ai":
			return badRequest("lists", "5006",
				"AiError: Bad input: Error: Type mismatch of '/messages/%d/content', 'array' not in 'string'", i)
		case m.isList() && m.Role != "user" && s.hasRule(NoLists):
			return badRequest("lists", "invalid_request_error",
				"Invalid type for 'messages[%d].content': expected a string, but got an array instead.", i)
		case m.contentText() == "" && !strings.Contains(string(m.Content), "image_url") && len(m.Calls) == 0 &&
			m.Role != "tool":
			return badRequest("empty", "invalid_request_error",
				"Invalid request: the message at position %d with role '%s' must not be empty", i, m.Role)
		case strings.Contains(string(m.Content), `"type":"image_url"`) && s.hasRule(TextOnly):
			return badRequest("image", "invalid_request_error",
				"Failed to deserialize the JSON body into the target type: messages[%d]: unknown variant `image_url`, expected `text` at line 1 column 99", i)
		}
		if why := s.checkImages(i, m); why != nil {
			return why
		}
	}
	return nil
}

// Gone is the beginning of addresses at which there is no image.
const Gone = "https://gone.example/"

// checkImages refuses images in a form that is not taken, and those that cannot be had.
func (s *server) checkImages(i int, m message) *modeltest.Refused {
	var c wire.Content
	if json.Unmarshal(m.Content, &c) != nil {
		return nil // it was judged
	}
	for _, p := range c {
		if p.Type != "image_url" {
			continue
		}
		at := wire.ImageURL{}
		if p.ImageURL != nil {
			at = *p.ImageURL
		}
		inline := strings.HasPrefix(at.URL, "data:image/") && strings.Contains(at.URL, ";base64,")
		remote := strings.HasPrefix(at.URL, "https://") || strings.HasPrefix(at.URL, "http://")
		switch {
		case !slices.Contains([]string{"", "low", "high", "auto"}, at.Detail):
			return badRequest("detail", "invalid_value", "Invalid value: '%s'. Supported values are: 'low', 'high' and 'auto'.",
				at.Detail)
		case remote && s.hasRule(BytesOnly):
			return badRequest("image-url", "invalid_request_error", "Invalid request: unsupported image url: %s", at.URL)
		case strings.HasPrefix(at.URL, Gone):
			return badRequest("image-gone", "invalid_image_url", "Error while downloading %s. Upstream status code: 404.",
				at.URL)
		case !inline && !remote:
			return badRequest("image-form", "invalid_value",
				"Invalid 'messages[%d].content.image_url'. Expected a valid URL, but got a value with an invalid format.", i)
		}
	}
	return nil
}

// checkCalls refuses calls that are not answered each once, behind them and in order.
func (s *server) checkCalls(messages []message) *modeltest.Refused {
	var open []string
	for i, m := range messages {
		if m.Role == "tool" {
			switch {
			case !slices.Contains(open, m.CallID):
				return badRequest("orphan", "invalid_request_error",
					"Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
			case open[0] != m.CallID:
				return badRequest("order", "invalid_request_error",
					"messages[%d]: tool results must stand in the order of their tool_calls: %s is expected", i, open[0])
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return badRequest("answered", "invalid_request_error",
				"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
		}
		for _, c := range m.Calls {
			if c.ID == "" || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) ||
				slices.Contains(open, string(c.ID)) {
				return badRequest("call", "invalid_request_error",
					"Invalid 'messages[%d].tool_calls': an id, a name and arguments as JSON are expected", i)
			}
			open = append(open, string(c.ID))
		}
	}
	if len(open) > 0 {
		return badRequest("answered", "invalid_request_error",
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	return nil
}

// checkThoughts refuses reasoning that was never given out, or does not come back.
func (s *server) checkThoughts(messages []message, req wire.ChatRequest) *modeltest.Refused {
	off := req.Thinking != nil && req.Thinking.Type == "disabled"
	for i, m := range messages {
		if m.Role != "assistant" {
			continue
		}
		text, there := m.returnedReasoning()
		key := "says " + m.contentText()
		if len(m.Calls) > 0 {
			key = string(m.Calls[0].ID)
		}
		was, known := s.findThought(key)
		if why := s.checkThought(i, len(m.Calls) > 0 && !off, returnedThought{text, there, was, known}); why != nil {
			return why
		}
		switch {
		case len(m.Details) > 0 && !(known && reflect.DeepEqual(m.Details, was.details)):
			return badRequest("signature", "invalid_request_error",
				"messages.%d.content.0: Invalid `signature` in `thinking` block", i)
		case s.hasRule(DetailsWithCalls) && len(m.Calls) > 0 && len(was.details) > 0 && len(m.Details) == 0:
			return badRequest("details", "invalid_request_error",
				"messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.", i)
		}
	}
	return nil
}

// returnedThought is reasoning that came back, and what was given out.
type returnedThought struct {
	text  string
	there bool
	was   thought
	known bool
}

func (s *server) checkThought(i int, must bool, b returnedThought) *modeltest.Refused {
	missing := !b.there || s.hasRule(ReasoningFilled) && b.text == "" ||
		b.known && b.was.text != "" && strings.TrimSpace(b.text) == ""
	switch {
	case must && missing && s.hasRule(ReasoningFilled):
		return badRequest("reasoning", "invalid_request_error",
			"thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", i)
	case must && missing && s.hasRule(ReasoningWithCalls):
		return badRequest("reasoning", "invalid_request_error",
			"The `reasoning_content` in the thinking mode must be passed back to the API.")
	case strings.TrimSpace(b.text) != "" && b.text != b.was.text:
		return badRequest("foreign", "invalid_request_error", "messages[%d]: reasoning that was never given out", i)
	}
	return nil
}
