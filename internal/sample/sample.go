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

// Make makes a conversation and lists its needles.
func Make(o Options) ([]Message, []Needle) {
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
			g.needle(n)
		case n%every == 51:
			g.say("user", text(g.pick(pictures)), g.picture(n))
			g.say("assistant", text(g.paragraph(1)))
		case g.rng.IntN(6) == 0:
			g.toolTurn()
		default:
			g.say("user", text(g.paragraph(1+g.rng.IntN(2))))
			g.say("assistant", text(g.paragraph(1+g.rng.IntN(3))))
		}
	}
	return g.out[:o.Messages], g.needles
}

// Write makes a conversation as generic JSONL, one message a line.
func Write(w io.Writer, title string, o Options) ([]Message, []Needle, error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"conversation": map[string]any{"title": title}}); err != nil {
		return nil, nil, err
	}
	ms, needles := Make(o)
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

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func (g *generator) say(role string, parts ...map[string]any) {
	g.now += int64(1000 + g.rng.IntN(90_000))
	g.out = append(g.out, Message{Role: role, Content: parts, CreatedAt: g.now})
}

func (g *generator) pick(from []string) string { return from[g.rng.IntN(len(from))] }

// needle states a fact that no other message states, in one of the two languages.
func (g *generator) needle(seq int) {
	code := fmt.Sprintf("%c%d%c-%04d", 'A'+g.rng.IntN(26), g.rng.IntN(10), 'A'+g.rng.IntN(26), seq)
	k := seq / 100
	n := Needle{Seq: seq, Code: code}
	if k%2 == 0 {
		place := colours[k%len(colours)] + " " + animals[(k/len(colours))%len(animals)] + " " + places[k%len(places)]
		n.Fact = fmt.Sprintf("Please remember: the access code of the %s is %s.", place, code)
		n.Question = fmt.Sprintf("What is the access code of the %s?", place)
	} else {
		place := 颜色[k%len(颜色)] + 动物[(k/len(颜色))%len(动物)] + 地点[k%len(地点)]
		n.Fact = fmt.Sprintf("请记住：%s的门禁码是 %s。", place, code)
		n.Question = place + "的门禁码是多少？"
	}
	g.needles = append(g.needles, n)
	g.say("user", text(g.paragraph(1)+" "+n.Fact))
	g.say("assistant", text(g.pick(acks)))
}

// toolTurn is a question whose answer needs one or two calls.
func (g *generator) toolTurn() {
	g.say("user", text(g.paragraph(1)))
	calls := make([]map[string]any, 1+g.rng.IntN(2))
	results := make([]map[string]any, len(calls))
	for i := range calls {
		g.calls++
		id := fmt.Sprintf("call_%d", g.calls)
		name := g.pick(tools)
		calls[i] = map[string]any{"type": "tool_call", "id": id, "name": name,
			"arguments": map[string]any{"path": fmt.Sprintf("src/%s/%d.go", g.pick(words), g.calls)}}
		results[i] = map[string]any{"type": "tool_result", "call_id": id, "name": name,
			"text": g.output(2<<10 + g.rng.IntN(6<<10))}
	}
	g.say("assistant", calls...)
	g.say("tool", results...)
	g.say("assistant", text(g.paragraph(2)))
}

// output is what a tool printed, about size bytes.
func (g *generator) output(size int) string {
	var b strings.Builder
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, "%4d  %s_%s = %s(%d) // %s\n", line, g.pick(words), g.pick(words), g.pick(verbs), g.rng.IntN(10_000),
			g.pick(词语))
	}
	return b.String()
}

func (g *generator) paragraph(sentences int) string {
	var b strings.Builder
	for i := range sentences {
		if i > 0 {
			b.WriteByte(' ')
		}
		if g.rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "The %s of the %s %s about %d %s.", g.pick(words), g.pick(places), g.pick(verbs), g.rng.IntN(900),
				g.pick(words))
		} else {
			fmt.Fprintf(&b, "%s的%s在%s%s了 %d 次。", g.pick(地点), g.pick(词语), g.pick(地点), g.pick(动词), g.rng.IntN(900))
		}
	}
	return b.String()
}

// picture is a small PNG, different for every seq.
func (g *generator) picture(seq int) map[string]any {
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
