package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// thoughtPayload is the payload of reasoning that came from chat completions: the field it came in,
// its details if it had some, and what else came beside it or on the message.
type thoughtPayload struct {
	Field   string            `json:"field,omitempty"`
	Details []json.RawMessage `json:"details,omitempty"`
	Beside  wire.Beside       `json:"beside,omitempty"` // fields of the message
	Chunk   wire.Beside       `json:"chunk,omitempty"`  // and of the thought in its content
}

// fieldless is the field of a thought without words.
const fieldless = "details"

func (t thoughtPayload) toOpaque() scrollback.Opaque {
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
var ofThoughts = lazyregexp.New(`(?i)reason|think|thought|signature|encrypted|opaque|^cot(?:_|$)|^extra_content$|^provider_specific_fields$`)

// wordsOf are the fields other than the usual two in which servers send thoughts in words.
var wordsOf = []string{"reasoning_text", "thinking", "thinking_content", "thought"}

// keptBeside returns what came on a message and goes back with it.
func keptBeside(b wire.Beside) wire.Beside {
	var out wire.Beside
	for name, v := range b {
		if ofThoughts().MatchString(name) && isPresent(v) {
			if out == nil {
				out = wire.Beside{}
			}
			out[name] = v
		}
	}
	return out
}

// restoreReasoning puts reasoning back into an answer, to the model that made it: its words if the
// server wants them, what came beside them in any case. A call that has none of this model's
// gets what stands for it if its absence is refused. Before each thought stands some of what was said,
// part by part: that is where those that came in the content go back to.
//
//nolint:gocognit // each condition is what one server was seen to want
func (m *Model) restoreReasoning(c *chatRequest, out *wire.Message, it scrollback.Item, said wire.Content,
	before []int) {
	calls := len(out.ToolCalls) > 0
	replay := m.d.replay
	if m.mustPreserve() {
		replay = replayAlways
	}
	if replay == replayNever && c.isDropped(unthought) {
		replay = replayCalls
	}
	var text strings.Builder
	var back thoughtPayload
	var beside fieldFragments
	var woven wire.Content
	found := false
	thoughts := 0
	at := 0
	for _, p := range it.Parts {
		r, ok := p.(scrollback.Reasoning)
		if !ok || !m.isOwn(it) {
			continue
		}
		here := before[thoughts]
		thoughts++
		var t thoughtPayload
		if json.Unmarshal(r.Opaque, &t) != nil {
			t = thoughtPayload{}
		}
		if m.d.responses && t.Field == "" && len(t.Details) == 0 {
			continue // it is of the other API
		}
		found = true
		text.WriteString(r.Text)
		if c.at >= c.bareUntil {
			back.Details = append(back.Details, t.Details...)
			beside.addPieces(t.Beside)
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
				Beside: c.acceptedBeside(t.Chunk)})
		}
		if t.Field != "" && (back.Field == "" || t.Field != fieldless) {
			back.Field = t.Field
		}
	}
	out.Beside = c.acceptedBeside(beside.takeFields())
	if replay == replayNever || replay == replayCalls && !calls {
		if len(back.Details) > 0 && c.mayUse("reasoning_details") {
			out.ReasoningDetails = replayableDetails(back.Details)
		}
		return
	}
	words := text.String()
	if !found || words == "" && len(back.Details) == 0 {
		absent, ok := strings.CutPrefix(m.d.absent, ":")
		if !ok && c.isDropped(unthought) {
			absent = " "
			ok = true
		}
		if ok && calls {
			if c.mayUse("reasoning_content") {
				out.ReasoningContent = &absent
			}
			return
		}
		if !found || back.Field == fieldless {
			return
		}
	}
	if len(back.Details) > 0 && c.mayUse("reasoning_details") {
		out.ReasoningDetails = replayableDetails(back.Details)
	}
	if m.d.thinking == thinkReasoning && len(out.ReasoningDetails) == 0 &&
		(len(back.Details) > 0 || m.isFamily("claude", "gemini")) {
		return // of the words alone a thought without its signature would be made, and refused
	}
	if back.Field == "" {
		back.Field = m.d.field
	}
	switch back.Field {
	case fieldless:
	case inContent:
		if c.mayUse(thinkingChunks) {
			switch {
			case len(woven) == 0:
			case at == 0:
				out.Content = append(woven, out.Content...)
			default:
				out.Content = append(woven, said[at:]...)
			}
		}
	case "reasoning":
		if c.mayUse("reasoning") {
			out.Reasoning = &words
		}
	case "reasoning_content":
		if c.mayUse("reasoning_content") {
			out.ReasoningContent = &words
		}
	default:
		if raw, err := json.Marshal(words); err == nil && c.mayUse(back.Field) {
			out.Beside[back.Field] = raw
		}
	}
}

// aboutSignatures are words that refuse what was signed or encrypted, and not the field it
// came in.
var aboutSignatures = lazyregexp.New(`signature|thinking\W{0,3}blocks?|encrypted|redacted_thinking|reasoning_(?:details|opaque)`)

var notValid = lazyregexp.New(`invalid|not valid|corrupt|cannot be modified|could not be (?:verif|decrypt|pars)|cannot be (?:verif|decrypt)|verif|decrypt|expired|mismatch|do(?:es)? not match|not match|bound to`)

// refusedThoughts returns the place behind the last item whose signatures the server refused.
func (c *chatRequest) refusedThoughts() int {
	for i := len(c.r.Items) - 1; i >= 0 && len(c.known.Dropped) > 0; i-- {
		for _, p := range c.r.Items[i].Parts {
			var opaque scrollback.Opaque
			switch p := p.(type) {
			case scrollback.Reasoning:
				opaque = p.Opaque
			case scrollback.ToolCall:
				opaque = p.Opaque
			}
			if len(opaque) > 0 && c.isDropped(model.UpTo(signedThoughts, string(opaque))) {
				return i + 1
			}
		}
	}
	return 0
}

// explainRefusal recognises what is refused of the conversation's calls and thoughts. Signatures that
// are refused stay away up to the last one that was sent.
func (c *chatRequest) explainRefusal(m *Model) func(p remote.Problem) *scrollback.Error {
	calls := m.explainRefusal(c.params)
	return func(p remote.Problem) *scrollback.Error {
		words := strings.ToLower(p.Message)
		if p.Status >= 400 && p.Status < 500 && !c.isDropped(unthought) && strings.Contains(words, "reasoning_content") &&
			demanded().MatchString(words) {
			return remote.NewRefusalError(m.at.Options.Provider, unthought)
		}
		if c.lastSigned != "" && (p.Status == 400 || p.Status == 422) &&
			!strings.Contains(words, "missing a thought_signature") &&
			aboutSignatures().MatchString(words) && notValid().MatchString(words) && !aboutFields().MatchString(words) {
			return remote.NewRefusalError(m.at.Options.Provider, model.UpTo(signedThoughts, c.lastSigned))
		}
		return calls(p)
	}
}

// demanded are words that ask for a thought which is not there.
var demanded = lazyregexp.New(`passed back|\bmissing\b|\brequired\b`)

// aboutFields are words that refuse a field whatever is in it.
var aboutFields = lazyregexp.New(`extra (?:inputs|fields)|not permitted|unknown|unrecogni[sz]ed|unsupported|not supported|unexpected|not allowed`)

// replayableDetails returns the details that may go back: a text of models that sign it needs its
// signature.
func replayableDetails(details []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, d := range details {
		var x reasoningDetail
		if json.Unmarshal(d, &x) == nil && x.Type == "reasoning.text" && x.Signature == "" &&
			(x.Format == "anthropic-claude-v1" || x.Format == "google-gemini-v1") {
			continue
		}
		out = append(out, d)
	}
	return out
}

// reasoningDetail is what is read of one of OpenRouter's reasoning details.
type reasoningDetail struct {
	Type      string `json:"type"`
	Format    string `json:"format"`
	Signature string `json:"signature"`
}
