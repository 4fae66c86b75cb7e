package openwebui

import (
	"encoding/json"
	"html"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// item is a piece of what an answer put out.
type item struct {
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

// output adds a piece of what an answer put out.
func (p *pieces) output(raw json.RawMessage) {
	var it item
	if exported.Decode(raw, &it) != nil {
		return
	}
	switch it.Type {
	case "message":
		p.Say(texts(it.Content))
	case "reasoning":
		p.Think(first(texts(it.Content), texts(it.Summary)))
	case "function_call":
		p.Call(first(it.CallID, it.ID), it.Name, exported.Arguments(it.Arguments, "input"))
	case "function_call_output":
		p.Result(it.CallID, it.Name, texts(it.Output), it.Status == "failed")
	case "open_webui:code_interpreter":
		p.run(first(it.CallID, it.ID), it.Code, it.Output)
	default:
		p.talk.Count("output of type " + clipped(it.Type))
		p.Say(texts(it.Content))
	}
}

// texts are those of a list of pieces, or the text that stands in its place.
func texts(raw json.RawMessage) string {
	var text string
	var list []struct {
		Text string `json:"text"`
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case exported.Field(raw, &text):
		return text
	case raw[0] != '[':
		return string(exported.Raw(raw))
	}
	_ = exported.Each(raw, &list) // what has no text is passed over
	var out []string
	for _, piece := range list {
		if piece.Text != "" {
			out = append(out, piece.Text)
		}
	}
	return strings.Join(out, "\n")
}

// run adds code that was run, and what it printed.
func (p *pieces) run(id, code string, output json.RawMessage) {
	p.Call(id, "code_interpreter", exported.Arguments([]byte(quoted(code)), "code"))
	var o struct {
		Stdout string          `json:"stdout"`
		Stderr string          `json:"stderr"`
		Result json.RawMessage `json:"result"`
	}
	if len(output) == 0 || string(output) == "null" {
		return
	}
	if output[0] != '{' || exported.Decode(output, &o) != nil {
		p.Answer(texts(output), false)
		return
	}
	all := []string{}
	for _, s := range []string{o.Stdout, texts(o.Result), o.Stderr} {
		if strings.TrimSpace(s) != "" {
			all = append(all, strings.TrimRight(s, "\n"))
		}
	}
	p.Answer(strings.Join(all, "\n"), o.Stderr != "" && o.Stdout == "")
}

func quoted(s string) string {
	b, err := exported.Plain(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// details adds an answer's text, and what stands in it as HTML.
func (p *pieces) details(text string) {
	said := 0
	last := strings.LastIndex(text, ends)
	for at := 0; at < last; {
		i := strings.Index(text[at:], "<details type=\"")
		if i < 0 {
			break
		}
		at += i
		attributes, body, rest, ok := element(text[at+len("<details"):])
		if !ok || !shows[attributes["type"]] {
			at += len("<details")
			continue
		}
		p.Say(strings.TrimSpace(text[said:at]))
		p.shown(attributes, body)
		at = len(text) - len(rest)
		said = at
	}
	p.Say(strings.TrimSpace(text[said:]))
}

const ends = "</details>"

// shows are the elements that are read.
var shows = map[string]bool{"reasoning": true, "tool_calls": true, "code_interpreter": true}

// shown adds one element.
func (p *pieces) shown(attributes map[string]string, body string) {
	switch attributes["type"] {
	case "reasoning":
		p.Think(unquote(body))
	case "tool_calls":
		p.Call(attributes["id"], attributes["name"], exported.Arguments([]byte(attributes["arguments"]), "input"))
		result, has := attributes["result"]
		if !has {
			result = strings.TrimSpace(html.UnescapeString(body))
			has = result != ""
		}
		if has {
			p.Answer(texts(lenient(result)), false)
		}
	case "code_interpreter":
		output := attributes["output"]
		p.run("", fenced(body), lenient(output))
	}
}

// lenient is a text as JSON: as it is, if it is that.
func lenient(s string) json.RawMessage {
	if s == "" || json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return json.RawMessage(quoted(s))
}

// element takes apart what follows "<details": the attributes, the body without its summary,
// and the rest behind it.
func element(s string) (attributes map[string]string, body, rest string, ok bool) {
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
	body, rest, ok = strings.Cut(s, ends)
	if _, after, has := strings.Cut(body, "</summary>"); has {
		body = after
	}
	return attributes, strings.TrimSpace(body), rest, ok
}

// unquote is a body without the marks of a quotation.
func unquote(body string) string {
	lines := strings.Split(html.UnescapeString(body), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, ">"); ok {
			lines[i] = strings.TrimPrefix(rest, " ")
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// fenced is what stands between the fences of a body.
func fenced(body string) string {
	_, code, ok := strings.Cut(body, "```")
	if !ok {
		return html.UnescapeString(body)
	}
	_, code, _ = strings.Cut(code, "\n") // behind the language
	code, _, _ = strings.Cut(code, "\n```")
	return html.UnescapeString(code)
}
