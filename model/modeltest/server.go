package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
)

// Server serves a model in OpenAI's chat-completions protocol, streamed, so that
// a client of such servers can be tested over HTTP against a script.
type Server struct {
	Model model.Model

	mu     sync.Mutex
	bodies []wire.ChatRequest
	broken int
}

// FailNext makes the next n requests fail with status 503.
func (s *Server) FailNext(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = n
}

// Bodies lists the requests so far, those that failed too.
func (s *Server) Bodies() []wire.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]wire.ChatRequest(nil), s.bodies...)
}

// ServeHTTP implements http.Handler: POST …/chat/completions.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body wire.ChatRequest
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !body.Stream {
		writeFailure(w, http.StatusBadRequest, "a streamed chat completion is expected")
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, body)
	broken := s.broken > 0
	if broken {
		s.broken--
	}
	s.mu.Unlock()
	if broken {
		writeFailure(w, http.StatusServiceUnavailable, "broken for a while")
		return
	}
	out := chunkWriter{w: w, id: fmt.Sprintf("chatcmpl-%d", len(s.Bodies()))}
	for d, err := range s.Model.Stream(r.Context(), RequestOf(body)) {
		if err != nil {
			text, _ := json.Marshal(wire.Error{Message: err.Error()}) // texts always encode
			out.writeChunk(wire.Chunk{Choices: []wire.ChunkChoice{}, Error: text})
			return
		}
		out.writeDelta(d)
	}
	out.writeEnd()
}

func writeFailure(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(wire.ErrorBody{Error: wire.Error{Message: message}}) // the client may be gone
}

// RequestOf returns a chat completion's request in our own words, without images.
func RequestOf(body wire.ChatRequest) model.Request {
	r := model.Request{MaxOutputTokens: max(body.MaxTokens, body.MaxCompletionTokens),
		AnswerOnly: body.ToolChoice == "none"}
	for _, m := range body.Messages {
		it := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.Role(m.Role), Name: m.Name}
		switch {
		case m.Role == "tool":
			it.Parts = scrollback.Parts{scrollback.ToolResult{CallID: m.ToolCallID, Text: m.Content.Text()}}
		case len(m.Content) > 0:
			it.Parts = scrollback.Parts{scrollback.Text{Text: m.Content.Text()}}
		}
		for _, c := range m.ToolCalls {
			it.Parts = append(it.Parts, scrollback.ToolCall{ID: string(c.ID), Name: c.Function.Name,
				Arguments: json.RawMessage(c.Function.Arguments)})
		}
		r.Items = append(r.Items, it)
	}
	for _, t := range body.Tools {
		if t.Type != "function" {
			r.WebSearch = r.WebSearch || strings.HasSuffix(t.Type, model.WebSearch)
			continue
		}
		r.Tools = append(r.Tools, scrollback.Tool{Name: t.Function.Name, Description: t.Function.Description,
			Parameters: t.Function.Parameters})
	}
	return r
}

// chunkWriter writes chunks, one event a write.
type chunkWriter struct {
	w     http.ResponseWriter
	id    string
	calls int
}

func (s *chunkWriter) writeChunk(c wire.Chunk) {
	c.ID = wire.Word(s.id)
	c.Object = "chat.completion.chunk"
	b, err := json.Marshal(c)
	if err != nil {
		return // our own types always encode
	}
	s.w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(s.w, "data: %s\n\n", b)
	_ = http.NewResponseController(s.w).Flush() // the client may be gone
}

func (s *chunkWriter) writeDelta(d model.Delta) {
	choice := wire.ChunkChoice{}
	if d.Text != "" {
		choice.Delta.Content = wire.Content{{Type: "text", Text: d.Text}}
	}
	if d.Reasoning != "" {
		choice.Delta.ReasoningContent = &d.Reasoning
	}
	if d.Call != nil {
		n := wire.Number(s.calls)
		s.calls++
		choice.Delta.ToolCalls = []wire.ToolCall{{Index: &n, ID: wire.Word(d.Call.ID), Type: "function",
			Function: wire.FunctionCall{Name: d.Call.Name, Arguments: wire.Inner(d.Call.Arguments)}}}
	}
	if d.Finish != "" {
		choice.FinishReason = &d.Finish
	}
	s.writeChunk(wire.Chunk{Choices: []wire.ChunkChoice{choice}}) // its usage is null
	if d.Usage != nil {
		s.writeChunk(wire.Chunk{Choices: []wire.ChunkChoice{},
			Usage: &wire.Usage{PromptTokens: wire.Number(d.Usage.InputTokens),
				CompletionTokens:    wire.Number(d.Usage.OutputTokens),
				TotalTokens:         wire.Number(d.Usage.TotalTokens),
				PromptTokensDetails: &wire.PromptDetails{CachedTokens: wire.Number(d.Usage.CachedTokens)}}})
	}
}

func (s *chunkWriter) writeEnd() { fmt.Fprint(s.w, "data: [DONE]\n\n") }
