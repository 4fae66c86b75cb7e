package gemini

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// request is the body of streamGenerateContent.
type request struct {
	SystemInstruction *content        `json:"systemInstruction,omitempty"`
	Tools             []toolset       `json:"tools,omitempty"`
	ToolConfig        *toolConfig     `json:"toolConfig,omitempty"`
	Contents          []content       `json:"contents"`
	GenerationConfig  *generation     `json:"generationConfig,omitempty"`
	ContinuationToken json.RawMessage `json:"continuationToken,omitempty"`
}

// content is one turn: user or model. Its parts are of type part, or raw where the
// server's own part goes back.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type part struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	ThoughtSignature json.RawMessage   `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"` // base64 in JSON
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// functionResponse holds a result as text under output or error: the server would take a
// JSON $ref in an object of ours for one of its own.
type functionResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type toolset struct {
	FunctionDeclarations []declaration `json:"functionDeclarations,omitempty"`
	GoogleSearch         *struct{}     `json:"googleSearch,omitempty"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	FunctionCallingConfig struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

type generation struct {
	MaxOutputTokens int64           `json:"maxOutputTokens,omitempty"`
	ThinkingConfig  *thinkingConfig `json:"thinkingConfig,omitempty"`
}

// planRequest returns the next request, by what is known about the server.
func (a *answerReader) planRequest(ctx context.Context, known scrollback.Learned) (remote.Exchange, error) {
	a.startHop()
	a.known = known
	a.transcript = transcript{m: a.m, r: a.r}
	a.shown = remote.WithoutRefusedImages(a.r, known)
	if err := a.writeItems(ctx); err != nil {
		return remote.Exchange{}, err
	}
	m := a.m
	r := a.r
	body := request{Contents: a.contents, ContinuationToken: a.token}
	if len(a.system) > 0 {
		if m.family.gemma || known.Strict == scrollback.StrictNoSystem {
			body.Contents = prependSystem(a.system, body.Contents)
		} else {
			body.SystemInstruction = &content{Parts: a.system}
		}
	}
	var params []string
	var judge func(remote.Problem) *scrollback.Error
	searches := r.WebSearch && !m.family.gemma && !remote.IsDropped(known, model.WebSearch)
	switch {
	case searches: // which the server does beside no function
		body.Tools = []toolset{{GoogleSearch: &struct{}{}}}
		judge = m.recognizeNoSearch
	case len(r.Tools) > 0 && !remote.IsDropped(known, wordsCalling):
		body.Tools = []toolset{{FunctionDeclarations: declareTools(r.Tools)}}
		params = append(params, wordsCalling)
		if r.AnswerOnly {
			body.ToolConfig = &toolConfig{}
			body.ToolConfig.FunctionCallingConfig.Mode = "NONE"
		}
	}
	thinking, of := m.family.thinkingConfig(r, known)
	if g := (generation{MaxOutputTokens: remote.OutputLimit(r, known), ThinkingConfig: thinking}); g != (generation{}) {
		body.GenerationConfig = &g
	}
	verb := ":streamGenerateContent?alt=sse"
	if r.Forward != nil && r.Forward.Whole {
		verb = ":generateContent"
	}
	read := a.readHop
	if r.Forward != nil && r.Forward.Count {
		verb = ":countTokens"
		read = remote.ReadCount
	}
	return remote.Exchange{URL: m.requestURL() + verb, Header: m.requestHeader(), Body: body,
		Params: append(params, of...), Judge: judge, Tally: &a.tally, Read: read}, nil
}

// recognizeNoSearch recognises that the server does not search the web for this model.
func (m *Model) recognizeNoSearch(p remote.Problem) *scrollback.Error {
	words := strings.ToLower(p.Message)
	if p.Status != 400 || !strings.Contains(words, "google_search") && !strings.Contains(words, "googlesearch") &&
		!strings.Contains(words, "search grounding") && !strings.Contains(words, "search as tool") {
		return nil
	}
	return remote.NewRefusalError(m.place.Options.Provider, model.WebSearch)
}

func declareTools(tools []scrollback.Tool) []declaration {
	var out []declaration
	for _, t := range tools {
		out = append(out, declaration{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return out
}

// prependSystem puts system text before what the user says first, for models that take no
// instructions.
func prependSystem(system []any, turns []content) []content {
	first := content{Role: roleUser, Parts: system}
	if len(turns) > 0 && turns[0].Role == roleUser {
		first.Parts = slices.Concat(system, turns[0].Parts)
		turns = turns[1:]
	}
	return append([]content{first}, turns...)
}

var version = lazyregexp.New(`/v\d+(?:alpha|beta)?\d*$`)

// requestURL returns the address of the model.
func (m *Model) requestURL() string {
	base := m.place.BaseURL
	if !version().MatchString(base) {
		base += "/v1beta"
	}
	kind := "models"
	id := m.place.Model
	if k, rest, ok := strings.Cut(id, "/"); ok && (k == "models" || k == "tunedModels") {
		kind = k
		id = rest
	}
	return base + "/" + kind + "/" + url.PathEscape(id)
}

func (m *Model) requestHeader() map[string]string {
	if m.place.Options.Key == "" {
		return nil
	}
	return map[string]string{"X-Goog-Api-Key": m.place.Options.Key}
}
