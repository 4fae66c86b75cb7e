package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// payload is what a part brought that its words do not say.
type payload struct {
	Signature json.RawMessage `json:"thoughtSignature,omitempty"` // as it was written
	// Text says that the part was a text: one without words is kept as reasoning.
	Text bool `json:"text,omitempty"`
	// ID is that of a call, as the server gave it. A call without one has an id of
	// ours, which is not for the server.
	ID string `json:"id,omitempty"`
	// Part is a whole part of a kind that has no place among ours.
	Part json.RawMessage `json:"part,omitempty"`
}

// opaque is the payload as it is kept; nil for nothing.
func (p payload) opaque() scrollback.Opaque {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(p) != nil || buf.String() == "{}\n" {
		return nil
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// payloadOf reads a payload that is for the model; one of another model, or one that
// cannot be read, counts as none. What came from elsewhere has its signature in another
// place: by itself, as files of Gemini CLI have it, or under the names of APIs in OpenAI's
// form.
func payloadOf(o scrollback.Opaque, own bool) (p payload) {
	if !own || len(o) == 0 {
		return payload{}
	}
	if alone(o) {
		return payload{Signature: signature(o)}
	}
	if json.Unmarshal(o, &p) != nil {
		return payload{}
	}
	if p.Signature = signature(p.Signature); p.Signature == nil {
		var e elsewhere
		if json.Unmarshal(o, &e) == nil {
			p.Signature = e.find()
		}
	}
	return p
}

// alone reports whether a payload is a signature and nothing else.
func alone(o scrollback.Opaque) bool { return bytes.HasPrefix(o, []byte(`"`)) && json.Valid(o) }

// elsewhere is a payload that another API, or a gateway, put a signature into.
type elsewhere struct {
	Signature json.RawMessage `json:"thought_signature"`
	Google    *elsewhere      `json:"google"`
	Extra     *elsewhere      `json:"extra_content"`
	Specific  *elsewhere      `json:"provider_specific_fields"`
}

func (e *elsewhere) find() json.RawMessage {
	for _, in := range []*elsewhere{e.Extra, e.Google, e.Specific} {
		if in != nil {
			if s := in.find(); s != nil {
				return s
			}
		}
	}
	return signature(e.Signature)
}

// signature is a signature, or nil for what is not one.
func signature(raw json.RawMessage) json.RawMessage {
	if s := string(raw); s == "" || s == "null" || s == `""` {
		return nil
	}
	return raw
}

// standIn is the signature that Google documents for calls which come from another
// model, or from a log that has lost theirs.
var standIn = json.RawMessage(`"skip_thought_signature_validator"`)
