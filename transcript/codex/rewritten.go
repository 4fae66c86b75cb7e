package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// compaction is a line that says what a window was made of.
type compaction struct {
	Message string            `json:"message"`
	History []json.RawMessage `json:"replacement_history"`
}

// errRewritten is what is wrong with a file that begins with a compaction.
var errRewritten = errors.New("rewritten by a compaction of Codex: of what came before, only what the person said is left in this file")

// summaryBegins is how Codex hands a summary to the next model, in the role of a person.
const summaryBegins = "Another language model started to solve this problem"

// takeCompaction takes what a person said from a compaction that the file begins with: the file was
// rewritten, and what was said before is nowhere else in it. It returns [errRewritten] if there
// was something. When that was said, and what was answered, the file does not know any more.
func (t *threadBuilder) takeCompaction(l *line, c compaction) error {
	if t.talk.cur >= 0 && len(t.talk.nodes) != t.rewritten {
		return nil // the lines before are there
	}
	// of an earlier compaction, which this one goes on from
	any := false
	known := t.talk.countUserTexts()
	for i, raw := range c.History {
		var it item
		if json.Unmarshal(raw, &it) != nil || it.Type != "message" || it.Role != "user" {
			continue
		}
		one := &line{n: l.n, thread: l.thread, pos: l.pos, shared: l.shared, ordinal: l.ordinal, kind: "response_item",
			payload: raw}
		sum := sha256.Sum256(raw)
		if it.ID == "" {
			it.ID = fmt.Sprintf("%s/%d.%d-%s", l.thread, l.pos, i, hex.EncodeToString(sum[:4]))
		}
		before := t.talk.cur
		t.takeUser(one, it)
		t.doubt = nil // no event follows that would confirm it
		if t.talk.cur == before {
			continue
		}
		n := &t.talk.nodes[t.talk.cur]
		text := n.entry.Message.Parts.Text()
		if strings.HasPrefix(text, summaryBegins) ||
			c.Message != "" && strings.TrimSpace(text) == strings.TrimSpace(c.Message) {
			n.dropped = true
			t.talk.cur = before
			continue
		}
		if known[text] > 0 {
			known[text]--
			n.dropped = true
			t.talk.cur = before
			continue
		}
		n.entry.Gap = true
		any = true
		n.setMeta("kept", true)
	}
	if !any {
		return nil
	}
	t.gap = true
	if strings.TrimSpace(c.Message) != "" {
		n := l.newMessage("", scrollback.RoleUser, scrollback.Say(c.Message))
		n.setMeta("compaction", true)
		t.addNode(n)
	}
	t.rewritten = len(t.talk.nodes)
	return errRewritten
}

// countUserTexts counts the texts of what a person said on the current path.
func (b *branchTree) countUserTexts() map[string]int {
	out := map[string]int{}
	for i := b.cur; i >= 0; i = b.nodes[i].parent {
		if m := b.nodes[i].entry.Message; m.Role == scrollback.RoleUser {
			out[m.Parts.Text()]++
		}
	}
	return out
}
