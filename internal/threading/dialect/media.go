package dialect

import (
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// readMedia reads what an image or another file was sent as, in any dialect; nil if nothing of it can be read.
func readMedia(o map[string]any) *threading.Media {
	m := &threading.Media{Name: text(firstOf(o["filename"], o["title"], field(o, "file", "filename"))),
		ID: text(firstOf(o["file_id"], field(o, "file", "file_id"), field(o, "source", "file_id")))}
	switch source := object(o["source"]); {
	case source != nil: // Anthropic's
		m.Type = text(source["media_type"])
		m.URL = text(source["url"])
		if m.Data = text(source["data"]); text(source["type"]) == "text" {
			m.Text = m.Data
			m.Data = ""
		}
	case field(o, "inlineData") != nil || field(o, "inline_data") != nil: // Google's
		in := firstOf(o["inlineData"], o["inline_data"])
		m.Type = text(firstOf(field(in, "mimeType"), field(in, "mime_type")))
		m.Data = text(field(in, "data"))
	case field(o, "fileData") != nil || field(o, "file_data", "file_uri") != nil:
		at := firstOf(o["fileData"], o["file_data"])
		m.Type = text(firstOf(field(at, "mimeType"), field(at, "mime_type")))
		m.URL = text(firstOf(field(at, "fileUri"), field(at, "file_uri")))
	case o["input_audio"] != nil:
		m.Data = text(field(o, "input_audio", "data"))
		m.Type = "audio/" + text(field(o, "input_audio", "format"))
	default: // OpenAI's
		m.SetAddress(text(firstOf(field(o, "image_url", "url"), o["image_url"], field(o, "file", "file_data"), o["file_data"],
			o["file_url"], o["image"])))
	}
	if m.Data == "" && m.Text == "" && m.URL == "" && m.ID == "" {
		return nil
	}
	return m
}

// readPlainMedia reads an image that is only bytes in base64.
func readPlainMedia(v any) *threading.Media {
	if s := text(v); s != "" {
		return &threading.Media{Data: s}
	}
	return nil
}
