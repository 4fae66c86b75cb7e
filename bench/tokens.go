//go:build linux

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/token"
)

// measureTokens measures the counter.
func (b *bench) measureTokens() error {
	texts, err := b.sampleTexts()
	if err != nil {
		return err
	}
	for _, t := range texts {
		text := strings.Repeat(t.text, max(1, (1<<20)/len(t.text)))
		for r := range rounds {
			start := time.Now()
			token.Count(text)
			b.addNumber("counter, "+t.name, r, float64(len(text))/(1<<20)/time.Since(start).Seconds(), "MB/s")
		}
	}
	rng := rand.New(rand.NewPCG(4, 16))
	for r := range rounds {
		text := anyOrder(rng, 1<<20)
		start := time.Now()
		token.Count(text)
		b.addNumber("counter, Chinese characters in any order", r, float64(len(text))/(1<<20)/time.Since(start).Seconds(),
			"MB/s")
	}
	return nil
}

// anyOrder returns a text of n bytes that nobody has written: the characters of Chinese, of
// which a comma ends each run.
func anyOrder(rng *rand.Rand, size int) string {
	var text strings.Builder
	for text.Len() < size {
		for range 4 + rng.IntN(20) {
			text.WriteRune(0x4e00 + rune(rng.IntN(0x51a6)))
		}
		text.WriteRune('，')
	}
	return text.String()
}

type text struct{ name, text string }

// sampleTexts returns what people and programs write: a sampled conversation in its two
// languages, this project's own code, and JSON.
func (b *bench) sampleTexts() ([]text, error) {
	var english, chinese, lines strings.Builder
	if _, _, err := sample.WriteSample(&lines, "bench", sample.Options{Seed: 4, Messages: 400}); err != nil {
		return nil, err
	}
	messages, _ := sample.MakeSample(sample.Options{Seed: 4, Messages: 2000})
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
	return []text{{"English", string(docs) + english.String()}, {"Chinese", chinese.String()}, {"code", code.String()},
		{"JSON", lines.String()}}, nil
}
