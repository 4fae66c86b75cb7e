package goose

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// readLegacy reads a session of the older form: a line that describes it, then a line a message.
func readLegacy(p transcript.Place, s transcript.Session) ([]*conversation, error) {
	f, err := p.FS.Open(s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	c := &conversation{sessionHead: &sessionHead{id: s.ID, updated: s.Changed}, source: s.ID}
	in := transcript.NewRecords(f)
	for {
		rec, err := in.Next()
		switch {
		case transcript.IsEnd(err):
			c.arrangeRows()
			return []*conversation{c}, nil
		case err != nil:
			return nil, err
		case rec.Torn && p.IsLive(s):
			c.torn = true // it may still grow
		case rec.JSON == nil:
			c.noteBad(rec.Line, rec.Reason)
		default:
			c.takeLine(rec.JSON, rec.Line)
		}
	}
}

// noteBad notes what is wrong with a line.
func (c *conversation) noteBad(n int, reason string) {
	if len(c.bad) < 1000 {
		c.bad = append(c.bad, transcript.Bad{Line: n, Reason: strings.ToValidUTF8(reason, "\uFFFD")})
	}
}

// takeLine takes a line of an older file.
func (c *conversation) takeLine(line []byte, n int) {
	var l struct {
		Folder      *string         `json:"working_dir"`
		Description string          `json:"description"`
		Role        string          `json:"role"`
		Created     json.Number     `json:"created"`
		Content     json.RawMessage `json:"content"`
		Metadata    json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		c.noteBad(n, "malformed JSON: "+err.Error())
		return
	}
	if l.Role == "" && l.Folder != nil {
		c.folder = strings.ToValidUTF8(*l.Folder, "\uFFFD")
		c.title = strings.ToValidUTF8(l.Description, "\uFFFD")
		return
	}
	at, _ := l.Created.Int64() // a message without a time has none
	if r := (&messageRow{created: transcript.ParseMillis(at), order: int64(n), line: n}); len(l.Content) > 0 {
		c.addMessage(l.Role, l.Content, l.Metadata, r)
		if c.created == 0 {
			c.created = r.created
		}
	}
}
