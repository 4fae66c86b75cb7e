package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
)

// Quotes among other words raise what holds them as they stand; by themselves they demand it, wherever
// the punctuation is.
func TestSearchQuotes(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		var said []string
		for i := range 400 { // each holds the words of the phrase, and more of the question
			said = append(said, fmt.Sprintf("Anna likes to watch the depot from the blue car, day %d", i))
		}
		said = append(said, "the blue depot, they say, is for rent", "她说：这件事，我们改天再谈吧。", "这件事，以后再谈，我们", "Yes, the café.")
		b.say(c.ID, said...)
		b.first(map[string]string{
			`What did Anna say about the "blue depot" at the harbour?`: "the blue depot, they say, is for rent",
			`what else is in "the blue depot"`:                         "the blue depot, they say, is for rent",
			`“这件事，我们改天再谈”是谁说的？`:                                        "她说：这件事，我们改天再谈吧。",
		})
		for query, n := range map[string]int{`"blue depot"`: 1, `"blue depot" role:user`: 1, `"depot blue"`: 0,
			`"the cafe"`: 1, `"这件事，我们改天"`: 1, `"这件事我们改天"`: 0, `"depot, they"`: 1, `"blue, depot they"`: 1} {
			if got := b.search(scrollback.SearchQuery{Query: query}); len(got) != n {
				t.Errorf("%s finds %q", query, got)
			}
		}
	})
}

// chatter is talk of about n words that asks for nothing.
func chatter(n int, words string) string {
	all := strings.Fields(words)
	var b strings.Builder
	for i := range n {
		b.WriteString(all[i%len(all)])
		if i%9 == 8 {
			b.WriteString(".")
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String()) + ". "
}

// A question is found in the midst of other talk, and where two are asked at once what answers either
// comes first.
func TestSearchAsksInChatter(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		said := []string{"The key to the shed lies under the green flowerpot.", "Okay.", "钥匙在门口的垫子下面。", "好的。",
			"Ferry tickets were 48 dollars.", "I see."}
		small := "morning coffee kitchen window garden weather train office meeting lunch holiday weekend music film neighbour " +
			"street market bread kettle radio paper letter phone screen desk chair lamp door stairs roof river bridge"
		for i := range 120 {
			said = append(said, chatter(12, strings.Join(strings.Fields(small)[i%7:], " ")))
		}
		b.say(c.ID, said...)
		long := chatter(90, small)
		var many []string
		for i := range 80 {
			many = append(many, fmt.Sprintf("thing%d", i))
		}
		b.first(map[string]string{
			long + "Where does the key to the shed lie? " + chatter(20, small):    "The key to the shed lies under the green flowerpot.",
			long + "What I really want to know is where the key to the shed lies": "The key to the shed lies under the green flowerpot.",
			"今天天气不错，我喝了咖啡。真正想问的是：钥匙在哪里":                                           "钥匙在门口的垫子下面。",
			strings.Join(many, " ") + " the shed key":                             "The key to the shed lies under the green flowerpot.",
		})
		for _, query := range []string{"Where does the key to the shed lie? And also, how much were the ferry tickets?",
			"Where does the key to the shed lie, and how much were the ferry tickets?",
			"Where does the key to the shed lie; also how much were the ferry tickets?"} {
			got := b.search(scrollback.SearchQuery{Query: query, Limit: 2})
			if strings.Join(got, " ") != said[0]+" "+said[4] && strings.Join(got, " ") != said[4]+" "+said[0] {
				t.Errorf("%s finds %q", query, got)
			}
		}
	})
}

// What one of the best hits lacks is found in a message that shares a rare name with it.
func TestSearchLooksAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		said := []string{"我表弟叫李思远。", "好的。"}
		for i := range 60 {
			if said = append(said, fmt.Sprintf("今天第%d趟车又晚点了。", i), "好的。"); i%8 == 4 {
				said = append(said, fmt.Sprintf("同事%d的公司在城西，他很忙。", i), "好的。")
			}
			if i == 30 {
				said = append(said, "李思远在银行做柜员，公司在城东。", "好的。")
			}
		}
		b.say(c.ID, said...)
		got := b.search(scrollback.SearchQuery{Query: "我表弟的公司在哪里？", Limit: 3})
		if !strings.Contains(strings.Join(got, " "), "公司在城东") {
			t.Errorf("found: %q", got)
		}
	})
}

// What a person says of themselves is ranked, and raised, for a question that asks for advice, though it
// shares no word with it and stands far from all that does.
func TestSearchTraits(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		filler := slices.Repeat([]string{"The train on Saturday was late.", "Noted."}, 200)
		trait := "I can't stand the smell of olives."
		b.say(c.ID, slices.Concat(filler, []string{trait, "Noted."}, filler)...)
		for query, want := range map[string]float64{"What would you recommend for my guests next Saturday?": 1,
			"When was it that the train was late on Saturday?": 0} {
			raised := 0.0
			for _, c := range must2(b.FindCandidates(t.Context(), scrollback.SearchQuery{Query: query}))(t) {
				if c.Message.Parts.Text() == trait {
					raised = c.Trait
				}
			}
			if raised != want {
				t.Errorf("%s: the trait counts %v, want %v", query, raised, want)
			}
		}
	})
}

// Talk of people with names is ranked by weights of its own.
func TestSearchTalkOfPeople(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		people := b.create()
		b.talk(people.ID, "Anna| the heron is back", "Ben| where is the heron?")
		assistant := b.create()
		b.say(assistant.ID, "the heron is back", "Note: where is the heron?")
		for id, want := range map[scrollback.ConversationID]bool{people.ID: true, assistant.ID: false} {
			all := must2(b.FindCandidates(t.Context(), scrollback.SearchQuery{Query: "heron", Conversation: id}))(t)
			if len(all) != 2 || all[0].People != want || all[1].People != want {
				t.Errorf("%d candidates, of people: %v", len(all), all[0].People)
			}
		}
	})
}

// Whatever is forked, gone back in and put in the trash: all that stands on the path of a live
// conversation is found everywhere.
func TestSearchFindsLivePaths(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		b := newBench(t, oracle.New())
		var live []scrollback.ConversationID
		said := 0
		say := func(id scrollback.ConversationID) {
			for range 1 + rng.IntN(4) {
				said++
				b.say(id, fmt.Sprintf("the heron, number%d", said))
			}
		}
		for range 14 {
			at := 0
			if len(live) > 0 {
				at = rng.IntN(len(live))
			}
			switch op := rng.IntN(6); {
			case op == 0 || len(live) == 0:
				live = append(live, b.create().ID)
				say(live[len(live)-1])
			case op == 1:
				say(live[at])
			case op < 4:
				f := b.fork(live[at], 1+rng.Int64N(b.head(live[at]).Branch.HeadSeq))
				if live = append(live, f.ID); rng.IntN(2) == 0 {
					say(f.ID)
				}
			case op == 4:
				h := b.head(live[at])
				must2(b.Branches.Rewind(t.Context(), h, h.Branch, 1+rng.Int64N(h.Branch.HeadSeq), nil))(t)
			default:
				must2(b.TrashConversation(t.Context(), live[at]))(t)
				if rng.IntN(2) == 0 {
					must2(b.PurgeConversation(t.Context(), live[at], 0))(t)
				}
				live = append(live[:at:at], live[at+1:]...)
			}
		}
		for _, query := range []string{"heron", "what is the heron doing there?", `"the heron"`} {
			got := map[string]bool{}
			for _, text := range b.search(scrollback.SearchQuery{Query: query, Limit: 100}) {
				got[text] = true
			}
			for _, id := range live {
				h := b.head(id)
				ms, err := b.ReadMessages(t.Context(), h.Branch.ID, 1, h.Branch.HeadSeq)
				for _, m := range must(t, ms, err) {
					if !got[m.Parts.Text()] {
						t.Errorf("seed %d: %s does not find %q", seed, query, m.Parts.Text())
					}
				}
			}
		}
	}
}
