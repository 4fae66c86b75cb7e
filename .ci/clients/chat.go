// Talks to a server by the client that oapi-codegen makes of its description: streamed,
// whole, and refused. It fails to compile or to run if the description is wrong.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"client/api"
)

func main() {
	if err := chat(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
	fmt.Println("a Go client chats")
}

func chat(ctx context.Context, url string) error {
	c, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	title := "Tides"
	made, err := c.CreateConversationWithResponse(ctx, api.CreateBody{Title: &title})
	if err != nil {
		return err
	}
	if made.JSON201 == nil {
		return fmt.Errorf("no conversation: %s", made.Body)
	}
	id := made.JSON201.Id
	text, err := streamed(ctx, c, id, "The key lies under the blue boat.")
	if err != nil {
		return err
	}
	var message api.ChatBody_Message
	whole := false
	if err := message.FromChatBodyMessage0("Where is the key?"); err != nil {
		return err
	}
	answer, err := c.ChatWithResponse(ctx, id, nil, api.ChatBody{Message: &message, Stream: &whole})
	if err != nil {
		return err
	}
	if answer.JSON200 == nil || text == "" {
		return fmt.Errorf("no answer (%q): %s", text, answer.Body)
	}
	page, err := c.ListMessagesWithResponse(ctx, id, nil)
	if err != nil {
		return err
	}
	if page.JSON200 == nil || len(page.JSON200.Messages) != 4 {
		return fmt.Errorf("not four messages: %s", page.Body)
	}
	part, err := page.JSON200.Messages[3].Parts[0].AsTextPart()
	if err != nil || !strings.Contains(part.Text, "blue boat") {
		return fmt.Errorf("the answer is %q, %w", part.Text, err)
	}
	refused, err := c.GetConversationWithResponse(ctx, "00000000-0000-7000-8000-000000000000")
	if err != nil {
		return err
	}
	if refused.JSON404 == nil || refused.JSON404.Error.Code != "not_found" {
		return fmt.Errorf("not an error that is described: %s", refused.Body)
	}
	return nil
}

// streamed reads a turn's events and returns its text.
func streamed(ctx context.Context, c *api.ClientWithResponses, id, said string) (string, error) {
	var message api.ChatBody_Message
	if err := message.FromChatBodyMessage0(said); err != nil {
		return "", err
	}
	res, err := c.Chat(ctx, id, nil, api.ChatBody{Message: &message})
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var text string
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return "", fmt.Errorf("the stream ended without a last event")
		}
		if err != nil {
			return "", err
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e api.ChatEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return "", err
		}
		of, err := e.ValueByDiscriminator()
		if err != nil {
			return "", err
		}
		switch of := of.(type) {
		case api.DeltaEvent:
			text += of.Content
		case api.ErrorEvent:
			return "", fmt.Errorf("%s: %s", of.Code, of.Message)
		case api.DoneEvent:
			return text, nil
		}
	}
}
