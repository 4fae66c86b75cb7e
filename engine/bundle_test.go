package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/doctor"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/drivertest"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlite"
	"github.com/scrollback-ai/scrollback/transfer"
)

// pack is the bundle of a conversation.
func (r *rig) pack(id scrollback.ConversationID, q transfer.ExportRequest) []byte {
	r.t.Helper()
	var out bytes.Buffer
	if err := r.Export(context.Background(), id, q, &out); err != nil {
		r.t.Fatal(err)
	}
	return out.Bytes()
}

func (r *rig) unpack(file []byte, q transfer.ImportRequest) (transfer.ImportResult, error) {
	return r.Import(context.Background(), bytes.NewReader(file), q)
}

// brings imports a bundle and wants a result of it.
func (r *rig) brings(file []byte, q transfer.ImportRequest, want string) transfer.Imported {
	r.t.Helper()
	out, err := r.unpack(file, q)
	if err != nil || len(out.Conversations) != 1 || out.Conversations[0].Result != want {
		r.t.Fatalf("imported %+v, %v; want it %s", out.Conversations, err, want)
	}
	return out.Conversations[0]
}

// healthy wants doctor to find nothing.
func (r *rig) healthy() {
	r.t.Helper()
	found, err := doctor.Check(context.Background(), r.store, r.archive, nil)
	if err != nil || !found.OK || len(found.Notes) > 0 {
		r.t.Fatalf("the check finds %+v %+v, %v", found.Problems, found.Notes, err)
	}
}

// recalls is what the recall tools answer of a conversation, all of it as JSON.
func (r *rig) recalls(id scrollback.ConversationID) string {
	r.t.Helper()
	ctx, out := context.Background(), strings.Builder{}
	show := func(what string, v any, err error) {
		if err != nil {
			v = scrollback.CodeOf(err)
		}
		b, jsonErr := json.Marshal(v)
		if jsonErr != nil {
			r.t.Fatal(jsonErr)
		}
		fmt.Fprintf(&out, "%s %s\n", what, b)
	}
	refs, cursor := []scrollback.RefEntry(nil), ""
	for {
		page, next, err := r.Refs(ctx, id, scrollback.RefQuery{Cursor: cursor, Limit: 7})
		show("list", page, err)
		refs = append(refs, page...)
		if cursor = next; cursor == "" {
			break
		}
	}
	for _, e := range refs {
		for at := int64(0); ; {
			page, err := r.Read(ctx, id, e.Ref, at, 4096)
			show("read "+string(e.Ref), page, err)
			if at = page.NextOffset; err != nil || page.Done {
				break
			}
		}
		tail, err := r.Tail(ctx, id, e.Ref, 9)
		show("tail", tail, err)
		found, err := r.Grep(ctx, id, scrollback.GrepQuery{Ref: e.Ref, Pattern: "tide|钥匙"})
		show("grep", found, err)
	}
	for _, pattern := range []string{"tide", "数据", "^output line 7", "history:"} {
		found, err := r.Grep(ctx, id, scrollback.GrepQuery{Pattern: pattern, ContextLines: 1})
		show("grep "+pattern, found, err)
	}
	for _, query := range []string{"tide", "数据库 钥匙", "output line", `"another way"`} {
		found, err := r.Search(ctx, scrollback.SearchQuery{Query: query, Conversation: id, Around: 1, Limit: 20})
		show("search "+query, found, err)
	}
	return out.String()
}

// rich is a conversation with folds, roll-ups, big outputs, Chinese text, attachments
// and branches, in a rig of its own.
func rich(t *testing.T) (*rig, scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	r := newRig(t, rigOptions{limit: 4000, noFolds: true}, modeltest.Say("an answer about the tide"))
	c, _, err := r.Create(ctx, scrollback.Conversation{Title: "钥匙 & keys", Instructions: "Be <brief>.", Limit: 4000,
		Meta: json.RawMessage(`{"a": {"b": 1}}`)})
	if err != nil {
		t.Fatal(err)
	}
	r.grow(c.ID, 60)
	if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Upload(ctx, c.ID, strings.NewReader("attached text about the tide"), "notes.txt"); err != nil {
		t.Fatal(err)
	}
	r.grow(c.ID, 40)
	if _, err := r.Rewind(ctx, c.ID, engine.Point{Seq: new(int64(33))}); err != nil {
		t.Fatal(err)
	}
	r.ask(c.ID, "another way to the 数据库").done(t, scrollback.TurnComplete, "stop")
	if _, err := r.Patch(ctx, c.ID, 0, func(c *scrollback.Conversation) error {
		c.PinnedSeqs, c.Settings.Pinned = []int64{1, 4}, true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return r, c.ID
}

// grow adds messages of many kinds, and folds what has become too much.
func (r *rig) grow(id scrollback.ConversationID, n int) {
	r.t.Helper()
	ctx := context.Background()
	var file strings.Builder
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&file, `{"role":"user","content":"question %d about the tide and the 数据库: where is the 钥匙? %s"}`+"\n", i,
				strings.Repeat("more words ", 12))
		case 1:
			fmt.Fprintf(&file, `{"role":"assistant","content":[{"type":"reasoning","text":"hm `+
				`%d"},{"type":"tool_call","id":"call-%d","name":"look","arguments":{"at":%d}}]}`+"\n", i, i, i)
		case 2:
			var output strings.Builder
			for line := range 3 + 700*(i%3/2) {
				fmt.Fprintf(&output, "output line %d of %d\\n", line, i)
			}
			fmt.Fprintf(&file, `{"role":"tool","content":[{"type":"tool_result","call_id":"call-%d","name":"look","text":"%s"}]}`+"\n", i-1,
				output.String())
		case 3:
			fmt.Fprintf(&file, `{"role":"assistant","content":"The <answer> %d & more. 潮水 %s"}`+"\n", i, strings.Repeat("tide ", i))
		}
	}
	r.clock.Add(1000)
	if _, err := r.Import(ctx, strings.NewReader(file.String()), transfer.ImportRequest{Into: id}); err != nil {
		r.t.Fatal(err)
	}
}

// Everything that can be read of a conversation is the same on another machine, on
// another database, and a bundle of it is the same file.
func TestBundleMoves(t *testing.T) {
	r, id := rich(t)
	file := r.pack(id, transfer.ExportRequest{})
	if again := r.pack(id, transfer.ExportRequest{}); !bytes.Equal(file, again) {
		t.Fatal("the same state gives another file")
	}
	db, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	far := newRig(t, rigOptions{driver: db, limit: 4000, noFolds: true}, modeltest.Say("from afar"))
	got := far.brings(file, transfer.ImportRequest{}, transfer.ResultCreated)
	if got.ID != id || !got.Created || got.Messages != 102 || got.Total != 35 {
		t.Fatalf("imported %+v", got)
	}
	far.healthy()
	if want, got := r.recalls(id), far.recalls(id); want != got || !strings.Contains(got, "history:") || !strings.Contains(got, "artifact:") {
		t.Fatalf("what can be recalled differs:\n%s", cmp.Diff(want, got))
	}
	if again := far.pack(id, transfer.ExportRequest{}); !bytes.Equal(file, again) {
		t.Fatal("what came in goes out as another file")
	}
	whole := far.pack(id, transfer.ExportRequest{Materialize: true})
	if bytes.Equal(file, whole) {
		t.Fatal("no files of segments were added")
	}
	far.brings(whole, transfer.ImportRequest{}, transfer.ResultUnchanged)
	before := far.pack(id, transfer.ExportRequest{})
	if got := far.brings(file, transfer.ImportRequest{}, transfer.ResultUnchanged); got.Messages != 0 || got.Created {
		t.Fatalf("again: %+v", got)
	}
	if !bytes.Equal(before, far.pack(id, transfer.ExportRequest{})) {
		t.Fatal("an unchanged import changed something")
	}
	far.ask(id, "and on").done(t, scrollback.TurnComplete, "stop")
	if _, err := far.Uncompact(context.Background(), id, ""); err != nil {
		t.Fatalf("the fold cannot be undone: %v", err)
	}
	far.healthy()
}

// A bundle that is longer extends, a shorter one changes nothing, and where both
// went on nothing is written.
func TestBundleExtends(t *testing.T) {
	r, id := rich(t)
	old := r.pack(id, transfer.ExportRequest{})
	far := newRig(t, rigOptions{limit: 4000, noFolds: true}, modeltest.Say("from afar"))
	far.brings(old, transfer.ImportRequest{}, transfer.ResultCreated)
	r.grow(id, 30)
	r.ask(id, "one more").done(t, scrollback.TurnComplete, "stop")
	if _, err := r.Rewind(context.Background(), id, engine.Point{Seq: new(int64(50))}); err != nil {
		t.Fatal(err)
	}
	grown := r.pack(id, transfer.ExportRequest{})
	if got := far.brings(grown, transfer.ImportRequest{}, transfer.ResultExtended); got.Messages != 32 || got.Created {
		t.Fatalf("extended by %+v", got)
	}
	far.healthy()
	if want, got := r.recalls(id), far.recalls(id); want != got {
		t.Fatalf("what can be recalled differs:\n%s", cmp.Diff(want, got))
	}
	far.brings(old, transfer.ImportRequest{}, transfer.ResultUnchanged)
	far.brings(grown, transfer.ImportRequest{}, transfer.ResultUnchanged)

	far.ask(id, "my own way").done(t, scrollback.TurnComplete, "stop")
	far.brings(grown, transfer.ImportRequest{}, transfer.ResultUnchanged)
	r.ask(id, "another way still").done(t, scrollback.TurnComplete, "stop")
	before := far.pack(id, transfer.ExportRequest{})
	_, err := far.unpack(r.pack(id, transfer.ExportRequest{}), transfer.ImportRequest{})
	wantCode(t, err, scrollback.Conflict, "says something else here")
	if !bytes.Equal(before, far.pack(id, transfer.ExportRequest{})) {
		t.Fatal("a conflict wrote something")
	}
	far.healthy()
}

func TestBundleRefused(t *testing.T) {
	ctx := context.Background()
	r, id := rich(t)
	file := r.pack(id, transfer.ExportRequest{})
	far := newRig(t, rigOptions{limit: 4000, noFolds: true}, modeltest.Say("from afar"))
	far.brings(file, transfer.ImportRequest{Project: "mine"}, transfer.ResultCreated)
	c, err := far.Get(ctx, id)
	if err != nil || c.Project != "mine" || c.Title != "钥匙 & keys" || len(c.PinnedSeqs) != 2 || !c.Settings.Pinned {
		t.Fatalf("it came as %+v, %v", c, err)
	}
	if c.Limit != 0 || len(c.Roots) != 0 || c.Instructions != "Be <brief>." {
		t.Fatalf("it brought %+v", c)
	}
	_, err = far.unpack(file, transfer.ImportRequest{Project: "other"})
	wantCode(t, err, scrollback.Conflict, "in another project")
	_, err = far.unpack(file, transfer.ImportRequest{Into: id})
	wantCode(t, err, scrollback.Invalid, "keeps its own conversation")
	_, err = far.Import(ctx, strings.NewReader(`{"role":"user","content":"x"}`), transfer.ImportRequest{AsCopy: true})
	wantCode(t, err, scrollback.Invalid, "only a bundle")
	if _, err := far.Trash(ctx, id); err != nil {
		t.Fatal(err)
	}
	_, err = far.unpack(file, transfer.ImportRequest{})
	wantCode(t, err, scrollback.Conflict, "in the trash")
	if _, err := far.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	far.brings(file, transfer.ImportRequest{}, transfer.ResultCreated)
	far.healthy()

	// A message's id may be a client's own, and so somebody else's here.
	named := newRig(t, rigOptions{}, modeltest.Say("x"))
	other := named.conversation()
	named.turn(engine.TurnRequest{Conversation: other, Message: say("q"), MessageID: "mine-1"}).done(t, scrollback.TurnComplete, "stop")
	taken := named.pack(other, transfer.ExportRequest{})
	far.turn(engine.TurnRequest{Conversation: id, Message: say("q"), MessageID: "mine-1"}).done(t, scrollback.TurnComplete, "stop")
	_, err = far.unpack(taken, transfer.ImportRequest{})
	wantCode(t, err, scrollback.Conflict, "message mine-1")
	far.brings(taken, transfer.ImportRequest{AsCopy: true}, transfer.ResultCreated)
	far.healthy()
}

// A copy has ids of its own, and pointers in its texts lead into the copy.
func TestBundleAsCopy(t *testing.T) {
	ctx := context.Background()
	r, id := rich(t)
	refs, _, err := r.Refs(ctx, id, scrollback.RefQuery{Kind: scrollback.RefHistory})
	if err != nil || len(refs) == 0 {
		t.Fatal(refs, err)
	}
	told := "look into " + string(refs[0].Ref) + " or " + string(id)
	r.ask(id, told).done(t, scrollback.TurnComplete, "stop")
	fork, err := r.Fork(ctx, id, engine.Point{}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	r.ask(fork.ID, "on the fork").done(t, scrollback.TurnComplete, "stop")
	file := r.pack(fork.ID, transfer.ExportRequest{Materialize: true})
	before := r.pack(fork.ID, transfer.ExportRequest{})
	for range 2 { // beside the original, and beside another copy
		out, err := r.unpack(file, transfer.ImportRequest{AsCopy: true})
		if err != nil {
			t.Fatal(err)
		}
		c := out.Conversations[0]
		if c.ID == fork.ID || out.IDs[string(fork.ID)] != string(c.ID) || out.IDs[string(id)] == "" {
			t.Fatalf("copied to %s, %v", c.ID, out.IDs)
		}
		var there *scrollback.Message
		for _, m := range r.log(c.ID) {
			if strings.HasPrefix(m.Parts.Text(), "look into") {
				there = &m
			}
		}
		_, old, _ := refs[0].Ref.Split()
		want := "look into history:" + out.IDs[old] + " or " + out.IDs[string(id)]
		if there == nil || there.Parts.Text() != want {
			t.Fatalf("the copy says %+v, want %q", there, want)
		}
		page, err := r.Read(ctx, c.ID, scrollback.Ref("history:"+out.IDs[old]), 0, 1000)
		if err != nil || !strings.Contains(page.Content, out.IDs[string(id)]) {
			t.Fatalf("the pointer reads %+v, %v", page, err)
		}
		r.ask(c.ID, "on the copy").done(t, scrollback.TurnComplete, "stop")
		r.healthy()
	}
	if !bytes.Equal(before, r.pack(fork.ID, transfer.ExportRequest{})) {
		t.Fatal("the original changed")
	}
}

// A fork brings its ancestors' path, which nobody sees by itself. Elsewhere it
// answers as it does here when its ancestors are purged; they may come later, or be
// there already.
func TestBundleOfAFork(t *testing.T) {
	ctx := context.Background()
	r, id := rich(t)
	at := func(of scrollback.ConversationID, seq int64, title string) scrollback.ConversationID {
		t.Helper()
		c, err := r.Fork(ctx, of, engine.Point{Seq: &seq}, title)
		if err != nil {
			t.Fatal(err)
		}
		r.ask(c.ID, "another way on "+title).done(t, scrollback.TurnComplete, "stop")
		return c.ID
	}
	fork := at(id, 34, "fork")
	r.grow(fork, 30)
	grand := at(fork, 60, "grand")
	early := at(fork, 20, "early") // of what the fork itself inherits
	r.grow(id, 20)                 // behind all forks
	bundles := map[scrollback.ConversationID][]byte{}
	for _, c := range []scrollback.ConversationID{id, fork, grand, early} {
		bundles[c] = r.pack(c, transfer.ExportRequest{})
	}
	for name, order := range map[string][]scrollback.ConversationID{
		"alone": {grand}, "children first": {grand, early, fork, id}, "parents first": {id, fork, grand, early},
		"mixed": {early, id, grand, fork},
	} {
		t.Run(name, func(t *testing.T) {
			far := newRig(t, rigOptions{limit: 4000, noFolds: true}, modeltest.Say("from afar"))
			for _, c := range order {
				far.brings(bundles[c], transfer.ImportRequest{}, transfer.ResultCreated)
				far.healthy()
			}
			for _, c := range order {
				far.brings(bundles[c], transfer.ImportRequest{}, transfer.ResultUnchanged)
				if !bytes.Equal(bundles[c], far.pack(c, transfer.ExportRequest{})) {
					t.Fatal("what came in goes out as another file")
				}
			}
			listed, _, err := far.List(ctx, scrollback.ListQuery{})
			if err != nil || len(listed) != len(order) {
				t.Fatalf("listed are %d, %v", len(listed), err)
			}
			far.ask(order[0], "and on").done(t, scrollback.TurnComplete, "stop")
			for _, c := range order {
				if _, err := far.Purge(ctx, c); err != nil {
					t.Fatal(err)
				}
				far.tidy()
			}
			if found, err := doctor.Check(ctx, far.store, far.archive, nil); err != nil || found.Checked.Messages != 0 ||
				found.Checked.Conversations != 0 {
				t.Fatalf("after all was purged %+v is left, %v", found.Checked, err)
			}
		})
	}
	far := newRig(t, rigOptions{limit: 4000, noFolds: true}, modeltest.Say("from afar"))
	far.brings(bundles[grand], transfer.ImportRequest{}, transfer.ResultCreated)
	for _, c := range []scrollback.ConversationID{id, fork, early} {
		if _, err := r.Purge(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if want, got := scoreless(r.recalls(grand)), scoreless(far.recalls(grand)); want != got || !strings.Contains(got, "artifact:") {
		t.Fatalf("what can be recalled differs:\n%s", cmp.Diff(want, got))
	}
}

// scoreless is without scores: they know how often a word is used in the whole store.
func scoreless(recalls string) string {
	return regexp.MustCompile(`"score":[0-9.]+`).ReplaceAllString(recalls, "")
}

// tidy is healthy where bytes of artifacts may wait to be removed.
func (r *rig) tidy() {
	r.t.Helper()
	if found, err := doctor.Check(context.Background(), r.store, r.archive, nil); err != nil || !found.OK {
		r.t.Fatalf("the check finds %+v, %v", found.Problems, err)
	}
}

// Random histories survive: whatever was said, folded, gone back on and forked.
func TestBundleProperty(t *testing.T) {
	rapid.Check(t, func(p *rapid.T) {
		ctx := context.Background()
		r := newRig(t, rigOptions{limit: 3000, noFolds: true}, modeltest.Say("an answer"))
		ids := []scrollback.ConversationID{r.conversation()}
		for range rapid.IntRange(1, 25).Draw(p, "steps") {
			r.clock.Add(1000)
			id := rapid.SampledFrom(ids).Draw(p, "conversation")
			seq := rapid.Int64Range(0, 40).Draw(p, "seq")
			switch rapid.IntRange(0, 9).Draw(p, "step") {
			case 0, 1, 2, 3:
				r.says(id, rapid.IntRange(1, 9).Draw(p, "messages"), rapid.StringN(1, 40, -1).Draw(p, "text"))
			case 4, 5:
				_, _ = r.Compact(ctx, id, engine.CompactRequest{Force: true})
			case 6:
				_, _ = r.Rewind(ctx, id, engine.Point{Seq: &seq})
			case 7:
				if c, err := r.Fork(ctx, id, engine.Point{Seq: &seq}, ""); err == nil {
					ids = append(ids, c.ID)
				}
			case 8:
				_, _ = r.Uncompact(ctx, id, "")
			case 9:
				_, _ = r.Upload(ctx, id, strings.NewReader(rapid.StringN(1, 9, -1).Draw(p, "bytes")), "a.txt")
			}
		}
		far := newRig(t, rigOptions{limit: 3000, noFolds: true}, modeltest.Say("from afar"))
		for _, id := range rapid.Permutation(ids).Draw(p, "order") {
			file := r.pack(id, transfer.ExportRequest{Materialize: true})
			far.brings(file, transfer.ImportRequest{}, transfer.ResultCreated)
			if again := far.pack(id, transfer.ExportRequest{Materialize: true}); !bytes.Equal(file, again) {
				p.Fatalf("conversation %s goes out as another file", id)
			}
			far.healthy()
			if _, err := far.unpack(file, transfer.ImportRequest{AsCopy: true}); err != nil {
				p.Fatal(err)
			}
			far.healthy()
		}
	})
}

// says appends messages.
func (r *rig) says(id scrollback.ConversationID, n int, text string) {
	r.t.Helper()
	h, err := r.store.Head(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	var in []store.Incoming
	for i := range n {
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
		in = append(in, store.Incoming{Message: scrollback.Message{Role: role, Parts: say(strings.Repeat(text+" tide ", 20))}})
	}
	if _, err := r.store.Append(context.Background(), h, in); err != nil {
		r.t.Fatal(err)
	}
}

// Imports of the same file at once, and turns meanwhile, lose and double nothing:
// whoever is second is told so.
func TestBundlesAtOnce(t *testing.T) {
	r, id := rich(t)
	file := r.pack(id, transfer.ExportRequest{})
	r.says(id, 40, "grown")
	grown := r.pack(id, transfer.ExportRequest{})
	far := newRig(t, rigOptions{limit: 4000, noFolds: true}, modeltest.Say("from afar"))
	for _, f := range [][]byte{file, grown} {
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() {
				if _, err := far.unpack(f, transfer.ImportRequest{}); err != nil && scrollback.CodeOf(err) != scrollback.Conflict {
					t.Errorf("at once: %v", err)
				}
			})
		}
		running.Wait()
		if _, err := far.unpack(f, transfer.ImportRequest{}); err != nil {
			t.Fatal(err)
		}
		if again := far.pack(id, transfer.ExportRequest{}); !bytes.Equal(f, again) {
			t.Fatal("what came in at once goes out as another file")
		}
		far.healthy()
	}
}

// A copy that fails half-way leaves nothing behind, not even what nobody sees.
func TestBundleCopyFails(t *testing.T) {
	mem := memdriver.New()
	r := newRig(t, rigOptions{driver: mem, noFolds: true}, modeltest.Say("x"))
	for i := int64(0); ; i++ {
		faulty := &drivertest.Faulty{At: i}
		broken := newRig(t, rigOptions{driver: faulty.Wrap(mem), archive: r.archive, noFolds: true}, modeltest.Say("x"))
		_, err := broken.unpack(moved()[2], transfer.ImportRequest{AsCopy: true})
		found, checkErr := doctor.Check(context.Background(), r.store, r.archive, nil)
		if checkErr != nil || !found.OK {
			t.Fatalf("the check finds %+v, %v", found.Problems, checkErr)
		}
		switch left := found.Checked.Messages; {
		case err != nil && left != 0:
			t.Fatalf("call %d failed, and %d messages are left", i, left)
		case err == nil && i < 8:
			t.Fatalf("after %d calls it was done", i)
		case err == nil:
			return
		}
	}
}

// moved are bundles of one conversation as it grew, the last of a fork of it.
var moved = sync.OnceValue(func() (files [3][]byte) {
	ctx := context.Background()
	t := &testing.T{}
	r := newRig(t, rigOptions{limit: 3000, noFolds: true}, modeltest.Say("an answer"))
	id := r.conversation()
	r.says(id, 12, "before")
	_, _ = r.Compact(ctx, id, engine.CompactRequest{Force: true})
	_, _ = r.Upload(ctx, id, strings.NewReader("some bytes that moved"), "moved.txt")
	files[0] = r.pack(id, transfer.ExportRequest{})
	r.says(id, 9, "after")
	_, _ = r.Compact(ctx, id, engine.CompactRequest{Force: true})
	_, _ = r.Rewind(ctx, id, engine.Point{Seq: new(int64(14))})
	files[1] = r.pack(id, transfer.ExportRequest{})
	if c, err := r.Fork(ctx, id, engine.Point{}, "fork"); err == nil {
		r.says(c.ID, 8, "forked")
		_, _ = r.Compact(ctx, c.ID, engine.CompactRequest{Force: true})
		files[2] = r.pack(c.ID, transfer.ExportRequest{})
	}
	return files
})

// arrive imports a bundle and wants it to go out again as it came.
func (s *scene) arrive(file []byte, q transfer.ImportRequest) error {
	ctx := context.Background()
	out, err := s.unpack(file, q)
	if err != nil || q.AsCopy {
		return err
	}
	var again bytes.Buffer
	if err := s.Export(ctx, out.Conversations[0].ID, transfer.ExportRequest{}, &again); err != nil {
		return err
	}
	if !bytes.Equal(file, again.Bytes()) {
		return scrollback.Errorf(scrollback.Internal, "arrive", "what came in goes out as another file")
	}
	return nil
}
