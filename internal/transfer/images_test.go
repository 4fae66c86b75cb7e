package transfer_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// An image at an address goes out and comes in as an address, even if it was sent before; it
// has no bytes that anybody could look for.
func TestImagesAtAddresses(t *testing.T) {
	ctx := context.Background()
	const at = "https://pictures.example/cat.png"
	r := enginetest.New(t, enginetest.Options{RemoteImages: true}, modeltest.Say("I see a cat."))
	id := r.NewConversation()
	said := append(enginetest.Say("What is this?"), scrollback.Image{URL: at, Name: "cat.png", Detail: "low"},
		r.UploadImage(id, 3))
	r.Run(engine.TurnRequest{Conversation: id, Message: said}).WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	healthy(r)
	has := func(r *enginetest.Rig, id scrollback.ConversationID, from string) {
		t.Helper()
		parts := r.Log(id)[0].Parts
		if len(parts) != 3 {
			t.Fatalf("from %s: %+v", from, parts)
		}
		if i, ok := parts[1].(scrollback.Image); !ok || i.URL != at || i.Artifact != "" || i.Name != "cat.png" ||
			i.Detail != "low" {
			t.Errorf("from %s: %+v", from, parts[1])
		}
		if i, ok := parts[2].(scrollback.Image); !ok || i.Artifact == "" || i.Width != 64 {
			t.Errorf("from %s: %+v", from, parts[2])
		}
	}
	has(r, id, "here")
	_, archived := copyOf(t, r, id)
	files := map[string][]byte{"archive": []byte(archived), "bundle": r.Pack(id, transfer.ExportRequest{})}
	for _, format := range []string{"jsonl", "gemini-cli"} {
		var b bytes.Buffer
		if err := r.Export(ctx, id, transfer.ExportRequest{Format: format}, &b); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		files[format] = b.Bytes()
	}
	for from, file := range files {
		if !strings.Contains(string(file), at) && from != "bundle" {
			t.Errorf("%s does not have the address", from)
		}
		other := enginetest.New(t, enginetest.Options{}, modeltest.Say("I see a cat."))
		for range 2 { // the second changes nothing
			out, err := other.Import(ctx, bytes.NewReader(file), transfer.ImportRequest{})
			if err != nil || len(out.Conversations) != 1 || len(out.Skipped) > 0 {
				t.Fatalf("%s: %+v, %v", from, out, err)
			}
			has(other, out.Conversations[0].ID, from)
			healthy(other)
		}
	}
}
