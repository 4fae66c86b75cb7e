package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Pack exports a conversation as a bundle.
func (r *Rig) Pack(id scrollback.ConversationID, q transfer.ExportRequest) []byte {
	r.T.Helper()
	var out bytes.Buffer
	if err := r.Export(context.Background(), id, q, &out); err != nil {
		r.T.Fatal(err)
	}
	return out.Bytes()
}

// Unpack imports a bundle.
func (r *Rig) Unpack(file []byte, q transfer.ImportRequest) (transfer.ImportResult, error) {
	return r.Import(context.Background(), bytes.NewReader(file), q)
}

// ImportMany imports n messages of many kinds, and folds what has become too much.
func (r *Rig) ImportMany(id scrollback.ConversationID, n int) {
	r.T.Helper()
	ctx := context.Background()
	var file strings.Builder
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&file, `{"role":"user","content":"question %d about the tide and the 数据库: where is the 钥匙? %s"}`+"\n", i,
				strings.Repeat("more words ", 12))
		case 1:
			fmt.Fprintf(&file, `{"role":"assistant","content":[{"type":"reasoning","text":"hm `+
				`%d"},{"type":"tool_call","id":"call-%d","name":"look","arguments":{"at":%d}}]}`+"\n", i, i, i)
		case 2:
			var output strings.Builder
			for line := range 3 + 700*(i%3/2) {
				fmt.Fprintf(&output, "output line %d of %d\\n", line, i)
			}
			fmt.Fprintf(&file,
				`{"role":"tool","content":[{"type":"tool_result","call_id":"call-%d","name":"look","text":"%s"}]}`+"\n", i-1,
				output.String())
		case 3:
			fmt.Fprintf(&file, `{"role":"assistant","content":"The <answer> %d & more. 潮水 %s"}`+"\n", i,
				strings.Repeat("tide ", i))
		}
	}
	r.Clock.Add(1000)
	if _, err := r.Import(ctx, strings.NewReader(file.String()), transfer.ImportRequest{Into: id}); err != nil {
		r.T.Fatal(err)
	}
}

// AppendTurns appends n messages of the user and the assistant in turn.
func (r *Rig) AppendTurns(id scrollback.ConversationID, n int, text string) {
	r.T.Helper()
	h, err := r.Store.ReadHead(context.Background(), id)
	if err != nil {
		r.T.Fatal(err)
	}
	var in []store.IncomingMessage
	for i := range n {
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
		in = append(in, store.IncomingMessage{Message: scrollback.Message{Role: role,
			Parts: Say(strings.Repeat(text+" tide ", 20))}})
	}
	if _, err := r.Store.AppendMessages(context.Background(), h, in); err != nil {
		r.T.Fatal(err)
	}
}

// Moved are bundles of one conversation as it grew, the last of a fork of it.
var Moved = sync.OnceValue(func() (files [3][]byte) {
	ctx := context.Background()
	t := &testing.T{}
	r := New(t, Options{Limit: 3000, NoFolds: true}, modeltest.Say("an answer"))
	id := r.NewConversation()
	r.AppendTurns(id, 12, "before")
	_, _ = r.Compact(ctx, id, engine.CompactRequest{Force: true})
	_, _ = r.Upload(ctx, id, strings.NewReader("some bytes that moved"), "moved.txt")
	files[0] = r.Pack(id, transfer.ExportRequest{})
	r.AppendTurns(id, 9, "after")
	_, _ = r.Compact(ctx, id, engine.CompactRequest{Force: true})
	_, _ = r.Branches().Rewind(ctx, id, engine.Point{Seq: new(int64(14))})
	files[1] = r.Pack(id, transfer.ExportRequest{})
	if c, err := r.Branches().Fork(ctx, id, engine.Point{}, "fork"); err == nil {
		r.AppendTurns(c.ID, 8, "forked")
		_, _ = r.Compact(ctx, c.ID, engine.CompactRequest{Force: true})
		files[2] = r.Pack(c.ID, transfer.ExportRequest{})
	}
	return files
})

// ImportText imports a file, whose format is recognized.
func (r *Rig) ImportText(text string) (transfer.ImportResult, error) {
	return r.Import(context.Background(), strings.NewReader(text), transfer.ImportRequest{})
}
