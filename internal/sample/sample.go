// Package sample makes conversations for tests and benchmarks: long, mixed, and
// the same for the same seed.
//
// Words it adds: needle (a fact said once, with a question that asks for it).
//
// A sample mixes English and Chinese, questions and answers, tool calls with
// results of 2 to 8 KB, and images; every hundredth message holds a needle.
package sample

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
)

// Options say what to make.
type Options struct {
	Seed     uint64
	Messages int
	Images   int   // how many messages carry one; 0 means one in 250
	Start    int64 // time of the first message in Unix ms; 0 means 2026-01-05
}

// Needle is a fact that one message holds. Code occurs in it and nowhere else.
type Needle struct {
	Seq      int
	Code     string
	Fact     string
	Question string
}

// Message is one generated message.
type Message struct {
	Role      string           `json:"role"`
	Content   []map[string]any `json:"content"`
	CreatedAt int64            `json:"created_at"`
}

// MakeSample makes a conversation and lists its needles.
func MakeSample(o Options) ([]Message, []Needle) {
	g := &generator{rng: rand.New(rand.NewPCG(o.Seed, 7)), now: o.Start}
	if g.now == 0 {
		g.now = 1_767_600_000_000
	}
	every := 250
	if o.Images > 0 {
		every = max(1, o.Messages/o.Images)
	}
	for len(g.out) < o.Messages {
		n := len(g.out) + 1
		switch {
		case n%100 == 1:
			g.addNeedle(n)
		case n%every == 51:
			g.addMessage("user", textPart(g.pickOne(pictures)), g.makePicture(n))
			g.addMessage("assistant", textPart(g.makeParagraph(1)))
		case g.rng.IntN(6) == 0:
			g.addToolTurn()
		default:
			g.addMessage("user", textPart(g.makeParagraph(1+g.rng.IntN(2))))
			g.addMessage("assistant", textPart(g.makeParagraph(1+g.rng.IntN(3))))
		}
	}
	return g.out[:o.Messages], g.needles
}

// WriteSample makes a conversation as generic JSONL, one message a line.
func WriteSample(w io.Writer, title string, o Options) ([]Message, []Needle, error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"conversation": map[string]any{"title": title}}); err != nil {
		return nil, nil, err
	}
	ms, needles := MakeSample(o)
	for _, m := range ms {
		if err := enc.Encode(m); err != nil {
			return nil, nil, err
		}
	}
	return ms, needles, nil
}

type generator struct {
	rng     *rand.Rand
	now     int64
	out     []Message
	needles []Needle
	calls   int
}

func textPart(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func (g *generator) addMessage(role string, parts ...map[string]any) {
	g.now += int64(1000 + g.rng.IntN(90_000))
	g.out = append(g.out, Message{Role: role, Content: parts, CreatedAt: g.now})
}

func (g *generator) pickOne(from []string) string { return from[g.rng.IntN(len(from))] }

// addNeedle states a fact that no other message states, in one of the two languages.
func (g *generator) addNeedle(seq int) {
	code := fmt.Sprintf("%c%d%c-%04d", 'A'+g.rng.IntN(26), g.rng.IntN(10), 'A'+g.rng.IntN(26), seq)
	k := seq / 100
	n := Needle{Seq: seq, Code: code}
	if k%2 == 0 {
		place := colours[k%len(colours)] + " " + animals[(k/len(colours))%len(animals)] + " " + places[k%len(places)]
		n.Fact = fmt.Sprintf("Please remember: the access code of the %s is %s.", place, code)
		n.Question = fmt.Sprintf("What is the access code of the %s?", place)
	} else {
		place := zhColors[k%len(zhColors)] + zhAnimals[(k/len(zhColors))%len(zhAnimals)] + zhPlaces[k%len(zhPlaces)]
		n.Fact = fmt.Sprintf("请记住：%s的门禁码是 %s。", place, code)
		n.Question = place + "的门禁码是多少？"
	}
	g.needles = append(g.needles, n)
	g.addMessage("user", textPart(g.makeParagraph(1)+" "+n.Fact))
	g.addMessage("assistant", textPart(g.pickOne(acks)))
}

// addToolTurn is a question whose answer needs one or two calls.
func (g *generator) addToolTurn() {
	g.addMessage("user", textPart(g.makeParagraph(1)))
	calls := make([]map[string]any, 1+g.rng.IntN(2))
	results := make([]map[string]any, len(calls))
	for i := range calls {
		g.calls++
		id := fmt.Sprintf("call_%d", g.calls)
		name := g.pickOne(tools)
		calls[i] = map[string]any{"type": "tool_call", "id": id, "name": name,
			"arguments": map[string]any{"path": fmt.Sprintf("src/%s/%d.go", g.pickOne(words), g.calls)}}
		results[i] = map[string]any{"type": "tool_result", "call_id": id, "name": name,
			"text": g.toolOutput(2<<10 + g.rng.IntN(6<<10))}
	}
	g.addMessage("assistant", calls...)
	g.addMessage("tool", results...)
	g.addMessage("assistant", textPart(g.makeParagraph(2)))
}

// toolOutput returns what a tool printed, about size bytes.
func (g *generator) toolOutput(size int) string {
	var b strings.Builder
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, "%4d  %s_%s = %s(%d) // %s\n", line, g.pickOne(words), g.pickOne(words), g.pickOne(verbs),
			g.rng.IntN(10_000),
			g.pickOne(zhWords))
	}
	return b.String()
}

func (g *generator) makeParagraph(sentences int) string {
	var b strings.Builder
	for i := range sentences {
		if i > 0 {
			b.WriteByte(' ')
		}
		if g.rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "The %s of the %s %s about %d %s.", g.pickOne(words), g.pickOne(places), g.pickOne(verbs),
				g.rng.IntN(900),
				g.pickOne(words))
		} else {
			fmt.Fprintf(&b, "%s的%s在%s%s了 %d 次。", g.pickOne(zhPlaces), g.pickOne(zhWords), g.pickOne(zhPlaces),
				g.pickOne(zhVerbs), g.rng.IntN(900))
		}
	}
	return b.String()
}

// makePicture returns a small PNG, different for every seq.
func (g *generator) makePicture(seq int) map[string]any {
	img := image.NewRGBA(image.Rect(0, 0, 48, 32))
	for x := range 48 {
		for y := range 32 {
			img.Set(x, y, color.RGBA{uint8(x * seq), uint8(y * 5), uint8(seq), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return map[string]any{"type": "image", "name": fmt.Sprintf("picture-%d.png", seq), "media_type": "image/png",
		"data": base64.StdEncoding.EncodeToString(b.Bytes())}
}
