package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// brings imports a bundle and wants a result of it.
func brings(r *enginetest.Rig, file []byte, q transfer.ImportRequest, want string) transfer.Imported {
	r.T.Helper()
	out, err := r.Unpack(file, q)
	if err != nil || len(out.Conversations) != 1 || out.Conversations[0].Result != want {
		r.T.Fatalf("imported %+v, %v; want it %s", out.Conversations, err, want)
	}
	return out.Conversations[0]
}

// healthy wants doctor to find nothing.
func healthy(r *enginetest.Rig) {
	r.T.Helper()
	found, err := doctor.Check(context.Background(), r.Store, r.Archive, nil)
	if err != nil || !found.OK || len(found.Notes) > 0 {
		r.T.Fatalf("the check finds %+v %+v, %v", found.Problems, found.Notes, err)
	}
}

// recalls returns what the recall tools answer of a conversation, all of it as JSON.
func recalls(r *enginetest.Rig, id scrollback.ConversationID) string {
	r.T.Helper()
	ctx := context.Background()
	out := strings.Builder{}
	show := func(what string, v any, err error) {
		if err != nil {
			v = scrollback.CodeOf(err)
		}
		b, jsonErr := json.Marshal(v)
		if jsonErr != nil {
			r.T.Fatal(jsonErr)
		}
		fmt.Fprintf(&out, "%s %s\n", what, b)
	}
	refs := []scrollback.RefEntry(nil)
	cursor := ""
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

// rich returns a conversation with folds, roll-ups, big outputs, Chinese text, attachments
// and branches, in a rig of its own.
func rich(t *testing.T) (*enginetest.Rig, scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("an answer about the tide"))
	c, _, err := r.Create(ctx, scrollback.Conversation{Title: "钥匙 & keys", Instructions: "Be <brief>.", Limit: 4000,
		Meta: json.RawMessage(`{"a": {"b": 1}}`)})
	if err != nil {
		t.Fatal(err)
	}
	r.ImportMany(c.ID, 60)
	if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Upload(ctx, c.ID, strings.NewReader("attached text about the tide"), "notes.txt"); err != nil {
		t.Fatal(err)
	}
	r.ImportMany(c.ID, 40)
	if _, err := r.Branches().Rewind(ctx, c.ID, engine.Point{Seq: new(int64(33))}); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "another way to the 数据库").WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Patch(ctx, c.ID, 0, func(c *scrollback.Conversation) error {
		c.PinnedSeqs = []int64{1, 4}
		c.Settings.Pinned = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return r, c.ID
}

// Everything that can be read of a conversation is the same on another machine, on
// another database, and a bundle of it is the same file.
func TestBundleMoves(t *testing.T) {
	r, id := rich(t)
	file := r.Pack(id, transfer.ExportRequest{})
	if again := r.Pack(id, transfer.ExportRequest{}); !bytes.Equal(file, again) {
		t.Fatal("the same state gives another file")
	}
	db, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	far := enginetest.New(t, enginetest.Options{Driver: db, Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
	got := brings(far, file, transfer.ImportRequest{}, transfer.ResultCreated)
	if got.ID != id || !got.Created || got.Messages != 102 || got.Total != 35 {
		t.Fatalf("imported %+v", got)
	}
	healthy(far)
	if want, got := recalls(r, id), recalls(far, id); want != got || !strings.Contains(got, "history:") ||
		!strings.Contains(got,
			"artifact:") {
		t.Fatalf("what can be recalled differs:\n%s", cmp.Diff(want, got))
	}
	if again := far.Pack(id, transfer.ExportRequest{}); !bytes.Equal(file, again) {
		t.Fatal("what came in goes out as another file")
	}
	whole := far.Pack(id, transfer.ExportRequest{Materialize: true})
	if bytes.Equal(file, whole) {
		t.Fatal("no files of segments were added")
	}
	brings(far, whole, transfer.ImportRequest{}, transfer.ResultUnchanged)
	before := far.Pack(id, transfer.ExportRequest{})
	if got := brings(far, file, transfer.ImportRequest{}, transfer.ResultUnchanged); got.Messages != 0 || got.Created {
		t.Fatalf("again: %+v", got)
	}
	if !bytes.Equal(before, far.Pack(id, transfer.ExportRequest{})) {
		t.Fatal("an unchanged import changed something")
	}
	far.Ask(id, "and on").WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := far.Uncompact(context.Background(), id, ""); err != nil {
		t.Fatalf("the fold cannot be undone: %v", err)
	}
	healthy(far)
}

// saidOn returns what the current path of a conversation says at its end.
func saidOn(r *enginetest.Rig, id scrollback.ConversationID) string {
	var out string
	for _, m := range r.Log(id) {
		if m.Seq > 50 {
			out += m.Parts.Text() + "\n"
		}
	}
	return out
}

// A bundle that is longer extends, a shorter one changes nothing, and where both went on each has the branches of both,
// and stays where it was.
func TestBundleExtends(t *testing.T) {
	r, id := rich(t)
	old := r.Pack(id, transfer.ExportRequest{})
	far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
	brings(far, old, transfer.ImportRequest{}, transfer.ResultCreated)
	r.ImportMany(id, 30)
	r.Ask(id, "one more").WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Branches().Rewind(context.Background(), id, engine.Point{Seq: new(int64(50))}); err != nil {
		t.Fatal(err)
	}
	grown := r.Pack(id, transfer.ExportRequest{})
	if got := brings(far, grown, transfer.ImportRequest{}, transfer.ResultExtended); got.Messages != 32 || got.Created {
		t.Fatalf("extended by %+v", got)
	}
	healthy(far)
	if want, got := recalls(r, id), recalls(far, id); want != got {
		t.Fatalf("what can be recalled differs:\n%s", cmp.Diff(want, got))
	}
	brings(far, old, transfer.ImportRequest{}, transfer.ResultUnchanged)
	brings(far, grown, transfer.ImportRequest{}, transfer.ResultUnchanged)

	far.Ask(id, "my own way").WantDone(t, scrollback.TurnComplete, "stop")
	brings(far, grown, transfer.ImportRequest{}, transfer.ResultUnchanged)
	r.Ask(id, "another way still").WantDone(t, scrollback.TurnComplete, "stop")
	said := saidOn(far, id)
	if got := brings(far, r.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{},
		transfer.ResultExtended); got.Messages != 2 {
		t.Fatalf("the way that r went: %+v", got)
	}
	if now := saidOn(far, id); now != said || !strings.Contains(now, "my own way") {
		t.Fatalf("far stands at %q, not %q", now, said)
	}
	brings(r, far.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultExtended)
	if now := saidOn(r, id); !strings.Contains(now, "another way still") || strings.Contains(now, "my own way") {
		t.Fatalf("r stands at %q", now)
	}
	for _, one := range []*enginetest.Rig{r, far} {
		all, err := one.Branches().List(context.Background(), id)
		if err != nil || len(all) < 3 {
			t.Errorf("the branches are %+v, %v", all, err)
		}
		brings(one, r.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultUnchanged)
		brings(one, far.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultUnchanged)
		healthy(one)
	}
}

func TestBundleRefused(t *testing.T) {
	ctx := context.Background()
	r, id := rich(t)
	file := r.Pack(id, transfer.ExportRequest{})
	far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
	brings(far, file, transfer.ImportRequest{Project: "mine"}, transfer.ResultCreated)
	c, err := far.Get(ctx, id)
	if err != nil || c.Project != "mine" || c.Title != "钥匙 & keys" || len(c.PinnedSeqs) != 2 || !c.Settings.Pinned {
		t.Fatalf("it came as %+v, %v", c, err)
	}
	if c.Limit != 0 || len(c.Roots) != 0 || c.Instructions != "Be <brief>." {
		t.Fatalf("it brought %+v", c)
	}
	_, err = far.Unpack(file, transfer.ImportRequest{Project: "other"})
	enginetest.WantCode(t, err, scrollback.Conflict, "in another project")
	_, err = far.Unpack(file, transfer.ImportRequest{Into: id})
	enginetest.WantCode(t, err, scrollback.Invalid, "keeps its own conversation")
	_, err = far.Import(ctx, strings.NewReader(`{"role":"user","content":"x"}`), transfer.ImportRequest{AsCopy: true})
	enginetest.WantCode(t, err, scrollback.Invalid, "only a bundle")
	if _, err := far.Trash(ctx, id); err != nil {
		t.Fatal(err)
	}
	_, err = far.Unpack(file, transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Conflict, "in the trash")
	if _, err := far.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	_, err = far.Unpack(file, transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Conflict, "was purged")
	brings(far, file, transfer.ImportRequest{AsCopy: true}, transfer.ResultCreated)
	healthy(far)
	id = far.NewConversation()

	// A message's id may be a client's own, and so somebody else's here.
	named := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	other := named.NewConversation()
	named.Run(engine.TurnRequest{Conversation: other, Message: enginetest.Say("q"), MessageID: "mine-1"}).WantDone(t,
		scrollback.TurnComplete,
		"stop")
	taken := named.Pack(other, transfer.ExportRequest{})
	far.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("q"), MessageID: "mine-1"}).WantDone(t,
		scrollback.TurnComplete, "stop")
	_, err = far.Unpack(taken, transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Conflict, "message mine-1")
	brings(far, taken, transfer.ImportRequest{AsCopy: true}, transfer.ResultCreated)
	healthy(far)
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
	r.Ask(id, told).WantDone(t, scrollback.TurnComplete, "stop")
	fork, err := r.Branches().Fork(ctx, id, engine.Point{}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(fork.ID, "on the fork").WantDone(t, scrollback.TurnComplete, "stop")
	file := r.Pack(fork.ID, transfer.ExportRequest{Materialize: true})
	before := r.Pack(fork.ID, transfer.ExportRequest{})
	for range 2 { // beside the original, and beside another copy
		out, err := r.Unpack(file, transfer.ImportRequest{AsCopy: true})
		if err != nil {
			t.Fatal(err)
		}
		c := out.Conversations[0]
		if c.ID == fork.ID || out.IDs[string(fork.ID)] != string(c.ID) || out.IDs[string(id)] == "" {
			t.Fatalf("copied to %s, %v", c.ID, out.IDs)
		}
		var there *scrollback.Message
		for _, m := range r.Log(c.ID) {
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
		r.Ask(c.ID, "on the copy").WantDone(t, scrollback.TurnComplete, "stop")
		healthy(r)
	}
	if !bytes.Equal(before, r.Pack(fork.ID, transfer.ExportRequest{})) {
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
		c, err := r.Branches().Fork(ctx, of, engine.Point{Seq: &seq}, title)
		if err != nil {
			t.Fatal(err)
		}
		r.Ask(c.ID, "another way on "+title).WantDone(t, scrollback.TurnComplete, "stop")
		return c.ID
	}
	fork := at(id, 34, "fork")
	r.ImportMany(fork, 30)
	grand := at(fork, 60, "grand")
	early := at(fork, 20, "early") // of what the fork itself inherits
	r.ImportMany(id, 20)           // behind all forks
	bundles := map[scrollback.ConversationID][]byte{}
	for _, c := range []scrollback.ConversationID{id, fork, grand, early} {
		bundles[c] = r.Pack(c, transfer.ExportRequest{})
	}
	for name, order := range map[string][]scrollback.ConversationID{
		"alone": {grand}, "children first": {grand, early, fork, id}, "parents first": {id, fork, grand, early},
		"mixed": {early, id, grand, fork},
	} {
		t.Run(name, func(t *testing.T) {
			far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
			for _, c := range order {
				brings(far, bundles[c], transfer.ImportRequest{}, transfer.ResultCreated)
				healthy(far)
			}
			for _, c := range order {
				brings(far, bundles[c], transfer.ImportRequest{}, transfer.ResultUnchanged)
				if !bytes.Equal(bundles[c], far.Pack(c, transfer.ExportRequest{})) {
					t.Fatal("what came in goes out as another file")
				}
			}
			listed, _, err := far.List(ctx, scrollback.ListQuery{})
			if err != nil || len(listed) != len(order) {
				t.Fatalf("listed are %d, %v", len(listed), err)
			}
			far.Ask(order[0], "and on").WantDone(t, scrollback.TurnComplete, "stop")
			for _, c := range order {
				if _, err := far.Purge(ctx, c); err != nil {
					t.Fatal(err)
				}
				tidy(far)
			}
			if found, err := doctor.Check(ctx, far.Store, far.Archive, nil); err != nil || found.Checked.Messages != 0 ||
				found.Checked.Conversations != 0 {
				t.Fatalf("after all was purged %+v is left, %v", found.Checked, err)
			}
		})
	}
	far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
	brings(far, bundles[grand], transfer.ImportRequest{}, transfer.ResultCreated)
	for _, c := range []scrollback.ConversationID{id, fork, early} {
		if _, err := r.Purge(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if want, got := scoreless(recalls(r, grand)), scoreless(recalls(far, grand)); want != got ||
		!strings.Contains(got, "artifact:") {
		t.Fatalf("what can be recalled differs:\n%s", cmp.Diff(want, got))
	}
}

// scoreless returns without scores: they know how often a word is used in the whole store.
func scoreless(recalls string) string {
	return regexp.MustCompile(`"score":[0-9.]+`).ReplaceAllString(recalls, "")
}

// tidy is healthy where bytes of artifacts may wait to be removed.
func tidy(r *enginetest.Rig) {
	r.T.Helper()
	if found, err := doctor.Check(context.Background(), r.Store, r.Archive, nil); err != nil || !found.OK {
		r.T.Fatalf("the check finds %+v, %v", found.Problems, err)
	}
}

// A fork comes whole after the bundle of a fork of its own, which needs nothing of what it
// inherits itself.
func TestBundleForkAfterItsFork(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("an answer"))
	fork := func(of scrollback.ConversationID, seq int64) scrollback.ConversationID {
		t.Helper()
		c, err := r.Branches().Fork(ctx, of, engine.Point{Seq: &seq}, "")
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	parent := r.NewConversation()
	r.AppendTurns(parent, 4, "in the parent")
	child := fork(parent, 2)
	r.AppendTurns(child, 2, "in the fork")
	start := int64(0)
	if _, err := r.Branches().Rewind(ctx, child, engine.Point{Seq: &start}); err != nil {
		t.Fatal(err)
	}
	r.AppendTurns(child, 3, "anew in the fork")
	grandchild := fork(child, 2)
	r.AppendTurns(grandchild, 2, "in its fork")

	far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
	for _, id := range []scrollback.ConversationID{grandchild, child, parent} {
		file := r.Pack(id, transfer.ExportRequest{})
		brings(far, file, transfer.ImportRequest{}, transfer.ResultCreated)
		if again := far.Pack(id, transfer.ExportRequest{}); !bytes.Equal(file, again) {
			t.Errorf("conversation %s goes out as another file", id)
		}
		healthy(far)
	}
	for _, id := range []scrollback.ConversationID{parent, child, grandchild} {
		if _, err := far.Purge(ctx, id); err != nil {
			t.Fatal(err)
		}
		tidy(far)
	}
	if found, err := doctor.Check(ctx, far.Store, far.Archive, nil); err != nil || found.Checked.Messages != 0 {
		t.Errorf("after all was purged %+v is left, %v", found.Checked, err)
	}
}

// Random histories survive: whatever was said, folded, gone back on and forked.
func TestBundleProperty(t *testing.T) {
	testlength.SkipShort(t)
	rapid.Check(t, func(p *rapid.T) {
		ctx := context.Background()
		r := enginetest.New(t, enginetest.Options{Limit: 3000, NoFolds: true}, modeltest.Say("an answer"))
		ids := []scrollback.ConversationID{r.NewConversation()}
		for range rapid.IntRange(1, 25).Draw(p, "steps") {
			r.Clock.Add(1000)
			id := rapid.SampledFrom(ids).Draw(p, "conversation")
			seq := rapid.Int64Range(0, 40).Draw(p, "seq")
			switch rapid.IntRange(0, 9).Draw(p, "step") {
			case 0, 1, 2, 3:
				r.AppendTurns(id, rapid.IntRange(1, 9).Draw(p, "messages"), rapid.StringN(1, 40, -1).Draw(p, "text"))
			case 4, 5:
				_, _ = r.Compact(ctx, id, engine.CompactRequest{Force: true})
			case 6:
				_, _ = r.Branches().Rewind(ctx, id, engine.Point{Seq: &seq})
			case 7:
				if c, err := r.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, ""); err == nil {
					ids = append(ids, c.ID)
				}
			case 8:
				_, _ = r.Uncompact(ctx, id, "")
			case 9:
				_, _ = r.Upload(ctx, id, strings.NewReader(rapid.StringN(1, 9, -1).Draw(p, "bytes")), "a.txt")
			}
		}
		far := enginetest.New(t, enginetest.Options{Limit: 3000, NoFolds: true}, modeltest.Say("from afar"))
		for _, id := range rapid.Permutation(ids).Draw(p, "order") {
			file := r.Pack(id, transfer.ExportRequest{Materialize: true})
			brings(far, file, transfer.ImportRequest{}, transfer.ResultCreated)
			if again := far.Pack(id, transfer.ExportRequest{Materialize: true}); !bytes.Equal(file, again) {
				p.Fatalf("conversation %s goes out as another file", id)
			}
			healthy(far)
			if _, err := far.Unpack(file, transfer.ImportRequest{AsCopy: true}); err != nil {
				p.Fatal(err)
			}
			healthy(far)
		}
	})
}

// Imports of the same file at once, and turns meanwhile, lose and double nothing:
// the second gets an error.
func TestBundlesAtOnce(t *testing.T) {
	r, id := rich(t)
	file := r.Pack(id, transfer.ExportRequest{})
	r.AppendTurns(id, 40, "grown")
	grown := r.Pack(id, transfer.ExportRequest{})
	far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("from afar"))
	for _, f := range [][]byte{file, grown} {
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() {
				if _, err := far.Unpack(f, transfer.ImportRequest{}); err != nil && scrollback.CodeOf(err) != scrollback.Conflict {
					t.Errorf("at once: %v", err)
				}
			})
		}
		running.Wait()
		if _, err := far.Unpack(f, transfer.ImportRequest{}); err != nil {
			t.Fatal(err)
		}
		if again := far.Pack(id, transfer.ExportRequest{}); !bytes.Equal(f, again) {
			t.Fatal("what came in at once goes out as another file")
		}
		healthy(far)
	}
}

// A copy that fails half-way leaves nothing behind, not even what nobody sees.
func TestBundleCopyFails(t *testing.T) {
	mem := oracle.New()
	r := enginetest.New(t, enginetest.Options{Driver: mem, NoFolds: true}, modeltest.Say("x"))
	for i := int64(0); ; i++ {
		faulty := &drivertest.Faulty{At: i}
		broken := enginetest.New(t, enginetest.Options{Driver: faulty.Wrap(mem), Archive: r.Archive, NoFolds: true},
			modeltest.Say("x"))
		_, err := broken.Unpack(enginetest.Moved()[2], transfer.ImportRequest{AsCopy: true})
		found, checkErr := doctor.Check(context.Background(), r.Store, r.Archive, nil)
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

// What people said about kept sentences goes where the conversation goes: after a purge, to another machine, into
// a copy, and with a fork. What rules find is found again there.
func TestBundleBringsWhatIsKept(t *testing.T) {
	ctx := t.Context()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("noted"))
	id := r.NewConversation()
	r.Ask(id, "Never push to main. TODO: water the plants. The gate code is 4711.").WantDone(t,
		scrollback.TurnComplete, "stop")
	if plain := r.Pack(id, transfer.ExportRequest{}); bundleVersion(t, plain) != 1 {
		t.Error("a bundle that older programs could read is not for them")
	}
	list := func(at *enginetest.Rig, id scrollback.ConversationID) (out []string) {
		t.Helper()
		all, err := at.Kept().List(ctx, id, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range all {
			out = append(out, fmt.Sprintf("%s %s #%d %s %s %s", k.ID, k.Kind, k.Seq, k.By, k.Text, k.State))
		}
		return out
	}
	if _, err := r.Kept().Keep(ctx, id, 1, "The gate code is 4711.", ""); err != nil {
		t.Fatal(err)
	}
	kept, err := r.Kept().List(ctx, id, false)
	if err != nil || len(kept) != 3 {
		t.Fatalf("kept is %+v, %v", kept, err)
	}
	for _, k := range kept {
		state := map[scrollback.KeptKind]scrollback.KeptState{scrollback.KeptTodo: scrollback.KeptDone,
			scrollback.KeptInstruction: scrollback.KeptDropped}[k.Kind]
		if k.By == scrollback.KeptByPerson {
			continue
		}
		if _, err := r.Kept().SetState(ctx, id, k.ID, state); err != nil {
			t.Fatal(err)
		}
	}
	want := list(r, id)
	fork, err := r.Branches().Fork(ctx, id, engine.Point{}, "")
	if err != nil {
		t.Fatal(err)
	}
	file := r.Pack(id, transfer.ExportRequest{})
	ofFork := r.Pack(fork.ID, transfer.ExportRequest{})
	if got := bundleVersion(t, file); got != 2 {
		t.Errorf("the bundle has version %d", got)
	}

	far := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	brings(far, file, transfer.ImportRequest{}, transfer.ResultCreated)
	if got := list(far, id); !slices.Equal(got, want) {
		t.Errorf("elsewhere is kept:\n%s", cmp.Diff(want, got))
	}
	if again := far.Pack(id, transfer.ExportRequest{}); !bytes.Equal(file, again) {
		t.Error("what came in goes out as another file")
	}
	if _, err := far.Trash(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	_, err = far.Unpack(file, transfer.ImportRequest{})
	enginetest.WantCode(t, err, scrollback.Conflict, "was purged")
	states := func(of []string) (out []string) {
		for _, line := range of {
			out = append(out, line[strings.Index(line, " ")+1:])
		}
		return out
	}
	copied := brings(far, file, transfer.ImportRequest{AsCopy: true}, transfer.ResultCreated)
	if got := states(list(far, copied.ID)); !slices.Equal(got, states(want)) {
		t.Errorf("in a copy is kept:\n%s", cmp.Diff(states(want), got))
	}
	beside := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	brings(beside, ofFork, transfer.ImportRequest{}, transfer.ResultCreated)
	if got := list(beside, fork.ID); !slices.Equal(got, list(r, fork.ID)) || !slices.Equal(states(got), states(want)) {
		t.Errorf("in the fork is kept:\n%s", cmp.Diff(list(r, fork.ID), got))
	}
	healthy(far)
	healthy(beside)
}

// bundleVersion returns the version that a bundle says it has.
func bundleVersion(t *testing.T, file []byte) (version int) {
	t.Helper()
	_, err := bundle.Walk(bytes.NewReader(file), bundle.Limits{},
		bundle.Visit{Header: func(h bundle.Header) error { version = h.Version; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return version
}
