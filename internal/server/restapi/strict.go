package restapi

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/nearest"
)

// maxDepth is how deep the JSON of a request may be nested.
const maxDepth = 100

// checkStrictly lets a request through that says nothing its operation does not know: a field
// or parameter that would be ignored is an error. What is known is what /openapi.json says.
func (a *api) checkStrictly(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	err := checkQuery(ctx.Operation(), r)
	if err == nil && r.Method != http.MethodGet {
		err = a.checkBody(ctx.Operation(), w, r)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	next(readRequest{ctx})
}

// readRequest is a request whose body has been read: the router may not set a time for that any
// more, because it would end the response.
type readRequest struct{ humaContext }

// humaContext has a name of its own because the interface has a method Context.
type humaContext = huma.Context

// Unwrap serves [humago.Unwrap].
func (r readRequest) Unwrap() huma.Context { return r.humaContext }

// SetReadDeadline implements [huma.Context].
func (readRequest) SetReadDeadline(time.Time) error { return nil }

// checkQuery checks the names and types of a request's parameters, and that each is given
// once.
func checkQuery(op *huma.Operation, r *http.Request) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return scrollback.ParamErrorf("restapi", "query", i18n.QueryOfAddressUnreadable)
	}
	known := map[string]*huma.Param{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			known[p.Name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		p := known[name]
		switch {
		case p == nil:
			return newUnknownError(i18n.KindParameter, "", name, slices.Collect(maps.Keys(known)))
		case len(q[name]) > 1:
			return scrollback.ParamErrorf("restapi", name, i18n.ParameterGivenTwice, name)
		case !isReadable(q[name][0], p.Schema.Type):
			return scrollback.ParamErrorf("restapi", name, i18n.ParameterHasWrongType, name, kinds[p.Schema.Type], q[name][0])
		}
	}
	return nil
}

// isReadable reports whether a text can be read as a type.
func isReadable(text, kind string) (ok bool) {
	var err error
	switch kind {
	case huma.TypeInteger:
		_, err = strconv.ParseInt(text, 10, 64)
	case huma.TypeBoolean:
		_, err = strconv.ParseBool(text)
	}
	return err == nil
}

// checkBody reads the body of a request, checks it, and puts it back.
func (a *api) checkBody(op *huma.Operation, w http.ResponseWriter, r *http.Request) error {
	raw, err := io.ReadAll(newBoundedBody(w, r, a.limits.Body, "limits.body_bytes"))
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	schema := &huma.Schema{Type: huma.TypeObject}
	required := false
	if op.RequestBody != nil {
		schema = op.RequestBody.Content["application/json"].Schema
		required = op.RequestBody.Required
	}
	switch blank := len(bytes.TrimSpace(raw)) == 0; {
	case blank && required:
		return scrollback.ParamErrorf("restapi", "body", i18n.RequestHasNoBody)
	case blank:
		r.Body = http.NoBody
		return nil
	}
	if sent := r.Header.Get("Content-Type"); sent != "" {
		media, params, err := mime.ParseMediaType(sent)
		if charset := params["charset"]; err != nil || media != "application/json" ||
			charset != "" && !strings.EqualFold(charset, "utf-8") {
			return scrollback.ParamErrorf("restapi", "Content-Type", i18n.SendBodyAsJSON, sent)
		}
	}
	switch {
	case !utf8.Valid(raw):
		return scrollback.ParamErrorf("restapi", "body", i18n.BodyIsNotUTF8)
	case jsonDepth(raw) > maxDepth:
		return scrollback.ParamErrorf("restapi", "body", i18n.BodyNestedTooDeep, maxDepth)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return scrollback.ParamErrorf("restapi", "body", i18n.BodyIsNotJSON, err)
	}
	return (&checker{op: op.OperationID, schemas: a.huma.OpenAPI().Components.Schemas}).checkValue("", schema, whole)
}

// jsonDepth returns how deep JSON is nested.
func jsonDepth(raw []byte) (most int) {
	now := 0
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

// reserved are the fields that the contract names and a request cannot set, and why: of
// an operation, by their path.
var reserved = func() map[string]i18n.ID {
	ours := i18n.FieldNotForRequest
	out := map[string]i18n.ID{}
	for _, op := range []string{"create-conversation", "patch-conversation"} {
		for _, name := range []string{"version", "branch", "messages", "created_at", "updated_at", "parent", "deleted_at"} {
			out[op+"."+name] = ours
		}
	}
	for _, name := range []string{"name", "conversations", "version", "created_at", "updated_at"} {
		out["put-project."+name] = ours
	}
	out["patch-conversation.id"] = ours
	out["patch-conversation.history"] = ours
	return out
}()

// newUnknownError returns the error for a name that is not known; it suggests the nearest that is.
func newUnknownError(kind i18n.ID, under, name string, known []string) error {
	slices.Sort(known)
	hint := scrollback.NewSentence(i18n.NoneKnownHere)
	if near := nearest.FindNearest(name, known); near != "" {
		hint = scrollback.NewSentence(i18n.DidYouMean, near)
	} else if len(known) > 0 {
		hint = scrollback.NewSentence(i18n.KnownAre, strings.Join(known, ", "))
	}
	return scrollback.ParamErrorf("restapi", under+name, i18n.UnknownName, kind, under+name, hint)
}
