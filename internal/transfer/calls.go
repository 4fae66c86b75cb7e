package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/transcript"
)

// callsBatch is how many calls are entered in the books at once.
const callsBatch = 256

// clientNames are what begins the names that clients of the API give their sessions, by the tool; others are sessions.
var clientNames = map[string]string{"claude-code": "claude:", "codex": "codex:"}

// oldStamp begins the stamps of origins from before calls were counted: their sessions are read once more.
const oldStamp = "~"

// unmarkStamp returns a stamp as it was when its session was read, by whichever program.
func unmarkStamp(stamp string) string { return strings.TrimPrefix(stamp, oldStamp) }

// noteCall notes what the call of a model used that made a message of a tool. Met is the stored message that says the
// same, or nil for a new one: an answer of this program's own is in the books already.
func (im *importer) noteCall(ctx context.Context, c *importing, e *fileMessage, met *scrollback.Message) error {
	m := e.Message
	if im.from == nil || m.Role != scrollback.RoleAssistant || m.Usage == nil || *m.Usage == (scrollback.Usage{}) {
		return nil
	}
	mark := e.mark
	if met != nil {
		if mark = transcript.MarkOf(met.Meta); mark == "" {
			return nil
		}
	}
	at := cmp.Or(m.CreatedAt, c.dated, im.store.Now())
	through, err := im.cameThrough(ctx, c, at)
	if err != nil || through {
		return err
	}
	name := []any{c.head.Project, mark}
	if m.CreatedAt == 0 { // sessions may say the same
		name = append(name, im.from.Tool.Name(), c.source.Origin.ID, *m.Usage)
	}
	text, err := json.Marshal(name)
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, "transfer.noteCall", err)
	}
	sum := sha256.Sum256(text)
	used := *m.Usage
	if used.Cost == 0 {
		used.Currency = ""
	}
	c.calls = append(c.calls, store.ImportedCall{Usage: im.view.Bulk().AddPrice(m.Model, used), Conversation: c.ID,
		Call: hex.EncodeToString(sum[:]), Project: c.head.Project, Tool: im.from.Tool.Name(), Model: m.Model, At: at})
	if len(c.calls) < callsBatch {
		return nil
	}
	return im.enterCalls(ctx, c)
}

// enterCalls enters in the books what was noted.
func (im *importer) enterCalls(ctx context.Context, c *importing) error {
	if len(c.calls) == 0 {
		return nil
	}
	err := im.store.Books.EnterImported(ctx, c.calls)
	if err == nil {
		c.calls = nil
	}
	return err
}

// callSpan is when requests of a session came to this program, in Unix ms; zeros if none did.
type callSpan struct{ first, last int64 }

// cameThrough reports whether a call was made while its session asked this program, which has such calls in its own
// books: by when it was made, for tools do not say whom they asked.
func (im *importer) cameThrough(ctx context.Context, c *importing, at int64) (bool, error) {
	if c.through == nil {
		c.through = &callSpan{}
		prefix := cmp.Or(clientNames[im.from.Tool.Name()], "session:")
		for _, id := range []string{im.from.Session.ID, c.source.Origin.ID} {
			first, last, err := im.store.Threads.FindSpan(ctx, prefix+id)
			if err != nil {
				return false, err
			}
			if first != 0 && (c.through.first == 0 || first < c.through.first) {
				c.through.first = first
			}
			c.through.last = max(c.through.last, last)
		}
	}
	// a request is noted when it comes and when it has ended; a tool notes when its answer began, or ended
	return c.through.first != 0 && at >= c.through.first-store.CallWindow && at <= c.through.last+minuteMS, nil
}

const minuteMS = 60_000
