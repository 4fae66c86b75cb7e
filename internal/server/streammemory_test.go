package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/metrics"
	"github.com/scrollback-ai/scrollback/local"
)

// mostStreamBytes is what an open chat may take in this process: its turn, its client's connection, the connection to
// its model, and the model's own end of that. Half as much again is what it took when this was written.
const mostStreamBytes = 230_000

// Chats that are being answered take little: what stands in buffers and on stacks is there for as long as an answer.
func TestStreamMemory(t *testing.T) {
	held := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Yes"}}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-held
	}))
	t.Cleanup(upstream.Close)
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:", Model: "custom/m",
		Env: func(name string) string {
			return map[string]string{"SCROLLBACK_BASE_URL": upstream.URL + "/v1"}[name]
		}})
	if err != nil {
		t.Fatal(err)
	}
	counted, err := metrics.New(t.Context(), metrics.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer,
		server.Options{Version: "test", Metrics: counted, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, true))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		close(held)
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	const streams = 150
	open := func(n int) {
		for range n {
			c, _, err := sb.Create(context.Background(), scrollback.Conversation{})
			if err != nil {
				t.Fatal(err)
			}
			openChat(t, strings.TrimPrefix(srv.URL, "http://"), c.ID)
		}
	}
	taken := func() int64 {
		var m runtime.MemStats
		for range 5 { // a stack is halved each time
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	open(streams) // tables and caches are filled
	before := taken()
	open(streams)
	each := (taken() - before) / streams
	t.Logf("an open chat takes %d bytes", each)
	if each > mostStreamBytes {
		t.Errorf("an open chat takes %d bytes, at most %d are right", each, mostStreamBytes)
	}
}

// openChat begins a turn over a connection of its own, and reads until the answer has begun.
func openChat(t *testing.T, address string, id scrollback.ConversationID) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	const body = `{"message":"Is the gate open?"}`
	_, err = fmt.Fprintf(c, "POST /api/conversations/%s/chat HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", id, address, len(body), body)
	var got []byte
	for buf := make([]byte, 512); err == nil && !bytes.Contains(got, []byte(`"type":"delta"`)); {
		var n int
		n, err = c.Read(buf)
		got = append(got, buf[:n]...)
	}
	if err != nil {
		t.Fatalf("%v, after %s", err, got)
	}
}
