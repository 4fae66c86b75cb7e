package anthropicapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// body is a request of the Messages API.
type body struct {
	Model     string    `json:"model"`
	MaxTokens *int64    `json:"max_tokens"`
	System    content   `json:"system"`
	Messages  []message `json:"messages"`
	Tools     []struct {
		Type         string                     `json:"type"`
		Name         string                     `json:"name"`
		Description  string                     `json:"description"`
		Schema       map[string]json.RawMessage `json:"input_schema"`
		CacheControl *struct{}                  `json:"cache_control"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type         string `json:"type"`
		BudgetTokens *int64 `json:"budget_tokens"`
		BlockBinding *struct {
			Behavior string `json:"prefix_mismatch_behavior"`
		} `json:"block_binding"`
	} `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`

	fields map[string]json.RawMessage
	of     Model
	binds  bool // the head says that block_binding is known
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a list of blocks, or a text for one.
type content []block

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*c = content{{Type: "text"}}
		return json.Unmarshal(b, &(*c)[0].Text)
	}
	return json.Unmarshal(b, (*[]block)(c))
}

type block struct {
	Type      string  `json:"type"`
	Text      string  `json:"text"`
	Thinking  *string `json:"thinking"`
	Signature string  `json:"signature"`
	Data      string  `json:"data"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      content         `json:"content"`
	IsError      bool            `json:"is_error"`
	CacheControl *struct{}       `json:"cache_control"`
}

func (b block) isThinking() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// readBody reads a request. Messages of one role in a row are one.
func (s *server) readBody(raw []byte) (*body, *modeltest.Refused) {
	b := &body{}
	err := errors.Join(json.Unmarshal(raw, b), json.Unmarshal(raw, &b.fields))
	if err != nil {
		return nil, badRequest("json", "The request body is not valid JSON: %s", err)
	}
	var known bool
	if b.of, known = s.findModel(b.Model); !known {
		return nil, modeltest.Refused{Rule: "model", Status: http.StatusNotFound,
			Code: "not_found_error"}.WithWords("model: %s",
			b.Model)
	}
	var joined []message
	for _, m := range b.Messages {
		if n := len(joined); n > 0 && joined[n-1].Role == m.Role {
			joined[n-1].Content = slices.Concat(joined[n-1].Content, m.Content)
			continue
		}
		joined = append(joined, m)
	}
	b.Messages = joined
	return b, nil
}

// listPrefixes identify what stands before each message, and at the end before the
// answer; marks are no part of it.
func (b *body) listPrefixes() []string {
	unmarked := func(c content) content {
		c = slices.Clone(c)
		for i := range c {
			c[i].CacheControl = nil
		}
		return c
	}
	tools := slices.Clone(b.Tools)
	for i := range tools {
		tools[i].CacheControl = nil
	}
	var out []string
	before := ""
	add := func(v any) {
		raw, err := json.Marshal([]any{before, v})
		if err != nil {
			raw = []byte(err.Error())
		}
		h := sha256.Sum256(raw)
		before = hex.EncodeToString(h[:])
		out = append(out, before)
	}
	add([]any{unmarked(b.System), tools})
	for _, m := range b.Messages {
		add(message{m.Role, unmarked(m.Content)})
	}
	return out
}

// countTokens returns the request in tokens of four bytes; an image is 1,500.
func (b *body) countTokens() int64 {
	var bytes, images int64
	add := func(c content) {
		for _, bl := range c {
			bytes += int64(len(bl.Text) + len(bl.Input))
			if bl.Thinking != nil {
				bytes += int64(len(*bl.Thinking))
			}
			for _, in := range bl.Content {
				bytes += int64(len(in.Text))
			}
			if bl.Type == "image" {
				images++
			}
		}
	}
	add(b.System)
	for _, m := range b.Messages {
		add(m.Content)
	}
	return bytes/4 + images*1500
}

// isThinking reports whether the model thinks.
func (b *body) isThinking() bool {
	if b.Thinking == nil {
		return b.of.Default
	}
	return b.Thinking.Type != "disabled"
}

// toRequest returns the body in our words, without the bytes of images.
func (b *body) toRequest() model.Request {
	r := model.Request{MaxOutputTokens: *b.MaxTokens, AnswerOnly: b.ToolChoice != nil && b.ToolChoice.Type == "none"}
	if b.OutputConfig != nil {
		r.Thinking.Effort = b.OutputConfig.Effort
	}
	if b.Thinking != nil && b.Thinking.BudgetTokens != nil {
		r.Thinking.Budget = *b.Thinking.BudgetTokens
	}
	for _, t := range b.Tools {
		if t.Type != "" {
			r.WebSearch = true
			continue
		}
		schema, err := json.Marshal(t.Schema)
		if err == nil {
			r.Tools = append(r.Tools, scrollback.Tool{Name: t.Name, Description: t.Description, Parameters: schema})
		}
	}
	if len(b.System) > 0 {
		r.Items = append(r.Items, scrollback.Item{Kind: scrollback.KindInstructions, Role: scrollback.RoleSystem,
			Parts: b.System.toParts()})
	}
	for _, m := range b.Messages {
		r.Items = append(r.Items, scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.Role(m.Role),
			Parts: m.Content.toParts()})
	}
	return r
}

func (c content) toParts() (out scrollback.Parts) {
	for _, bl := range c {
		switch bl.Type {
		case "text":
			out = append(out, scrollback.Text{Text: bl.Text})
		case "image":
			out = append(out, scrollback.Image{URL: bl.Source.URL, MediaType: bl.Source.MediaType,
				Size: int64(len(bl.Source.Data))})
		case "thinking":
			out = append(out, scrollback.Reasoning{Text: *bl.Thinking})
		case "redacted_thinking":
			out = append(out, scrollback.Reasoning{})
		case "tool_use":
			out = append(out, scrollback.ToolCall{ID: bl.ID, Name: bl.Name, Arguments: bl.Input})
		case "tool_result":
			var text strings.Builder
			for _, in := range bl.Content {
				text.WriteString(in.Text)
			}
			out = append(out, scrollback.ToolResult{CallID: bl.ToolUseID, Text: text.String(), IsError: bl.IsError})
		}
	}
	return out
}

// eachBlock judges the blocks of all messages, by where they stand.
func (b *body) eachBlock(judge func(at string, role string, bl block) *modeltest.Refused) *modeltest.Refused {
	for i, m := range b.Messages {
		for j, bl := range m.Content {
			if why := judge(fmt.Sprintf("messages.%d.content.%d", i, j), m.Role, bl); why != nil {
				return why
			}
		}
	}
	return nil
}

// badRequest returns a refusal of a request that is not as it should be.
func badRequest(rule, format string, args ...any) *modeltest.Refused {
	return modeltest.Refused{Rule: rule, Status: http.StatusBadRequest, Code: "invalid_request_error"}.WithWords(format,
		args...)
}
