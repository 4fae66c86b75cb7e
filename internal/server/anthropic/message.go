package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/model"
)

// messageWriter writes an answer as a message, or as the events of one.
type messageWriter struct {
	*faces.Stream
	head   door.Head
	begun  bool // message_start was written
	events bool // what is forwarded is a stream
	failed bool // the model's server has said in its stream that it failed
	usage  scrollback.Usage
	blocks []*block
	open   bool // the last block is being written

	written strings.Builder // the words of the last block, where they are not streamed
}

// message is an answer.
type message struct {
	ID           string   `json:"id"`
	Type         string   `json:"type"`
	Role         string   `json:"role"`
	Model        string   `json:"model"`
	Content      []*block `json:"content"`
	StopReason   *string  `json:"stop_reason"`
	StopSequence *string  `json:"stop_sequence"`
	Usage        usage    `json:"usage"`
}

// block is a block of an answer; what is not of its type is absent.
type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// usage counts the input that was neither read from a cache nor written to one.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Write  int64 `json:"cache_creation_input_tokens"`
	Cached int64 `json:"cache_read_input_tokens"`
	Output int64 `json:"output_tokens"`
}

func newUsage(u scrollback.Usage) usage {
	return usage{Input: max(0, u.InputTokens-u.CachedTokens-u.CacheWriteTokens), Write: u.CacheWriteTokens,
		Cached: u.CachedTokens, Output: u.OutputTokens}
}

// piece is what a block grows by.
type piece struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature *string `json:"signature,omitempty"`
	JSON      *string `json:"partial_json,omitempty"`
}

// event is an event of a stream, whose type is in its data too.
type event struct {
	Type    string   `json:"type"`
	Message *message `json:"message,omitempty"`
	Index   *int     `json:"index,omitempty"`
	Block   *block   `json:"content_block,omitempty"`
	Delta   any      `json:"delta,omitempty"`
	Usage   *usage   `json:"usage,omitempty"`
}

// ending is what a message ends with.
type ending struct {
	StopReason   string  `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

// Forward implements [door.Writer].
func (m *messageWriter) Forward(h model.ResponseHead, of scrollback.ConversationID) {
	m.events = faces.IsStream(h)
	m.Stream.Forward(h, of)
}

// Frame implements [door.Writer]. What says that nothing comes any more is held back until the answer is stored:
// clients go on as soon as they have it.
func (m *messageWriter) Frame(b []byte) {
	if m.events && bytes.HasPrefix(b, []byte("event: message_stop")) {
		return
	}
	m.failed = m.failed || bytes.HasPrefix(b, []byte("event: error"))
	m.Write(b)
}

// EndForward implements [door.Writer].
func (m *messageWriter) EndForward() {
	if m.events && !m.failed {
		m.emit(event{Type: "message_stop"})
	}
}

// Begin implements [door.Writer]. The head waits for the first block: what fails before it is an error with a status.
func (m *messageWriter) Begin(h door.Head) { m.head = h }

func (m *messageWriter) emit(e event) {
	if m.IsStreamed() {
		m.WriteEvent(e.Type, e)
	}
}

func (m *messageWriter) newMessage(blocks []*block) *message {
	return &message{ID: m.head.ID, Type: "message", Role: "assistant", Model: m.head.Model, Content: blocks,
		Usage: newUsage(m.usage)}
}

// start begins the message, unless that was done.
func (m *messageWriter) start() {
	if m.begun {
		return
	}
	m.begun = true
	if m.IsStreamed() {
		m.Stream.Begin("text/event-stream", m.head.Conversation)
		m.emit(event{Type: "message_start", Message: m.newMessage([]*block{})})
	}
}

// openBlock begins a block, and ends the one before it. Its values are those of its beginning.
func (m *messageWriter) openBlock(b block) {
	m.start()
	m.closeBlock()
	at := len(m.blocks)
	m.emit(event{Type: "content_block_start", Index: &at, Block: &b})
	m.blocks = append(m.blocks, &b)
	m.open = true
}

// closeBlock ends the block that is being written, if one is.
func (m *messageWriter) closeBlock() {
	if !m.open {
		return
	}
	m.open = false
	if words := m.written.String(); words != "" {
		last := m.blocks[len(m.blocks)-1]
		if last.Type == "text" {
			last.Text = &words
		} else {
			last.Thinking = &words
		}
		m.written.Reset()
	}
	at := len(m.blocks) - 1
	m.emit(event{Type: "content_block_stop", Index: &at})
}

// writing reports whether a block of a type is being written.
func (m *messageWriter) writing(kind string) bool {
	return m.open && m.blocks[len(m.blocks)-1].Type == kind
}

// addWords adds words to the last block.
func (m *messageWriter) addWords(p piece, words string) {
	if m.IsStreamed() {
		m.emitPiece(p)
		return
	}
	m.written.WriteString(words)
}

// emitPiece emits what the last block grows by.
func (m *messageWriter) emitPiece(p piece) {
	at := len(m.blocks) - 1
	m.emit(event{Type: "content_block_delta", Index: &at, Delta: p})
}

// Piece implements [door.Writer].
func (m *messageWriter) Piece(d model.Delta) {
	if d.Usage != nil {
		m.usage = *d.Usage
	}
	own := readPayload(d.Opaque)
	if d.Reasoning != "" {
		m.addThinking(d.Reasoning)
	}
	switch {
	case own.Signature != "":
		m.sign(own.Signature)
	case own.Redacted != "":
		m.openBlock(block{Type: "redacted_thinking", Data: own.Redacted})
		m.closeBlock()
	}
	if d.Text != "" {
		m.addText(d.Text)
	}
	if d.Call != nil {
		m.addCall(d.Call)
	}
	if d.End || d.Opaque != nil {
		m.closeBlock()
	}
}

func (m *messageWriter) addText(text string) {
	if !m.writing("text") {
		m.openBlock(block{Type: "text", Text: new(string)})
	}
	m.addWords(piece{Type: "text_delta", Text: &text}, text)
}

func (m *messageWriter) addThinking(text string) {
	if !m.writing("thinking") {
		m.openBlock(block{Type: "thinking", Thinking: new(string), Signature: new(string)})
	}
	m.addWords(piece{Type: "thinking_delta", Thinking: &text}, text)
}

// sign ends thinking with its signature. Without thinking before it, it is that of thinking which is not shown.
func (m *messageWriter) sign(signature string) {
	if !m.writing("thinking") {
		m.openBlock(block{Type: "thinking", Thinking: new(string), Signature: new(string)})
	}
	m.blocks[len(m.blocks)-1].Signature = &signature
	m.emitPiece(piece{Type: "signature_delta", Signature: &signature})
	m.closeBlock()
}

func (m *messageWriter) addCall(c *scrollback.ToolCall) {
	m.openBlock(block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage("{}")})
	m.blocks[len(m.blocks)-1].Input = c.Arguments
	arguments := string(c.Arguments)
	m.emitPiece(piece{Type: "input_json_delta", JSON: &arguments})
	m.closeBlock()
}

// stopReason returns how an answer ended in the words of the API.
func (m *messageWriter) stopReason(e door.End) string {
	for _, b := range m.blocks {
		if b.Type == "tool_use" {
			return b.Type
		}
	}
	switch e.Finish {
	case scrollback.FinishLength, scrollback.FinishBound, scrollback.FinishMaxSteps, scrollback.FinishTruncated:
		return "max_tokens"
	case "content_filter", "refusal":
		return "refusal"
	}
	return "end_turn"
}

// End implements [door.Writer].
func (m *messageWriter) End(e door.End) {
	m.start()
	m.closeBlock()
	m.usage = e.Usage
	reason := m.stopReason(e)
	if m.IsStreamed() {
		u := newUsage(e.Usage)
		m.emit(event{Type: "message_delta", Delta: ending{StopReason: reason}, Usage: &u})
		m.emit(event{Type: "message_stop"})
		return
	}
	whole := m.newMessage(append([]*block{}, m.blocks...))
	whole.StopReason = &reason
	m.Stream.Begin("application/json", m.head.Conversation)
	m.WriteJSON(whole)
}

// Fail implements [door.Writer]. In a stream it is the event by which clients know that they have to ask again.
func (m *messageWriter) Fail(err error) {
	switch {
	case !m.HasBegun():
		refuse(m.Stream, err)
	case m.IsStreamed() && !m.failed:
		m.WriteEvent("error", newErrorBody(m.FaultOf(err)))
	}
}
