package openai

import (
	"bytes"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
)

// response is an answer as the API of responses has it.
type response struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	CreatedAt    int64             `json:"created_at"`
	CompletedAt  *int64            `json:"completed_at"`
	Status       string            `json:"status"`
	Background   bool              `json:"background"`
	Error        *responseFault    `json:"error"`
	Incomplete   *responseCut      `json:"incomplete_details"`
	Model        string            `json:"model"`
	Output       []json.RawMessage `json:"output"`
	Usage        *responseUsage    `json:"usage"`
	Conversation *responseNamed    `json:"conversation"`
	responseEcho
}

type responseFault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responseCut struct {
	Reason string `json:"reason"`
}

type responseNamed struct {
	ID string `json:"id"`
}

type responseUsage struct {
	Input   int64 `json:"input_tokens"`
	InputIs struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output   int64 `json:"output_tokens"`
	OutputIs struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

func newResponseUsage(u scrollback.Usage) *responseUsage {
	out := &responseUsage{Input: u.InputTokens, Output: u.OutputTokens, Total: u.InputTokens + u.OutputTokens}
	out.InputIs.Cached = u.CachedTokens
	out.InputIs.CacheWrite = u.CacheWriteTokens
	out.OutputIs.Reasoning = u.ReasoningTokens
	return out
}

// responseEcho is what an answer repeats of its request.
type responseEcho struct {
	Instructions      json.RawMessage `json:"instructions"`
	Previous          *string         `json:"previous_response_id"`
	Tools             json.RawMessage `json:"tools"`
	ToolChoice        json.RawMessage `json:"tool_choice"`
	ParallelToolCalls json.RawMessage `json:"parallel_tool_calls"`
	Text              json.RawMessage `json:"text"`
	Reasoning         json.RawMessage `json:"reasoning"`
	Store             bool            `json:"store"`
	Metadata          json.RawMessage `json:"metadata"`
	Truncation        json.RawMessage `json:"truncation"`
	Temperature       json.RawMessage `json:"temperature"`
	TopP              json.RawMessage `json:"top_p"`
	PresencePenalty   json.RawMessage `json:"presence_penalty"`
	FrequencyPenalty  json.RawMessage `json:"frequency_penalty"`
	TopLogprobs       json.RawMessage `json:"top_logprobs"`
	MaxOutputTokens   json.RawMessage `json:"max_output_tokens"`
	MaxToolCalls      json.RawMessage `json:"max_tool_calls"`
	ServiceTier       json.RawMessage `json:"service_tier"`
	SafetyIdentifier  json.RawMessage `json:"safety_identifier"`
	PromptCacheKey    json.RawMessage `json:"prompt_cache_key"`
	User              json.RawMessage `json:"user"`
}

// responseAsk is what the face reads of a request.
type responseAsk struct {
	echo responseEcho
	// named is the conversation that the request names.
	named *responseNamed
	// encrypted says that reasoning is wanted in the form in which it can be sent again.
	encrypted bool
	// compacts says that a compaction is wanted, and no answer.
	compacts bool
}

// plainEcho is what an answer says whose request said nothing.
func plainEcho() responseEcho {
	null := json.RawMessage("null")
	one := json.RawMessage("1")
	zero := json.RawMessage("0")
	return responseEcho{Instructions: null, Tools: json.RawMessage("[]"), ToolChoice: json.RawMessage(`"auto"`),
		ParallelToolCalls: json.RawMessage("true"), Text: json.RawMessage(`{"format":{"type":"text"}}`),
		Reasoning: json.RawMessage(`{"effort":null,"summary":null}`), Store: true, Metadata: json.RawMessage("{}"),
		Truncation: json.RawMessage(`"disabled"`), Temperature: one, TopP: one, PresencePenalty: zero,
		FrequencyPenalty: zero, TopLogprobs: zero, MaxOutputTokens: null, MaxToolCalls: null,
		ServiceTier: json.RawMessage(`"default"`), SafetyIdentifier: null, PromptCacheKey: null, User: null}
}

// readAsk reads a request. What is of another type than it should be is as good as not there.
func readAsk(body []byte) *responseAsk {
	a := &responseAsk{echo: plainEcho()}
	if !json.Valid(body) {
		return a
	}
	echoed := map[string]*json.RawMessage{"instructions": &a.echo.Instructions, "tool_choice": &a.echo.ToolChoice,
		"parallel_tool_calls": &a.echo.ParallelToolCalls, "metadata": &a.echo.Metadata, "truncation": &a.echo.Truncation,
		"temperature": &a.echo.Temperature, "top_p": &a.echo.TopP, "presence_penalty": &a.echo.PresencePenalty,
		"frequency_penalty": &a.echo.FrequencyPenalty, "top_logprobs": &a.echo.TopLogprobs,
		"max_output_tokens": &a.echo.MaxOutputTokens, "max_tool_calls": &a.echo.MaxToolCalls,
		"safety_identifier": &a.echo.SafetyIdentifier, "prompt_cache_key": &a.echo.PromptCacheKey, "user": &a.echo.User}
	for _, m := range splice.ListMembers(body) {
		value := bytes.Clone(body[m.Value.From:m.Value.To])
		if string(value) == "null" {
			continue
		}
		if to := echoed[m.Name]; to != nil {
			*to = value
			continue
		}
		switch m.Name {
		case "previous_response_id":
			_ = json.Unmarshal(value, &a.echo.Previous)
		case "store":
			_ = json.Unmarshal(value, &a.echo.Store)
		case "tools":
			a.echo.Tools = echoTools(value)
		case "text":
			a.echo.Text = withDefaults(value, "format", `{"type":"text"}`)
		case "reasoning":
			a.echo.Reasoning = withDefaults(withDefaults(value, "effort", "null"), "summary", "null")
		case "conversation":
			a.named = readNamed(value)
		case "include":
			a.encrypted = bytes.Contains(value, []byte(`"reasoning.encrypted_content"`))
		case "input":
			a.compacts = lastType(value) == "compaction_trigger"
		}
	}
	return a
}

// readNamed reads the conversation that a request names, by its id or as an object.
func readNamed(value []byte) *responseNamed {
	var id string
	if json.Unmarshal(value, &id) == nil && id != "" {
		return &responseNamed{id}
	}
	var named responseNamed
	if json.Unmarshal(value, &named) == nil && named.ID != "" {
		return &named
	}
	return nil
}

// lastType returns the type of the last item of an input.
func lastType(input []byte) string {
	items := splice.ListValues(input)
	if len(items) == 0 {
		return ""
	}
	return typeOf(items[len(items)-1])
}

func typeOf(item []byte) string {
	var it struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(item, &it)
	return it.Type
}

// withDefaults returns an object with a field that it does not have.
func withDefaults(object []byte, name, value string) json.RawMessage {
	for _, m := range splice.ListMembers(object) {
		if m.Name == name {
			return object
		}
	}
	return splice.Form{}.SetField(object, 0, name, json.RawMessage(value))
}

// echoTools returns the tools of a request as an answer repeats them: functions say what their clients may leave out.
func echoTools(list []byte) json.RawMessage {
	tools := splice.ListValues(list)
	if tools == nil {
		return json.RawMessage("[]")
	}
	for i, t := range tools {
		if typeOf(t) != "function" {
			continue
		}
		t = withDefaults(withDefaults(t, "description", "null"), "parameters", "null")
		var f struct {
			Strict *bool `json:"strict"`
		}
		if json.Unmarshal(t, &f) != nil || f.Strict == nil {
			t = splice.Form{}.SetField(t, 0, "strict", json.RawMessage("false"))
		}
		tools[i] = t
	}
	return splice.Form{}.MakeList(tools, 0)
}
