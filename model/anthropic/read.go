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

// reader reads one answer.
type reader struct {
	a    *remote.Answer
	turn *turn

	cur   *reading             // the block that is being written
	open  bool                 // text or reasoning is, which a new block would be taken for more of
	held  *scrollback.ToolCall // whole, if the answer was not cut off behind it
	calls int
	web   bool   // the server may search the web
	last  string // the type of the last block that was text or thinking
	gap   bool   // something stood between the last text and what comes
	found remote.Finding
	said  []any // the blocks so far, for a pause

	usage  usage
	reason string // why it ended
}

// frame is one event of a stream.
type frame struct {
	Type    string          `json:"type"`
	Index   count           `json:"index"`
	Message *whole          `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   struct {
		piece
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// whole is a message that is not streamed, or the head of one that is.
type whole struct {
	Type       string            `json:"type"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      json.RawMessage   `json:"usage"`
	Error      json.RawMessage   `json:"error"`
}

// read reads the answer to its end. One that ends without a reason was cut off: it gets no
// finish reason.
func (r *reader) read() error {
	if id := cmp.Or(r.a.Header("Request-Id"), r.a.Header("X-Request-Id")); id != "" {
		if err := r.a.Emit(model.Delta{RequestID: id}); err != nil {
			return err
		}
	}
	if !r.a.Streams() {
		return r.unstreamed()
	}
	for ev, err := range r.a.Events() {
		if err != nil {
			return err
		}
		if ev.Data == "[DONE]" {
			break
		}
		var f frame
		if !readable(json.Unmarshal([]byte(ev.Data), &f)) {
			return r.a.Unreadable([]byte(ev.Data))
		}
		if f.Type == "error" || given(f.Error) {
			return r.a.Problem([]byte(ev.Data))
		}
		done, err := r.take(f)
		if err != nil {
			return err
		}
		if done {
			break
		}
	}
	return r.end()
}

// readable reports whether a value was JSON. A field of another type than expected is
// ignored.
func readable(err error) bool {
	var mistyped *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mistyped)
}

// given reports whether a field is present.
func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// unstreamed reads an answer of a server that does not stream, though it was asked to.
func (r *reader) unstreamed() error {
	raw, err := r.a.Whole()
	if err != nil {
		return err
	}
	var m whole
	switch ok := readable(json.Unmarshal(raw, &m)); {
	case ok && (m.Type == "error" || given(m.Error)):
		return r.a.Problem(raw)
	case !ok || m.Type != "message":
		return r.a.Unreadable(raw)
	}
	for i, b := range m.Content {
		if err := r.begin(b, int64(i)); err != nil {
			return err
		}
	}
	r.usage.merge(m.Usage)
	r.reason = m.StopReason
	if err := r.close(); err != nil {
		return err
	}
	return r.end()
}

// take handles one event. Unknown ones are ignored.
func (r *reader) take(f frame) (done bool, err error) {
	switch f.Type {
	case "message_start":
		if f.Message != nil {
			return false, r.account(f.Message.Usage)
		}
	case "content_block_start":
		return false, r.begin(f.Block, f.Index.n)
	case "content_block_delta":
		return false, r.more(f.Delta.piece, f.Index.n)
	case "content_block_stop":
		return false, r.close()
	case "message_delta":
		r.reason = cmp.Or(f.Delta.StopReason, r.reason)
		r.usage.merge(f.Usage) // told with the end
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// account adds what the answer has consumed so far, and emits it: if the answer is cut
// off, that is all there is.
func (r *reader) account(raw json.RawMessage) error {
	if !given(raw) {
		return nil
	}
	r.usage.merge(raw)
	sum := r.usage.with(r.turn.usage)
	return r.a.Emit(model.Delta{Usage: &sum})
}

// end emits how the answer ended, if it says so.
func (r *reader) end() error {
	finish := map[string]string{"end_turn": scrollback.FinishStop, "stop_sequence": scrollback.FinishStop,
		"tool_use":   scrollback.FinishStop,
		"max_tokens": scrollback.FinishLength, "model_context_window_exceeded": scrollback.FinishLength,
		"refusal": "content_filter", paused: paused}[r.reason]
	if r.cur != nil { // it was cut off within a block
		if err := r.cut(); err != nil {
			return err
		}
	}
	if c := r.held; c != nil && finish == scrollback.FinishLength &&
		(!json.Valid(c.Arguments) || string(c.Arguments) == "{}") {
		r.held = nil // nobody knows how it would have gone on
	}
	if err := r.release(); err != nil {
		return err
	}
	if r.reason == "" {
		return nil
	}
	finish = cmp.Or(finish, r.reason)
	if finish == scrollback.FinishStop && r.calls > 0 {
		finish = scrollback.FinishToolCalls
	}
	sum := r.usage.with(r.turn.usage)
	if finish == paused {
		if r.turn.pauses++; r.turn.pauses > maxPauses || len(r.said) == 0 {
			finish = scrollback.FinishLength // it would continue, but is not asked to any more
		} else {
			r.turn.said = append(r.turn.said, r.said...)
			r.turn.usage = sum
		}
	}
	return r.a.Emit(model.Delta{Usage: &sum, Finish: finish})
}

// release lets the last call go: it is whole.
func (r *reader) release() error {
	c := r.held
	if c == nil {
		return nil
	}
	r.held = nil
	r.calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d", r.calls)
	}
	c.Arguments = model.Arguments(string(c.Arguments))
	return r.a.Emit(model.Delta{Call: c})
}
