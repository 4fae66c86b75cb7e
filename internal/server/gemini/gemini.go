// Package gemini is the face of Google's Gemini API: generateContent, as a stream and not, and the count of tokens.
//
// It decodes what only the API says of a request, and encodes answers. Its clients take nothing for the line of a
// stream that is not data: there are no comments. It may not know the engine's turns, nor another face.
package gemini

import (
	"net/http"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Mount mounts the face.
func Mount(mux *http.ServeMux, o faces.Options) {
	call := func(w http.ResponseWriter, r *http.Request) { answerCall(w, r, o) }
	mux.HandleFunc("POST /v1beta/models/{call...}", call)
	mux.HandleFunc("POST /v1/models/{call...}", call)
}

// answerCall answers MODEL:VERB. Models of some servers have a colon in their name.
func answerCall(w http.ResponseWriter, r *http.Request, o faces.Options) {
	call := r.PathValue("call")
	at := max(strings.LastIndex(call, ":"), 0)
	name := call[:at]
	switch verb := call[at:]; {
	case name == "":
		refuseCall(w, r)
	case verb == ":generateContent", verb == ":streamGenerateContent":
		streams := verb != ":generateContent"
		var answer *contentWriter
		o.Answer(w, r, threading.Gemini, func(_ []byte, to *door.Request) {
			to.Model = name
			to.Stream = streams
		}, func(s *faces.Stream) door.Writer {
			answer = &contentWriter{Stream: s, listed: streams && r.URL.Query().Get("alt") != "sse"}
			return answer
		})
		answer.close()
	case verb == ":countTokens":
		countTokens(w, r, o, name)
	default:
		refuseCall(w, r)
	}
}

func refuseCall(w http.ResponseWriter, r *http.Request) {
	refuse(faces.NewStream(w), scrollback.Errorf(scrollback.NotFound, "gemini", i18n.NoSuchThingNamed, r.Method,
		r.URL.Path))
}

// countTokens answers how many tokens a request has.
func countTokens(w http.ResponseWriter, r *http.Request, o faces.Options, name string) {
	s := faces.NewStream(w)
	body, err := o.ReadBody(r)
	if err != nil {
		refuse(s, err)
		return
	}
	ctx, cancel := faces.Deadline(r.Context())
	defer cancel()
	count, err := o.Door.CountTokens(ctx, o.View(r), &door.Request{Dialect: threading.Gemini, Body: body, Model: name,
		Header: r.Header, OwnCredential: access.SentOwnKey(r.Context())})
	switch {
	case err != nil:
		refuse(s, err)
	case count.Head != nil:
		s.Forward(*count.Head, "")
		s.Write(count.Body)
	default:
		s.Begin("application/json", "")
		s.WriteJSON(map[string]int64{"totalTokens": count.Tokens})
	}
}

// refuse writes an error as the whole response.
func refuse(s *faces.Stream, err error) {
	fault := s.FaultOf(err)
	s.Refuse(fault.Status, faces.NewGoogleBody(fault))
}
