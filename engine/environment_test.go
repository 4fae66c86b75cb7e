package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// inFolder returns a rig whose conversations may work in a folder with a memory file.
func inFolder(t *testing.T, o enginetest.Options, steps ...modeltest.Step) (*enginetest.Rig, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	remember(t, root, "Answer in verse.")
	o.Place = &workspace.Place{Roots: []string{root}, OS: "linux", Now: time.Unix(0, 0).UTC()}
	return enginetest.New(t, o, steps...), root
}

func remember(t *testing.T, root, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "AGENTS.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sent returns the text of the items of the last request, from an item on.
func sent(r *enginetest.Rig, from int) []string {
	reqs := r.Script.Requests()
	var out []string
	for _, it := range reqs[len(reqs)-1].Items {
		if it.Kind != scrollback.KindTools {
			out = append(out, it.Parts.Text())
		}
	}
	return out[min(from, len(out)):]
}

// The environment is told once, byte for byte the same in every request; what
// changes is told before the message that comes next, once; a path that was left
// does not count as told.
func TestEnvironment(t *testing.T) {
	ctx := context.Background()
	r, root := inFolder(t, enginetest.Options{}, modeltest.Say("fine"))
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "one").WantDone(t, scrollback.TurnComplete, "stop")
	first := sent(r, 0)
	if len(first) != 2 || !strings.Contains(first[0], "Answer in verse.") || !strings.Contains(first[0], root) ||
		first[1] != "one" {
		t.Fatalf("sent %q", first)
	}
	if err := os.WriteFile(filepath.Join(root, "new file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "two")
	if got := sent(r, 0); got[0] != first[0] || len(got) != 4 {
		t.Fatalf("a file more changed what was frozen, or was told: %q", got)
	}

	r.Clock.Add(24 * time.Hour.Milliseconds())
	remember(t, root, "Answer in prose.")
	r.Ask(c.ID, "three")
	got := sent(r, 5)
	if sent(r, 0)[0] != first[0] || len(got) != 2 || !strings.Contains(got[0], "Answer in prose.") ||
		!strings.Contains(got[0], "Today is") ||
		got[1] != "three" {
		t.Fatalf("the next day %q was sent", got)
	}
	r.Ask(c.ID, "four")
	if n := strings.Count(strings.Join(sent(r, 0), ""), "<environment_change>"); n != 1 {
		t.Errorf("one change is told %d times", n)
	}

	if _, err := r.Branches().Rewind(ctx, c.ID, engine.Point{Seq: new(int64(2))}); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "another three")
	if got := sent(r, 3); len(got) != 2 || !strings.Contains(got[0], "Answer in prose.") {
		t.Errorf("on a path where it was not told, %q is sent", got)
	}

	f, err := r.Branches().Fork(ctx, c.ID, engine.Point{Seq: new(int64(1))}, "")
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(f.ID, "in the fork")
	if got := sent(r, 0); got[0] != first[0] || !strings.Contains(got[2], "Answer in prose.") || got[3] != "in the fork" {
		t.Errorf("the fork sends %q", got)
	}

	remember(t, root, "Answer in verse.")
	r.Clock.Add(-24 * time.Hour.Milliseconds())
	r.Ask(f.ID, "as it was")
	if got := sent(r, 5); !strings.Contains(got[0], "again as the conversation began") {
		t.Errorf("back at the first state %q is sent", got)
	}
}

// A path that ends with a change which is not so any more is told so, and one where
// nothing was ever told but the beginning is told nothing.
func TestEnvironmentBeforeAnUndoneChange(t *testing.T) {
	ctx := context.Background()
	r, root := inFolder(t, enginetest.Options{}, modeltest.Say("fine"))
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	back := func(seq int64) {
		if _, err := r.Branches().Rewind(ctx, c.ID, engine.Point{Seq: &seq}); err != nil {
			t.Fatal(err)
		}
	}
	r.Ask(c.ID, "one")
	back(0)
	r.Ask(c.ID, "again one")
	if got := sent(r, 1); len(got) != 1 {
		t.Errorf("nothing has changed, and %q is sent", got)
	}
	remember(t, root, "Answer in prose.")
	r.Ask(c.ID, "two") // 3 is the change, 4 the question, 5 the answer
	remember(t, root, "Answer in verse.")
	for _, text := range []string{"three", "again three"} {
		back(5)
		r.Ask(c.ID, text)
		if got := sent(r, 6); len(got) != 2 || !strings.Contains(got[0], "again as the conversation began") {
			t.Errorf("behind a change that was undone %q is sent", got)
		}
	}
}

// The date is that of the person who asks, wherever the server is; a request that says no zone
// is told the server's.
func TestDateWhereThePersonIs(t *testing.T) {
	r, _ := inFolder(t, enginetest.Options{}, modeltest.Say("fine"))
	c := r.NewConversation()
	ask := func(text string, zone *time.Location) string {
		t.Helper()
		r.Run(engine.TurnRequest{Conversation: c, Message: scrollback.Say(text), Zone: zone}).WantDone(t,
			scrollback.TurnComplete,
			"stop")
		return strings.Join(sent(r, 0), "\n")
	}
	now := time.UnixMilli(r.Clock.Load()).UTC()
	midnight := now.Truncate(24 * time.Hour).Add(24*time.Hour - time.Minute)
	r.Clock.Store(midnight.UnixMilli())
	east := time.FixedZone("east", 8*3600)
	for zone, want := range map[*time.Location]string{east: midnight.In(east).Format("2 January 2006") + " (UTC+08:00)",
		nil: ""} {
		m, err := r.Context(t.Context(), c, engine.ContextRequest{Content: true, Zone: zone})
		shown, _ := json.Marshal(m)
		if err != nil || !strings.Contains(string(shown), want) || want == "" && strings.Contains(string(shown), "(UTC") {
			t.Errorf("before the first message in the zone %v: %v\n%s", zone, err, shown)
		}
	}
	if text := ask("one", east); !strings.Contains(text, midnight.In(east).Format("2 January 2006")+" (UTC+08:00)") {
		t.Errorf("in the east a model is told %s", text)
	}
	if text := ask("two", nil); !strings.Contains(text, midnight.Format("2 January 2006")+" (UTC+00:00)") {
		t.Errorf("without a zone a model is told %s", text)
	}
}

// A fold keeps the newest change in sight, and only that.
func TestEnvironmentIsCarried(t *testing.T) {
	ctx := context.Background()
	r, root := inFolder(t, enginetest.Options{}, enginetest.ChattyStep())
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if i == 5 || i == 10 {
			remember(t, root, fmt.Sprintf("Answer %d times.", i))
		}
		e := r.Ask(c.ID, fmt.Sprint("question ", i, strings.Repeat(" and more words", 60)))
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
	r.Engine.Rest()
	rs, err := r.Receipts(ctx, c.ID, 9)
	if err != nil || len(rs) < 2 {
		t.Fatalf("%d folds, %v", len(rs), err)
	}
	all := strings.Join(sent(r, 1), "\n")
	if strings.Count(all, "Answer 10 times.") != 1 || strings.Contains(all, "Answer 5 times.") {
		t.Errorf("after %d folds the window says\n%.3000s", len(rs), all)
	}
	enginetest.CheckViews(t, r, c.ID)
	if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "afresh")
	if all := strings.Join(sent(r, 1), "\n"); strings.Count(all, "Answer 10 times.") != 1 {
		t.Errorf("after a clear the window says\n%.3000s", all)
	}
}

// Roots are the operator's to grant: a request only narrows, and what is not granted
// any more is not read.
func TestRoots(t *testing.T) {
	ctx := context.Background()
	r, root := inFolder(t, enginetest.Options{}, modeltest.Say("fine"))
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Create(ctx, scrollback.Conversation{Roots: []string{outside}})
	enginetest.WantCode(t, err, scrollback.Refused, "outside")
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root + "/."}})
	if err != nil || len(c.Roots) != 1 || c.Roots[0] != root {
		t.Fatalf("%+v, %v", c.Roots, err)
	}
	add := func(folder string) error {
		_, err := r.Patch(ctx, c.ID, 0, func(c *scrollback.Conversation) error {
			c.Roots = append(c.Roots, folder)
			return nil
		})
		return err
	}
	enginetest.WantCode(t, add(outside), scrollback.Refused, "outside")
	r.Ask(c.ID, "one")
	if _, err := admin(r).Grant(outside); err != nil {
		t.Fatal(err)
	}
	remember(t, outside, "Count in twelves.")
	if err := add(outside); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "two")
	if got := sent(r, 3); !strings.Contains(got[0], "A working folder more: "+outside) ||
		!strings.Contains(got[0], "Count in twelves.") {
		t.Errorf("a root more is told as %q", got)
	}
	if err := os.RemoveAll(outside); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "three") // a folder that vanished stops nothing
	if got := sent(r, 6); !strings.Contains(got[0], "again as the conversation began") &&
		!strings.Contains(got[0], "No longer") {
		t.Errorf("a root that vanished is told as %q", got)
	}
	bare := enginetest.New(t, enginetest.Options{Driver: r.Driver, Clock: r.Clock,
		Place: &workspace.Place{Now: time.Unix(0, 0).UTC()}},
		modeltest.Say("fine"))
	bare.Ask(c.ID, "elsewhere")
	if got := strings.Join(sent(bare, 7), "\n"); !strings.Contains(got, "No longer a working folder: "+root) {
		t.Errorf("where nothing is granted %q is sent", got)
	}
}

// What is asked is the same however often a conversation is opened again.
func TestResumeIsResume(t *testing.T) {
	ctx := context.Background()
	r, root := inFolder(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		r.Ask(c.ID, fmt.Sprint("question ", i, strings.Repeat(" 更多 words", 60)))
	}
	open := func() (string, string) {
		fresh := enginetest.New(t, enginetest.Options{Driver: r.Driver, Clock: r.Clock, Archive: r.Archive, NoFolds: true,
			Place: &workspace.Place{Roots: []string{root}, OS: "linux", Now: time.Unix(0, 0).UTC()}}, modeltest.Say("x"))
		before := kept(t, fresh)
		id, err := fresh.Resolve(ctx, string(c.ID)[:13])
		if err != nil {
			t.Fatal(err)
		}
		conv, err := fresh.Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		m, err := fresh.Context(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := fresh.List(ctx, scrollback.ListQuery{}); err != nil || len(kept(t, fresh)) != len(before) {
			t.Fatalf("opening wrote something: %v", err)
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b), fmt.Sprint(conv.Version, conv.UpdatedAt)
	}
	window, version := open()
	for range 3 {
		if w, v := open(); w != window || v != version {
			t.Fatalf("opened again it is\n%s %s\nwant\n%s %s", w, v, window, version)
		}
	}
	// The next request begins with the bytes of the last one, in any process.
	last := r.Script.Requests()
	fresh := enginetest.New(t, enginetest.Options{Driver: r.Driver, Clock: r.Clock, NoFolds: true,
		Place: &workspace.Place{Roots: []string{root}, OS: "linux", Now: time.Unix(0, 0).UTC()}}, modeltest.Say("x"))
	fresh.Ask(c.ID, "go on")
	next := fresh.Script.Requests()
	if rs, err := r.Receipts(ctx, c.ID, 1); err != nil || len(rs) == 0 {
		t.Fatalf("no fold in the story: %v", err)
	}
	if m, err := r.Context(ctx, c.ID); err != nil || len(m.Excluded) == 0 {
		t.Fatalf("nothing is folded: %v", err)
	}
	if !beginsWith(next[0].Items, last[len(last)-1].Items) {
		t.Error("after opening again the request begins otherwise")
	}
}

// Paths are completed in the folders that are granted now, and in no others; without any
// there is nothing to complete.
func TestFiles(t *testing.T) {
	ctx := context.Background()
	r, root := inFolder(t, enginetest.Options{}, modeltest.Say("fine"))
	for _, name := range []string{"docs/guide.md", "docs/指南.md"} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := r.Create(ctx, scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	offers := func(id scrollback.ConversationID, prefix string, limit int, want ...string) {
		t.Helper()
		got, err := r.Files(ctx, id, prefix, limit)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, f := range got {
			paths = append(paths, f.Path)
			if f.Folder != strings.HasSuffix(f.Path, "/") {
				t.Errorf("%+v", f)
			}
		}
		if !slices.Equal(paths, want) {
			t.Errorf("%q is completed to %q, want %q", prefix, paths, want)
		}
	}
	offers(c.ID, "", 0, "docs/", "AGENTS.md")
	offers(c.ID, "docs/", 0, "docs/guide.md", "docs/指南.md")
	offers(c.ID, "docs/", 1, "docs/guide.md")
	offers(c.ID, "指", 0, "docs/指南.md")
	offers(c.ID, "../", 0)
	offers(c.ID, "/", 0)
	offers(r.NewConversation(), "", 0)
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	offers(c.ID, "", 0)
}
