package transfer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// The title and the meta of a conversation follow what its tool says of it, with nothing new
// said or something; a title that was given here stays, and so does other meta.
func TestDescriptionsFollow(t *testing.T) {
	h := newHome(t)
	ctx := context.Background()
	is := func(a talk, title, cwd string) scrollback.Conversation {
		t.Helper()
		c, err := h.Get(ctx, h.of(a.ID).Conversation)
		if err != nil || c.Title != title || !strings.Contains(string(c.Meta), `"cwd":"`+cwd+`"`) {
			t.Fatalf("%q, %s, %v; want %q in %s", c.Title, c.Meta, err, title, cwd)
		}
		return c
	}
	a := line("a", "one")
	bring := func(title, folder string) {
		t.Helper()
		a.Title = title
		a.Folder = folder
		h.bring(files{"s": {a}}, "s")
	}
	bring("", "/x")
	old := is(a, "one", "/x") // what was asked first
	bring("Cranes", "/x")
	is(a, "Cranes", "/x")
	bring("Cranes 起重机", "/y")
	if c := is(a, "Cranes 起重机", "/y"); c.UpdatedAt != old.UpdatedAt {
		t.Errorf("it is %d, and was %d", c.UpdatedAt, old.UpdatedAt)
	}
	before := is(a, "Cranes 起重机", "/y")
	bring("Cranes 起重机", "/y")
	if c := is(a, "Cranes 起重机", "/y"); c.Version != before.Version {
		t.Errorf("nothing changed, and it is at version %d, not %d", c.Version, before.Version)
	}
	if _, err := h.Transfer.ImportSession(ctx, h.View, transfer.Session{Tool: files{"s": {line("a", "one")}},
		Session: files{"s": {line("a", "one")}}.session("s")}, transfer.ImportRequest{}); err != nil {
		t.Fatal(err)
	}
	is(a, "Cranes 起重机", "/y") // a copy from elsewhere may be old
	_, err := h.Patch(ctx, before.ID, 0, func(c *scrollback.Conversation) error {
		c.Title = "Mine"
		c.Meta = []byte(`{"mine":1,"talks":{"cwd":"/y"}}`)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a = line("a", "one", "two")
	bring("Theirs", "/z")
	if c := is(a, "Mine", "/z"); !strings.Contains(string(c.Meta), `"mine":1`) {
		t.Errorf("meta is %s", c.Meta)
	}
}
