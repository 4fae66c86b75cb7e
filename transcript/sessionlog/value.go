package sessionlog

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// CleanWord returns what may be shown of a word that a file has for something: its first 80
// characters, without those that control a screen.
func CleanWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	if r := []rune(s); len(r) > maxWord {
		return string(r[:maxWord])
	}
	return s
}

const maxWord = 80

// FirstLine returns the first line of a text, for a title.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(strings.TrimSpace(s)); len(r) > maxWord {
		return string(r[:maxWord-1]) + "…"
	}
	return strings.TrimSpace(s)
}

// Count is a number of tokens as files have it, or what is none: 0.
type Count float64

// UnmarshalJSON implements json.Unmarshaler. What is not a number that a counter may say is 0.
func (c *Count) UnmarshalJSON(raw []byte) error {
	var f float64
	if json.Unmarshal(raw, &f) != nil || !(f > 0) || f > scrollback.MaxCallTokens {
		f = 0
	}
	*c = Count(f)
	return nil
}

// Tokens are what a call of a model used.
type Tokens struct {
	Input      Count // with what came from the cache and what was written to it
	Cached     Count
	CacheWrite Count
	Output     Count // with what was reasoned
	Reasoning  Count
	Total      Count // 0 for the sum
	Cost       Count // in US dollars
}

// Usage returns what was used; nil for nothing. What is impossible is marked as estimated.
func (t Tokens) Usage() *scrollback.Usage {
	whole := func(c Count) int64 { return int64(math.Round(float64(c))) }
	u := scrollback.Usage{
		InputTokens: whole(t.Input), CachedTokens: whole(t.Cached), CacheWriteTokens: whole(t.CacheWrite),
		OutputTokens: whole(t.Output), ReasoningTokens: whole(t.Reasoning), TotalTokens: whole(t.Total),
		Cost: scrollback.RoundCost(min(float64(t.Cost), scrollback.MaxCallCost)),
	}
	if u == (scrollback.Usage{}) {
		return nil
	}
	if u.Cost > 0 {
		u.Currency = "USD"
	}
	u, _ = u.Checked()
	return &u
}

// Says reports whether a message has parts.
func Says(e transcript.Entry) bool { return len(e.Message.Parts) > 0 }

// AddText adds a text to a message, unless it is empty.
func AddText(e *transcript.Entry, text string) {
	e.Message.Parts = exported.AppendText(e.Message.Parts, text)
}

// AddReasoning adds reasoning to a message, unless it is empty.
func AddReasoning(e *transcript.Entry, text string) {
	if strings.TrimSpace(text) != "" {
		e.Message.Parts = append(e.Message.Parts, scrollback.Reasoning{Text: text})
	}
}

// AddCall adds a call to a message. One without an id gets the given one, one without a name is
// called tool.
func AddCall(e *transcript.Entry, id, otherwise, name string, arguments json.RawMessage) {
	if id == "" {
		id = otherwise
	}
	if name == "" {
		name = "tool"
	}
	e.Message.Parts = append(e.Message.Parts, scrollback.ToolCall{ID: id, Name: name,
		Arguments: exported.CallArguments(arguments, "input")})
}

// AddResult adds a result to a message. One that names no call gets the given id, one without a
// name is called tool.
func AddResult(e *transcript.Entry, callID, otherwise, name, text string, failed bool) {
	if callID == "" {
		callID = otherwise
	}
	if name == "" {
		name = "tool"
	}
	e.Message.Parts = append(e.Message.Parts, scrollback.ToolResult{CallID: callID, Name: name, Text: text,
		IsError: failed})
}

// AddBytes adds an attachment to a message: base64, or a data: address. It reports whether it is
// one.
func AddBytes(e *transcript.Entry, name, data string) bool {
	if strings.HasPrefix(data, "data:") {
		b, ok := exported.DecodeDataURL(data)
		if ok {
			exported.AttachFile(e, name, b)
		}
		return ok
	}
	if len(data) > exported.MaxAsset/3*4+4 {
		return false
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 {
		return false
	}
	exported.AttachFile(e, name, b)
	return true
}
