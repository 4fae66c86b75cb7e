package openai

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/wire"
)

// thought is the payload of reasoning that came from chat completions: the field it came in,
// its details if it had some, and what else came beside it or on the message.
type thought struct {
	Field   string            `json:"field,omitempty"`
	Details []json.RawMessage `json:"details,omitempty"`
	Beside  wire.Beside       `json:"beside,omitempty"` // fields of the message
	Chunk   wire.Beside       `json:"chunk,omitempty"`  // and of the thought in its content
}

// fieldless is the field of a thought without words.
const fieldless = "details"

func (t thought) opaque() scrollback.Opaque {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(t) != nil {
		return nil // all of it was JSON when it came: not reached
	}
	return bytes.TrimSpace(b.Bytes())
}

// ofThoughts are names of fields on a message that belong to what was thought, or are meant
// to come back. Others, such as pictures, citations and counts, are not sent back.
var ofThoughts = regexp.MustCompile(`(?i)reason|think|thought|signature|encrypted|opaque|^cot(?:_|$)|^extra_content$|^provider_specific_fields$`)

// wordsOf are the fields other than the usual two in which servers send thoughts in words.
var wordsOf = []string{"reasoning_text", "thinking", "thinking_content", "thought"}

// keptBeside is what came on a message and goes back with it.
func keptBeside(b wire.Beside) wire.Beside {
	var out wire.Beside
	for name, v := range b {
		if ofThoughts.MatchString(name) && failed(v) {
			if out == nil {
				out = wire.Beside{}
			}
			out[name] = v
		}
	}
	return out
}

// reason puts reasoning back into an answer, to the model that made it: its words if the
// server wants them, what came beside them in any case. A call that has none of this model's
// gets what stands for it if its absence is refused. Before each thought stands some of what was said,
// part by part: that is where those that came in the content go back to.
func (m *Model) reason(c *chat, out *wire.Message, it scrollback.Item, said wire.Content, before []int) {
	calls := len(out.ToolCalls) > 0
	replay := m.d.replay
	if m.preserves() {
		replay = replayAlways
	}
	if replay == replayNever && c.dropped(unthought) {
		replay = replayCalls
	}
	var text strings.Builder
	var back thought
	var beside fragments
	var woven wire.Content
	found := false
	thoughts := 0
	at := 0
	for _, p := range it.Parts {
		r, ok := p.(scrollback.Reasoning)
		if !ok || !m.own(it) {
			continue
		}
		here := before[thoughts]
		thoughts++
		var t thought
		if json.Unmarshal(r.Opaque, &t) != nil {
			t = thought{}
		}
		if m.d.responses && t.Field == "" && len(t.Details) == 0 {
			continue // it is of the other API
		}
		found = true
		text.WriteString(r.Text)
		if c.at >= c.bareUntil {
			back.Details = append(back.Details, t.Details...)
			beside.add(t.Beside)
			if len(t.Details)+len(t.Beside)+len(t.Chunk) > 0 {
				c.lastSigned = string(r.Opaque)
			}
		} else {
			t.Chunk = nil
		}
		if r.Text != "" {
			woven = append(woven, said[at:here]...)
			at = here
			woven = append(woven, wire.ContentPart{Type: "thinking", Thinking: wire.Thoughts{{Type: "text", Text: r.Text}},
				Beside: c.taken(t.Chunk)})
		}
		if t.Field != "" && (back.Field == "" || t.Field != fieldless) {
			back.Field = t.Field
		}
	}
	out.Beside = c.taken(beside.take())
	if replay == replayNever || replay == replayCalls && !calls {
		if len(back.Details) > 0 && c.may("reasoning_details") {
			out.ReasoningDetails = replayed(back.Details)
		}
		return
	}
	words := text.String()
	if !found || words == "" && len(back.Details) == 0 {
		absent, ok := strings.CutPrefix(m.d.absent, ":")
		if !ok && c.dropped(unthought) {
			absent = " "
			ok = true
		}
		if ok && calls {
			if c.may("reasoning_content") {
				out.ReasoningContent = &absent
			}
			return
		}
		if !found || back.Field == fieldless {
			return
		}
	}
	if len(back.Details) > 0 && c.may("reasoning_details") {
		out.ReasoningDetails = replayed(back.Details)
	}
	if m.d.thinking == thinkReasoning && len(out.ReasoningDetails) == 0 &&
		(len(back.Details) > 0 || m.family("claude", "gemini")) {
		return // of the words alone a thought without its signature would be made, and refused
	}
	if back.Field == "" {
		back.Field = m.d.field
	}
	switch back.Field {
	case fieldless:
	case inContent:
		if c.may(thinkingChunks) {
			switch {
			case len(woven) == 0:
			case at == 0:
				out.Content = append(woven, out.Content...)
			default:
				out.Content = append(woven, said[at:]...)
			}
		}
	case "reasoning":
		if c.may("reasoning") {
			out.Reasoning = &words
		}
	case "reasoning_content":
		if c.may("reasoning_content") {
			out.ReasoningContent = &words
		}
	default:
		if raw, err := json.Marshal(words); err == nil && c.may(back.Field) {
			out.Beside[back.Field] = raw
		}
	}
}

// aboutSignatures are words that refuse what was signed or encrypted, and not the field it
// came in.
var aboutSignatures = regexp.MustCompile(`signature|thinking\W{0,3}blocks?|encrypted|redacted_thinking|reasoning_(?:details|opaque)`)

var notValid = regexp.MustCompile(`invalid|not valid|corrupt|cannot be modified|could not be (?:verif|decrypt|pars)|cannot be (?:verif|decrypt)|verif|decrypt|expired|mismatch|do(?:es)? not match|not match|bound to`)

// refusedThoughts is the place behind the last item whose signatures the server refused.
func (c *chat) refusedThoughts() int {
	for i := len(c.r.Items) - 1; i >= 0 && len(c.known.Dropped) > 0; i-- {
		for _, p := range c.r.Items[i].Parts {
			var opaque scrollback.Opaque
			switch p := p.(type) {
			case scrollback.Reasoning:
				opaque = p.Opaque
			case scrollback.ToolCall:
				opaque = p.Opaque
			}
			if len(opaque) > 0 && c.dropped(model.UpTo(signedThoughts, string(opaque))) {
				return i + 1
			}
		}
	}
	return 0
}

// judge recognises what is refused of the conversation's calls and thoughts. Signatures that
// are refused stay away up to the last one that was sent.
func (c *chat) judge(m *Model) func(p remote.Problem) *scrollback.Error {
	calls := m.judge(c.params)
	return func(p remote.Problem) *scrollback.Error {
		words := strings.ToLower(p.Message)
		if p.Status >= 400 && p.Status < 500 && !c.dropped(unthought) && strings.Contains(words, "reasoning_content") &&
			demanded.MatchString(words) {
			return remote.Refusing(m.at.Options.Provider, unthought)
		}
		if c.lastSigned != "" && (p.Status == 400 || p.Status == 422) &&
			!strings.Contains(words, "missing a thought_signature") &&
			aboutSignatures.MatchString(words) && notValid.MatchString(words) && !aboutFields.MatchString(words) {
			return remote.Refusing(m.at.Options.Provider, model.UpTo(signedThoughts, c.lastSigned))
		}
		return calls(p)
	}
}

// demanded are words that ask for a thought which is not there.
var demanded = regexp.MustCompile(`passed back|\bmissing\b|\brequired\b`)

// aboutFields are words that refuse a field whatever is in it.
var aboutFields = regexp.MustCompile(`extra (?:inputs|fields)|not permitted|unknown|unrecogni[sz]ed|unsupported|not supported|unexpected|not allowed`)

// replayed is the details that may go back: a text of models that sign it needs its
// signature.
func replayed(details []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, d := range details {
		var x detail
		if json.Unmarshal(d, &x) == nil && x.Type == "reasoning.text" && x.Signature == "" &&
			(x.Format == "anthropic-claude-v1" || x.Format == "google-gemini-v1") {
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
