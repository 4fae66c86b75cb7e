package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest/geminiapi"
)

// given is a payload of this program in the form of others.
var given = map[string]func(signature json.RawMessage) json.RawMessage{
	"alone": func(s json.RawMessage) json.RawMessage { return s },
	"extra_content": func(s json.RawMessage) json.RawMessage {
		return json.RawMessage(`{"extra_content":{"google":{"thought_signature":` + string(s) + `}}}`)
	},
	"provider_specific_fields": func(s json.RawMessage) json.RawMessage {
		return json.RawMessage(`{"provider_specific_fields":{"thought_signature":` + string(s) + `}}`)
	},
}

// elsewhere returns parts as another program keeps them: signatures in its own form, an empty
// signed part as a text.
func elsewhere(ps scrollback.Parts, as func(json.RawMessage) json.RawMessage) scrollback.Parts {
	var out scrollback.Parts
	move := func(o scrollback.Opaque) (scrollback.Opaque, bool) {
		var k struct {
			Signature json.RawMessage `json:"thoughtSignature"`
			Text      bool            `json:"text"`
		}
		if json.Unmarshal(o, &k) != nil || k.Signature == nil {
			return nil, false
		}
		return as(k.Signature), k.Text
	}
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			p.Opaque, _ = move(p.Opaque)
			out = append(out, p)
		case scrollback.Reasoning:
			o, empty := move(p.Opaque)
			if empty {
				out = append(out, scrollback.Text{Opaque: o})
				continue
			}
			out = append(out, scrollback.Reasoning{Text: p.Text, Opaque: o})
		case scrollback.ToolCall:
			p.Opaque, _ = move(p.Opaque)
			out = append(out, p)
		}
	}
	return out
}

// Signatures that an import brought, in whichever form, go back on the parts they came
// with, empty ones too: the strict server, which gave them out, refuses nothing.
func TestImportedSignatures(t *testing.T) {
	for name, as := range given {
		for _, from := range []string{own, flash, "models/" + flash, "google/" + flash} {
			o := geminiapi.Options{NoIDs: name != "alone"}
			s := geminiapi.New(talker(), &o)
			m := served(t, s, flash, nil)
			c := &talk{t: t}
			done := 0
			for n := range 6 {
				c.turn(m, n)
				for ; done < len(c.items); done++ {
					if it := &c.items[done]; it.Role == scrollback.RoleAssistant {
						it.Parts = elsewhere(it.Parts, as)
						it.Model = from
					}
				}
			}
			if refused := s.Refusals(); len(refused) > 0 || c.calls < 4 {
				t.Errorf("%s by %s: %d calls, refused: %+v", name, from, c.calls, refused)
			}
			last := string(s.Bodies()[len(s.Bodies())-1])
			if n := strings.Count(last, `"thoughtSignature"`); n < 6 || strings.Contains(last, "skip_thought") {
				t.Errorf("%s by %s: %d signatures: %s", name, from, n, last)
			}
		}
	}
}
