package geminiapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// request is the body of a request. What is not in it the server does not know.
type request struct {
	SystemInstruction *content `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
		GoogleSearch *struct{} `json:"googleSearch"`
	} `json:"tools"`
	ToolConfig *struct {
		FunctionCallingConfig struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Contents         []content `json:"contents"`
	GenerationConfig struct {
		MaxOutputTokens int64 `json:"maxOutputTokens"`
		ThinkingConfig  *struct {
			IncludeThoughts bool   `json:"includeThoughts"`
			ThinkingLevel   string `json:"thinkingLevel"`
			ThinkingBudget  *int64 `json:"thinkingBudget"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
	ContinuationToken string `json:"continuationToken,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is a part, read and written.
type part struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	FunctionCall     *function         `json:"functionCall,omitempty"`
	FunctionResponse *function         `json:"functionResponse,omitempty"`
	ExecutableCode   map[string]string `json:"executableCode,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type function struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

// refuseInvalid returns the refusal of most rules.
func refuseInvalid(rule, format string, args ...any) *modeltest.Refused {
	return modeltest.Refused{Rule: rule, Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT"}.WithWords(format,
		args...)
}

func (s *server) Read(r *http.Request, body []byte) (model.Request, *modeltest.Refused) {
	id, method := parseTarget(r)
	if why := s.checkEntry(r, id); why != nil {
		return model.Request{}, why
	}
	if method != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse" {
		return model.Request{}, modeltest.Refused{Rule: "method", Status: http.StatusNotFound,
			Code: "NOT_FOUND"}.WithWords("Requested entity was not found.")
	}
	if modeltest.IllFormed(body) {
		return model.Request{}, refuseInvalid("well-formed",
			"Invalid JSON payload received. Parsing terminated before end of input: invalid Unicode code point.")
	}
	var q request
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		name := quoted.FindString(err.Error())
		return model.Request{}, refuseInvalid("field", "Invalid JSON payload received. Unknown name %s: Cannot find field.",
			name)
	}
	for _, name := range s.o.Refuse {
		if bytes.Contains(body, []byte(`"`+name+`":`)) {
			return model.Request{}, refuseInvalid("field",
				"Invalid JSON payload received. Unknown name %q at 'generation_config': Cannot find field.", name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, judge := range []func(string, request) *modeltest.Refused{s.checkContinued, s.checkSize, s.checkTools,
		s.checkThinking, s.checkTurns,
		s.checkParts, s.checkSignatures} {
		if why := judge(id, q); why != nil {
			return model.Request{}, why
		}
	}
	s.asked[r] = q
	return toRequest(q), nil
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// checkContinued judges a request that goes on with an answer: it is the same as before.
func (s *server) checkContinued(_ string, q request) *modeltest.Refused {
	if q.ContinuationToken == "" {
		return nil
	}
	if rest, ok := s.more[q.ContinuationToken]; !ok || rest.body != withoutToken(q) {
		return refuseInvalid("continuation", "Invalid continuation token.")
	}
	return nil
}

// withoutToken returns a request without its token.
func withoutToken(q request) string {
	q.ContinuationToken = ""
	b, _ := json.Marshal(q) // our own types always encode
	return string(b)
}

func (s *server) checkSize(_ string, q request) *modeltest.Refused {
	if n := countTokens(q); n > s.o.Limit {
		return refuseInvalid("too-long", "The input token count (%d) exceeds the maximum number of tokens allowed (%d).", n,
			s.o.Limit)
	}
	if n := q.GenerationConfig.MaxOutputTokens; n > s.o.MaxOutput {
		return refuseInvalid("max-output",
			"Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive). Update the value and try again.", n, s.o.MaxOutput+1)
	}
	return nil
}

func countTokens(q request) int64 {
	q.Tools = nil
	return int64(len(withoutToken(q))) / 4
}

var functionName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)

func (s *server) checkTools(id string, q request) *modeltest.Refused {
	gemma := strings.HasPrefix(id, "gemma")
	if gemma && q.SystemInstruction != nil {
		return refuseInvalid("system", "Developer instruction is not enabled for models/%s", id)
	}
	for i, t := range q.Tools {
		switch {
		case t.GoogleSearch == nil:
		case s.o.NoSearch:
			return refuseInvalid("search", "Search Grounding is not supported.")
		case len(q.Tools) > 1 || len(t.FunctionDeclarations) > 0:
			return refuseInvalid("search", "Tool use with function calling is unsupported")
		}
		if gemma {
			return refuseInvalid("calling", "Function calling is not enabled for models/%s", id)
		}
		for j, f := range t.FunctionDeclarations {
			if !functionName.MatchString(f.Name) {
				return refuseInvalid("name",
					"* GenerateContentRequest.tools[%d].function_declarations[%d].name: [Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.]", i, j)
			}
		}
	}
	return nil
}

func (s *server) checkThinking(id string, q request) *modeltest.Refused {
	t := q.GenerationConfig.ThinkingConfig
	pro := strings.Contains(id, "-pro")
	v := modelVersion(id)
	if t == nil {
		return nil
	}
	level := t.ThinkingLevel
	budget := t.ThinkingBudget
	switch {
	case strings.HasPrefix(id, "gemma") || v < 2.5:
		return refuseInvalid("thinking", "Thinking is not enabled for models/%s", id)
	case level != "" && budget != nil:
		return refuseInvalid("level-and-budget", "You can only set only one of thinking budget and thinking level.")
	case level != "" && v < 3, level == "MINIMAL" && (pro || v == 3.7),
		level != "" && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, level):
		return refuseInvalid("level",
			"Thinking level %s is not supported for this model. Please retry with other thinking level.",
			level)
	case budget != nil && *budget == 0 && pro:
		return refuseInvalid("budget", "Budget 0 is invalid. This model only works in thinking mode.")
	case budget != nil && (*budget < -1 || *budget > 32768 || *budget > 24576 && !pro ||
		*budget > 0 && *budget < 128 && pro):
		return refuseInvalid("budget", "The thinking budget (%d) is invalid.", *budget)
	case budget != nil && *budget == 0 && t.IncludeThoughts:
		return refuseInvalid("thoughts", "Thinking_config.include_thoughts is only enabled when thinking is enabled.")
	}
	return nil
}

// checkTurns judges the order of turns.
func (s *server) checkTurns(_ string, q request) *modeltest.Refused {
	if len(q.Contents) == 0 {
		return refuseInvalid("something", "* GenerateContentRequest.contents: contents is not specified\n")
	}
	calls := []function(nil)
	before := ""
	for i, c := range q.Contents {
		var made, answered []function
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				made = append(made, *p.FunctionCall)
			}
			if p.FunctionResponse != nil {
				answered = append(answered, *p.FunctionResponse)
			}
		}
		switch {
		case c.Role != "user" && c.Role != "model":
			return refuseInvalid("role", "Please use a valid role: user, model.")
		case len(c.Parts) == 0:
			return refuseInvalid("empty", "* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", i)
		case len(made) > 0 && (c.Role != "model" || before != "user"):
			return refuseInvalid("call-turn",
				"Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case len(answered) > 0 && len(calls) == 0:
			return refuseInvalid("response-turn",
				"Please ensure that function response turn comes immediately after a function call turn.")
		case len(answered) != len(calls), len(answered) > 0 && len(answered) != len(c.Parts):
			return refuseInvalid("response-number",
				"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		}
		for j, f := range answered {
			if f.Name != calls[j].Name || f.ID != calls[j].ID {
				return refuseInvalid("response-match",
					"Please ensure that function response parts match the function call parts of the function call turn.")
			}
		}
		calls = made
		before = c.Role
	}
	if len(calls) > 0 || before != "user" {
		return refuseInvalid("user-last",
			"Please ensure that the conversation ends with a user turn or a function response turn.")
	}
	return nil
}

var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}

// checkParts judges each part by itself.
func (s *server) checkParts(_ string, q request) *modeltest.Refused {
	all := q.Contents
	if q.SystemInstruction != nil {
		all = append([]content{*q.SystemInstruction}, all...)
	}
	for i, c := range all {
		for j, p := range c.Parts {
			at := fmt.Sprintf("contents[%d].parts[%d]", i, j)
			switch {
			case p.Text == nil && p.InlineData == nil && p.FunctionCall == nil && p.FunctionResponse == nil &&
				p.ExecutableCode == nil:
				return refuseInvalid("part",
					"* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", at)
			case p.Text != nil && *p.Text == "" && p.ThoughtSignature == "":
				return refuseInvalid("empty-text",
					"Unable to submit request because it must have a text parameter. Add a text parameter and try again.")
			case p.InlineData != nil && (len(p.InlineData.Data) == 0 || !slices.Contains(imageTypes, p.InlineData.MimeType)):
				return refuseInvalid("image", "Unsupported MIME type: %s", p.InlineData.MimeType)
			case p.FunctionCall != nil && !isObject(p.FunctionCall.Args, true):
				return refuseInvalid("args",
					"Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
			case p.FunctionResponse != nil && !isObject(p.FunctionResponse.Response, false):
				return refuseInvalid("response",
					"Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct)", at)
			case p.FunctionResponse != nil && bytes.Contains(p.FunctionResponse.Response, []byte(`"$ref":`)):
				return refuseInvalid("ref", "The function response refers to a part that does not exist ($ref)")
			}
		}
	}
	return nil
}

func isObject(raw json.RawMessage, absent bool) bool {
	var fields map[string]json.RawMessage
	return len(raw) == 0 && absent || json.Unmarshal(raw, &fields) == nil && fields != nil
}

// toRequest returns a request in our own words, without images.
func toRequest(q request) model.Request {
	out := model.Request{MaxOutputTokens: q.GenerationConfig.MaxOutputTokens}
	out.AnswerOnly = q.ToolConfig != nil && q.ToolConfig.FunctionCallingConfig.Mode == "NONE"
	for _, t := range q.Tools {
		out.WebSearch = out.WebSearch || t.GoogleSearch != nil
		for _, f := range t.FunctionDeclarations {
			out.Tools = append(out.Tools, scrollback.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
		}
	}
	for _, c := range q.Contents {
		it := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.RoleUser}
		if c.Role == "model" {
			it.Role = scrollback.RoleAssistant
		}
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				it.Parts = append(it.Parts, scrollback.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name,
					Arguments: p.FunctionCall.Args})
			case p.FunctionResponse != nil:
				it.Role = scrollback.RoleTool
				it.Parts = append(it.Parts, scrollback.ToolResult{CallID: p.FunctionResponse.ID, Name: p.FunctionResponse.Name,
					Text: string(p.FunctionResponse.Response)})
			case p.Text != nil && !p.Thought:
				it.Parts = append(it.Parts, scrollback.Text{Text: *p.Text})
			}
		}
		out.Items = append(out.Items, it)
	}
	return out
}
