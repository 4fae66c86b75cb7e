package modeltest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
)

// GeminiOptions say what the stand-in of Google's server is like. Zero values are
// those of the real one.
type GeminiOptions struct {
	Key       string   // empty takes any key
	Models    []string // that are served; empty for one of each family
	Limit     int64    // tokens of input, four bytes each; 0 means 1,048,576
	MaxOutput int64    // 0 means 65,536
	Refuse    []string // fields that it does not know
	NoIDs     bool     // calls come without ids
	Hop       int      // frames after which an answer goes on in another request; 0 for never
}

// NewGemini stands in for the server of the Gemini API.
func NewGemini(m model.Model, o *GeminiOptions) *Strict {
	g := &gemini{given: map[string]geminiPart{}, ids: map[string]string{}, more: map[string]geminiRest{}, asked: map[*http.Request]geminiRequest{}}
	if o != nil {
		g.o = *o
	}
	if len(g.o.Models) == 0 {
		g.o.Models = []string{"gemini-3-flash-preview", "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.0-flash", "gemma-3-27b-it"}
	}
	g.o.Limit, g.o.MaxOutput = cmp.Or(g.o.Limit, 1<<20), cmp.Or(g.o.MaxOutput, 1<<16)
	return &Strict{model: m, speak: g}
}

// gemini is the protocol of the Gemini API.
type gemini struct {
	o GeminiOptions

	mu      sync.Mutex
	answers []geminiAnswer
	given   map[string]geminiPart // by signature
	ids     map[string]string     // of calls → the model that made them
	more    map[string]geminiRest // by token
	asked   map[*http.Request]geminiRequest
}

// geminiPart is where a signature was given: on which part of which answer.
type geminiPart struct {
	answer int
	part   string // without its signature
}

// geminiAnswer is what is kept of an answer, to know it again.
type geminiAnswer struct {
	model, text, thoughts string
	signatures            []string
}

// geminiRest is what is left of an answer that goes on in another request.
type geminiRest struct {
	body   string
	frames []geminiFrame
}

const geminiPrefix = "/v1beta/models/"

// geminiModel is the model that a request names, and what it wants of it.
func geminiModel(r *http.Request) (id, method string) {
	id, method, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, geminiPrefix), ":")
	return id, method
}

func (g *gemini) handles(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, geminiPrefix)
}

// serve tells of a model what the list of models does.
func (g *gemini) serve(w http.ResponseWriter, r *http.Request) {
	id, _ := geminiModel(r)
	if why := g.entry(r, id); why != nil {
		g.refuse(w, *why)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "models/" + id, "inputTokenLimit": g.o.Limit, "outputTokenLimit": g.o.MaxOutput, // the client may be gone
		"supportedGenerationMethods": []string{"generateContent", "countTokens"}})
}

// entry judges the key and the model.
func (g *gemini) entry(r *http.Request, id string) *Refused {
	switch key := r.Header.Get("X-Goog-Api-Key"); {
	case key == "":
		return refusef("no-key", 403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.")
	case g.o.Key != "" && key != g.o.Key:
		return refusef("bad-key", 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
	case !slices.Contains(g.o.Models, id):
		return refusef("no-model", 404, "NOT_FOUND", "models/%s is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.", id)
	}
	return nil
}

// geminiError is the body of a refusal.
type geminiError struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []any  `json:"details,omitempty"`
	} `json:"error"`
}

func (g *gemini) refuse(w http.ResponseWriter, why Refused) {
	var body geminiError
	body.Error.Code, body.Error.Message, body.Error.Status = why.Status, why.Words, why.Code
	switch why.Rule {
	case "bad-key":
		body.Error.Details = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
			"domain": "googleapis.com", "metadata": map[string]string{"service": "generativelanguage.googleapis.com"}}}
	case "field":
		body.Error.Details = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations": []any{map[string]string{"description": why.Words}}}}
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(why.Status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(body) // the client may be gone
}

// geminiVersion is that of a model: 3 of gemini-3.1-pro is 3.1.
func geminiVersion(id string) float64 {
	v, _ := strconv.ParseFloat(geminiNumber.FindString(id), 64)
	return v
}

var geminiNumber = regexp.MustCompile(`\d+(\.\d+)?`)

// geminiSigns says that a model refuses calls without a signature.
func geminiSigns(id string) bool { return strings.HasPrefix(id, "gemini-") && geminiVersion(id) >= 3 }

// geminiStandIn is the signature that Google documents for calls of other models.
const geminiStandIn = "skip_thought_signature_validator"

// signed judges what was given out to be sent back. The real server looks at the
// calls of the present turn; this one looks at everything, so that nothing is lost
// unseen.
func (g *gemini) signed(id string, q geminiRequest) *Refused {
	for i, c := range q.Contents {
		if c.Role != "model" {
			continue
		}
		if why := g.turn(id, i, c); why != nil {
			return why
		}
	}
	return nil
}

func (g *gemini) turn(id string, at int, c geminiContent) *Refused {
	var found []string
	text, thoughts, called := "", "", false
	for _, p := range c.Parts {
		switch {
		case p.Text != nil && p.Thought:
			thoughts += *p.Text
		case p.Text != nil:
			text += *p.Text
		}
		if f := p.FunctionCall; f != nil {
			if f.ID != "" && g.ids[f.ID] != id {
				return geminiInvalid("foreign-id", "Function call id %q is unknown.", f.ID)
			}
			if !called && geminiSigns(id) && p.ThoughtSignature == "" {
				return geminiInvalid("signature-missing", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", f.Name, at+1)
			}
			standsIn := p.ThoughtSignature == geminiStandIn && !called && f.ID == "" && geminiSigns(id)
			if called = true; standsIn {
				continue
			}
		}
		if p.ThoughtSignature == "" {
			continue
		}
		given, ok := g.given[p.ThoughtSignature]
		if !ok || g.answers[given.answer].model != id || given.part != geminiBare(p) {
			return geminiInvalid("signature-corrupted", "Corrupted thought signature.")
		}
		found = append(found, p.ThoughtSignature)
	}
	return g.whole(id, geminiAnswer{id, text, thoughts, found})
}

// whole judges that an answer of the model, known again by its words or signatures,
// came back with all its signatures in order, and that no thoughts of others did.
func (g *gemini) whole(id string, c geminiAnswer) *Refused {
	same, thoughts := false, c.thoughts == ""
	mine := false
	for _, a := range g.answers {
		if a.model != id {
			continue
		}
		thoughts = thoughts || a.thoughts == c.thoughts
		if a.text != "" && a.text == c.text || slices.ContainsFunc(a.signatures, func(s string) bool { return slices.Contains(c.signatures, s) }) {
			mine = true
			same = same || slices.Equal(a.signatures, c.signatures)
		}
	}
	switch {
	case mine && !same:
		return geminiInvalid("signature-lost", "Corrupted thought signature.")
	case !thoughts:
		return geminiInvalid("foreign-thought", "Corrupted thought signature.")
	}
	return nil
}

// geminiBare is a part without its signature.
func geminiBare(p geminiPartial) string {
	p.ThoughtSignature = ""
	b, _ := json.Marshal(p) // our own types always encode
	return string(b)
}

// sign gives a part of the n-th answer a signature.
func (g *gemini) sign(n int, p *geminiPartial) {
	a := &g.answers[n]
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d %d %s", n, len(a.signatures), a.model)))
	p.ThoughtSignature = base64.StdEncoding.EncodeToString(append([]byte{0x12, byte(n), 0xfb, 0xff}, sum[:]...))
	a.signatures = append(a.signatures, p.ThoughtSignature)
	g.given[p.ThoughtSignature] = geminiPart{n, geminiBare(*p)}
}
