package openai

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/wire"
)

// thought is the payload of reasoning that came from chat completions: the field
// it came in, and its details if it had some.
type thought struct {
	Field   string            `json:"field,omitempty"`
	Details []json.RawMessage `json:"details,omitempty"`
}

func (t thought) opaque() scrollback.Opaque {
	b, err := json.Marshal(t)
	if err != nil {
		return nil // details were JSON when they came: not reached
	}
	return b
}

// reason puts reasoning back into an answer if the server wants it: as it came, to the
// model that made it. A call that has none of this model's gets what stands for it if its
// absence is refused.
func (m *Model) reason(c *chat, out *wire.Message, it scrollback.Item) {
	calls := len(out.ToolCalls) > 0
	replay := m.d.replay
	if m.preserves() {
		replay = replayAlways
	}
	if replay == replayNever || replay == replayCalls && !calls {
		return
	}
	var text strings.Builder
	var back thought
	found := false
	for _, p := range it.Parts {
		r, ok := p.(scrollback.Reasoning)
		if !ok || !m.own(it) {
			continue
		}
		var t thought
		if json.Unmarshal(r.Opaque, &t) != nil {
			t = thought{}
		}
		if m.d.responses && t.Field == "" && len(t.Details) == 0 {
			continue // it is of the other API
		}
		found = true
		text.WriteString(r.Text)
		back.Details = append(back.Details, t.Details...)
		if t.Field != "" && (back.Field == "" || t.Field != "details") {
			back.Field = t.Field
		}
	}
	words := text.String()
	if !found || words == "" && len(back.Details) == 0 {
		if absent, ok := strings.CutPrefix(m.d.absent, ":"); ok && calls {
			if c.may("reasoning_content") {
				out.ReasoningContent = &absent
			}
			return
		}
		if !found {
			return
		}
	}
	if len(back.Details) > 0 && c.may("reasoning_details") {
		out.ReasoningDetails = replayed(back.Details)
	}
	if m.d.thinking == thinkReasoning && len(out.ReasoningDetails) == 0 && (len(back.Details) > 0 || m.family("claude", "gemini")) {
		return // of the words alone a thought without its signature would be made, and refused
	}
	if back.Field == "" {
		back.Field = m.d.field
	}
	switch back.Field {
	case "details": // it came as details only
	case inContent:
		if c.may(thinkingChunks) {
			out.Content = append(wire.Content{{Type: "thinking", Thinking: wire.Thoughts{{Type: "text", Text: words}}}}, out.Content...)
		}
	case "reasoning":
		if c.may("reasoning") {
			out.Reasoning = &words
		}
	default:
		if c.may("reasoning_content") {
			out.ReasoningContent = &words
		}
	}
}

// replayed is the details that may go back: a text of models that sign it needs its
// signature.
func replayed(details []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, d := range details {
		var x detail
		if json.Unmarshal(d, &x) == nil && x.Type == "reasoning.text" && x.Signature == "" && (x.Format == "anthropic-claude-v1" || x.Format == "google-gemini-v1") {
			continue
		}
		out = append(out, d)
	}
	return out
}

// detail is what is read of one of OpenRouter's reasoning details.
type detail struct {
	Type      string `json:"type"`
	Format    string `json:"format"`
	Signature string `json:"signature"`
}

// fragments are details that are being put together: a stream cuts them into
// pieces, of which those that follow each other with one type and index are one.
type fragments struct {
	list []map[string]json.RawMessage
	size int
}

// add adds pieces.
func (f *fragments) add(pieces []json.RawMessage) {
	for _, raw := range pieces {
		f.size += len(raw)
		var piece map[string]json.RawMessage
		if json.Unmarshal(raw, &piece) != nil || piece == nil {
			continue
		}
		if n := len(f.list); n > 0 && continues(f.list[n-1], piece) {
			merge(f.list[n-1], piece)
			continue
		}
		f.list = append(f.list, piece)
	}
}

// continues reports whether a piece goes on with the one before. Encrypted ones are
// whole.
func continues(last, piece map[string]json.RawMessage) bool {
	same := func(key string) bool { return string(last[key]) == string(piece[key]) }
	kind := string(piece["type"])
	return same("type") && same("index") && (kind == `"reasoning.text"` || kind == `"reasoning.summary"`) && !signed(last)
}

func signed(detail map[string]json.RawMessage) bool {
	var s string
	return json.Unmarshal(detail["signature"], &s) == nil && s != ""
}

func merge(into, piece map[string]json.RawMessage) {
	for key, v := range piece {
		if key == "text" || key == "summary" {
			var a, b string
			_ = json.Unmarshal(into[key], &a) // nothing, where it is not a text
			if json.Unmarshal(v, &b) == nil {
				v, _ = json.Marshal(a + b) // texts always encode
			}
		}
		if string(v) != "null" || into[key] == nil {
			into[key] = v
		}
	}
}

// take is the details so far, which are put together no further.
func (f *fragments) take() []json.RawMessage {
	var out []json.RawMessage
	for _, d := range f.list {
		if b, err := json.Marshal(d); err == nil {
			out = append(out, b)
		}
	}
	f.list = nil
	return out
}
