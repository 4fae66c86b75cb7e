package threading_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// noise changes bodies as clients were seen to: line ends, composition, reminders, parts, arguments, reasoning and ids
// of items.
type noise struct{ *rand.Rand }

func (n noise) often(share float64) bool { return n.Float64() < share }

func (n noise) text(s string) string {
	switch at := n.Float64(); {
	case at < 0.25:
		return s + "\n"
	case at < 0.35:
		return strings.ReplaceAll(s, "\n", "\r\n")
	case at < 0.45:
		return s + fmt.Sprintf("<system-reminder>\n%d tokens left\n</system-reminder>", n.IntN(9999))
	case at < 0.5:
		return norm.NFD.String(s)
	default:
		return s
	}
}

// arguments adds a default to arguments, as an object or as JSON in a string.
func (n noise) arguments(v any) any {
	if !n.often(0.3) {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		v["replace_all"] = false
	case string:
		var o map[string]any
		if json.Unmarshal([]byte(v), &o) != nil {
			return v
		}
		o["replace_all"] = false
		changed, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		return string(changed)
	}
	return v
}

// content changes the content of a message. Text of the model is cut in two now and then.
func (n noise) content(v any, assistant bool) any {
	switch v := v.(type) {
	case string:
		if n.often(0.5) {
			return n.text(v)
		}
		return []any{map[string]any{"type": "text", "text": n.text(v)}}
	case []any:
		var out []any
		for _, p := range v {
			o, ok := p.(map[string]any)
			if !ok {
				out = append(out, p)
				continue
			}
			delete(o, "cache_control")
			if n.often(0.1) {
				o["cache_control"] = map[string]any{"type": "ephemeral"}
			}
			if o["type"] == "tool_use" {
				o["input"] = n.arguments(o["input"])
			}
			s, ok := o["text"].(string)
			if at := strings.IndexByte(s, ' '); ok && assistant && at > 0 && n.often(0.1) {
				out = append(out, map[string]any{"type": o["type"], "text": s[:at]})
				s = s[at:]
			}
			if ok {
				o["text"] = n.text(s)
			}
			out = append(out, o)
		}
		return out
	default:
		return v
	}
}

// body changes a body.
func (n noise) body(r recorded) []byte {
	var b map[string]any
	if err := json.Unmarshal(r.Request, &b); err != nil {
		panic(err)
	}
	for _, m := range list(b["messages"]) {
		delete(m, "reasoning_content")
		if m["role"] == "user" && r.Dialect == threading.Messages && n.often(0.2) {
			if s, ok := m["content"].(string); ok {
				m["content"] = []any{map[string]any{"type": "text", "text": s}}
			}
			today := fmt.Sprintf("<system-reminder>\nToday is %d\n</system-reminder>", n.IntN(99))
			m["content"] = append([]any{map[string]any{"type": "text", "text": today}}, m["content"].([]any)...)
		}
		if r.Dialect != threading.Ollama && m["content"] != nil {
			m["content"] = n.content(m["content"], m["role"] == "assistant")
		}
		for _, c := range list(m["tool_calls"]) {
			if f, ok := c["function"].(map[string]any); ok {
				f["arguments"] = n.arguments(f["arguments"])
			}
		}
	}
	if input, ok := b["input"].([]any); ok {
		var out []any
		for _, item := range input {
			o, ok := item.(map[string]any)
			if ok && o["type"] == "reasoning" && n.often(0.5) {
				continue
			}
			if ok && (o["type"] == nil || o["type"] == "message") && o["content"] != nil {
				if s, ok := o["content"].(string); ok {
					o["content"] = n.text(s)
				} else {
					o["content"] = n.content(o["content"], o["role"] == "assistant")
				}
				if n.often(0.5) {
					delete(o, "id")
				}
			}
			if ok && o["type"] == "function_call" {
				o["arguments"] = n.arguments(o["arguments"])
			}
			out = append(out, item)
		}
		b["input"] = out
	}
	for _, c := range list(b["contents"]) {
		for _, p := range list(c["parts"]) {
			if s, ok := p["text"].(string); ok && p["thought"] != true {
				p["text"] = n.text(s)
			}
		}
	}
	out, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return out
}

// list returns the objects of a list.
func list(v any) []map[string]any {
	elements, ok := v.([]any)
	if !ok {
		return nil
	}
	var out []map[string]any
	for _, e := range elements {
		if o, ok := e.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// What clients change from request to request does not lead a request astray.
func TestNoise(t *testing.T) {
	recordings := readRecordings(t)
	for seed := range testlength.Choose(uint64(2), 20, 200) {
		for _, hidden := range []bool{false, true} {
			for client, requests := range recordings {
				n := noise{rand.New(rand.NewPCG(seed, 14))}
				d, outcomes := replay(t, requests, hidden, n.body)
				r := judge(client, d, outcomes)
				if r.wrong+r.sidesAsTurns+r.turnsAsSides+r.twice+r.lost > 0 {
					t.Errorf("seed %d, hidden %v, %s: %d wrong, %d side calls as turns, %d turns as side calls, %d twice, %d lost",
						seed, hidden, client, r.wrong, r.sidesAsTurns, r.turnsAsSides, r.twice, r.lost)
					for _, c := range r.complaints {
						t.Log(c)
					}
				}
			}
		}
	}
}

// slowIndex never recognises the newest request of a thread.
type slowIndex struct{ *threading.Memory }

func (slowIndex) Rolled(context.Context, threading.Scope, []threading.Hash, int) ([]threading.RequestRow, error) {
	return nil, nil
}

// The short way leads to where the long way leads.
func TestNewestRequestIsRecognised(t *testing.T) {
	for client, requests := range readRecordings(t) {
		for _, hidden := range []bool{false, true} {
			_, fast := replay(t, requests, hidden, nil)
			d := newDesk(t)
			d.matcher.Index = slowIndex{d.memory}
			slow := d.replay(requests, hidden, nil)
			for i, o := range fast {
				other := slow[i].match
				if o.match.Thread != other.Thread || o.match.Base != other.Base || len(o.match.New) != len(other.New) ||
					o.match.Purpose != other.Purpose || o.match.Course != other.Course || o.match.Less != other.Less {
					t.Errorf("%s %s #%d: %s %s %s %v %d %v, the long way %s %s %s %v %d %v", client, o.Flow, o.Number,
						o.match.Purpose, o.match.Course, o.match.Thread, o.match.Base, len(o.match.New), o.match.Less,
						other.Purpose, other.Course, other.Thread, other.Base, len(other.New), other.Less)
				}
			}
		}
	}
}
