package move_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// testPlace is an empty database, to be opened as a store and as a side.
type testPlace struct {
	store func(t *testing.T) *driver.Driver
	side  func(t *testing.T) *move.Side
}

func onSQLite(t *testing.T) testPlace {
	path := filepath.Join(t.TempDir(), "s.db")
	return testPlace{
		func(t *testing.T) *driver.Driver { return mustOpen(t)(sqlite.Open(t.Context(), path, nil)) },
		func(t *testing.T) *move.Side {
			return mustOpenSide(t)(sqlite.OpenSide(t.Context(), path, "sqlite:"+path, nil))
		},
	}
}

func onPostgres(t *testing.T) testPlace {
	dsn := postgrestest.NewDatabase(t)
	return testPlace{
		func(t *testing.T) *driver.Driver { return mustOpen(t)(postgres.Open(t.Context(), dsn, nil)) },
		func(t *testing.T) *move.Side {
			return mustOpenSide(t)(postgres.OpenSide(t.Context(), dsn, "postgres://…", nil))
		},
	}
}

func mustOpen(t *testing.T) func(*driver.Driver, error) *driver.Driver {
	return func(d *driver.Driver, err error) *driver.Driver {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
}

func mustOpenSide(t *testing.T) func(*move.Side, error) *move.Side {
	return func(s *move.Side, err error) *move.Side {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

// testPairs are the pairs of databases there are.
var testPairs = []struct {
	name     string
	from, to func(t *testing.T) testPlace
}{
	{"SQLiteToPostgres", onSQLite, onPostgres},
	{"PostgresToSQLite", onPostgres, onSQLite},
	{"SQLiteToSQLite", onSQLite, onSQLite},
	{"PostgresToPostgres", onPostgres, onPostgres},
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// oddTexts are texts that not every database stores as they are.
var oddTexts = []string{"nul \x00 byte", "not UTF-8: \xff\xfe", "四字节 𝄞😀", "\uf8f7", "\uf8f7-00", "quote ' and $1"}

// fillStore does many things to a store, and then some that the walk does not do.
func fillStore(t *testing.T, d *driver.Driver, seed uint64) {
	t.Helper()
	drivertest.RunWalk(t, seed, 300, oracle.New(), d)
	ctx := t.Context()
	c := scrollback.Conversation{ID: "ffffffff-odd", Project: "odd", Title: oddTexts[0],
		Instructions: oddTexts[1], Version: 1,
		Branch:    "odd",
		CreatedAt: 1, UpdatedAt: 1}
	_, _, err := d.Log.CreateConversation(ctx, c, scrollback.Branch{ID: "odd", Conversation: c.ID})
	mustSucceed(t, err)
	for i, text := range oddTexts {
		appendMessage(t, d, c.ID, scrollback.MessageID("odd message "+string(rune('a'+i))), text)
	}
	from := scrollback.Origin{Tool: "tool", ID: oddTexts[1], Conversation: c.ID, Folder: oddTexts[2],
		Stamp: oddTexts[0], ImportedAt: 5}
	mustSucceed(t, d.Log.PutOrigin(ctx, from, ""))
	_, err = d.Access.PutProject(ctx, "odd", 7, func(p *scrollback.Project) error {
		p.Title = oddTexts[1]
		p.Instructions = oddTexts[0]
		return nil
	})
	mustSucceed(t, err)
	key := scrollback.Key{ID: "key", Name: oddTexts[2], CreatedAt: 3}
	mustSucceed(t, d.Access.AddKey(ctx, driver.NewKey{Key: key, Hash: driver.SecretHash{1, 0, 255}, Now: 3, Most: 10}))
	mustSucceed(t, d.Access.SignIn(ctx,
		driver.NewSignIn{Hash: driver.SecretHash{2}, Key: "key", Now: 4, Ends: 1 << 50, Most: 10}))
	_, err = d.Turns.Begin(ctx, driver.BeginRequest{Turn: scrollback.Turn{ID: "open", Conversation: c.ID,
		State: scrollback.TurnOpen, Owner: "o",
		LeaseUntil: 1 << 50, StartedAt: 9}, Now: 9})
	mustSucceed(t, err)
	_, err = d.Turns.SaveDraft(ctx, driver.SavedDraft{Turn: "open", Owner: "o", LeaseUntil: 1 << 50,
		Draft: scrollback.Draft{Content: oddTexts[2]}})
	mustSucceed(t, err)
}

func appendMessage(t testing.TB, d *driver.Driver, id scrollback.ConversationID, as scrollback.MessageID, text string) {
	t.Helper()
	m := scrollback.Message{ID: as, Role: scrollback.RoleUser, Status: scrollback.StatusComplete, Name: text,
		CreatedAt: 10,
		Parts:     scrollback.Parts{scrollback.Text{Text: text}},
		Weight:    scrollback.Weight{Tokens: 2, Bytes: int64(len(text))}}
	_, err := d.Log.AppendEntries(t.Context(), driver.Append{Conversation: id, Now: 10, IfHead: -1,
		Entries: []driver.Entry{{Message: m}}})
	if err != nil {
		t.Fatal(err)
	}
}

// wantEqual compares two stores, also by what a driver's lists do not show.
func wantEqual(t *testing.T, want, got *driver.Driver) {
	t.Helper()
	drivertest.WantEqual(t, want, got)
	drivertest.CheckInvariants(t, got)
	a, err := want.Access.ListKeys(t.Context())
	mustSucceed(t, err)
	b, err := got.Access.ListKeys(t.Context())
	mustSucceed(t, err)
	if len(a) != len(b) || len(a) != 1 || a[0].Name != b[0].Name {
		t.Errorf("keys %v and %v", a, b)
	}
	k, ends, err := got.Access.FindSignIn(t.Context(), driver.SecretHash{2}, 5)
	if err != nil || k.ID != "key" || ends != 1<<50 {
		t.Errorf("signed in as %v until %d, %v", k, ends, err)
	}
	turn, err := got.Turns.Get(t.Context(), "open")
	if err != nil || turn.State != scrollback.TurnOpen || turn.Owner != "o" || turn.Draft.Content != oddTexts[2] {
		t.Errorf("the open turn is %+v, %v", turn, err)
	}
}

// move copies and finishes.
func moveAll(t *testing.T, from, to testPlace, o move.Options) move.Report {
	t.Helper()
	a := from.side(t)
	b := to.side(t)
	r, err := move.Move(context.Background(), a, b, o)
	mustSucceed(t, err)
	mustSucceed(t, a.Close())
	mustSucceed(t, b.Close())
	return r
}

// All that can be read of a store can be read of its copy, and of the copy of that.
func TestMove(t *testing.T) {
	t.Parallel()
	for i, way := range testPairs[:testlength.Choose(2, 2, 4)] {
		t.Run(way.name, func(t *testing.T) {
			from := way.from(t)
			to := way.to(t)
			back := way.from(t)
			source := from.store(t)
			fillStore(t, source, uint64(i+1))
			r := moveAll(t, from, to, move.Options{Finish: true})
			if !r.Finished || r.Verified == 0 || r.Messages == 0 || r.Compared < r.Messages {
				t.Errorf("reported %+v", r)
			}
			target := to.store(t)
			wantEqual(t, source, target)
			wantRefused(t, source)
			// The copy is a store like any other, and can be copied back.
			addConversation(t, target, "fffffffe-new", 3)
			moveAll(t, to, back, move.Options{Finish: true})
			wantEqual(t, target, back.store(t))
		})
	}
}

// addConversation makes a conversation of n messages.
func addConversation(t testing.TB, d *driver.Driver, id scrollback.ConversationID, n int) {
	t.Helper()
	b := scrollback.BranchID(id)
	c := scrollback.Conversation{ID: id, Project: "talk", Version: 1, Branch: b, CreatedAt: 1, UpdatedAt: 1}
	if _, _, err := d.Log.CreateConversation(t.Context(), c, scrollback.Branch{ID: b, Conversation: id}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		appendMessage(t, d, id, scrollback.MessageID(fmt.Sprint(id, " ", i)), fmt.Sprint("message ", i))
	}
}

// wantRefused wants a store to say that it was moved.
func wantRefused(t *testing.T, d *driver.Driver) {
	t.Helper()
	b := scrollback.BranchID("refused")
	c := scrollback.Conversation{ID: "refused", Version: 1, Branch: b}
	_, _, err := d.Log.CreateConversation(t.Context(), c, scrollback.Branch{ID: b, Conversation: c.ID})
	said, ok := errors.AsType[*scrollback.Error](err)
	if !ok ||
		!regexp.MustCompile(`^this store is being moved to \S+; here it can only be read$`).MatchString(said.Err.Error()) {
		t.Errorf("a store that was moved says %v", err)
	}
	if ready := d.Ready(t.Context()); scrollback.PublicMessage(ready) != scrollback.PublicMessage(err) {
		t.Errorf("asked whether it can be written to, a store that was moved says %v", ready)
	}
	if shown := scrollback.PublicMessage(
		err); shown != "this store is being moved to another place; here it can only be read" {
		t.Errorf("a store that was moved shows %q", shown)
	}
}
