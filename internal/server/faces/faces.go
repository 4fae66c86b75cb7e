// Package faces is what the faces of other APIs share: how a request is read, how frames are written, and what an error
// looks like where an API leaves that open.
//
// Words it adds: face (an API of somebody else's that is served here), stream (the response to one request).
//
// Invariants: a frame is one write; a body is bounded as it was sent and as it is read; 429 always says when to try
// again.
//
// It knows the door and HTTP. It may not know what an API's frames say: each face does.
package faces

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/server/status"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
)

// Options configure the faces.
type Options struct {
	Engine    *engine.Engine
	Door      *door.Door
	BodyBytes int64 // of a request, as sent and decompressed
	// Counted says that requests count in their sender's rate.
	Counted bool
}

// View returns the engine as the sender of a request may use it.
func (o Options) View(r *http.Request) *engine.View { return o.Engine.As(access.CallerOf(r.Context())) }

// ConversationHeader names the conversation of an answer, and of a request.
const ConversationHeader = "X-Scrollback-Conversation"

// maxAhead is how many bytes of a body are made room for before they have come.
const maxAhead = 8 << 20

// ReadBody reads the body of a request, which is JSON and may be compressed.
func (o Options) ReadBody(r *http.Request) ([]byte, error) {
	raw, err := o.readRaw(r)
	if err == nil && !json.Valid(raw) {
		err = scrollback.ParamErrorf("faces", "body", i18n.BodyMustBeJSON)
	}
	return raw, err
}

// readRaw is ReadBody, and leaves it to the door to find out whether it is JSON: of a long history that costs much.
func (o Options) readRaw(r *http.Request) ([]byte, error) {
	const op = "faces"
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || !strings.HasSuffix(media, "json") {
			return nil, scrollback.ParamErrorf(op, "Content-Type", i18n.BodyMustBeJSON)
		}
	}
	tooLarge := scrollback.ParamErrorf(op, "body", i18n.BodyTooLarge, o.BodyBytes).WithReason(scrollback.ErrTooLarge)
	if r.ContentLength > o.BodyBytes {
		return nil, tooLarge
	}
	bounded := io.LimitReader(r.Body, o.BodyBytes+1)
	body := bounded
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, scrollback.ParamErrorf(op, "body", i18n.BodyCannotBeRead, err)
		}
		body = z
	case "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(o.BodyBytes)+1<<20))
		if err != nil {
			return nil, scrollback.ParamErrorf(op, "body", i18n.BodyCannotBeRead, err)
		}
		defer z.Close()
		body = z
	default:
		return nil, scrollback.ParamErrorf(op, "Content-Encoding", i18n.BodyEncodingUnknown, encoding)
	}
	var all bytes.Buffer
	if body == bounded {
		// A long history comes with each request: room for all of it saves copying it as it grows.
		all.Grow(int(min(max(r.ContentLength, 0), maxAhead)) + bytes.MinRead)
	}
	_, err := all.ReadFrom(io.LimitReader(body, o.BodyBytes+1))
	raw := all.Bytes()
	switch {
	case int64(len(raw)) > o.BodyBytes, errors.Is(err, zstd.ErrDecoderSizeExceeded),
		errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, tooLarge
	case err != nil:
		return nil, scrollback.ParamErrorf(op, "body", i18n.BodyCannotBeRead, err)
	}
	return raw, nil
}

// Answer reads a request in a dialect, and has it answered by a writer of the face. read says what only the face knows
// of the request: its model where the path names it, and whether it wants a stream.
func (o Options) Answer(w http.ResponseWriter, r *http.Request, d threading.Dialect,
	read func(body []byte, to *door.Request), write func(*Stream) door.Writer) {
	s := NewStream(w)
	to := write(s)
	body, err := o.readRaw(r)
	if err != nil {
		to.Fail(err)
		return
	}
	asked := door.Request{Dialect: d, Body: body, Header: r.Header, OwnCredential: access.SentOwnKey(r.Context()),
		Named: s.ForConversation}
	if o.Counted {
		asked.Quota = access.QuotaOf(r.Context())
	}
	read(body, &asked)
	s.streamed = asked.Stream
	o.Door.Answer(r.Context(), o.View(r), &asked, to)
}

// WantsStream reports whether a body says stream: true, or says nothing and that is the dialect's default.
func WantsStream(body []byte, otherwise bool) bool {
	switch string(splice.GetField(body, "stream")) {
	case "true":
		return true
	case "false":
		return false
	}
	return otherwise
}

// Stream is the response to one request.
type Stream struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	begun    bool
	streamed bool // the client wants a stream
}

// NewStream returns the stream of a response.
func NewStream(w http.ResponseWriter) *Stream {
	return &Stream{w: w, rc: http.NewResponseController(w)}
}

// IsStreamed reports whether the client wants a stream, and HasBegun whether anything was written.
func (s *Stream) IsStreamed() bool { return s.streamed }

// HasBegun reports whether the head of the response was written.
func (s *Stream) HasBegun() bool { return s.begun }

// Header returns the header of the response, until it begins.
func (s *Stream) Header() http.Header { return s.w.Header() }

// ForConversation says in the header which conversation the response is of, whatever becomes of it.
func (s *Stream) ForConversation(id scrollback.ConversationID) {
	s.w.Header().Set(ConversationHeader, string(id))
}

// Begin writes the head of a response of ours.
func (s *Stream) Begin(mediaType string, of scrollback.ConversationID) {
	if s.begun {
		return
	}
	s.begun = true
	h := s.w.Header()
	h.Set("Content-Type", mediaType)
	if of != "" {
		h.Set(ConversationHeader, string(of))
	}
	s.w.WriteHeader(http.StatusOK)
}

// families are the headers of a model's server that come back to its clients.
var families = []string{"Retry-After", "X-Should-Retry", "Request-Id", "X-Request-Id", "Content-Type"}

// familyBegins are how others begin.
var familyBegins = []string{"Anthropic-", "X-Ratelimit-", "X-Codex-", "Openai-"}

// Forward writes the head of a response that comes from a model's server.
func (s *Stream) Forward(from model.ResponseHead, of scrollback.ConversationID) {
	if s.begun {
		return
	}
	s.begun = true
	h := s.w.Header()
	for name, values := range from.Header {
		begins := func(b string) bool { return strings.HasPrefix(name, b) }
		if slices.Contains(families, name) || slices.ContainsFunc(familyBegins, begins) {
			h[name] = values
		}
	}
	if of != "" {
		h.Set(ConversationHeader, string(of))
	}
	if from.Status == http.StatusTooManyRequests && h.Get("Retry-After") == "" {
		h.Set("Retry-After", strconv.Itoa(int(defaultWait.Seconds())))
	}
	s.w.WriteHeader(from.Status)
}

// IsStream reports whether a response of a model's server is a stream of events.
func IsStream(h model.ResponseHead) bool {
	return h.Status < http.StatusMultipleChoices &&
		strings.HasPrefix(http.Header(h.Header).Get("Content-Type"), "text/event-stream")
}

// defaultWait is how long a client waits whom a model's server has sent away without saying for how long.
const defaultWait = 10 * time.Second

// Write writes a frame, at once.
func (s *Stream) Write(frame []byte) {
	if _, err := s.w.Write(frame); err == nil { // else the client is gone, and its context ends
		_ = s.rc.Flush()
	}
}

// WriteJSON writes a value as the whole response.
func (s *Stream) WriteJSON(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("{}") // our own values are always JSON: not reached
	}
	s.Write(b)
}

// WriteEvent writes an event of a stream; an empty name is left out.
func (s *Stream) WriteEvent(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	s.WriteData(name, b)
}

// WriteData writes an event whose data is written already.
func (s *Stream) WriteData(name string, data []byte) {
	var frame []byte
	if name != "" {
		frame = append(append(append(frame, "event: "...), name...), '\n')
	}
	s.Write(append(append(append(frame, "data: "...), data...), "\n\n"...))
}

// Fault is an error as a client is told it.
type Fault struct {
	Status  int
	Code    string
	Message string
	Param   string

	// TooLong says that the request does not fit the window of the model, which takes Most tokens and not Tokens; 0
	// where that is not known.
	TooLong      bool
	Tokens, Most int64
}

// FaultOf returns an error as a client is told it, and sets what the header says of it, if that can still be set.
func (s *Stream) FaultOf(err error) Fault {
	f := Fault{Status: status.FromError(err), Code: string(scrollback.CodeOf(err)), Message: language.English.Shown(err)}
	var known *scrollback.Error
	if errors.As(err, &known) {
		f.Param = known.Param
	}
	s.noteRefusal(&f, err)
	if f.Tokens, f.Most, f.TooLong = overflow(err); f.TooLong { // sent again, it would not fit either
		f.Status = http.StatusBadRequest
		f.Code = "context_length_exceeded"
	}
	if f.Status == http.StatusUnprocessableEntity { // a budget of a day
		f.Status = http.StatusTooManyRequests
	}
	if f.Status == http.StatusTooManyRequests && !s.begun && s.w.Header().Get("Retry-After") == "" {
		wait := max(door.RetryAfter(err), time.Second)
		s.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	status.NoteError(s.w, err)
	return f
}

// noteRefusal has an error of a model's server keep its status and its words: clients know by them what to do.
func (s *Stream) noteRefusal(f *Fault, err error) {
	refusal, words := model.RefusalOf(err)
	if refusal == nil {
		return
	}
	if refusal.Status >= http.StatusBadRequest {
		f.Status = refusal.Status
	}
	if words != "" {
		f.Message = words
	}
	if refusal.After > 0 && !s.begun {
		s.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refusal.After.Seconds()))))
	}
}

// Refuse writes an error as the whole response.
func (s *Stream) Refuse(code int, v any) {
	s.begun = true
	s.w.Header().Set("Content-Type", "application/json")
	s.w.WriteHeader(code)
	s.WriteJSON(v)
}

// Deadline is for faces that count tokens or list models: as long as such a request may take.
func Deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 30*time.Second)
}
