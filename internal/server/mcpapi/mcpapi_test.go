package mcpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// folded returns an engine with one folded conversation and one short one. Its ids and its
// times are the same on every run.
func folded(t *testing.T) (e *engine.Engine, v *engine.View, long, short scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	var ids, seconds atomic.Int64
	s, err := store.New(oracle.New(), token.Count, &store.Options{Image: token.ImageTokens,
		NewID: func() string { return fmt.Sprintf("0190a000-0000-7000-8000-%012d", ids.Add(1)) },
		Now:   func() time.Time { return time.Unix(1_760_000_000+seconds.Add(1), 0) }})
	if err != nil {
		t.Fatal(err)
	}
	bucket := blob.NewMemory()
	kept := archive.New(s, bucket, nil)
	e = engine.New(s, kept, engine.Options{Limit: 8000,
		Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	t.Cleanup(func() {
		e.Close(context.Background())
		bucket.Close()
	})
	v = e.As(scrollback.Operator())
	moves := transfer.New(s, kept, transfer.Options{Importers: all.Importers()})
	load := func(lines ...string) scrollback.ConversationID {
		out, err := moves.Import(ctx, v, strings.NewReader(strings.Join(lines, "\n")), transfer.ImportRequest{})
		if err != nil || len(out.Conversations) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out.Conversations[0].ID
	}
	lines := []string{`{"conversation":{"id":"depots","title":"Depots"}}`}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`{"role":"user","content":"What is the code of depot %d?","created_at":%d}`, i,
			1_750_000_000_000+int64(i)*1000),
			fmt.Sprintf(`{"role":"assistant","content":"The code of depot %d is K-%d. 仓库的门禁码。","created_at":%d}`, i, 100+i,
				1_750_000_000_500+int64(i)*1000))
	}
	long = load(lines...)
	if _, err := v.Compact(ctx, long, engine.CompactRequest{}); err != nil {
		t.Fatal(err)
	}
	if refs, _, err := v.Recall().Refs(ctx, long, scrollback.RefQuery{}); err != nil || len(refs) == 0 {
		t.Fatalf("nothing was folded: %v", err)
	}
	return e, v, long, load(`{"conversation":{"id":"harbour"}}`,
		`{"role":"user","content":"The harbour opens at six.","created_at":1750000100000}`)
}

// A dialogue is a file of lines: "> " is what the client says, "< " what it is
// answered. Each file is spoken over a pair of streams, and must be answered byte for
// byte.
func TestDialogues(t *testing.T) {
	for _, d := range []struct {
		name   string
		scoped bool
	}{{"anywhere", false}, {"one", true}, {"mistakes", true}} {
		t.Run(d.name, func(t *testing.T) {
			_, v, long, _ := folded(t)
			o := mcpapi.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
			if d.scoped {
				o.Conversation = long
			}
			path := filepath.Join("testdata", d.name+".txt")
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := speak(t, mcpapi.New(v, o), want)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is answered\n%s", path, got)
			}
		})
	}
}

// speak returns what a dialogue's client says, and waits for each answer.
func speak(t *testing.T, s *mcp.Server, dialogue []byte) []byte {
	t.Helper()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcpapi.Serve(t.Context(), s, in, out) }()
	lines := bufio.NewReader(answers)
	var spoken bytes.Buffer
	for line := range strings.Lines(string(dialogue)) {
		said, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		spoken.WriteString(line)
		if _, err := io.WriteString(client, said); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said, `"method":"notifications/`) {
			continue // a notification
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		spoken.WriteString("< " + answer)
	}
	client.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the end of the input ends it with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the end of the input does not end it")
	}
	return spoken.Bytes()
}

// A client that says everything at once and ends is answered all of it.
func TestEndOfInput(t *testing.T) {
	_, v, long, _ := folded(t)
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	const calls = 20
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id": "call `+
			`%d","method":"tools/call","params":{"name":"context_grep","arguments":{"conversation":%q,"pattern":"K-1%02d"}}}`+
			"\n", i, long, i)
	}
	for range 10 {
		var out bytes.Buffer
		if err := mcpapi.Serve(t.Context(), mcpapi.New(v,
			mcpapi.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}),
			strings.NewReader(in.String()), &out); err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if n := strings.Count(out.String(), fmt.Sprintf(`"id":"call %d"`, i)); n != 1 {
				t.Fatalf("call %d is answered %d times in\n%s", i, n, out.String())
			}
		}
	}
}

// The same over HTTP, with a client of the protocol; and no page of another site gets
// anything.
func TestHTTP(t *testing.T) {
	ctx := t.Context()
	e, v, long, other := folded(t)
	srv := httptest.NewServer(server.Handler(e, nil, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)},
		true))
	defer srv.Close()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: srv.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := func(tool string, args map[string]any) (text string, failed bool) {
		t.Helper()
		r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	tools, err := c.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 8 {
		t.Fatalf("%+v, %v", tools, err)
	}
	if text, failed := call("context_search", map[string]any{"query": "harbour"}); failed ||
		!strings.Contains(text, string(other)) {
		t.Errorf("searching everywhere answers %s", text)
	}
	listed, failed := call("context_list", map[string]any{"conversation": string(long)[:8]})
	var lines struct{ Refs []string }
	if err := json.Unmarshal([]byte(listed), &lines); err != nil || failed || len(lines.Refs) == 0 {
		t.Fatalf("the refs are %s, %v", listed, err)
	}
	short, _, _ := strings.Cut(lines.Refs[0], " ")
	ref := scrollback.Ref(short)
	var text strings.Builder
	for page := (scrollback.Page{}); !page.Done; {
		got, failed := call("context_read", map[string]any{"conversation": string(long), "ref": ref,
			"offset": page.NextOffset,
			"limit":  scrollback.ReadMax})
		if err := json.Unmarshal([]byte(got), &page); err != nil || failed {
			t.Fatalf("a page is %.200s, %v", got, err)
		}
		text.WriteString(page.Content)
	}
	kind, id, _ := ref.Split()
	whole, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "scrollback://" + string(long) + "/" + kind + "/" + id})
	if err != nil || whole.Contents[0].Text != text.String() || whole.Contents[0].MIMEType != "text/markdown" {
		t.Errorf("as a resource it is another, %v", err)
	}
	if _, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "scrollback://" + string(other) + "/" + kind + "/" +
		id}); err == nil {
		t.Error("a conversation that mentions no such ref reads it")
	}
	if text, failed := call("context_tail", map[string]any{"conversation": string(other), "ref": string(ref)}); !failed {
		t.Errorf("a conversation that mentions no such ref reads the end of it: %s", text)
	}

	for _, a := range []struct {
		bytes []byte
		named string
	}{{[]byte("\x89PNG\r\n\x1a\n\x00\x01"), "image/png"}, {[]byte("a line 一行\n"), "text/plain"},
		{bytes.Repeat([]byte("more than a resource holds\n"), 50_000), ""}} {
		kept, err := v.Upload(ctx, other, bytes.NewReader(a.bytes), "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "scrollback://" + string(other) + "/artifact/" +
			string(kept.ID)})
		switch {
		case a.named == "":
			if err == nil || !strings.Contains(err.Error(), "read it in pages with context_read") {
				t.Errorf("a big original: %v", err)
			}
		case err != nil || got.Contents[0].MIMEType != a.named ||
			got.Contents[0].Text+string(got.Contents[0].Blob) != string(a.bytes):
			t.Errorf("an artifact: %+v, %v", got.Contents[0], err)
		}
	}

	r, err := http.NewRequest(http.MethodPost, srv.URL+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Origin", "http://elsewhere.example")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site is answered %s", got.Status)
	}
}
