package spec

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
)

// Tags are the groups of operations, in the order in which they are shown.
var Tags = []*huma.Tag{
	{Name: "Conversations",
		Description: "Conversations and their messages. Nothing that was said is ever changed; what is deleted can be taken out of the trash."},
	{Name: "Turns",
		Description: "A turn goes from a message to its answer. It runs on the server, whether or not the client stays connected."},
	{Name: "Branches", Description: "Going back to an earlier message, and continuing from one in a new conversation."},
	{Name: "Context", Description: "What the next request to a model would hold, and compacting what is old."},
	{Name: "Recall", Description: "Finding what was said, and reading originals behind the refs of compacted messages."},
	{Name: "Files", Description: "Attachments, transcripts of other tools, and bundles."},
	{Name: "Projects", Description: "Projects group conversations."},
	{Name: "Models and usage", Description: "Which models can be asked, and what they have cost."},
	{Name: "Access", Description: "Keys, and signing in."},
	{Name: "Server", Description: "Whether the server runs, and its description."},
}

// The names of the two ways to say who asks.
const (
	keyScheme     = "key"
	sessionScheme = "session"
)

// Fault is the body of every error.
type Fault struct {
	Error FaultDetail `json:"error"`
}

// FaultDetail says what is wrong.
type FaultDetail struct {
	Code      scrollback.Code   `json:"code"`
	Message   string            `json:"message"`
	Param     string            `json:"param,omitempty"`
	Cause     string            `json:"cause,omitempty"`
	Advice    scrollback.Advice `json:"advice,omitempty"`
	Setting   string            `json:"setting,omitempty"`
	Permanent bool              `json:"permanent,omitempty"`
	Suspect   int64             `json:"suspect_seq,omitempty"`
	// Of a failure that is logged: what its line in the log is found by.
	RequestID string `json:"request_id,omitempty"`
}

// faults are the responses that say that something went wrong, by status: their names in
// the description, and what they mean.
var faults = map[int]struct{ name, means string }{
	http.StatusBadRequest: {"Invalid",
		"The request is wrong: `invalid`. `param` names the field or parameter."},
	http.StatusUnauthorized: {"Unauthorized", "No key, or one that is wrong, expired or revoked: `refused`."},
	http.StatusForbidden: {"Refused",
		"Not allowed: `refused`. The key may not do this, or the request comes from a page of another site."},
	http.StatusNotFound: {"NotFound", "No such thing, or none that the caller may see: `not_found`."},
	http.StatusConflict: {"Conflict", "Something else was first, as another turn that is open: `conflict`."},
	http.StatusPreconditionFailed: {"Outdated",
		"The version that `If-Match` names is not the current one: `conflict`."},
	http.StatusRequestEntityTooLarge: {"TooLarge", "Something is over a limit, which the message names: `invalid`."},
	http.StatusUnprocessableEntity: {"OverBudget",
		"The request does not fit the model's window, even compacted: `over_budget`."},
	http.StatusTooManyRequests: {"RateLimited",
		"Too many requests: `rate_limited`. `Retry-After` says when to try again, if it is known."},
	499:                            {"Canceled", "The turn was stopped, or the server shuts down: `canceled`."},
	http.StatusInternalServerError: {"Failed", "A fault of the server: `internal`."},
	http.StatusBadGateway:          {"UpstreamFailed", "The provider of the model failed: `unavailable`."},
	http.StatusServiceUnavailable:  {"Unavailable", "The store cannot be read or written now: `unavailable`."},
}

// Complete adds to the description what the handlers' types do not say. It is called once,
// when all operations are there.
func Complete(api *huma.OpenAPI) error {
	sheets, err := Sheets()
	if err != nil {
		return err
	}
	r := api.Components.Schemas
	addOutside(api)
	addHead(api)
	fault := r.Schema(typeOf[Fault](), true, "")
	api.Components.Responses = map[string]*huma.Response{}
	for _, f := range faults {
		api.Components.Responses[f.name] = &huma.Response{Description: f.means,
			Content: mediaTypes([]Content{{"application/json", fault}})}
	}
	storedPart(r)
	for _, p := range api.Paths {
		for _, op := range operationsOf(p) {
			addResponses(op, sheets[op.OperationID])
			if s := sheets[op.OperationID]; s != nil {
				s.describeOperation(op)
				s.addExample(op, sheets)
			}
		}
	}
	delete(r.Map(), "ErrorModel") // the library's, which is never sent
	delete(r.Map(), "ErrorDetail")
	delete(r.Map(), "Sentence") // what a failure keeps for other languages, which is never sent
	for name, s := range maps.Clone(r.Map()) {
		if t := r.TypeFromRef(schemaPrefix + name); t != nil {
			annotateSchema(r, t, s)
		}
	}
	openObjects(api)
	return describeSchemas(r)
}

// addHead says what the description is of.
func addHead(api *huma.OpenAPI) {
	api.Info.Description = "Keeps conversations for ever, and builds the best context from them for each request.\n\n" +
		"JSON is snake_case, and times are Unix ms. Requests are read strictly: a field or parameter that is not known is an error. " +
		"Responses may get more fields in later versions."
	api.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	api.Servers = []*huma.Server{{URL: "/", Description: "The server that this description was read from."}}
	api.Tags = Tags
	api.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		keyScheme: {Type: "http", Scheme: "bearer",
			Description: "A key, made with `scrollback keys add`. Without keys, a server on the loopback address needs none."},
		sessionScheme: {Type: "apiKey", In: "cookie", Name: SessionCookie,
			Description: "The cookie of the page, which signs in with a key."},
	}
	api.Security = []map[string][]string{{}, {keyScheme: {}}, {sessionScheme: {}}}
}

// SessionCookie is the name of the page's cookie.
const SessionCookie = "scrollback_session"

// operationsOf returns the operations of a path.
func operationsOf(p *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{p.Get, p.Put, p.Post, p.Patch, p.Delete, p.Head, p.Options}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// addResponses names the responses of an operation: those of success, each with its meaning,
// and one for each kind of error.
func addResponses(op *huma.Operation, s *Sheet) {
	var success *huma.Response
	for status, res := range op.Responses {
		if strings.HasPrefix(status, "2") {
			success = res
		} else {
			delete(op.Responses, status)
		}
	}
	if s != nil && success != nil {
		said := map[string]*huma.Response{}
		for status, means := range s.Returns {
			res := *success
			res.Description = means
			if status == strconv.Itoa(http.StatusNoContent) || status >= "300" {
				res.Content = nil
			}
			said[status] = &res
		}
		op.Responses = said
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	for _, status := range failureStatuses(op, s) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + faults[status].name}
	}
}

// failureStatuses returns the statuses of an operation's errors: those of its sheet, and those that
// every operation like it has.
func failureStatuses(op *huma.Operation, s *Sheet) []int {
	var out []int
	if s != nil {
		out = append(out, s.Errors...)
	}
	if !strings.HasPrefix(op.Path, "/api/") {
		return out
	}
	out = append(out, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError,
		http.StatusServiceUnavailable)
	if strings.Contains(op.Path, "{") {
		out = append(out, http.StatusNotFound)
	}
	if op.Method != http.MethodGet {
		out = append(out, http.StatusRequestEntityTooLarge)
	}
	return out
}

// describeOperation adds the words of a sheet to its operation.
func (s *Sheet) describeOperation(op *huma.Operation) {
	op.Tags = []string{s.Tag}
	op.Description = s.Description
	if s.Summary != "" {
		op.Summary = s.Summary
	}
	for i, p := range op.Parameters {
		own := *p // the schema of the original checks requests
		schema := *p.Schema
		own.Schema = &schema
		if own.Description == "" {
			own.Description = schema.Description
		}
		if text := s.Parameters[p.Name]; text != "" {
			own.Description = text
		}
		schema.Description = ""
		for _, v := range s.Values[p.Name] {
			schema.Enum = append(schema.Enum, v)
		}
		op.Parameters[i] = &own
	}
}

// addExample adds the example of a sheet to its operation. One that cannot be read is left
// out, which a test finds.
func (s *Sheet) addExample(op *huma.Operation, sheets map[string]*Sheet) {
	e, err := s.Example.FillReferences(func(operation string) json.RawMessage {
		if other := sheets[operation]; other != nil {
			return other.Example.Response
		}
		return nil
	})
	if err != nil {
		return
	}
	for _, p := range op.Parameters {
		for name, v := range map[string]map[string]string{"path": e.Path, "query": e.Query, "header": e.Headers}[p.In] {
			if name == p.Name {
				p.Example = parseTyped(p.Schema.Type, v)
			}
		}
	}
	if op.RequestBody != nil && e.Body != nil {
		body := *op.RequestBody
		body.Content = maps.Clone(body.Content)
		for media, c := range body.Content {
			own := *c
			own.Example = e.Body
			if len(s.Bodies) > 0 {
				own.Example = nil
				own.Examples = map[string]*huma.Example{"1-usual": {Value: e.Body}}
			}
			for i, b := range s.Bodies {
				own.Examples[strconv.Itoa(i+2)+"-"+b.Name] = &huma.Example{Summary: b.Summary, Value: b.Body}
			}
			body.Content[media] = &own
		}
		op.RequestBody = &body
	}
	res := op.Responses[strconv.Itoa(e.Status)]
	if res == nil || !e.HasResponse() {
		return
	}
	media := e.Media
	if res.Content[media] == nil {
		media = "*/*"
	}
	if res.Content[media] == nil {
		return
	}
	shown := *res.Content[media]
	res.Content = maps.Clone(res.Content)
	res.Content[media] = &shown
	if media != Stream {
		shown.Example = e.Response
		return
	}
	var events []json.RawMessage
	if json.Unmarshal(e.Response, &events) != nil {
		return
	}
	shown.Examples = map[string]*huma.Example{}
	for i, ev := range events {
		shown.Examples[strconv.Itoa(i+1)+"-"+readType(ev, nil)] = &huma.Example{Value: ev}
	}
}

// parseTyped returns the text of a parameter as a value of a type.
func parseTyped(kind, text string) any {
	var v any = text
	if kind != huma.TypeString {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return text
		}
	}
	return v
}
