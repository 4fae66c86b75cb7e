package transfer_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// talk is a conversation of a tool, as a value.
type talk struct {
	ID, Folder, Git, Title string
	Nodes                  []node
	Leaf                   string
	Agents                 []talk // sub-agents
	Call                   string // of a sub-agent
	Held                   bool
	Cut                    bool // reading fails at its end
	NoEnd                  bool
}

// node is a message of a talk. One that used tokens is an answer.
type node struct {
	ID, Parent, Text string
	Used             int64 `json:",omitempty"`
}

// files are the sessions of a tool, each with its talks, by name.
type files map[string][]talk

func (files) Name() string                        { return "talks" }
func (files) Homes(transcript.Machine) []string   { return nil }
func (files) Sniff(name string, head []byte) bool { return strings.HasPrefix(string(head), "talks:") }

func (f files) Sessions(context.Context, transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range f {
				if !yield(name) {
					return
				}
			}
		}) {
			if !yield(f.session(name), nil) {
				return
			}
		}
	}
}

func (f files) session(name string) transcript.Session {
	raw, _ := json.Marshal(f[name])
	sum := sha256.Sum256(raw)
	return transcript.Session{ID: name, Name: name, Bytes: int64(len(raw)), Stamp: hex.EncodeToString(sum[:])}
}

func (f files) Read(_ context.Context, _ transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for _, t := range f[s.Name] {
			if !t.read(nil, yield) {
				return
			}
		}
	}
}

// read yields a talk, and its sub-agents behind its first entry.
func (t talk) read(of *transcript.AgentOf, yield func(transcript.Entry, error) bool) bool {
	c := scrollback.Conversation{Title: t.Title, Meta: json.RawMessage(`{"talks":{"cwd":"` + t.Folder + `"}}`)}
	o := scrollback.Origin{ID: t.ID, Folder: t.Folder, GitBranch: t.Git}
	if len(t.Nodes) > 0 {
		o.Root = t.Nodes[0].ID
	}
	if !yield(transcript.Entry{Source: t.ID, Conversation: &c, Origin: &o, Agent: of}, nil) {
		return false
	}
	for _, a := range t.Agents {
		if !a.read(&transcript.AgentOf{Source: t.ID, CallID: a.Call}, yield) {
			return false
		}
	}
	nodes := make([]tree.Node, len(t.Nodes))
	for i, n := range t.Nodes {
		sum := sha256.Sum256([]byte(n.ID))
		role := scrollback.RoleUser
		if sum[1]%2 == 1 {
			role = scrollback.RoleAssistant
		}
		m := scrollback.Message{ID: scrollback.MessageID(n.ID), Role: role, Parts: enginetest.Say(n.Text),
			CreatedAt: 1_700_000_000_000 + int64(sum[0])*1000}
		if n.Used > 0 {
			m.Role = scrollback.RoleAssistant
			m.Model = "openai/gpt-5"
			m.Usage = &scrollback.Usage{InputTokens: n.Used, OutputTokens: 10, TotalTokens: n.Used + 10}
		}
		nodes[i] = tree.Node{ID: n.ID, Parent: n.Parent, Entries: []transcript.Entry{{Message: m}}}
	}
	for e := range tree.WalkEntries(t.ID, nodes, t.Leaf) {
		if !yield(e, nil) {
			return false
		}
	}
	if t.Cut {
		return yield(transcript.Entry{}, errors.New("the disk is on fire"))
	}
	return t.NoEnd || yield(transcript.Entry{Source: t.ID,
		End: &transcript.End{Held: t.Held, Left: map[string]int{"mode": 1}}}, nil)
}

// path returns what a talk says from its beginning to a node.
func (t talk) path(id string) (out []string) {
	for id != "" {
		i := slices.IndexFunc(t.Nodes, func(n node) bool { return n.ID == id })
		out = append(out, t.Nodes[i].Text)
		id = t.Nodes[i].Parent
	}
	slices.Reverse(out)
	return out
}

// paths returns what a talk says along each of its branches.
func (t talk) paths() (out []string) {
	for _, n := range t.Nodes {
		if !slices.ContainsFunc(t.Nodes, func(o node) bool { return o.Parent == n.ID }) {
			out = append(out, strings.Join(t.path(n.ID), " "))
		}
	}
	slices.Sort(out)
	return out
}

// line returns a talk without branches.
func line(id string, texts ...string) talk {
	t := talk{ID: id}
	for i, text := range texts {
		n := node{ID: fmt.Sprint("n", i, text), Text: text}
		if i > 0 {
			n.Parent = t.Nodes[i-1].ID
		}
		t.Nodes = append(t.Nodes, n)
		t.Leaf = n.ID
	}
	return t
}

// home is a rig into which a tool's sessions are brought.
type home struct {
	*enginetest.Rig
	place transcript.Place
}

func newHome(t *testing.T) *home {
	r := enginetest.New(t, enginetest.Options{NoFolds: true, NoTitleCalls: true}, modeltest.Say("x"))
	return &home{r, transcript.Place{Path: "/home/me/.talks", Name: "."}}
}

func (h *home) try(f files, name string, q transfer.ImportRequest) (transfer.ImportResult, error) {
	return h.Transfer.ImportSession(context.Background(), h.View,
		transfer.Session{Tool: f, Place: h.place, Session: f.session(name)}, q)
}

func (h *home) bring(f files, name string) transfer.ImportResult {
	h.T.Helper()
	out, err := h.try(f, name, transfer.ImportRequest{})
	if err != nil {
		h.T.Fatal(err)
	}
	return out
}

// of returns the origin of a talk that is here.
func (h *home) of(id string) scrollback.Origin {
	h.T.Helper()
	all, err := h.Transfer.Origins(context.Background(), h.View, transfer.OriginQuery{Tool: "talks", ID: id})
	if err != nil || len(all) != 1 {
		h.T.Fatalf("%d origins of %s, %v", len(all), id, err)
	}
	return all[0]
}

// whole reports whether all that a session has is here as it is now: the origins of its file
// that are not gone have its stamp.
func (h *home) whole(f files, name string) bool {
	h.T.Helper()
	all, err := h.Transfer.Origins(context.Background(), h.View,
		transfer.OriginQuery{Place: "/home/me/.talks", Name: name})
	if err != nil {
		h.T.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(o scrollback.Origin) bool { return o.GoneAt != 0 })
	return len(all) > 0 && !slices.ContainsFunc(all,
		func(o scrollback.Origin) bool { return o.Stamp != f.session(name).Stamp })
}

// says returns what the current path of a conversation says, and what each of its branches says.
func (h *home) says(id scrollback.ConversationID) (path string, all []string) {
	h.T.Helper()
	ctx := context.Background()
	c, err := h.Get(ctx, id)
	if err != nil {
		h.T.Fatal(err)
	}
	branches, err := h.Branches().List(ctx, id)
	if err != nil {
		h.T.Fatal(err)
	}
	read := func(b scrollback.BranchID) string {
		var texts []string
		for after := int64(0); ; {
			page, err := h.Turns().Page(ctx, id, scrollback.PageQuery{Branch: b, After: &after, Limit: scrollback.ListMax})
			if err != nil {
				h.T.Fatal(err)
			}
			for _, m := range page.Messages {
				texts = append(texts, m.Parts.Text())
			}
			if page.Next == nil {
				return strings.Join(texts, " ")
			}
			after = *page.Next
		}
	}
	path = read(c.Branch)
	for _, b := range branches {
		all = append(all, read(b.ID))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return path, slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		return p == "" || slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, p+" ") })
	})
}

// has fails unless the conversation of a talk says what the talk says.
func (h *home) has(t talk) {
	h.T.Helper()
	path, all := h.says(h.of(t.ID).Conversation)
	if d := cmp.Diff(strings.Join(t.path(t.Leaf), " "), path); d != "" {
		h.T.Fatalf("the path of %s (-talk +here):\n%s", t.ID, d)
	}
	if c, err := h.Get(context.Background(), h.of(t.ID).Conversation); err != nil {
		h.T.Fatal(err)
	} else if c.Parent != nil { // there are branches that both have
		var more []string
		if _, err := h.Get(context.Background(), c.Parent.ID); err == nil {
			_, more = h.says(c.Parent.ID)
		}
		for _, p := range t.paths() {
			if !slices.ContainsFunc(append(more, all...), func(o string) bool { return strings.HasPrefix(o+" ", p+" ") }) {
				h.T.Fatalf("a branch of %s, %q, is neither here, %q, nor there, %q", t.ID, p, all, more)
			}
		}
	} else if d := cmp.Diff(t.paths(), all); d != "" {
		h.T.Fatalf("the branches of %s (-talk +here):\n%s", t.ID, d)
	}
}

// drawTalk returns a random tree: each node is some earlier one's child, or another beginning.
func drawTalk(t *rapid.T, id string, from []node) talk {
	out := talk{ID: id, Nodes: slices.Clone(from)}
	for i := range rapid.IntRange(1, 9).Draw(t, "nodes of "+id) {
		n := node{ID: fmt.Sprintf("%s-%d", id, i), Text: fmt.Sprintf("%s%d", id, i)}
		if len(out.Nodes) > 0 {
			up := len(out.Nodes) - 1
			if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
				up = rapid.IntRange(0, len(out.Nodes)-1).Draw(t, "parent")
			}
			n.Parent = out.Nodes[up].ID
		}
		out.Nodes = append(out.Nodes, n)
	}
	out.Leaf = out.Nodes[len(out.Nodes)-1].ID
	if rapid.IntRange(0, 3).Draw(t, "went back") == 0 {
		out.Leaf = out.Nodes[rapid.IntRange(0, len(out.Nodes)-1).Draw(t, "leaf")].ID
	}
	return out
}

// first returns the beginning of a talk as it once was.
func (t talk) first(n int) talk {
	t.Nodes = t.Nodes[:n]
	if !slices.ContainsFunc(t.Nodes, func(o node) bool { return o.ID == t.Leaf }) {
		t.Leaf = t.Nodes[n-1].ID
	}
	return t
}

// Whatever was imported of a source while it grew, in the end it is as if all of it had been
// imported at once; and again changes nothing.
func TestBringGrows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHome(t)
		whole := drawTalk(rt, "a", nil)
		for n := 1; n <= len(whole.Nodes); n++ {
			if n < len(whole.Nodes) && rapid.Bool().Draw(rt, "skipped") {
				continue
			}
			part := whole.first(n)
			if n < len(whole.Nodes) && rapid.Bool().Draw(rt, "stood elsewhere") {
				part.Leaf = part.Nodes[rapid.IntRange(0, n-1).Draw(rt, "stood at")].ID
			}
			h.bring(files{"s": {part}}, "s")
			h.has(part)
			if again := h.bring(files{"s": {part}}, "s"); again.Conversations[0].Messages != 0 ||
				again.Conversations[0].Created {
				t.Fatalf("again: %+v", again)
			}
			h.has(part)
		}
	})
}

// Of a session that copies the beginning of another only what it adds is written: nothing if
// it adds nothing, else all but what its current path shares.
func TestBringForksAreNotCopies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHome(t)
		two := drawFork(rt)
		if rapid.Bool().Draw(rt, "the copy first") {
			slices.Reverse(two)
		}
		first := two[0]
		second := two[1]
		h.bring(files{"s": {first}}, "s")
		known := func(n node) bool { return slices.Contains(first.Nodes, n) }
		shared := 0
		for _, text := range second.path(second.Leaf) {
			if i := slices.IndexFunc(second.Nodes, func(n node) bool { return n.Text == text }); !known(second.Nodes[i]) {
				break
			}
			shared++
		}
		entire := !slices.ContainsFunc(second.Nodes, func(n node) bool { return !known(n) })
		want := int64(len(second.Nodes) - shared)
		if entire {
			want = 0
		}
		out := h.bring(files{"t": {second}}, "t")
		o := h.of(second.ID)
		if got := out.Conversations[0]; got.Messages != want || o.Shared != entire || got.ID != o.Conversation ||
			got.Created == entire {
			t.Fatalf("%d of %d shared, entire %v: %+v, %+v", shared, len(second.Nodes), entire, got, o)
		}
		c, err := h.Get(context.Background(), o.Conversation)
		if err != nil {
			t.Fatal(err)
		}
		of := h.of(first.ID).Conversation
		forked := c.Parent != nil && c.Parent.ID == of && c.Parent.Seq == int64(shared)
		if entire != (c.ID == of) || !entire && !forked {
			t.Fatalf("%d shared with %s: %+v", shared, of, c)
		}
	})
}

// drawFork returns a talk, and one that begins as it does.
func drawFork(t *rapid.T) []talk {
	a := drawTalk(t, "a", nil)
	path := slices.DeleteFunc(slices.Clone(a.Nodes), func(n node) bool { return !slices.Contains(a.path(a.Leaf), n.Text) })
	return []talk{a, drawTalk(t, "b", path[:rapid.IntRange(1, len(path)).Draw(t, "copied")])}
}

// Sessions that copy the beginning of another, under its ids, whichever comes first and however
// they grow, each say what they say.
func TestBringForks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHome(t)
		two := drawFork(rt)
		f := files{"a": {two[0]}, "b": {two[1]}}
		order := rapid.Permutation([]string{"a", "b"}).Draw(rt, "order")
		for _, name := range order {
			all := f[name][0]
			for range rapid.IntRange(0, 2).Draw(rt, "steps") {
				part := all.first(rapid.IntRange(1, len(all.Nodes)).Draw(rt, "grown"))
				part.Leaf = part.Nodes[rapid.IntRange(0, len(part.Nodes)-1).Draw(rt, "stood at")].ID
				h.bring(files{name: {part}}, name)
			}
		}
		for _, name := range order {
			h.bring(f, name)
		}
		for _, name := range order {
			talk := f[name][0]
			o := h.of(talk.ID)
			if !o.Shared {
				h.has(talk)
			} else if path, all := h.says(o.Conversation); !strings.HasPrefix(path+" ",
				strings.Join(talk.path(talk.Leaf), " ")+" ") &&
				!slices.ContainsFunc(all, func(p string) bool {
					return strings.HasPrefix(p+" ", strings.Join(talk.path(talk.Leaf), " ")+" ")
				}) {
				t.Fatalf("%s is not in the conversation that it shares: %q", name, all)
			}
			if again := h.bring(f, name); again.Conversations[0].Messages != 0 {
				t.Fatalf("again: %+v", again)
			}
		}
	})
}
