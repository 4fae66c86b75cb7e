// Package chatserver reads the files of a chat server: a conversation as one JSON
// object, with its messages, its running summary, and what it knew of each message in
// meta.
//
// Words it adds: marker (an entry that nobody said, such as that the context was
// cleared).
//
// Invariants: what we have no type for stays in meta, under [Name]; a marker goes to the
// meta of the message after it. The summary is kept and not used: a window is made from
// the messages. A whole file is held in memory.
//
// It may not know the store or the network.
package chatserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the format's name, and metaKey that of its fields in meta.
const (
	Name    = "chat-server"
	metaKey = "chat_server"
	maxMeta = 32 << 10 // of what a conversation's meta keeps, in bytes
)

// Format is the format. The zero value is ready.
type Format struct{}

// Name implements transcript.Importer.
func (Format) Name() string { return Name }

// Sniff implements transcript.Importer: an object with an id, messages, and times as this
// server writes them.
func (Format) Sniff(head []byte) bool {
	seen := transcript.HeadFields(head)
	return seen["id"] && seen["messages"] && (seen["updatedAt"] || seen["createdAt"] || seen["summaryMessageCount"]) &&
		!seen["sessionId"]
}

// objectFields are those of an object, without what has been taken.
type objectFields map[string]json.RawMessage

// takeText takes a field that is a text.
func (f objectFields) takeText(name string) string {
	var s string
	if json.Unmarshal(f[name], &s) == nil {
		delete(f, name)
	}
	return s
}

// takeTime takes a time in Unix ms.
func (f objectFields) takeTime(name string) int64 {
	var ms float64
	if json.Unmarshal(f[name], &ms) == nil && ms >= 0 && ms < 1<<53 {
		delete(f, name)
		return int64(ms)
	}
	return 0
}

// restMeta returns what is left, as the meta of a message or a conversation.
func (f objectFields) restMeta() json.RawMessage {
	for name, v := range f {
		if s := string(bytes.TrimSpace(v)); s == "null" || s == "{}" || s == "[]" {
			delete(f, name)
		}
	}
	if len(f) == 0 {
		return nil
	}
	out, err := plainjson.Marshal(map[string]objectFields{metaKey: f})
	if err != nil {
		return nil
	}
	return out
}

// Read implements transcript.Importer.
func (Format) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		f := &fileReader{d: transcript.NewDocument(r, transcript.MaxLine), yield: yield, top: objectFields{}}
		for {
			name, err := f.d.Next()
			if transcript.IsEnd(err) {
				break
			}
			if err == nil {
				err = f.takeField(name)
			}
			if errors.Is(err, errDamaged) {
				break // nothing can be read behind it
			}
			if err == nil {
				continue
			}
			bad, ok := f.d.ExplainFault(err)
			if !ok {
				yield(transcript.Entry{}, err)
				return
			}
			f.faults = append(f.faults, bad)
			break
		}
		f.yieldAll()
	}
}

// fileReader is a file while it is read.
type fileReader struct {
	d        *transcript.Document
	yield    func(transcript.Entry, error) bool
	top      objectFields
	messages []messageLine
	faults   []transcript.Bad
	bytes    int
	gone     bool
}

// messageLine is a message and where it stands.
type messageLine struct {
	at  int
	raw json.RawMessage
}

func (f *fileReader) takeField(name string) error {
	if name != "messages" {
		raw, err := f.d.Value()
		if err == nil {
			err = f.countKept(len(name) + len(raw))
		}
		if err == nil {
			f.top[name] = raw
		}
		return err
	}
	var damaged error
	for raw, err := range f.d.Items() {
		if err != nil {
			bad, ours := f.d.ExplainFault(err)
			if !ours {
				return err
			}
			f.faults = append(f.faults, bad)
			damaged = errDamaged
			if raw = transcript.MendValue(f.d.TornItem(), 1); raw == nil {
				continue
			}
			if _, _, err := readMessage(raw); err != nil {
				continue // what it says is not whole
			}
		}
		if err := f.countKept(len(raw)); err != nil {
			return err
		}
		f.messages = append(f.messages, messageLine{f.d.CurrentLine(), raw})
	}
	return damaged
}

var errDamaged = errors.New("the list of messages is damaged")

// countKept counts bytes that are kept until the end of the file.
func (f *fileReader) countKept(n int) error {
	if f.bytes += n; f.bytes > 4*transcript.MaxLine {
		return fmt.Errorf("the conversation is longer than %d bytes", 4*transcript.MaxLine)
	}
	return nil
}

func (f *fileReader) emitEntry(e transcript.Entry) {
	if !f.gone {
		f.gone = !f.yield(e, nil)
	}
}

func (f *fileReader) emitBad(at int, format string, args ...any) {
	f.emitEntry(transcript.Entry{Bad: &transcript.Bad{Line: at, Reason: fmt.Sprintf(format, args...)}})
}

// yieldAll yields all that was read.
func (f *fileReader) yieldAll() {
	source := f.top.takeText("id")
	if source != "" || len(f.messages) > 0 {
		c := &scrollback.Conversation{Title: f.top.takeText("title")}
		c.Model = modelName(f.top.takeText("provider"), f.top.takeText("model"))
		if c.Meta = f.top.restMeta(); len(c.Meta) > maxMeta {
			c.Meta = nil
		}
		f.emitEntry(transcript.Entry{Source: source, Conversation: c})
	}
	var markers []json.RawMessage
	for _, l := range f.messages {
		e, marker, err := readMessage(l.raw)
		switch {
		case err != nil:
			f.emitBad(l.at, "%v", err)
		case marker:
			markers = append(markers, l.raw)
		default:
			e.Line = l.at
			e.Source = source
			if len(markers) > 0 {
				e.Message.Meta = withMarkers(e.Message.Meta, markers)
				markers = nil
			}
			f.emitEntry(e)
		}
	}
	for _, b := range f.faults {
		f.emitEntry(transcript.Entry{Bad: &b})
	}
}

// modelName returns a model as we name it: with its provider.
func modelName(provider, model string) string {
	if provider == "" || model == "" || strings.HasPrefix(model, provider+"/") {
		return model
	}
	return provider + "/" + model
}

// withMarkers puts markers into the meta of the message after them.
func withMarkers(meta json.RawMessage, markers []json.RawMessage) json.RawMessage {
	all := map[string]objectFields{}
	if len(meta) > 0 && json.Unmarshal(meta, &all) != nil {
		return meta
	}
	f := objectFields{}
	maps.Copy(f, all[metaKey])
	var err error
	if f["before"], err = json.Marshal(markers); err != nil {
		return meta
	}
	return f.restMeta()
}

// readMessage reads a message; marker says that nobody said it.
func readMessage(raw json.RawMessage) (e transcript.Entry, marker bool, err error) {
	var f objectFields
	if !utf8.Valid(raw) || json.Unmarshal(raw, &f) != nil || f == nil {
		return e, false, fmt.Errorf("this is not a message")
	}
	m := &e.Message
	m.ID = scrollback.MessageID(f.takeText("id"))
	m.CreatedAt = f.takeTime("timestamp")
	if m.Role, err = scrollback.ParseRole(f.takeText("role")); err != nil {
		return e, false, err
	}
	meta := objectFields{}
	if raw := f["meta"]; len(raw) > 0 && json.Unmarshal(raw, &meta) == nil && meta != nil {
		delete(f, "meta")
	}
	if meta == nil {
		meta = objectFields{}
	}
	if marker = m.Role == scrollback.RoleSystem && meta["event"] != nil; marker {
		return e, true, nil
	}
	m.Usage = readUsage(meta)
	m.Model = modelName(meta.takeText("provider"), meta.takeText("model"))
	if thought := meta.takeText("reasoning"); thought != "" {
		m.Parts = append(m.Parts, scrollback.Reasoning{Text: thought})
	}
	if err := readContent(&e, f); err != nil {
		return e, false, err
	}
	delete(f, "content")
	for name, v := range meta {
		f[name] = v
	}
	m.Meta = f.restMeta()
	return e, false, nil
}

// readContent reads what a message says and what is attached to it.
func readContent(e *transcript.Entry, f objectFields) error {
	var said scrollback.Parts
	if raw := f["content"]; len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &said); err != nil {
			return fmt.Errorf("content: %w", err)
		}
	}
	e.Message.Parts = append(e.Message.Parts, said...)
	var attachments []struct {
		Name     string `json:"name"`
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	if raw := f["attachments"]; len(raw) > 0 && json.Unmarshal(raw, &attachments) == nil {
		for i, a := range attachments {
			_, data, isURL := strings.Cut(a.Data, ";base64,")
			if !isURL {
				data = a.Data
			}
			b, err := base64.StdEncoding.DecodeString(data)
			if err != nil || len(b) == 0 {
				return fmt.Errorf("attachment %d: data is not base64", i)
			}
			if e.Bytes == nil {
				e.Bytes = map[int][]byte{}
			}
			e.Bytes[len(e.Message.Parts)] = b
			if strings.HasPrefix(a.MimeType, "image/") {
				e.Message.Parts = append(e.Message.Parts, scrollback.Image{MediaType: a.MimeType, Name: a.Name})
			} else {
				e.Message.Parts = append(e.Message.Parts, scrollback.File{MediaType: a.MimeType, Name: a.Name})
			}
		}
		delete(f, "attachments")
	}
	if len(e.Message.Parts) == 0 {
		return fmt.Errorf("the message is empty")
	}
	return nil
}

// readUsage takes what an answer has cost.
func readUsage(meta objectFields) *scrollback.Usage {
	var u *struct {
		Prompt     float64 `json:"promptTokens"`
		Completion float64 `json:"completionTokens"`
		Total      float64 `json:"totalTokens"`
		Estimated  bool    `json:"estimated"`
	}
	if json.Unmarshal(meta["usage"], &u) != nil || u == nil {
		return nil
	}
	delete(meta, "usage")
	whole := func(n float64) int64 { return int64(min(max(n, 0), scrollback.MaxCallTokens)) }
	out := scrollback.Usage{InputTokens: whole(u.Prompt), OutputTokens: whole(u.Completion), TotalTokens: whole(u.Total),
		Estimated: u.Estimated}
	return &out
}
