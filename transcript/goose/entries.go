package goose

import (
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// listEntries tells a conversation.
func (c *conversation) listEntries() iter.Seq[transcript.Entry] {
	return func(yield func(transcript.Entry) bool) {
		out := &scrollback.Conversation{Title: c.title, Model: c.model, CreatedAt: c.created, UpdatedAt: c.updated}
		out.Meta = transcript.MarshalObject(map[string]any{metaKey: struct {
			ID       string `json:"id,omitempty"`
			Folder   string `json:"working_dir,omitempty"`
			Type     string `json:"session_type,omitempty"`
			Provider string `json:"provider,omitempty"`
		}{c.id, c.folder, c.kind, c.provider}})
		var of *transcript.AgentOf
		if c.above != "" {
			of = &transcript.AgentOf{Source: c.above}
		}
		if !yield(transcript.Entry{Source: c.source, Conversation: out, Agent: of,
			Origin: &scrollback.Origin{ID: c.source, Folder: c.folder}}) {
			return
		}
		for _, b := range c.bad {
			if !yield(transcript.Entry{Source: c.source, Bad: &b}) {
				return
			}
		}
		t := &messageBuilder{left: map[string]int{}, names: map[string]string{}}
		kept := map[string]bool{} // what somebody said, and a copy was made of for the model
		for _, r := range c.rows {
			switch text := r.rowText(); {
			case r.isContinuation():
				t.left["continuation"]++
				continue
			case !r.forUser && !r.summary && (r.forModel || r.role != "user"):
				t.left["copy for the model"]++
				continue
			case !r.forUser && !r.summary:
				kept[text] = text != ""
			case kept[text] && r.role == "user":
				delete(kept, text)
				t.left["copy for the model"]++
				continue
			}
			for _, e := range t.makeEntries(r) {
				e.Source = c.source
				if !yield(e) {
					return
				}
			}
		}
		yield(transcript.Entry{Source: c.source, End: &transcript.End{Held: c.torn, Left: t.left}})
	}
}
