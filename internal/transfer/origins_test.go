package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
)

// What a source says of itself is stored, and what it leaves out is counted.
func TestOriginOfASession(t *testing.T) {
	h := newHome(t)
	a := line("a", "one", "two")
	a.Folder = "/home/me/work"
	a.Git = "feature/x"
	a.Title = "A talk"
	f := files{"2026/a.talk": {a}}
	out := h.bring(f, "2026/a.talk")
	got := h.of("a")
	want := scrollback.Origin{Tool: "talks", ID: "a", Conversation: out.Conversations[0].ID, Root: "n0one",
		Folder: "/home/me/work", GitBranch: "feature/x",
		Place: "/home/me/.talks", Name: "2026/a.talk", Stamp: f.session("2026/a.talk").Stamp, ImportedAt: h.Clock.Load()}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the origin (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"mode": 1}, out.Left); d != "" || out.Held {
		t.Errorf("left out: %s, held %v", d, out.Held)
	}
	c, err := h.Get(context.Background(), got.Conversation)
	if err != nil || c.Title != "A talk" || string(c.Meta) != `{"talks":{"cwd":"/home/me/work"}}` ||
		c.Project != scrollback.DefaultProject {
		t.Errorf("%+v, %v", c, err)
	}
	h.Clock.Add(1000)
	h.bring(f, "2026/a.talk")
	if d := cmp.Diff(want, h.of("a")); d != "" {
		t.Errorf("again (-want +got):\n%s", d)
	}
}

// A session is here whole when its stamp is: not while something is held back, and not after
// its reading failed, which the next import continues.
func TestStampsOfSessions(t *testing.T) {
	h := newHome(t)
	stamp := func(f files, want bool) {
		t.Helper()
		if whole := h.whole(f, "s"); whole != want {
			t.Errorf("here whole: %v, want %v", whole, want)
		}
	}
	a := line("a", "one", "two")
	b := line("b", "three")
	c := line("c", "four")
	held := b
	held.Held = true
	f := files{"s": {a, held}}
	if out := h.bring(f, "s"); !out.Held {
		t.Errorf("%+v", out)
	}
	stamp(f, false)
	main := line("main", "five")
	main.Agents = []talk{line("sub", "six")}
	main.Agents[0].Held = true
	g := files{"main": {main}}
	h.bring(g, "main")
	if o := h.of("main"); o.Stamp != "" || o.GoneAt != 0 {
		t.Errorf("a part of its sub-agent waits, and it is here whole: %+v", o)
	}
	cut := b
	cut.Cut = true
	f = files{"s": {a, cut, c}}
	out, err := h.try(f, "s", transfer.ImportRequest{})
	if enginetest.WantCode(t, err, scrollback.Unavailable, "the disk is on fire"); len(out.Conversations) != 2 {
		t.Errorf("cut off: %+v", out)
	}
	stamp(f, false)
	f = files{"s": {a, b, c}}
	h.bring(f, "s")
	stamp(f, true)
	for _, talk := range f["s"] {
		h.has(talk)
	}
	c.NoEnd = true // at the end of what is read everything ends
	f = files{"s": {a, b, c}}
	h.bring(f, "s")
	stamp(f, true)
}

// A conversation that its file no longer has is kept, and marked until it comes back; so is
// one whose file is gone.
func TestGoneAndBack(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	a := line("a", "one")
	b := line("b", "two")
	both := files{"s": {a, b}}
	one := files{"s": {a}}
	h.bring(both, "s")
	gone := func(id string, want bool) {
		t.Helper()
		if o := h.of(id); (o.GoneAt != 0) != want {
			t.Errorf("%s: %+v", id, o)
		}
	}
	h.bring(one, "s")
	gone("a", false)
	gone("b", true)
	h.has(b)
	if !h.whole(one, "s") {
		t.Error("without what is gone the session is here whole")
	}
	h.bring(both, "s")
	gone("b", false)

	at := h.Clock.Add(5)
	if err := h.Transfer.MarkGone(ctx, h.View, []scrollback.Origin{h.of("a")}, at); err != nil || h.of("a").GoneAt != at {
		t.Errorf("%+v, %v", h.of("a"), err)
	}
	if !h.whole(both, "s") {
		t.Error("what is gone changes the session's stamp")
	}
	h.bring(both, "s")
	gone("a", false)
	stranger := h.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"theirs"}})
	err := h.Transfer.MarkGone(ctx, stranger, []scrollback.Origin{h.of("a")}, at)
	enginetest.WantCode(t, err, scrollback.NotFound, "")
	gone("a", false)
	if all, err := h.Transfer.Origins(ctx, stranger, transfer.OriginQuery{}); err != nil || len(all) != 0 {
		t.Errorf("of others: %v, %v", all, err)
	}
	named := transfer.OriginQuery{Projects: []string{scrollback.DefaultProject}}
	if all, err := h.Transfer.Origins(ctx, stranger, named); err != nil || len(all) != 0 {
		t.Errorf("of a project of others: %v, %v", all, err)
	}
	_, err = h.Transfer.Origins(ctx, h.Engine.As(scrollback.Caller{}), transfer.OriginQuery{})
	enginetest.WantCode(t, err, scrollback.Refused, "")
}

// A conversation is where it was first brought: another project later makes no second one,
// but another caller, who does not see it, has one of its own.
func TestBringElsewhere(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	f := files{"s": {line("a", "one")}}
	first, err := h.try(f, "s", transfer.ImportRequest{Project: "here"})
	if err != nil {
		t.Fatal(err)
	}
	f = files{"s": {line("a", "one", "two")}}
	second, err := h.try(f, "s", transfer.ImportRequest{Project: "there"})
	if err != nil || second.Conversations[0].ID != first.Conversations[0].ID || second.Conversations[0].Messages != 1 {
		t.Errorf("%+v, then %+v, %v", first, second, err)
	}
	other := h.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"theirs"}})
	s := transfer.Session{Tool: f, Place: h.place, Session: f.session("s")}
	third, err := h.Transfer.ImportSession(ctx, other, s, transfer.ImportRequest{})
	if err != nil || third.Conversations[0].ID == first.Conversations[0].ID || third.Conversations[0].Messages != 2 {
		t.Errorf("of another: %+v, %v", third, err)
	}
	reader := h.Engine.As(scrollback.Caller{Access: scrollback.AccessRead, AllProjects: true})
	_, err = h.Transfer.ImportSession(ctx, reader, s, transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Refused, "")
}

// What somebody else has uploaded is not what is brought from its place, whichever of both
// stands first.
func TestBringBesideAnUpload(t *testing.T) {
	h := newHome(t)
	other := h.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"theirs"}})
	for n := range 8 {
		id := fmt.Sprint("talk ", n)
		first := h.bring(files{id: {line(id, id+" one")}}, id).Conversations[0].ID
		f := files{id: {line(id, id+" one")}}
		upload := transfer.Session{Tool: f, Session: f.session(id)}
		if _, err := h.Transfer.ImportSession(context.Background(), other, upload, transfer.ImportRequest{}); err != nil {
			t.Fatal(err)
		}
		if out := h.bring(files{id: {line(id, id+" one", id+" two")}}, id); out.Conversations[0].ID != first {
			t.Errorf("%s: another conversation grew", id)
		}
	}
}

// What was put in the trash or purged here stays there, with its sub-agents, until somebody
// names its file.
func TestBringDeleted(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	a := line("a", "one")
	a.Agents = []talk{line("agent", "sub")}
	f := files{"s": {a, line("b", "two")}, "t": {line("c", "three")}}
	h.bring(f, "s")
	h.bring(f, "t")
	refused := func(name, what string) {
		t.Helper()
		out, err := h.try(f, name, transfer.ImportRequest{})
		if !errors.Is(err, transfer.ErrDeleted) || scrollback.CodeOf(err) != scrollback.Conflict ||
			len(out.Conversations) != 0 {
			t.Errorf("%s: %+v, %v", what, out, err)
		}
	}
	for _, id := range []string{"a", "c"} {
		if _, err := h.Trash(ctx, h.of(id).Conversation); err != nil {
			t.Fatal(err)
		}
	}
	refused("t", "in the trash")
	out := h.bring(f, "s")
	if out.Deleted != 2 || len(out.Conversations) != 1 || out.Conversations[0].ID != h.of("b").Conversation {
		t.Errorf("a part of it in the trash: %+v", out)
	}
	all, err := h.Transfer.Origins(ctx, h.View, transfer.OriginQuery{Trash: true})
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, o := range all {
		if o.ID != "b" && o.ID != "agent" {
			if _, err := h.Purge(ctx, o.Conversation); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all, err = h.Transfer.Origins(ctx, h.View, transfer.OriginQuery{Trash: true}); err != nil || len(all) != 1 {
		t.Fatalf("after the purge: %v, %v", all, err)
	}
	refused("t", "purged")
	for caller, want := range map[*scrollback.Caller]bool{{Access: scrollback.AccessWrite,
		Projects: []string{"theirs"}}: false,
		{Access: scrollback.AccessWrite, Projects: []string{scrollback.DefaultProject}}: true,
		{Access: scrollback.AccessWrite}:                                                false} {
		if was, err := h.Transfer.WasDeleted(context.Background(), h.Engine.As(*caller), "talks", "c"); err != nil ||
			was != want {
			t.Errorf("purged, asked for %v: %v, %v", caller.Projects, was, err)
		}
	}
	if out := h.bring(f, "s"); out.Deleted != 2 || len(out.Conversations) != 1 {
		t.Errorf("a part of it purged: %+v", out)
	}
	again, err := h.try(f, "t", transfer.ImportRequest{Again: true})
	if err != nil || again.Conversations[0].Messages != 1 {
		t.Errorf("brought back: %+v, %v", again, err)
	}
	h.has(f["t"][0])
	h.bring(f, "t")
}

// A session that was deleted here is read no further than to know it.
func TestBringDeletedReadsLittle(t *testing.T) {
	h := newHome(t)
	f := files{"a": {line("a", "one", "two")}}
	h.bring(f, "a")
	if _, err := h.Trash(context.Background(), h.of("a").Conversation); err != nil {
		t.Fatal(err)
	}
	f["a"][0].Cut = true // reading to the end fails
	if _, err := h.try(f, "a", transfer.ImportRequest{}); !errors.Is(err, transfer.ErrDeleted) {
		t.Errorf("%v", err)
	}
}

// A purged conversation from which another inherits can be brought back too.
func TestBringBackBesideAnHeir(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	f := files{"s": {line("a", "one", "two")}, "t": {line("b", "one", "two", "three")}}
	h.bring(f, "s")
	h.bring(f, "t")
	if _, err := h.Purge(ctx, h.of("a").Conversation); err != nil {
		t.Fatal(err)
	}
	h.has(f["t"][0])
	out, err := h.try(f, "s", transfer.ImportRequest{Again: true})
	if err != nil || out.Conversations[0].ID != h.of("b").Conversation || !h.of("a").Shared {
		t.Errorf("all of it is in the other: %+v, %v", out, err)
	}
	f["s"] = []talk{line("a", "one", "two", "four")}
	out = h.bring(f, "s")
	if out.Conversations[0].Messages != 1 {
		t.Errorf("%+v", out)
	}
	h.has(f["s"][0])
}

// Sub-agents are conversations that work for that of their session, at whatever depth; they
// are in its project, and grow and go with it.
func TestBringAgents(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	deep := line("deep", "deeper")
	deep.Call = "call-2"
	sub := line("sub", "look there", "I looked")
	sub.Call = "call-1"
	sub.Agents = []talk{deep}
	a := line("a", "one", "two")
	a.Agents = []talk{sub}
	out, err := h.try(files{"s": {a}}, "s", transfer.ImportRequest{Project: "p"})
	if err != nil || len(out.Conversations) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	parent := h.of("a").Conversation
	child := h.of("sub").Conversation
	below := h.of("deep").Conversation
	for id, want := range map[scrollback.ConversationID]*scrollback.AgentRef{parent: nil,
		child: {ID: parent, CallID: "call-1"},
		below: {ID: child, CallID: "call-2"}} {
		c, err := h.Get(ctx, id)
		if d := cmp.Diff(want, c.AgentOf); d != "" || err != nil || c.Project != "p" {
			t.Errorf("%+v, %v: %s", c, err, d)
		}
	}
	sub = line("sub", "look there", "I looked", "and again")
	sub.Agents = []talk{deep}
	a.Agents = []talk{sub}
	if out := h.bring(files{"s": {a}}, "s"); len(out.Conversations) != 3 || h.of("sub").Conversation != child {
		t.Errorf("grown: %+v", out)
	}
	for _, talk := range []talk{a, sub, deep} {
		h.has(talk)
	}
	// A copy of the session has the same sub-agent, and its own parent.
	b := line("b", "one", "two", "three")
	b.Agents = []talk{{ID: "sub of b", Call: "call-1", Nodes: sub.Nodes, Leaf: sub.Leaf}}
	h.bring(files{"s": {b}}, "s")
	if o := h.of("sub of b"); o.Conversation != child || !o.Shared {
		t.Errorf("%+v", o)
	}
	if _, err := h.Purge(ctx, parent); err != nil {
		t.Fatal(err)
	}
	all, err := h.Transfer.Origins(ctx, h.View, transfer.OriginQuery{Trash: true})
	if err != nil || len(all) != 1 || all[0].ID != "b" {
		t.Errorf("after the purge: %+v, %v", all, err)
	}
}

// Each working folder has a project of its own, whose name stays.
func TestProjectsByFolder(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	if _, _, err := h.Create(ctx, scrollback.Conversation{Project: "mine"}); err != nil {
		t.Fatal(err)
	}
	project := func(id, folder, want string) {
		t.Helper()
		a := line(id, "one of "+id)
		a.Folder = folder
		a.Agents = []talk{{ID: "agent of " + id, Folder: "/elsewhere", Nodes: []node{{ID: id + "x", Text: "x"}}}}
		f := files{id: {a}}
		if _, err := h.try(f, id, transfer.ImportRequest{ByFolder: true}); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{id, "agent of " + id} {
			c, err := h.Get(ctx, h.of(id).Conversation)
			if err != nil || !strings.HasPrefix(c.Project, want) || want == "" && c.Project != scrollback.DefaultProject {
				t.Errorf("%s of %s is in %q, want %q, %v", id, folder, c.Project, want, err)
			}
		}
	}
	project("1", "/home/me/web", "web")
	project("2", "/home/me/web", "web")
	project("3", "/work/web", "work web")
	project("4", "/other/work/web", "web-")
	project("5", "/home/me/web", "web")
	project("6", "/work/web", "work web")
	project("7", "/home/me/mine", "me mine")
	project("8", "", "")
	project("9", "/", "/")
	project("10", `C:\Users\me\site`, "site")
	project("11", "/srv/default", "srv default")
	project("12", "/"+strings.Repeat("数", 300), strings.Repeat("数", 30))
	project("13", "/home/me/web/", "web")
	project("14", "/home/you/../me/web", "web")
	project("15", `C:\Users\me\site\`, "site")
	all, err := h.Projects().List(ctx)
	if err != nil || len(all) != 10 {
		t.Errorf("%d projects, %v: %+v", len(all), err, all)
	}
	f := files{"z": {line("z", "z")}}
	f["z"][0].Folder = "/home/me/web"
	if _, err := h.try(f, "z", transfer.ImportRequest{ByFolder: true, Project: "named"}); err != nil {
		t.Fatal(err)
	}
	if c, err := h.Get(ctx, h.of("z").Conversation); err != nil || c.Project != "named" {
		t.Errorf("%+v, %v", c, err)
	}
}

// The same session brought several times at once comes in once, and so do forks.
func TestBringAtOnce(t *testing.T) {
	h := newHome(t)
	texts := make([]string, 600)
	for i := range texts {
		texts[i] = fmt.Sprint("line-", i)
	}
	a := line("a", texts...)
	b := line("b", append(slices.Clone(texts[:300]), "else", "where")...)
	f := files{"a": {a}, "b": {b}}
	h.bring(f, "a")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if _, err := h.try(f, []string{"a", "b"}[i%2], transfer.ImportRequest{}); err != nil &&
				scrollback.CodeOf(err) != scrollback.Conflict {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	h.bring(f, "b")
	h.has(a)
	h.has(b)
	c, err := h.Get(context.Background(), h.of("b").Conversation)
	if err != nil || c.Parent == nil || c.Parent.Seq != 300 || c.Messages != 302 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A file of many conversations takes hardly more memory than one of them: those that have
// ended are forgotten, up to what the result says of them.
func TestBringManyInBoundedMemory(t *testing.T) {
	testlength.SkipShort(t)
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := enginetest.New(t, enginetest.Options{Driver: db, NoFolds: true, NoTitleCalls: true}, modeltest.Say("x"))
	f := &endless{n: testlength.Choose(900, 900, 1800)}
	out, err := r.Transfer.ImportSession(t.Context(), r.View,
		transfer.Session{Tool: f, Place: transcript.Place{Path: "/p", Name: "."},
			Session: transcript.Session{ID: "s", Name: "s", Stamp: "1"}}, transfer.ImportRequest{})
	if err != nil || len(out.Conversations) != f.n {
		t.Fatalf("%d conversations, %v", len(out.Conversations), err)
	}
	if each := (f.heap[1] - f.heap[0]) / int64(f.n*2/3); each > 4000 { // 7,000 if nothing is forgotten
		t.Errorf("each conversation that has ended still holds %d bytes", each)
	}
}

// endless is a tool whose session has many conversations. It measures the memory that is held
// after a third of them, and after all.
type endless struct {
	files
	n    int
	heap [2]int64
}

func (f *endless) Read(_ context.Context, _ transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for i := range f.n {
			if i == f.n/3 {
				f.heap[0] = held()
			}
			if !line(fmt.Sprint("talk ", i), fmt.Sprint("question ", i), fmt.Sprint("answer ", i)).read(nil, yield) {
				return
			}
		}
		f.heap[1] = held()
	}
}

// held returns how much memory is in use.
func held() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What looks like a secret is masked before it is compared, stored or searched, in what is
// new and in what is compared with others.
func TestBringMasked(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	secret := "ghp_" + "x7Kq29vLmZ3tRbY8wQe5" + "NcJd1FuHsA4gPo0i"
	a := line("a", "my token is "+secret, "thanks")
	b := line("b", "my token is "+secret, "thanks", "and more")
	f := files{"a": {a}, "b": {b}}
	for _, name := range []string{"a", "b", "b"} {
		out, err := h.try(f, name, transfer.ImportRequest{Mask: true})
		if err != nil || out.Masked != 1 {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
	}
	c, err := h.Get(ctx, h.of("b").Conversation)
	if err != nil || c.Parent == nil || c.Parent.Seq != 2 {
		t.Errorf("a fork: %+v, %v", c, err)
	}
	if path, _ := h.says(c.ID); strings.Contains(path, secret) || !strings.HasSuffix(path, "thanks and more") {
		t.Errorf("the path: %s", path)
	}
	found, err := h.Search(ctx, scrollback.SearchQuery{Query: secret[4:14]})
	if err != nil || len(found.Hits) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	out, err := h.Import(ctx, strings.NewReader(`{"role":"user","content":"token `+secret+`"}`),
		transfer.ImportRequest{Mask: true})
	if err != nil || out.Masked != 1 {
		t.Errorf("a file: %+v, %v", out, err)
	}
}

// A file of a tool can be imported like any other, also one that names no format, and brings
// back what was purged.
func TestImportOfAToolsFile(t *testing.T) {
	a := line("a", "one", "two")
	tool := files{"upload.talk": {a, line("b", "three")}}
	r := enginetest.New(t, enginetest.Options{NoFolds: true, NoTitleCalls: true, Tools: []transcript.Tool{tool}},
		modeltest.Say("x"))
	h := &home{r, transcript.Place{Path: "/home/me/.talks", Name: "."}}
	ctx := context.Background()
	read := func() io.ReadSeeker { return strings.NewReader("talks: whatever it says") }
	out, err := r.Import(ctx, read(), transfer.ImportRequest{Name: "upload.talk"})
	if err != nil || len(out.Conversations) != 2 || out.Conversations[0].Messages != 2 || out.Left["mode"] != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	h.has(a)
	if o := h.of("a"); o.Place != "" || o.Stamp != "" {
		t.Errorf("an upload has no place: %+v", o)
	}
	h.bring(tool, "upload.talk")
	placed := h.of("a")
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{Format: "talks"}); err != nil || count(out) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if d := cmp.Diff(placed, h.of("a")); d != "" {
		t.Errorf("an upload of what has a place (-before +after):\n%s", d)
	}
	if _, err := r.Purge(ctx, placed.Conversation); err != nil {
		t.Fatal(err)
	}
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{}); err != nil || count(out) != 0 || out.Deleted != 1 {
		t.Errorf("it was purged, and stays away: %+v, %v", out, err)
	}
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{Again: true}); err != nil || count(out) != 2 {
		t.Errorf("brought back: %+v, %v", out, err)
	}
	back := h.of("a").Conversation
	if back != stamp.AgainID(placed.Conversation) {
		t.Errorf("it comes back as %s", back)
	}
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{}); err != nil || count(out) != 0 || out.Deleted != 0 {
		t.Errorf("it is here again: %+v, %v", out, err)
	}
	if _, err := r.Purge(ctx, back); err != nil {
		t.Fatal(err)
	}
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{Again: true}); err != nil || count(out) != 2 {
		t.Errorf("brought back once more: %+v, %v", out, err)
	}
	if o := h.of("a"); o.Conversation != stamp.AgainID(back) {
		t.Errorf("it comes back as %s", o.Conversation)
	}
	if _, err := r.Trash(ctx, h.of("a").Conversation); err != nil {
		t.Fatal(err)
	}
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{}); err != nil || len(out.Conversations) != 1 ||
		out.Deleted != 1 {
		t.Errorf("one of two is in the trash: %+v, %v", out, err)
	}
	if _, err := r.Trash(ctx, h.of("b").Conversation); err != nil {
		t.Fatal(err)
	}
	_, err = r.Import(ctx, read(), transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Conflict, "in the trash: restore it first")
	into := r.NewConversation()
	if out, err = r.Import(ctx, read(), transfer.ImportRequest{Into: into}); err != nil ||
		out.Conversations[0].Total != 3 {
		t.Errorf("into one: %+v, %v", out, err)
	}
	_, err = r.Import(ctx, read(), transfer.ImportRequest{AsCopy: true})
	enginetest.WantCode(t, err, scrollback.Invalid, "only a bundle")
	_, err = r.Import(ctx, strings.NewReader("PK\x03\x04 and then nothing"), transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Invalid, "the zip is damaged")
	_, err = r.Import(ctx, strings.NewReader("nothing of anybody's"), transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Invalid, "talks")
}

func count(r transfer.ImportResult) (n int64) {
	for _, c := range r.Conversations {
		n += c.Messages
	}
	return n
}

// growing is a tool whose session has grown whenever it is read again.
type growing struct {
	files
	reads int
	steps []talk
}

func (g *growing) Read(ctx context.Context, p transcript.Place,
	s transcript.Session) iter.Seq2[transcript.Entry, error] {
	now := g.steps[min(g.reads, len(g.steps)-1)]
	g.reads++
	return files{s.Name: {now}}.Read(ctx, p, s)
}

// A session that is written while it is read loses nothing: what came too late comes next time,
// because its stamp is another by then.
func TestBringWhileItIsWritten(t *testing.T) {
	texts := []string{"one", "two", "three", "four", "five"}
	for split := range 5 {
		h := newHome(t)
		h.bring(files{"a": {line("a", texts...)}}, "a")
		whole := line("b", append(slices.Clone(texts[:4]), "else", "where")...)
		g := &growing{steps: []talk{whole.first(1 + split), whole.first(2 + split), whole}}
		for i := range 3 {
			s := transfer.Session{Tool: g, Place: h.place, Session: transcript.Session{ID: "b", Name: "b", Stamp: fmt.Sprint(i)}}
			if _, err := h.Transfer.ImportSession(context.Background(), h.View, s, transfer.ImportRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		h.has(whole)
		c, err := h.Get(context.Background(), h.of("b").Conversation)
		if err != nil || c.Parent == nil || c.Parent.Seq != 4 {
			t.Errorf("split %d: %+v, %v", split, c.Parent, err)
		}
	}
}

// An import that was cut off anywhere goes on where it ended, and a database that fails once
// loses and doubles nothing.
func TestBringCutOff(t *testing.T) {
	texts := []string{"one", "two", "three", "four"}
	a := line("a", texts...)
	b := line("b", append(slices.Clone(texts[:2]), "else")...)
	b.Agents = []talk{{ID: "agent", Call: "call", Nodes: []node{{ID: "z", Text: "z"}}, Leaf: "z"}}
	f := files{"a": {a}, "b": {b}}
	place := transcript.Place{Path: "/home/me/.talks", Name: "."}
	for at := int64(0); ; at++ {
		mem := oracle.New()
		faulty := &drivertest.Faulty{At: at / 2, Lost: at%2 == 1}
		o := enginetest.Options{Driver: mem, NoFolds: true, NoTitleCalls: true}
		h := &home{enginetest.New(t, o, modeltest.Say("x")), place}
		h.bring(f, "a")
		o.Driver = faulty.Wrap(mem)
		_, err := (&home{enginetest.New(t, o, modeltest.Say("x")), place}).try(f, "b", transfer.ImportRequest{})
		failed := faulty.Calls() > faulty.At
		h.bring(f, "b")
		h.has(b)
		h.has(b.Agents[0])
		if c, err := h.Get(context.Background(), h.of("b").Conversation); err != nil || c.Parent == nil ||
			c.Parent.Seq != 2 || c.Messages != 3 {
			t.Errorf("call %d: %+v, %v", at, c, err)
		}
		if !h.whole(f, "b") {
			t.Errorf("call %d: not all of it is here", at)
		}
		if !failed {
			if err != nil || at < 20 {
				t.Errorf("%d calls, %v", at, err)
			}
			return
		}
	}
}
