package collect

import (
	"context"
	"iter"

	"github.com/scrollback-ai/scrollback/transcript"
)

// filteredTool reads a tool's sessions without the conversations that were worked on in
// folders which are excluded, and remembers the other folders.
type filteredTool struct {
	transcript.Tool
	c       *Collector
	folders []string
	out     map[string]bool // sources
	in      bool            // something was read
}

// isEmpty reports whether nothing was left to read.
func (w *filteredTool) isEmpty() bool { return !w.in && len(w.out) > 0 }

// Read implements transcript.Tool.
func (w *filteredTool) Read(ctx context.Context, p transcript.Place,
	s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		w.out = map[string]bool{}
		w.in = false
		w.folders = nil
		for e, err := range w.Tool.Read(ctx, p, s) {
			if err == nil && w.isExcluded(e) {
				continue
			}
			w.in = w.in || err == nil && e.Bad == nil
			if !yield(e, err) {
				return
			}
		}
	}
}

// isExcluded reports whether an entry belongs to a conversation that is excluded. A sub-agent
// goes with the conversation that started it.
func (w *filteredTool) isExcluded(e transcript.Entry) bool {
	if e.Conversation == nil {
		return w.out[e.Source]
	}
	folder := ""
	if e.Origin != nil {
		folder = e.Origin.Folder
	}
	if w.c.isExcluded(folder) || e.Agent != nil && w.out[e.Agent.Source] {
		w.out[e.Source] = true
		return true
	}
	if folder != "" && len(w.folders) < maxFolders {
		w.folders = append(w.folders, folder)
	}
	return false
}
