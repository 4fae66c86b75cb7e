package archive

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/scrollback-ai/scrollback"
)

// markdown1 writes a file of renderer 1.
type markdown1 struct{ bytes.Buffer }

func title1(seg scrollback.Segment) []byte {
	return fmt.Appendf(nil, "# Conversation %s, messages %d-%d\n\n- ref: %s\n- branch: %s\n",
		oneLine(string(seg.Conversation)),
		seg.FirstSeq, seg.LastSeq, oneLine(string(scrollback.HistoryRef(seg.ID))), oneLine(string(seg.Branch)))
}

func leaf1(seg scrollback.Segment, ms []scrollback.Message) *sheet {
	var m markdown1
	m.Grow(int(min(max(seg.Bytes, 0), 2*scrollback.MaxSegmentBytes)))
	m.Write(title1(seg))
	if len(ms) > 0 {
		fmt.Fprintf(&m, "- time: %s to %s\n", stamp(ms[0].CreatedAt), stamp(ms[len(ms)-1].CreatedAt))
	}
	fmt.Fprintf(&m, "- messages: %d\n", len(ms))
	marks := make([]mark, 0, len(ms))
	for i := range ms {
		marks = append(marks, m.message(&ms[i]))
	}
	return &sheet{text: m.Bytes(), marks: marks}
}

func table1(seg scrollback.Segment, children []scrollback.Segment) *sheet {
	var m markdown1
	m.Write(title1(seg))
	count := 0
	for i := range children {
		count += children[i].Messages
	}
	if n := len(children); n > 0 {
		fmt.Fprintf(&m, "- time: %s to %s\n", stamp(children[0].From), stamp(children[n-1].To))
	}
	fmt.Fprintf(&m, "- messages: %d\n- segments: %d, each read by its own ref\n\n", count, len(children))
	m.WriteString("| ref | messages | count | from | to | summary |\n|---|---|---|---|---|---|\n")
	for i := range children {
		c := &children[i]
		fmt.Fprintf(&m, "| %s | %d-%d | %d | %s | %s | %s |\n", oneLine(string(scrollback.HistoryRef(c.ID))),
			c.FirstSeq, c.LastSeq, c.Messages, stamp(c.From), stamp(c.To), cell(scrollback.Hint(c.Summary)))
	}
	return &sheet{text: m.Bytes()}
}

// message writes one message and says where it ended.
func (m *markdown1) message(msg *scrollback.Message) mark {
	k := mark{seq: msg.Seq, start: m.Len(), artifacts: mentions(msg.Parts)}
	fmt.Fprintf(m, "\n## #%d %s · %s", msg.Seq, oneLine(string(msg.Role)), stamp(msg.CreatedAt))
	m.detail("name", msg.Name)
	m.detail("model", msg.Model)
	if msg.Status != scrollback.StatusComplete {
		m.detail("status", string(msg.Status))
	}
	m.WriteString("\n")
	for _, p := range msg.Parts {
		m.WriteString("\n")
		if r, ok := p.(scrollback.ToolResult); ok && r.Recall {
			k.recalls = append(k.recalls, m.Len())
			fmt.Fprintf(m, "recall result of %s, %d bytes, not repeated here\n", oneLine(r.Name), len(r.Text))
			continue
		}
		if t, ok := p.(scrollback.Text); ok && t.Recall() {
			k.recalls = append(k.recalls, m.Len())
			fmt.Fprintf(m, "recall result of %s, %d bytes, not repeated here\n", oneLine(t.Reference.Source), len(t.Text))
			continue
		}
		if c, ok := p.(scrollback.ToolCall); ok && c.Recall() {
			k.recalls = append(k.recalls, m.Len())
			fmt.Fprintf(m, "recall call of %s · id %s · %s\n", oneLine(c.Name), oneLine(c.ID), oneLine(string(c.Arguments)))
			continue
		}
		m.part(p)
	}
	k.end = m.Len()
	return k
}

func (m *markdown1) part(p scrollback.Part) {
	switch p := p.(type) {
	case scrollback.Text:
		m.verbatim(p.Text)
	case scrollback.Image:
		fmt.Fprintf(m, "**Image** %s", oneLine(p.Where()))
		m.attachment(p.MediaType, p.Name, p.Size)
		if p.Width > 0 && p.Height > 0 {
			fmt.Fprintf(m, " · %dx%d", p.Width, p.Height)
		}
		m.WriteString("\n")
	case scrollback.File:
		fmt.Fprintf(m, "**File** %s", oneLine(string(scrollback.ArtifactRef(p.Artifact))))
		m.attachment(p.MediaType, p.Name, p.Size)
		m.WriteString("\n")
	case scrollback.ToolCall:
		fmt.Fprintf(m, "**Tool call** %s", oneLine(p.Name))
		m.detail("id", p.ID)
		m.WriteString("\n\n")
		m.fence("json", string(p.Arguments))
	case scrollback.ToolResult:
		m.result(p)
	case scrollback.Reasoning:
		m.WriteString("**Reasoning**\n\n")
		m.fence("", p.Text)
	}
}

func (m *markdown1) result(r scrollback.ToolResult) {
	fmt.Fprintf(m, "**Tool result** %s", oneLine(r.Name))
	m.detail("call", r.CallID)
	if r.IsError {
		m.WriteString(" · error")
	}
	m.WriteString("\n\n")
	if r.Artifact == "" {
		m.fence("", r.Text)
		return
	}
	fmt.Fprintf(m, "The whole output is at %s; the %d bytes of it kept inline are not repeated here.\n",
		oneLine(string(scrollback.ArtifactRef(r.Artifact))), len(r.Text))
}

func (m *markdown1) attachment(mediaType, name string, size int64) {
	m.detail("", mediaType)
	m.detail("name", name)
	fmt.Fprintf(m, " · %d bytes", size)
}

func (m *markdown1) detail(label, value string) {
	if value == "" {
		return
	}
	m.WriteString(" · ")
	if label != "" {
		m.WriteString(label + " ")
	}
	m.WriteString(oneLine(value))
}

func (m *markdown1) verbatim(s string) {
	m.WriteString(s)
	if !strings.HasSuffix(s, "\n") {
		m.WriteString("\n")
	}
}

// fence writes s between marks longer than any run of backticks in it.
func (m *markdown1) fence(kind, s string) {
	longest := 2
	run := 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	m.WriteString(marks + kind + "\n")
	if s != "" {
		m.verbatim(s)
	}
	m.WriteString(marks + "\n")
}

// mentions lists the artifacts beside a message that may be text. What a recall
// result mentions, another message mentions too.
func mentions(ps scrollback.Parts) []scrollback.ArtifactID {
	var ids []scrollback.ArtifactID
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.ToolResult:
			if p.Artifact != "" && !p.Recall {
				ids = append(ids, p.Artifact)
			}
		case scrollback.File:
			ids = append(ids, p.Artifact)
		}
	}
	return ids
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// oneLine quotes what could break out of its line.
func oneLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// cell makes s fit a cell of a table.
func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", `\|`) }
