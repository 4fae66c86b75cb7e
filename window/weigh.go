package window

import "github.com/scrollback-ai/scrollback"

// What a message, and a text that is none, costs in addition to what is in it.
const (
	messageTokens = 4
	messageBytes  = 16
)

// Weigh returns the load of a message's parts on a window: tokens, bytes on the wire, and images.
// count counts the tokens of a text, and image says what an image costs, such as [token.Count] and
// [token.ImageTokens]. That is the weight of a [scrollback.Message]: a program that keeps messages weighs
// each of them once.
//
// [token.Count]: https://pkg.go.dev/github.com/scrollback-ai/scrollback/token#Count
// [token.ImageTokens]: https://pkg.go.dev/github.com/scrollback-ai/scrollback/token#Image
func Weigh(parts scrollback.Parts, count func(text string) int,
	image func(width, height int, detail string) int) scrollback.Weight {
	w := scrollback.Weight{Tokens: messageTokens, Bytes: messageBytes}
	text := func(t string) {
		w.Tokens += int64(count(t))
		w.Bytes += int64(len(t))
	}
	opaque := func(o scrollback.Opaque) { // mostly base64: not worth the cost of counting it
		w.Tokens += int64(len(o)+2) / 3
		w.Bytes += int64(len(o))
	}
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			text(p.Text)
			opaque(p.Opaque)
		case scrollback.Reasoning:
			text(p.Text)
			opaque(p.Opaque)
		case scrollback.ToolCall:
			text(p.Name)
			text(string(p.Arguments))
			text(p.ID)
			opaque(p.Opaque)
		case scrollback.ToolResult:
			text(p.Name)
			text(p.Text)
			text(p.CallID)
			opaque(p.Opaque)
		case scrollback.Image:
			w.Tokens += int64(image(p.Width, p.Height, p.Detail))
			w.Bytes += p.Size*4/3 + int64(len(p.URL)) // base64, or an address, whose image is taken to be of the largest size
			w.Images++
			opaque(p.Opaque)
		case scrollback.File:
			text(p.Name)
			w.Tokens += 16
			opaque(p.Opaque)
		}
	}
	return w
}

// WeighText returns the load of a text that is not a message, such as instructions.
func WeighText(text string, count func(text string) int) scrollback.Weight {
	return scrollback.Weight{Tokens: int64(count(text)) + messageTokens, Bytes: int64(len(text))}
}
