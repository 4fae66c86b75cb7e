package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A client that compacts its history and keeps the end of it behind its summary has that end stored once.
func TestKeptEnd(t *testing.T) {
	const (
		one     = "The pump of the north dock is repaired with the blue valve."
		two     = "The second valve is ordered and comes on Thursday at noon."
		summary = "The pump was repaired with a blue valve, and another one was ordered for Thursday."
	)
	p, _ := script(t, modeltest.Say(one), modeltest.Say(two), modeltest.Say(summary), modeltest.Say("Done."))
	sendMessages := func(tools bool, messages []object) {
		t.Helper()
		body := object{"model": "m", "messages": messages}
		if tools {
			body["tools"] = []object{{"type": "function", "function": object{"name": "ls", "parameters": object{
				"type": "object", "properties": object{}}}}}
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := p.send(http.MethodPost, "/v1/chat/completions", string(text)); status != http.StatusOK {
			t.Fatal(status, answer)
		}
	}
	send := func(tools bool, texts ...string) {
		t.Helper()
		messages := []object{}
		for i, text := range texts {
			messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": text})
		}
		sendMessages(tools, messages)
	}
	send(true, "What of the pump?")
	send(true, "What of the pump?", one, "And the valve?")
	send(false, "Summarize what is in these tags.\n<conversation>\n[User]: What of the pump?\n\n[Assistant]: "+one+
		"\n\n[User]: And the valve?\n\n[Assistant]: "+two+"\n</conversation>")
	texts := []object{{"role": "user", "content": "What was said before is in this summary:\n" + summary},
		{"role": "user", "content": "And the valve?"}, {"role": "assistant", "content": two},
		{"role": "user", "content": "Go on."}}
	sendMessages(true, texts)
	p.wantTalk("user: What of the pump?", "assistant: "+one, "user: And the valve?", "assistant: "+two, "user: Go on.",
		"assistant: Done.")
}
