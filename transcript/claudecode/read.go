package claudecode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

const (
	settles   = 1000 // ms after which the lines of an answer that has ended are all there
	strays    = 64   // lines within which a missing parent may still come
	maxKinds  = 60   // of what was left out
	maxTitle  = 400  // bytes
	checkEach = 4096 // lines, for a caller who is gone
)

// Read implements transcript.Tool: the session's own conversation, and those of its
// sub-agents behind it.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		r := &reading{ctx: ctx, files: p.FS, yield: yield, session: s.ID, file: s.Name, calls: map[string]string{},
			told: map[string]bool{}, agents: map[string]string{},
			live: p.Live(s), moving: p.Now-s.Changed < settles}
		if err := r.all(); err != nil && !r.gone {
			yield(transcript.Entry{}, err)
		}
	}
}

// reading is a session while it is read.
type reading struct {
	ctx     context.Context
	files   fs.FS
	yield   func(transcript.Entry, error) bool
	gone    bool // the reader stopped
	session string
	file    string
	live    bool // somebody may still be writing
	moving  bool // somebody wrote a moment ago

	calls  map[string]string // in which conversation a call was made, by its id
	agents map[string]string // by which call a sub-agent was started, by its id
	told   map[string]bool   // conversations that have been described
}

func (r *reading) emit(e transcript.Entry) {
	if !r.gone && !r.yield(e, nil) {
		r.gone = true
	}
}

// all reads the session's file and those of its sub-agents.
func (r *reading) all() error {
	main := &telling{reading: r, source: r.session, name: r.file, beside: strings.TrimSuffix(r.file, ".jsonl"),
		left: map[string]int{}}
	if agentFile(path.Base(r.file)) { // its outputs are with its session's
		session, _, _ := strings.Cut(r.session, "/")
		main.beside = path.Join(path.Dir(r.file), session)
	}
	if err := main.load(); err != nil {
		return err
	}
	inline := main.split()
	main.tell()
	for _, t := range inline {
		if r.gone {
			return nil
		}
		t.tell()
	}
	if agentFile(path.Base(r.file)) {
		return nil
	}
	for _, a := range r.children(main.beside) {
		if r.gone {
			return nil
		}
		t := &telling{reading: r, source: agentSource(r.session, a.name), name: a.name, beside: main.beside,
			left: map[string]int{}, agent: a}
		switch err := t.load(); {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
			continue
		case err != nil:
			return err
		}
		t.join(main.source)
		t.tell()
	}
	return nil
}

// telling is a conversation while it is read.
type telling struct {
	*reading
	source string // what the conversation is called
	name   string // of its file
	beside string // the folder with its session's outputs
	agent  *agent // whose it is, or nil

	lines  []*line // the nodes
	bad    []transcript.Bad
	left   map[string]int
	held   bool
	ids    map[string]bool
	last   string // the node that the file names as the last one
	lastAt int    // how many nodes stood before
	titles titles
}

// titles are what a file calls the conversation, the later the better.
type titles struct{ given, made, old, leaf string }

func (t *telling) leave(kind string) {
	if _, known := t.left[kind]; !known && len(t.left) >= maxKinds {
		kind = "other"
	}
	t.left[kind]++
}

// load reads a file.
func (t *telling) load() error {
	f, err := t.files.Open(t.name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	t.ids = map[string]bool{}
	in := newScanner(f)
	for n := 0; ; n++ {
		if n%checkEach == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		l, bad, err := in.next()
		switch {
		case transcript.Ended(err):
			return nil
		case err != nil:
			return err
		case errors.Is(bad, errTorn) && t.live:
			t.held = true
		case bad != nil:
			if len(t.bad) < 1000 {
				t.bad = append(t.bad, transcript.Bad{Line: in.n, Reason: bad.Error()})
			}
		default:
			t.take(l)
		}
	}
}

// take keeps a line if it is a node, or notes what it says.
func (t *telling) take(l *line) {
	switch {
	case l.Type == "last-prompt":
		if l.LeafUUID != "" {
			t.last = l.LeafUUID
			t.lastAt = len(t.lines)
		}
	case l.CustomTitle != "":
		t.titles.given = l.CustomTitle
	case l.AITitle != "":
		t.titles.made = l.AITitle
	case l.Type == "summary" && l.Summary != "":
		t.titles.old = l.Summary
		t.titles.leaf = l.LeafUUID
	}
	switch {
	case !l.node():
		t.leave(l.kindName())
		return
	case t.ids[l.UUID]:
		t.leave("repeated")
		return
	}
	t.ids[l.UUID] = true
	t.understand(l)
	for _, p := range l.pieces {
		switch p := p.part.(type) {
		case scrollback.ToolCall:
			t.calls[p.ID] = t.source
		case scrollback.ToolResult:
			if l.ToolUseResult.AgentID != "" {
				t.agents[l.ToolUseResult.AgentID] = p.CallID
			}
		}
	}
	if l.kind == aside && l.Type != "user" {
		t.leave(l.kindName())
	}
	t.lines = append(t.lines, l)
}

// title is what the file calls the conversation. An old summary may speak of another
// session, or be an error that stood there.
func (t *telling) title() string {
	old := t.titles.old
	if !t.ids[t.titles.leaf] || strings.HasPrefix(old, "API Error") || strings.HasPrefix(old, "Invalid API key") ||
		strings.Contains(old, "/login") {
		old = ""
	}
	title := cmp.Or(t.titles.given, t.titles.made, old)
	if t.agent != nil {
		title = cmp.Or(title, t.agent.description)
	}
	if len(title) > maxTitle {
		title = strings.ToValidUTF8(title[:maxTitle], "")
	}
	return title
}

// tell yields the conversation.
func (t *telling) tell() {
	th := link(t.lines)
	for _, l := range t.lines {
		if l.kind == notice {
			t.leave("notice")
		}
	}
	if at, known := th.at[t.last]; known {
		th.last = at
		th.lastAt = t.lastAt
		if a := th.of[at]; a >= 0 && th.answers[a].ended(t.lines) != "" {
			th.answers[a].closed = true
		}
	}
	d := &deal{of: t, th: th, lines: t.lines, kept: make([]bool, len(t.lines))}
	list := d.nodes()
	leaf := ""
	if at := d.leaf(); at >= 0 {
		leaf = t.lines[at].UUID
	}
	entries := tree.Entries(t.source, list, leaf)
	t.describe(entries)
	for _, b := range t.bad {
		t.emit(transcript.Entry{Line: b.Line, Source: t.source, Bad: &b})
	}
	for e := range entries {
		if t.emit(e); t.gone {
			return
		}
	}
	left := maps.Clone(t.left)
	if len(left) == 0 {
		left = nil
	}
	t.emit(transcript.Entry{Source: t.source, End: &transcript.End{Held: t.held, Left: left}})
	t.lines = nil
	t.ids = nil
}

// describe yields what is known of the conversation as a whole.
func (t *telling) describe(entries iter.Seq[transcript.Entry]) {
	c := &scrollback.Conversation{Title: t.title()}
	o := &scrollback.Origin{ID: t.source}
	for e := range entries {
		if e.Rewind == nil {
			o.Root = string(e.Message.ID)
			break
		}
	}
	kept := map[string]string{}
	note := func(name, value string) {
		if value != "" {
			kept[name] = value
		}
	}
	for _, l := range t.lines {
		o.Folder = cmp.Or(o.Folder, l.CWD)
		o.GitBranch = cmp.Or(l.GitBranch, o.GitBranch)
		if l.kind == answer && l.Message.Model != "" {
			c.Model = l.Message.Model
		}
		if l.at != 0 {
			if c.CreatedAt == 0 || l.at < c.CreatedAt {
				c.CreatedAt = l.at
			}
			c.UpdatedAt = max(c.UpdatedAt, l.at)
		}
		note("version", l.Version)
		note("entrypoint", l.Entrypoint)
	}
	note("cwd", o.Folder)
	note("git_branch", o.GitBranch)
	e := transcript.Entry{Source: t.source, Conversation: c, Origin: o}
	if t.agent != nil {
		note("agent_type", t.agent.kind)
		e.Agent = t.agent.of
	}
	if len(kept) > 0 {
		c.Meta = encode(map[string]any{metaKey: kept})
	}
	t.told[t.source] = true
	t.emit(e)
}
