// Package openai is the face of OpenAI's API: chat completions and responses.
//
// It decodes what only the API says of a request, and encodes answers. It may not know the engine's turns, nor another
// face.
package openai

import (
	"bytes"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/toolform"
	"github.com/scrollback-ai/scrollback/model"
)

// Mount mounts the face.
func Mount(mux *http.ServeMux, o faces.Options) {
	mountResponses(mux, o)
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		usage := false
		o.Answer(w, r, threading.Chat, func(body []byte, to *door.Request) {
			to.Stream = faces.WantsStream(body, false)
			usage = wantsUsage(body)
		}, func(s *faces.Stream) door.Writer { return &chatWriter{Stream: s, wantsUsage: &usage} })
	})
}

// chatWriter writes an answer as chat completions have it.
type chatWriter struct {
	*faces.Stream
	wantsUsage *bool
	forwarded  bool
	events     bool // what is forwarded is a stream
	finished   bool // and has said how it ended
	head       door.Head
	calls      int
	text       string
	thought    string
	made       []chatCall
}

type chatChunk struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index   int          `json:"index"`
	Delta   *chatMessage `json:"delta,omitempty"`
	Message *chatMessage `json:"message,omitempty"`
	Finish  *string      `json:"finish_reason"`
}

type chatMessage struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index *int   `json:"index,omitempty"`
	ID    string `json:"id"`
	Type  string `json:"type"`

	Function *chatFunction `json:"function,omitempty"`
	Custom   *chatText     `json:"custom,omitempty"`
}

// chatText is a call of a tool that takes a text.
type chatText struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	PromptIs   struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionIs struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func newChatUsage(u scrollback.Usage) *chatUsage {
	out := &chatUsage{Prompt: u.InputTokens, Completion: u.OutputTokens, Total: u.InputTokens + u.OutputTokens}
	out.PromptIs.Cached = u.CachedTokens
	out.CompletionIs.Reasoning = u.ReasoningTokens
	return out
}

// Forward implements [door.Writer].
func (c *chatWriter) Forward(h model.ResponseHead, of scrollback.ConversationID) {
	c.forwarded = true
	c.events = faces.IsStream(h)
	c.Stream.Forward(h, of)
}

// chatDone is how a stream says that nothing comes behind it.
var chatDone = []byte("[DONE]")

// Frame implements [door.Writer]. What says that nothing comes any more is held back until the answer is stored:
// clients go on as soon as they have it.
func (c *chatWriter) Frame(b []byte) {
	if c.events && bytes.Equal(bytes.TrimSpace(door.EventData(b)), chatDone) {
		return
	}
	c.finished = c.finished || bytes.Contains(b, []byte(`"finish_reason":"`)) ||
		bytes.Contains(b, []byte(`"finish_reason": "`))
	c.Write(b)
}

// EndForward implements [door.Writer].
func (c *chatWriter) EndForward() {
	if c.events {
		c.WriteData("", chatDone)
	}
}

// Begin implements [door.Writer].
func (c *chatWriter) Begin(h door.Head) {
	c.head = h
	if !c.IsStreamed() {
		return
	}
	c.Stream.Begin("text/event-stream", h.Conversation)
	nothing := ""
	c.writeChunk(chatMessage{Role: "assistant", Content: &nothing}, nil)
}

func (c *chatWriter) newChunk(object string) chatChunk {
	return chatChunk{ID: c.head.ID, Object: object, Created: c.head.Created.Unix(), Model: c.head.Model,
		Choices: []chatChoice{}}
}

func (c *chatWriter) writeChunk(m chatMessage, finish *string) {
	chunk := c.newChunk("chat.completion.chunk")
	chunk.Choices = []chatChoice{{Delta: &m, Finish: finish}}
	c.WriteEvent("", chunk)
}

// Piece implements [door.Writer].
func (c *chatWriter) Piece(d model.Delta) {
	m := chatMessage{Reasoning: d.Reasoning}
	if d.Text != "" {
		m.Content = &d.Text
	}
	if d.Call != nil {
		at := c.calls
		c.calls++
		call := chatCall{Index: &at, ID: d.Call.ID, Type: "function"}
		if _, form := findForm(c.head.Tools, d.Call.Name); form.Text {
			call.Type = "custom"
			call.Custom = &chatText{d.Call.Name, toolform.Text(d.Call.Arguments)}
		} else {
			call.Function = &chatFunction{d.Call.Name, string(d.Call.Arguments)}
		}
		m.Calls = []chatCall{call}
	}
	switch {
	case m.Content == nil && m.Reasoning == "" && len(m.Calls) == 0:
	case c.IsStreamed():
		c.writeChunk(m, nil)
	default:
		c.text += d.Text
		c.thought += d.Reasoning
		for _, call := range m.Calls {
			call.Index = nil
			c.made = append(c.made, call)
		}
	}
}

// finishReason returns how an answer ended in the words of the API.
func (c *chatWriter) finishReason(e door.End) string {
	switch {
	case c.calls > 0:
		return "tool_calls"
	case e.Finish == scrollback.FinishLength, e.Finish == "content_filter":
		return e.Finish
	}
	return "stop"
}

// End implements [door.Writer].
func (c *chatWriter) End(e door.End) {
	finish := c.finishReason(e)
	if c.IsStreamed() {
		c.writeChunk(chatMessage{}, &finish)
		if *c.wantsUsage {
			chunk := c.newChunk("chat.completion.chunk")
			chunk.Usage = newChatUsage(e.Usage)
			c.WriteEvent("", chunk)
		}
		c.WriteData("", chatDone)
		return
	}
	out := c.newChunk("chat.completion")
	m := chatMessage{Role: "assistant", Reasoning: c.thought, Calls: c.made}
	if c.text != "" || len(c.made) == 0 {
		m.Content = &c.text
	}
	out.Choices = []chatChoice{{Message: &m, Finish: &finish}}
	out.Usage = newChatUsage(e.Usage)
	c.Stream.Begin("application/json", c.head.Conversation)
	c.WriteJSON(out)
}

// newErrorBody returns an error as the API has it.
func newErrorBody(f faces.Fault) faces.ErrorBody {
	return faces.NewErrorBody(f, faces.OpenAITypes, "server_error")
}

// Fail implements [door.Writer]. A stream that has begun ends with a reason all the same: clients that find none ask
// again for ever.
func (c *chatWriter) Fail(err error) {
	fault := c.FaultOf(err)
	if !c.HasBegun() {
		c.Refuse(fault.Status, newErrorBody(fault))
		return
	}
	if !c.IsStreamed() {
		return
	}
	if c.forwarded {
		c.head.ID = "chatcmpl-broken"
	}
	if finish := scrollback.FinishLength; !c.finished {
		c.writeChunk(chatMessage{}, &finish)
	}
	c.WriteData("", chatDone)
}
