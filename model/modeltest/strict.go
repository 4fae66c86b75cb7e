package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
)

// Strict stands in for a provider's server: it refuses what the real one refuses,
// with the words of the real one, and plays a model for the rest. What it gives
// out to be sent back (signatures, ids, encrypted reasoning) it remembers, and
// refuses it changed.
type Strict struct {
	model model.Model
	speak protocol

	mu      sync.Mutex
	bodies  []json.RawMessage
	heads   []http.Header
	refused []Refused
}

// protocol is how one provider's server reads and writes. It is safe for
// concurrent use.
type protocol interface {
	// handles says whether a request is for an answer of a model; serve is given the
	// others, such as one for the list of models.
	handles(r *http.Request) bool
	serve(w http.ResponseWriter, r *http.Request)

	// read judges a request: what it asks for in words of ours, or why it is refused.
	read(r *http.Request, body []byte) (model.Request, *Refused)

	// refuse writes a refusal as the server does.
	refuse(w http.ResponseWriter, why Refused)

	// write streams an answer, one frame a write, in the server's own form.
	write(w http.ResponseWriter, r *http.Request, answer Stream)
}

// Stream is the answer of a model.
type Stream = func(yield func(model.Delta, error) bool)

// Refused is a refusal: of which rule, and what the server says.
type Refused struct {
	Rule   string // of docs/guides/dialects.md
	Status int
	Code   string
	Param  string
	Words  string
}

// refusef makes a refusal.
func refusef(rule string, status int, code, format string, args ...any) *Refused {
	return &Refused{Rule: rule, Status: status, Code: code, Words: fmt.Sprintf(format, args...)}
}

// Bodies lists the requests for an answer so far, those that were refused too.
func (s *Strict) Bodies() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Heads lists the heads of the same requests.
func (s *Strict) Heads() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heads)
}

// Refusals lists what was refused so far.
func (s *Strict) Refusals() []Refused {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// ServeHTTP implements http.Handler.
func (s *Strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.speak.handles(r) {
		s.speak.serve(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req, why := s.speak.read(r, body)
	s.mu.Lock()
	s.bodies, s.heads = append(s.bodies, body), append(s.heads, r.Header.Clone())
	if why != nil {
		s.refused = append(s.refused, *why)
	}
	s.mu.Unlock()
	if why != nil {
		s.speak.refuse(w, *why)
		return
	}
	s.speak.write(w, r, s.model.Stream(r.Context(), req))
}
