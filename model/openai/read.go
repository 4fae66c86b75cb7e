package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// chunkReader turns the chunks of a completion into deltas.
type chunkReader struct {
	a         *remote.Answer
	requestID string
	calls     callGatherer
	usage     *scrollback.Usage
	credits   *model.Credits
	finish    string
	said      bool // text or reasoning

	field    string // in which reasoning came that has not got its payload yet
	thinking bool   // reasoning is the part that is being written
	closed   bool   // some reasoning has its payload
	details  fieldFragments
	inChunk  fieldFragments // fields of a thought in the content
	choice   int64          // which of several choices is read
	chosen   bool
	waiting  []wire.ChunkChoice // pieces of choices other than 0, until it is clear which is read
	found    remote.Finding
	inText   thoughts.Splitter // finds what was thought in what is said
}

// readAnswer emits what an answer says, streamed or not.
func (s *chunkReader) readAnswer() error {
	s.requestID = s.a.Header("X-Request-Id")
	if !s.a.IsStream() {
		return s.readWhole()
	}
	for ev, err := range s.a.Events() {
		if err != nil {
			if err := s.settleChoice(); err != nil {
				return err
			}
		}
		if err != nil && s.finish != "" {
			break // everything was said
		}
		if err != nil {
			return err
		}
		if ev.Data == "[DONE]" {
			break
		}
		if ev.Type == "error" || isErrorBody([]byte(ev.Data)) {
			return s.a.ProblemError([]byte(ev.Data))
		}
		var c wire.Chunk
		if err := json.Unmarshal([]byte(ev.Data), &c); err != nil {
			return s.a.UnreadableError([]byte(ev.Data))
		}
		if err := s.takeChunk(c); err != nil {
			return err
		}
	}
	return s.endStream()
}

// isErrorBody reports whether JSON holds an error, in one of the forms that servers have for
// it, and not an answer.
func isErrorBody(raw []byte) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		raw = list[0] // as Google's servers have it
	}
	var e struct {
		Error, Errors, Detail, Message, Msg, Choices, Usage json.RawMessage
		ErrorMsg                                            json.RawMessage `json:"error_msg"`
		ErrorMessage                                        json.RawMessage `json:"error_message"`
		ErrorMessageToo                                     json.RawMessage `json:"errorMessage"`
		ErrorCode                                           wire.Number     `json:"error_code"`
		Success                                             *bool
		Code                                                wire.Word
		Base                                                struct {
			Status wire.Number `json:"status_code"`
		} `json:"base_resp"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return false
	}
	if isPresent(e.Error) || e.Base.Status != 0 || e.ErrorCode != 0 {
		return true
	}
	if isPresent(e.Choices) || isPresent(e.Usage) {
		return false
	}
	for _, words := range []json.RawMessage{e.Errors, e.Detail, e.Message, e.Msg, e.ErrorMsg, e.ErrorMessage,
		e.ErrorMessageToo} {
		if isPresent(words) {
			return true
		}
	}
	return e.Success != nil && !*e.Success
}

// isPresent reports whether a field holds anything, such as an error.
func isPresent(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

// readWhole reads the answer of a server that does not stream.
func (s *chunkReader) readWhole() error {
	raw, err := s.a.ReadWhole()
	if err != nil {
		return err
	}
	var r wire.Response
	if isErrorBody(raw) {
		return s.a.ProblemError(raw)
	}
	if json.Unmarshal(raw, &r) != nil || len(r.Choices) == 0 {
		return s.a.UnreadableError(raw)
	}
	c := r.Choices[0]
	chunk := wire.Chunk{ID: r.ID, Usage: r.Usage,
		Choices: []wire.ChunkChoice{{Message: &c.Message, Text: c.Text, FinishReason: c.FinishReason, Usage: c.Usage,
			Error: c.Error}}}
	if err := s.takeChunk(chunk); err != nil {
		return err
	}
	return s.endStream()
}

// wholeDelta returns a message as one delta.
func wholeDelta(msg wire.Message) wire.Delta {
	for i := range msg.ToolCalls { // each of them is a whole call
		at := wire.Number(i)
		msg.ToolCalls[i].Index = &at
	}
	return wire.Delta{Content: msg.Content, Reasoning: msg.Reasoning, ReasoningContent: msg.ReasoningContent,
		ReasoningDetails: msg.ReasoningDetails, Refusal: msg.Refusal, ToolCalls: msg.ToolCalls,
		FunctionCall: msg.FunctionCall,
		Annotations:  msg.Annotations, Beside: msg.Beside}
}

// takeChunk handles a chunk.
func (s *chunkReader) takeChunk(c wire.Chunk) error {
	s.noteUsage(c.Usage)
	if s.requestID == "" {
		s.requestID = string(c.ID)
	}
	for _, choice := range c.Choices {
		if !s.chosen && choice.Index != 0 { // the only choice may have any index
			s.waiting = append(s.waiting, choice)
			if len(s.waiting) < interleaved {
				continue
			}
			if err := s.settleChoice(); err != nil {
				return err
			}
			continue
		}
		if !s.chosen {
			s.chosen = true
			s.waiting = nil
		}
		if int64(choice.Index) != s.choice {
			continue
		}
		if err := s.takeChoice(choice); err != nil {
			return err
		}
	}
	return nil
}

// interleaved is how many pieces of other choices are waited for before it is clear that
// there is none with index 0.
const interleaved = 8

// settleChoice reads the choice that came, where there is none with index 0.
func (s *chunkReader) settleChoice() error {
	if s.chosen || len(s.waiting) == 0 {
		return nil
	}
	list := s.waiting
	s.chosen = true
	s.choice = int64(list[0].Index)
	s.waiting = nil
	for _, c := range list {
		if int64(c.Index) == s.choice {
			if err := s.takeChoice(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeChoice handles a piece of the choice that is read.
func (s *chunkReader) takeChoice(choice wire.ChunkChoice) error {
	if isPresent(choice.Error) {
		return s.a.ProblemError(choice.Error)
	}
	s.noteUsage(choice.Usage)
	d := choice.Delta
	// and not what was streamed once more
	if choice.Message != nil && !s.said && len(s.calls.list) == 0 && len(d.Content)+len(d.ToolCalls) == 0 {
		d = wholeDelta(*choice.Message)
	}
	if choice.Text != "" && len(d.Content) == 0 {
		d.Content = wire.Content{{Type: "text", Text: choice.Text}}
	}
	if err := s.takeDelta(d); err != nil {
		return err
	}
	if choice.FinishReason != nil && *choice.FinishReason != "" {
		s.finish = *choice.FinishReason
	}
	return nil
}

// noteUsage records usage; the last one stands, and null counts nothing.
func (s *chunkReader) noteUsage(u *wire.Usage) {
	if u == nil {
		return
	}
	s.usage = readUsage(*u)
	if u.Cost != nil {
		s.credits = &model.Credits{Amount: float64(*u.Cost), Currency: "USD"}
	}
}

// takeDelta takes a piece of a message. Of thoughts and texts in one content, each is taken by itself:
// they go back in the order in which they came.
//
//nolint:gocognit // one piece after the other, in the order in which they stand in a chunk
func (s *chunkReader) takeDelta(d wire.Delta) error {
	for len(d.Content) > 1 && d.Content.Thought() != "" {
		n := 1
		for n < len(d.Content) && d.Content[n].Type != "thinking" && d.Content[n-1].Type != "thinking" {
			n++
		}
		if n == len(d.Content) {
			break
		}
		if err := s.takeDelta(wire.Delta{Content: d.Content[:n]}); err != nil {
			return err
		}
		if d.Content[n-1].Type == "thinking" && d.Content[n].Type == "thinking" {
			if err := s.endReasoning(); err != nil {
				return err
			}
		}
		d.Content = d.Content[n:]
	}
	for _, a := range d.Annotations {
		if c := a.URLCitation; c != nil {
			s.found.AddPage(scrollback.Source{Title: c.Title, URL: c.URL, Text: c.Content})
		}
	}
	thought := d.Content.Thought()
	field := ""
	if thought != "" {
		field = inContent
	}
	for _, f := range []struct {
		name string
		text *string
	}{{"reasoning_content", d.ReasoningContent}, {"reasoning", d.Reasoning}} {
		if f.text != nil && thought == "" { // a server that sends both repeats itself
			thought = *f.text
			if *f.text != "" || s.field == "" && !s.said && !s.closed {
				field = f.name
			}
		}
	}
	beside := keptBeside(d.Beside)
	for _, name := range wordsOf {
		var words string
		if raw, ok := beside[name]; ok && json.Unmarshal(raw, &words) == nil {
			delete(beside, name)
			if thought == "" {
				thought = words
				field = name
			}
		}
	}
	for _, p := range d.Content {
		s.inChunk.addPieces(p.Beside)
	}
	if len(d.ReasoningDetails) > 0 {
		var raw bytes.Buffer
		raw.WriteByte('[')
		for i, piece := range d.ReasoningDetails {
			if i > 0 {
				raw.WriteByte(',')
			}
			raw.Write(piece)
		}
		raw.WriteByte(']')
		s.details.addPieces(wire.Beside{"reasoning_details": raw.Bytes()})
	}
	s.details.addPieces(beside)
	if err := s.a.CountPayload(s.details.size + s.inChunk.size); err != nil {
		return err
	}
	if field != "" {
		s.field = field
	}
	if thought != "" {
		s.said = true
		s.thinking = true
		if err := s.a.EmitDelta(model.Delta{Reasoning: thought}); err != nil {
			return err
		}
	}
	text := d.Content.Text()
	if d.Refusal != nil {
		text += *d.Refusal
	}
	if text != "" {
		// else it belongs to all of the message
		if s.thinking || s.field != "" || s.details.fields["reasoning_details"] != nil {
			if err := s.endReasoning(); err != nil {
				return err
			}
		}
		s.said = true
		if err := s.a.EmitPieces(s.inText.Add(text)); err != nil {
			return err
		}
	}
	if d.FunctionCall != nil && len(d.ToolCalls) == 0 && (d.FunctionCall.Name != "" || d.FunctionCall.Arguments != "") {
		d.ToolCalls = []wire.ToolCall{{Function: *d.FunctionCall}}
	}
	for _, piece := range d.ToolCalls {
		if err := s.a.CountArguments(len(piece.Function.Arguments) + len(piece.Function.Name) + len(piece.ExtraContent) +
			len(piece.ProviderSpecificFields) + piece.Beside.ByteSize() + piece.Function.Beside.ByteSize()); err != nil {
			return err
		}
		if err := s.calls.addPiece(piece, s.a.MaxCalls()); err != nil {
			return err
		}
	}
	return nil
}

// endReasoning ends reasoning with its payload: what is needed to send it back as it came.
func (s *chunkReader) endReasoning() error {
	t := thoughtPayload{Field: s.field, Beside: s.details.takeFields(), Chunk: s.inChunk.takeFields()}
	if raw, ok := t.Beside["reasoning_details"]; ok {
		delete(t.Beside, "reasoning_details")
		_ = json.Unmarshal(raw, &t.Details) // a list, as it was put together
	}
	if t.Field == "" && len(t.Details)+len(t.Beside) == 0 {
		return nil
	}
	if t.Field == "" {
		t.Field = fieldless
	}
	if !s.thinking { // it is a separate part, and belongs to no text
		if err := s.a.EmitDelta(model.Delta{End: true}); err != nil {
			return err
		}
	}
	s.field = ""
	s.thinking = false
	s.closed = true
	return s.a.EmitDelta(model.Delta{Opaque: t.toOpaque()})
}

// failures are finish reasons of servers that broke an answer off.
var failures = map[string]bool{"insufficient_system_resource": true, "error": true, "network_error": true,
	"server_error": true,
	"abort":        true, "aborted": true, "cancelled": true, "canceled": true, "timeout": true, "engine_overloaded": true}

// endStream closes the stream. Without a finish reason the calls that were being
// written are not whole, and nothing says that the answer is.
func (s *chunkReader) endStream() error {
	if err := s.settleChoice(); err != nil {
		return err
	}
	if failures[s.finish] {
		return s.a.BrokenOffError(s.finish)
	}
	if s.finish == "length" && !s.said && len(s.calls.list) == 0 && (s.usage == nil || s.usage.OutputTokens == 0) {
		return s.a.CutError(s.usage) // the server took a part of the request only, and had no room left
	}
	if err := s.a.EmitPieces(s.inText.End()); err != nil {
		return err
	}
	if err := s.found.EmitSearch(s.a); err != nil {
		return err
	}
	if err := s.endReasoning(); err != nil {
		return err
	}
	last := model.Delta{Usage: s.usage, Credits: s.credits, RequestID: s.requestID}
	if s.finish != "" {
		reason := finishOf(s.finish, false)
		calls := s.calls.finishCalls(s.requestID, reason != scrollback.FinishStop, !s.said)
		for _, c := range calls {
			if err := s.a.EmitDelta(model.Delta{Call: &c}); err != nil {
				return err
			}
		}
		last.Finish = finishOf(s.finish, len(calls) > 0)
	}
	return s.a.EmitDelta(last)
}

// finishOf gives a server's finish reason our name.
func finishOf(reason string, calls bool) string {
	switch reason = strings.ToLower(reason); reason {
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return scrollback.FinishLength
	case "tool_calls", "tool_use", "function_call", "stop", "eos", "end_turn", "stop_sequence", "completed", "complete":
		if calls { // some servers say stop after a call
			return scrollback.FinishToolCalls
		}
		return scrollback.FinishStop
	case "refusal":
		return "content_filter"
	}
	for _, sign := range []string{"content_filter", "sensitive", "safety", "prohibited", "blocklist", "blocked",
		"recitation", "spii", "guardrail", "moderat"} {
		if strings.Contains(reason, sign) {
			return "content_filter"
		}
	}
	return reason
}
