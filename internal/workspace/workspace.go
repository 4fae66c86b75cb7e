// Package workspace is the folders a conversation works in: what a model is told about
// them before the first request, and which ones may be named at all.
//
// Words it adds: place (what is known from outside: the clock, the folders), root
// (a folder that the operator granted), memory file (a file of standing notes for a
// model, such as AGENTS.md), entry (a file or folder of a root's tree), change (what differs
// from the state that was told first).
//
// Invariants: the same place and the same files give the same bytes; nothing in a
// file or its name can close the block that the model is told; a text is within its
// bounds, except for the few lines that are never cut; nothing outside the roots is
// read, links included; reading is bounded, whatever a folder holds. A folder or file
// that cannot be read is noted and is not an error: a conversation starts anywhere.
//
// It may not know the store, models, the clock or the environment of the process.
package workspace

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Defaults of a place.
const (
	DefaultMemoryName = "AGENTS.md"
	DefaultBytes      = 64 << 10
	DefaultEntries    = 200
	maxWalkers        = 4 // roots that are read at once
)

// Place is where and when a conversation works.
type Place struct {
	Roots       []string // absolute folders; none: nothing of any folder is told
	MemoryNames []string // of memory files, within a folder; nil means AGENTS.md
	UserFolder  string   // its memory files come first; empty for none
	Temp        string   // the temporary folder
	OS          string
	Now         time.Time // in the person's zone
	Locale      string    // as the environment names it, or as a browser does; dates are written in it
	Setup       string    // what the text ends with; empty means our own
	MaxBytes    int       // of the text; 0 means 64 KiB
	MaxEntries  int       // of all trees; 0 means 200
	MaxTokens   int       // of the text, as Count counts; 0 means no such bound
	Count       func(string) int
}

// Snapshot is what was found in a place.
type Snapshot struct {
	State scrollback.EnvironmentState
	Notes []string // what was cut, unreadable or refused

	place  Place
	trees  []folderTree
	memory []memoryFile
}

// ReadState returns the state of a place, without its trees: it reads the memory files only.
func ReadState(p Place) scrollback.EnvironmentState {
	s := withDefaults(p)
	if len(p.Roots) > 0 {
		s.State.Roots = slices.Clone(p.Roots)
		s.readMemoryFiles(s.place)
	}
	return s.State
}

// withDefaults returns a place with its defaults.
func withDefaults(p Place) Snapshot {
	if p.MemoryNames == nil {
		p.MemoryNames = []string{DefaultMemoryName}
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = DefaultBytes
	}
	if p.MaxEntries == 0 {
		p.MaxEntries = DefaultEntries
	}
	if p.Count == nil {
		p.Count = func(string) int { return 0 }
	}
	return Snapshot{place: p, State: scrollback.EnvironmentState{Date: p.Now.Format(time.DateOnly)}}
}

// ReadPlace reads what a model is told about a place. Its only error is the end of ctx.
func ReadPlace(ctx context.Context, p Place) (Snapshot, error) {
	s := withDefaults(p)
	p = s.place
	if len(p.Roots) == 0 {
		return s, checkContext(ctx)
	}
	s.trees = make([]folderTree, len(p.Roots))
	slots := make(chan struct{}, maxWalkers)
	var walks sync.WaitGroup
	for i, root := range p.Roots {
		walks.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			s.trees[i] = walkTree(ctx, root, p.MaxEntries)
		})
	}
	walks.Wait()
	for i := range s.trees {
		s.trees[i].inside = innerRoot(p.Roots, i)
		s.Notes = append(s.Notes, s.trees[i].notes...)
	}
	s.State.Roots = slices.Clone(p.Roots)
	s.readMemoryFiles(p)
	return s, checkContext(ctx)
}

func checkContext(ctx context.Context) error {
	return scrollback.Wrap(scrollback.Canceled, "workspace.Look", ctx.Err())
}
