package mcpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// requestIDs are the ids of requests as clients wrote them. The protocol's library reads them as
// float64 and makes another of 1.5 or 2⁶³, so it is given ours, and the client's own goes
// back on the answer, byte for byte.
type requestIDs struct {
	mu   sync.Mutex
	last int64
	open map[string]json.RawMessage // of requests without an answer: ours → the client's
}

// unusedID is the id of no request.
const unusedID = "-1"

// mapIncoming returns a message of a client as the library reads it. Ours is its id there, empty for
// what wants no answer.
func (s *requestIDs) mapIncoming(message []byte) (out []byte, ours string) {
	m := parseMembers(message)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := m.memberValue("id")
	switch {
	case m.memberValue("method") == nil:
		return message, "" // an answer to a request of ours
	case string(m.memberValue("method")) == `"notifications/cancelled"`:
		return m.replaceMember("params", func(params json.RawMessage) []byte {
			return parseMembers(params).replaceMember("requestId",
				func(id json.RawMessage) []byte { return []byte(s.findID(id)) })
		}), ""
	case id == nil || string(id) == "null":
		return message, ""
	}
	if s.open == nil {
		s.open = map[string]json.RawMessage{}
	}
	s.last++
	ours = strconv.FormatInt(s.last, 10)
	s.open[ours] = bytes.Clone(id)
	return m.replaceMember("id", func(json.RawMessage) []byte { return []byte(ours) }), ours
}

// findID returns our id for a client's: of the latest request with it that is open.
func (s *requestIDs) findID(id json.RawMessage) string {
	latest := int64(0)
	found := unusedID
	for ours, theirs := range s.open {
		if n, err := strconv.ParseInt(ours, 10, 64); err == nil && n > latest && bytes.Equal(theirs, id) {
			latest = n
			found = ours
		}
	}
	return found
}

// mapOutgoing returns a message of the library with the client's own id. Answered is our id of the
// request that it answers, empty for other messages.
func (s *requestIDs) mapOutgoing(message []byte) (out []byte, answered string) {
	m := parseMembers(message)
	if m.memberValue("method") != nil {
		return message, ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ours := string(m.memberValue("id"))
	theirs, ok := s.open[ours]
	if !ok {
		return message, ""
	}
	delete(s.open, ours)
	return m.replaceMember("id", func(json.RawMessage) []byte { return theirs }), ours
}

// countOpen returns how many requests have no answer yet.
func (s *requestIDs) countOpen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// jsonObject is a JSON object as it was written, and where its members are.
type jsonObject struct {
	text []byte
	at   []objectMember
}

type objectMember struct {
	name       string
	start, end int
}

// parseMembers reads an object; of what is none, there are none.
func parseMembers(text []byte) (o jsonObject) {
	o.text = text
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return o
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return o
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return o
		}
		key, _ := name.(string)
		end := int(d.InputOffset())
		o.at = append(o.at, objectMember{key, end - len(value), end})
	}
	return o
}

// memberValue returns a member's, of several the last, or nil.
func (o jsonObject) memberValue(name string) json.RawMessage {
	for i := len(o.at) - 1; i >= 0; i-- {
		if m := o.at[i]; m.name == name {
			return o.text[m.start:m.end]
		}
	}
	return nil
}

// replaceMember returns the object with other values for a member; all else is as it was written.
func (o jsonObject) replaceMember(name string, change func(json.RawMessage) []byte) []byte {
	var out []byte
	done := 0
	for _, m := range o.at {
		if m.name == name {
			out = append(append(out, o.text[done:m.start]...), change(o.text[m.start:m.end])...)
			done = m.end
		}
	}
	return append(out, o.text[done:]...)
}

// eachMessage changes the messages of a text: one, or a list of some, which stays one.
func eachMessage(text []byte, change func([]byte) []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return change(text)
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return text
	}
	var out bytes.Buffer
	for i, m := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(change(m))
	}
	return append(append([]byte("["), out.Bytes()...), ']')
}

// keepIDs gives answers over HTTP the ids of their requests as they were written.
func keepIDs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failingReader{err})) // the library answers
			next.ServeHTTP(w, r)
			return
		}
		if m := parseMembers(body); hasNullID(m) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(newRefusal(jsonrpc.CodeInvalidRequest, noNull)) // the client may be gone
			return
		}
		var known requestIDs
		body = eachMessage(body, func(m []byte) []byte {
			out, _ := known.mapIncoming(m)
			return out
		})
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		answer := &answerWriter{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		answer.endAnswer(&known)
	})
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// answerWriter holds an answer in JSON back until it is whole.
type answerWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *answerWriter) isHeld() bool {
	return strings.HasPrefix(w.Header().Get("Content-Type"), "application/json")
}

// WriteHeader implements http.ResponseWriter.
func (w *answerWriter) WriteHeader(status int) {
	if w.isHeld() {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.isHeld() {
		return w.body.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// FlushError is what http.ResponseController flushes with.
func (w *answerWriter) FlushError() error {
	if w.isHeld() {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answerWriter) endAnswer(known *requestIDs) {
	if !w.isHeld() {
		return
	}
	body := eachMessage(w.body.Bytes(), func(m []byte) []byte {
		out, _ := known.mapOutgoing(m)
		return out
	})
	w.Header().Del("Content-Length")
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
	_, _ = w.ResponseWriter.Write(body) // the client may be gone
}

// hasNullID reports whether a message is a request whose id is null: the protocol forbids it,
// and as a notification, as the library takes it, it would never be answered.
func hasNullID(m jsonObject) bool {
	return string(m.memberValue("id")) == "null" && m.memberValue("method") != nil &&
		!bytes.HasPrefix(m.memberValue("method"), []byte(`"notifications/`))
}
