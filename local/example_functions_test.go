package local_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/functions"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

type place struct {
	City string `json:"city" jsonschema:"name of the city, in English"`
}

// temperature stands for something that knows.
func temperature(_ context.Context, in place) (int, error) {
	fmt.Println("asked for", in.City)
	return 12, nil
}

// A Go function is a tool: its arguments are described by a struct, and the turn goes on by
// itself until the model has answered.
func Example_functions() {
	ctx := context.Background()
	sb, err := local.Open(ctx, "", &local.Options{Database: "memory:", Model: "asker",
		Models: map[string]model.Model{"asker": asker{}}})
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	c, _, err := sb.Create(ctx, scrollback.Conversation{})
	if err != nil {
		log.Fatal(err)
	}

	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("How warm is it in Oslo?")}
	reply, err := scrollback.ReplyOf(functions.Turn(ctx, sb.View, ask,
		functions.New("temperature", "The temperature in a city, in °C.", temperature)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply)
	// Output:
	// asked for Oslo
	// It is 12 degrees in Oslo.
}
