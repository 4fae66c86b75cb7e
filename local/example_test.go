package local_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
)

// folder makes a temporary folder, so that the examples leave nothing behind.
func folder() string {
	dir, err := os.MkdirTemp("", "scrollback")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// A first conversation, with the built-in offline model.
func Example() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)

	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()

	c, _, err := sb.Create(ctx, scrollback.Conversation{Title: "Depots"})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"The code of the blue depot is 7F3K.", "What is the code of the blue depot?"} {
		ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say(text)}
		reply, err := scrollback.ReplyOf(sb.Turn(ctx, ask))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(reply)
	}
	// Output:
	// Noted. I am the built-in offline model: I find and quote what was said and do not reason; for a real model use `--model provider/name`.
	// From this conversation:
	// [#1] “The code of the blue depot is 7F3K.”
}

// A turn can be shown while it runs. What ends it early comes as an event too.
func ExampleScrollback_turn() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	c, _, err := sb.Create(ctx, scrollback.Conversation{})
	if err != nil {
		log.Fatal(err)
	}

	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("The depot is closed.")}
	for ev, err := range sb.Turn(ctx, ask) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case scrollback.DeltaEvent:
			fmt.Print(ev.Content)
		case scrollback.ErrorEvent:
			fmt.Println("failed:", ev.Code, ev.Message)
		case scrollback.DoneEvent:
			fmt.Println()
			fmt.Println(ev.Status)
		}
	}
	// Output:
	// Noted. I am the built-in offline model: I find and quote what was said and do not reason; for a real model use `--model provider/name`.
	// complete
}

// A program that opens the folder again continues where the last one stopped, or from an
// earlier message in a conversation of its own.
func ExampleScrollback_resume() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = sb.Create(ctx, scrollback.Conversation{},
		scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("The red depot opens at nine.")},
		scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Say("Noted.")})
	if err != nil {
		log.Fatal(err)
	}
	if err := sb.Close(); err != nil {
		log.Fatal(err)
	}

	sb, err = local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	id, err := sb.Resolve(ctx, "latest")
	if err != nil {
		log.Fatal(err)
	}
	ask := engine.TurnRequest{Conversation: id, Message: scrollback.Say("When does the red depot open?")}
	reply, err := scrollback.ReplyOf(sb.Turn(ctx, ask))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply)

	seq := int64(2) // behind the second message
	fork, err := sb.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "Another way")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fork.Title, "has", fork.Messages, "messages")
	// Output:
	// From this conversation:
	// [#1] “The red depot opens at nine.”
	// Another way has 2 messages
}

// What is compacted leaves the window and stays readable behind its ref, for ever.
func ExampleScrollback_compact() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	c, _, err := sb.Create(ctx, scrollback.Conversation{},
		scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("The code of the blue depot is 7F3K.")},
		scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Say("Noted.")})
	if err != nil {
		log.Fatal(err)
	}

	receipt, err := sb.Compact(ctx, c.ID, engine.CompactRequest{Clear: true}) // everything so far
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Result, receipt.FirstSeq, "to", receipt.LastSeq)

	refs, _, err := sb.Recall().Refs(ctx, c.ID, scrollback.RefQuery{})
	if err != nil {
		log.Fatal(err)
	}
	for _, ref := range refs {
		page, err := sb.Recall().Read(ctx, c.ID, ref.Ref, 0, 0)
		if err != nil {
			log.Fatal(err)
		}
		original := strings.Contains(page.Content, "The code of the blue depot is 7F3K.")
		fmt.Printf("%s of %d messages: %v\n", ref.Kind, ref.Messages, original)
	}
	// Output:
	// compacted 1 to 2
	// history of 2 messages: true
}

// Search finds messages by words in everything that is kept.
func ExampleScrollback_search() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	_, _, err = sb.Create(ctx, scrollback.Conversation{Title: "Depots"},
		scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("The code of the blue depot is 7F3K.")},
		scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("The red one is closed.")})
	if err != nil {
		log.Fatal(err)
	}

	found, err := sb.Recall().Search(ctx, scrollback.SearchQuery{Query: "blue depots"})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.Seq, hit.Role, hit.Content)
	}
	// Output: 1 user The code of the blue depot is 7F3K.
}

// A file of messages becomes a conversation; the same file again changes nothing.
func ExampleScrollback_Import() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()

	const file = `{"role": "user", "content": "The blue depot opens at nine."}
{"role": "assistant", "content": "Noted."}
`
	for range 2 {
		in, err := sb.Import(ctx, strings.NewReader(file), local.ImportRequest{})
		if err != nil {
			log.Fatal(err)
		}
		for _, c := range in.Conversations {
			fmt.Printf("new: %v, messages added: %d of %d\n", c.Created, c.Messages, c.Total)
		}
	}
	// Output:
	// new: true, messages added: 2 of 2
	// new: false, messages added: 0 of 2
}

// A caller works in its own projects, with its own access. To it, what is not its own
// does not exist.
func ExampleScrollback_callers() {
	ctx := context.Background()
	dir := folder()
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	secret, _, err := sb.Create(ctx, scrollback.Conversation{Project: "board"})
	if err != nil {
		log.Fatal(err)
	}

	ann := sb.Engine.As(scrollback.Caller{Name: "ann", Access: scrollback.AccessWrite, Projects: []string{"support"}})
	c, _, err := ann.Create(ctx, scrollback.Conversation{Title: "A ticket"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Project)

	_, err = ann.Get(ctx, secret.ID)
	fmt.Println(scrollback.CodeOf(err))
	_, err = ann.Admin()
	fmt.Println(scrollback.CodeOf(err))
	// Output:
	// support
	// not_found
	// refused
}
