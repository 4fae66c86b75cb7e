package openai

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/model"
)

// passedResponse is an answer of a model's server on its way.
type passedResponse struct {
	head     model.ResponseHead
	of       scrollback.ConversationID
	streamed bool
	body     []byte          // if it is not a stream
	created  json.RawMessage // the response as the first event had it, or the last
	// last is the event that ends the stream. It is held back until the answer is stored.
	last *heldEvent
}

type heldEvent struct {
	name string
	data []byte
	seen bool // by a client that resumes
}

// passedEvent is what is read of an event.
type passedEvent struct {
	Type     string          `json:"type"`
	Number   *int            `json:"sequence_number"`
	Response json.RawMessage `json:"response"`
	Item     json.RawMessage `json:"item"`
}

// Forward implements [door.Writer]. What is not a stream is held back until all of it is there: it may yet fail.
func (w *responseWriter) Forward(h model.ResponseHead, of scrollback.ConversationID) {
	streamed := faces.IsStream(h)
	w.passed = &passedResponse{head: h, of: of, streamed: streamed}
	if !streamed || !w.streamed {
		return
	}
	w.began = true
	w.to.forward(h, of)
}

// Frame implements [door.Writer].
func (w *responseWriter) Frame(b []byte) {
	p := w.passed
	if !p.streamed {
		p.body = append(p.body, b...)
		return
	}
	data := door.EventData(b)
	var e passedEvent
	if json.Unmarshal(data, &e) != nil || e.Type == "" {
		return // a comment, or what ends the stream of another API
	}
	if e.Number != nil {
		w.number = *e.Number
	}
	at := w.number
	w.number++
	switch e.Type {
	case "response.created":
		p.created = e.Response
	case "response.output_item.done":
		if w.done != nil {
			w.done(e.Item)
		}
	case "error":
		if w.to.endsOnce() { // the failed response says so too
			return
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		p.created = e.Response
		p.last = &heldEvent{e.Type, data, at <= w.after}
		return
	}
	if w.streamed && at > w.after {
		w.to.event(e.Type, data)
	}
}

// EndForward implements [door.Writer]. Whoever asked calls finish.
func (w *responseWriter) EndForward() {}

// endPassed sends the event that ends a stream.
func (w *responseWriter) endPassed() {
	w.ended = true
	if last := w.passed.last; w.streamed && !last.seen {
		w.to.event(last.name, last.data)
	}
}

// failPassed ends a stream that was cut.
func (w *responseWriter) failPassed() {
	fault, err := json.Marshal(w.out.Error)
	if err != nil {
		return // texts are always JSON: not reached
	}
	form := splice.Form{}
	w.passed.created = form.SetField(w.passed.created, 0, "status", json.RawMessage(`"`+w.out.Status+`"`))
	w.passed.created = form.SetField(w.passed.created, 0, "error", fault)
	data, err := json.Marshal(struct {
		Type     string          `json:"type"`
		Number   int             `json:"sequence_number"`
		Response json.RawMessage `json:"response"`
	}{"response.failed", w.number, w.passed.created})
	if err == nil && w.streamed {
		w.to.event("response.failed", data)
	}
}
