package openwebui

import (
	"encoding/json"
	"html"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/plainjson"

	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// outputItem is a piece of what an answer put out.
type outputItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Code      string          `json:"code"`
	Status    string          `json:"status"`
}

// addOutput adds a piece of what an answer put out.
func (p *messagePieces) addOutput(raw json.RawMessage) {
	var it outputItem
	if exported.DecodeJSON(raw, &it) != nil {
		return
	}
	switch it.Type {
	case "message":
		p.AddText(joinTexts(it.Content))
	case "reasoning":
		p.AddReasoning(firstNonEmpty(joinTexts(it.Content), joinTexts(it.Summary)))
	case "function_call":
		p.AddCall(firstNonEmpty(it.CallID, it.ID), it.Name, exported.CallArguments(it.Arguments, "input"))
	case "function_call_output":
		p.AddResult(it.CallID, it.Name, joinTexts(it.Output), it.Status == "failed")
	case "open_webui:code_interpreter":
		p.addRun(firstNonEmpty(it.CallID, it.ID), it.Code, it.Output)
	default:
		p.talk.CountLeft("output of type " + clipType(it.Type))
		p.AddText(joinTexts(it.Content))
	}
}

// joinTexts returns those of a list of pieces, or the text that stands in its place.
func joinTexts(raw json.RawMessage) string {
	var text string
	var list []struct {
		Text string `json:"text"`
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case exported.DecodeField(raw, &text):
		return text
	case raw[0] != '[':
		return string(exported.CompactJSON(raw))
	}
	_ = exported.DecodeList(raw, &list) // what has no text is passed over
	var out []string
	for _, piece := range list {
		if piece.Text != "" {
			out = append(out, piece.Text)
		}
	}
	return strings.Join(out, "\n")
}

// addRun adds code that was run, and what it printed.
func (p *messagePieces) addRun(id, code string, output json.RawMessage) {
	p.AddCall(id, "code_interpreter", exported.CallArguments([]byte(quoteText(code)), "code"))
	var o struct {
		Stdout string          `json:"stdout"`
		Stderr string          `json:"stderr"`
		Result json.RawMessage `json:"result"`
	}
	if len(output) == 0 || string(output) == "null" {
		return
	}
	if output[0] != '{' || exported.DecodeJSON(output, &o) != nil {
		p.AnswerNewest(joinTexts(output), false)
		return
	}
	all := []string{}
	for _, s := range []string{o.Stdout, joinTexts(o.Result), o.Stderr} {
		if strings.TrimSpace(s) != "" {
			all = append(all, strings.TrimRight(s, "\n"))
		}
	}
	p.AnswerNewest(strings.Join(all, "\n"), o.Stderr != "" && o.Stdout == "")
}

func quoteText(s string) string {
	b, err := plainjson.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// addDetails adds an answer's text, and what stands in it as HTML.
func (p *messagePieces) addDetails(text string) {
	said := 0
	last := strings.LastIndex(text, elementEnd)
	for at := 0; at < last; {
		i := strings.Index(text[at:], "<details type=\"")
		if i < 0 {
			break
		}
		at += i
		attributes, body, rest, ok := readElement(text[at+len("<details"):])
		if !ok || !shownTypes[attributes["type"]] {
			at += len("<details")
			continue
		}
		p.AddText(strings.TrimSpace(text[said:at]))
		p.addElement(attributes, body)
		at = len(text) - len(rest)
		said = at
	}
	p.AddText(strings.TrimSpace(text[said:]))
}

const elementEnd = "</details>"

// shownTypes are the elements that are read.
var shownTypes = map[string]bool{"reasoning": true, "tool_calls": true, "code_interpreter": true}

// addElement adds one element.
func (p *messagePieces) addElement(attributes map[string]string, body string) {
	switch attributes["type"] {
	case "reasoning":
		p.AddReasoning(unquoteBody(body))
	case "tool_calls":
		p.AddCall(attributes["id"], attributes["name"], exported.CallArguments([]byte(attributes["arguments"]), "input"))
		result, has := attributes["result"]
		if !has {
			result = strings.TrimSpace(html.UnescapeString(body))
			has = result != ""
		}
		if has {
			p.AnswerNewest(joinTexts(asJSON(result)), false)
		}
	case "code_interpreter":
		output := attributes["output"]
		p.addRun("", fencedText(body), asJSON(output))
	}
}

// asJSON returns a text as JSON: as it is, if it is that.
func asJSON(s string) json.RawMessage {
	if s == "" || json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return json.RawMessage(quoteText(s))
}

// readElement takes apart what follows "<details": the attributes, the body without its summary,
// and the rest behind it.
func readElement(s string) (attributes map[string]string, body, rest string, ok bool) {
	attributes = map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if strings.HasPrefix(s, ">") {
			s = s[1:]
			break
		}
		name, _, found := strings.Cut(s[:min(len(s), 64)], `="`)
		value := s[min(len(s), len(name)+2):]
		if !found || strings.ContainsAny(name, "<> \n\"") || len(attributes) == 20 {
			return nil, "", "", false
		}
		end := strings.IndexByte(value, '"')
		if end < 0 {
			return nil, "", "", false
		}
		attributes[name] = html.UnescapeString(value[:end])
		s = value[end+1:]
	}
	body, rest, ok = strings.Cut(s, elementEnd)
	if _, after, has := strings.Cut(body, "</summary>"); has {
		body = after
	}
	return attributes, strings.TrimSpace(body), rest, ok
}

// unquoteBody returns a body without the marks of a quotation.
func unquoteBody(body string) string {
	lines := strings.Split(html.UnescapeString(body), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, ">"); ok {
			lines[i] = strings.TrimPrefix(rest, " ")
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// fencedText returns what stands between the fences of a body.
func fencedText(body string) string {
	_, code, ok := strings.Cut(body, "```")
	if !ok {
		return html.UnescapeString(body)
	}
	_, code, _ = strings.Cut(code, "\n") // behind the language
	code, _, _ = strings.Cut(code, "\n```")
	return html.UnescapeString(code)
}
