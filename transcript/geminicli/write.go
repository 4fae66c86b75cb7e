package geminicli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Write implements transcript.Exporter: a session of JSON lines.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &sessionWriter{w: bufio.NewWriterSize(w, 64<<10), written: map[string]bool{}, called: map[string]int{}}
	if err := out.writeHeader(c); err != nil {
		return err
	}
	var group []transcript.Entry
	for e, err := range entries {
		if err != nil {
			return err
		}
		if len(group) > 0 && !joinsGroup(group, e) {
			if err := out.writeGroup(group); err != nil {
				return err
			}
			group = nil
		}
		group = append(group, e)
	}
	if err := out.writeGroup(group); err != nil {
		return err
	}
	return out.w.Flush()
}

// joinsGroup reports whether a message holds results of the calls that a group begins with:
// then they are one record.
func joinsGroup(group []transcript.Entry, e transcript.Entry) bool {
	if group[0].Message.Role != scrollback.RoleAssistant {
		return false
	}
	given := &callAnswers{}
	given.addCalls(group[0].Message.Parts.Calls())
	for _, m := range append(group[1:len(group):len(group)], e) {
		results := m.Message.Parts.Results()
		if m.Message.Role != scrollback.RoleTool || len(results) == 0 || len(results) != len(m.Message.Parts) {
			return false
		}
		for _, r := range results {
			if !given.isWaiting(r.CallID) {
				return false
			}
			given.takeResult(r.CallID, r.Name)
		}
	}
	return true
}

type sessionWriter struct {
	w       *bufio.Writer
	written map[string]bool // records by id: a later one with the same id would replace the earlier
	called  map[string]int  // ids of calls, and how often: the tool looks for a result's call in the whole session
}

func (w *sessionWriter) writeLine(v any) error {
	b, err := plainjson.Marshal(v)
	if err == nil {
		_, err = w.w.Write(append(b, '\n'))
	}
	return err
}

// writeHeader writes what a session says about itself, and records without any message.
func (w *sessionWriter) writeHeader(c scrollback.Conversation) error {
	var meta struct {
		Kept struct {
			Header  map[string]json.RawMessage `json:"header"`
			Records []json.RawMessage          `json:"records"`
		} `json:"gemini_cli"`
	}
	// A meta of another shape holds no header of ours.
	_ = json.Unmarshal(c.Meta, &meta)
	// The tool takes a session for one of the older form if its project is not named.
	root := ""
	if len(c.Roots) > 0 {
		root = c.Roots[0]
	}
	sum := sha256.Sum256([]byte(root))
	fields := map[string]any{"sessionId": string(c.ID), "projectHash": hex.EncodeToString(sum[:]),
		"startTime": formatTime(c.CreatedAt), "lastUpdated": formatTime(c.UpdatedAt), "kind": "main"}
	if len(meta.Kept.Header) > 0 {
		delete(fields, "kind")
	}
	for key, value := range meta.Kept.Header {
		// A fork is another session than the one that was imported.
		if text := bytes.Trim(value, `"`); len(text) > 0 && string(value) != "null" &&
			(key != "sessionId" || c.Parent == nil) {
			fields[key] = value
		}
	}
	if _, told := fields["summary"]; !told && c.Title != "" {
		fields["summary"] = c.Title
	}
	if err := w.writeLine(fields); err != nil {
		return err
	}
	return w.writeAsides(meta.Kept.Records)
}

func (w *sessionWriter) writeAsides(list []json.RawMessage) error {
	for _, raw := range list {
		var id struct{ ID string }
		if json.Unmarshal(raw, &id) == nil && id.ID != "" && w.written[id.ID] {
			continue
		}
		if rec, err := parseRecord(raw); err == nil && rec.isRepeat() {
			continue
		}
		w.written[id.ID] = true
		if err := w.writeLine(raw); err != nil {
			return err
		}
	}
	return nil
}

// writeGroup writes the messages of one record, and the asides around it.
func (w *sessionWriter) writeGroup(group []transcript.Entry) error {
	if len(group) == 0 {
		return nil
	}
	kept, _ := ourMeta(group[0].Message.Meta)
	if err := w.writeAsides(kept.Before); err != nil {
		return err
	}
	raw, err := w.makeRecord(group)
	if err != nil {
		return err
	}
	if err := w.writeLine(raw); err != nil {
		return err
	}
	return w.writeAsides(kept.After)
}

// makeRecord returns the record of a group: what was read, where it was read from a file; else
// one that reads as these messages.
func (w *sessionWriter) makeRecord(group []transcript.Entry) (json.RawMessage, error) {
	id := string(group[0].Message.ID)
	if kept, _ := ourMeta(group[0].Message.Meta); kept.ID != "" && !w.written[kept.ID] {
		id = kept.ID
	}
	raw, err := originalRecord(group, id)
	switch {
	case err != nil:
		return nil, err
	case raw == nil:
		raw, err = w.newRecord(group, id)
	default:
		for _, c := range group[0].Message.Parts.Calls() {
			w.called[c.ID]++
		}
	}
	w.written[id] = true
	return raw, err
}

// originalRecord returns the record that a group was read from; nil if it was read from none, or says
// something else by now.
func originalRecord(group []transcript.Entry, id string) (json.RawMessage, error) {
	rec := canonicalRecord(group)
	rec.ID = id
	raw, err := plainjson.Marshal(rec)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(group) {
		kept, _ := ourMeta(e.Message.Meta)
		if kept.Ours || kept.ID != id && len(kept.Patch) == 0 {
			continue
		}
		patched, err := applyPatch(raw, compactJSON(kept.Patch))
		if err != nil {
			continue
		}
		back, err := parseRecord(patched)
		if err != nil || back.isAside() || back.ID != id {
			continue
		}
		got := back.toMessages(kept.Place, &callAnswers{})
		if readsAs(got, group) || kept.Place == "" && back.lacksIDs() &&
			(recordUnit{messages: got}).saysSame(recordUnit{rec: back, messages: group}) {
			return patched, nil
		}
	}
	return nil, nil
}

// newRecord returns a record for a group of ours. What its fields cannot say, or the tool would
// drop or refuse, stands there in another way, and the messages unchanged beside it.
func (w *sessionWriter) newRecord(group []transcript.Entry, id string) (json.RawMessage, error) {
	rec := canonicalRecord(group)
	rec.ID = id
	w.fitRecord(&rec, group[0].Message.Role)
	raw, err := plainjson.Marshal(rec)
	if err != nil {
		return nil, err
	}
	back, err := parseRecord(raw)
	if err != nil {
		return nil, err
	}
	if !back.isAside() && readsAs(back.toMessages("", &callAnswers{}), group) {
		return raw, nil
	}
	for _, e := range group {
		rec.Ours = append(rec.Ours, toMessage(e))
	}
	return plainjson.Marshal(rec)
}

// toMessage returns one of our messages, unchanged.
func toMessage(e transcript.Entry) message {
	m := e.Message
	_, meta := ourMeta(m.Meta)
	out := message{Role: m.Role, Name: m.Name, Parts: transcript.WithoutStoreFields(m.Parts), Model: m.Model,
		Usage:  m.Usage,
		Status: m.Status, CreatedAt: m.CreatedAt, Meta: meta}
	for i, data := range e.Bytes {
		if out.Data == nil {
			out.Data = map[string][]byte{}
		}
		out.Data[strconv.Itoa(i)] = data
	}
	return out
}

// readsAs reports whether a record reads as these messages.
func readsAs(got, want []transcript.Entry) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		a := toMessage(got[i])
		b := toMessage(want[i])
		if b.Status == scrollback.StatusComplete {
			b.Status = ""
		}
		x, errX := plainjson.Marshal(a)
		y, errY := plainjson.Marshal(b)
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}
