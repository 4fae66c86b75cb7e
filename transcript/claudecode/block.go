package claudecode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

const (
	maxResult = 100_000 // bytes of a result that a model is shown
	maxFile   = 100_000 // bytes of a text file that is written into a message
	maxImage  = 5 << 20 / 4 * 3
)

// writtenBlock is a block as it is written.
type writtenBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Title     string          `json:"title,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// signedThought returns a thought as its model's server takes it back, if it says who thought it.
func signedThought(model string, p scrollback.Reasoning) (writtenBlock, bool) {
	var proof struct{ Signature, Redacted string }
	if !strings.HasPrefix(model, "claude") || json.Unmarshal(p.Opaque, &proof) != nil {
		return writtenBlock{}, false
	}
	switch {
	case proof.Redacted != "":
		return writtenBlock{Type: "redacted_thinking", Data: proof.Redacted}, true
	case proof.Signature != "":
		return writtenBlock{Type: "thinking", Thinking: &p.Text, Signature: proof.Signature}, true
	}
	return writtenBlock{}, false
}

// shortenText returns a text that a model can be shown.
func shortenText(text string) string {
	if len(text) <= maxResult {
		return text
	}
	head := maxResult * 2 / 3
	tail := len(text) - maxResult/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n\n[… %d bytes left out …]\n\n%s", text[:head], tail-head, text[tail:])
}

// tagEvent returns what the tool writes for a command that a person gave it.
func tagEvent(event, text string) string {
	switch event {
	case eventCommand:
		name, args, _ := strings.Cut(text, " ")
		return fmt.Sprintf("<command-name>%s</command-name>\n<command-message>%s</command-message>\n<command-args>%s</command-args>",
			name, strings.TrimPrefix(name, "/"), args)
	case eventBash:
		return "<bash-input>" + strings.TrimPrefix(text, "!") + "</bash-input>"
	case eventOutput:
		return "<bash-stdout>" + text + "</bash-stdout><bash-stderr></bash-stderr>"
	}
	return text
}

// clipPrompt returns the beginning of a prompt, for a list of sessions.
func clipPrompt(text string) string {
	if text = strings.Join(strings.Fields(text), " "); len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

// attachmentBlock returns an image or a file as a block; a text that mentions it if it cannot be one.
func attachmentBlock(p scrollback.Part, data []byte) writtenBlock {
	switch p := p.(type) {
	case scrollback.Image:
		switch {
		case p.URL != "":
			return writtenBlock{Type: "image", Source: &source{Type: "url", URL: p.URL}}
		case len(data) > 0 && len(data) <= maxImage &&
			strings.Contains(" image/jpeg image/png image/gif image/webp ", " "+p.MediaType+" "):
			return writtenBlock{Type: "image", Source: &source{Type: "base64", MediaType: p.MediaType,
				Data: base64.StdEncoding.EncodeToString(data)}}
		}
	case scrollback.File:
		switch {
		case p.MediaType == "application/pdf" && len(data) > 0:
			return writtenBlock{Type: "document", Source: &source{Type: "base64", MediaType: p.MediaType,
				Data: base64.StdEncoding.EncodeToString(data)}, Title: p.Name}
		case len(data) <= maxFile && strings.HasPrefix(p.MediaType, "text/") && utf8.Valid(data):
			return writtenBlock{Type: "text", Text: fmt.Sprintf("[file: %s]\n%s", p.Name, data)}
		}
	}
	return writtenBlock{Type: "text", Text: mentionText(p, len(data))}
}

// mentionText names an attachment.
func mentionText(p scrollback.Part, size int) string {
	switch p := p.(type) {
	case scrollback.Image:
		return fmt.Sprintf("[image: %s, %s, %d bytes]", p.Name, p.MediaType, size)
	case scrollback.File:
		return fmt.Sprintf("[file: %s, %s, %d bytes]", p.Name, p.MediaType, size)
	}
	return ""
}
