package transfer_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// copyOf writes a full copy of a conversation, and reads it as it is kept.
func copyOf(t tee, r *enginetest.Rig, id scrollback.ConversationID) (transfer.Copy, string) {
	t.Helper()
	ctx := context.Background()
	made, err := r.Transfer.Copies().Write(ctx, r.View, id)
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, f, err := r.Transfer.Copies().Open(ctx, r.View, id, made.Key)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	sum := sha256.Sum256(b)
	if err != nil || got != made || int64(len(b)) != made.Bytes || hex.EncodeToString(sum[:]) != made.SHA256 ||
		!json.Valid(b) {
		t.Fatalf("%+v is kept as %+v, %d bytes (%v)", made, got, len(b), err)
	}
	return made, string(b)
}

// branchy adds to a conversation: a file, a fork of its own path at the very end, and a
// result that went behind an artifact.
func branchy(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	a, err := r.Upload(ctx, id, strings.NewReader("attached: the tide turns"), "tide.txt")
	if err != nil {
		t.Fatal(err)
	}
	ask := engine.TurnRequest{Conversation: id,
		Message: scrollback.Parts{scrollback.Text{Text: "read it"}, scrollback.File{Artifact: a.ID, Name: "tide.txt"}}}
	for _, err := range r.Turn(ctx, ask) {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := r.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	at := c.Messages
	r.Ask(id, "on").WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Branches().Rewind(ctx, id, engine.Point{Seq: new(at - 2)}); err != nil {
		t.Fatal(err)
	}
	r.Ask(id, "otherwise").WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Branches().Rewind(ctx, id, engine.Point{Seq: &at, Branch: c.Branch}); err != nil {
		t.Fatal(err)
	}
}

// A full copy holds everything that was said, on every branch: here it brings nothing, and
// elsewhere it makes the same conversation, once.
func TestCopyThereAndBack(t *testing.T) {
	ctx := context.Background()
	r, id := rich(t)
	branchy(t, r, id)
	was := stands(t, r, id)
	_, file := copyOf(t, r, id)
	for _, part := range []string{`"receipts":[` + "\n" + `{"result":"compacted"`, `"ref":"history:`, `"ref":"artifact:`,
		`"title":"钥匙 & keys"`, `"instructions":"Be <brief>."`, `"data":"` + "YXR0YWNoZWQ6IHRoZSB0aWRlIHR1cm5z"} {
		if !strings.Contains(file, part) {
			t.Errorf("the full copy does not hold %s", part)
		}
	}
	comesBack(t, r, id, file, 0)
	if now := stands(t, r, id); now != was {
		t.Errorf("the import moved it to %+v", now)
	}
	other := enginetest.New(t, enginetest.Options{Limit: 4000}, modeltest.Say("a"))
	for i, messages := range []int64{was.Messages, 0} {
		out, err := other.ImportText(file)
		if err != nil || len(out.Skipped) > 0 || len(out.Conversations) != 1 || out.Conversations[0].Messages != messages {
			t.Fatalf("import %d: %+v, %v", i, out, err)
		}
		there := out.Conversations[0].ID
		got := stands(t, other, there)
		if got.Path != was.Path || got.Messages != was.Messages {
			t.Errorf("import %d: it has %d messages, and its path is\n%s\nnot\n%s", i, got.Messages, got.Path, was.Path)
		}
		c, err := other.Get(ctx, there)
		if err != nil || c.Title != "钥匙 & keys" || c.Instructions != "Be <brief>." || !c.Settings.Pinned ||
			string(c.Meta) != `{"a":{"b":1}}` {
			t.Errorf("%+v, %v", c, err)
		}
		enginetest.CheckViews(t, other, there)
	}
}

// The full copy of a fork holds what it inherits.
func TestCopyOfAFork(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
	id := r.NewConversation()
	r.AppendTurns(id, 6, "before")
	fork, err := r.Branches().Fork(ctx, id, engine.Point{Seq: new(int64(4))}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	r.AppendTurns(fork.ID, 3, "after")
	if _, err := r.Branches().Rewind(ctx, fork.ID, engine.Point{Seq: new(int64(2))}); err != nil {
		t.Fatal(err)
	}
	r.AppendTurns(fork.ID, 2, "otherwise")
	path := r.LogOutline(fork.ID)
	_, file := copyOf(t, r, fork.ID)
	if n := strings.Count(file, `"status":"complete"`); n != 4+3+2 {
		t.Errorf("the full copy has %d messages", n)
	}
	other := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
	out, err := other.ImportText(file)
	if err != nil || out.Conversations[0].Messages != 9 || other.LogOutline(out.Conversations[0].ID) != path {
		t.Errorf("%+v, %v", out, err)
	}
}

// A key names a full copy of its own conversation, or nothing at all.
func TestCopyKeys(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
	id := r.NewConversation()
	other := r.NewConversation()
	_, _, err := r.Transfer.Copies().Open(ctx, r.View, id, "")
	enginetest.WantCode(t, err, scrollback.NotFound, "no full copy yet")
	first, _ := copyOf(t, r, id)
	r.Clock.Add(1)
	r.Ask(id, "more").WantDone(t, scrollback.TurnComplete, "stop")
	second, _ := copyOf(t, r, id)
	elsewhere, _ := copyOf(t, r, other)
	got, f, err := r.Transfer.Copies().Open(ctx, r.View, id, "")
	if err != nil || got != second {
		t.Errorf("the newest is %+v, %v", got, err)
	}
	f.Close()
	list, err := r.Transfer.Copies().List(ctx, r.View, id, 0)
	if err != nil || !slices.Equal(list, []transfer.Copy{second, first}) {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := r.Transfer.Copies().List(ctx, r.View, id, 1); err != nil ||
		!slices.Equal(list, []transfer.Copy{second}) {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = r.Transfer.Copies().List(ctx, r.View, id, -1)
	enginetest.WantCode(t, err, scrollback.Invalid, "limit")
	for _, key := range []string{elsewhere.Key, "../../" + string(other) + "/" + elsewhere.Key,
		string(other) + "/" + elsewhere.Key,
		first.Key + ".note", "..", "/", "%2e%2e%2f" + first.Key, first.Key + "\x00", strings.ToUpper(first.Key),
		"artifacts/ab/cd",
		first.Key[1:], "9999999999999-00000000.json"} {
		_, _, err := r.Transfer.Copies().Open(ctx, r.View, id, key)
		if scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%q: %v", key, err)
		}
	}
	if _, err := r.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	if left, err := r.Archive.Copies(ctx, id, 10); err != nil || len(left) > 0 {
		t.Errorf("a purge leaves %+v, %v", left, err)
	}
	if left, err := r.Archive.Copies(ctx, other, 10); err != nil || len(left) != 1 {
		t.Errorf("a purge of another leaves %+v, %v", left, err)
	}
}

// keysOf returns all keys of a bucket.
func keysOf(t *testing.T, b blob.Bucket) (out []string) {
	t.Helper()
	for o, err := range b.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o.Key)
	}
	return out
}

// A full copy that fails on the way, or whose conversation is purged while it is written,
// leaves nothing.
func TestCopyCutOff(t *testing.T) {
	ctx := context.Background()
	db := oracle.New()
	bucket := blob.NewMemory()
	defer bucket.Close()
	kept, err := store.New(db, func(s string) int { return len(s) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	purge := func() {}
	keep := archive.New(kept, bucket, &archive.Options{Durable: func(string) error { purge(); return nil }})
	r := enginetest.New(t, enginetest.Options{Driver: db, Archive: keep}, modeltest.Say("a"))
	id := r.NewConversation()
	a, err := r.Upload(ctx, id, strings.NewReader("bytes"), "b.txt")
	if err != nil {
		t.Fatal(err)
	}
	ask := engine.TurnRequest{Conversation: id,
		Message: scrollback.Parts{scrollback.Text{Text: "x"}, scrollback.File{Artifact: a.ID}}}
	for _, err := range r.Turn(ctx, ask) {
		if err != nil {
			t.Fatal(err)
		}
	}
	art := keysOf(t, bucket)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Transfer.Copies().Write(canceled, r.View, id); err == nil {
		t.Error("copied for nobody")
	}
	bytes, err := blob.ReadAll(ctx, bucket, art[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Delete(ctx, art[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Transfer.Copies().Write(ctx, r.View, id); err == nil {
		t.Error("copied without its bytes")
	}
	if left := keysOf(t, bucket); len(left) > 0 {
		t.Errorf("what failed left %v", left)
	}
	if err := blob.WriteAll(ctx, bucket, art[0], bytes); err != nil {
		t.Fatal(err)
	}
	purge = func() {
		purge = func() {}
		if _, err := r.Purge(ctx, id); err != nil {
			t.Error(err)
		}
	}
	_, err = r.Transfer.Copies().Write(ctx, r.View, id)
	enginetest.WantCode(t, err, scrollback.NotFound, "")
	if left := slices.DeleteFunc(keysOf(t, bucket), func(k string) bool { return k == art[0] }); len(left) > 0 {
		t.Errorf("a purge meanwhile left %v", left)
	}
}

// With archive_on_compact a full copy is written after each compaction, under the key in
// its receipt.
func TestArchiveOnCompact(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{Limit: 3000, NoFolds: true}, modeltest.Say("a"))
	id := r.NewConversation()
	r.AppendTurns(id, 40, "before")
	receipt, err := r.Compact(ctx, id, engine.CompactRequest{Force: true})
	if err != nil || receipt.Result != scrollback.ResultCompacted || receipt.Archive != "" {
		t.Fatalf("not asked for: %+v, %v", receipt, err)
	}
	ask := func(c *scrollback.Conversation) error { c.Settings.ArchiveOnCompact = true; return nil }
	if _, err := r.Patch(ctx, id, 0, ask); err != nil {
		t.Fatal(err)
	}
	r.Clock.Add(1)
	r.AppendTurns(id, 40, "after")
	if receipt, err = r.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil || receipt.Archive == "" {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if err := r.Engine.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if rs, err := r.Receipts(ctx, id, 1); err != nil || rs[0].Archive != receipt.Archive {
		t.Errorf("stored as %+v, %v", rs, err)
	}
	_, f, err := r.Transfer.Copies().Open(ctx, r.View, id, receipt.Archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || strings.Count(string(b), `"status":"complete"`) != 80 ||
		!strings.Contains(string(b), `"archive":"`+receipt.Archive) {
		t.Errorf("the full copy has %d messages (%v)", strings.Count(string(b), `"status":"complete"`), err)
	}
	r.ImportMany(id, 400)
	if _, err := r.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Engine.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	rs, err := r.Receipts(ctx, id, 200)
	keys := map[string]bool{}
	for _, one := range rs {
		if _, f, err := r.Transfer.Copies().Open(ctx, r.View, id, one.Archive); one.Archive != "" && err != nil {
			t.Errorf("%s: %v", one.Archive, err)
		} else if f != nil {
			f.Close()
		}
		keys[one.Archive] = true
	}
	if err != nil || len(rs) < 3 || len(keys) < 3 {
		t.Errorf("%d compactions, %d full copies (%v)", len(rs), len(keys), err)
	}
	other := enginetest.New(t, enginetest.Options{Limit: 3000}, modeltest.Say("a"))
	if _, err := other.Unpack(r.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}); err != nil {
		t.Fatal(err)
	}
	if there, err := other.Receipts(ctx, id, 1); err != nil || there[0].Archive != "" {
		t.Errorf("a bundle names a full copy that it does not hold: %+v, %v", there, err)
	}
}

// Compactions before a full copy is begun share it.
func TestCopiesOnCompactAreShared(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
	id := r.NewConversation()
	reserve := transfer.OnCompact(r.Transfer)
	first, write := reserve(id)
	second, again := reserve(id)
	if elsewhere, _ := reserve(r.NewConversation()); first != second || elsewhere == first {
		t.Errorf("reserved %s, %s and elsewhere %s", first, second, elsewhere)
	}
	for _, write := range []func(context.Context, *engine.View) error{write, again} {
		if err := write(ctx, r.View); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := r.Archive.Copies(ctx, id, 10); err != nil || len(all) != 1 || all[0].Key != first {
		t.Errorf("%+v, %v", all, err)
	}
	if third, _ := reserve(id); third == first {
		t.Error("a full copy that is written was reserved again")
	}
}

// A full copy that cannot be written is no reason for a compaction to fail.
func TestArchiveOnCompactFails(t *testing.T) {
	ctx := context.Background()
	bucket := blob.NewMemory()
	db := oracle.New()
	kept, err := store.New(db, func(s string) int { return len(s) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := enginetest.New(t, enginetest.Options{Limit: 3000, NoFolds: true, Driver: db,
		Archive: archive.New(kept, bucket, nil)},
		modeltest.Say("a"))
	c, _, err := r.Create(ctx, scrollback.Conversation{Settings: scrollback.Settings{ArchiveOnCompact: true}})
	if err != nil {
		t.Fatal(err)
	}
	r.AppendTurns(c.ID, 40, "before")
	if err := bucket.Close(); err != nil {
		t.Fatal(err)
	}
	receipt, err := r.Compact(ctx, c.ID, engine.CompactRequest{Force: true})
	if err != nil || receipt.Result != scrollback.ResultCompacted || receipt.Archive == "" {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if err := r.Engine.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Transfer.Copies().Open(ctx, r.View, c.ID, receipt.Archive); err == nil {
		t.Error("there is a full copy in a bucket that is closed")
	}
}
