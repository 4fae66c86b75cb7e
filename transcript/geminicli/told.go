package geminicli

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
)

// makePatch makes what we would write of a record the record itself; nil when it is.
func (r *record) makePatch(group []transcript.Entry) json.RawMessage {
	if len(r.Ours) > 0 || r.raw == nil {
		return nil
	}
	rec := canonicalRecord(group)
	rec.ID = r.ID
	raw, err := plainjson.Marshal(rec)
	if err != nil {
		return nil
	}
	return diffValues(raw, r.raw)
}

// canonicalRecord returns the record that these messages are, as far as one can say it.
func canonicalRecord(group []transcript.Entry) record {
	m := group[0].Message
	rec := record{ID: string(m.ID), Timestamp: formatTime(m.CreatedAt), Type: "user"}
	if m.Role == scrollback.RoleAssistant {
		rec.Type = "gemini"
		rec.Model = strings.TrimPrefix(m.Model, modelPrefix)
		if u := m.Usage; u != nil {
			rec.Tokens = &tokens{Input: u.InputTokens, Output: u.OutputTokens - u.ReasoningTokens, Cached: u.CachedTokens,
				Thoughts: u.ReasoningTokens,
				Total:    u.InputTokens + u.OutputTokens}
		}
	}
	for _, e := range group {
		for i, p := range e.Message.Parts {
			rec.addPart(p, e.Bytes[i], e.Message.CreatedAt)
		}
	}
	c := &rec.Content
	if slices.ContainsFunc(c.parts, func(p part) bool { return p.Thought }) && !slices.ContainsFunc(c.parts, isCall) {
		rec.repeatCalls()
	}
	c.plain = rec.Type == "gemini" && (len(c.parts) == 0 ||
		len(c.parts) == 1 && c.parts[0].Text != nil && c.parts[0].ThoughtSignature == nil && !c.parts[0].Thought)
	return rec
}

// addPart adds a part to a record.
func (r *record) addPart(p scrollback.Part, data []byte, at int64) {
	add := func(q part) { r.Content.parts = append(r.Content.parts, q) }
	attach := func(mediaType string, o scrollback.Opaque) {
		add(part{InlineData: &inlineData{MimeType: mediaType, Data: base64.StdEncoding.EncodeToString(data)},
			ThoughtSignature: r.readSignature(o)})
	}
	switch p := p.(type) {
	case scrollback.Text:
		add(part{Text: &p.Text, ThoughtSignature: r.readSignature(p.Opaque)})
	case scrollback.Reasoning:
		sign := r.readSignature(p.Opaque)
		if r.Type == "gemini" && sign == nil && len(r.Content.parts) == 0 {
			subject, description, two := strings.Cut(p.Text, "\n")
			if !two {
				subject = ""
				description = p.Text
			}
			r.Thoughts = append(r.Thoughts, thought{Subject: subject, Description: description, Timestamp: r.Timestamp})
			return
		}
		add(part{Text: &p.Text, Thought: !readKept(p.Opaque).Text, ThoughtSignature: sign})
	case scrollback.ToolCall:
		r.addCall(p)
	case scrollback.ToolResult:
		r.addResult(p, at)
	case scrollback.Image:
		if p.URL != "" {
			words := "[image: " + p.URL + "]"
			add(part{Text: &words})
			return
		}
		attach(p.MediaType, p.Opaque)
	case scrollback.File:
		attach(p.MediaType, p.Opaque)
	}
}

// readSignature returns the signature of this tool's models in a payload: alone, as the tool has
// it, or as it is kept of an answer that came from the server.
func (r *record) readSignature(o scrollback.Opaque) json.RawMessage {
	if len(o) == 0 || strings.Contains(r.Model, "/") {
		return nil
	}
	if o[0] != '"' {
		return readKept(o).Signature
	}
	return o
}

// keptPayload is what is read of a payload that is kept of an answer.
type keptPayload struct {
	Signature json.RawMessage `json:"thoughtSignature"`
	Text      bool            `json:"text"` // it came on a text without words
}

func readKept(o scrollback.Opaque) (k keptPayload) {
	if json.Unmarshal(o, &k) != nil || len(k.Signature) < 3 || k.Signature[0] != '"' {
		return keptPayload{}
	}
	return k
}

// addCall adds a call. The tool takes calls from the content if one is there, or a thought;
// so a signed one stands there too, and with it all others.
func (r *record) addCall(p scrollback.ToolCall) {
	sign := r.readSignature(p.Opaque)
	said := slices.ContainsFunc(r.Content.parts, isCall)
	if r.Type == "gemini" {
		if sign != nil && !said {
			r.repeatCalls()
		}
		r.ToolCalls = append(r.ToolCalls, toolCall{ID: p.ID, Name: p.Name, Args: p.Arguments, Status: "cancelled",
			Timestamp: r.Timestamp})
	}
	if r.Type != "gemini" || sign != nil || said {
		r.Content.parts = append(r.Content.parts,
			part{FunctionCall: &functionCall{ID: p.ID, Name: p.Name, Args: p.Arguments}, ThoughtSignature: sign})
	}
}

func isCall(p part) bool { return p.FunctionCall != nil }

// repeatCalls puts the calls into the content.
func (r *record) repeatCalls() {
	for _, c := range r.ToolCalls {
		r.Content.parts = append(r.Content.parts, part{FunctionCall: &functionCall{ID: c.ID, Name: c.Name, Args: c.Args}})
	}
}

// addResult adds a result: to its call, where the record has it.
func (r *record) addResult(p scrollback.ToolResult, at int64) {
	open := func(named bool) int {
		return slices.IndexFunc(r.ToolCalls, func(c toolCall) bool {
			return c.ID == p.CallID && len(c.Result.parts) == 0 && (!named || c.Name == p.Name)
		})
	}
	i := open(true)
	if i < 0 {
		i = open(false)
	}
	answer := resultPart(p.CallID, p.Name, p.Text, p.IsError)
	if i < 0 {
		r.Content.parts = append(r.Content.parts, answer)
		return
	}
	c := &r.ToolCalls[i]
	c.Result = content{parts: []part{answer}}
	c.Status = "success"
	c.Timestamp = formatTime(at)
	if p.IsError {
		c.Status = "error"
	}
}

// resultPart returns a result as the tool's own interface has it.
func resultPart(id, name, text string, failed bool) part {
	key := "output"
	if failed {
		key = "error"
	}
	return part{FunctionResponse: &functionResponse{ID: id, Name: name,
		Response: transcript.MarshalObject(map[string]string{key: text})}}
}

// What stands for what the tool has no place for.
const (
	emptyText    = "[empty]"
	noAnswerText = "[no answer]"
	systemText   = "[system] "
	quotedText   = "> " // before what the tool would take for a command
	noResultText = "No result: the call was interrupted before it was answered."
)

// fitRecord makes a record of ours one that the tool neither drops when it loads the session
// nor sends to its model as half a call.
func (w *sessionWriter) fitRecord(r *record, role scrollback.Role) {
	before := func(text string) { r.Content.parts = slices.Insert(r.Content.parts, 0, part{Text: &text}) }
	for i := range r.Content.parts {
		if p := &r.Content.parts[i]; p.FunctionResponse != nil { // its call is not in this record
			text := "Result of " + p.FunctionResponse.Name + " (its call is not shown): "
			said, _ := responseText(p.FunctionResponse.Response)
			text += said
			*p = part{Text: &text}
		}
	}
	if r.Type == "user" {
		r.Content.parts = slices.DeleteFunc(r.Content.parts, isCall) // only a model calls
		switch {
		case role == scrollback.RoleSystem:
			before(systemText)
		case !r.Content.hasText():
			before(emptyText)
		case r.Content.isIgnored():
			before(quotedText)
		}
		return
	}
	w.fitRecordCalls(r)
	if len(r.Thoughts) == 0 && len(r.ToolCalls) == 0 && !r.Content.hasText() {
		text := noAnswerText
		r.Content = content{parts: []part{{Text: &text}}, plain: true}
	}
}

// hasText reports whether there is more than white space.
func (c content) hasText() bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return p.Text == nil || strings.TrimSpace(*p.Text) != "" })
}

// fitRecordCalls gives each call an id of its own, a name and arguments that the tool's model
// takes, and a result.
func (w *sessionWriter) fitRecordCalls(r *record) {
	said := slices.Clone(r.Content.parts)
	next := 0 // of the calls in the content, which stand there in the same order
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		id := c.ID
		for c.ID == "" || w.called[c.ID] > 0 {
			w.called[id]++
			c.ID = id + "_" + strconv.Itoa(w.called[id])
		}
		w.called[c.ID]++
		c.Name = callName(c.Name)
		switch {
		case len(c.Args) == 0 || string(c.Args) == "null":
			c.Args = json.RawMessage(`{}`)
		case c.Args[0] != '{':
			c.Args = slices.Concat(json.RawMessage(`{"malformed_arguments":`), c.Args, json.RawMessage(`}`))
		}
		if len(c.Result.parts) == 0 {
			c.Result = content{parts: []part{resultPart(c.ID, c.Name, noResultText, true)}}
		}
		for k := range c.Result.parts {
			if f := c.Result.parts[k].FunctionResponse; f != nil {
				f.ID = c.ID
				f.Name = c.Name
			}
		}
		for ; next < len(said); next++ {
			if f := said[next].FunctionCall; f != nil {
				f.ID = c.ID
				f.Name = c.Name
				f.Args = c.Args
				next++
				break
			}
		}
	}
}

// callName returns a name of letters, digits, _, - and dots that begins with a letter or _.
func callName(name string) string {
	spelled := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.') {
			return r
		}
		return '_'
	}, name)
	if spelled == "" || !unicode.IsLetter(rune(spelled[0])) && spelled[0] != '_' {
		spelled = "tool_" + spelled
	}
	return spelled[:min(len(spelled), 64)]
}
