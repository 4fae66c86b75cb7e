package anthropicapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image/gif"
	"image/jpeg"
	"image/png"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var (
	idSpelling   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	nameSpelling = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

	knownFields = strings.Fields("model max_tokens stream system messages tools tool_choice thinking output_config temperature top_p top_k stop_sequences metadata service_tier")
)

// checkParameters judges what is asked for beside the conversation.
func (s *server) checkParameters(b *body) *modeltest.Refused {
	for _, f := range slices.Sorted(maps.Keys(b.fields)) {
		if !slices.Contains(knownFields, f) || slices.Contains(s.o.Refuse, f) {
			return badRequest("extra", "%s: Extra inputs are not permitted", f)
		}
		if !b.of.Sampling && (f == "temperature" || f == "top_p" || f == "top_k") {
			return badRequest("sampling", "`%s` is deprecated for this model.", f)
		}
	}
	switch {
	case b.MaxTokens == nil:
		return badRequest("max-tokens", "max_tokens: Field required")
	case *b.MaxTokens < 1:
		return badRequest("max-tokens", "max_tokens: must be greater than or equal to 1")
	case *b.MaxTokens > b.of.MaxOutput:
		return badRequest("max-output", "max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s",
			*b.MaxTokens, b.of.MaxOutput, b.Model)
	}
	if c := b.ToolChoice; c != nil {
		forced := c.Type == "any" || c.Type == "tool"
		switch {
		case len(b.Tools) == 0:
			return badRequest("tool-choice", "tool_choice: tool_choice may only be specified while providing tools")
		case forced && !strings.Contains(b.of.Thinks, "disabled"):
			return badRequest("forced", "tool_choice: type \"tool\" and \"any\" are not supported for this model.")
		case forced && b.Thinking != nil && b.Thinking.Type == "enabled":
			return badRequest("forced", "Thinking may not be enabled when tool_choice forces tool use.")
		}
	}
	names := map[string]bool{}
	for i, t := range b.Tools {
		switch {
		case names[t.Name]:
			return badRequest("tool-names", "tools: Tool names must be unique.")
		case t.Type == "web_search_20250305" && t.Name == "web_search" && t.Schema == nil && !s.o.NoSearch:
		case t.Type != "":
			return badRequest("search", "'%s' does not support tool types: %s", b.Model, t.Type)
		case !nameSpelling.MatchString(t.Name):
			return badRequest("tool-names", "tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case string(t.Schema["type"]) != `"object"`:
			return badRequest("tool-schema", "tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		names[t.Name] = true
	}
	return nil
}

// checkThinking judges how the model is to think.
func (s *server) checkThinking(b *body) *modeltest.Refused {
	if c := b.OutputConfig; c != nil {
		switch {
		case b.of.Efforts == "":
			return badRequest("effort", "This model does not support the effort parameter.")
		case !slices.Contains(strings.Fields(b.of.Efforts), c.Effort):
			return badRequest("effort", "output_config.effort: '%s' is not supported for this model", c.Effort)
		}
	}
	t := b.Thinking
	if t == nil {
		return nil
	}
	takes := slices.Contains(strings.Fields(b.of.Thinks), t.Type)
	switch {
	case t.Type == "enabled" && !takes:
		return badRequest("thinking-form",
			`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
	case t.Type == "adaptive" && !takes:
		return badRequest("thinking-form", "adaptive thinking is not supported on this model")
	case t.Type == "disabled" && !takes:
		return badRequest("thinking-form",
			`"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.`)
	case !takes:
		return badRequest("thinking-form",
			"thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'disabled', 'enabled', 'adaptive'", t.Type)
	case t.Type == "enabled" && t.BudgetTokens == nil:
		return badRequest("budget", "thinking.enabled.budget_tokens: Field required")
	case t.Type != "enabled" && t.BudgetTokens != nil:
		return badRequest("budget", "thinking.%s.budget_tokens: Extra inputs are not permitted", t.Type)
	case t.BudgetTokens != nil && *t.BudgetTokens < 1024:
		return badRequest("budget", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case t.BudgetTokens != nil && *t.BudgetTokens >= *b.MaxTokens:
		return badRequest("budget",
			"`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation")
	case t.BlockBinding != nil && (!b.binds || t.Type != "adaptive"):
		return badRequest("binding", "thinking.%s.block_binding: Extra inputs are not permitted", t.Type)
	}
	return nil
}

// checkMarks judges where the prompt cache may end.
func (s *server) checkMarks(b *body) *modeltest.Refused {
	n := 0
	judge := func(at, _ string, bl block) *modeltest.Refused {
		if bl.CacheControl == nil {
			return nil
		}
		n++
		switch {
		case slices.Contains(s.o.Refuse, "cache_control"):
			return badRequest("extra", "%s.%s.cache_control: Extra inputs are not permitted", at, bl.Type)
		case bl.isThinking():
			return badRequest("mark-thinking", "%s.%s.cache_control: Extra inputs are not permitted", at, bl.Type)
		case bl.Type == "text" && bl.Text == "":
			return badRequest("mark-empty", "%s.text: cache_control cannot be set for empty text blocks", at)
		}
		return nil
	}
	for i, bl := range b.System {
		if why := judge(fmt.Sprintf("system.%d", i), "", bl); why != nil {
			return why
		}
	}
	for _, t := range b.Tools {
		if t.CacheControl != nil {
			n++
		}
	}
	if why := b.eachBlock(judge); why != nil {
		return why
	}
	if n > 4 {
		return badRequest("marks", "A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return nil
}

// checkContents judges messages and their blocks one by one.
func (s *server) checkContents(b *body) *modeltest.Refused {
	for i, bl := range b.System {
		if strings.TrimSpace(bl.Text) == "" {
			return badRequest("empty-text", "system.%d: text content blocks must contain non-whitespace text", i)
		}
	}
	if len(b.Messages) == 0 {
		return badRequest("something", "messages: at least one message is required")
	}
	for i, m := range b.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return badRequest("role",
				"messages: Unexpected role \"%s\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.", m.Role)
		case len(m.Content) == 0:
			return badRequest("empty",
				"messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
	}
	if b.Messages[0].Role != "user" {
		return badRequest("user-first", "messages: first message must use the \"user\" role")
	}
	if b.Messages[len(b.Messages)-1].Role == "assistant" && !b.of.Prefill {
		if c := b.Messages[len(b.Messages)-1].Content; c[len(c)-1].Type != "server_tool_use" {
			return badRequest("prefill",
				"This model does not support assistant message prefill. The conversation must end with a user message.")
		}
	}
	return b.eachBlock(judgeBlock)
}

// judgeBlock judges one block.
func judgeBlock(at, role string, bl block) *modeltest.Refused {
	switch bl.Type {
	case "text":
		switch {
		case bl.Text == "":
			return badRequest("empty-text", "messages: text content blocks must be non-empty")
		case strings.TrimSpace(bl.Text) == "":
			return badRequest("blank-text", "messages: text content blocks must contain non-whitespace text")
		}
	case "tool_use":
		var object map[string]json.RawMessage
		switch {
		case role != "assistant":
			return badRequest("place", "%s: `tool_use` blocks can only be in `assistant` messages", at)
		case !idSpelling.MatchString(bl.ID):
			return badRequest("id-spelling", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
		case !nameSpelling.MatchString(bl.Name):
			return badRequest("name-spelling", "%s.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
		case json.Unmarshal(bl.Input, &object) != nil || object == nil:
			return badRequest("object-arguments", "%s.tool_use.input: Input should be a valid dictionary", at)
		}
	case "tool_result":
		if role != "user" {
			return badRequest("place", "%s: `tool_result` blocks can only be in `user` messages", at)
		}
		for _, in := range bl.Content {
			if in.Text == "" && in.Type == "text" {
				return badRequest("empty-text", "messages: text content blocks must be non-empty")
			}
		}
	case "thinking", "redacted_thinking":
		switch {
		case role != "assistant":
			return badRequest("place", "%s: `%s` blocks can only be in `assistant` messages", at, bl.Type)
		case bl.Type == "thinking" && (bl.Thinking == nil || bl.Signature == ""):
			return badRequest("signature", "%s.thinking.signature: Field required", at)
		}
	case "image":
		return judgeImage(at, bl)
	case "server_tool_use":
	default:
		return badRequest("block", "%s: Input tag '%s' found using 'type' does not match any of the expected tags", at,
			bl.Type)
	}
	return nil
}

// Gone is the beginning of addresses at which there is no image.
const Gone = "https://gone.example/"

func judgeImage(at string, bl block) *modeltest.Refused {
	if bl.Source.Type == "url" {
		switch {
		case !strings.HasPrefix(bl.Source.URL, "https://") && !strings.HasPrefix(bl.Source.URL, "http://"):
			return badRequest("image-form", "%s.image.source.url: Input should be a valid URL", at)
		case bl.Source.MediaType != "" || len(bl.Source.Data) > 0:
			return badRequest("image-form", "%s.image.source.url.media_type: Extra inputs are not permitted", at)
		case strings.HasPrefix(bl.Source.URL, Gone):
			return badRequest("image-gone", "Unable to download the file. Please verify the URL and try again.")
		}
		return nil
	}
	size := len(bl.Source.Data) * 4 / 3
	if size > 5<<20 {
		return badRequest("image-bytes", "%s.image.source.base64: image exceeds 5 MB maximum: %d bytes > %d bytes", at, size,
			5<<20)
	}
	read := map[string]func() (int, error){
		"image/png": func() (int, error) {
			c, err := png.DecodeConfig(bytes.NewReader(bl.Source.Data))
			return max(c.Width, c.Height), err
		},
		"image/jpeg": func() (int, error) {
			c, err := jpeg.DecodeConfig(bytes.NewReader(bl.Source.Data))
			return max(c.Width, c.Height), err
		},
		"image/gif": func() (int, error) {
			c, err := gif.DecodeConfig(bytes.NewReader(bl.Source.Data))
			return max(c.Width, c.Height), err
		},
		"image/webp": func() (int, error) { return 0, nil },
	}[bl.Source.MediaType]
	if read == nil || bl.Source.Type != "base64" {
		return badRequest("image-type",
			"%s.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", at)
	}
	switch side, err := read(); {
	case err != nil:
		return badRequest("image", "%s.image.source.base64: Could not process image", at)
	case side > 8000:
		return badRequest("image-side",
			"%s.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels", at)
	}
	return nil
}

// checkLength judges whether the request fits.
func (s *server) checkLength(b *body) *modeltest.Refused {
	n := b.countTokens()
	limit := cmp.Or(s.o.Limit, b.of.MaxInput)
	switch {
	case n > limit:
		return badRequest("too-long", "prompt is too long: %d tokens > %d maximum", n, limit)
	case n+*b.MaxTokens > limit && !strings.Contains(b.of.Thinks, "adaptive"):
		return badRequest("too-long",
			"input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again", n, *b.MaxTokens, limit)
	}
	return nil
}

// checkCalls judges calls and their results: each call is answered at the beginning of
// the very next message, once.
func (s *server) checkCalls(b *body) *modeltest.Refused {
	ids := map[string]bool{}
	if why := b.checkResults(0, nil); why != nil {
		return why
	}
	for i, m := range b.Messages {
		var open []string
		for j, bl := range m.Content {
			if bl.Type != "tool_use" {
				continue
			}
			if ids[bl.ID] {
				return badRequest("unique-ids", "messages.%d.content.%d: `tool_use` ids must be unique", i, j)
			}
			ids[bl.ID] = true
			open = append(open, bl.ID)
		}
		if why := b.checkResults(i+1, open); why != nil {
			return why
		}
	}
	return nil
}

// checkResults judges the results of one message, which answer the calls before it.
func (b *body) checkResults(i int, open []string) *modeltest.Refused {
	unanswered := slices.Clone(open)
	if i < len(b.Messages) {
		front := true
		seen := map[string]bool{}
		for j, bl := range b.Messages[i].Content {
			switch {
			case bl.Type != "tool_result":
				front = false
				continue
			case !slices.Contains(open, bl.ToolUseID):
				return badRequest("orphan",
					"messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, bl.ToolUseID)
			case seen[bl.ToolUseID]:
				return badRequest("single-result",
					"messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s",
					i, j, bl.ToolUseID)
			case front:
				unanswered = slices.DeleteFunc(unanswered, func(id string) bool { return id == bl.ToolUseID })
			}
			seen[bl.ToolUseID] = true
		}
	}
	if len(unanswered) > 0 {
		return badRequest("answered",
			"messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, strings.Join(unanswered, ", "))
	}
	return nil
}

// checkThoughts judges thinking that comes back.
func (s *server) checkThoughts(b *body) *modeltest.Refused {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefixes := b.listPrefixes()
	for i, m := range b.Messages {
		if m.Role != "assistant" {
			continue
		}
		calls := 0
		last := issuedThinking{answer: -1}
		for j, bl := range m.Content {
			if bl.Type == "tool_use" {
				calls++
			}
			if !bl.isThinking() {
				continue
			}
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			is, known := s.issued[bl.Signature+bl.Data]
			text := ""
			if bl.Thinking != nil {
				text = *bl.Thinking
			}
			switch next := is.answer != last.answer && is.place == 0 || is.answer == last.answer && is.place == last.place+1; {
			case !known, is.model != b.Model, is.text != text, is.redacted != (bl.Type == "redacted_thinking"):
				return badRequest("signature", "%s: Invalid `signature` in `thinking` block", at)
			case !next, is.calls != calls:
				return badRequest("unmodified",
					"%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", at)
			case b.of.Bound && is.prefix != prefixes[i] && !b.dropsBlocks():
				words := "%s: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
				if !b.binds {
					words += " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."
				}
				return badRequest("bound", words, at)
			}
			last = is
		}
	}
	return b.checkBeginning()
}

func (b *body) dropsBlocks() bool {
	return b.Thinking != nil && b.Thinking.BlockBinding != nil && b.Thinking.BlockBinding.Behavior == "drop_block"
}

// checkBeginning judges an answer that goes on behind its calls: with a budget for
// thinking, it must have begun with thinking.
func (b *body) checkBeginning() *modeltest.Refused {
	n := len(b.Messages)
	if n < 2 || b.Thinking == nil || b.Thinking.Type != "enabled" || b.Messages[n-1].Content[0].Type != "tool_result" {
		return nil
	}
	if first := b.Messages[n-2].Content[0]; !first.isThinking() {
		return badRequest("thinking-first",
			"messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block. We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.", n-2, first.Type)
	}
	return nil
}
