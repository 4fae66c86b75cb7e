package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// The roles of turns; results are the user's.
const (
	roleUser  = "user"
	roleModel = "model"
)

// transcript writes the items of a window as the server reads them.
type transcript struct {
	m        *Model
	r        model.Request
	shown    model.Request // r with the images that the server takes
	system   []any
	contents []content

	ids map[string]string // of calls: ours → the server's, empty where it gave none
}

// writeItems adds all items. One that has nothing for this model is left out: an empty turn is
// refused.
func (t *transcript) writeItems(ctx context.Context) error {
	t.ids = map[string]string{}
	t.system = nil
	t.contents = nil
	for _, it := range t.shown.Items {
		if it.Kind == scrollback.KindTools {
			continue
		}
		role := roleUser
		if it.Role == scrollback.RoleAssistant {
			role = roleModel
		}
		parts, err := t.writeParts(ctx, it)
		if err != nil {
			return err
		}
		switch {
		case it.Role == scrollback.RoleSystem:
			t.system = append(t.system, parts...)
		case len(parts) > 0:
			t.contents = append(t.contents, content{Role: role, Parts: parts})
		}
	}
	return nil
}

func (t *transcript) writeParts(ctx context.Context, it scrollback.Item) (out []any, err error) {
	own := t.m.isOwn(it)
	called := false
	told := own && isImported(it.Parts)
	for _, p := range it.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if of := readPayload(p.Opaque, own); p.Text != "" || of.Signature != nil {
				out = append(out, part{Text: &p.Text, ThoughtSignature: of.Signature})
			}
		case scrollback.Reasoning:
			if own {
				out = append(out, thoughtParts(p)...)
			}
		case scrollback.ToolCall:
			one := t.writeCall(p, own, !called)
			if told && !strings.HasPrefix(p.ID, madeUp) {
				one.FunctionCall.ID = p.ID
				t.ids[p.ID] = p.ID
			}
			out = append(out, one)
			called = true
		case scrollback.ToolResult:
			out = append(out, t.writeResult(p))
		case scrollback.Image:
			one, err := t.writeImage(ctx, p)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		case scrollback.File:
			out = append(out, textPart("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size,
				scrollback.ArtifactRef(p.Artifact)))
		}
	}
	return out, nil
}

// isOwn reports whether the model itself made an item: imported ones may name it as Google
// does, without a provider.
func (m *Model) isOwn(it scrollback.Item) bool {
	bare := strings.TrimPrefix(strings.TrimPrefix(it.Model, "models/"), "google/")
	return it.Model != "" && (it.Model == m.facts.Name || bare == strings.TrimPrefix(m.place.Model, "models/"))
}

// madeUp is how the ids begin that an import gives to calls without one.
const madeUp = "call_"

// isImported reports whether parts came from a file of Gemini CLI, where signatures stand by
// themselves and the ids of calls are those of the server.
func isImported(ps scrollback.Parts) bool {
	return slices.ContainsFunc(ps, func(p scrollback.Part) bool {
		switch p := p.(type) {
		case scrollback.Text:
			return isSignatureOnly(p.Opaque)
		case scrollback.Reasoning:
			return isSignatureOnly(p.Opaque)
		case scrollback.ToolCall:
			return isSignatureOnly(p.Opaque)
		case scrollback.Image, scrollback.File, scrollback.ToolResult:
		}
		return false
	})
}

// thoughtParts returns a thought of the model itself, or what is kept as one.
func thoughtParts(p scrollback.Reasoning) []any {
	of := readPayload(p.Opaque, true)
	switch {
	case of.Part != nil:
		return []any{of.Part}
	case p.Text == "" && of.Signature == nil:
		return nil
	}
	return []any{part{Text: &p.Text, Thought: !of.Text, ThoughtSignature: of.Signature}}
}

// writeCall returns a call with its payload. The first of a step must be signed; those beside it
// have no signature.
func (t *transcript) writeCall(p scrollback.ToolCall, own, first bool) part {
	of := readPayload(p.Opaque, own)
	t.ids[p.ID] = of.ID
	if first && of.Signature == nil && t.m.family.requiresSignature() {
		of.Signature = standIn
	}
	return part{ThoughtSignature: of.Signature,
		FunctionCall: &functionCall{ID: of.ID, Name: p.Name, Args: argumentsObject(p.Arguments)}}
}

// argumentsObject returns arguments as an object, which the wire has a field for.
func argumentsObject(arguments json.RawMessage) json.RawMessage {
	return model.ParseArguments(string(arguments))
}

func (t *transcript) writeResult(p scrollback.ToolResult) part {
	key := "output"
	if p.IsError {
		key = "error"
	}
	return part{FunctionResponse: &functionResponse{ID: t.ids[p.CallID], Name: p.Name,
		Response: map[string]string{key: p.Text}}}
}

// writeImage returns an image, or its name if none can be shown.
func (t *transcript) writeImage(ctx context.Context, p scrollback.Image) (part, error) {
	if t.r.Bytes == nil || p.URL != "" {
		return textPart("[image: %s, %s]", p.Name, p.Location()), nil
	}
	b, err := t.r.Bytes(ctx, p.Artifact)
	return part{InlineData: &blob{MimeType: p.MediaType, Data: b}}, err
}

func textPart(format string, args ...any) part {
	text := fmt.Sprintf(format, args...)
	return part{Text: &text}
}
