package ollamaapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// countTokens counts a message: a token for four characters of what it says, and
// 768 for an image.
func countTokens(m message) int64 {
	n := utf8.RuneCountInString(m.Content + m.Thinking)
	for _, c := range m.ToolCalls {
		n += len(c.Function.Name) + len(c.Function.Arguments)
	}
	return int64(n/4+4) + 768*int64(len(m.Images))
}

// fitPrompt counts a prompt, and makes it fit or refuses it. Ollama drops the oldest
// messages, other than those of the system and the last one; then, unless it is
// told not to shift, what is still too long is cut in its middle.
func (s *server) fitPrompt(body *request, window int64) (int64, *modeltest.Refused) {
	count := func(ms []message) (n int64) {
		for _, m := range ms {
			n += countTokens(m)
		}
		return n
	}
	total := count(body.Messages)
	truncate := body.Truncate == nil || *body.Truncate
	if truncate {
		var system, rest []message
		for i, m := range body.Messages {
			if rest = body.Messages[i:]; count(system)+count(rest) <= window || i == len(body.Messages)-1 {
				break
			}
			if m.Role == "system" {
				system = append(system, m)
			}
		}
		body.Messages = append(system, rest...)
		if total = count(body.Messages); total <= window {
			return total, nil
		}
	}
	switch {
	case total <= window:
		return total, nil
	case !truncate && s.o.Nested:
		return 0, newRefusal("too long", http.StatusBadRequest,
			`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, total, window, total, window)
	case !truncate:
		return 0, newRefusal("too long", http.StatusBadRequest, "the input length exceeds the context length")
	case body.Shift != nil && !*body.Shift:
		return 0, newRefusal("too long", http.StatusBadRequest,
			"the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length")
	}
	return window / 2, nil // the middle is gone, and nobody is told
}

// checkPedantic refuses what Ollama takes without a word and gets wrong.
func (s *server) checkPedantic(body request, raw []byte) *modeltest.Refused {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&request{}); err != nil {
		return newRefusal("unknown field", http.StatusBadRequest, "%s", err)
	}
	for name := range body.Options {
		if name != "num_ctx" && name != "num_predict" {
			return newRefusal("unknown option", http.StatusBadRequest, "invalid option provided: %s", name)
		}
	}
	calls := map[string]string{} // names by ids
	for i, m := range body.Messages {
		if m.Content == "" && len(m.Images) == 0 && len(m.ToolCalls) == 0 && m.Role != "tool" {
			return newRefusal("empty", http.StatusBadRequest, "message %d is empty", i)
		}
		if m.Role == "tool" {
			if name, ok := calls[m.ToolCallID]; !ok || name != m.ToolName {
				return newRefusal("result", http.StatusBadRequest, "message %d answers call %q of %q, which was not made", i,
					m.ToolCallID, m.ToolName)
			}
			delete(calls, m.ToolCallID)
			continue
		}
		if len(calls) > 0 {
			return newRefusal("answered", http.StatusBadRequest, "message %d: %d calls have no result", i, len(calls))
		}
		for n, c := range m.ToolCalls {
			if _, twice := calls[c.ID]; twice || c.ID == "" || c.Function.Index == nil || *c.Function.Index != n {
				return newRefusal("call", http.StatusBadRequest, "message %d: call %d has no id or index of its own", i, n)
			}
			calls[c.ID] = c.Function.Name
		}
		if why := s.checkThought(i, m); why != nil {
			return why
		}
	}
	return nil
}

// checkThought refuses reasoning that is not what was thought before the same calls.
func (s *server) checkThought(i int, m message) *modeltest.Refused {
	want := ""
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range m.ToolCalls {
		want += s.thoughts[c.ID]
		if s.thoughts[c.ID] != "" {
			break
		}
	}
	if m.Thinking != want {
		return newRefusal("reasoning", http.StatusBadRequest,
			"message %d: its thinking is not what was thought before its calls", i)
	}
	return nil
}
