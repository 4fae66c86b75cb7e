package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// theirs is a conversation of another project with one of everything.
type theirs struct {
	id       scrollback.ConversationID
	ref      scrollback.Ref // of a compaction
	artifact scrollback.ArtifactID
	turn     scrollback.TurnID
	bundle   []byte
	archive  string // its key
	kept     scrollback.KeptID
}

func newTheirs(t *testing.T, r *enginetest.Rig) theirs {
	t.Helper()
	ctx := context.Background()
	c, _, err := r.Create(ctx, scrollback.Conversation{Project: "theirs", Title: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	out := theirs{id: c.ID}
	r.Ask(c.ID, "Never push to main.")
	entries, err := r.View.Kept().List(ctx, c.ID, false)
	if err != nil || len(entries) != 1 {
		t.Fatalf("kept are %+v, %v", entries, err)
	}
	out.kept = entries[0].ID
	for range 2 {
		told := r.Ask(c.ID, "the secret word is zanzibar")
		begun, _ := enginetest.Last[scrollback.TurnEvent](told)
		out.turn = begun.TurnID
	}
	a, err := r.Upload(ctx, c.ID, strings.NewReader("zanzibar in a file"), "secret.txt")
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := r.Compact(ctx, c.ID, engine.CompactRequest{Clear: true})
	if err != nil || len(receipt.Refs) == 0 {
		t.Fatalf("nothing was compacted: %+v %v", receipt, err)
	}
	out.artifact = a.ID
	out.ref = receipt.Refs[0]
	var file bytes.Buffer
	if err := r.Export(ctx, c.ID, transfer.ExportRequest{}, &file); err != nil {
		t.Fatal(err)
	}
	out.bundle = file.Bytes()
	archived, err := r.Transfer.Copies().Write(ctx, r.View, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	out.archive = archived.Key
	return out
}

// callerOperations returns every exported operation that concerns conversations, by the type and
// method that it is: what it does to theirs, and the access it needs.
func callerOperations(r *enginetest.Rig, o theirs) map[string]struct {
	need scrollback.Access
	run  func(v *engine.View) error
} {
	ctx := context.Background()
	type op = struct {
		need scrollback.Access
		run  func(v *engine.View) error
	}
	read := func(run func(v *engine.View) error) op { return op{scrollback.AccessRead, run} }
	write := func(run func(v *engine.View) error) op { return op{scrollback.AccessWrite, run} }
	ask := engine.TurnRequest{Conversation: o.id, Message: enginetest.Say("what is it?")}
	one := int64(1)
	return map[string]op{
		"View.MatchThread": write(func(v *engine.View) error {
			_, err := v.MatchThread(ctx, "theirs", &threading.Request{})
			return err
		}),
		"View.NoteMadeIDs": write(func(v *engine.View) error {
			return v.NoteMadeIDs(ctx, o.id, []string{"file-made-for-theirs"})
		}),
		"View.BeginExchange": write(func(v *engine.View) error {
			_, err := v.BeginExchange(ctx, engine.ExchangeRequest{Match: &threading.Match{Thread: threading.ThreadID(o.id)}})
			return err
		}),
		"View.BeginSideCall": write(func(v *engine.View) error {
			_, _, err := v.BeginSideCall(ctx, engine.SideCallRequest{Match: &threading.Match{}, Project: "theirs"})
			return err
		}),
		"View.CountingModel": read(func(v *engine.View) error {
			_, _, err := v.CountingModel(ctx, "theirs", engine.Overrides{})
			return err
		}),
		"View.ReadAnswer": read(func(v *engine.View) error { _, err := v.ReadAnswer(ctx, o.id, o.turn); return err }),
		"View.Get":        read(func(v *engine.View) error { _, err := v.Get(ctx, o.id); return err }),
		"Bulk.Head": read(func(v *engine.View) error {
			_, err := v.Bulk().Head(ctx, o.id, scrollback.AccessRead)
			return err
		}),
		"Bulk.MaySummarize":   read(func(v *engine.View) error { return v.Bulk().MaySummarize(ctx, "theirs", nil) }),
		"Bulk.ResolveProject": read(func(v *engine.View) error { _, err := v.Bulk().ResolveProject("theirs"); return err }),
		"View.Resolve":        read(func(v *engine.View) error { _, err := v.Resolve(ctx, string(o.id)); return err }),
		"Branches.List":       read(func(v *engine.View) error { _, err := v.Branches().List(ctx, o.id); return err }),
		"Kept.List":           read(func(v *engine.View) error { _, err := v.Kept().List(ctx, o.id, false); return err }),
		"Kept.ListProject":    read(func(v *engine.View) error { _, err := v.Kept().ListProject(ctx, "theirs"); return err }),
		"Kept.Keep": write(func(v *engine.View) error {
			_, err := v.Kept().Keep(ctx, o.id, 1, "zanzibar", "")
			return err
		}),
		"Kept.SetState": write(func(v *engine.View) error {
			_, err := v.Kept().SetState(ctx, o.id, o.kept, scrollback.KeptDropped)
			return err
		}),
		"View.LeavingOut": read(func(v *engine.View) error {
			_, err := v.LeavingOut(ctx, o.id, []int64{1}, nil)
			return err
		}),
		"View.Files":    read(func(v *engine.View) error { _, err := v.Files(ctx, o.id, "", 1); return err }),
		"View.Context":  read(func(v *engine.View) error { _, err := v.Context(ctx, o.id); return err }),
		"View.Receipts": read(func(v *engine.View) error { _, err := v.Receipts(ctx, o.id, 1); return err }),
		"Turns.Get":     read(func(v *engine.View) error { _, err := v.Turns().Get(ctx, o.id, o.turn); return err }),
		"Turns.IsLastEvent": read(func(v *engine.View) error {
			_, err := v.Turns().IsLastEvent(ctx, o.id, o.turn, 1)
			return err
		}),
		"Turns.Running": read(func(v *engine.View) error { _, err := v.Turns().Running(ctx, o.id); return err }),
		"Turns.Page": read(func(v *engine.View) error {
			_, err := v.Turns().Page(ctx, o.id, scrollback.PageQuery{})
			return err
		}),
		"Turns.Attach": read(func(v *engine.View) error {
			for _, err := range v.Turns().Attach(ctx, o.id, o.turn, 0) {
				return err
			}
			return nil
		}),
		"Projects.Get":     read(func(v *engine.View) error { _, err := v.Projects().Get(ctx, "theirs"); return err }),
		"Projects.Resolve": read(func(v *engine.View) error { _, err := v.Projects().Resolve(ctx, "theirs"); return err }),
		"Projects.Put": {scrollback.AccessAdmin, func(v *engine.View) error {
			_, err := v.Projects().Put(ctx, "theirs", 0, func(p *scrollback.Project) error { p.Title = "ours"; return nil })
			return err
		}},
		"Projects.Delete": {scrollback.AccessAdmin,
			func(v *engine.View) error { return v.Projects().Delete(ctx, "theirs", 0) }},
		"View.Tell": write(func(v *engine.View) error {
			_, _, err := v.Tell(ctx, engine.TellRequest{Of: o.id})
			return err
		}),
		"View.Turn": write(func(v *engine.View) error {
			for _, err := range v.Turn(ctx, ask) {
				return err
			}
			return nil
		}),
		"View.Begin":   write(func(v *engine.View) error { _, _, err := v.Begin(ctx, ask); return err }),
		"Turns.Cancel": write(func(v *engine.View) error { return v.Turns().Cancel(ctx, o.id, o.turn) }),
		"View.Create": write(func(v *engine.View) error { // whose id is taken
			_, _, err := v.Create(ctx, scrollback.Conversation{ID: o.id})
			return err
		}),
		"View.Patch": write(func(v *engine.View) error {
			_, err := v.Patch(ctx, o.id, 0, func(c *scrollback.Conversation) error { c.Title = "mine"; return nil })
			return err
		}),
		"Branches.Rewind": write(func(v *engine.View) error {
			_, err := v.Branches().Rewind(ctx, o.id, engine.Point{Seq: &one})
			return err
		}),
		"Branches.Fork": write(func(v *engine.View) error {
			_, err := v.Branches().Fork(ctx, o.id, engine.Point{Seq: &one}, "")
			return err
		}),
		"View.Compact": write(func(v *engine.View) error {
			_, err := v.Compact(ctx, o.id, engine.CompactRequest{})
			return err
		}),
		"View.Uncompact": write(func(v *engine.View) error { _, err := v.Uncompact(ctx, o.id, ""); return err }),
		"Compactions.Undo": write(func(v *engine.View) error {
			_, err := v.Compactions().Undo(ctx, o.id, engine.UndoRequest{DryRun: true})
			return err
		}),
		"Compactions.Redo": write(func(v *engine.View) error {
			_, err := v.Compactions().Redo(ctx, o.id, engine.UndoRequest{})
			return err
		}),
		"Turns.Context": read(func(v *engine.View) error {
			_, err := v.Turns().Context(ctx, o.id, o.turn, engine.PastRequest{Content: true})
			return err
		}),
		"View.Upload": write(func(v *engine.View) error {
			_, err := v.Upload(ctx, o.id, strings.NewReader("x"), "x")
			return err
		}),
		"View.Trash":          write(func(v *engine.View) error { _, err := v.Trash(ctx, o.id); return err }),
		"View.Restore":        write(func(v *engine.View) error { _, err := v.Restore(ctx, o.id); return err }),
		"View.Purge":          write(func(v *engine.View) error { _, err := v.Purge(ctx, o.id); return err }),
		"Bulk.Backlog":        write(func(v *engine.View) error { _, err := v.Bulk().Backlog(ctx, o.id); return err }),
		"Bulk.AdoptBrought":   write(func(v *engine.View) error { return v.Bulk().AdoptBrought(ctx, o.id) }),
		"Bulk.HasThread":      read(func(v *engine.View) error { _, err := v.Bulk().HasThread(ctx, o.id); return err }),
		"Reader.Conversation": read(func(v *engine.View) error { _, err := v.Recall().Conversation(ctx, o.id); return err }),
		"Reader.Origins": read(func(v *engine.View) error {
			_, err := v.Recall().Origins(ctx, []scrollback.ConversationID{o.id})
			return err
		}),
		"Reader.Refs": read(func(v *engine.View) error {
			_, _, err := v.Recall().Refs(ctx, o.id, scrollback.RefQuery{})
			return err
		}),
		"Reader.Owner": read(func(v *engine.View) error { _, err := v.Recall().Owner(ctx, o.ref); return err }),
		"Reader.Read": read(func(v *engine.View) error {
			_, err := v.Recall().Read(ctx, o.id, o.ref, 0, 100)
			return err
		}),
		"Reader.Tail":     read(func(v *engine.View) error { _, err := v.Recall().Tail(ctx, o.id, o.ref, 1); return err }),
		"Reader.Leaves":   read(func(v *engine.View) error { _, err := v.Recall().Leaves(ctx, o.id, o.ref); return err }),
		"Reader.Segments": read(func(v *engine.View) error { _, err := v.Recall().Segments(ctx, o.id); return err }),
		"Reader.Shape":    read(func(v *engine.View) error { _, err := v.Recall().Shape(ctx, o.id, 9); return err }),
		"Reader.Grep": read(func(v *engine.View) error {
			_, err := v.Recall().Grep(ctx, o.id, scrollback.GrepQuery{Pattern: "zanzibar"})
			return err
		}),
		"Reader.Search": read(func(v *engine.View) error {
			_, err := v.Recall().Search(ctx, scrollback.SearchQuery{Query: "zanzibar", Conversation: o.id})
			return err
		}),
		"Reader.SignedArtifact": read(func(v *engine.View) error {
			_, err := v.Recall().SignedArtifact(ctx, o.id, o.artifact, func(scrollback.Artifact) string { return "attachment" })
			return err
		}),
		"Reader.Artifact": read(func(v *engine.View) error {
			_, f, err := v.Recall().Artifact(ctx, o.id, o.artifact)
			if f != nil {
				f.Close()
			}
			return err
		}),
		"Reader.Messages": read(func(v *engine.View) error {
			_, _, err := v.Recall().Messages(ctx, o.id, scrollback.PageQuery{})
			return err
		}),
		"Reader.AllMessages": read(func(v *engine.View) error {
			for _, err := range v.Recall().AllMessages(ctx, o.id) {
				return err
			}
			return nil
		}),
		"Reader.PinnedMessages": read(func(v *engine.View) error {
			_, err := v.Recall().PinnedMessages(ctx, o.id)
			return err
		}),
		"Reader.RunTool": read(func(v *engine.View) error {
			_, err := v.Recall().RunTool(ctx, o.id, "context_list", json.RawMessage(`{}`), recall.RoomMax)
			return err
		}),
		"Transfer.Export": read(func(v *engine.View) error {
			return r.Transfer.Export(ctx, v, o.id, transfer.ExportRequest{}, io.Discard)
		}),
		"Copies.Write": write(func(v *engine.View) error {
			_, err := r.Transfer.Copies().Write(ctx, v, o.id)
			return err
		}),
		"Copies.WriteMasked": read(func(v *engine.View) error {
			return r.Transfer.Copies().WriteMasked(ctx, v, o.id, io.Discard, new(mask.Masker))
		}),
		"Copies.List": read(func(v *engine.View) error {
			_, err := r.Transfer.Copies().List(ctx, v, o.id, 1)
			return err
		}),
		"Copies.Open": read(func(v *engine.View) error {
			_, f, err := r.Transfer.Copies().Open(ctx, v, o.id, o.archive)
			if f != nil {
				f.Close()
			}
			return err
		}),
		"Transfer.FollowPath": write(func(v *engine.View) error {
			_, err := r.Transfer.FollowPath(ctx, v, transfer.FollowRequest{Conversation: o.id, Entries: nothing})
			return err
		}),
		"Transfer.EntriesSince": read(func(v *engine.View) error {
			for _, err := range r.Transfer.EntriesSince(ctx, v, o.id, 0) {
				return err
			}
			return nil
		}),
		"Transfer.Import": write(func(v *engine.View) error {
			said := strings.NewReader(`{"role":"user","content":"hello"}` + "\n")
			_, err := r.Transfer.Import(ctx, v, said, transfer.ImportRequest{Into: o.id})
			return err
		}),
		"Transfer.MarkGone": write(func(v *engine.View) error {
			return r.Transfer.MarkGone(ctx, v, []scrollback.Origin{{Tool: "tool", ID: "theirs", Conversation: o.id}}, 1)
		}),
	}
}

// nothing is a path without messages.
func nothing(func(transcript.Entry, error) bool) {}

// aside are the exported methods that concern no one conversation: what they show a
// foreign caller is tested by name below.
var aside = map[string]bool{"View.Caller": true, "View.NewExchangeID": true, "View.Recall": true, "View.Limits": true, "View.Admin": true,
	"View.List":     true,
	"View.Projects": true, "View.Branches": true, "View.Kept": true, "View.Compactions": true, "View.Changes": true,
	"View.Usage": true, "View.Models": true, "View.CheckModel": true, "View.CheckSettings": true, "View.PassLimits": true,
	"View.Turns": true, "View.Bulk": true, "Projects.List": true, "Bulk.TakeApart": true, "Bulk.AddPrice": true, // of what one has
	"Bulk.IsHidden":     true, // says of an id that another has it, to who would make a conversation of it
	"View.CheckMadeIDs": true, // of no conversation: that of another caller's is not_found (TestDoorMadeIDs)
	"Reader.WithPlace":  true, "Reader.WithFolders": true, "Reader.LocalConversations": true, "Reader.SeenProjects": true,
	// those of transfer
	"Transfer.Copies": true, "Transfer.Formats": true, "Transfer.ImportSession": true, "Transfer.Origins": true, "Transfer.WasDeleted": true,
	"Transfer.Survey": true} // of a file, and nothing that is stored

// Nothing that is exported reaches a conversation for a caller whose it is not: it is
// not_found, with every access; and what a caller's access does not allow is refused.
func TestForeignCaller(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	o := newTheirs(t, r)
	all := callerOperations(r, o)
	v := r.View
	for _, of := range []any{v, r.Reader, r.Transfer, r.Transfer.Copies(), v.Turns(), v.Bulk(), v.Branches(), v.Kept(),
		v.Compactions(),
		v.Projects()} {
		typ := reflect.TypeOf(of)
		for m := range typ.Methods() {
			name := strings.TrimPrefix(typ.String()[strings.LastIndex(typ.String(), ".")+1:], "*") + "." + m.Name
			if _, known := all[name]; !known && !aside[name] {
				t.Errorf("%s is not tested for foreign callers", name)
			}
		}
	}
	foreign := r.Engine.As(scrollback.Caller{Access: scrollback.AccessAdmin, Projects: []string{"ours"}})
	nobody := r.Engine.As(scrollback.Caller{})
	for name, op := range all {
		if err := op.run(foreign); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%s by a foreign caller: %v", name, err)
		}
		if err := op.run(nobody); err == nil {
			t.Errorf("%s by nobody succeeds", name)
		}
	}
	reader := r.Engine.As(scrollback.Caller{Access: scrollback.AccessRead, Projects: []string{"theirs"}})
	for name, op := range all {
		err := op.run(reader)
		if op.need >= scrollback.AccessWrite && scrollback.CodeOf(err) != scrollback.Refused {
			t.Errorf("%s by a caller who may only read: %v", name, err)
		}
		if op.need == scrollback.AccessRead && err != nil {
			t.Errorf("%s by a caller who may read: %v", name, err)
		}
	}
	writer := r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"theirs"}})
	for name, op := range all {
		if op.need == scrollback.AccessAdmin && scrollback.CodeOf(op.run(writer)) != scrollback.Refused {
			t.Errorf("%s by a caller who may write: %v", name, op.run(writer))
		}
	}
}

// What lists or adds up looks only at the caller's projects.
func TestForeignCallerSeesNothing(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	o := newTheirs(t, r)
	mine := r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"ours", "more"}})
	c, _, err := mine.Create(ctx, scrollback.Conversation{Title: "mine"}) // in the first of its projects
	if err != nil || c.Project != "ours" {
		t.Fatalf("created in %q: %v", c.Project, err)
	}
	for _, err := range mine.Turn(ctx, engine.TurnRequest{Conversation: c.ID,
		Message: enginetest.Say("zanzibar of mine")}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := mine.Create(ctx,
		scrollback.Conversation{Project: "theirs"}); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("created in a foreign project: %v", err)
	}
	into := func(c *scrollback.Conversation) error { c.Project = "theirs"; return nil }
	if _, err := mine.Patch(ctx, c.ID, 0, into); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("moved to a foreign project: %v", err)
	}
	list, _, err := mine.List(ctx, scrollback.ListQuery{})
	if err != nil || len(list) != 1 || list[0].ID != c.ID {
		t.Errorf("listed %+v (%v)", list, err)
	}
	if _, _, err := mine.List(ctx,
		scrollback.ListQuery{Project: "theirs"}); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("listed a foreign project: %v", err)
	}
	if list, _, err := mine.List(ctx, scrollback.ListQuery{AgentOf: []scrollback.ConversationID{o.id}}); err != nil ||
		len(list) != 0 {
		t.Errorf("listed foreign sub-agents: %+v (%v)", list, err)
	}
	if id, err := mine.Resolve(ctx, "latest"); err != nil || id != c.ID {
		t.Errorf("the latest is %s (%v)", id, err)
	}
	if _, err := mine.Resolve(ctx, string(o.id)[:13]); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("a foreign id that was cut short: %v", err)
	}
	projects, err := mine.Projects().List(ctx)
	if err != nil || len(projects) != 1 || projects[0].Name != "ours" {
		t.Errorf("projects %+v (%v)", projects, err)
	}
	from := scrollback.Origin{Tool: "tool", ID: "theirs", Conversation: o.id, Folder: "/src/theirs"}
	if err := r.Store.Origins.Put(ctx, from, ""); err != nil {
		t.Fatal(err)
	}
	ground := recall.WorkPlace{Folders: []string{"/src/theirs"}}
	for whose, want := range map[*engine.View]int{mine: 0, r.View: 1} {
		on, err := whose.Recall().WithPlace(ctx, ground)
		if err != nil {
			t.Fatal(err)
		}
		if here, err := on.LocalConversations(ctx); err != nil || len(here) != want {
			t.Errorf("in their folder are %+v (%v), want %d", here, err, want)
		}
	}
	if _, err := mine.Recall().SeenProjects("theirs"); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("a foreign project is seen: %v", err)
	}
	found, err := mine.Recall().Search(ctx, scrollback.SearchQuery{Query: "zanzibar", Limit: 20})
	for _, h := range found.Hits {
		if h.ConversationID != c.ID {
			t.Errorf("found %+v", h)
		}
	}
	if err != nil || len(found.Hits) == 0 {
		t.Errorf("found %d (%v)", len(found.Hits), err)
	}
	found, err = mine.Recall().Search(ctx, scrollback.SearchQuery{Query: "zanzibar", Conversation: c.ID,
		Agents: []scrollback.ConversationID{o.id}})
	for _, h := range found.Hits {
		if h.ConversationID != c.ID {
			t.Errorf("found as a sub-agent's: %+v", h)
		}
	}
	if err != nil || len(found.Hits) == 0 {
		t.Errorf("found %d (%v)", len(found.Hits), err)
	}
	if _, err := mine.Recall().Search(ctx, scrollback.SearchQuery{Query: "zanzibar",
		Project: "theirs"}); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("searched a foreign project: %v", err)
	}
	sums, err := mine.Usage(ctx, scrollback.UsageQuery{To: 1 << 60, ByProject: true})
	for _, s := range sums {
		if s.Project != "ours" {
			t.Errorf("usage of %+v", s)
		}
	}
	if err != nil || len(sums) != 1 {
		t.Errorf("usage %+v (%v)", sums, err)
	}
	if sums, err := mine.Usage(ctx, scrollback.UsageQuery{To: 1 << 60, Projects: []string{"theirs"}}); err != nil ||
		len(sums) != 0 {
		t.Errorf("usage of a foreign project: %+v (%v)", sums, err)
	}
	if list, _, err := mine.List(ctx, scrollback.ListQuery{Projects: []string{"theirs", "more"}}); err != nil ||
		len(list) != 0 {
		t.Errorf("listed of foreign projects: %+v (%v)", list, err)
	}
	if _, err := r.Engine.As(scrollback.Caller{}).Models(ctx); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("models for nobody: %v", err)
	}
	for told, err := range mine.Changes(ctx, 0) {
		if err != nil || told.Conversation == o.id || told.Project == "theirs" {
			t.Errorf("told %+v, %v", told, err)
		}
		if told.Type == scrollback.ChangeTurn && told.State == scrollback.TurnComplete {
			break // the last of its own
		}
	}
	for _, err := range r.Engine.As(scrollback.Caller{}).Changes(ctx, 0) {
		if scrollback.CodeOf(err) != scrollback.Refused {
			t.Errorf("changes for nobody: %v", err)
		}
	}
	if _, err := mine.Admin(); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("admin: %v", err)
	}
	backlog, err := mine.Bulk().Backlog(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	forged := store.Head{Conversation: scrollback.Conversation{ID: o.id}}
	if err := backlog.Compact(ctx, &forged); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("compacted a foreign conversation: %v", err)
	}
	attached := scrollback.Message{Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.File{Artifact: o.artifact}}}
	if in, err := backlog.Admit(ctx, attached, nil); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("attached a foreign file, %v: %v", in.Parts, err)
	}
	reader := r.Engine.As(scrollback.Caller{Access: scrollback.AccessRead, Projects: []string{"theirs"}})
	if h, err := reader.Bulk().Head(ctx, o.id, scrollback.AccessWrite); err == nil || h.Title != "" {
		t.Errorf("a refused head shows %q (%v)", h.Title, err)
	}
	_, err = r.Transfer.Import(ctx, mine, bytes.NewReader(o.bundle), transfer.ImportRequest{Project: "ours"})
	if scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("imported a foreign bundle: %v", err)
	}
	if _, err := r.Branches().Fork(ctx, o.id, engine.Point{}, ""); err != nil { // which keeps what it inherits
		t.Fatal(err)
	}
	if _, err := r.Purge(ctx, o.id); err != nil {
		t.Fatal(err)
	}
	_, err = r.Transfer.Import(ctx, mine, bytes.NewReader(o.bundle), transfer.ImportRequest{Project: "ours"})
	if scrollback.CodeOf(err) != scrollback.Conflict || !strings.Contains(err.Error(), "not yours") {
		t.Errorf("imported a foreign bundle that was purged: %v", err)
	}
	copied, err := r.Transfer.Import(ctx, mine, bytes.NewReader(o.bundle),
		transfer.ImportRequest{Project: "ours", AsCopy: true})
	if err != nil || len(copied.Conversations) != 1 || copied.Conversations[0].ID == o.id {
		t.Errorf("a copy: %+v %v", copied, err)
	}
}

// A model's look-ups reach no further than its caller, whatever its conversation
// allows.
func TestRecallScopeOfCaller(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	o := newTheirs(t, r)
	mine := r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"ours"}})
	c, _, err := mine.Create(ctx, scrollback.Conversation{Settings: scrollback.Settings{RecallScope: scrollback.ScopeAll}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"context_read", "context_tail"} {
		args, _ := json.Marshal(map[string]any{"ref": o.ref})
		if text, err := mine.Recall().RunTool(ctx, c.ID, tool, args,
			recall.RoomMax); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%s read %s (%v)", tool, text, err)
		}
		if _, err := r.RunTool(ctx, c.ID, tool, args, recall.RoomMax); err != nil {
			t.Errorf("%s by the operator: %v", tool, err)
		}
	}
	text, err := mine.Recall().RunTool(ctx, c.ID, "context_search", json.RawMessage(`{"query":"zanzibar","scope":"all"}`),
		recall.RoomMax)
	if err != nil || strings.Contains(text, string(o.id)) {
		t.Errorf("searched %s (%v)", text, err)
	}
}

// What a caller imports without naming a project goes to its own, each caller's by itself.
func TestImportsOfCallers(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	mine := r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"ours"}})
	yours := r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"yours"}})
	c, _, err := mine.Create(ctx, scrollback.Conversation{},
		scrollback.Message{Role: scrollback.RoleUser, Parts: enginetest.Say("hello")})
	if err != nil {
		t.Fatal(err)
	}
	fork, err := mine.Branches().Fork(ctx, c.ID, engine.Point{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := r.Transfer.Export(ctx, mine, fork.ID, transfer.ExportRequest{}, &file); err != nil {
		t.Fatal(err)
	}
	bundle := func(v *engine.View, q transfer.ImportRequest) (transfer.ImportResult, error) {
		return r.Transfer.Import(ctx, v, bytes.NewReader(file.Bytes()), q)
	}
	if got, err := bundle(mine, transfer.ImportRequest{}); err != nil ||
		got.Conversations[0].Result != transfer.ResultUnchanged {
		t.Errorf("a fork's bundle: %+v %v", got, err)
	}
	if got, err := bundle(mine, transfer.ImportRequest{AsCopy: true}); err != nil || len(got.Conversations) != 1 {
		t.Errorf("a copy of a fork: %+v %v", got, err)
	}
	if got, err := bundle(yours, transfer.ImportRequest{AsCopy: true}); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("a copy in a foreign project: %+v %v", got, err)
	}
	for _, v := range []*engine.View{mine, yours} {
		said := strings.NewReader(`{"role":"user","content":"hello"}` + "\n")
		got, err := r.Transfer.Import(ctx, v, said, transfer.ImportRequest{})
		if err != nil || !got.Conversations[0].Created {
			t.Fatalf("the file of %s: %+v %v", v.Caller().Projects, got, err)
		}
		if c, err := v.Get(ctx, got.Conversations[0].ID); err != nil || c.Project != v.Caller().Projects[0] {
			t.Errorf("it is in %q (%v)", c.Project, err)
		}
	}
}
