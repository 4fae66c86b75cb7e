package cline

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Read implements transcript.Tool.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		r := &reader{ctx: ctx, p: p, live: p.Live(s), changed: s.Changed, yield: yield}
		if strings.HasSuffix(path.Base(s.Name), runSuffix) {
			r.run(s.Name)
		} else {
			r.tasks(path.Dir(s.Name))
		}
	}
}

// reader reads one session.
type reader struct {
	ctx     context.Context
	p       transcript.Place
	live    bool
	changed int64
	yield   func(transcript.Entry, error) bool
	gone    bool // the caller stopped, or reading failed
}

func (r *reader) emit(e transcript.Entry) {
	if !r.gone && !r.yield(e, nil) {
		r.gone = true
	}
}

func (r *reader) fail(err error) {
	if !r.gone {
		r.yield(transcript.Entry{}, err)
		r.gone = true
	}
}

// tasks reads a task and those it handed work to.
func (r *reader) tasks(dir string) {
	read := map[string]*talk{}
	for _, m := range family(r.p.FS, dir) {
		t := r.talk(taskID(r.p, m.dir))
		if read[m.dir] = t; m.parent != "" {
			t.agent = &transcript.AgentOf{Source: read[m.parent].source, CallID: read[m.parent].handed(path.Base(m.dir))}
		}
		t.children = m.item.Children
		t.title = m.item.Task
		t.folder = m.item.Workspace
		t.conv.Model = modelOf(r.p.FS, m.dir)
		t.meta = map[string]any{"kind": "task", "mode": m.item.Mode, "status": m.item.Status, "parent_task": m.item.Parent}
		t.clock = clockOf(r.p.FS, m.dir)
		if at, err := strconv.ParseInt(t.source, 10, 64); err == nil && at > 0 && at < transcript.Latest {
			t.last = at // ids of tasks are times
		}
		if shown := shownOf(r.p.FS, m.dir); shown != nil && !r.live {
			t.shown(shown)
		} else if r.file(t, path.Join(m.dir, apiFile)); r.gone {
			return
		}
		if r.gone {
			return
		}
	}
}

// handed is the call that handed work to a task, if there are as many such calls as tasks.
func (t *talk) handed(id string) string {
	if i := slices.Index(t.children, id); i >= 0 && len(t.children) == len(t.handovers) {
		return t.handovers[i]
	}
	return ""
}

// run reads a session of the command line and its sub-agents.
func (r *reader) run(name string) {
	id := runID(name)
	about := object(r.p.FS, path.Join(path.Dir(name), id+".json"))
	t := r.talk(id)
	t.headed(about)
	var names []string
	for _, agent := range agents(r.p.FS, name) {
		names = append(names, strings.TrimPrefix(runID(agent), "agent_"))
	}
	t.agents = names
	if r.file(t, name); r.gone {
		return
	}
	for i, agent := range agents(r.p.FS, name) {
		a := r.talk(id + "/" + runID(agent))
		a.agent = &transcript.AgentOf{Source: id}
		if i < len(names) {
			a.agent.CallID = t.started[names[i]]
		}
		a.folder = t.folder
		a.meta = map[string]any{"kind": "agent"}
		if r.file(a, agent); r.gone {
			return
		}
	}
}

// headed takes what a run's manifest says.
func (t *talk) headed(f map[string]json.RawMessage) {
	t.title = text(fieldsOf(f["metadata"])["title"])
	t.folder = text(f["cwd"])
	t.conv.Model = text(f["model"])
	if t.folder == "" {
		t.folder = text(f["workspace_root"])
	}
	if t.title == "" {
		t.title = text(f["prompt"])
	}
	t.meta = map[string]any{"kind": "session", "provider": text(f["provider"]), "status": text(f["status"])}
}

// talk is a conversation while it is read.
type talk struct {
	r             *reader
	source        string
	agent         *transcript.AgentOf
	conv          scrollback.Conversation
	title, folder string
	meta          map[string]any
	begun         bool
	left          map[string]int
	held          bool
	ended         bool // nothing can be read behind the messages: they were damaged

	clock   clock
	asked   int     // messages of the user
	request request // of the last of them
	last    int64
	index   int
	line    int

	calls  map[string]string // names by ids
	open   []string          // the ids of the calls of the last message that have no result yet
	agents []string          // names of sub-agents

	children  []string          // tasks that work was handed to
	handovers []string          // the ids of the calls that did so
	started   map[string]string // of each the id of the call that told of it first
}

func (r *reader) talk(source string) *talk {
	return &talk{r: r, source: source, left: map[string]int{}, calls: map[string]string{}, started: map[string]string{}}
}

// file reads the messages of a conversation and ends it.
func (r *reader) file(t *talk, name string) {
	f, err := r.p.FS.Open(name)
	if err != nil {
		r.fail(err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	t.finish(t.document(f))
}

// finish ends a conversation, with what is wrong with its file, or nil.
func (t *talk) finish(fault *transcript.Bad) {
	r := t.r
	t.begin()
	if fault != nil {
		if t.held = r.live; !t.held {
			r.emit(transcript.Entry{Bad: fault})
		}
	}
	for kind, n := range t.left {
		if n == 0 {
			delete(t.left, kind)
		}
	}
	r.emit(transcript.Entry{Source: t.source, End: &transcript.End{Held: t.held, Left: t.left}})
}

// document reads a file that is a list of messages or an object that has one, and returns
// what is wrong with it.
func (t *talk) document(f io.Reader) *transcript.Bad {
	in := bufio.NewReader(transcript.UTF8(f))
	head, err := in.Peek(512)
	if err != nil && !transcript.Ended(err) {
		t.r.fail(err)
		return nil
	}
	if head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), " \t\r\n"); len(head) == 0 || head[0] != '{' {
		return t.list(transcript.NewList(in, transcript.MaxLine))
	}
	d := transcript.NewDocument(in, transcript.MaxLine)
	for {
		name, err := d.Next()
		switch {
		case transcript.Ended(err):
			return nil
		case err != nil:
			return t.fault(d, err)
		case name == "messages":
			if bad := t.list(d); bad != nil || t.ended || t.held || t.r.gone {
				return bad
			}
			continue
		}
		raw, err := d.Value()
		if err != nil {
			return t.fault(d, err)
		}
		if name == "system_prompt" && text(raw) != "" {
			t.left["system prompt"]++
		}
	}
}

// fault is what is wrong with a file; if it could not be read, reading ends.
func (t *talk) fault(d *transcript.Document, err error) *transcript.Bad {
	bad, ours := d.Fault(err)
	if !ours {
		t.r.fail(err)
		return nil
	}
	return &bad
}

func (t *talk) list(d *transcript.Document) *transcript.Bad {
	damaged := false
	for raw, err := range d.Items() {
		if err != nil {
			bad := t.fault(d, err)
			if bad == nil || t.r.live { // it is being written, perhaps
				return bad
			}
			t.r.emit(transcript.Entry{Bad: bad})
			damaged = true
			continue
		}
		if err := t.r.ctx.Err(); err != nil {
			t.r.fail(err)
			break
		}
		t.line = d.Line()
		if !t.element(raw) || t.r.gone {
			break
		}
	}
	t.ended = damaged
	return nil
}

// begin describes the conversation, before its first message.
func (t *talk) begin() {
	if t.begun {
		return
	}
	t.begun = true
	c := t.conv
	c.Title = title(t.title)
	c.CreatedAt = t.last
	c.UpdatedAt = max(t.last, t.r.changed)
	if t.meta == nil {
		t.meta = map[string]any{}
	}
	t.meta["cwd"] = t.folder
	c.Meta = meta(t.meta)
	t.r.emit(transcript.Entry{
		Source: t.source, Conversation: &c, Agent: t.agent, Origin: &scrollback.Origin{ID: t.source, Folder: t.folder},
	})
}
