// Package restapi speaks our own JSON over HTTP and server-sent events.
//
// Words it adds: frame (one server-sent event: one write, one flush).
//
// Invariants: field names are those of the contract and are only added to; an
// error is {"error":{"code","message","param"?,"cause"?,"advice"?,"setting"?,"permanent"?,"suspect_seq"?}} with a
// status from one table; a chat's frames are numbered like the turn's events; a client that disconnects stops
// nothing. Requests may say folding for compaction, its new name.
//
// It knows the engine and the root's types, and no other face.
package restapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/server/markdown"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/shown"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
	"github.com/scrollback-ai/scrollback/internal/server/status"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// BodyLimits bound what a client may send, in bytes.
type BodyLimits struct {
	Body   int64 // of a JSON request; 0 means [DefaultBody]
	Import int64 // of a transcript; 0 means 4 GiB
	Upload int64 // of an attachment; 0 means 20 MiB
}

// DefaultBody is how many bytes a JSON request may have.
const DefaultBody = 1 << 20

// api holds what the handlers share.
type api struct {
	engine  *engine.Engine
	moves   *transfer.Transfer
	gate    *access.Gate
	agents  MachineAgents // nil: none are shown
	backups Backups       // nil: there are none
	remotes Remotes       // nil: there are none
	limits  BodyLimits
	mux     *http.ServeMux
	huma    huma.API

	markdown *markdown.Renderer
}

// Options say what is served.
type Options struct {
	Engine   *engine.Engine
	Transfer *transfer.Transfer
	Gate     *access.Gate  // signs browsers in and out
	Agents   MachineAgents // nil where the machine is not a person's
	Backups  Backups       // nil where there are none
	Remotes  Remotes       // nil where there are none
	Version  string
	Limits   BodyLimits
}

// Mount adds the API to mux.
func Mount(mux *http.ServeMux, o Options) {
	l := o.Limits
	for _, d := range []struct {
		at *int64
		to int64
	}{{&l.Body, DefaultBody}, {&l.Import, 4 << 30}, {&l.Upload, 20 << 20}} {
		if *d.at == 0 {
			*d.at = d.to
		}
	}
	c := huma.DefaultConfig("scrollback", o.Version)
	c.Info.Description = "Keeps conversations for ever, and builds the best context from them for each request."
	c.CreateHooks = nil // they add "$schema" to every response
	// described below, once all is there
	c.DocsPath = ""
	c.SchemasPath = ""
	c.OpenAPIPath = ""
	c.Transformers = []huma.Transformer{shapeRouterError, translateError}
	c.OnAddOperation = append(c.OnAddOperation, func(_ *huma.OpenAPI, op *huma.Operation) {
		op.SkipValidateBody = true // checkStrictly has checked it
	})
	c.Formats = map[string]huma.Format{"application/json": {Marshal: writePlainJSON, Unmarshal: json.Unmarshal},
		"json": {Marshal: writePlainJSON, Unmarshal: json.Unmarshal}}
	a := &api{engine: o.Engine, moves: o.Transfer, gate: o.Gate, agents: o.Agents, backups: o.Backups, remotes: o.Remotes,
		limits: l, mux: mux,
		huma:     humago.New(mux, c),
		markdown: markdown.New()}
	a.huma.UseMiddleware(a.checkStrictly)
	a.addConversations()
	a.addProjects()
	a.addMessages()
	a.addBranches()
	a.addChat()
	a.addCompaction()
	a.addKept()
	a.addBooks()
	a.addRecall()
	a.addTransfer()
	a.addCopies()
	a.addArtifacts()
	a.addSession()
	keyHandlers{api: a}.addKeys()
	keyHandlers{api: a}.addBounds()
	a.addAgents()
	a.addBackups()
	a.addSync()
	a.addEvents()
	a.addDescription()
}

// addDescription completes the description of the API, and serves it.
func (a *api) addDescription() {
	if err := spec.Complete(a.huma.OpenAPI()); err != nil {
		panic("restapi: " + err.Error()) // a sheet that is embedded cannot be read
	}
	document := sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.huma.OpenAPI()) })
	a.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		raw, err := document()
		if err != nil {
			writeError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(raw) // the client may be gone
	})
}

// typeSchemas returns those of the handlers' types.
func (a *api) typeSchemas() huma.Registry { return a.huma.OpenAPI().Components.Schemas }

// viewFor returns the engine as the sender of a request may use it.
func (a *api) viewFor(ctx context.Context) *engine.View { return a.engine.As(access.CallerOf(ctx)) }

// apiFailure is the body of every error, and the error itself.
type apiFailure struct {
	spec.Fault
	status int
	err    error
}

func (f *apiFailure) GetStatus() int { return f.status }

// GetHeaders implements huma.HeadersError: a 401 says how to get in.
func (f *apiFailure) GetHeaders() http.Header {
	if f.status != http.StatusUnauthorized {
		return nil
	}
	return http.Header{"Www-Authenticate": {`Bearer realm="scrollback", error="invalid_token"`}}
}

func (f *apiFailure) Error() string { return f.Fault.Error.Message }

// newFailure returns an error as a client sees it.
func newFailure(err error) *apiFailure {
	f := &apiFailure{status: status.FromError(err), err: err}
	f.Fault.Error.Code = scrollback.CodeOf(err)
	f.Fault.Error.Message = scrollback.PublicMessage(err)
	f.Fault.Error.Permanent = errors.Is(err, scrollback.ErrPermanent)
	var known *scrollback.Error
	if errors.As(err, &known) {
		f.Fault.Error.Suspect = known.Suspect
		f.Fault.Error.Param = known.Param
		f.Fault.Error.Cause = known.Cause
		f.Fault.Error.Advice = known.Advice
		f.Fault.Error.Setting = known.Setting
	}
	return f
}

// wrapAnswer pairs a handler's result with its error as a client sees it.
func wrapAnswer[T any](v *T, err error) (*T, error) {
	if err != nil {
		return nil, newFailure(err)
	}
	return v, nil
}

// shapeRouterError gives the router's own errors (a parameter that is missing or out of
// range) our shape: they are invalid.
func shapeRouterError(ctx huma.Context, _ string, v any) (any, error) {
	if f, ok := v.(*apiFailure); ok {
		_, w := humago.Unwrap(ctx)
		f.Fault.Error.RequestID = status.NoteError(w, f.err)
		return f, nil
	}
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	f := &apiFailure{status: m.Status}
	f.Fault.Error.Code = scrollback.Invalid
	f.Fault.Error.Message = m.Detail
	for i, d := range m.Errors {
		if i == 0 {
			f.Fault.Error.Message = d.Message
			f.Fault.Error.Param = strings.TrimPrefix(d.Location, "query.")
		}
	}
	if m.Status == http.StatusUnprocessableEntity {
		if _, w := humago.Unwrap(ctx); w != nil {
			if o, ok := w.(*overridable); ok {
				o.status = http.StatusBadRequest
			}
		}
	}
	ctx.SetHeader("Content-Type", "application/json")
	f.err = scrollback.ParamErrorf("restapi", f.Fault.Error.Param, "%s", f.Fault.Error.Message)
	return f, nil
}

// translateError writes errors in the language that the client prefers.
func translateError(ctx huma.Context, _ string, v any) (any, error) {
	l := language.Of(ctx.Header("Accept-Language"))
	switch v := v.(type) {
	case *apiFailure:
		v.inLanguage(l)
		ctx.SetHeader("Content-Language", string(l))
	case scrollback.Receipt:
		return l.Receipt(v), nil
	case receiptList:
		for i := range v.Receipts {
			v.Receipts[i] = l.Receipt(v.Receipts[i])
		}
	case shown.MessagePage:
		for i, t := range v.Turns {
			if t.Error != nil {
				said := l.Failure(*t.Error)
				v.Turns[i].Error = &said
			}
		}
	}
	return v, nil
}

// inLanguage says the failure in a language.
func (f *apiFailure) inLanguage(l language.Language) { f.Fault.Error.Message = l.Shown(f.err) }

// Wrap lets the API set the status of errors that the router itself reports.
func Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&overridable{ResponseWriter: w}, r)
	})
}

// overridable is a response whose status is decided before it is written.
type overridable struct {
	http.ResponseWriter
	status int
}

func (o *overridable) WriteHeader(status int) {
	if o.status != 0 {
		status = o.status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (o *overridable) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// addRaw adds a streaming handler, and its entry in the description of the API.
func (a *api) addRaw(op huma.Operation, fn func(w http.ResponseWriter, r *http.Request) error) {
	a.huma.OpenAPI().AddOperation(&op)
	a.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		err := checkQuery(&op, r)
		if err == nil {
			err = fn(w, r)
		}
		if err != nil {
			writeError(w, r, err)
		}
	})
}

// writeError writes an error if nothing was written yet.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := newFailure(err)
	l := language.Of(r.Header.Get("Accept-Language"))
	f.inLanguage(l)
	f.Fault.Error.RequestID = status.NoteError(w, err)
	w.Header().Set("Content-Language", string(l))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	// The client may be gone; there is nobody else to tell.
	_ = writePlainJSON(w, f)
}

// queryParam returns a parameter in the query: a text, or a switch.
func queryParam(name, kind, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: kind}}
}

func pathParam(name, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Description: doc, Schema: &huma.Schema{Type: "string"}}
}
