package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/model"
)

// contentWriter writes an answer as a response, or as the chunks of one.
type contentWriter struct {
	*faces.Stream
	listed    bool // the stream is a list of chunks, not events
	forwarded bool
	head      door.Head
	chunks    int
	parts     []any // of an answer that is not streamed

	words   strings.Builder // of its last part
	thought bool            // they are thought
}

// response is a response, or a chunk of one.
type response struct {
	Candidates []candidate `json:"candidates"`
	Usage      *usage      `json:"usageMetadata,omitempty"`
	Model      string      `json:"modelVersion,omitempty"`
	ID         string      `json:"responseId,omitempty"`
}

type candidate struct {
	Content       content `json:"content"`
	Finish        string  `json:"finishReason,omitempty"`
	FinishMessage string  `json:"finishMessage,omitempty"`
	Index         int     `json:"index"`
}

type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"` // each a part, or one as a model of Google's wrote it
}

type part struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Call      *functionCall   `json:"functionCall,omitempty"`
	Signature json.RawMessage `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"args"`
}

type usage struct {
	Prompt     int64 `json:"promptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount,omitempty"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount,omitempty"`
	Total      int64 `json:"totalTokenCount"`
}

func newUsage(u scrollback.Usage) *usage {
	return &usage{Prompt: u.InputTokens, Cached: u.CachedTokens, Candidates: max(0, u.OutputTokens-u.ReasoningTokens),
		Thoughts: u.ReasoningTokens, Total: u.InputTokens + u.OutputTokens}
}

// payload is what the client of Google's API keeps of a part. Those of other models have none of its fields.
type payload struct {
	Signature json.RawMessage `json:"thoughtSignature"`
	Part      json.RawMessage `json:"part"`
}

func readPayload(opaque []byte) (p payload) {
	if len(opaque) == 0 || json.Unmarshal(opaque, &p) != nil {
		return payload{}
	}
	return p
}

// Forward implements [door.Writer].
func (c *contentWriter) Forward(h model.ResponseHead, of scrollback.ConversationID) {
	c.forwarded = h.Status < http.StatusMultipleChoices
	if c.listed && c.forwarded {
		c.Stream.Begin("application/json", of)
		return
	}
	c.Stream.Forward(h, of)
}

// Frame implements [door.Writer].
func (c *contentWriter) Frame(b []byte) {
	switch {
	case !c.forwarded || !c.IsStreamed():
		c.Write(b)
	case c.listed:
		if data := joinData(b); len(data) > 0 {
			c.writeListed(data)
		}
	default:
		if b = withoutComments(b); len(b) > 0 {
			c.Write(b)
		}
	}
}

// EndForward implements [door.Writer]. Clients read a response to its end.
func (c *contentWriter) EndForward() {}

// joinData returns the data of an event; what is not an event is data as it is.
func joinData(event []byte) (data []byte) {
	for line := range bytes.Lines(event) {
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case ok:
			data = append(data, bytes.TrimSpace(value)...)
		case !bytes.HasPrefix(line, []byte(":")):
			data = append(data, bytes.TrimSpace(line)...)
		}
	}
	return data
}

// withoutComments returns an event without its comments; nothing if it holds nothing else.
func withoutComments(event []byte) []byte {
	if !bytes.HasPrefix(event, []byte(":")) && !bytes.Contains(event, []byte("\n:")) {
		return event
	}
	var out []byte
	for line := range bytes.Lines(event) {
		if !bytes.HasPrefix(line, []byte(":")) {
			out = append(out, line...)
		}
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil
	}
	return out
}

// Begin implements [door.Writer]. The head waits for the first chunk: what fails before it is an error with a status.
func (c *contentWriter) Begin(h door.Head) { c.head = h }

// writeListed writes a chunk into the list.
func (c *contentWriter) writeListed(chunk []byte) {
	begin := "["
	if c.chunks > 0 {
		begin = ",\r\n"
	}
	c.chunks++
	c.Write(append([]byte(begin), chunk...))
}

// writeChunk writes a chunk of a stream.
func (c *contentWriter) writeChunk(r response) {
	if !c.listed {
		c.Stream.Begin("text/event-stream", c.head.Conversation)
		c.WriteEvent("", r)
		return
	}
	b, err := json.Marshal(r)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	c.Stream.Begin("application/json", c.head.Conversation)
	c.writeListed(b)
}

func (c *contentWriter) newResponse(of candidate) response {
	of.Content.Role = "model"
	return response{Candidates: []candidate{of}, Model: c.head.Model, ID: c.head.ID}
}

// Piece implements [door.Writer].
func (c *contentWriter) Piece(d model.Delta) {
	own := readPayload(d.Opaque)
	var parts []any
	if own.Part != nil {
		parts = append(parts, own.Part)
	}
	if d.Reasoning != "" {
		parts = append(parts, part{Text: &d.Reasoning, Thought: true})
	}
	if d.Text != "" {
		parts = append(parts, part{Text: &d.Text})
	}
	if d.Call != nil {
		parts = append(parts, part{Call: &functionCall{ID: d.Call.ID, Name: d.Call.Name, Arguments: d.Call.Arguments}})
	}
	if own.Signature != nil {
		if len(parts) == 0 {
			parts = append(parts, part{Text: new(string)})
		}
		if last, ok := parts[len(parts)-1].(part); ok {
			last.Signature = own.Signature
			parts[len(parts)-1] = last
		}
	}
	switch {
	case len(parts) == 0:
	case c.IsStreamed():
		c.writeChunk(c.newResponse(candidate{Content: content{Parts: parts}}))
	default:
		for _, p := range parts {
			c.addPart(p)
		}
	}
	if d.End {
		c.endWords()
	}
}

// addPart adds a part to an answer that is not streamed. Pieces of one text, and of one thought, are one part.
func (c *contentWriter) addPart(p any) {
	next, ok := p.(part)
	if !ok || next.Text == nil || next.Signature != nil || next.Thought != c.thought {
		c.endWords()
	}
	if ok && next.Text != nil && next.Signature == nil {
		c.thought = next.Thought
		c.words.WriteString(*next.Text)
		return
	}
	c.parts = append(c.parts, p)
}

// endWords ends the part whose words are being written.
func (c *contentWriter) endWords() {
	if words := c.words.String(); words != "" {
		c.parts = append(c.parts, part{Text: &words, Thought: c.thought})
		c.words.Reset()
	}
}

// finishReason returns how an answer ended in the words of the API.
func finishReason(finish string) string {
	switch finish {
	case scrollback.FinishLength, scrollback.FinishBound, scrollback.FinishMaxSteps, scrollback.FinishTruncated:
		return "MAX_TOKENS"
	case "content_filter", "refusal":
		return "SAFETY"
	}
	return "STOP"
}

// End implements [door.Writer].
func (c *contentWriter) End(e door.End) {
	c.endWords()
	last := candidate{Finish: finishReason(e.Finish), Content: content{Parts: c.parts}}
	if len(last.Content.Parts) == 0 {
		last.Content.Parts = []any{part{Text: new(string)}}
	}
	r := c.newResponse(last)
	r.Usage = newUsage(e.Usage)
	if c.IsStreamed() {
		c.writeChunk(r)
		return
	}
	c.Stream.Begin("application/json", c.head.Conversation)
	c.WriteJSON(r)
}

// Fail implements [door.Writer]. A stream that has begun ends with a reason all the same: clients that find none ask
// again at once, and show what they have already shown.
func (c *contentWriter) Fail(err error) {
	if !c.HasBegun() {
		refuse(c.Stream, err)
		return
	}
	if c.IsStreamed() {
		c.writeChunk(c.newResponse(candidate{Finish: "OTHER", FinishMessage: c.FaultOf(err).Message,
			Content: content{Parts: []any{part{Text: new(string)}}}}))
	}
}

// close ends a list of chunks.
func (c *contentWriter) close() {
	switch {
	case !c.listed || c.chunks == 0 && !c.forwarded:
	case c.chunks == 0:
		c.Write([]byte("[]"))
	default:
		c.Write([]byte("]"))
	}
}
