//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/workspace"
)

// namedAgain is how many files two prompts in a row name.
const namedAgain = 20

// saved measures what the second prompt that names the same files does not send again.
func saved(b *bench) error {
	tree := filepath.Join(b.dir, "tree-1000")
	if err := plant(tree, 1000); err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return err
	}
	s, err := b.open(fmt.Sprint("references-", time.Now().UnixNano()))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	bucket := memblob.OpenBucket(nil)
	defer func() { _ = bucket.Close() }() // in memory
	eng := engine.New(s, archive.New(s, bucket, nil), engine.Options{Limit: 128_000, Place: &workspace.Place{Roots: []string{root}},
		Model: offline.Name, Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	defer func() { _ = eng.Close(b.ctx) }() // it runs nothing
	v := eng.As(scrollback.Operator())
	c, _, err := v.Create(b.ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		return err
	}
	prompt := "Compare"
	for i := range namedAgain {
		prompt += " @[" + leaf(i*(1000/namedAgain)) + "]"
	}
	var sent [2]int
	for i := range sent {
		for ev, err := range v.Turn(b.ctx, engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say(prompt)}) {
			if err != nil {
				return err
			}
			if e, ok := ev.(scrollback.ErrorEvent); ok {
				return fmt.Errorf("turn %d: %s", i+1, e.Message)
			}
		}
		parts, err := lastPrompt(b, v, c.ID)
		if err != nil {
			return err
		}
		sent[i] = parts.Bytes() - len(prompt)
	}
	b.add("reference_bytes_sent, first turn", 0, float64(sent[0]), "bytes")
	b.add("reference_bytes_sent, second turn", 0, float64(sent[1]), "bytes")
	b.add("reference_bytes_saved, second turn", 0, float64(sent[0]-sent[1]), "bytes")
	return nil
}

// lastPrompt is the newest message of a user.
func lastPrompt(b *bench, v *engine.View, id scrollback.ConversationID) (scrollback.Parts, error) {
	ms, _, err := v.Recall().Messages(b.ctx, id, scrollback.PageQuery{Limit: 20})
	if err != nil {
		return nil, err
	}
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == scrollback.RoleUser && strings.HasPrefix(ms[i].Parts.Text(), "Compare") {
			return ms[i].Parts, nil
		}
	}
	return nil, fmt.Errorf("the prompt is not there")
}
