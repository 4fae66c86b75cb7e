package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// from says that a conversation was worked on in a folder, with a tool.
func (b *bench) from(id scrollback.ConversationID, tool, folder string) {
	b.t.Helper()
	o := scrollback.Origin{Tool: tool, ID: "s-" + string(id), Conversation: id, Folder: folder, GitBranch: "main",
		Place: "/home/secret",
		Name:  "a.jsonl", Stamp: "12"}
	if err := b.Origins.Put(b.t.Context(), o, ""); err != nil {
		b.t.Fatal(err)
	}
}

// hits are the ids of what a search finds page by page, with that number on a page.
func (b *bench) hits(q scrollback.SearchQuery, limit int) []scrollback.MessageID {
	b.t.Helper()
	var out []scrollback.MessageID
	for q.Limit = limit; ; {
		r, err := b.Search(b.t.Context(), q)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, h := range r.Hits {
			out = append(out, h.MessageID)
		}
		if r.Next == nil {
			return out
		}
		q.Offset = *r.Next
	}
}

// What was said in the folder comes first, in whichever words, then the rest, however many a
// page has; nothing comes twice and nothing is missing.
func TestSearchBeginsInFolder(t *testing.T) {
	testlength.SkipShort(t)
	orders := map[string][]string{}
	each(t, func(t *testing.T, b *bench) {
		random := rand.New(rand.NewPCG(7, 7))
		words := strings.Fields("harbour crane quay rope anchor 码头 起重机 tide")
		here := map[scrollback.ConversationID]bool{}
		var forkOf scrollback.ConversationID
		for n := range 24 {
			c := b.create(func(c *scrollback.Conversation) {
				if c.Project = []string{"one", "two"}[n%2]; n%6 == 1 {
					c.Roots = []string{"/src/app/docs"}
					here[c.ID] = true
				}
			})
			if n%6 == 1 {
				here[c.ID] = true
			}
			switch n % 6 {
			case 0:
				b.from(c.ID, "codex", []string{"/src/app", "/src/app/cmd"}[n/6%2])
				here[c.ID] = true
				forkOf = c.ID
			case 2:
				b.from(c.ID, "crush", "/src/apples")
			}
			var texts []string
			for range 15 {
				var said []string
				for range 6 {
					said = append(said, words[random.IntN(len(words))])
				}
				texts = append(texts, strings.Join(said, " "))
			}
			b.say(c.ID, texts...)
		}
		b.say(b.fork(forkOf, 10).ID, "the anchor of the fork", "the rope of the fork")
		for _, query := range []string{"anchor", "码头", "When was the rope at the quay?", `"crane quay"`, "tide role:user"} {
			for _, projects := range [][]string{nil, {"two"}, {}} {
				q := scrollback.SearchQuery{Query: query, Folders: []string{"/src/app"}, Projects: projects}
				want := b.hits(q, 100)
				for _, limit := range []int{1, 7, 20} {
					few := testlength.Choose(true, true, false) && len(projects) > 0 // the whole order is wanted anyway
					if limit == 1 && query != "anchor" || limit < 20 && few {
						continue
					}
					if got := b.hits(q, limit); !slices.Equal(got, want) {
						t.Errorf("%s, %v: pages of %d join to another order", query, projects, limit)
					}
				}
				seen := map[scrollback.MessageID]bool{}
				for _, id := range want {
					if seen[id] {
						t.Errorf("%s: %s comes twice", query, id)
					}
					seen[id] = true
				}
				elsewhere := false
				first := 0
				for i := 0; i < len(want); i += 100 {
					q.Offset = i
					q.Limit = 100
					r, err := b.Search(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					for _, h := range r.Hits {
						if elsewhere = elsewhere || !here[h.ConversationID]; elsewhere && here[h.ConversationID] {
							t.Errorf("%s: a hit of the folder comes after one from elsewhere", query)
						}
						if !elsewhere {
							first++
						}
					}
				}
				q.InFolders = true
				q.Offset = 0
				if got := b.hits(q, 20); !slices.Equal(got, want[:first]) || projects == nil && (first == 0 || first == len(want)) {
					t.Errorf("%s: %d hits are in the folder alone, %d of %d were first", query, len(got), first, len(want))
				}
				q.InFolders = false
				q.Folders = nil
				if all := b.hits(q, 100); projects == nil && len(all) < 250 {
					for _, id := range all {
						if !seen[id] {
							t.Errorf("%s: %s is found only without a folder", query, id)
						}
					}
				}
				b.same(orders, fmt.Sprintf("%s %#v", query, projects), want)
			}
		}
	})
}

// same wants every database to find the same messages in the same order, by their texts.
func (b *bench) same(orders map[string][]string, name string, got []scrollback.MessageID) {
	b.t.Helper()
	var ids []string
	for _, id := range got {
		ids = append(ids, string(id))
	}
	if was, known := orders[name]; known && !slices.Equal(was, ids) {
		b.t.Errorf("%s: another database finds %d messages in another order than these %d", name, len(was), len(ids))
	}
	orders[name] = ids
}

// A hit that an edit has left behind says on which branch it is.
func TestHitsSayBranch(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "the anchor is at the quay", "noted")
		left := b.head(c.ID).Branch
		if _, err := b.Branches.Rewind(t.Context(), b.head(c.ID), left, 0, nil); err != nil {
			t.Fatal(err)
		}
		b.say(c.ID, "the anchor is lost", "noted")
		r, err := b.Search(t.Context(), scrollback.SearchQuery{Query: "anchor"})
		if err != nil || len(r.Hits) != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, h := range r.Hits {
			gone := h.Content == "the anchor is at the quay"
			if h.OnPath == gone || h.Branch != map[bool]scrollback.BranchID{true: left.ID}[gone] {
				t.Errorf("%q is on the path: %v, on branch %q", h.Content, h.OnPath, h.Branch)
			}
		}
	})
}
