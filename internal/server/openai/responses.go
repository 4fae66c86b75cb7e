package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
)

// mountResponses mounts the API of responses.
func mountResponses(mux *http.ServeMux, o faces.Options) {
	f := responsesFace{o}
	mux.HandleFunc("POST /v1/responses", f.answer)
	mux.HandleFunc("GET /v1/responses", f.connect)
	mux.HandleFunc("POST /v1/responses/compact", f.compact)
	mux.HandleFunc("POST /v1/responses/input_tokens", f.countInput)
	mux.HandleFunc("POST /v1/conversations", f.createConversation)
	mux.HandleFunc("GET /v1/conversations/{id}", f.getConversation)
	mux.HandleFunc("POST /v1/conversations/{id}", f.updateConversation)
	mux.HandleFunc("GET /v1/conversations/{id}/items", f.listConversation)
	mux.HandleFunc("POST /v1/conversations/{id}/items", f.addItems)
	mux.HandleFunc("GET /v1/responses/{id}", f.retrieve)
	mux.HandleFunc("DELETE /v1/responses/{id}", f.remove)
	mux.HandleFunc("POST /v1/responses/{id}/cancel", f.cancel)
	mux.HandleFunc("GET /v1/responses/{id}/input_items", f.listInput)
}

// responsesFace is the API of responses.
type responsesFace struct{ o faces.Options }

// answer answers a request.
func (f responsesFace) answer(w http.ResponseWriter, r *http.Request) {
	out := &responseWriter{after: -1, ask: &responseAsk{echo: plainEcho()}}
	f.o.Answer(w, r, threading.Responses, func(body []byte, to *door.Request) {
		out.ask = readAsk(body)
		to.Stream = faces.WantsStream(body, false)
		to.Transient = !out.ask.echo.Store
		to.Keep = out.ask
		out.streamed = to.Stream
	}, func(s *faces.Stream) door.Writer {
		out.to = httpSink{s}
		return out
	})
	out.finish()
}

// httpSink sends an answer as a response of HTTP.
type httpSink struct{ *faces.Stream }

func (s httpSink) begin(of scrollback.ConversationID) { s.Begin("text/event-stream", of) }

func (s httpSink) event(name string, data []byte) { s.WriteData(name, data) }

func (s httpSink) whole(of scrollback.ConversationID, body []byte) {
	s.Begin("application/json", of)
	s.Write(body)
}

func (s httpSink) forward(h model.ResponseHead, of scrollback.ConversationID) { s.Forward(h, of) }

func (s httpSink) pass(h model.ResponseHead, of scrollback.ConversationID, body []byte) {
	s.Forward(h, of)
	s.Write(body)
}

func (s httpSink) refuse(f faces.Fault) { s.Refuse(f.Status, newErrorBody(f)) }

func (s httpSink) fault(err error) faces.Fault { return faultOf(s.Stream, err) }

func (s httpSink) endsOnce() bool { return false }

// faultOf returns an error as the clients of responses are told it.
func faultOf(s *faces.Stream, err error) faces.Fault {
	f := s.FaultOf(err)
	if errors.Is(err, door.ErrUnknownAnswer) && f.Status == http.StatusBadRequest {
		f.Code = "previous_response_not_found"
	}
	return f
}

// refuse writes an error as the whole response.
func refuse(w http.ResponseWriter, err error) {
	s := faces.NewStream(w)
	f := faultOf(s, err)
	s.Refuse(f.Status, newErrorBody(f))
}

// writeObject writes a value as the whole response.
func writeObject(w http.ResponseWriter, v any) {
	s := faces.NewStream(w)
	s.Begin("application/json", "")
	s.WriteJSON(v)
}

// askOf returns what the face read of the request of an answer that was found.
func askOf(found *door.Found) *responseAsk {
	if ask, ok := found.Keep.(*responseAsk); ok {
		return ask
	}
	return &responseAsk{echo: plainEcho(), encrypted: true}
}

// find finds an answer; it writes an error if it cannot.
func (f responsesFace) find(w http.ResponseWriter, r *http.Request) *door.Found {
	found, err := f.o.Door.Find(r.Context(), f.o.View(r), "", r.PathValue("id"))
	if err != nil {
		refuse(w, err)
		return nil
	}
	return found
}

// retrieve returns an answer: as it is, or the events of it that a client has not seen.
func (f responsesFace) retrieve(w http.ResponseWriter, r *http.Request) {
	after := -1
	q := r.URL.Query()
	if s := q.Get("starting_after"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			refuse(w, scrollback.ParamErrorf("openai", "starting_after", i18n.FieldOutOfRange, "starting_after"))
			return
		}
		after = n
	}
	found := f.find(w, r)
	if found == nil {
		return
	}
	if q.Get("stream") != "true" {
		f.write(w, r, found)
		return
	}
	out := &responseWriter{to: httpSink{faces.NewStream(w)}, ask: askOf(found), streamed: true, after: after,
		jumps: found.Stored}
	found.Read(r.Context(), out)
	out.finish()
}

// write writes an answer as far as it has come.
func (f responsesFace) write(w http.ResponseWriter, r *http.Request, found *door.Found) {
	sink := &heldSink{Stream: faces.NewStream(w)}
	out := &responseWriter{to: sink, ask: askOf(found), after: -1, began: true}
	if found.Has(out) {
		out.finish()
	}
	if sink.body == nil {
		sink.body = out.describe()
	}
	sink.Begin("application/json", found.Head.Conversation)
	sink.Write(sink.body)
}

// heldSink keeps an answer that is not a stream.
type heldSink struct {
	*faces.Stream
	body []byte
}

func (s *heldSink) begin(scrollback.ConversationID)                       {}
func (s *heldSink) event(string, []byte)                                  {}
func (s *heldSink) forward(model.ResponseHead, scrollback.ConversationID) {}
func (s *heldSink) whole(_ scrollback.ConversationID, body []byte)        { s.body = body }
func (s *heldSink) pass(_ model.ResponseHead, _ scrollback.ConversationID, body []byte) {
	s.body = body
}
func (s *heldSink) refuse(faces.Fault)          {}
func (s *heldSink) fault(err error) faces.Fault { return faultOf(s.Stream, err) }
func (s *heldSink) endsOnce() bool              { return false }

// describe returns an answer that is not complete: it runs, has failed or was stopped.
func (w *responseWriter) describe() []byte {
	if w.passed != nil && len(w.passed.created) > 0 {
		return w.passed.created
	}
	w.close()
	body, err := json.Marshal(w.out)
	if err != nil {
		return []byte("{}") // our own values are always JSON: not reached
	}
	return body
}

// remove lets an answer not be found any more.
func (f responsesFace) remove(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := f.o.Door.Forget(r.Context(), f.o.View(r), "", id); err != nil {
		refuse(w, err)
		return
	}
	writeObject(w, map[string]any{"id": id, "object": "response", "deleted": true})
}

// cancel stops an answer that runs.
func (f responsesFace) cancel(w http.ResponseWriter, r *http.Request) {
	found := f.find(w, r)
	if found == nil {
		return
	}
	found.Cancel(r.Context())
	f.write(w, r, found)
}
