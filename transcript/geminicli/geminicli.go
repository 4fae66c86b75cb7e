// Package geminicli reads and writes the transcripts of Gemini CLI: sessions as
// JSON lines, older ones as one document, those of sub-agents, and checkpoints.
//
// Words it adds: record (an entry of a session: what a user said, or a reply with
// its tool calls and their results), aside (a record that is not part of the
// conversation: a notice, a command, a result that is repeated), unit (a
// record and the messages it becomes).
//
// Invariants: a later record with the same id replaces the earlier one in its place;
// what a session hid when it went back or was compressed is an earlier
// branch; a result is read once; what we have no type for stays in the meta of the
// nearest message, under [Name], and returns to its place when it is written.
// Because records replace each other, a whole session is held in memory: about
// three times the size of its file.
//
// It may not know the store, the network or the file system.
package geminicli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the format's name, and that of its fields in meta.
const (
	Name    = "gemini-cli"
	metaKey = "gemini_cli"
)

// Format is the format. The zero value is ready.
type Format struct{}

// Name implements transcript.Importer.
func (Format) Name() string { return Name }

// Sniff implements transcript.Importer: a session begins with its id, a checkpoint
// with its history. Lines of Claude Code have a type or a parent as well.
func (Format) Sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) || transcript.IsForeign(head) {
		return false
	}
	if seen := transcript.HeadFields(head); seen["agent"] && (seen["messages"] || seen["version"]) {
		return false // a session of Cline
	}
	var first map[string]json.RawMessage
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if json.Unmarshal(line, &first) == nil && len(first) > 0 {
		return first["sessionId"] != nil && first["type"] == nil || isHistory(first["history"]) && first["role"] == nil
	}
	return bytes.Contains(head, []byte(`"sessionId"`)) && !bytes.Contains(head, []byte(`"parentUuid"`)) ||
		bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte(`"history"`)) && bytes.Contains(head, []byte(`"parts"`))
}

// isHistory reports whether a value is a list of what was said as the API has it: other programs
// have histories of their own.
func isHistory(raw json.RawMessage) bool {
	var list []struct{ Parts json.RawMessage }
	return json.Unmarshal(raw, &list) == nil && (len(list) == 0 || list[0].Parts != nil)
}

// Read implements transcript.Importer.
func (Format) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		s := &sessionReader{yield: yield, most: transcript.MaxLine, header: map[string]json.RawMessage{},
			at: map[string]int{}}
		s.readLines(bufio.NewReaderSize(transcript.DecodeUTF8(r), 64<<10))
		s.endSession()
	}
}

// readLines takes all that is left of a file.
func (s *sessionReader) readLines(in *bufio.Reader) {
	for !s.gone {
		line, err := readLine(in)
		if s.line++; s.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		switch {
		case errors.Is(err, errLongLine):
			s.emitBad("longer than %d bytes", transcript.MaxLine)
			continue
		case err != nil && !transcript.IsEnd(err):
			s.failWith(err)
			return
		}
		if len(bytes.TrimSpace(line)) > 0 && s.takeLine(line, in) || err != nil {
			return
		}
	}
}

var errLongLine = errors.New("line too long")

// readLine reads a line of at most MaxLine bytes; a longer one is skipped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > transcript.MaxLine {
			long = true
			line = nil
		} else if !long {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || transcript.IsEnd(err)) {
			return nil, errLongLine
		}
		return line, err
	}
}

// sessionReader is a file while it is read.
type sessionReader struct {
	yield func(transcript.Entry, error) bool
	gone  bool // the reader stopped
	line  int

	headless bool // the header is lost
	most     int  // bytes of a document that are read
	long     bool // it has more

	header map[string]json.RawMessage
	path   []*record      // as the session stands
	at     map[string]int // where in path a record is, by its id
	fresh  bool           // path has records that were not yielded
	backs  int            // how often it went back
	told   []recordUnit   // yielded already
	late   []transcript.Entry
}

func (s *sessionReader) emitEntry(e transcript.Entry) {
	if !s.gone && !s.yield(e, nil) {
		s.gone = true
	}
}

// failWith ends the reading of a file.
func (s *sessionReader) failWith(err error) {
	if !s.gone {
		s.yield(transcript.Entry{}, err)
		s.gone = true
	}
}

func (s *sessionReader) emitBad(format string, args ...any) {
	s.emitEntry(transcript.Entry{Bad: &transcript.Bad{Line: s.line, Reason: fmt.Sprintf(format, args...)}})
}

// takeLine reads a line. If the file turns out to be one document, it reads all of it
// and returns true.
func (s *sessionReader) takeLine(line []byte, rest *bufio.Reader) (document bool) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(line, &fields)
	if err != nil && s.line == 1 && rest != nil {
		// The older form is one document, which may span many lines.
		whole, readErr := io.ReadAll(io.LimitReader(rest, int64(s.most)+1))
		if readErr != nil {
			s.failWith(readErr)
			return true
		}
		s.long = len(whole) > s.most
		if all := append(bytes.Clone(line), whole...); json.Unmarshal(all, &fields) == nil {
			line = all
			err = nil
		} else if all = bytes.TrimSpace(all); bytes.HasPrefix(all, []byte("[")) && json.Valid(all) {
			// a checkpoint of old versions is its turns alone
			fields = map[string]json.RawMessage{"history": all}
			err = nil
		} else if s.takeMended(all) {
			return true
		} else {
			s.takeTorn(line, io.MultiReader(bytes.NewReader(whole), rest))
			return true
		}
		document = true
	}
	switch {
	case err != nil:
		s.emitBad("malformed JSON: %v", err)
	case fields["history"] != nil && fields["sessionId"] == nil:
		s.readCheckpoint(fields)
		return true
	case fields["sessionId"] != nil && fields["id"] == nil:
		s.takeDocument(fields)
	case len(s.header) == 0 && !s.headless:
		s.emitBad("there is no session header before it")
	case fields["$set"] != nil:
		s.setHeader(fields["$set"])
	case fields["$rewindTo"] != nil:
		s.rewindTo(fields["$rewindTo"])
	default:
		s.takeRecord(line)
	}
	return document
}

// takeMended takes what is whole of a damaged document, and reports whether it is one.
func (s *sessionReader) takeMended(all []byte) bool {
	d := transcript.NewDocument(bytes.NewReader(all), transcript.MaxLine)
	header := map[string]json.RawMessage{}
	read := false
	var damaged []transcript.Bad
	for {
		name, err := d.Next()
		if err == nil && name == "messages" && header["sessionId"] != nil {
			for raw, err := range d.Items() {
				if err == nil {
					s.line = d.CurrentLine()
					s.takeRecord(raw)
					read = true
				} else if bad, ok := d.ExplainFault(err); ok {
					damaged = append(damaged, bad)
				}
			}
			if len(damaged) > 0 {
				break // nothing can be read behind them
			}
			continue
		}
		var raw json.RawMessage
		if err == nil {
			raw, err = d.Value()
		}
		if transcript.IsEnd(err) {
			break
		}
		if err != nil {
			if bad, ok := d.ExplainFault(err); ok {
				damaged = append(damaged, bad)
			}
			break
		}
		header[name] = raw
	}
	if !read {
		return false
	}
	maps.Copy(s.header, header)
	if s.long && len(damaged) > 0 {
		damaged[len(damaged)-1].Reason = fmt.Sprintf("longer than %d bytes; of the messages behind them none is read", s.most)
	}
	for _, bad := range damaged {
		s.emitEntry(transcript.Entry{Bad: &bad})
	}
	return true
}

// takeTorn continues after a first line that is incomplete: most likely the header.
func (s *sessionReader) takeTorn(line []byte, rest io.Reader) {
	s.takeLine(line, nil)
	s.headless = true
	s.readLines(bufio.NewReaderSize(rest, 64<<10))
}

// takeDocument takes a header, and the messages of the older form.
func (s *sessionReader) takeDocument(fields map[string]json.RawMessage) {
	messages := fields["messages"]
	delete(fields, "messages")
	maps.Copy(s.header, fields)
	if messages != nil {
		s.takeRecords(messages)
	}
}

// setHeader takes a change of the header; messages in it replace all before them.
func (s *sessionReader) setHeader(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		s.emitBad("$set is not an object")
		return
	}
	messages := fields["messages"]
	delete(fields, "messages")
	maps.Copy(s.header, fields)
	if messages != nil {
		if !s.goBack() {
			return
		}
		was := s.path
		s.path = nil
		s.at = map[string]int{}
		s.takeRecords(messages)
		for i := 0; i < len(was) && i < len(s.path) && was[i].isSame(s.path[i]); i++ {
			s.path[i] = was[i] // the beginning that stayed is the same one
		}
	}
}

func (s *sessionReader) takeRecords(list json.RawMessage) {
	var raws []json.RawMessage
	if json.Unmarshal(list, &raws) != nil {
		s.emitBad("messages are not a list")
		return
	}
	for _, raw := range raws {
		s.takeRecord(raw)
	}
}

// takeRecord takes a message: a new one, or a new version of an earlier one.
func (s *sessionReader) takeRecord(raw json.RawMessage) {
	rec, err := parseRecord(raw)
	if err != nil {
		s.emitBad("%v", err)
		return
	}
	rec.line = s.line
	s.fresh = true
	if i, known := s.at[rec.ID]; known {
		s.path[i] = rec
		return
	}
	if rec.ID != "" {
		s.at[rec.ID] = len(s.path)
	}
	s.path = append(s.path, rec)
}

// maxBacks bounds how often a session goes back: each time it is read as it was.
const maxBacks = 1000

// goBack returns what will be hidden, unless the session has gone back too often.
func (s *sessionReader) goBack() bool {
	if s.backs++; s.backs > maxBacks {
		s.emitBad("it goes back more than %d times", maxBacks)
		return false
	}
	if s.fresh {
		s.yieldPath(false)
	}
	s.fresh = false
	return true
}

// rewindTo drops a message and all after it; an unknown one drops nothing.
func (s *sessionReader) rewindTo(raw json.RawMessage) {
	var id string
	err := json.Unmarshal(raw, &id)
	if i, known := s.at[id]; err == nil && known {
		if s.goBack() {
			for _, rec := range s.path[i:] {
				delete(s.at, rec.ID)
			}
			s.path = s.path[:i:i]
		}
		return
	}
	s.emitBad("$rewindTo names an unknown message: %s", raw)
}

func (s *sessionReader) endSession() {
	if (len(s.header) > 0 || s.headless && len(s.path) > 0) && !s.gone {
		s.yieldPath(true)
	}
}

// yieldPath yields what the session says now and was not yielded yet. What was yielded, but
// is gone, becomes an earlier branch.
func (s *sessionReader) yieldPath(last bool) {
	units, asides := makeUnits(s.path)
	same := 0
	for same < len(units) && same < len(s.told) && units[same].saysSame(s.told[same]) {
		same++
	}
	if !last && same == len(units) {
		return // nothing is hidden that was not yielded
	}
	if same < len(s.told) && (same < len(units) || last) {
		n := countMessages(s.told[:same])
		s.late = append(s.late, transcript.Entry{Source: s.sourceID(), Rewind: &n})
	}
	for _, u := range units[same:] {
		s.late = append(s.late, u.listEntries(s.sourceID())...)
	}
	s.told = units
	if !last {
		return
	}
	s.emitEntry(transcript.Entry{Source: s.sourceID(), Conversation: s.describeConversation(len(units) == 0, asides)})
	for _, e := range s.late {
		s.emitEntry(e)
	}
}

func (s *sessionReader) sourceID() string {
	var id string
	// An id that is not a string counts as none: then the file itself is the identity.
	_ = json.Unmarshal(s.header["sessionId"], &id)
	return id
}

// describeConversation returns what the header says about the whole.
func (s *sessionReader) describeConversation(empty bool, asides []json.RawMessage) *scrollback.Conversation {
	c := &scrollback.Conversation{}
	// A summary that is not a string is not a title.
	_ = json.Unmarshal(s.header["summary"], &c.Title)
	kept := map[string]any{"header": s.header}
	if empty && len(asides) > 0 {
		kept["records"] = asides
	}
	c.Meta = transcript.MarshalObject(map[string]any{metaKey: kept})
	return c
}
