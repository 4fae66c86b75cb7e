package transfer_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/place"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// A conversation is noted with the repository of its folder, and a bundle brings that to another machine, where it is
// found by it; what only claims to be a repository is not.
func TestRepositoryTravels(t *testing.T) {
	ctx := context.Background()
	shop := place.Repository{First: strings.Repeat("0a", 20), Remote: "example.org/owner/shop"}
	asked := 0
	here := newHome(t)
	here.Transfer = transfer.New(here.Store, here.Archive, transfer.Options{
		Repository: func(_ context.Context, folder string) place.Repository {
			asked++
			if folder != "/home/me/shop" {
				return place.Repository{}
			}
			return shop
		}})
	noted := func(h *home, id scrollback.ConversationID, want ...string) {
		t.Helper()
		all, err := h.Store.Origins.List(ctx, transfer.OriginQuery{Tool: scrollback.OriginRepository,
			Conversations: []scrollback.ConversationID{id}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range all {
			got = append(got, o.Folder)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("noted with %q, want %q", got, want)
		}
	}
	a := line("a", "one", "two")
	a.Folder = "/home/me/shop"
	b := line("b", "three", "four")
	b.Folder = "/home/me/elsewhere"
	f := files{"a": {a}, "b": {b}}
	here.bring(f, "a")
	here.bring(f, "b")
	here.bring(f, "a")
	if asked == 0 {
		t.Fatal("nobody asked for the repository")
	}
	id := here.of("a").Conversation
	noted(here, id, shop.Folder())
	noted(here, here.of("b").Conversation)
	origins, err := here.Recall().Origins(ctx, []scrollback.ConversationID{id})
	if err != nil || origins[id].Tool != "talks" {
		t.Errorf("readers are told of %+v, %v", origins, err)
	}

	bundle := func(edit func(c *scrollback.Conversation) error) *bytes.Reader {
		t.Helper()
		if _, err := here.Store.PatchConversation(ctx, id, 0, edit); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := here.Transfer.Export(ctx, here.View, id, transfer.ExportRequest{Format: transfer.BundleFormat},
			&out); err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(out.Bytes())
	}
	for meta, want := range map[string][]string{
		"": {shop.Folder()},
		`{"repository":{"first":"` + shop.First + `","remote":"../../etc"}}`: nil,
		`{"repository":"example.org/owner/shop"}`:                            nil,
	} {
		there := newHome(t)
		out, err := there.Transfer.Import(ctx, there.View, bundle(func(c *scrollback.Conversation) error {
			if meta != "" {
				c.Meta = []byte(meta)
			}
			c.Title += "x"
			return nil
		}), transfer.ImportRequest{})
		if err != nil || len(out.Conversations) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		noted(there, out.Conversations[0].ID, want...)
		if meta == "" {
			continue
		}
		if _, err := here.Store.PatchConversation(ctx, id, 0, func(c *scrollback.Conversation) error {
			c.Meta = []byte(`{"repository":{"first":"` + shop.First + `","remote":"` + shop.Remote + `"}}`)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
