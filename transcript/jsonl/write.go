package jsonl

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Write implements transcript.Exporter.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(fileRow{Conversation: &header{ID: string(c.ID), Title: c.Title, Project: c.Project, Model: c.Model,
		Instructions: c.Instructions, Meta: c.Meta}})
	if err != nil {
		return err
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		content, err := transcript.EncodeParts(e)
		if err != nil {
			return err
		}
		m := &e.Message
		created, err := json.Marshal(m.CreatedAt)
		if err != nil {
			return err
		}
		err = enc.Encode(fileRow{ID: string(m.ID), Role: string(m.Role), Name: m.Name, Content: content, Model: m.Model,
			Usage: m.Usage, Status: m.Status, CreatedAt: created, Meta: m.Meta, Turns: e.Turns})
		if err != nil {
			return err
		}
	}
	return out.Flush()
}
