package modeltest

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
)

// geminiRequest is the body of a request. What is not in it the server does not
// know.
type geminiRequest struct {
	SystemInstruction *geminiContent `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig *struct {
		FunctionCallingConfig struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Contents         []geminiContent `json:"contents"`
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

type geminiContent struct {
	Role  string          `json:"role,omitempty"`
	Parts []geminiPartial `json:"parts"`
}

// geminiPartial is a part, read and written.
type geminiPartial struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	InlineData       *geminiBlob       `json:"inlineData,omitempty"`
	FunctionCall     *geminiFunction   `json:"functionCall,omitempty"`
	FunctionResponse *geminiFunction   `json:"functionResponse,omitempty"`
	ExecutableCode   map[string]string `json:"executableCode,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

type geminiBlob struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

type geminiFunction struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

// geminiInvalid is the refusal of most rules.
func geminiInvalid(rule, format string, args ...any) *Refused {
	return refusef(rule, http.StatusBadRequest, "INVALID_ARGUMENT", format, args...)
}

func (g *gemini) read(r *http.Request, body []byte) (model.Request, *Refused) {
	id, method := geminiModel(r)
	if why := g.entry(r, id); why != nil {
		return model.Request{}, why
	}
	if method != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse" {
		return model.Request{}, refusef("method", http.StatusNotFound, "NOT_FOUND", "Requested entity was not found.")
	}
	var q geminiRequest
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		name := geminiQuoted.FindString(err.Error())
		return model.Request{}, geminiInvalid("field", "Invalid JSON payload received. Unknown name %s: Cannot find field.", name)
	}
	for _, name := range g.o.Refuse {
		if bytes.Contains(body, []byte(`"`+name+`":`)) {
			return model.Request{}, geminiInvalid("field", "Invalid JSON payload received. Unknown name %q at 'generation_config': Cannot find field.", name)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, judge := range []func(string, geminiRequest) *Refused{g.continued, g.size, g.tools, g.thinking, g.turns, g.parts, g.signed} {
		if why := judge(id, q); why != nil {
			return model.Request{}, why
		}
	}
	g.asked[r] = q
	return geminiItems(q), nil
}

var geminiQuoted = regexp.MustCompile(`"[^"]*"`)

// continued judges a request that goes on with an answer: it is the same as before.
func (g *gemini) continued(_ string, q geminiRequest) *Refused {
	if q.ContinuationToken == "" {
		return nil
	}
	if rest, ok := g.more[q.ContinuationToken]; !ok || rest.body != geminiBody(q) {
		return geminiInvalid("continuation", "Invalid continuation token.")
	}
	return nil
}

// geminiBody is a request without its token.
func geminiBody(q geminiRequest) string {
	q.ContinuationToken = ""
	b, _ := json.Marshal(q) // our own types always encode
	return string(b)
}

func (g *gemini) size(_ string, q geminiRequest) *Refused {
	if n := geminiTokens(q); n > g.o.Limit {
		return geminiInvalid("too-long", "The input token count (%d) exceeds the maximum number of tokens allowed (%d).", n, g.o.Limit)
	}
	if n := q.GenerationConfig.MaxOutputTokens; n > g.o.MaxOutput {
		return geminiInvalid("max-output", "Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive). Update the value and try again.", n, g.o.MaxOutput+1)
	}
	return nil
}

func geminiTokens(q geminiRequest) int64 {
	q.Tools = nil
	return int64(len(geminiBody(q))) / 4
}

var geminiName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)

func (g *gemini) tools(id string, q geminiRequest) *Refused {
	gemma := strings.HasPrefix(id, "gemma")
	if gemma && q.SystemInstruction != nil {
		return geminiInvalid("system", "Developer instruction is not enabled for models/%s", id)
	}
	for i, t := range q.Tools {
		if gemma {
			return geminiInvalid("calling", "Function calling is not enabled for models/%s", id)
		}
		for j, f := range t.FunctionDeclarations {
			if !geminiName.MatchString(f.Name) {
				return geminiInvalid("name", "* GenerateContentRequest.tools[%d].function_declarations[%d].name: [Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.]", i, j)
			}
		}
	}
	return nil
}

func (g *gemini) thinking(id string, q geminiRequest) *Refused {
	t, pro, v := q.GenerationConfig.ThinkingConfig, strings.Contains(id, "-pro"), geminiVersion(id)
	if t == nil {
		return nil
	}
	level, budget := t.ThinkingLevel, t.ThinkingBudget
	switch {
	case strings.HasPrefix(id, "gemma") || v < 2.5:
		return geminiInvalid("thinking", "Thinking is not enabled for models/%s", id)
	case level != "" && budget != nil:
		return geminiInvalid("level-and-budget", "You can only set only one of thinking budget and thinking level.")
	case level != "" && v < 3, level == "MINIMAL" && (pro || v == 3.7), level != "" && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, level):
		return geminiInvalid("level", "Thinking level %s is not supported for this model. Please retry with other thinking level.", level)
	case budget != nil && *budget == 0 && pro:
		return geminiInvalid("budget", "Budget 0 is invalid. This model only works in thinking mode.")
	case budget != nil && (*budget < -1 || *budget > 32768 || *budget > 24576 && !pro || *budget > 0 && *budget < 128 && pro):
		return geminiInvalid("budget", "The thinking budget (%d) is invalid.", *budget)
	case budget != nil && *budget == 0 && t.IncludeThoughts:
		return geminiInvalid("thoughts", "Thinking_config.include_thoughts is only enabled when thinking is enabled.")
	}
	return nil
}

// turns judges the order of turns.
func (g *gemini) turns(_ string, q geminiRequest) *Refused {
	if len(q.Contents) == 0 {
		return geminiInvalid("something", "* GenerateContentRequest.contents: contents is not specified\n")
	}
	calls, before := []geminiFunction(nil), ""
	for i, c := range q.Contents {
		var made, answered []geminiFunction
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
			return geminiInvalid("role", "Please use a valid role: user, model.")
		case len(c.Parts) == 0:
			return geminiInvalid("empty", "* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", i)
		case len(made) > 0 && (c.Role != "model" || before != "user"):
			return geminiInvalid("call-turn", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case len(answered) > 0 && len(calls) == 0:
			return geminiInvalid("response-turn", "Please ensure that function response turn comes immediately after a function call turn.")
		case len(answered) != len(calls), len(answered) > 0 && len(answered) != len(c.Parts):
			return geminiInvalid("response-number", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		}
		for j, f := range answered {
			if f.Name != calls[j].Name || f.ID != calls[j].ID {
				return geminiInvalid("response-match", "Please ensure that function response parts match the function call parts of the function call turn.")
			}
		}
		calls, before = made, c.Role
	}
	if len(calls) > 0 || before != "user" {
		return geminiInvalid("user-last", "Please ensure that the conversation ends with a user turn or a function response turn.")
	}
	return nil
}

var geminiTypes = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}

// parts judges each part by itself.
func (g *gemini) parts(_ string, q geminiRequest) *Refused {
	all := q.Contents
	if q.SystemInstruction != nil {
		all = append([]geminiContent{*q.SystemInstruction}, all...)
	}
	for i, c := range all {
		for j, p := range c.Parts {
			at := fmt.Sprintf("contents[%d].parts[%d]", i, j)
			switch {
			case p.Text == nil && p.InlineData == nil && p.FunctionCall == nil && p.FunctionResponse == nil && p.ExecutableCode == nil:
				return geminiInvalid("part", "* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", at)
			case p.Text != nil && *p.Text == "" && p.ThoughtSignature == "":
				return geminiInvalid("empty-text", "Unable to submit request because it must have a text parameter. Add a text parameter and try again.")
			case p.InlineData != nil && (len(p.InlineData.Data) == 0 || !slices.Contains(geminiTypes, p.InlineData.MimeType)):
				return geminiInvalid("image", "Unsupported MIME type: %s", p.InlineData.MimeType)
			case p.FunctionCall != nil && !geminiObject(p.FunctionCall.Args, true):
				return geminiInvalid("args", "Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
			case p.FunctionResponse != nil && !geminiObject(p.FunctionResponse.Response, false):
				return geminiInvalid("response", "Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct)", at)
			case p.FunctionResponse != nil && bytes.Contains(p.FunctionResponse.Response, []byte(`"$ref":`)):
				return geminiInvalid("ref", "The function response refers to a part that does not exist ($ref)")
			}
		}
	}
	return nil
}

func geminiObject(raw json.RawMessage, absent bool) bool {
	var fields map[string]json.RawMessage
	return len(raw) == 0 && absent || json.Unmarshal(raw, &fields) == nil && fields != nil
}

// geminiItems is a request in our own words, without images.
func geminiItems(q geminiRequest) model.Request {
	out := model.Request{MaxOutputTokens: q.GenerationConfig.MaxOutputTokens}
	out.AnswerOnly = q.ToolConfig != nil && q.ToolConfig.FunctionCallingConfig.Mode == "NONE"
	for _, t := range q.Tools {
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
				it.Parts = append(it.Parts, scrollback.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: p.FunctionCall.Args})
			case p.FunctionResponse != nil:
				it.Role = scrollback.RoleTool
				it.Parts = append(it.Parts, scrollback.ToolResult{CallID: p.FunctionResponse.ID, Name: p.FunctionResponse.Name, Text: string(p.FunctionResponse.Response)})
			case p.Text != nil && !p.Thought:
				it.Parts = append(it.Parts, scrollback.Text{Text: *p.Text})
			}
		}
		out.Items = append(out.Items, it)
	}
	return out
}
