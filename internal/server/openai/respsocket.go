package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
)

// socket is a connection on which requests come and events go, one answer after the other. It holds what was said up to
// its last answer, so that a request which goes on from that is whole again before anything else sees it.
type socket struct {
	responsesFace
	ctx    context.Context
	conn   *websocket.Conn
	r      *http.Request
	header http.Header

	last string            // the id of the last answer, empty if there is none to go on from
	held []json.RawMessage // what was said up to it, as its client and its model wrote it
}

// connect takes a connection.
func (f responsesFace) connect(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s := faces.NewStream(w)
		fault := s.FaultOf(scrollback.Errorf(scrollback.NotFound, "openai", i18n.NoSuchThingNamed, r.Method, r.URL.Path))
		s.Refuse(fault.Status, newErrorBody(fault))
		return
	}
	conn, err := websocket.Accept(w, r, nil) // the gate has judged where it comes from
	if err != nil {
		return // it has been told
	}
	defer func() { _ = conn.CloseNow() }() // it may be closed already
	conn.SetReadLimit(f.o.BodyBytes)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	header := r.Header.Clone()
	header.Del("X-Codex-Turn-Metadata") // it speaks of the first request alone
	s := &socket{responsesFace: f, ctx: ctx, conn: conn, r: r, header: header}
	messages := make(chan []byte, waitingMessages)
	go func() {
		defer cancel() // with the client, what it waits for ends
		defer close(messages)
		for {
			_, b, err := conn.Read(ctx)
			if err != nil {
				return
			}
			select {
			case messages <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	for b := range messages {
		s.take(b)
	}
	_ = conn.Close(websocket.StatusNormalClosure, "") // the client may be gone
}

// waitingMessages is how many requests wait while one is answered, before no more are read.
const waitingMessages = 4

// take answers a message.
func (s *socket) take(message []byte) {
	sink := socketSink{s}
	if !json.Valid(message) {
		sink.refuse(sink.fault(scrollback.ParamErrorf("openai", "body", i18n.BodyMustBeJSON)))
		return
	}
	if kind := typeOf(message); kind != "response.create" {
		sink.refuse(sink.fault(scrollback.ParamErrorf("openai", "type", i18n.MessageNotKnown, kind)))
		return
	}
	form := splice.Form{}
	body := form.SetField(message, 0, "type", nil)
	body = form.SetField(body, 0, "stream", json.RawMessage("true"))
	ask := readAsk(body)
	out := &responseWriter{to: sink, ask: ask, after: -1, streamed: true}
	to := door.Request{Dialect: threading.Responses, Header: s.header, Stream: true, Transient: !ask.echo.Store, Keep: ask,
		OwnCredential: access.SentOwnKey(s.r.Context())}
	if s.o.Counted {
		to.Quota = access.QuotaOf(s.r.Context())
	}
	input := readInput(body)
	goesOn := ask.echo.Previous != nil && *ask.echo.Previous == s.last && s.last != ""
	if goesOn {
		input = slices.Concat(s.held, input)
		body = form.SetField(body, 0, "input", form.MakeList(input, 0))
		to.Whole = true
	}
	s.last = "" // if this fails, nothing goes on from there
	s.held = nil
	if goesOn {
		if id := lacksCall(input); id != "" {
			sink.refuse(sink.fault(scrollback.ParamErrorf("openai", "input", i18n.NoCallForResult, id)))
			return
		}
		if int64(len(body)) > s.o.BodyBytes {
			sink.refuse(sink.fault(scrollback.ParamErrorf("openai", "input", i18n.BodyTooLarge, s.o.BodyBytes).
				WithReason(scrollback.ErrTooLarge)))
			return
		}
	}
	to.Body = body
	out.done = func(item json.RawMessage) {
		if canBeSent(item) {
			input = append(input, item)
		}
	}
	s.o.Door.Answer(s.ctx, s.o.View(s.r), &to, out)
	out.finish()
	if id := out.completed(); id != "" {
		s.last = id
		s.held = input
	}
}

// completed returns the id of the answer, if it ended well.
func (w *responseWriter) completed() string {
	if w.passed != nil {
		var r response
		if json.Unmarshal(w.passed.created, &r) != nil || r.Status != itemDone {
			return ""
		}
		return r.ID
	}
	if !w.ended || w.out.Status != itemDone {
		return ""
	}
	return w.out.ID
}

// readInput returns the items of a request.
func readInput(body []byte) []json.RawMessage {
	for _, m := range splice.ListMembers(body) {
		if m.Name != "input" {
			continue
		}
		value := body[m.Value.From:m.Value.To]
		var text string
		if json.Unmarshal(value, &text) == nil && text != "" {
			item, err := json.Marshal(map[string]string{"type": "message", "role": "user", "content": text})
			if err != nil {
				return nil // texts are always JSON: not reached
			}
			return []json.RawMessage{item}
		}
		return slices.Clip(splice.ListValues(value))
	}
	return nil
}

// lacksCall returns the id of the first result whose call is not before it, or nothing.
func lacksCall(items []json.RawMessage) string {
	calls := map[string]bool{}
	for _, raw := range items {
		var it struct {
			Type string `json:"type"`
			ID   string `json:"call_id"`
		}
		_ = json.Unmarshal(raw, &it)
		switch {
		case it.ID == "":
		case strings.HasSuffix(it.Type, "_output"):
			if !calls[it.ID] {
				return it.ID
			}
		default:
			calls[it.ID] = true
		}
	}
	return ""
}

// canBeSent reports whether an item of an answer can be sent as a part of a history: reasoning can if it holds itself.
func canBeSent(item []byte) bool {
	var it struct {
		Type      string `json:"type"`
		Encrypted string `json:"encrypted_content"`
	}
	return json.Unmarshal(item, &it) == nil && (it.Type != "reasoning" || it.Encrypted != "")
}

// socketSink sends events on a connection.
type socketSink struct{ s *socket }

func (k socketSink) send(data []byte) {
	_ = k.s.conn.Write(k.s.ctx, websocket.MessageText, data) // the client may be gone
}

func (k socketSink) begin(scrollback.ConversationID)                       {}
func (k socketSink) forward(model.ResponseHead, scrollback.ConversationID) {}
func (k socketSink) event(_ string, data []byte)                           { k.send(data) }
func (k socketSink) whole(_ scrollback.ConversationID, body []byte)        { k.send(body) }
func (k socketSink) endsOnce() bool                                        { return true }

// socketError is an error on a connection.
type socketError struct {
	Type   string          `json:"type"`
	Status int             `json:"status"`
	Error  json.RawMessage `json:"error"`
}

func (k socketSink) sendError(status int, fault any) {
	raw, err := json.Marshal(fault)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	if data, err := json.Marshal(socketError{"error", status, raw}); err == nil {
		k.send(data)
	}
}

func (k socketSink) refuse(f faces.Fault) { k.sendError(f.Status, newErrorBody(f).Error) }

// pass sends a refusal of a model's server in its own words, as far as they can be read.
func (k socketSink) pass(h model.ResponseHead, _ scrollback.ConversationID, body []byte) {
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &said) == nil && len(said.Error) > 0 {
		k.sendError(h.Status, said.Error)
		return
	}
	code := "server_error"
	k.sendError(h.Status, faces.ErrorSays{Type: code, Code: &code, Message: http.StatusText(h.Status)})
}

func (k socketSink) fault(err error) faces.Fault {
	return faultOf(faces.NewStream(&headOnly{header: http.Header{}}), err)
}

// headOnly is the response that a message on a connection has not.
type headOnly struct{ header http.Header }

func (h *headOnly) Header() http.Header         { return h.header }
func (h *headOnly) Write(b []byte) (int, error) { return len(b), nil }
func (h *headOnly) WriteHeader(int)             {}
