package door

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// Count is how many tokens a request has: what the model's server said of it, if Head is set, else Tokens.
type Count struct {
	Head   *model.ResponseHead
	Body   []byte
	Tokens int64
}

// CountTokens counts the tokens of a request: the model's server does so where it speaks the client's API, else they
// are counted here. Nothing is stored.
func (d *Door) CountTokens(ctx context.Context, v *engine.View, r *Request) (Count, error) {
	body := r.Body
	if inner := splice.GetField(body, innerRequest); inner != nil && r.Dialect == threading.Gemini {
		body = inner
	}
	asked, err := d.read(r, body)
	if err == nil {
		err = checkMadeIDs(ctx, v, r)
	}
	if err != nil {
		return Count{}, err
	}
	o := engine.Overrides{Model: d.chooseModel(v, asked.Model, d.mayPass(r))}
	m, factor, err := v.CountingModel(ctx, r.Project, o)
	if err != nil {
		return Count{}, err
	}
	if count, ok := d.askCount(ctx, m, r); ok {
		return count, nil
	}
	tokens := countTokens(asked, readOptions(r.Dialect, body).Tools)
	return Count{Tokens: int64(math.Round(float64(tokens) * factor))}, ctx.Err()
}

// countRefusals are the statuses of a model's server that say something of the request. With any other it is not asked
// again: it may not count at all.
var countRefusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
	http.StatusRequestEntityTooLarge}

// askCount has the model's server count, if it can.
func (d *Door) askCount(ctx context.Context, m model.Model, r *Request) (Count, bool) {
	facts := m.Facts()
	if r.Ours || !speaks(facts, r.Dialect) || facts.Unready != nil && !d.mayPass(r) {
		return Count{}, false
	}
	var out Count
	var body bytes.Buffer
	f := d.forward(r, facts, nil)
	f.Count = true
	f.Tap = func(h model.ResponseHead) io.Writer {
		out.Head = &h
		return &body
	}
	if r.Dialect == threading.Gemini {
		f.Body = withInnerModel(f.Body, facts.Name)
	}
	var fault error
	for _, err := range m.Stream(ctx, model.Request{Forward: f}) {
		fault = err
	}
	if out.Head == nil || !slices.Contains(countRefusals, out.Head.Status) && (fault != nil || out.Head.Status >= 300) {
		return Count{}, false
	}
	out.Body = body.Bytes()
	return out, true
}

// withInnerModel returns a body that names a model in the request within it, if there is one.
func withInnerModel(body []byte, name string) []byte {
	_, id, _ := strings.Cut(name, "/")
	for _, m := range splice.ListMembers(body) {
		if m.Name == innerRequest {
			inner := withModel(body[m.Value.From:m.Value.To], "models/"+id)
			return slices.Concat(body[:m.Value.From], inner, body[m.Value.To:])
		}
	}
	return body
}

// innerRequest is where Google's requests for a count may hold the request that is counted.
const innerRequest = "generateContentRequest"

// countTokens counts a request as the engine weighs one.
func countTokens(asked *threading.Request, tools []scrollback.Tool) (tokens int64) {
	for _, s := range asked.System {
		tokens += window.WeighText(s, token.Count).Tokens
	}
	if len(tools) > 0 {
		if defs, err := json.Marshal(tools); err == nil { // what cannot be read of them counts nothing
			tokens += window.WeighText(string(defs), token.Count).Tokens
		}
	}
	var parts scrollback.Parts
	last := 0
	end := func() {
		if len(parts) > 0 {
			tokens += window.Weigh(parts, token.Count, token.ImageTokens).Tokens
		}
		parts = nil
	}
	for _, it := range asked.Items {
		if it.Message != last {
			end()
			last = it.Message
		}
		part, _ := readItem(it)
		if it.Kind == threading.Thinking {
			part = scrollback.Reasoning{Text: it.Text}
		}
		parts = append(parts, part)
	}
	end()
	return tokens
}
