package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// compacted is a history in its short form.
type compacted struct {
	ID        string            `json:"id"`
	Object    string            `json:"object"`
	CreatedAt int64             `json:"created_at"`
	Output    []json.RawMessage `json:"output"`
	Usage     *responseUsage    `json:"usage"`
}

// compact returns a history in its short form: what people said, and one item that stands for the rest.
func (f responsesFace) compact(w http.ResponseWriter, r *http.Request) {
	body, input, err := f.readHistory(r)
	if err != nil {
		refuse(w, err)
		return
	}
	form := splice.Form{}
	asked := append(slices.Clip(input), json.RawMessage(`{"type":"compaction_trigger"}`))
	body = form.SetField(body, 0, "input", form.MakeList(asked, 0))
	sink := &compactSink{heldSink: heldSink{Stream: faces.NewStream(w)}}
	out := &responseWriter{to: sink, after: -1, ask: readAsk(body)}
	ask := door.Request{Dialect: threading.Responses, Body: body, Header: r.Header, Ours: true, Transient: true,
		OwnCredential: access.SentOwnKey(r.Context())}
	f.o.Door.Answer(r.Context(), f.o.View(r), &ask, out)
	if sink.body == nil {
		return // it has been refused, or the client is gone
	}
	short := compacted{ID: out.out.ID, Object: "response.compaction", CreatedAt: out.out.CreatedAt, Usage: out.out.Usage,
		Output: []json.RawMessage{}}
	for _, item := range input {
		if isOfUser(item) {
			short.Output = append(short.Output, item)
		}
	}
	short.Output = append(short.Output, out.out.Output...)
	writeObject(w, short)
}

// compactSink keeps the answer, and writes what is refused.
type compactSink struct{ heldSink }

func (s *compactSink) refuse(f faces.Fault) { s.Refuse(f.Status, newErrorBody(f)) }

// isOfUser reports whether an item is a message of a person's.
func isOfUser(item []byte) bool {
	var it struct {
		Type string `json:"type"`
		Role string `json:"role"`
	}
	return json.Unmarshal(item, &it) == nil && it.Role == "user" && (it.Type == "" || it.Type == "message")
}

// readHistory reads a request that is about a history, and all of that: with what stands before its input where it
// names an answer.
func (f responsesFace) readHistory(r *http.Request) (body []byte, input []json.RawMessage, err error) {
	body, err = f.o.ReadBody(r)
	if err != nil {
		return nil, nil, err
	}
	if splice.ListMembers(body) == nil || !json.Valid(body) {
		return nil, nil, scrollback.ParamErrorf("openai", "body", i18n.BodyMustBeJSON)
	}
	var ask struct {
		Model    string `json:"model"`
		Previous string `json:"previous_response_id"`
	}
	_ = json.Unmarshal(body, &ask) // a field of another type is as good as none
	if ask.Model == "" {
		return nil, nil, scrollback.ParamErrorf("openai", "model", i18n.FieldIsMissing, "model")
	}
	input = readInput(body)
	if ask.Previous != "" {
		before, err := f.readBefore(r.Context(), f.o.View(r), ask.Previous)
		if err != nil {
			return nil, nil, err
		}
		input = slices.Concat(before, input)
		body = splice.Form{}.SetField(body, 0, "previous_response_id", nil)
	}
	return body, input, nil
}

// readBefore returns what was said up to an answer, and it.
func (f responsesFace) readBefore(ctx context.Context, v *engine.View, id string) ([]json.RawMessage, error) {
	found, err := f.o.Door.Find(ctx, v, "", id)
	if err != nil {
		return nil, err
	}
	turn, err := found.TurnOf(ctx, v)
	if err != nil {
		return nil, err
	}
	tools, err := readTools(ctx, v, found.Head.Conversation)
	if err != nil {
		return nil, err
	}
	var out []json.RawMessage
	from := int64(0)
	for {
		page, err := v.Turns().Page(ctx, found.Head.Conversation, scrollback.PageQuery{Branch: turn.Branch, After: &from,
			Limit: maxItems})
		if err != nil || len(page.Messages) == 0 {
			return out, err
		}
		for _, m := range page.Messages {
			if m.Seq > turn.LastSeq {
				return out, nil
			}
			for _, it := range itemsOf(m, tools) {
				raw, err := json.Marshal(it)
				if err != nil {
					return nil, err
				}
				out = append(out, raw)
			}
			from = m.Seq
		}
	}
}

// countInput counts the tokens of a request.
func (f responsesFace) countInput(w http.ResponseWriter, r *http.Request) {
	body, input, err := f.readHistory(r)
	if err != nil {
		refuse(w, err)
		return
	}
	form := splice.Form{}
	ctx, cancel := faces.Deadline(r.Context())
	defer cancel()
	count, err := f.o.Door.CountTokens(ctx, f.o.View(r), &door.Request{Dialect: threading.Responses, Ours: true,
		Body: form.SetField(body, 0, "input", form.MakeList(input, 0)), Header: r.Header,
		OwnCredential: access.SentOwnKey(r.Context())})
	if err != nil {
		refuse(w, err)
		return
	}
	writeObject(w, map[string]any{"object": "response.input_tokens", "input_tokens": count.Tokens})
}
