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
		r := &sessionReader{ctx: ctx, p: p, live: p.IsLive(s), changed: s.Changed, yield: yield}
		if strings.HasSuffix(path.Base(s.Name), runSuffix) {
			r.readRun(s.Name)
		} else {
			r.readTasks(path.Dir(s.Name))
		}
	}
}

// sessionReader reads one session.
type sessionReader struct {
	ctx     context.Context
	p       transcript.Place
	live    bool
	changed int64
	yield   func(transcript.Entry, error) bool
	gone    bool // the caller stopped, or reading failed
}

func (r *sessionReader) emitEntry(e transcript.Entry) {
	if !r.gone && !r.yield(e, nil) {
		r.gone = true
	}
}

func (r *sessionReader) failWith(err error) {
	if !r.gone {
		r.yield(transcript.Entry{}, err)
		r.gone = true
	}
}

// readTasks reads a task and those it handed work to.
func (r *sessionReader) readTasks(dir string) {
	read := map[string]*talkReader{}
	for _, m := range taskFamily(r.p.FS, dir) {
		t := r.newTalk(taskID(r.p, m.dir))
		if read[m.dir] = t; m.parent != "" {
			t.agent = &transcript.AgentOf{Source: read[m.parent].source, CallID: read[m.parent].handoverCall(path.Base(m.dir))}
		}
		t.children = m.item.Children
		t.title = m.item.Task
		t.folder = m.item.Workspace
		t.conv.Model = lastModel(r.p.FS, m.dir)
		t.meta = map[string]any{"kind": "task", "mode": m.item.Mode, "status": m.item.Status, "parent_task": m.item.Parent}
		t.clock = readClock(r.p.FS, m.dir)
		if at, err := strconv.ParseInt(t.source, 10, 64); err == nil && at > 0 && at < transcript.Latest {
			t.last = at // ids of tasks are times
		}
		if shown := readShown(r.p.FS, m.dir); shown != nil && !r.live {
			t.emitShown(shown)
		} else if r.readFile(t, path.Join(m.dir, apiFile)); r.gone {
			return
		}
		if r.gone {
			return
		}
	}
}

// handoverCall returns the call that handed work to a task, if there are as many such calls as tasks.
func (t *talkReader) handoverCall(id string) string {
	if i := slices.Index(t.children, id); i >= 0 && len(t.children) == len(t.handovers) {
		return t.handovers[i]
	}
	return ""
}

// readRun reads a session of the command line and its sub-agents.
func (r *sessionReader) readRun(name string) {
	id := runID(name)
	about := readObject(r.p.FS, path.Join(path.Dir(name), id+".json"))
	t := r.newTalk(id)
	t.readManifest(about)
	var names []string
	for _, agent := range agentFiles(r.p.FS, name) {
		names = append(names, strings.TrimPrefix(runID(agent), "agent_"))
	}
	t.agents = names
	if r.readFile(t, name); r.gone {
		return
	}
	for i, agent := range agentFiles(r.p.FS, name) {
		a := r.newTalk(id + "/" + runID(agent))
		a.agent = &transcript.AgentOf{Source: id}
		if i < len(names) {
			a.agent.CallID = t.started[names[i]]
		}
		a.folder = t.folder
		a.meta = map[string]any{"kind": "agent"}
		if r.readFile(a, agent); r.gone {
			return
		}
	}
}

// readManifest takes what a run's manifest says.
func (t *talkReader) readManifest(f map[string]json.RawMessage) {
	t.title = readText(objectFields(f["metadata"])["title"])
	t.folder = readText(f["cwd"])
	t.conv.Model = readText(f["model"])
	if t.folder == "" {
		t.folder = readText(f["workspace_root"])
	}
	if t.title == "" {
		t.title = readText(f["prompt"])
	}
	t.meta = map[string]any{"kind": "session", "provider": readText(f["provider"]), "status": readText(f["status"])}
}

// talkReader is a conversation while it is read.
type talkReader struct {
	r             *sessionReader
	source        string
	agent         *transcript.AgentOf
	conv          scrollback.Conversation
	title, folder string
	meta          map[string]any
	begun         bool
	left          map[string]int
	held          bool
	ended         bool // nothing can be read behind the messages: they were damaged

	clock   requestClock
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

func (r *sessionReader) newTalk(source string) *talkReader {
	return &talkReader{r: r, source: source, left: map[string]int{}, calls: map[string]string{},
		started: map[string]string{}}
}

// readFile reads the messages of a conversation and ends it.
func (r *sessionReader) readFile(t *talkReader, name string) {
	f, err := r.p.FS.Open(name)
	if err != nil {
		r.failWith(err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	t.finishTalk(t.readDocument(f))
}

// finishTalk ends a conversation, with what is wrong with its file, or nil.
func (t *talkReader) finishTalk(fault *transcript.Bad) {
	r := t.r
	t.describeTalk()
	if fault != nil {
		if t.held = r.live; !t.held {
			r.emitEntry(transcript.Entry{Bad: fault})
		}
	}
	for kind, n := range t.left {
		if n == 0 {
			delete(t.left, kind)
		}
	}
	r.emitEntry(transcript.Entry{Source: t.source, End: &transcript.End{Held: t.held, Left: t.left}})
}

// readDocument reads a file that is a list of messages or an object that has one, and returns
// what is wrong with it.
func (t *talkReader) readDocument(f io.Reader) *transcript.Bad {
	in := bufio.NewReader(transcript.DecodeUTF8(f))
	head, err := in.Peek(512)
	if err != nil && !transcript.IsEnd(err) {
		t.r.failWith(err)
		return nil
	}
	if head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), " \t\r\n"); len(head) == 0 || head[0] != '{' {
		return t.readList(transcript.NewList(in, transcript.MaxLine))
	}
	d := transcript.NewDocument(in, transcript.MaxLine)
	for {
		name, err := d.Next()
		switch {
		case transcript.IsEnd(err):
			return nil
		case err != nil:
			return t.explainFault(d, err)
		case name == "messages":
			if bad := t.readList(d); bad != nil || t.ended || t.held || t.r.gone {
				return bad
			}
			continue
		}
		raw, err := d.Value()
		if err != nil {
			return t.explainFault(d, err)
		}
		if name == "system_prompt" && readText(raw) != "" {
			t.left["system prompt"]++
		}
	}
}

// explainFault returns what is wrong with a file; if it could not be read, reading ends.
func (t *talkReader) explainFault(d *transcript.Document, err error) *transcript.Bad {
	bad, ours := d.ExplainFault(err)
	if !ours {
		t.r.failWith(err)
		return nil
	}
	return &bad
}

func (t *talkReader) readList(d *transcript.Document) *transcript.Bad {
	damaged := false
	for raw, err := range d.Items() {
		if err != nil {
			bad := t.explainFault(d, err)
			if bad == nil || t.r.live { // it is being written, perhaps
				return bad
			}
			t.r.emitEntry(transcript.Entry{Bad: bad})
			damaged = true
			continue
		}
		if err := t.r.ctx.Err(); err != nil {
			t.r.failWith(err)
			break
		}
		t.line = d.CurrentLine()
		if !t.readElement(raw) || t.r.gone {
			break
		}
	}
	t.ended = damaged
	return nil
}

// describeTalk describes the conversation, before its first message.
func (t *talkReader) describeTalk() {
	if t.begun {
		return
	}
	t.begun = true
	c := t.conv
	c.Title = firstLine(t.title)
	c.CreatedAt = t.last
	c.UpdatedAt = max(t.last, t.r.changed)
	if t.meta == nil {
		t.meta = map[string]any{}
	}
	t.meta["cwd"] = t.folder
	c.Meta = toolMeta(t.meta)
	t.r.emitEntry(transcript.Entry{
		Source: t.source, Conversation: &c, Agent: t.agent, Origin: &scrollback.Origin{ID: t.source, Folder: t.folder},
	})
}
