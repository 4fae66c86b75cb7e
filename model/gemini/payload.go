package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// partPayload is what a part brought that its words do not say.
type partPayload struct {
	Signature json.RawMessage `json:"thoughtSignature,omitempty"` // as it was written
	// Text says that the part was a text: one without words is kept as reasoning.
	Text bool `json:"text,omitempty"`
	// ID is that of a call, as the server gave it. A call without one has an id of
	// ours, which is not for the server.
	ID string `json:"id,omitempty"`
	// Part is a whole part of a kind that has no place among ours.
	Part json.RawMessage `json:"part,omitempty"`
}

// toOpaque returns the payload as it is kept; nil for nothing.
func (p partPayload) toOpaque() scrollback.Opaque {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(p) != nil || buf.String() == "{}\n" {
		return nil
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// readPayload reads a payload that is for the model; one of another model, or one that
// cannot be read, counts as none. What came from elsewhere has its signature in another
// place: by itself, as files of Gemini CLI have it, or under the names of APIs in OpenAI's
// form.
func readPayload(o scrollback.Opaque, own bool) (p partPayload) {
	if !own || len(o) == 0 {
		return partPayload{}
	}
	if isSignatureOnly(o) {
		return partPayload{Signature: validSignature(o)}
	}
	if json.Unmarshal(o, &p) != nil {
		return partPayload{}
	}
	if p.Signature = validSignature(p.Signature); p.Signature == nil {
		var e foreignPayload
		if json.Unmarshal(o, &e) == nil {
			p.Signature = e.findSignature()
		}
	}
	return p
}

// isSignatureOnly reports whether a payload is a signature and nothing else.
func isSignatureOnly(o scrollback.Opaque) bool {
	return bytes.HasPrefix(o, []byte(`"`)) && json.Valid(o)
}

// foreignPayload is a payload that another API, or a gateway, put a signature into.
type foreignPayload struct {
	Signature json.RawMessage `json:"thought_signature"`
	Google    *foreignPayload `json:"google"`
	Extra     *foreignPayload `json:"extra_content"`
	Specific  *foreignPayload `json:"provider_specific_fields"`
}

func (e *foreignPayload) findSignature() json.RawMessage {
	for _, in := range []*foreignPayload{e.Extra, e.Google, e.Specific} {
		if in != nil {
			if s := in.findSignature(); s != nil {
				return s
			}
		}
	}
	return validSignature(e.Signature)
}

// validSignature returns a signature, or nil for what is not one.
func validSignature(raw json.RawMessage) json.RawMessage {
	if s := string(raw); s == "" || s == "null" || s == `""` {
		return nil
	}
	return raw
}

// standIn is the signature that Google documents for calls which come from another
// model, or from a log that has lost theirs.
var standIn = json.RawMessage(`"skip_thought_signature_validator"`)
