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
func (t Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	if t.cowork {
		return describeTask(p, s, Tool{}.Read(ctx, p, s))
	}
	return func(yield func(transcript.Entry, error) bool) {
		r := &sessionReading{ctx: ctx, files: p.FS, yield: yield, session: s.ID, file: s.Name, calls: map[string]string{},
			told: map[string]bool{}, agents: map[string]string{},
			live: p.IsLive(s), moving: p.Now-s.Changed < settles}
		if err := r.readAll(); err != nil && !r.gone {
			yield(transcript.Entry{}, err)
		}
	}
}

// sessionReading is a session while it is read.
type sessionReading struct {
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

func (r *sessionReading) emitEntry(e transcript.Entry) {
	if !r.gone && !r.yield(e, nil) {
		r.gone = true
	}
}

// readAll reads the session's file and those of its sub-agents.
func (r *sessionReading) readAll() error {
	main := &conversationReading{sessionReading: r, source: r.session, name: r.file,
		beside: strings.TrimSuffix(r.file, ".jsonl"),
		left:   map[string]int{}}
	if agentFile(path.Base(r.file)) { // its outputs are with its session's
		session, _, _ := strings.Cut(r.session, "/")
		main.beside = path.Join(path.Dir(r.file), session)
	}
	if err := main.loadFile(); err != nil {
		return err
	}
	inline := main.splitAgents()
	main.yieldAll()
	for _, t := range inline {
		if r.gone {
			return nil
		}
		t.yieldAll()
	}
	if agentFile(path.Base(r.file)) {
		return nil
	}
	for _, a := range r.listAgents(main.beside) {
		if r.gone {
			return nil
		}
		t := &conversationReading{sessionReading: r, source: agentSource(r.session, a.name), name: a.name,
			beside: main.beside,
			left:   map[string]int{}, agent: a}
		switch err := t.loadFile(); {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
			continue
		case err != nil:
			return err
		}
		t.linkParent(main.source)
		t.yieldAll()
	}
	return nil
}

// conversationReading is a conversation while it is read.
type conversationReading struct {
	*sessionReading
	source string    // what the conversation is called
	name   string    // of its file
	beside string    // the folder with its session's outputs
	agent  *subagent // whose it is, or nil

	lines  []*line // the nodes
	bad    []transcript.Bad
	left   map[string]int
	held   bool
	ids    map[string]bool
	last   string // the node that the file names as the last one
	lastAt int    // how many nodes stood before
	titles fileTitles
}

// fileTitles are what a file calls the conversation, the later the better.
type fileTitles struct{ given, made, old, leaf string }

func (t *conversationReading) countLeft(kind string) {
	if _, known := t.left[kind]; !known && len(t.left) >= maxKinds {
		kind = "other"
	}
	t.left[kind]++
}

// loadFile reads a file.
func (t *conversationReading) loadFile() error {
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
		l, bad, err := in.nextLine()
		switch {
		case transcript.IsEnd(err):
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
			t.takeLine(l)
		}
	}
}

// takeLine keeps a line if it is a node, or notes what it says.
func (t *conversationReading) takeLine(l *line) {
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
	case !l.isNode():
		t.countLeft(l.kindName())
		return
	case t.ids[l.UUID]:
		t.countLeft("repeated")
		return
	}
	t.ids[l.UUID] = true
	t.readLine(l)
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
		t.countLeft(l.kindName())
	}
	t.lines = append(t.lines, l)
}

// chooseTitle returns what the file calls the conversation. An old summary may speak of another
// session, or be an error that stood there.
func (t *conversationReading) chooseTitle() string {
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

// yieldAll yields the conversation.
func (t *conversationReading) yieldAll() {
	th := linkNodes(t.lines)
	for _, l := range t.lines {
		if l.kind == notice {
			t.countLeft("notice")
		}
	}
	if at, known := th.at[t.last]; known {
		th.last = at
		th.lastAt = t.lastAt
		if a := th.of[at]; a >= 0 && th.answers[a].endReason(t.lines) != "" {
			th.answers[a].closed = true
		}
	}
	d := &messageMaker{of: t, th: th, lines: t.lines, kept: make([]bool, len(t.lines))}
	list := d.makeNodes()
	leaf := ""
	if at := d.findLeaf(); at >= 0 {
		leaf = t.lines[at].UUID
	}
	entries := tree.WalkEntries(t.source, list, leaf)
	t.yieldDescription(entries)
	for _, b := range t.bad {
		t.emitEntry(transcript.Entry{Line: b.Line, Source: t.source, Bad: &b})
	}
	for e := range entries {
		if t.emitEntry(e); t.gone {
			return
		}
	}
	left := maps.Clone(t.left)
	if len(left) == 0 {
		left = nil
	}
	t.emitEntry(transcript.Entry{Source: t.source, End: &transcript.End{Held: t.held, Left: left}})
	t.lines = nil
	t.ids = nil
}

// yieldDescription yields what is known of the conversation as a whole.
func (t *conversationReading) yieldDescription(entries iter.Seq[transcript.Entry]) {
	c := &scrollback.Conversation{Title: t.chooseTitle()}
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
		c.Meta = encodePlain(map[string]any{metaKey: kept})
	}
	t.told[t.source] = true
	t.emitEntry(e)
}
