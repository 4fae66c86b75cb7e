package cell

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Lift takes the images out of a text that has them as data: URLs, and leaves marks
// that name them as attachments. attached are those that the file has by name.
func Lift(c *transcript.Cell, attached func(name string) (mediaType string, b []byte, ok bool)) {
	var out strings.Builder
	all := places(c.Text)
	end := 0
	taken := namesIn(all)
	found := map[string]bool{}
	for _, p := range all {
		if name, ok := strings.CutPrefix(p.URL, attachment); ok {
			if found[name] {
				continue
			}
			if mediaType, b, ok := find(name, attached); ok {
				found[name] = true
				keep(c, scrollback.Image{MediaType: mediaType, Name: name}, b)
			}
			continue
		}
		mediaType, b, ok := decode(p.URL)
		if !ok {
			continue
		}
		name := free(mediaType, taken)
		keep(c, scrollback.Image{MediaType: mediaType, Name: name}, b)
		out.WriteString(c.Text[end:p.From])
		out.WriteString(Mark(p.Alt, attachment+name))
		end = p.To
	}
	if end > 0 {
		out.WriteString(c.Text[end:])
		c.Text = out.String()
	}
}

func find(name string, attached func(string) (string, []byte, bool)) (string, []byte, bool) {
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

func keep(c *transcript.Cell, p scrollback.Image, b []byte) {
	if c.Bytes == nil {
		c.Bytes = map[int][]byte{}
	}
	c.Bytes[len(c.Images)] = b
	c.Images = append(c.Images, p)
}

// namesIn are the attachments that marks name.
func namesIn(all []place) map[string]bool {
	out := map[string]bool{}
	for _, p := range all {
		if name, ok := strings.CutPrefix(p.URL, attachment); ok {
			out[name] = true
		}
	}
	return out
}

// free is a name for an image that is not taken yet.
func free(mediaType string, taken map[string]bool) string {
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

// Inline is the text of a cell with its images in it, as data: URLs.
func Inline(c transcript.Cell) string {
	var out strings.Builder
	end := 0
	named := images(c)
	for _, p := range places(c.Text) {
		if i, ok := named(p); ok {
			out.WriteString(c.Text[end:p.From])
			out.WriteString(Mark(p.Alt, dataURL(c.Images[i].MediaType, c.Bytes[i])))
			end = p.To
		}
	}
	out.WriteString(c.Text[end:])
	return out.String()
}

// images finds the image of a cell that a mark names.
func images(c transcript.Cell) func(place) (int, bool) {
	at := map[string]int{}
	for i := range c.Images {
		if len(c.Bytes[i]) > 0 {
			at[c.Images[i].Name] = i
		}
	}
	return func(p place) (int, bool) {
		name, ok := strings.CutPrefix(p.URL, attachment)
		i, there := at[name]
		return i, ok && there
	}
}

// Parts is what a cell says as parts: its text, cut where an image stands, and what its
// marks referred to.
func Parts(c transcript.Cell) (e transcript.Entry) {
	e.Message.Role = c.Role
	end := 0
	say := func(s string) {
		if s != "" {
			add(&e, scrollback.Text{Text: s})
		}
	}
	named := images(c)
	for _, p := range places(c.Text) {
		i, ok := named(p)
		if !ok {
			continue
		}
		say(c.Text[end:p.From])
		image := c.Images[i]
		if image.Name = ""; p.Alt != "image" {
			image.Name = p.Alt
		}
		attach(&e, image, c.Bytes[i])
		end = p.To
	}
	say(c.Text[end:])
	e.Message.Parts = append(e.Message.Parts, c.References...)
	return e
}

// Of is the cell that says what a message says, as far as it can.
func Of(e transcript.Entry) transcript.Cell {
	c := transcript.Cell{Role: e.Message.Role}
	var b strings.Builder
	taken := namesIn(places(e.Message.Parts.Text()))
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
			name := free(p.MediaType, taken)
			b.WriteString(Mark(p.Name, attachment+name))
			keep(&c, scrollback.Image{MediaType: p.MediaType, Name: name, Detail: p.Detail}, e.Bytes[i])
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
