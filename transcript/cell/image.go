package cell

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// LiftImages takes the images out of a text that has them as data: URLs, and leaves marks
// that name them as attachments. attached are those that the file has by name.
func LiftImages(c *transcript.Cell, attached func(name string) (mediaType string, b []byte, ok bool)) {
	var out strings.Builder
	all := findPlaces(c.Text)
	end := 0
	taken := markNames(all)
	found := map[string]bool{}
	for _, p := range all {
		if name, ok := strings.CutPrefix(p.URL, attachment); ok {
			if found[name] {
				continue
			}
			if mediaType, b, ok := findImage(name, attached); ok {
				found[name] = true
				keepImage(c, scrollback.Image{MediaType: mediaType, Name: name}, b)
			}
			continue
		}
		mediaType, b, ok := decodeDataURL(p.URL)
		if !ok {
			continue
		}
		name := freeName(mediaType, taken)
		keepImage(c, scrollback.Image{MediaType: mediaType, Name: name}, b)
		out.WriteString(c.Text[end:p.From])
		out.WriteString(ImageMark(p.Alt, attachment+name))
		end = p.To
	}
	if end > 0 {
		out.WriteString(c.Text[end:])
		c.Text = out.String()
	}
}

func findImage(name string, attached func(string) (string, []byte, bool)) (string, []byte, bool) {
	if attached == nil {
		return "", nil, false
	}
	if mediaType, b, ok := attached(name); ok {
		return mediaType, b, true
	}
	plain, err := url.PathUnescape(name)
	if err != nil {
		return "", nil, false
	}
	return attached(plain)
}

func keepImage(c *transcript.Cell, p scrollback.Image, b []byte) {
	if c.Bytes == nil {
		c.Bytes = map[int][]byte{}
	}
	c.Bytes[len(c.Images)] = b
	c.Images = append(c.Images, p)
}

// markNames returns the attachments that marks name.
func markNames(all []imagePlace) map[string]bool {
	out := map[string]bool{}
	for _, p := range all {
		if name, ok := strings.CutPrefix(p.URL, attachment); ok {
			out[name] = true
		}
	}
	return out
}

// freeName returns a name for an image that is not taken yet.
func freeName(mediaType string, taken map[string]bool) string {
	ending := "png"
	switch sub := strings.TrimPrefix(mediaType, "image/"); sub {
	case "jpeg", "gif", "webp":
		ending = sub
	}
	for n := len(taken) + 1; ; n++ {
		if name := fmt.Sprintf("image-%d.%s", n, ending); !taken[name] {
			taken[name] = true
			return name
		}
	}
}

// InlineImages returns the text of a cell with its images in it, as data: URLs.
func InlineImages(c transcript.Cell) string {
	var out strings.Builder
	end := 0
	named := imageFinder(c)
	for _, p := range findPlaces(c.Text) {
		if i, ok := named(p); ok {
			out.WriteString(c.Text[end:p.From])
			out.WriteString(ImageMark(p.Alt, dataURL(c.Images[i].MediaType, c.Bytes[i])))
			end = p.To
		}
	}
	out.WriteString(c.Text[end:])
	return out.String()
}

// imageFinder finds the image of a cell that a mark names.
func imageFinder(c transcript.Cell) func(imagePlace) (int, bool) {
	at := map[string]int{}
	for i := range c.Images {
		if len(c.Bytes[i]) > 0 {
			at[c.Images[i].Name] = i
		}
	}
	return func(p imagePlace) (int, bool) {
		name, ok := strings.CutPrefix(p.URL, attachment)
		i, there := at[name]
		return i, ok && there
	}
}

// CellParts returns what a cell says as parts: its text, cut where an image stands, and what its
// marks referred to.
func CellParts(c transcript.Cell) (e transcript.Entry) {
	e.Message.Role = c.Role
	end := 0
	say := func(s string) {
		if s != "" {
			addPart(&e, scrollback.Text{Text: s})
		}
	}
	named := imageFinder(c)
	for _, p := range findPlaces(c.Text) {
		i, ok := named(p)
		if !ok {
			continue
		}
		say(c.Text[end:p.From])
		image := c.Images[i]
		if image.Name = ""; p.Alt != "image" {
			image.Name = p.Alt
		}
		attachImage(&e, image, c.Bytes[i])
		end = p.To
	}
	say(c.Text[end:])
	e.Message.Parts = append(e.Message.Parts, c.References...)
	return e
}

// CellOf returns the cell that says what a message says, as far as it can.
func CellOf(e transcript.Entry) transcript.Cell {
	c := transcript.Cell{Role: e.Message.Role}
	var b strings.Builder
	taken := markNames(findPlaces(e.Message.Parts.Text()))
	wrote := false
	for i, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Reference != nil {
				c.References = append(c.References, p)
				continue
			}
			if wrote {
				b.WriteString("\n")
			}
			b.WriteString(p.Text)
			wrote = true
			continue
		case scrollback.Image:
			name := freeName(p.MediaType, taken)
			b.WriteString(ImageMark(p.Name, attachment+name))
			keepImage(&c, scrollback.Image{MediaType: p.MediaType, Name: name, Detail: p.Detail}, e.Bytes[i])
		case scrollback.File:
			b.WriteString("[" + p.Name + "]")
		case scrollback.ToolResult:
			b.WriteString(p.Text)
		case scrollback.ToolCall:
			b.WriteString(p.Name + " " + string(p.Arguments))
		case scrollback.Reasoning:
		}
		wrote = false
	}
	c.Text = b.String()
	return c
}
