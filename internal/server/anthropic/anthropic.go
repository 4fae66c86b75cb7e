// Package anthropic is the face of Anthropic's API: messages, the count of their tokens, and what Claude Code asks to
// find out whether somebody is there.
//
// It decodes what only the API says of a request, and encodes answers. It may not know the engine's turns, nor another
// face.
package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Mount mounts the face.
func Mount(mux *http.ServeMux, o faces.Options) {
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) {
		o.Answer(w, r, threading.Messages, func(body []byte, to *door.Request) {
			to.Stream = faces.WantsStream(body, false)
		}, func(s *faces.Stream) door.Writer { return &messageWriter{Stream: s} })
	})
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, r *http.Request) {
		countTokens(w, r, o)
	})
	mux.HandleFunc("GET /api/hello", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
}

// countTokens answers how many tokens a request has.
func countTokens(w http.ResponseWriter, r *http.Request, o faces.Options) {
	s := faces.NewStream(w)
	body, err := o.ReadBody(r)
	if err != nil {
		refuse(s, err)
		return
	}
	ctx, cancel := faces.Deadline(r.Context())
	defer cancel()
	count, err := o.Door.CountTokens(ctx, o.View(r), &door.Request{Dialect: threading.Messages, Body: body,
		Header: r.Header, OwnCredential: access.SentOwnKey(r.Context())})
	switch {
	case err != nil:
		refuse(s, err)
	case count.Head != nil:
		s.Forward(*count.Head, "")
		s.Write(count.Body)
	default:
		s.Begin("application/json", "")
		s.WriteJSON(map[string]int64{"input_tokens": count.Tokens})
	}
}

// threadDetails are what a client is told of a thread that it cannot go on with: it sends its history once more.
type threadDetails struct {
	Code string `json:"error_code"`
}

// refuse writes an error as the whole response.
func refuse(s *faces.Stream, err error) {
	fault := s.FaultOf(err)
	if !errors.Is(err, door.ErrUnknownAnswer) {
		s.Refuse(fault.Status, newErrorBody(fault))
		return
	}
	fault.Status = http.StatusNotFound
	fault.Param = "thread"
	body := newErrorBody(fault)
	body.Error.Details = threadDetails{"thread_not_found"}
	s.Refuse(fault.Status, body)
}

// newErrorBody returns an error as the API has it.
func newErrorBody(f faces.Fault) faces.ErrorBody {
	f.Message = f.SayTooLong()
	return faces.NewErrorBody(f, faces.AnthropicTypes, "api_error")
}

// payload is what the client of Anthropic's API keeps of a block of thinking. Those of other models have none of its
// fields.
type payload struct {
	Signature string `json:"signature"`
	Redacted  string `json:"redacted"`
}

func readPayload(opaque []byte) (p payload) {
	if len(opaque) == 0 || json.Unmarshal(opaque, &p) != nil {
		return payload{}
	}
	return p
}
