package collect

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of what [FindDeeper] looks at.
const (
	MaxDeep  = 6 // levels below the folder that was named
	maxBelow = 5_000
)

// passed are folders that hold no conversations of tools, and much else.
var passed = []string{".git", "node_modules"}

// FindDeeper returns the folders below one in which tools keep conversations, the nearest first;
// what is in a folder that is returned is not looked at again. Links are not followed, and what
// may not be read is passed over.
func FindDeeper(ctx context.Context, tools []transcript.Tool, root string) (found []string) {
	c := &Collector{tools: tools, o: Options{Now: time.Now}}
	level := []string{root}
	looked := 0
	for range MaxDeep {
		var next []string
		for _, dir := range level {
			all, err := os.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, e := range all {
				if !e.IsDir() || slices.Contains(passed, e.Name()) {
					continue
				}
				if looked++; looked > maxBelow || ctx.Err() != nil {
					return found
				}
				name := filepath.Join(dir, e.Name())
				if c.holdsConversation(ctx, name) {
					found = append(found, name)
				} else {
					next = append(next, name)
				}
			}
		}
		level = next
	}
	return found
}

// holdsConversation reports whether a tool keeps a conversation in a folder that it knows as its own.
func (c *Collector) holdsConversation(ctx context.Context, name string) bool {
	p, err := c.openPlace(name)
	if err != nil {
		return false
	}
	defer func() { _ = p.close() }() // it was only read
	for _, tool := range c.tools {
		for one, err := range tool.Sessions(ctx, p.Place) {
			if err == nil && one.Bad == "" {
				return true
			}
			if err != nil {
				break
			}
		}
	}
	return false
}
