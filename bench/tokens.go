//go:build linux

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/token"
)

// tokens measures the counter, and the estimate against it.
func (b *bench) tokens() error {
	texts, err := b.texts()
	if err != nil {
		return err
	}
	for _, t := range texts {
		text := strings.Repeat(t.text, max(1, (1<<20)/len(t.text)))
		for r := range rounds {
			start := time.Now()
			token.Count(text)
			b.add("counter, "+t.name, r, float64(len(text))/(1<<20)/time.Since(start).Seconds(), "MB/s")
		}
		real, guess := float64(token.Count(t.text)), float64(token.Estimate(t.text))
		b.add("error of the estimate, "+t.name, 0, 100*math.Abs(guess-real)/real, "%")
	}
	return nil
}

type text struct{ name, text string }

// texts are what people and programs write: a sampled conversation in its two
// languages, this project's own code, and JSON.
func (b *bench) texts() ([]text, error) {
	var english, chinese, lines strings.Builder
	if _, _, err := sample.Write(&lines, "bench", sample.Options{Seed: 4, Messages: 400}); err != nil {
		return nil, err
	}
	messages, _ := sample.Make(sample.Options{Seed: 4, Messages: 2000})
	for _, m := range messages {
		for _, p := range m.Content {
			s, _ := p["text"].(string)
			into := &english
			if strings.ContainsFunc(s, func(r rune) bool { return r >= 0x4e00 && r < 0xa000 }) {
				into = &chinese
			}
			into.WriteString(s + "\n")
		}
	}
	var code strings.Builder
	names, err := filepath.Glob(filepath.Join(b.root, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		code.Write(src)
	}
	docs, err := os.ReadFile(filepath.Join(b.root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		return nil, err
	}
	return []text{{"English", string(docs) + english.String()}, {"Chinese", chinese.String()}, {"code", code.String()}, {"JSON", lines.String()}}, nil
}
