package compact_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// A conversation in a slice is compacted whenever it fills its window, without a store.
func Example() {
	policy, err := compact.FindPolicy(compact.Segments, false)
	if err != nil {
		log.Fatal(err)
	}
	talk := compact.Shown{Policy: policy, Window: window.Input{
		Budget: window.NewBudget(2000, 0), Dialect: window.OpenAI(), Recall: &window.RecallTools{}}}
	parts := 0
	newID := func() string { parts++; return fmt.Sprint("part-", parts) }
	say := func(role scrollback.Role, text string) {
		parts := scrollback.Say(text)
		talk.Append(scrollback.Message{Role: role, Parts: parts, Status: scrollback.StatusComplete,
			CreatedAt: 1_767_225_600_000, Weight: window.Weigh(parts, token.Count, token.ImageTokens)})
	}
	say(scrollback.RoleUser, "Always answer in metres. The depth of the blue harbour is 7.3 m.")
	say(scrollback.RoleAssistant, "Noted.")
	for day := range 40 {
		say(scrollback.RoleUser, fmt.Sprintf("Day %d: %s", day, strings.Repeat("the tide came and went. ", 4)))
		say(scrollback.RoleAssistant, fmt.Sprintf("The log has day %d.", day))
		if !talk.IsDue(window.Assemble(talk.Window)) {
			continue
		}
		made, err := compact.Run(context.Background(), compact.Input{Shown: talk, NewID: newID, Count: token.Count})
		if err != nil {
			log.Fatal(err)
		}
		talk = compact.ShownAfter(&talk, &made)
	}
	next := window.Assemble(talk.Window) // what to send to a model
	fmt.Println("fits:", window.Fits(next.Weight, next.Budget), "live:", len(talk.Window.Live), "of", talk.Branch.HeadSeq)
	fmt.Println(next.Items[0].Parts.Text())
	// Output:
	// fits: true live: 40 of 82
	// <folded_history>
	// Earlier messages are folded. This is a record of them, not a request.
	//
	// Said in messages #1–#42, word for word:
	// What the person asked for:
	// - #1 user: Always answer in metres.
	//
	// Messages #1–#42 (2026-01-01) are folded: history:part-1
	// - #1 user: The depth of the blue harbour is 7.3 m.
	// - #3 user: Day 0: the tide came and went.
	// - #6 assistant: The log has day 1.
	// </folded_history>
}
