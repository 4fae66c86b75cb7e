package transfer_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/token"
)

const forged = scrollback.ConversationID("01999999-0000-7000-8000-000000000001")

// forge returns a bundle of one message that somebody made by hand: of a conversation, and
// with a victim as of one that inherits from that and takes nothing of it.
func forge(t *testing.T, id, victim scrollback.ConversationID) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := bundle.NewWriter(&out, id, bundle.Limits{})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(err)
	var c bundle.Conversation
	c.ID = id
	c.Branch = "forged-branch"
	c.Project = "elsewhere"
	if victim != "" {
		var above bundle.Conversation
		above.ID = victim
		above.Inherited = true
		ok(w.BeginConversation(above))
		ok(w.AddBranch(bundle.Branch{Branch: scrollback.Branch{ID: "empty-branch", Conversation: victim}}))
		c.Ancestors = []scrollback.ConversationID{victim}
	}
	ok(w.BeginConversation(c))
	ok(w.AddBranch(bundle.Branch{Branch: scrollback.Branch{ID: c.Branch, Conversation: id, HeadSeq: 1}}))
	ok(w.AddMessage(scrollback.Message{ID: "forged-message", ConversationID: id, Branch: c.Branch, Seq: 1,
		Role:   scrollback.RoleUser,
		Status: scrollback.StatusComplete, CreatedAt: 1, Parts: enginetest.Say("hello")}))
	ok(w.Close())
	return out.Bytes()
}

// Knowing an id opens nothing: neither as an ancestor of something of
// his own, nor as that of a conversation that was purged and lives on in a fork.
func TestAnIdOpensNothing(t *testing.T) {
	ctx := context.Background()
	for _, purged := range []bool{false, true} {
		r, victim := rich(t)
		heir, err := r.Branches().Fork(ctx, victim, engine.Point{}, "heir")
		if err != nil {
			t.Fatal(err)
		}
		if purged {
			if p, err := r.Purge(ctx, victim); err != nil || p.Kept == 0 {
				t.Fatalf("%+v, %v", p, err)
			}
		}
		for _, project := range []string{"", "elsewhere"} {
			if out, err := r.Unpack(forge(t, forged, victim), transfer.ImportRequest{Project: project}); err == nil {
				t.Errorf("an ancestor in name only, purged %v, project %q: %+v", purged, project, out)
			}
			if out, err := r.Unpack(forge(t, victim, ""),
				transfer.ImportRequest{Project: project}); scrollback.CodeOf(err) != scrollback.Conflict {
				t.Errorf("its own id, purged %v, project %q: %+v, %v", purged, project, out, err)
			}
		}
		if refs, _, err := r.Refs(ctx, forged, scrollback.RefQuery{}); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%d refs, %v", len(refs), err)
		}
		if _, err := r.Get(ctx, victim); purged != (scrollback.CodeOf(err) == scrollback.NotFound) {
			t.Errorf("purged %v, and it is %v", purged, err)
		}
		if bs, err := r.Branches().List(ctx, heir.ID); err != nil || len(bs) != 1 {
			t.Errorf("the heir has %+v, %v", bs, err)
		}
	}
}

// An import that takes longer than bytes wait for their mention loses none of them to
// a purge beside it, and puts again what went before they were mentioned.
func TestBytesGoWhileAnImportRuns(t *testing.T) {
	ctx := context.Background()
	src := enginetest.New(t, enginetest.Options{Limit: 8000, NoFolds: true}, modeltest.Say("x"))
	id := src.NewConversation()
	src.ImportMany(id, 600)
	const shared = "\x00\x01\xff\xfe shared, and no text"
	art, err := src.Upload(ctx, id, strings.NewReader(shared), "n.bin")
	if err != nil {
		t.Fatal(err)
	}
	src.Run(engine.TurnRequest{Conversation: id,
		Message: scrollback.Parts{scrollback.Text{Text: "see"}, scrollback.File{Artifact: art.ID}}})
	file := src.Pack(id, transfer.ExportRequest{})
	for name, lose := range map[string]func(far *enginetest.Rig, other scrollback.ConversationID, b blob.Bucket) error{
		"purge": func(far *enginetest.Rig, other scrollback.ConversationID, _ blob.Bucket) error {
			_, err := far.Purge(ctx, other)
			return err
		},
		"lost": func(_ *enginetest.Rig, _ scrollback.ConversationID, b blob.Bucket) error {
			return b.Delete(ctx, "artifacts/"+string(art.ID[:2])+"/"+string(art.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "s.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			bucket := blob.NewMemory()
			defer bucket.Close()
			rows, err := store.New(db, token.Count, &store.Options{Image: token.ImageTokens})
			if err != nil {
				t.Fatal(err)
			}
			kept := archive.New(rows, bucket, &archive.Options{Grace: -1})
			far := enginetest.New(t, enginetest.Options{Driver: db, Limit: 8000, NoFolds: true, Archive: kept},
				modeltest.Say("x"))
			other := far.NewConversation()
			if _, err := far.Upload(ctx, other, strings.NewReader(shared), "n.bin"); err != nil {
				t.Fatal(err)
			}
			did := 0
			brings(far, file, transfer.ImportRequest{Progress: func(int64) {
				if did++; did == 1 {
					if err := lose(far, other, bucket); err != nil {
						t.Error(err)
					}
				}
			}}, transfer.ResultCreated)
			_, body, err := far.Artifact(ctx, id, art.ID)
			if err != nil || did < 2 {
				t.Fatalf("%v, after %d batches", err, did)
			}
			defer body.Close()
			if got, err := io.ReadAll(body); err != nil || string(got) != shared {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A file that becomes another one while it is read is refused.
func TestABundleThatChanges(t *testing.T) {
	r, id := rich(t)
	first := r.Pack(id, transfer.ExportRequest{})
	r.ImportMany(id, 8)
	longer := r.Pack(id, transfer.ExportRequest{})
	fork, err := r.Branches().Fork(context.Background(), id, engine.Point{}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	for name, then := range map[string][]byte{"longer": longer, "of two": r.Pack(fork.ID, transfer.ExportRequest{})} {
		far := enginetest.New(t, enginetest.Options{Limit: 8000, NoFolds: true}, modeltest.Say("x"))
		_, err := far.Import(context.Background(), &changing{Reader: bytes.NewReader(first), then: then},
			transfer.ImportRequest{})
		if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := far.Get(context.Background(), id); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%s: and then it is there: %v", name, err)
		}
	}
}

// changing is another file from the second time on that its length is asked for, with
// which each reading of a bundle begins.
type changing struct {
	*bytes.Reader
	then  []byte
	asked int
}

func (c *changing) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		if c.asked++; c.asked == 2 {
			c.Reader = bytes.NewReader(c.then)
		}
	}
	return c.Reader.Seek(offset, whence)
}

// What is not known here of a policy gives way to the default, and nothing else does.
func TestABundlesPolicyIsKept(t *testing.T) {
	var out bytes.Buffer
	w, err := bundle.NewWriter(&out, forged, bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var c bundle.Conversation
	c.ID = forged
	c.Branch = "forged-branch"
	c.Policy = compact.Rolling
	c.Settings.Compaction = map[string]float64{"of_another_version": 3, "keep_messages": 2, "keep_share": 99}
	for _, err := range []error{w.BeginConversation(c),
		w.AddBranch(bundle.Branch{Branch: scrollback.Branch{ID: c.Branch, Conversation: forged, HeadSeq: 1}}),
		w.AddMessage(scrollback.Message{ID: "forged-message", ConversationID: forged, Branch: c.Branch, Seq: 1,
			Role:   scrollback.RoleUser,
			Status: scrollback.StatusComplete, CreatedAt: 1, Parts: enginetest.Say("hello")}), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	brings(r, out.Bytes(), transfer.ImportRequest{}, transfer.ResultCreated)
	got, err := r.Get(context.Background(), forged)
	if err != nil || got.Policy != compact.Rolling || len(got.Settings.Compaction) != 1 ||
		got.Settings.Compaction["keep_messages"] != 2 {
		t.Errorf("policy %q, numbers %v, %v", got.Policy, got.Settings.Compaction, err)
	}
}
