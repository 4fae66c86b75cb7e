package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// answerReader reads one answer.
type answerReader struct {
	a    *remote.Answer
	turn *answerTurn

	cur   *openBlock           // the block that is being written
	open  bool                 // text or reasoning is, which a new block would be taken for more of
	held  *scrollback.ToolCall // whole, if the answer was not cut off behind it
	calls int
	web   bool   // the server may search the web
	last  string // the type of the last block that was text or thinking
	gap   bool   // something stood between the last text and what comes
	found remote.Finding
	said  []any // the blocks so far, for a pause

	usage  answerUsage
	reason string // why it ended
}

// streamFrame is one event of a stream.
type streamFrame struct {
	Type    string          `json:"type"`
	Index   usageCount      `json:"index"`
	Message *wholeMessage   `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   struct {
		blockPiece
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// wholeMessage is a message that is not streamed, or the head of one that is.
type wholeMessage struct {
	Type       string            `json:"type"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      json.RawMessage   `json:"usage"`
	Error      json.RawMessage   `json:"error"`
}

// readAnswer reads the answer to its end. One that ends without a reason was cut off: it gets no
// finish reason.
func (r *answerReader) readAnswer() error {
	if id := cmp.Or(r.a.Header("Request-Id"), r.a.Header("X-Request-Id")); id != "" {
		if err := r.a.EmitDelta(model.Delta{RequestID: id}); err != nil {
			return err
		}
	}
	if !r.a.IsStream() {
		return r.readWhole()
	}
	for ev, err := range r.a.Events() {
		if err != nil {
			return err
		}
		if ev.Data == "[DONE]" {
			break
		}
		var f streamFrame
		if !isReadable(json.Unmarshal([]byte(ev.Data), &f)) {
			return r.a.UnreadableError([]byte(ev.Data))
		}
		if f.Type == "error" || isPresent(f.Error) {
			return r.a.ProblemError([]byte(ev.Data))
		}
		done, err := r.takeFrame(f)
		if err != nil {
			return err
		}
		if done {
			break
		}
	}
	return r.emitEnd()
}

// isReadable reports whether a value was JSON. A field of another type than expected is
// ignored.
func isReadable(err error) bool {
	var mistyped *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mistyped)
}

// isPresent reports whether a field is present.
func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// readWhole reads an answer of a server that does not stream, though it was asked to.
func (r *answerReader) readWhole() error {
	raw, err := r.a.ReadWhole()
	if err != nil {
		return err
	}
	var m wholeMessage
	switch ok := isReadable(json.Unmarshal(raw, &m)); {
	case ok && (m.Type == "error" || isPresent(m.Error)):
		return r.a.ProblemError(raw)
	case !ok || m.Type != "message":
		return r.a.UnreadableError(raw)
	}
	for i, b := range m.Content {
		if err := r.beginBlock(b, int64(i)); err != nil {
			return err
		}
	}
	r.usage.mergeReport(m.Usage)
	r.reason = m.StopReason
	if err := r.endBlock(); err != nil {
		return err
	}
	return r.emitEnd()
}

// takeFrame handles one event. Unknown ones are ignored.
func (r *answerReader) takeFrame(f streamFrame) (done bool, err error) {
	switch f.Type {
	case "message_start":
		if f.Message != nil {
			return false, r.addUsage(f.Message.Usage)
		}
	case "content_block_start":
		return false, r.beginBlock(f.Block, f.Index.n)
	case "content_block_delta":
		return false, r.addPiece(f.Delta.blockPiece, f.Index.n)
	case "content_block_stop":
		return false, r.endBlock()
	case "message_delta":
		r.reason = cmp.Or(f.Delta.StopReason, r.reason)
		r.usage.mergeReport(f.Usage) // told with the end
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// addUsage adds what the answer has consumed so far, and emits it: if the answer is cut
// off, that is all there is.
func (r *answerReader) addUsage(raw json.RawMessage) error {
	if !isPresent(raw) {
		return nil
	}
	r.usage.mergeReport(raw)
	sum := r.usage.addEarlier(r.turn.usage)
	return r.a.EmitDelta(model.Delta{Usage: &sum})
}

// emitEnd emits how the answer ended, if it says so.
func (r *answerReader) emitEnd() error {
	finish := map[string]string{"end_turn": scrollback.FinishStop, "stop_sequence": scrollback.FinishStop,
		"tool_use":   scrollback.FinishStop,
		"max_tokens": scrollback.FinishLength, "model_context_window_exceeded": scrollback.FinishLength,
		"refusal": "content_filter", paused: paused}[r.reason]
	if r.cur != nil { // it was cut off within a block
		if err := r.cutBlock(); err != nil {
			return err
		}
	}
	if c := r.held; c != nil && finish == scrollback.FinishLength &&
		(!json.Valid(c.Arguments) || string(c.Arguments) == "{}") {
		r.held = nil // nobody knows how it would have gone on
	}
	if err := r.releaseCall(); err != nil {
		return err
	}
	if r.reason == "" {
		return nil
	}
	finish = cmp.Or(finish, r.reason)
	if finish == scrollback.FinishStop && r.calls > 0 {
		finish = scrollback.FinishToolCalls
	}
	sum := r.usage.addEarlier(r.turn.usage)
	if finish == paused {
		if r.turn.pauses++; r.turn.pauses > maxPauses || len(r.said) == 0 {
			finish = scrollback.FinishLength // it would continue, but is not asked to any more
		} else {
			r.turn.said = append(r.turn.said, r.said...)
			r.turn.usage = sum
		}
	}
	return r.a.EmitDelta(model.Delta{Usage: &sum, Finish: finish})
}

// releaseCall lets the last call go: it is whole.
func (r *answerReader) releaseCall() error {
	c := r.held
	if c == nil {
		return nil
	}
	r.held = nil
	r.calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d", r.calls)
	}
	c.Arguments = model.ParseArguments(string(c.Arguments))
	return r.a.EmitDelta(model.Delta{Call: c})
}
