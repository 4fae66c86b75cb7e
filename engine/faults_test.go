package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
)

// arrive imports a bundle and wants it to go out again as it came.
func (s *scene) arrive(file []byte, q transfer.ImportRequest) error {
	ctx := context.Background()
	out, err := s.Unpack(file, q)
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

// scene is a store with a bit of everything: a conversation that was folded, went
// back and was forked, one in the trash, and one that was imported.
type scene struct {
	*enginetest.Rig
	place                         *workspace.Place
	main, fork, trashed, imported scrollback.ConversationID
	desk                          scrollback.ConversationID // refers to a file of its folder
	left                          scrollback.BranchID       // of main, that is not current
	artifact                      scrollback.ArtifactID
	segment                       scrollback.SegmentID
}

func newScene(t *testing.T, mem *driver.Driver) *scene {
	ctx := context.Background()
	place := &workspace.Place{Roots: []string{t.TempDir()}, OS: "linux", Now: time.Unix(0, 0).UTC()}
	r := enginetest.New(t, enginetest.Options{Driver: mem, NoFolds: true, Place: place,
		Importers: []transcript.Importer{enginetest.Trail{}}},
		modeltest.Say("an answer that is remembered"))
	s := &scene{Rig: r, place: place, main: r.NewConversation()}
	check := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for i := range 6 {
		r.Ask(s.main, fmt.Sprint("question ", i, strings.Repeat(" and words", 300))).WantDone(t, scrollback.TurnComplete,
			"stop")
	}
	folded, err := r.Compact(ctx, s.main, engine.CompactRequest{Force: true})
	check(err)
	if folded.Result != scrollback.ResultCompacted {
		t.Fatalf("the fold is %+v", folded)
	}
	s.segment = folded.Segments[0]
	c, err := r.Get(ctx, s.main)
	check(err)
	s.left = c.Branch
	_, err = r.Branches().Rewind(ctx, s.main, engine.Point{Seq: new(folded.LastSeq + 1)})
	check(err)
	r.Ask(s.main, "another way").WantDone(t, scrollback.TurnComplete, "stop")
	f, err := r.Branches().Fork(ctx, s.main, engine.Point{Seq: new(int64(3))}, "fork")
	check(err)
	s.fork = f.ID
	s.trashed = r.NewConversation()
	r.Ask(s.trashed, "away with it")
	_, err = r.Trash(ctx, s.trashed)
	check(err)
	a, err := r.Upload(ctx, s.main, strings.NewReader("some bytes"), "a.txt")
	check(err)
	s.artifact = a.ID
	d := &folderRig{Rig: r, root: s.place.Roots[0]}
	d.write("a.txt", "one")
	c, _, err = r.Create(ctx, scrollback.Conversation{Roots: s.place.Roots})
	check(err)
	s.desk = c.ID
	r.Ask(s.desk, "read @[a.txt]").WantDone(t, scrollback.TurnComplete, "stop")
	out, err := r.ImportText("trail s a b")
	check(err)
	s.imported = out.Conversations[0].ID
	check(s.arrive(enginetest.Moved()[0], transfer.ImportRequest{}))
	return s
}

// over returns the same scene over another rig.
func (s *scene) over(r *enginetest.Rig) *scene {
	c := *s
	c.Rig = r
	return &c
}

// operations lists what an engine does, each on a scene.
var operations = map[string]func(s *scene) error{
	"create": func(s *scene) error {
		_, _, err := s.Create(context.Background(), scrollback.Conversation{Title: "new"})
		return err
	},
	"turn": func(s *scene) error {
		e := s.Ask(s.main, "again")
		if f, ok := enginetest.Last[scrollback.ErrorEvent](e); ok && e.Err == nil {
			return scrollback.Errorf(f.Code, "turn", "%s", f.Message)
		}
		return e.Err
	},
	"refer": func(s *scene) error {
		e := s.Ask(s.desk, "again @[a.txt] and @[none], @[context_search{\"query\":\"read\"}]")
		if f, ok := enginetest.Last[scrollback.ErrorEvent](e); ok && e.Err == nil {
			return scrollback.Errorf(f.Code, "turn", "%s", f.Message)
		}
		return e.Err
	},
	"refer out of sight": func(s *scene) error {
		if _, err := s.Compact(context.Background(), s.desk, engine.CompactRequest{Clear: true}); err != nil {
			return err
		}
		return s.Ask(s.desk, "again @[a.txt]").Err
	},
	"regenerate": func(s *scene) error {
		if _, err := s.Branches().Rewind(context.Background(), s.main, engine.Point{Seq: new(int64(5))}); err != nil {
			return err
		}
		return s.Run(engine.TurnRequest{Conversation: s.main}).Err
	},
	"fold": func(s *scene) error {
		_, err := s.Compact(context.Background(), s.main, engine.CompactRequest{Force: true})
		return err
	},
	"clear": func(s *scene) error {
		_, err := s.Compact(context.Background(), s.main, engine.CompactRequest{Clear: true})
		return err
	},
	"unfold": func(s *scene) error { _, err := s.Uncompact(context.Background(), s.main, ""); return err },
	"unfold a segment": func(s *scene) error {
		_, err := s.Uncompact(context.Background(), s.main, s.segment)
		return err
	},
	"rewind": func(s *scene) error {
		_, err := s.Branches().Rewind(context.Background(), s.main, engine.Point{Seq: new(int64(2))})
		return err
	},
	"switch": func(s *scene) error {
		_, err := s.Branches().Rewind(context.Background(), s.main, engine.Point{Branch: s.left})
		return err
	},
	"fork": func(s *scene) error {
		_, err := s.Branches().Fork(context.Background(), s.main, engine.Point{Seq: new(int64(6))}, "")
		return err
	},
	"branches": func(s *scene) error { _, err := s.Branches().List(context.Background(), s.main); return err },
	"rename": func(s *scene) error {
		_, err := s.Patch(context.Background(), s.main, 0,
			func(c *scrollback.Conversation) error { c.Title = "t"; return nil })
		return err
	},
	"trash":   func(s *scene) error { _, err := s.Trash(context.Background(), s.fork); return err },
	"restore": func(s *scene) error { _, err := s.Restore(context.Background(), s.trashed); return err },
	"purge":   func(s *scene) error { _, err := s.Purge(context.Background(), s.trashed); return err },
	"purge what is forked": func(s *scene) error {
		_, err := s.Purge(context.Background(), s.main)
		return err
	},
	"import":        func(s *scene) error { _, err := s.ImportText("trail n a b 1 c"); return err },
	"import grown":  func(s *scene) error { _, err := s.ImportText("trail s a b c d"); return err },
	"import forked": func(s *scene) error { _, err := s.ImportText("trail s x y"); return err },
	"export": func(s *scene) error {
		return s.Export(context.Background(), s.main, transfer.ExportRequest{Format: "jsonl"}, io.Discard)
	},
	"bundle": func(s *scene) error {
		return s.Export(context.Background(), s.fork, transfer.ExportRequest{Materialize: true}, io.Discard)
	},
	"extend by a bundle": func(s *scene) error { return s.arrive(enginetest.Moved()[1], transfer.ImportRequest{}) },
	"import a bundle":    func(s *scene) error { return s.arrive(enginetest.Moved()[2], transfer.ImportRequest{}) },
	"copy a bundle": func(s *scene) error {
		return s.arrive(enginetest.Moved()[2], transfer.ImportRequest{AsCopy: true})
	},
	"upload": func(s *scene) error {
		_, err := s.Upload(context.Background(), s.main, strings.NewReader("other bytes"), "b.txt")
		return err
	},
	"read": func(s *scene) error {
		_, err := s.Read(context.Background(), s.fork, scrollback.ArtifactRef(s.artifact), 0, 10)
		return err
	},
	"grep": func(s *scene) error {
		_, err := s.Grep(context.Background(), s.main, scrollback.GrepQuery{Pattern: "question"})
		return err
	},
	"search": func(s *scene) error {
		_, err := s.Search(context.Background(), scrollback.SearchQuery{Query: "question", Conversation: s.fork, Around: 1})
		return err
	},
	"context": func(s *scene) error { _, err := s.Context(context.Background(), s.main); return err },
	"resolve": func(s *scene) error { _, err := s.Resolve(context.Background(), string(s.main)[:13]); return err },
}

// reading are the operations that write nothing, whatever happens.
var reading = map[string]bool{"branches": true, "export": true, "bundle": true, "read": true, "grep": true,
	"search": true, "context": true,
	"resolve": true}

// kept returns every message that is stored, by id.
func kept(t *testing.T, r *enginetest.Rig) map[scrollback.MessageID]bool {
	t.Helper()
	out := map[scrollback.MessageID]bool{}
	for _, trash := range []bool{false, true} {
		page, _, err := r.List(context.Background(), scrollback.ListQuery{Trash: trash, Limit: scrollback.ListMax})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			bs, err := r.Branches().List(context.Background(), c.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bs {
				ms, err := r.Store.ReadMessages(context.Background(), b.ID, 1, b.HeadSeq)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range ms {
					out[m.ID] = true
				}
			}
		}
	}
	return out
}

// In every operation of an engine each driver call fails once, before it did
// anything and after: nothing acknowledged is lost, what is kept is sound, and the
// same operation works when it is tried again.
func TestFaultsEverywhere(t *testing.T) {
	t.Parallel()
	step := testlength.Choose[int64](16, 5, 1)
	for name, do := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lost := range []bool{false, true} {
				for i := map[bool]int64{true: step / 2}[lost]; ; i += step { // each way other calls, if not all
					if i > 500 {
						t.Fatal("it does not end")
					}
					mem := oracle.New()
					s := newScene(t, mem)
					before := kept(t, s.Rig)
					faulty := &drivertest.Faulty{At: i, Lost: lost}
					err := do(s.over(enginetest.New(t, enginetest.Options{Driver: faulty.Wrap(mem), Clock: s.Clock, Archive: s.Archive,
						NoFolds: true, Place: s.place, Importers: []transcript.Importer{enginetest.Trail{}}}, modeltest.Say("x"))))
					hit := faulty.Calls() > i
					if !hit && err != nil {
						t.Fatalf("nothing failed, and it ends with %v", err)
					}
					s.sound(t, fmt.Sprintf("call %d (lost %v, %v)", i, lost, err), before, strings.HasPrefix(name, "purge"))
					if reading[name] && len(kept(t, s.Rig)) != len(before) {
						t.Fatalf("call %d: a read wrote", i)
					}
					s.Clock.Add(60_000)
					if again := do(s); again != nil && !done(again, lost || err == nil || strings.HasPrefix(name, "unfold")) {
						t.Fatalf("call %d (lost %v) failed with %v; again it ends with %v", i, lost, err, again)
					}
					s.sound(t, fmt.Sprintf("call %d (lost %v), again", i, lost), before, strings.HasPrefix(name, "purge"))
					if !hit {
						break
					}
				}
			}
		})
	}
}

// done reports whether an error only tells that the thing was done already, by a call
// whose answer was lost, or one before a read that failed.
func done(err error, may bool) bool {
	code := scrollback.CodeOf(err)
	return may && (code == scrollback.NotFound || code == scrollback.Invalid || code == scrollback.Conflict)
}

func (s *scene) sound(t *testing.T, when string, before map[scrollback.MessageID]bool, purged bool) {
	t.Helper()
	found, err := doctor.Check(t.Context(), s.Store, s.Archive, nil)
	if err != nil || !found.OK {
		t.Fatalf("%s: the check finds %+v, %v", when, found.Problems, err)
	}
	if purged {
		return
	}
	now := kept(t, s.Rig)
	for id := range before {
		if !now[id] {
			t.Fatalf("%s: message %s is gone", when, id)
		}
	}
}
