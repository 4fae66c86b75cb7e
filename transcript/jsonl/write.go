package jsonl

import (
	"bufio"
	"bytes"
	"encoding/base64"
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
	err := enc.Encode(row{Conversation: &header{ID: string(c.ID), Title: c.Title, Project: c.Project, Model: c.Model,
		Instructions: c.Instructions, Meta: c.Meta}})
	if err != nil {
		return err
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		content, err := contentOf(e)
		if err != nil {
			return err
		}
		m := &e.Message
		created, err := json.Marshal(m.CreatedAt)
		if err != nil {
			return err
		}
		err = enc.Encode(row{ID: string(m.ID), Role: string(m.Role), Name: m.Name, Content: content, Model: m.Model,
			Usage: m.Usage, Status: m.Status, CreatedAt: created, Meta: m.Meta, Turns: e.Turns})
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// contentOf is a message's parts with the bytes of attachments put back in.
func contentOf(e transcript.Entry) (json.RawMessage, error) {
	plain, err := marshal(e.Message.Parts)
	if err != nil || len(e.Bytes) == 0 {
		return plain, err
	}
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(plain, &objects); err != nil {
		return nil, err
	}
	for i, b := range e.Bytes {
		objects[i]["data"] = json.RawMessage(`"` + base64.StdEncoding.EncodeToString(b) + `"`)
	}
	return marshal(objects)
}

// marshal is JSON without HTML escapes: payloads stay as they are.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
