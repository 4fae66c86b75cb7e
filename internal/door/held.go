package door

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

const (
	// heldFor is how long the stream of an answer can be read again once it has ended.
	heldFor = 5 * time.Minute
	// heldBytes bounds what is held of answers that have ended; the oldest is let go first.
	heldBytes = 64 << 20
	// transientBegins is how the id of an answer begins that is not to be found by it.
	transientBegins = "resp_t"
)

// ErrUnknownAnswer says that a request goes on from an answer that is not known.
var ErrUnknownAnswer = errors.New("no such answer")

func unknownAnswer(id string) error {
	return scrollback.ParamErrorf("door", "previous_response_id", i18n.NoAnswerHere, id).WithReason(ErrUnknownAnswer)
}

func isTransient(id string) bool { return strings.HasPrefix(id, transientBegins) }

// held are answers that can be found by their ids: those that run, and those that have ended a short while ago. The
// door's lock guards it.
type held struct {
	answers map[string]*relay
	ended   []*relay
	size    int
}

// hold lets an answer be found by its id.
func (d *Door) hold(v *engine.View, r *Request, rel *relay) {
	if r.Dialect != threading.Responses || r.Transient {
		return
	}
	rel.caller = v.Caller().Key
	rel.keep = r.Keep
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held.answers[rel.head.ID] = rel
}

// letGo lets an answer be found for a while longer.
func (d *Door) letGo(rel *relay) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := &d.held
	if h.answers[rel.head.ID] != rel {
		return
	}
	h.ended = append(h.ended, rel)
	h.size += rel.size
	for h.size > heldBytes {
		h.drop(h.ended[0])
	}
	time.AfterFunc(heldFor, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		h.drop(rel)
	})
}

// drop forgets an answer that has ended.
func (h *held) drop(rel *relay) {
	at := slices.Index(h.ended, rel)
	if at < 0 {
		return
	}
	h.ended = slices.Delete(h.ended, at, at+1)
	h.size -= rel.size
	delete(h.answers, rel.head.ID)
}

// Found is an answer that was asked for before.
type Found struct {
	Head Head
	// Keep is what its request had held with it; nil if the answer comes from the store.
	Keep any
	// Stored says that its stream is not the one that was, but made from what is stored.
	Stored bool
	rel    *relay
}

// Find finds an answer by its id: one that is held, else one that is stored.
func (d *Door) Find(ctx context.Context, v *engine.View, project, id string) (*Found, error) {
	d.mu.Lock()
	rel := d.held.answers[id]
	d.mu.Unlock()
	if rel != nil && rel.caller == v.Caller().Key {
		if err := checkStands(ctx, v, rel.head.Conversation, id); err != nil {
			return nil, err
		}
		return &Found{Head: rel.head, Keep: rel.keep, rel: rel}, nil
	}
	turn, conversation, err := findTurn(ctx, v, project, id)
	if err != nil {
		return nil, err
	}
	head := Head{ID: id, Conversation: conversation}
	if head.Model, err = modelOf(ctx, v, conversation, turn); err != nil {
		return nil, err
	}
	if rel, err = replayTurn(ctx, v, head, turn); err != nil {
		return nil, err
	}
	return &Found{Head: rel.head, Stored: true, rel: rel}, nil
}

// modelOf returns the model that answered a turn, by our name.
func modelOf(ctx context.Context, v *engine.View, of scrollback.ConversationID, turn scrollback.TurnID) (string,
	error) {
	t, err := v.Turns().Get(ctx, of, turn)
	if err != nil {
		return "", err
	}
	page, err := v.Turns().Page(ctx, of, scrollback.PageQuery{Branch: t.Branch, Before: t.LastSeq + 1, Limit: 1})
	if err != nil || len(page.Messages) == 0 {
		return "", err
	}
	return page.Messages[0].Model, nil
}

// findTurn returns the turn of a stored answer, and its conversation.
func findTurn(ctx context.Context, v *engine.View, project, id string) (scrollback.TurnID, scrollback.ConversationID,
	error) {
	hex := strings.TrimPrefix(id, "resp_")
	if isTransient(id) || len(hex) != 32 {
		return "", "", notFound(id)
	}
	match, err := v.MatchThread(ctx, project, &threading.Request{Dialect: threading.Responses, Chain: id})
	if err != nil {
		return "", "", err
	}
	if match.UnknownChain || match.Thread == "" {
		return "", "", notFound(id)
	}
	conversation := scrollback.ConversationID(match.Thread)
	turn := strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-")
	return scrollback.TurnID(turn), conversation, checkStands(ctx, v, conversation, id)
}

func notFound(id string) error {
	return scrollback.Errorf(scrollback.NotFound, "door", i18n.NoAnswerHere, id).WithReason(ErrUnknownAnswer)
}

// TurnOf returns the turn of an answer of a conversation, to read what was asked.
func (f *Found) TurnOf(ctx context.Context, v *engine.View) (scrollback.Turn, error) {
	hex := strings.TrimPrefix(f.Head.ID, "resp_")
	turn := strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-")
	return v.Turns().Get(ctx, f.Head.Conversation, scrollback.TurnID(turn))
}

// FindConversation returns the conversation that clients call by an id of theirs; empty if nothing was said in it.
func (d *Door) FindConversation(ctx context.Context, v *engine.View, project, id string) (scrollback.ConversationID,
	error) {
	match, err := v.MatchThread(ctx, project, &threading.Request{Dialect: threading.Responses, Conversation: id})
	if err != nil {
		return "", err
	}
	return scrollback.ConversationID(match.Thread), nil
}

// Read writes the answer from its beginning, until it has ended or the reader is gone.
func (f *Found) Read(ctx context.Context, w Writer) {
	if err := f.rel.read(ctx, true, w); err != nil && ctx.Err() == nil {
		w.Fail(err)
	}
}

// Has returns the answer as far as it has come, without waiting, and whether it has ended.
func (f *Found) Has(w Writer) (ended bool) { return f.rel.writeSoFar(w) }

// Cancel ends an answer that runs, and waits until it has.
func (f *Found) Cancel(ctx context.Context) {
	f.rel.stop()
	_ = f.rel.wait(ctx) // who asked may be gone
}

// forgotten is how a conversation says which of its answers were deleted.
type forgotten struct {
	Answers []string `json:"deleted_answers,omitempty"`
}

// maxForgotten bounds how many deleted answers a conversation remembers.
const maxForgotten = 500

// checkStands reports whether an answer was not deleted, in a conversation that the caller may read.
func checkStands(ctx context.Context, v *engine.View, of scrollback.ConversationID, id string) error {
	c, err := v.Get(ctx, of)
	if err != nil {
		return err
	}
	var f forgotten
	if json.Unmarshal(c.Meta, &f) == nil && slices.Contains(f.Answers, id) {
		return notFound(id)
	}
	return nil
}

// Forget lets an answer not be found by its id any more. What was said stays in its conversation.
func (d *Door) Forget(ctx context.Context, v *engine.View, project, id string) error {
	found, err := d.Find(ctx, v, project, id)
	if err != nil {
		return err
	}
	_, err = v.Patch(ctx, found.Head.Conversation, 0, func(c *scrollback.Conversation) error {
		fields := map[string]json.RawMessage{}
		var f forgotten
		_ = json.Unmarshal(c.Meta, &fields) // no object is none
		_ = json.Unmarshal(c.Meta, &f)
		f.Answers = append(f.Answers, id)
		f.Answers = f.Answers[max(0, len(f.Answers)-maxForgotten):]
		list, err := json.Marshal(f.Answers)
		if err != nil {
			return err
		}
		fields["deleted_answers"] = list
		c.Meta, err = json.Marshal(fields)
		return err
	})
	return err
}

// renamer gives an answer that comes from a model's server the id that it has here.
type renamer struct {
	to   string
	from []byte // in quotes; nil until it is known
}

// rename changes the id in a frame. The first frame that has one says what it is.
func (n *renamer) rename(frame []byte) []byte {
	if n == nil {
		return frame
	}
	if n.from == nil {
		id := answerIn(frame)
		if id == "" {
			return frame
		}
		n.from = []byte(`"` + id + `"`)
	}
	return bytes.ReplaceAll(frame, n.from, []byte(`"`+n.to+`"`))
}

// answerIn returns the id of the response or the message that a frame is about, or that a body is.
func answerIn(frame []byte) string {
	data := frame
	if len(frame) > 0 && frame[0] != '{' {
		data = EventData(frame)
	}
	var said struct {
		Object  string `json:"object"`
		Type    string `json:"type"`
		ID      string `json:"id"`
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
		Response struct {
			ID string `json:"id"`
		} `json:"response"`
	}
	if json.Unmarshal(data, &said) != nil {
		return ""
	}
	switch {
	case said.Object == "response", said.Type == "message":
		return said.ID
	case said.Type == "message_start":
		return said.Message.ID
	}
	return said.Response.ID
}

// EventData returns the data of an event of a stream.
func EventData(frame []byte) []byte {
	var out []byte
	for line := range bytes.Lines(frame) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			out = append(out, bytes.TrimPrefix(rest, []byte(" "))...)
		}
	}
	return bytes.TrimSpace(out)
}

// sealed is how the summary begins in a compaction item of ours. It is not secret: it stands where clients expect
// something that they do not read.
const sealed = "scrollback."

// SealSummary returns what a compaction item of ours holds.
func SealSummary(summary string) string {
	return sealed + base64.StdEncoding.EncodeToString([]byte(summary))
}

// openSummary returns the summary in a compaction item, as canonical JSON, or nothing if it is not one of ours.
func openSummary(item string) (string, bool) {
	var c struct {
		Sealed string `json:"encrypted_content"`
	}
	if json.Unmarshal([]byte(item), &c) != nil {
		return "", false
	}
	encoded, ours := strings.CutPrefix(c.Sealed, sealed)
	if !ours {
		return "", false
	}
	summary, err := base64.StdEncoding.DecodeString(encoded)
	return string(summary), err == nil
}

// compactionOf returns the compaction that answers a request for one, as its client will send it again: that of the
// model's server, else one of ours.
func (r *relay) compactionOf(said scrollback.Parts) []threading.Item {
	item := []byte(nil)
	r.mu.Lock()
	frames := r.frames
	r.mu.Unlock()
	for _, f := range frames {
		var e struct {
			Type string          `json:"type"`
			Item json.RawMessage `json:"item"`
		}
		if json.Unmarshal(EventData(f), &e) == nil && e.Type == "response.output_item.done" &&
			bytes.Contains(e.Item, []byte(`"compaction"`)) {
			item = e.Item
		}
	}
	if item == nil {
		text := ""
		for _, p := range said {
			if t, ok := p.(scrollback.Text); ok {
				text += t.Text
			}
		}
		var err error
		item, err = json.Marshal(map[string]string{"type": "compaction", "encrypted_content": SealSummary(text)})
		if err != nil {
			return nil // texts are always JSON: not reached
		}
	}
	read, err := dialect.Read(threading.Responses, func(string) string { return "" },
		slices.Concat([]byte(`{"input":[`), item, []byte(`]}`)))
	if err != nil {
		return nil
	}
	return read.Items
}
