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
	model    model.Model
	protocol Protocol

	mu      sync.Mutex
	bodies  []json.RawMessage
	heads   []http.Header
	refused []Refused
}

// Protocol is how one provider's server reads and writes. It is safe for
// concurrent use.
type Protocol interface {
	// Handles reports whether a request is for an answer of a model; Serve is given the
	// others, such as one for the list of models.
	Handles(r *http.Request) bool
	Serve(w http.ResponseWriter, r *http.Request)

	// Read judges a request: what it asks for in words of ours, or why it is refused.
	Read(r *http.Request, body []byte) (model.Request, *Refused)

	// Refuse writes a refusal as the server does.
	Refuse(w http.ResponseWriter, why Refused)

	// Write streams an answer, one frame a write, in the server's own form.
	Write(w http.ResponseWriter, r *http.Request, answer Stream)
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
	Body   int // which of the bodies it is of, from 0
}

// WithWords returns the refusal with its words.
func (r Refused) WithWords(format string, args ...any) *Refused {
	r.Words = fmt.Sprintf(format, args...)
	return &r
}

// NewStrict makes a stand-in that speaks a protocol and plays m.
func NewStrict(m model.Model, p Protocol) *Strict { return &Strict{model: m, protocol: p} }

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
	if !s.protocol.Handles(r) {
		s.protocol.Serve(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req, why := s.protocol.Read(r, body)
	s.mu.Lock()
	s.bodies = append(s.bodies, body)
	s.heads = append(s.heads, r.Header.Clone())
	if why != nil {
		refused := *why
		refused.Body = len(s.bodies) - 1
		s.refused = append(s.refused, refused)
	}
	s.mu.Unlock()
	if why != nil {
		s.protocol.Refuse(w, *why)
		return
	}
	s.protocol.Write(w, r, s.model.Stream(r.Context(), req))
}
