package codex

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// piece is a part with its bytes.
type piece struct {
	scrollback.Part
	data []byte
}

// marker is what the tool writes before an image, with its name or path.
var marker = regexp.MustCompile(`^<image(?: name=\[?([^\]>]*?)\]?)?(?: path="([^"]*)")?>$`)

// content reads what a message holds. only says of each element whether it counts; nil
// counts all. Marks around images are not text.
func (t *teller) content(raw json.RawMessage, only []bool) (out []piece) {
	var list []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Image json.RawMessage `json:"image_url"`
		Refus string          `json:"refusal"`
	}
	if json.Unmarshal(raw, &list) != nil {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return []piece{{Part: scrollback.Text{Text: text}}}
		}
		return nil
	}
	name := ""
	for i, c := range list {
		if only != nil && !only[i] {
			continue
		}
		switch c.Type {
		case "input_text", "output_text", "text":
			m := marker.FindStringSubmatch(c.Text)
			switch {
			case m != nil && i+1 < len(list) && list[i+1].Type == "input_image":
				name = m[1]
				if m[2] != "" {
					name = path.Base(strings.ReplaceAll(m[2], `\`, "/"))
				}
			case c.Text == "</image>" && i > 0 && list[i-1].Type == "input_image":
			case c.Text != "":
				out = append(out, piece{Part: scrollback.Text{Text: c.Text}})
			}
		case "refusal":
			out = append(out, piece{Part: scrollback.Text{Text: c.Refus}})
		case "input_image":
			var url string
			_ = json.Unmarshal(c.Image, &url) // another form is no address
			if p, ok := imageOf(url, name); ok {
				out = append(out, p)
			} else {
				t.leave("image")
			}
			name = ""
		default:
			t.leave("unknown")
		}
	}
	return out
}

// imageOf is the image at an address, which may hold it.
func imageOf(url, name string) (piece, bool) {
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		return piece{Part: scrollback.Image{URL: url, Name: name}}, true
	}
	rest, ok := strings.CutPrefix(url, "data:")
	kind, text, ok2 := strings.Cut(rest, ",")
	kind, ok3 := strings.CutSuffix(kind, ";base64")
	if !ok || !ok2 || !ok3 {
		return piece{}, false
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(data) == 0 {
		return piece{}, false
	}
	kind, _, _ = strings.Cut(kind, ";")
	return piece{scrollback.Image{MediaType: kind, Name: name, Size: int64(len(data))}, data}, true
}
