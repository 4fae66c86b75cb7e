package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

func TestCreate(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		if c.Project != scrollback.DefaultProject || string(c.Meta) != "{}" || c.Roots == nil || c.PinnedSeqs == nil ||
			c.Version != 1 ||
			c.CreatedAt == 0 || c.Parent != nil {
			t.Errorf("%+v", c)
		}
		const id = "0190A0B0-0000-7000-8000-00000000ABCD"
		given := b.create(func(c *scrollback.Conversation) {
			c.ID = id
			c.Title = "one"
			c.DeletedAt = 5
		})
		if string(given.ID) != strings.ToLower(id) || given.DeletedAt != 0 {
			t.Errorf("%+v", given)
		}
		again, created, err := b.CreateConversation(t.Context(), scrollback.Conversation{ID: id, Title: "two"})
		if err != nil || created || again.Title != "one" || again.ID != given.ID {
			t.Errorf("again: %+v, %v, %v", again, created, err)
		}
		for param, c := range map[string]scrollback.Conversation{
			"id": {ID: "../../etc"}, "meta": {Meta: []byte(`[1]`)}, "title": {Title: strings.Repeat("题", 501)},
			"project":      {Project: strings.Repeat("p", 101)},
			"instructions": {Instructions: strings.Repeat("i", 200_001)}, "limit": {Limit: -1},
			"pinned_seqs": {PinnedSeqs: make([]int64, 21)},
		} {
			_, _, err := b.CreateConversation(t.Context(), c)
			var e *scrollback.Error
			if !errors.As(err, &e) || e.Code != scrollback.Invalid || e.Param != param {
				t.Errorf("%s: %v", param, err)
			}
		}
		for _, name := range []string{"a\nb", "a\xff", ".", "..", " "} {
			if _, _, err := b.CreateConversation(t.Context(),
				scrollback.Conversation{Project: name}); scrollback.CodeOf(err) != scrollback.Invalid {
				t.Errorf("project %q: %v", name, err)
			}
		}
		b.create(func(c *scrollback.Conversation) {
			c.Title = strings.Repeat("题", 500)
			c.Meta = []byte(" null ")
		})
	})
}

func TestPatch(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		title := func(s string) func(*scrollback.Conversation) error {
			return func(c *scrollback.Conversation) error { c.Title = s; return nil }
		}
		one, err := b.PatchConversation(t.Context(), c.ID, c.Version, title("one"))
		if err != nil || one.Title != "one" || one.Version <= c.Version || one.UpdatedAt <= c.UpdatedAt {
			t.Fatalf("%+v, %v", one, err)
		}
		_, err = b.PatchConversation(t.Context(), c.ID, c.Version, title("two"))
		if !errors.Is(err, scrollback.ErrPrecondition) || scrollback.CodeOf(err) != scrollback.Conflict {
			t.Errorf("at an old version: %v", err)
		}
		if got := b.head(c.ID); got.Title != "one" || got.Version != one.Version {
			t.Errorf("and yet it is %+v", got.Conversation)
		}
		if two, err := b.PatchConversation(t.Context(), c.ID, 0, title("two")); err != nil || two.Title != "two" {
			t.Errorf("at any version: %+v, %v", two, err)
		}
		_, err = b.PatchConversation(t.Context(), c.ID, 0, title(strings.Repeat("x", 501)))
		wantCode(t, err, scrollback.Invalid, "500")
		_, err = b.PatchConversation(t.Context(), "unknown", 0, title("x"))
		wantCode(t, err, scrollback.NotFound, "")
		own := errors.New("own")
		if _, err = b.PatchConversation(t.Context(), c.ID, 0,
			func(*scrollback.Conversation) error { return own }); !errors.Is(err, own) {
			t.Errorf("the edit's own error is %v", err)
		}
		gone, err := b.TrashConversation(t.Context(), c.ID)
		again := must2(b.TrashConversation(t.Context(), c.ID))(t)
		if err != nil || gone.DeletedAt == 0 || again.DeletedAt != gone.DeletedAt {
			t.Errorf("in the trash since %d, then %d, %v", gone.DeletedAt, again.DeletedAt, err)
		}
		if back := must2(b.RestoreConversation(t.Context(), c.ID))(t); back.DeletedAt != 0 || back.Title != "two" {
			t.Errorf("restored as %+v", back)
		}
	})
}

func TestFind(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		_, err := b.ResolveName(t.Context(), "latest", nil)
		wantCode(t, err, scrollback.NotFound, "no conversation yet")
		ids := []scrollback.ConversationID{"abcdef01-2345-7000-8000-000000000001", "abcdef01-2345-7000-8000-000000000002",
			"abcdef01-9999-7000-8000-000000000003"}
		for _, id := range ids {
			b.create(func(c *scrollback.Conversation) { c.ID = id })
		}
		for name, want := range map[string]scrollback.ConversationID{
			"latest": ids[2], " LATEST ": ids[2], string(ids[0]): ids[0], "abcdef01-9": ids[2], "ABCDEF01-9999-7": ids[2],
			" " + string(ids[1]) + "\n": ids[1],
			"1":                         ids[2], " 2 ": ids[1], "3": ids[0],
		} {
			if got, err := b.ResolveName(t.Context(), name, nil); err != nil || got != want {
				t.Errorf("%q: %s, %v", name, got, err)
			}
		}
		for _, name := range []string{"abcdef01", "abcdef01-2345-7000-8000-00000000000"} {
			_, err := b.ResolveName(t.Context(), name, nil)
			wantCode(t, err, scrollback.Invalid, "ambiguous")
			if err == nil || !strings.Contains(err.Error(), string(ids[0])) || !strings.Contains(err.Error(), string(ids[1])) {
				t.Errorf("%s: the candidates are not in %v", name, err)
			}
		}
		for _, name := range []string{"", "abcdef0", "0", "-1", "4", "1x", "%%%%%%%%", "________",
			"abcdef01-2345-7000-8000-0000000000019",
			"abcdef02"} {
			if got, err := b.ResolveName(t.Context(), name, nil); err == nil || got != "" {
				t.Errorf("%q finds %s", name, got)
			}
		}
		b.say(ids[0], "newer")
		if got, err := b.ResolveName(t.Context(), "latest", nil); err != nil || got != ids[0] {
			t.Errorf("the latest change is in %s, %v", got, err)
		}
	})
}

// Pages of a list join to the whole, whatever their size, and a cursor is ours or
// refused.
func TestList(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var want []string
		for i, title := range []string{"Alpha", "Beta", "alphabet", "中文标题", "gamma", "Alp"} {
			c := b.create(func(c *scrollback.Conversation) {
				c.Title = title
				if i%2 == 1 {
					c.Project = "odd"
				}
			})
			want = append([]string{title}, want...)
			if title == "gamma" {
				must2(b.TrashConversation(t.Context(), c.ID))(t)
				want = want[1:]
			}
		}
		list := func(q scrollback.ListQuery) []string {
			t.Helper()
			var out []string
			for range 20 {
				cs, next, err := b.ListConversations(t.Context(), q)
				if err != nil || q.Limit > 0 && len(cs) > q.Limit || next != "" && len(cs) == 0 {
					t.Fatalf("%+v: %d, next %q, %v", q, len(cs), next, err)
				}
				for _, c := range cs {
					out = append(out, c.Title)
				}
				if q.Cursor = next; next == "" {
					return out
				}
			}
			t.Fatalf("%+v never ends", q)
			return nil
		}
		for limit := range 8 {
			if got := list(scrollback.ListQuery{Limit: limit}); !slices.Equal(got, want) {
				t.Errorf("by %d: %v, want %v", limit, got, want)
			}
		}
		for _, c := range []struct {
			q    scrollback.ListQuery
			want []string
		}{
			{scrollback.ListQuery{Project: "odd"}, []string{"Alp", "中文标题", "Beta"}},
			{scrollback.ListQuery{Title: "ALP", Limit: 1}, []string{"Alp", "alphabet", "Alpha"}},
			{scrollback.ListQuery{Title: "文标"}, []string{"中文标题"}}, {scrollback.ListQuery{Trash: true}, []string{"gamma"}},
			{scrollback.ListQuery{Project: "none"}, nil},
		} {
			if got := list(c.q); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, want %v", c.q, got, c.want)
			}
		}
		for _, bad := range []string{"!", "abc", "bm90IGpzb24", "W10", "eyJBdCI6IngifQ", "%00"} {
			_, _, err := b.ListConversations(t.Context(), scrollback.ListQuery{Cursor: bad})
			wantCode(t, err, scrollback.Invalid, "cursor")
			_, _, err = b.Refs.List(t.Context(), "x", scrollback.RefQuery{Cursor: bad})
			wantCode(t, err, scrollback.Invalid, "cursor")
		}
		ps := must2(b.Projects.List(t.Context()))(t)
		if len(ps) != 2 || ps[0].Name != "default" || ps[0].Conversations != 2 || ps[1].Name != "odd" ||
			ps[1].Conversations != 3 {
			t.Errorf("projects %+v", ps)
		}
	})
}

func TestNoProjectsYet(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		if ps, err := b.Projects.List(t.Context()); err != nil || len(ps) != 1 || ps[0].Name != scrollback.DefaultProject {
			t.Errorf("%+v, %v", ps, err)
		}
	})
}

// A bound of projects holds whether one of them is named or none; no project is no
// bound, and a bound of none finds nothing.
func TestBoundOfProjects(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, project := range []string{"", "a", "b", "c"} {
			b.create(func(c *scrollback.Conversation) {
				c.Project = project
				c.Title = "in " + project
			})
		}
		for _, c := range []struct {
			named  string
			within []string
			want   []string
		}{
			{"", nil, []string{"in ", "in a", "in b", "in c"}},
			{"", []string{"a", "b"}, []string{"in a", "in b"}},
			{"", []string{}, nil},
			{"a", nil, []string{"in a"}},
			{"a", []string{"a", "b"}, []string{"in a"}},
			{"c", []string{"a", "b"}, nil},
			{"a", []string{}, nil},
			{scrollback.DefaultProject, []string{scrollback.DefaultProject}, []string{"in "}},
			{scrollback.DefaultProject, []string{"a"}, nil},
		} {
			found, next, err := b.ListConversations(t.Context(), scrollback.ListQuery{Project: c.named, Projects: c.within})
			var got []string
			for _, f := range found {
				got = append(got, f.Title)
			}
			slices.Sort(got)
			if err != nil || next != "" || !slices.Equal(got, c.want) {
				t.Errorf("%q within %q: %q, %q, %v, want %q", c.named, c.within, got, next, err, c.want)
			}
		}
	})
}
