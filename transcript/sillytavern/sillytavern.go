// Package sillytavern reads the chats of SillyTavern, which keeps a file a chat.
//
// Words it adds: swipe (one of several answers to the same question, of which one is shown).
//
// Invariants: messages are in the order of their file; swipes that are not shown are branches beside the one that is.
//
// It may not know the store, the network or the file system.
package sillytavern

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name, and that of its fields in meta.
const Name = "sillytavern"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: where people unpack the program.
func (Tool) Homes(m transcript.Machine) []string {
	return []string{filepath.Join(m.Home, "SillyTavern", "data"), filepath.Join(m.Home, "SillyTavern", "public", "chats")}
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	seen := transcript.HeadFields(head)
	return path.Ext(name) == ".jsonl" && seen["user_name"] && seen["character_name"]
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool {
		return path.Ext(name) == ".jsonl" && !strings.Contains("/"+name, "/backups/") // copies of chats
	},
	Talks: readTalks,
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// line is the head of a chat, or a message.
type line struct {
	User      string          `json:"user_name"`
	Character string          `json:"character_name"`
	Created   json.RawMessage `json:"create_date"`

	Name    string          `json:"name"`
	IsUser  bool            `json:"is_user"`
	System  bool            `json:"is_system"`
	Sent    json.RawMessage `json:"send_date"`
	Text    string          `json:"mes"`
	Swipes  []string        `json:"swipes"`
	SwipeID int             `json:"swipe_id"`
	Extra   extra           `json:"extra"`
	About   []swipe         `json:"swipe_info"`
}

type swipe struct {
	Sent  json.RawMessage `json:"send_date"`
	Extra extra           `json:"extra"`
}

type extra struct {
	Model     string `json:"model"`
	Reasoning string `json:"reasoning"`
	Image     string `json:"image"`
}

// humanized is how older versions write when something was said, with or without what is less than a minute.
var humanized = lazyregexp.New(`^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m(?: ?(\d{1,2})s)?(?: ?(\d{1,3})ms)?$`)

// parseDate returns when something was said, in Unix ms; 0 for what says nothing. Times without a zone are this
// machine's.
func parseDate(raw json.RawMessage) int64 {
	var ms float64
	if exported.DecodeField(raw, &ms) {
		return exported.SecondsToMillis(ms)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // what is of another type says nothing
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return transcript.ParseMillis(t.UnixMilli())
	}
	for _, layout := range []string{"January 2, 2006 3:04pm", "January 2, 2006 3:04PM"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return transcript.ParseMillis(t.UnixMilli())
		}
	}
	m := humanized().FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	var n [7]int
	for i := range n {
		_, _ = fmt.Sscanf(m[i+1], "%d", &n[i]) // 0 for what is not there
	}
	at := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.Local)
	return transcript.ParseMillis(at.UnixMilli())
}

// readTalks makes the conversation of a chat.
func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	t := &sessionlog.Talk{ID: f.ID}
	var head line
	asked := ""
	last := ""
	for i, rec := range f.Records {
		var l line
		_ = json.Unmarshal(rec.JSON, &l) // what is of another type is not there
		if l.User != "" || l.Character != "" {
			if head.Character == "" {
				head = l
				t.About.CreatedAt = parseDate(l.Created)
			}
			continue
		}
		if l.System {
			t.CountLeft("hidden or system message")
			continue
		}
		last = addMessage(t, rec.Line, fmt.Sprintf("%d", i+1), last, &l)
		if l.IsUser {
			asked = cmp.Or(asked, l.Text)
		}
	}
	t.About.Title = sessionlog.FirstLine(asked)
	if head.Character != "" {
		t.About.Title = sessionlog.FirstLine(strings.TrimSuffix(head.Character+": "+t.About.Title, ": "))
	}
	t.About.Meta = exported.KeepMeta(Name, struct {
		Character string `json:"character,omitempty"`
	}{head.Character})
	return []*sessionlog.Talk{t}
}

// addMessage adds a message below another, and before it what else was answered there. It returns its id.
func addMessage(t *sessionlog.Talk, number int, id, below string, l *line) string {
	if len(l.Swipes) > 1 && l.SwipeID >= 0 && l.SwipeID < len(l.Swipes) {
		for i, text := range l.Swipes {
			if i == l.SwipeID || text == l.Text {
				continue
			}
			other := *l
			other.Text = text
			other.Extra = extra{}
			if i < len(l.About) {
				other.Extra = l.About[i].Extra
				other.Sent = l.About[i].Sent
			}
			addNode(t, number, fmt.Sprintf("%s/%d", id, i), below, &other)
		}
	}
	addNode(t, number, id, below, l)
	return id
}

func addNode(t *sessionlog.Talk, number int, id, below string, l *line) {
	e := transcript.Entry{Line: number, Message: scrollback.Message{ID: scrollback.MessageID(id),
		Role: scrollback.RoleUser, CreatedAt: parseDate(l.Sent)}}
	if !l.IsUser {
		e.Message.Role = scrollback.RoleAssistant
		e.Message.Model = l.Extra.Model
		t.About.Model = cmp.Or(l.Extra.Model, t.About.Model)
		sessionlog.AddReasoning(&e, l.Extra.Reasoning)
	}
	sessionlog.AddText(&e, l.Text)
	if l.Extra.Image != "" && !(strings.HasPrefix(l.Extra.Image, "data:") &&
		sessionlog.AddBytes(&e, "", l.Extra.Image)) {
		t.CountLeft("image in another file")
	}
	n := tree.Node{ID: id, Parent: below}
	if sessionlog.Says(e) {
		n.Entries = []transcript.Entry{e}
		t.About.CreatedAt = cmp.Or(t.About.CreatedAt, e.Message.CreatedAt)
		t.About.UpdatedAt = max(t.About.UpdatedAt, e.Message.CreatedAt)
	}
	t.Nodes = append(t.Nodes, n)
}
