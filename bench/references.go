//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/internal/workspace/reference"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// Sizes of the figure.
const (
	referenced = 200 // files that one prompt names
	perFolder  = 100 // files
)

// measureReferences measures reading what one prompt names, in a small tree and in a large one,
// and completing a path in it.
func measureReferences(b *bench) error {
	for _, n := range []int{1000, b.mid} {
		root := filepath.Join(b.dir, fmt.Sprint("tree-", n))
		if err := plantTree(root, n); err != nil {
			return err
		}
		if err := referencesIn(b, root, n); err != nil {
			return err
		}
	}
	return nil
}

// leafPath returns the path of the i-th file of a tree.
func leafPath(i int) string {
	folder := i / perFolder
	return filepath.Join(fmt.Sprintf("part-%02d", folder%10), fmt.Sprintf("folder-%04d", folder),
		fmt.Sprintf("file-%06d.go", i))
}

// plantTree makes a tree of n files, unless it is there.
func plantTree(root string, n int) error {
	if _, err := os.Stat(filepath.Join(root, leafPath(n-1))); err == nil {
		return nil
	}
	content := []byte(strings.Repeat("a line of a file that is referred to\n", 100))
	for i := range n {
		at := filepath.Join(root, leafPath(i))
		if i%perFolder == 0 {
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(at, append(fmt.Appendf(nil, "%d\n", i), content...), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func referencesIn(b *bench, root string, n int) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	var prompt strings.Builder
	for i := range referenced {
		fmt.Fprintf(&prompt, "see @[%s] ", leafPath(i*(n/referenced)))
	}
	o := reference.Options{Roots: []string{root}}
	for r := range rounds {
		start := time.Now()
		found, err := reference.Resolve(b.ctx, prompt.String(), o)
		if err != nil {
			return err
		}
		b.addNumber(fmt.Sprintf("%d references in %s files", referenced, formatCount(n)), r, toMillis(time.Since(start)),
			"ms")
		if len(found) != referenced || found[referenced-1].Error != "" {
			return fmt.Errorf("%d references were found, the last with %q", len(found), found[len(found)-1].Error)
		}
		start = time.Now()
		paths, err := workspace.Complete(b.ctx, []string{root}, "file-0009", 20)
		if err == nil && len(paths) == 0 {
			err = errors.New("no path was completed")
		}
		if err != nil {
			return err
		}
		b.addNumber("a completion in "+formatCount(n)+" files", r, toMillis(time.Since(start)), "ms")
	}
	return nil
}

// namedAgain is how many files two prompts in a row name.
const namedAgain = 20

// measureSaved measures what the second prompt that names the same files does not send again.
func measureSaved(b *bench) error {
	tree := filepath.Join(b.dir, "tree-1000")
	if err := plantTree(tree, 1000); err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return err
	}
	s, err := b.openDatabase(fmt.Sprint("references-", time.Now().UnixNano()))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }() // in memory
	eng := engine.New(s, archive.New(s, bucket, nil),
		engine.Options{Limit: 128_000, Place: &workspace.Place{Roots: []string{root}},
			Model: offline.Name, Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	defer func() { _ = eng.Close(b.ctx) }() // it runs nothing
	v := eng.As(scrollback.Operator())
	c, _, err := v.Create(b.ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		return err
	}
	prompt := "Compare"
	for i := range namedAgain {
		prompt += " @[" + leafPath(i*(1000/namedAgain)) + "]"
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
	b.addNumber("reference_bytes_sent, first turn", 0, float64(sent[0]), "bytes")
	b.addNumber("reference_bytes_sent, second turn", 0, float64(sent[1]), "bytes")
	b.addNumber("reference_bytes_saved, second turn", 0, float64(sent[0]-sent[1]), "bytes")
	return nil
}

// lastPrompt returns the newest message of a user.
func lastPrompt(b *bench, v *engine.View, id scrollback.ConversationID) (scrollback.Parts, error) {
	ms, _, err := v.Recall().Messages(b.ctx, id, scrollback.PageQuery{Limit: 20})
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(ms) {
		if m.Role == scrollback.RoleUser {
			return m.Parts, nil
		}
	}
	return nil, fmt.Errorf("the prompt is not there")
}
