package goose

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// fromFile reads a session of the older form: a line that describes it, then a line a message.
func fromFile(p transcript.Place, s transcript.Session) ([]*conversation, error) {
	f, err := p.FS.Open(s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	c := &conversation{head: &head{id: s.ID, updated: s.Changed}, source: s.ID}
	in := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		line, long, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		ended := err != nil
		switch {
		case long:
			c.bad = append(c.bad, transcript.Bad{Line: n, Reason: fmt.Sprintf("longer than %d bytes", transcript.MaxLine)})
		case len(bytes.TrimSpace(line)) > 0:
			c.line(line, n, ended && p.Live(s))
		}
		if ended {
			c.arrange()
			return []*conversation{c}, nil
		}
	}
}

// line takes a line of an older file. One that is torn waits, if it may still grow.
func (c *conversation) line(line []byte, n int, growing bool) {
	var l struct {
		Folder      *string         `json:"working_dir"`
		Description string          `json:"description"`
		Role        string          `json:"role"`
		Created     json.Number     `json:"created"`
		Content     json.RawMessage `json:"content"`
		Metadata    json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		if growing {
			c.torn = true
			return
		}
		if len(c.bad) < 1000 {
			c.bad = append(c.bad, transcript.Bad{Line: n, Reason: strings.ToValidUTF8("malformed JSON: "+err.Error(), "\uFFFD")})
		}
		return
	}
	if l.Role == "" && l.Folder != nil {
		c.folder, c.title = strings.ToValidUTF8(*l.Folder, "\uFFFD"), strings.ToValidUTF8(l.Description, "\uFFFD")
		return
	}
	at, _ := l.Created.Int64() // a message without a time has none
	if r := (&row{created: transcript.Millis(at), order: int64(n), line: n}); len(l.Content) > 0 {
		c.add(l.Role, l.Content, l.Metadata, r)
		if c.created == 0 {
			c.created = r.created
		}
	}
}

// readLine reads a line of at most MaxLine bytes; a longer one is skipped.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > transcript.MaxLine {
			line, long = nil, true
		} else if !long {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
