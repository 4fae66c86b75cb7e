package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// dated appends a message a line, each said on a day by a role: "2026-03-05 user text".
func (b *bench) dated(id scrollback.ConversationID, lines ...string) {
	b.t.Helper()
	var in []store.IncomingMessage
	for _, l := range lines {
		var day, role string
		if _, err := fmt.Sscan(l, &day, &role); err != nil {
			b.t.Fatal(err)
		}
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			b.t.Fatal(err)
		}
		in = append(in, store.IncomingMessage{Message: scrollback.Message{Role: scrollback.Role(role),
			CreatedAt: at.UnixMilli() + int64(len(in)),
			Parts:     scrollback.Parts{scrollback.Text{Text: l[len(day)+len(role)+2:]}}}})
	}
	if _, err := b.AppendMessages(b.t.Context(), b.head(id), in); err != nil {
		b.t.Fatal(err)
	}
}

// first wants the best hit of each query to be a text; a query is of the clock's
// year, 2023.
func (b *bench) first(want map[string]string) {
	b.t.Helper()
	for query, text := range want {
		if got := b.search(scrollback.SearchQuery{Query: query, Limit: 1}); !slices.Equal(got, []string{text}) {
			b.t.Errorf("%s: %q is first, want %q", query, got, text)
		}
	}
}

// Words that only bind others find nothing while there are others.
func TestSearchStopWords(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "a harbour")
		b.say(b.create().ID, "港口很大")
		b.say(b.create().ID, "what is it that we do in the end")
		b.say(b.create().ID, "the who")
		b.say(b.create().ID, "我们的是什么")
		b.first(map[string]string{"what is it that we do about the harbour": "a harbour", "the who": "the who",
			"我们的港口是什么": "港口很大"})
		for query, n := range map[string]int{"is there a harbour in the end?": 2, "是什么": 1, `"what is" harbour`: 2} {
			if got := b.search(scrollback.SearchQuery{Query: query}); len(got) != n {
				t.Errorf("%s finds %q", query, got)
			}
		}
	})
}

// A query finds forms and spellings that nobody typed.
func TestSearchGuesses(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "we bought a lantern", "parseLedgerRow is slow", "the retry limit", "it was our decision", "a lantern")
		b.first(map[string]string{"buying": "we bought a lantern", "buying a lantern": "we bought a lantern",
			"parse ledger row": "parseLedgerRow is slow", "retryLimit": "the retry limit",
			"what did we decide": "it was our decision"})
	})
}

// More of the words of a query count, not how often one of them is said.
func TestSearchCoverage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		both := "red " + strings.Repeat("and so on and on ", 30) + " blue"
		b.say(c.ID, both, "x", strings.Repeat("red ", 8), "x", strings.Repeat("blue ", 8), "x")
		b.first(map[string]string{"red blue": both})
	})
}

// Names, numbers and words that stand together as in the query weigh more.
func TestSearchNamesAndOrder(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "Atlas went home", "x", "the report went", "x", "port 7077 is shut", "x", "a port is open", "x",
			"the night and then much later on the far side a watch", "x",
			"on the night watch as ever and for all that is a side", "x")
		b.first(map[string]string{"where is Atlas in the report": "Atlas went home", "open 7077": "port 7077 is shut",
			"night watch": "on the night watch as ever and for all that is a side"})
	})
}

// Who said it counts: a person more than a model, whom the query speaks of most.
func TestSearchSpeaker(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "the roof wants paint", "the roof wants tiles")
		b.first(map[string]string{"roof wants": "the roof wants paint",
			"what did you say the roof wants": "the roof wants tiles",
			"what did I say the roof wants":   "the roof wants paint", "the roof wants role:assistant": "the roof wants tiles"})
	})
}

// Dates of a query match the day of a message and a date in its text, in any
// form; operators keep all else out.
func TestSearchDates(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.dated(c.ID, "2023-03-05 user the price is low", "2023-03-09 user the price is fair",
			"2023-04-05 user the price is high",
			"2023-06-01 user the price is due on 17 August", "2022-03-05 user the price is old")
		b.first(map[string]string{"price on 2023-03-05": "the price is low", "price, March 5": "the price is low",
			"3月9日 price":     "the price is fair",
			"price in April": "the price is high", "price 2023-08-17": "the price is due on 17 August",
			"price in March 2022": "the price is old",
			"price":               "the price is high"})
		for query, want := range map[string][]string{
			"price after:2023-04-05":                    {"the price is high", "the price is due on 17 August"},
			"price after:2023-03 before:2023-04":        {"the price is low", "the price is fair"},
			"price before:2023-03-05":                   {"the price is old"},
			"price on:2023-03-09":                       {"the price is fair"},
			"price on:2023-03-10":                       {},
			`"is fair" on:2023-03`:                      {"the price is fair"},
			`"is fair" price on:2023-03`:                {"the price is low", "the price is fair"},
			"price role:assistant after:2023-01-01":     {},
			"price after:2023-03-06 before:2023-03-09":  {},
			"price after:2023-03-06 before:2023-03-10 ": {"the price is fair"},
		} {
			got := b.search(scrollback.SearchQuery{Query: query, Limit: 9, Order: scrollback.OrderTime})
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
	})
}

// What was said on a day is found behind any number of better matches.
func TestSearchDateBehindAFlood(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		lines := []string{"2023-03-05 user a word about the garden and much else besides that nobody will ever look for again"}
		for range 150 {
			lines = append(lines, "2023-05-01 user word word")
		}
		b.dated(c.ID, lines...)
		got := b.search(scrollback.SearchQuery{Query: "which word fell on March 5", Limit: 20})
		if !slices.Contains(got, lines[0][len("2023-03-05 user "):]) {
			t.Errorf("found %q", got)
		}
	})
}

// The answer to a question that matches is found though no word is in it, where
// nothing keeps it out; a look-up is none.
func TestSearchAnswers(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "Where is the spare badge of Lisbon?", "In the grey drawer.", "A badge is a badge.", "Quite.",
			"Which badge was it?")
		const answer = "In the grey drawer."
		for query, want := range map[string]bool{"where is the spare badge of Lisbon": true, `"spare badge"`: false,
			"spare badge role:user": false, "spare badge before:2023-01-01": false} {
			if got := b.search(scrollback.SearchQuery{Query: query, Limit: 9}); slices.Contains(got, answer) != want {
				t.Errorf("%s: %q", query, got)
			}
		}
		if got := b.search(scrollback.SearchQuery{Query: "where is the spare badge of Lisbon",
			Limit: 2}); !slices.Contains(got, answer) {
			t.Errorf("the best are %q", got)
		}
		look := []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleUser,
			Parts: scrollback.Parts{scrollback.Text{Text: "zebra?"}}}},
			{Message: scrollback.Message{Role: scrollback.RoleAssistant,
				Parts: scrollback.Parts{scrollback.ToolCall{ID: "1", Name: "context_search", Arguments: []byte(`{}`)}}}}}
		if _, err := b.AppendMessages(t.Context(), b.head(c.ID), look); err != nil {
			t.Fatal(err)
		}
		if got := b.search(scrollback.SearchQuery{Query: "zebra"}); !slices.Equal(got, []string{"zebra?"}) {
			t.Errorf("zebra: %q", got)
		}
	})
}

// A statement goes before a question in the same words; the newer of two goes first
// where the query asks for what holds now.
func TestSearchStatementsAndNews(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "The launch is on Monday.", "x", "The launch is on Friday instead, so they say.", "x",
			"the tide turns at noon", "x",
			"The tide turns at noon?", "x")
		b.first(map[string]string{"launch": "The launch is on Monday.",
			"launch now": "The launch is on Friday instead, so they say.",
			"tide turns": "the tide turns at noon"})
	})
}

// In order of time are the same hits, oldest first.
func TestSearchOrderOfTime(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, "red and much else that is of no use to anyone at all", "red", "red green", "red red", "red blue green")
		best := b.search(scrollback.SearchQuery{Query: "red green", Limit: 3})
		got := b.search(scrollback.SearchQuery{Query: "red green", Limit: 3, Order: scrollback.OrderTime})
		if !slices.Equal(got, []string{"red green", "red red", "red blue green"}) {
			t.Errorf("in order of time: %q", got)
		}
		slices.Sort(best)
		slices.Sort(got)
		if !slices.Equal(best, got) {
			t.Errorf("the best are %q, in order of time %q", best, got)
		}
	})
}
