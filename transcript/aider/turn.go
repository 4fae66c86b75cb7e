package aider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

var (
	modelLine = lazyregexp.New(`^(?:Main model|Model|Models): (\S+)`)
	version   = lazyregexp.New(`^Aider v(\S+)`)
	used      = lazyregexp.New(`^Tokens: (\S+) sent, (?:(\S+) cache write, )?(?:(\S+) cache hit, )?(\S+) received\.(?: Cost: \$([0-9.]+) message)?`)
)

// takeNote takes what a line of output says about the section or the last answer, and reports
// whether it says nothing else.
func (r *historyReader) takeNote(words string) bool {
	if m := modelLine().FindStringSubmatch(words); m != nil {
		r.model = m[1]
		return !r.asked
	}
	if m := version().FindStringSubmatch(words); m != nil {
		r.version = m[1]
		return !r.asked
	}
	if r.lastText < 0 {
		return false
	}
	last := &r.waiting[r.lastText].Message
	if strings.HasPrefix(words, "^C") {
		last.Status = scrollback.StatusInterrupted
		return true
	}
	m := used().FindStringSubmatch(words)
	if m == nil || last.Usage != nil {
		return false
	}
	u := scrollback.Usage{
		InputTokens: parseCount(m[1]), CacheWriteTokens: parseCount(m[2]), CachedTokens: parseCount(m[3]),
		OutputTokens: parseCount(m[4]),
		Estimated:    true,
	}
	if cost, err := strconv.ParseFloat(m[5], 64); err == nil && cost > 0 && cost < scrollback.MaxCallCost {
		u.Cost = cost
		u.Currency = "USD"
	}
	u, _ = u.Checked() // it is rounded anyway
	last.Usage = &u
	return true
}

// parseCount returns a number as Aider rounds it: 812, 5.3k, 12k.
func parseCount(s string) int64 {
	scale := 1.0
	if rest, ok := strings.CutSuffix(s, "k"); ok {
		s = rest
		scale = 1000
	} else if rest, ok := strings.CutSuffix(s, "M"); ok {
		s = rest
		scale = 1e6
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n*scale > scrollback.MaxCallTokens {
		return 0
	}
	return int64(n*scale + 0.5)
}

// flushMessage makes a message of the lines that were read.
func (r *historyReader) flushMessage() {
	lines := r.buffer
	who := r.kind
	r.buffer = nil
	r.kind = nobody
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if text == "" {
		return
	}
	m := scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say(text), CreatedAt: r.begun}
	switch who {
	case answer:
		m.Role = scrollback.RoleAssistant
		m.Model = r.model
		m.Parts = splitThought(text)
		r.lastText = len(r.waiting)
	case output:
		m.Role = scrollback.RoleTool
		m.Parts = scrollback.Parts{scrollback.ToolResult{CallID: fmt.Sprintf("output-%d", r.index+1), Name: Name, Text: text}}
	case user:
		r.lastText = -1
	case nobody:
		return
	}
	r.index++
	sum := sha256.Sum256([]byte(string(m.Role) + text))
	m.ID = scrollback.MessageID(fmt.Sprintf("%d-%s", r.index, hex.EncodeToString(sum[:6])))
	r.waiting = append(r.waiting, transcript.Entry{Line: r.from, Source: r.source, Message: m})
}

// Lines that stand around what a model thought.
const (
	thinks  = "► **THINKING**"
	answers = "► **ANSWER**"
)

// splitThought parts what a model thought from what it says.
func splitThought(text string) scrollback.Parts {
	before, rest, found := strings.Cut(text, thinks)
	inner, after, closed := strings.Cut(rest, answers)
	if !found || !closed || strings.Trim(before, "- \n") != "" {
		return scrollback.Say(text)
	}
	inner = strings.Trim(strings.TrimRight(inner, "- \n"), "\n")
	after = strings.TrimSpace(after)
	var ps scrollback.Parts
	if inner != "" {
		ps = append(ps, scrollback.Reasoning{Text: inner})
	}
	if after != "" {
		ps = append(ps, scrollback.Text{Text: after})
	}
	if len(ps) == 0 {
		return scrollback.Say(text)
	}
	return ps
}

// yieldWaiting yields what waits, after the section's description.
func (r *historyReader) yieldWaiting() {
	for _, e := range r.waiting {
		if !r.told {
			r.told = true
			r.describeSection(e.Message.Parts.Text())
		}
		r.emitEntry(e)
	}
	r.waiting = nil
	r.lastText = -1
}

// maxTitle is how long a title may be, in characters.
const maxTitle = 80

// describeSection yields the description of a section, by its first prompt.
func (r *historyReader) describeSection(prompt string) {
	title, _, _ := strings.Cut(prompt, "\n")
	for _, mode := range []string{"/ask ", "/code ", "/architect "} {
		title = strings.TrimPrefix(title, mode)
	}
	if all := []rune(title); len(all) > maxTitle {
		title = string(all[:maxTitle-1]) + "…"
	}
	facts := map[string]string{}
	for name, value := range map[string]string{"cwd": r.folder, "version": r.version} {
		if value != "" {
			facts[name] = value
		}
	}
	c := &scrollback.Conversation{Title: strings.TrimSpace(title), Model: r.model, CreatedAt: r.begun, UpdatedAt: r.begun}
	if len(facts) > 0 {
		if raw, err := json.Marshal(map[string]any{metaKey: facts}); err == nil { // texts always can
			c.Meta = raw
		}
	}
	r.emitEntry(transcript.Entry{
		Line: r.from, Source: r.source, Conversation: c,
		Origin: &scrollback.Origin{ID: r.source, Folder: strings.ToValidUTF8(r.folder, "�")},
	})
}
