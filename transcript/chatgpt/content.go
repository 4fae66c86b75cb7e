package chatgpt

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// content is what a message says.
type content struct {
	Type     string            `json:"content_type"`
	Parts    []json.RawMessage `json:"parts"`
	Language string            `json:"language"`
	Text     string            `json:"text"`
	Thoughts []struct {
		Summary string `json:"summary"`
		Content string `json:"content"`
	} `json:"thoughts"`
	Content    string          `json:"content"`
	Name       string          `json:"name"`
	Title      string          `json:"title"`
	URL        string          `json:"url"`
	Domain     string          `json:"domain"`
	Result     string          `json:"result"`
	Summary    string          `json:"summary"`
	Output     string          `json:"output_str"`
	Screenshot json.RawMessage `json:"screenshot"`
}

// knownTypes are the types of content that are read.
var knownTypes = map[string]bool{
	"text": true, "multimodal_text": true, "code": true, "execution_output": true, "thoughts": true,
	"reasoning_recap":       true,
	"user_editable_context": true, "model_editable_context": true, "tether_browsing_display": true, "tether_quote": true,
	"sonic_webpage": true, "system_error": true, "computer_output": true, "citable_code_output": true,
}

// unknownContent returns the content of a message whose type is not known, as it stands in the file.
func (w *walker) unknownContent(id string, c *content) json.RawMessage {
	if knownTypes[c.Type] {
		return nil
	}
	if w.originals == nil { // it is read once more
		var again struct {
			Mapping map[string]struct {
				Message struct {
					Content json.RawMessage `json:"content"`
				} `json:"message"`
			} `json:"mapping"`
		}
		_ = exported.DecodeJSON(w.raw, &again) // it was read before
		w.originals = map[string]json.RawMessage{}
		for id, n := range again.Mapping {
			w.originals[id] = n.Message.Content
		}
	}
	return exported.CompactJSON(w.originals[id])
}

// callText returns the text of a call.
func (c *content) callText() string {
	text := []string{c.Text}
	for _, raw := range c.Parts {
		var s string
		if exported.DecodeField(raw, &s) {
			text = append(text, s)
		}
	}
	return strings.TrimLeft(strings.Join(text, "\n"), "\n")
}

// addContent adds the parts of a message that its content makes.
func (w *walker) addContent(e *transcript.Entry, m *message) {
	c := &m.Content
	ps := &e.Message.Parts
	switch c.Type {
	case "text", "multimodal_text":
	case "code":
		if strings.TrimSpace(c.Text) != "" {
			language := c.Language
			if language == "unknown" {
				language = ""
			}
			*ps = append(*ps, scrollback.Text{Text: "```" + language + "\n" + c.Text + "\n```"})
		}
	case "thoughts":
		var all []string
		for _, t := range c.Thoughts {
			if s := strings.TrimSpace(strings.TrimSpace(t.Summary) + "\n" + strings.TrimSpace(t.Content)); s != "" {
				all = append(all, s)
			}
		}
		if len(all) > 0 {
			*ps = append(*ps, scrollback.Reasoning{Text: strings.Join(all, "\n\n")})
		}
	case "tether_quote", "sonic_webpage":
		*ps = exported.AppendText(*ps, strings.TrimSpace(firstNonEmpty(c.Title, c.Domain)+"\n"+c.URL)+"\n\n"+c.Text)
	case "tether_browsing_display":
		*ps = exported.AppendText(*ps, firstNonEmpty(c.Result, c.Summary))
	case "system_error":
		*ps = exported.AppendText(*ps, strings.TrimSpace(c.Name+": "+c.Text))
	case "computer_output":
		w.addPart(e, m, c.Screenshot)
	case "citable_code_output":
		*ps = exported.AppendText(*ps, c.Output)
	case "execution_output":
		*ps = exported.AppendText(*ps, c.Text)
	default:
		w.talk.CountLeft("content of type " + clipType(c.Type))
		*ps = exported.AppendText(*ps, firstNonEmpty(c.Text, c.Content, c.Result))
		if len(*ps) == 0 && len(c.Parts) == 0 && c.Type != "" {
			*ps = exported.AppendText(*ps, "["+clipType(c.Type)+"]")
		}
	}
	for _, raw := range c.Parts {
		w.addPart(e, m, raw)
	}
	w.addAttachments(e, m)
}

// clipType returns a type as it may be shown.
func clipType(kind string) string {
	if kind == "" {
		return "no type"
	}
	return strings.ToValidUTF8(kind[:min(len(kind), 40)], "")
}

// pointer is a part of a message that is not text.
type pointer struct {
	Type  string   `json:"content_type"`
	Asset string   `json:"asset_pointer"`
	Text  string   `json:"text"`
	Audio *pointer `json:"audio_asset_pointer"`
	Video *pointer `json:"video_container_asset_pointer"`
}

// addPart adds one part of a message.
func (w *walker) addPart(e *transcript.Entry, m *message, raw json.RawMessage) {
	var text string
	if exported.DecodeField(raw, &text) {
		e.Message.Parts = exported.AppendText(e.Message.Parts, text)
		return
	}
	var p pointer
	if exported.DecodeJSON(raw, &p) != nil {
		return
	}
	switch {
	case p.Text != "":
		e.Message.Parts = exported.AppendText(e.Message.Parts, p.Text)
	case p.Asset != "":
		kind, _, _ := strings.Cut(p.Type, "_")
		w.addAsset(e, m, firstNonEmpty(kind, "file"), p.Asset)
	case p.Audio != nil && p.Audio.Asset != "":
		w.addAsset(e, m, "audio", p.Audio.Asset)
	case p.Video != nil && p.Video.Asset != "":
		w.addAsset(e, m, "video", p.Video.Asset)
	default:
		w.talk.CountLeft("part of type " + clipType(p.Type))
	}
}

// assetID returns the id of the file that an asset pointer means.
func assetID(asset string) string {
	_, rest, _ := strings.Cut(asset, "://")
	for _, piece := range strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '#' }) {
		if strings.HasPrefix(piece, "file-") || strings.HasPrefix(piece, "file_") {
			return piece
		}
	}
	return ""
}

// addAsset adds the file that a pointer means, or mentions it.
func (w *walker) addAsset(e *transcript.Entry, m *message, kind, asset string) {
	id := assetID(asset)
	name := ""
	for _, a := range m.Metadata.Attachments {
		if a.ID == id {
			name = a.Name
		}
	}
	w.assets.EncloseFile(e, kind, id, firstNonEmpty(name, id, asset))
}

// addAttachments adds what was uploaded with a message and is not a part of it.
func (w *walker) addAttachments(e *transcript.Entry, m *message) {
	if len(m.Metadata.Attachments) == 0 {
		return
	}
	shown := map[string]bool{}
	for _, raw := range m.Content.Parts {
		var p pointer
		if exported.DecodeJSON(raw, &p) == nil && p.Asset != "" {
			shown[assetID(p.Asset)] = true
		}
	}
	for _, a := range m.Metadata.Attachments {
		if a.ID == "" && a.Name == "" || shown[a.ID] {
			continue
		}
		shown[a.ID] = a.ID != ""
		w.assets.EncloseFile(e, "file", a.ID, firstNonEmpty(a.Name, a.ID))
	}
}
