package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/search"
)

func (b *bench) search(q scrollback.SearchQuery) []string {
	b.t.Helper()
	r, err := b.Search(b.t.Context(), q)
	if err != nil {
		b.t.Fatalf("%+v: %v", q, err)
	}
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.Content)
	}
	return out
}

// What is found for which words, best first.
func TestSearchRanks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID,
			"red green blue", "red red red", "green and blue, blue, blue", "the runner was running in the rain",
			"数据库连接超时", "连接数据的库", "今天天气很好", "好，数据已经备份", "port 7077 is open", "东京の天気", "한국어 검색",
			"CAFÉ Straße", "nothing of interest", "database connections time out")
		for query, want := range map[string][]string{
			"red green blue":    {"red green blue", "green and blue, blue, blue", "red red red"},
			"blue":              {"green and blue, blue, blue", "red green blue"},
			"run":               {"the runner was running in the rain"},
			"Connection":        {"database connections time out"},
			"数据":                {"好，数据已经备份", "连接数据的库", "数据库连接超时"},
			"数据库":               {"数据库连接超时", "好，数据已经备份", "连接数据的库"},
			"库":                 {"连接数据的库", "数据库连接超时"},
			"好":                 {"好，数据已经备份", "今天天气很好"},
			"天气":                {"今天天气很好"},
			"天気":                {"东京の天気"},
			"검색":                {"한국어 검색"},
			"7077":              {"port 7077 is open"},
			"café":              {"CAFÉ Straße"},
			"cafe":              {"CAFÉ Straße"},
			"STRASSE":           {"CAFÉ Straße"},
			`"red green"`:       {"red green blue"},
			`"green red"`:       {},
			`“数据库” 备份`:          {"数据库连接超时", "好，数据已经备份", "连接数据的库"},
			`"blue" red`:        {"red green blue", "green and blue, blue, blue", "red red red"},
			`"red" "blue" rain`: {"red green blue", "green and blue, blue, blue", "red red red", "the runner was running in the rain"},
			`"red" and "blue"`:  {"red green blue"},
			`"好，数据"`:            {"好，数据已经备份"},
			`「好数据」`:             {},
			"超时 好":              {"数据库连接超时", "好，数据已经备份", "今天天气很好"},
			"absent":            {},
		} {
			got := b.search(scrollback.SearchQuery{Query: query, Limit: 20})
			if query == "数据" || query == "库" || query == "好" || query == "数据库" || query == "超时 好" {
				slices.Sort(got[1:])
				slices.Sort(want[1:])
				if query == "数据" || query == "库" || query == "好" { // one term each: only the set is a matter of course
					slices.Sort(got)
					slices.Sort(want)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		for _, q := range []string{"", "  ", "!?。", `""`} {
			_, err := b.Search(t.Context(), scrollback.SearchQuery{Query: q})
			wantCode(t, err, scrollback.Invalid, "no word")
		}
		_, err := b.Search(t.Context(), scrollback.SearchQuery{Query: "red", Conversation: "unknown"})
		wantCode(t, err, scrollback.NotFound, "")
	})
}

// More of the words weigh more than one of them often; a rare word more than common
// ones; of equals the newest is first.
func TestSearchOrder(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		one := b.create()
		for range 20 {
			b.say(one.ID, "common words")
		}
		b.say(one.ID, "the rare rare rare rare rare", "some rare and usual things", "usual")
		for query, want := range map[string]string{"rare usual odd": "some rare and usual things",
			"common words, usual": "usual"} {
			if got := b.search(scrollback.SearchQuery{Query: query, Limit: 1}); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: found %q first, want %q", query, got, want)
			}
		}
		var ids []scrollback.MessageID
		for range 6 {
			ids = append(ids, b.say(b.create().ID, "a tie of three")[0].ID)
		}
		slices.Reverse(ids)
		r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "three ties", Limit: 10}))(t)
		var got []scrollback.MessageID
		for _, h := range r.Hits {
			got = append(got, h.MessageID)
		}
		if !slices.Equal(got, ids) {
			t.Errorf("equals come as %v, want %v", got, ids)
		}
	})
}

// Filters narrow and change no score. In one conversation, words are as rare as they are
// there.
func TestSearchFilters(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		one := b.create(func(c *scrollback.Conversation) { c.Project = "one" })
		two := b.create(func(c *scrollback.Conversation) { c.Project = "two" })
		b.say(one.ID, "word from ann", "word word from bot")
		b.say(two.ID, "a word from bob")
		child := b.fork(one.ID, 1)
		b.say(child.ID, "word of the child")
		for _, c := range []struct {
			q    scrollback.SearchQuery
			want []string
		}{
			{scrollback.SearchQuery{Project: "two"}, []string{"a word from bob"}},
			{scrollback.SearchQuery{Role: scrollback.RoleAssistant}, []string{"word word from bot"}},
			{scrollback.SearchQuery{Conversation: one.ID}, []string{"word from ann", "word word from bot"}},
			{scrollback.SearchQuery{Conversation: child.ID},
				[]string{"word from ann", "word of the child", "word word from bot"}},
			{scrollback.SearchQuery{Conversation: child.ID, Project: "two"}, []string{}},
			{scrollback.SearchQuery{Limit: 2}, []string{"word from ann", "word of the child"}},
			{scrollback.SearchQuery{Project: "none"}, []string{}},
		} {
			c.q.Query = "word"
			if got := b.search(c.q); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %q, want %q", c.q, got, c.want)
			}
		}
		scores := map[scrollback.MessageID]float64{}
		for _, q := range []scrollback.SearchQuery{{}, {Project: "one"}, {Role: scrollback.RoleUser}, {From: 1}} {
			q.Query = "word"
			for _, h := range must2(b.Search(t.Context(), q))(t).Hits {
				if s, ok := scores[h.MessageID]; ok && s != h.Score {
					t.Errorf("%+v: %q scores %v, and %v before", q, h.Content, h.Score, s)
				}
				scores[h.MessageID] = h.Score
			}
		}
		r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "bot", Conversation: child.ID}))(t)
		if len(r.Hits) != 1 || r.Hits[0].OnPath { // it came after the fork left
			t.Errorf("%+v", r.Hits)
		}
		must2(b.TrashConversation(t.Context(), two.ID))(t)
		if got := b.search(scrollback.SearchQuery{Query: "bob"}); len(got) != 0 {
			t.Errorf("found in the trash: %q", got)
		}
	})
}

// What a live fork inherits from a conversation in the trash is found everywhere, named by the
// fork and read on its path; the rest of the trash is not.
func TestSearchInherited(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		top := b.create(func(c *scrollback.Conversation) { c.Project = "one" })
		b.say(top.ID, "word at first", "word at second", "word at third", "word at fourth")
		mid := b.fork(top.ID, 3)
		b.say(mid.ID, "word of the middle")
		low := b.fork(mid.ID, 2)
		b.say(low.ID, "the low end")
		everywhere := scrollback.SearchQuery{Query: "word", Around: 3}
		want := func(what string, q scrollback.SearchQuery, want ...string) {
			t.Helper()
			slices.Sort(want)
			if got := slices.Sorted(slices.Values(b.search(q))); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		must2(b.TrashConversation(t.Context(), top.ID))(t)
		want("below one in the trash", everywhere, "word at first", "word at second", "word at third", "word of the middle")
		want("in a project", scrollback.SearchQuery{Query: "word", Project: "two"})
		want("a phrase", scrollback.SearchQuery{Query: `"at third"`}, "word at third")
		want("a phrase that nobody inherits", scrollback.SearchQuery{Query: `"at fourth"`})
		r := must2(b.Search(t.Context(), everywhere))(t)
		if r.Conversations != 1 || r.Total != 4 {
			t.Errorf("%d in %d conversations", r.Total, r.Conversations)
		}
		for _, h := range r.Hits {
			if h.ConversationID != mid.ID || !h.OnPath || h.Branch != "" {
				t.Errorf("%q is named by %s, on its path %v", h.Content, h.ConversationID, h.OnPath)
			}
			for _, m := range append(h.Before, h.After...) {
				if m.Parts.Text() == "word at fourth" {
					t.Errorf("beside %q is what nobody inherits", h.Content)
				}
			}
		}
		must2(b.TrashConversation(t.Context(), mid.ID))(t)
		want("below two in the trash", everywhere, "word at first", "word at second")
		r = must2(b.Search(t.Context(), everywhere))(t)
		for _, h := range r.Hits {
			if h.ConversationID != low.ID || !h.OnPath {
				t.Errorf("%q is named by %s, on its path %v", h.Content, h.ConversationID, h.OnPath)
			}
		}
		h := b.head(low.ID)
		must2(b.Branches.Rewind(t.Context(), h, h.Branch, 1, nil))(t)
		r = must2(b.Search(t.Context(), everywhere))(t)
		for _, h := range r.Hits {
			if on := h.Seq == 1; h.ConversationID != low.ID || h.OnPath != on || (h.Branch == low.Branch) == on {
				t.Errorf("after going back, %q is named by %s on branch %q, on its path %v", h.Content, h.ConversationID, h.Branch,
					h.OnPath)
			}
		}
		if len(r.Hits) != 2 {
			t.Errorf("after going back: %+v", r.Hits)
		}
		must2(b.TrashConversation(t.Context(), low.ID))(t)
		want("all in the trash", everywhere)
	})
}

// A recall result repeats the log and is not found; calls, results, file names and
// the text given for an artifact are.
func TestSearchParts(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.artifacts.Store(scrollback.ArtifactID("ab"),
			"indexed platypus "+strings.Repeat("-", search.MaxArtifactBytes)+" echidna")
		b.artifacts.Store(scrollback.ArtifactID("ac"), "a dugong")
		b.artifacts.Store(scrollback.ArtifactID("aa"), "never read: numbat")
		in := []store.IncomingMessage{
			{Message: scrollback.Message{Role: scrollback.RoleAssistant,
				Parts: scrollback.Parts{scrollback.Reasoning{Text: "secretthought"},
					scrollback.ToolCall{ID: "1", Name: "lookup", Arguments: []byte(`{"q":"zanzibar"}`)}}}},
			{Message: scrollback.Message{Role: scrollback.RoleTool,
				Parts: scrollback.Parts{scrollback.ToolResult{CallID: "1", Name: "lookup", Text: "answer quokka", Artifact: "ab"},
					scrollback.ToolResult{CallID: "2", Name: "context_grep", Text: "repeated wombat", Recall: true}}}},
			{Message: scrollback.Message{Role: scrollback.RoleUser,
				Parts: scrollback.Parts{scrollback.File{Artifact: "aa", MediaType: "application/pdf", Name: "report-echidna.pdf"},
					scrollback.File{Artifact: "ac", MediaType: "text/plain", Name: "notes"}, scrollback.Image{Name: "numbat.png"}}}},
		}
		if _, err := b.AppendMessages(t.Context(), b.head(c.ID), in); err != nil {
			t.Fatal(err)
		}
		for word, n := range map[string]int{"zanzibar": 1, "quokka": 1, "platypus": 1, "dugong": 1, `"a dugong"`: 1,
			"echidna": 1, "numbat": 1,
			"lookup": 2, "wombat": 0, "secretthought": 0} {
			if got := b.search(scrollback.SearchQuery{Query: word}); len(got) != n {
				t.Errorf("%s: %d hits %q, want %d", word, len(got), got, n)
			}
		}
	})
}

// A hit shows where it matched: spans are code points of the snippet, and what
// they cover is a word of the query.
func TestSearchSnippet(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		filler := strings.Repeat("🙂 é filler 填充 ", 60)
		b.say(c.ID, filler+"the needle of the 大海 is here, needles too, 大海捞针"+filler, "short needle",
			strings.Repeat("长", 6000)+" needle")
		for query, want := range map[string][]string{
			"needle": {"needle", "needles"}, "大海": {"大海", "大海"}, "needle 大海捞针": {"needle", "大海", "needles", "大海捞针"},
			`"大海捞针"`: {"大海", "大海捞针"},
			"针":      {"针"},
		} {
			r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: query}))(t)
			for _, h := range r.Hits {
				runes := []rune(h.Snippet)
				if len(runes) > 241 || !utf8.ValidString(h.Snippet) ||
					utf8.RuneCountInString(h.Content) > scrollback.HitContentMax+1 {
					t.Errorf("%s: snippet of %d, content of %d", query, len(runes), utf8.RuneCountInString(h.Content))
				}
				var got []string
				last := 0
				for _, s := range h.Spans {
					if s[0] < last || s[1] <= s[0] || s[1] > len(runes) {
						t.Fatalf("%s: spans %v of %d characters", query, h.Spans, len(runes))
					}
					last = s[1]
					got = append(got, string(runes[s[0]:s[1]]))
				}
				if h.Seq == 1 && !slices.Equal(got, want) {
					t.Errorf("%s: marked %q, want %q in %q", query, got, want, h.Snippet)
				}
				if h.Seq == 2 && (h.Snippet != "short needle" || !slices.Equal(got, []string{"needle"})) {
					t.Errorf("%s: %q marked %q", query, h.Snippet, got)
				}
				if h.Seq == 3 && !slices.Equal(got, []string{"needle"}) {
					t.Errorf("%s: %q marked %q far behind", query, h.Snippet, got)
				}
			}
			if len(r.Hits) == 0 {
				t.Errorf("%s: nothing", query)
			}
		}
	})
}

// A hit that is folded names its leaf, however deep; a live one has no ref; and
// neighbours come along, across branch points.
func TestSearchPlaces(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		_, _, g, want := family(b)
		l := make([]scrollback.Segment, 4)
		for i := range l {
			l[i] = b.leaf(g.ID, int64(2*i+1), int64(2*i+2))
		}
		low := b.rollUp(g.ID, 1, l[0], l[1])
		top := b.rollUp(g.ID, 2, low, l[2])
		b.fold(g.ID, 8, nil, []scrollback.Segment{top, l[3]}, l[0], l[1], l[2], l[3], low, top)
		for seq := int64(1); seq <= 11; seq++ {
			name := strings.SplitN(want[seq-1], " ", 2)[1]
			for around := range 7 {
				r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: `"` + name + `"`, Conversation: g.ID,
					Around: around}))(t)
				if len(r.Hits) == 0 {
					t.Fatalf("%s is not found", name)
				}
				i := slices.IndexFunc(r.Hits, func(h scrollback.Hit) bool { return h.Content == name && h.OnPath })
				if i < 0 {
					t.Fatalf("%s is on no path: %+v", name, r.Hits)
				}
				h := r.Hits[i]
				switch {
				case seq > 8 && h.Ref != nil:
					t.Errorf("%s is live and has %s", name, *h.Ref)
				case seq <= 8 && (h.Ref == nil || *h.Ref != scrollback.HistoryRef(l[(seq-1)/2].ID)):
					t.Errorf("%s has ref %v", name, h.Ref)
				}
				n := int64(min(around, scrollback.AroundMax))
				if !slices.Equal(texts(h.Before), want[max(0, seq-1-n):seq-1]) {
					t.Errorf("before %s: %v", name, texts(h.Before))
				}
				if int64(len(h.After)) > n || n > 0 && seq != 6 && seq != 10 && seq < 11 && len(h.After) == 0 {
					t.Errorf("after %s: %v", name, texts(h.After))
				}
			}
		}
	})
}

// The same log gives the same hits in the same order, with the same scores, on
// every database.
func TestSearchAgrees(t *testing.T) {
	words := []string{"red", "green", "blue", "running", "ran", "数据库", "数据", "库", "天气很好", "7077", "naïve", "the"}
	found := 0
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 5))
		mem := newBench(t, oracle.New())
		sql := newBench(t, openSQLite(t))
		pick := func(n int) []string {
			out := make([]string, n)
			for i := range out {
				out[i] = words[rng.IntN(len(words))]
			}
			return out
		}
		var ids []scrollback.ConversationID
		for i := range 1 + rng.IntN(3) {
			project := func(c *scrollback.Conversation) { c.Project = fmt.Sprint("p", i%2) }
			id := mem.create(project).ID
			if sql.create(project).ID != id {
				t.Fatal("ids differ")
			}
			ids = append(ids, id)
			said := make([]string, rng.IntN(12))
			for i := range said {
				said[i] = strings.Join(pick(rng.IntN(12)), []string{" ", "", "，"}[rng.IntN(3)])
			}
			mem.say(id, said...)
			sql.say(id, said...)
			for n, b := range []*bench{mem, sql} { // what is said afterwards is behind the index
				if i == 0 && seed>>n&1 == 1 {
					if err := b.Audit.RebuildIndex(t.Context(), func(int64, int64) {}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for range 30 {
			q := scrollback.SearchQuery{Query: strings.Join(pick(1+rng.IntN(4)), " "), Limit: rng.IntN(20), Around: rng.IntN(3),
				Role: []scrollback.Role{"", "user", "assistant"}[rng.IntN(3)], Project: []string{"", "", "p1"}[rng.IntN(3)]}
			if rng.IntN(3) == 0 {
				q.Query = `"` + strings.Join(pick(1+rng.IntN(2)), " ") + `" ` + q.Query
			}
			if rng.IntN(3) == 0 {
				q.Conversation = ids[rng.IntN(len(ids))]
			}
			a, errA := mem.Search(t.Context(), q)
			b, errB := sql.Search(t.Context(), q)
			if errA != nil || errB != nil || !slices.Equal(hits(a), hits(b)) || a.Truncated != b.Truncated {
				t.Fatalf("seed %d: %+v\nmemory %q %v\nsqlite %q %v", seed, q, hits(a), errA, hits(b), errB)
			}
			found += len(a.Hits)
		}
	}
	if found < 200 {
		t.Errorf("only %d hits were compared", found)
	}
}

// vanishing is a database of which a conversation is purged as soon as a search has
// found it.
type vanishing struct {
	driver.Index
	log driver.Log
	id  scrollback.ConversationID
}

func (v *vanishing) ReadMessagesAt(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	found, err := v.Index.ReadMessagesAt(ctx, places)
	if err == nil {
		_, err = v.log.PurgeConversation(ctx, driver.Purge{Conversation: v.id, Now: 1, Limit: 100})
	}
	return found, err
}

// What is purged while a search goes on is not among its hits, and the others are.
func TestSearchBesideAPurge(t *testing.T) {
	for name, d := range map[string]*driver.Driver{"memory": oracle.New(), "sqlite": openSQLite(t)} {
		t.Run(name, func(t *testing.T) {
			v := &vanishing{Index: d.Index, log: d.Log}
			d.Index = v
			b := newBench(t, d)
			gone := b.create()
			kept := b.create()
			v.id = gone.ID
			b.say(gone.ID, "the harbour, the harbour")
			m := b.say(kept.ID, "a harbour")[0]
			r, err := b.Search(t.Context(), scrollback.SearchQuery{Query: "harbour", Limit: 5, Around: 1})
			if must(t, r, err); len(r.Hits) != 1 || r.Hits[0].MessageID != m.ID {
				t.Errorf("found %+v", r.Hits)
			}
			v.id = kept.ID
			_, err = b.Search(t.Context(), scrollback.SearchQuery{Query: "harbour", Conversation: kept.ID})
			wantCode(t, err, scrollback.NotFound, "")
		})
	}
}

// hits is what of a result has to agree, as text.
func hits(r scrollback.SearchResult) []string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, fmt.Sprint(h.ConversationID, h.Seq, h.MessageID, h.Score, h.Snippet, h.Spans, h.OnPath,
			texts(h.Before),
			texts(h.After)))
	}
	return out
}

// The pages of a search join to the same hits in the same order, whatever their size, and
// say how many there are once all that matched were ranked.
func TestSearchPages(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		d := b.create()
		for i := range 60 {
			id := c.ID
			if i%3 == 0 {
				id = d.ID
			}
			b.say(id, fmt.Sprintf("heron %d%s", i, strings.Repeat(" and more", i%7)))
		}
		pages := func(q scrollback.SearchQuery) (all []string, last scrollback.SearchResult) {
			for {
				r, err := b.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range r.Hits {
					all = append(all, h.Content)
				}
				if r.Next == nil {
					return all, r
				}
				if *r.Next <= q.Offset || len(r.Hits) != q.Limit {
					t.Fatalf("after %d there are %d hits and %d", q.Offset, len(r.Hits), *r.Next)
				}
				q.Offset = *r.Next
			}
		}
		want := b.search(scrollback.SearchQuery{Query: "heron", Limit: 60})
		for _, limit := range []int{1, 7, 20, 60} {
			got, last := pages(scrollback.SearchQuery{Query: "heron", Limit: limit})
			if !slices.Equal(got, want) || len(got) != 60 || last.Total != 60 || last.Conversations != 2 || last.Truncated {
				t.Errorf("in pages of %d: %q, %d in %d, truncated %v", limit, got, last.Total, last.Conversations, last.Truncated)
			}
		}
		b.say(c.ID, slices.Repeat([]string{"a stork"}, scrollback.SearchDepth+1)...)
		got, last := pages(scrollback.SearchQuery{Query: "stork", Limit: 100})
		if len(got) != scrollback.SearchDepth || last.Total != 0 || !last.Truncated {
			t.Errorf("of more than are ranked: %d hits of %d, truncated %v", len(got), last.Total, last.Truncated)
		}
		if got, _ := pages(scrollback.SearchQuery{Query: "heron", Limit: 7, Offset: 1000}); len(got) != 0 {
			t.Errorf("past the end: %q", got)
		}
	})
}

// Two times narrow a search, together with the dates of the query.
func TestSearchBetween(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		at := []int64{}
		for i := range 5 {
			at = append(at, b.say(c.ID, fmt.Sprint("heron ", i))[0].CreatedAt)
		}
		for _, x := range []struct {
			from, to int64
			want     []string
		}{
			{0, 0, []string{"heron 0", "heron 1", "heron 2", "heron 3", "heron 4"}},
			{at[1], at[3], []string{"heron 1", "heron 2"}},
			{at[4], 0, []string{"heron 4"}}, {0, at[1], []string{"heron 0"}}, {at[4] + 1, 0, []string{}},
		} {
			got := b.search(scrollback.SearchQuery{Query: "heron", From: x.from, To: x.to, Limit: 9})
			if slices.Sort(got); !slices.Equal(got, x.want) {
				t.Errorf("from %d to %d: %q, want %q", x.from, x.to, got, x.want)
			}
		}
	})
}

// What a hit's words are in: what is said, or a file that the message holds.
func TestSearchInside(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		said := text(scrollback.RoleUser, "the heron is here")
		said.Parts = append(said.Parts, scrollback.Text{Text: "a stork",
			Reference: &scrollback.Reference{Mark: "birds.txt", Source: "birds.txt"}})
		result := store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleTool,
			Parts: scrollback.Parts{scrollback.ToolResult{CallID: "1", Name: "read", Text: "a stork and a crane"}}}}
		must2(b.AppendMessages(t.Context(), b.head(c.ID), []store.IncomingMessage{said, result}))(t)
		for query, want := range map[string]map[int64]bool{"heron": {1: false}, "stork": {1: true, 2: true},
			"crane":       {2: true},
			"heron stork": {1: false, 2: true}} {
			r, err := b.Search(t.Context(), scrollback.SearchQuery{Query: query})
			got := map[int64]bool{}
			for _, h := range r.Hits {
				got[h.Seq] = h.Inside
			}
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("%s: %v, %v, want %v", query, got, err, want)
			}
		}
	})
}
