package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/search"
)

// talk appends what named people say, a line each: "Anna| text".
func (b *bench) talk(id scrollback.ConversationID, lines ...string) {
	b.t.Helper()
	var in []store.IncomingMessage
	for i, l := range lines {
		name, text, _ := strings.Cut(l, "| ")
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
		in = append(in, store.IncomingMessage{Message: scrollback.Message{Role: role, Name: name, CreatedAt: b.now + int64(i),
			Parts: scrollback.Parts{scrollback.Text{Text: text}}}})
	}
	if _, err := b.AppendMessages(b.t.Context(), b.head(id), in); err != nil {
		b.t.Fatal(err)
	}
}

// ahead wants one text before another among the hits of a query.
func (b *bench) ahead(query, first, second string) {
	b.t.Helper()
	got := b.search(scrollback.SearchQuery{Query: query, Limit: 100})
	i := slices.Index(got, first)
	j := slices.Index(got, second)
	if i < 0 || j >= 0 && j < i {
		b.t.Errorf("%s: %q is at %d, %q at %d of %q", query, first, i, second, j, got)
	}
}

// A question also finds what holds none of its words, next to what does; words to be looked
// up find only what holds them.
func TestSearchFindsReplies(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		filler := slices.Repeat([]string{"The weather is fine."}, 12)
		b.say(c.ID, slices.Concat(filler, []string{"Are you going to the opera with Lena?", "Yes, in May."}, filler)...)
		got := b.search(scrollback.SearchQuery{Query: "When are they going to the opera?", Limit: 3})
		if !slices.Contains(got, "Yes, in May.") {
			t.Errorf("a question finds %q", got)
		}
		got = b.search(scrollback.SearchQuery{Query: "opera", Limit: 3})
		if !slices.Equal(got, []string{"Are you going to the opera with Lena?"}) {
			t.Errorf("a word finds %q", got)
		}
	})
}

// A fork's first messages stand next to the parent's last.
func TestSearchWindowsAcrossForks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "hello", "hi", "Which colour has the lighthouse?", "It has none.")
		child := b.fork(c.ID, 3)
		b.say(child.ID, "Red and white.")
		got := b.search(scrollback.SearchQuery{Query: "what is the colour of the lighthouse", Conversation: child.ID,
			Limit: 20})
		if !slices.Contains(got, "Red and white.") {
			t.Errorf("found %q", got)
		}
	})
}

// Of a long message next to one, only about the beginning counts.
func TestSearchLongNeighbours(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		short := b.create()
		long := b.create()
		b.say(short.ID, "here is the one", "the kiln of the potter")
		b.say(long.ID, "here is the two", strings.Repeat("and so it went on for ever ", 300)+"the kiln of the potter")
		b.ahead("where is the kiln of the potter?", "here is the one", "here is the two")
	})
}

// Words that nearly every message holds still find what holds them all.
func TestSearchOnlyCommonWords(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		var lines []string
		for i := range 400 {
			lines = append(lines, []string{"good day", "good time", "nice day"}[i%3])
		}
		lines[200] = "a good nice day"
		b.say(c.ID, lines...)
		b.first(map[string]string{"was it a good nice day?": "a good nice day"})
	})
}

// Who is named in the question said it: by the name of the message, or at the beginning of
// its text.
func TestSearchNamedSpeakers(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.talk(c.ID, "Anna| the garden needs tulips", "Ben| the garden needs roses")
		b.first(map[string]string{"what does Anna say the garden needs": "the garden needs tulips",
			"what does Ben say the garden needs": "the garden needs roses"})
		d := b.create()
		b.say(d.ID, "小林：阳台要种番茄", "小王：阳台要种黄瓜", "Carla: the balcony needs paint", "Dan: the balcony needs tiles")
		b.first(map[string]string{"小王说阳台种什么": "小王：阳台要种黄瓜", "小林说阳台种什么": "小林：阳台要种番茄",
			"what did Dan say the balcony needs": "Dan: the balcony needs tiles",
			"Carla's balcony needs what?":        "Carla: the balcony needs paint"})
	})
}

// What speaks of oneself goes before what does not, a statement before a question.
func TestSearchFirstPerson(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, said := range []string{"I play the violin at school and nowhere else at all",
			"the violin at school is played by someone", "is the violin played at school?",
			"我在学校拉提琴", "学校里有人拉提琴"} {
			b.say(b.create().ID, said)
		}
		b.ahead("who plays the violin at school?", "I play the violin at school and nowhere else at all",
			"the violin at school is played by someone")
		b.ahead("who plays the violin at school?", "the violin at school is played by someone",
			"is the violin played at school?")
		b.ahead("谁在学校拉提琴？", "我在学校拉提琴", "学校里有人拉提琴")
	})
}

// Times said from the day of the message are those that a question names.
func TestSearchRelativeDates(t *testing.T) {
	for said, asked := range map[string]string{ // on Monday 2023-03-13
		"the fair was last Friday":    "2023-03-10",
		"the fair was yesterday":      "2023-03-12",
		"the fair was two weeks ago":  "2023-02-27",
		"the fair was last month":     "2023-02-14",
		"the fair is next Tuesday":    "2023-03-14",
		"the fair was three days ago": "2023-03-10",
		"the fair was last weekend":   "2023-03-11",
		"the fair was last year":      "2022-05",
		"上周五 the fair":                "2023-03-10",
		"上週五 the fair":                "2023-03-10",
		"前天 the fair":                 "2023-03-11",
		"两个月前 the fair":               "2023-01-20",
		"先週 the fair":                 "2023-03-08",
		"어제 the fair":                 "2023-03-12",
		"the fair is on 3月20日":        "2023-03-20",
		"the fair is on March 21":     "2023-03-21",
		"下周三 the fair":                "2023-03-22",
	} {
		each(t, func(t *testing.T, b *bench) {
			b.now = time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
			dated := b.create()
			plain := b.create()
			b.dated(dated.ID, "2023-03-13 assistant "+said)
			b.dated(plain.ID, "2023-03-25 assistant the fair, the fair and the fair again")
			b.first(map[string]string{"where was the fair on " + asked: said,
				"where was the fair": "the fair, the fair and the fair again"})
		})
	}
}

// A question that asks when finds what says a time.
func TestSearchAsksWhen(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, said := range []string{"the boat race took place after all that on Sunday",
			"the boat race was great fun to watch",
			"龙舟赛很好看很热闹也很有意思在上周六", "龙舟赛很好看很热闹",
			"the fence cost 900 or so, more than that", "the fence cost a fortune, more than that",
			"the team lost because of rain",
			"the team lost as it rained"} {
			b.say(b.create().ID, said)
		}
		b.ahead("when was the boat race?", "the boat race took place after all that on Sunday",
			"the boat race was great fun to watch")
		b.ahead("龙舟赛是什么时候？", "龙舟赛很好看很热闹也很有意思在上周六", "龙舟赛很好看很热闹")
		b.ahead("how much did the fence cost?", "the fence cost 900 or so, more than that",
			"the fence cost a fortune, more than that")
		b.ahead("why did the team lose?", "the team lost because of rain", "the team lost as it rained")
	})
}

// A message of a session that fits goes before an equal one of another.
func TestSearchSessions(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		var lines []string
		for range 12 {
			lines = append(lines, "2023-03-01 assistant hm")
		}
		lines = append(lines, "2023-03-01 user pottery here")
		for range 12 {
			lines = append(lines, "2023-03-01 assistant hm")
		}
		lines = append(lines, "2023-03-01 user the pottery class in Leeds with Lena")
		for range 12 {
			lines = append(lines, "2023-03-01 assistant hm")
		}
		for range 12 {
			lines = append(lines, "2023-04-01 assistant hm")
		}
		lines = append(lines, "2023-04-01 user pottery there")
		for range 12 {
			lines = append(lines, "2023-04-01 assistant hm")
		}
		b.dated(c.ID, lines...)
		b.ahead("pottery class in Leeds with Lena", "pottery here", "pottery there")
	})
}

// A question about how somebody likes things finds what they want kept to.
func TestSearchStandingInstructions(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, said := range []string{"From now on, always keep emails to clients short.", "the emails to clients are short",
			"以后给客户的邮件一律写短一点",
			"给客户的邮件很短"} {
			b.say(b.create().ID, said)
		}
		b.ahead("what style should the emails to clients have?",
			"From now on, always keep emails to clients short.", "the emails to clients are short")
		b.ahead("给客户的邮件要什么风格？", "以后给客户的邮件一律写短一点", "给客户的邮件很短")
	})
}

// What a person likes is found by a question about it that shares no word with it, far from
// everything that does.
func TestSearchWishesWithoutAWord(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		filler := slices.Repeat([]string{"The train to Bergen was late again."}, 400)
		b.say(c.ID, slices.Concat(filler, []string{"I always take the window seat, never the aisle."}, filler,
			[]string{"Where should dinner be?"}, filler)...)
		got := b.search(scrollback.SearchQuery{Query: "Any tips for booking my dinner flight?", Conversation: c.ID,
			Limit: 10})
		if !slices.Contains(got, "I always take the window seat, never the aisle.") {
			t.Errorf("found %q", got)
		}
		got = b.search(scrollback.SearchQuery{Query: "Any tips for booking my dinner flight?", Project: "another", Limit: 10})
		if len(got) > 0 {
			t.Errorf("found in another project: %q", got)
		}
	})
}

// Widths, composed letters, and both kinds of Chinese characters find each other; what is
// marked is the text as it was written.
func TestSearchFolds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "服务在端口８０８０上", "the port is 9090", "我的護照在抽屜裡", "我的护照号码",
			"ﾃﾞｰﾀを消す", "cafe\u0301 noir", "今天带了一把伞", "한국어 검색")
		for query, want := range map[string]string{"8080": "８０８０", "９０９０": "9090",
			"抽屉": "抽屜", "護照號碼": "护照号码", "データ": "ﾃﾞｰﾀ", "CAFÉ": "cafe\u0301",
			"伞丢了": "伞", "검색": "검색"} {
			r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: query}))(t)
			if len(r.Hits) == 0 {
				t.Errorf("%s finds nothing", query)
				continue
			}
			var marked []string
			for _, s := range r.Hits[0].Spans {
				marked = append(marked, string([]rune(r.Hits[0].Snippet)[s[0]:s[1]]))
			}
			if !slices.Contains(marked, want) {
				t.Errorf("%s marks %q in %q, want %q", query, marked, r.Hits[0].Snippet, want)
			}
		}
	})
}

// Pictures are found by their names and by what describes them in the text.
func TestSearchCaptions(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		in := []store.IncomingMessage{
			{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "Look!"},
				scrollback.Image{Name: "a dog on a sofa"}}}},
			{Message: scrollback.Message{Role: scrollback.RoleUser,
				Parts: scrollback.Parts{scrollback.Text{Text: "![two cats in a basket](x.png)"}}}},
		}
		must2(b.AppendMessages(t.Context(), b.head(c.ID), in))(t)
		for word, seq := range map[string]int64{"sofa": 1, "basket": 2} {
			r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "which animal is in the photo with the " + word +
				"?"}))(t)
			if len(r.Hits) == 0 || r.Hits[0].Seq != seq {
				t.Errorf("%s: %+v", word, r.Hits)
			}
		}
	})
}

// A question's list goes on past what matches, also where only one role is asked for; twenty
// hits fit about 2,000 tokens, and only the best have neighbours.
func TestSearchFillsTheList(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		long := strings.Repeat("much was said of many things ", 60)
		b.say(c.ID, slices.Repeat([]string{long}, 30)...)
		b.say(c.ID, "the heron of the lagoon "+long)
		b.say(c.ID, slices.Repeat([]string{long}, 30)...)
		for _, role := range []scrollback.Role{"", scrollback.RoleUser} {
			r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "where did we see the heron?", Role: role,
				Around: 2}))(t)
			runes := 0
			for i, h := range r.Hits {
				runes += utf8.RuneCountInString(h.Content)
				if near := len(h.Before)+len(h.After) > 0; near != (i < scrollback.SearchNear) {
					t.Errorf("%q: hit %d has neighbours: %v", role, i, near)
				}
				if role != "" && h.Role != role {
					t.Errorf("%q: %s", role, h.Role)
				}
			}
			if len(r.Hits) != scrollback.SearchDefault || runes > 8200 {
				t.Errorf("%q: %d hits of %d characters", role, len(r.Hits), runes)
			}
		}
		r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "heron", Limit: 1}))(t)
		if len(r.Hits) != 1 || utf8.RuneCountInString(r.Hits[0].Content) < 1500 {
			t.Errorf("one hit has %d characters", utf8.RuneCountInString(r.Hits[0].Content))
		}
	})
}

// The hits and their order are the same for every limit, offset and number of neighbours,
// also where messages of several conversations have the same time.
func TestSearchOrderForEveryLimit(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		rng := rand.New(rand.NewPCG(5, 7))
		words := strings.Fields("heron lagoon reed water boat night fish the")
		for range 6 {
			c := b.create()
			var in []store.IncomingMessage
			for i := range 60 {
				text := words[rng.IntN(len(words))] + " " + words[rng.IntN(len(words))]
				in = append(in, store.IncomingMessage{Message: scrollback.Message{Role: []scrollback.Role{"user", "assistant"}[i%2],
					CreatedAt: 1_600_000_000_000, Parts: scrollback.Parts{scrollback.Text{Text: text}}}})
			}
			must2(b.AppendMessages(t.Context(), b.head(c.ID), in))(t)
		}
		ids := func(q scrollback.SearchQuery) (out []string, next *int) {
			r := must2(b.Search(t.Context(), q))(t)
			for _, h := range r.Hits {
				out = append(out, fmt.Sprint(h.MessageID, h.Score))
			}
			return out, r.Next
		}
		for _, query := range []string{"heron", "heron lagoon", "where is the heron of the lagoon?", "water role:user",
			`"fish the"`} {
			var all []string
			for q := (scrollback.SearchQuery{Query: query, Limit: 100}); ; {
				got, next := ids(q)
				all = append(all, got...)
				if next == nil {
					break
				}
				q.Offset = *next
			}
			if len(all) == 0 {
				t.Fatalf("%s finds nothing", query)
			}
			for range 8 {
				q := scrollback.SearchQuery{Query: query, Limit: 1 + rng.IntN(30), Offset: rng.IntN(len(all)), Around: rng.IntN(3)}
				got, _ := ids(q)
				if want := all[q.Offset:min(q.Offset+q.Limit, len(all))]; !slices.Equal(got, want) {
					t.Errorf("%s, %d from %d: %v, want %v", query, q.Limit, q.Offset, got, want)
				}
			}
		}
	})
}

// Candidates have the features that a search ranks by.
func TestCandidates(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "the heron stands in the reed", "hm", "I saw a heron in May", "which heron?")
		q := scrollback.SearchQuery{Query: "where did I see the heron of the reed?", Limit: 4}
		all := must2(b.FindCandidates(t.Context(), q))(t)
		search.RankCandidates(all, search.DefaultWeights())
		r := must2(b.Search(t.Context(), q))(t)
		if len(all) != 4 || len(r.Hits) != 4 {
			t.Fatalf("%d candidates, %d hits", len(all), len(r.Hits))
		}
		for i, h := range r.Hits {
			f := all[i].Features
			if h.MessageID != all[i].Message.ID || len(f.Values()) != len(search.FeatureNames()) {
				t.Errorf("hit %d is %s, candidate %s", i, h.MessageID, all[i].Message.ID)
			}
			if back := search.WeightsOf(f.Values()); search.Features(back) != f {
				t.Errorf("%+v comes back as %+v", f, back)
			}
			m := all[i].Message
			if f.FirstSelf != map[int64]float64{3: 1}[m.Seq] || (f.Asks == 1) != (m.Seq == 4) || (f.Share > 0) == (m.Seq == 2) {
				t.Errorf("#%d: %+v", m.Seq, f)
			}
		}
		search.RankCandidates(all, search.WeightSet{})
		if all[0].Message.Seq != 4 || all[0].Score != 0 {
			t.Errorf("without weights, %d is first", all[0].Message.Seq)
		}
	})
}
