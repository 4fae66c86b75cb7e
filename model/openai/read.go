package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tmaxmax/go-sse"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/wire"
)

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 8 << 20

// errStopped says that the reader of the deltas stopped.
var errStopped = errors.New("the reader stopped")

// reader turns a stream of chunks into deltas.
type reader struct {
	requestID string
	calls     []wire.ToolCall // being assembled, by index
	open      int             // calls from here on have not left yet
	usage     *scrollback.Usage
	finish    string
}

// read yields the deltas of a response. heard is called for each event.
func (s *reader) read(resp *http.Response, heard func(), yield func(model.Delta) bool) error {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return s.readWhole(resp, yield)
	}
	for ev, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
		if err != nil {
			return err
		}
		heard()
		data := strings.TrimSpace(ev.Data)
		if data == "[DONE]" {
			break
		}
		if data == "" {
			continue
		}
		var c wire.Chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return fmt.Errorf("an event that is no chunk")
		}
		if c.Error != nil {
			return upstream(errors.New(c.Error.Message))
		}
		if !s.chunk(c, yield) {
			return errStopped
		}
	}
	return s.end(yield)
}

// readWhole reads the answer of a server that does not stream.
func (s *reader) readWhole(resp *http.Response, yield func(model.Delta) bool) error {
	var r wire.Response
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxEvent)).Decode(&r); err != nil {
		return fmt.Errorf("an answer that is neither a stream nor JSON")
	}
	if len(r.Choices) == 0 {
		return fmt.Errorf("an answer without a choice")
	}
	c := r.Choices[0]
	text, thought := c.Message.Content.Text(), c.Message.Reasoning+c.Message.ReasoningContent
	chunk := wire.Chunk{ID: r.ID, Usage: r.Usage, Choices: []wire.ChunkChoice{{FinishReason: c.FinishReason,
		Delta: wire.Delta{Content: &text, Reasoning: &thought, ToolCalls: c.Message.ToolCalls}}}}
	if !s.chunk(chunk, yield) {
		return errStopped
	}
	return s.end(yield)
}

// chunk takes a chunk in; it answers false when the reader stopped.
func (s *reader) chunk(c wire.Chunk, yield func(model.Delta) bool) bool {
	if c.Usage != nil {
		s.usage = usageOf(*c.Usage)
	}
	if s.requestID == "" {
		s.requestID = c.ID
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		d := model.Delta{}
		for _, t := range []*string{choice.Delta.Reasoning, choice.Delta.ReasoningContent} {
			if t != nil && d.Reasoning == "" { // a server that sends both repeats itself
				d.Reasoning = *t
			}
		}
		for _, t := range []*string{choice.Delta.Content, choice.Delta.Refusal} {
			if t != nil {
				d.Text += *t
			}
		}
		if (d.Text != "" || d.Reasoning != "") && !yield(d) {
			return false
		}
		for _, piece := range choice.Delta.ToolCalls {
			if !s.piece(piece, yield) {
				return false
			}
		}
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			s.finish = *choice.FinishReason
		}
	}
	return true
}

// piece adds to the call it belongs to. A new call sends the ones before it off.
func (s *reader) piece(p wire.ToolCall, yield func(model.Delta) bool) bool {
	i := len(s.calls) - 1
	switch {
	case p.Index != nil:
		i = *p.Index
	case p.ID != "" || i < 0: // servers without indexes begin each call with its id
		i = len(s.calls)
	}
	if i < 0 || i > len(s.calls) {
		i = len(s.calls)
	}
	if i == len(s.calls) {
		if !s.send(i, yield) {
			return false
		}
		s.calls = append(s.calls, wire.ToolCall{})
	}
	c := &s.calls[i]
	if p.ID != "" {
		c.ID = p.ID
	}
	if c.Function.Name == "" {
		c.Function.Name = p.Function.Name
	}
	c.Function.Arguments += p.Function.Arguments
	return true
}

// send yields the calls before index to.
func (s *reader) send(to int, yield func(model.Delta) bool) bool {
	for ; s.open < to; s.open++ {
		c := s.calls[s.open]
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%s_%d", s.requestID, s.open)
		}
		call := scrollback.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: model.Arguments(c.Function.Arguments)}
		if !yield(model.Delta{Call: &call}) {
			return false
		}
	}
	return true
}

// end closes the stream. Without a finish reason the calls that were being
// written are not whole, and nothing says that the answer is.
func (s *reader) end(yield func(model.Delta) bool) error {
	last := model.Delta{Usage: s.usage, RequestID: s.requestID}
	if s.finish != "" {
		if !s.send(len(s.calls), yield) {
			return errStopped
		}
		last.Finish = finishOf(s.finish, len(s.calls) > 0)
	}
	if !yield(last) {
		return errStopped
	}
	return nil
}

// finishOf gives a server's finish reason our name.
func finishOf(reason string, calls bool) string {
	switch reason {
	case "tool_calls", "function_call":
		return scrollback.FinishToolCalls
	case "length", "max_tokens":
		return scrollback.FinishLength
	case "stop", "eos", "end_turn":
		if calls { // some servers say stop after a call
			return scrollback.FinishToolCalls
		}
		return scrollback.FinishStop
	}
	return reason
}

func usageOf(u wire.Usage) *scrollback.Usage {
	out := &scrollback.Usage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, TotalTokens: u.TotalTokens}
	if out.TotalTokens == 0 {
		out.TotalTokens = u.PromptTokens + u.CompletionTokens
	}
	if u.PromptTokensDetails != nil {
		out.CachedTokens = u.PromptTokensDetails.CachedTokens
	} else if u.PromptCacheHitTokens != nil {
		out.CachedTokens = *u.PromptCacheHitTokens
	}
	if u.CompletionTokensDetails != nil {
		out.ReasoningTokens = u.CompletionTokensDetails.ReasoningTokens
	}
	if u.Cost != nil {
		out.Cost, out.Currency = *u.Cost, "USD"
	}
	return out
}
