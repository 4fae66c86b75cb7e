package mcpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
)

// odd are ids that a decoder to float64 changes, and some that it does not.
var odd = []string{`1`, `0`, `-7`, `1.5`, `1.0`, `1e2`, `9007199254740993`, `9223372036854775808`,
	`123456789012345678901234567890`,
	`"1"`, `""`, `"a<b>&\u0031\/"`, `"é 仓"`}

const hello = `"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func quiet() mcpapi.Options {
	return mcpapi.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
}

// An id comes back as it came, byte for byte, however many requests have it.
func TestIDs(t *testing.T) {
	_, v, _, _ := folded(t)
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":"first",` + hello + "\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for _, id := range odd {
		in.WriteString(`{ "jsonrpc" : "2.0" , "id" : ` + id + ` , "method" : "ping" }` + "\n")
		in.WriteString(`{"id":` + id + `,"method":"nonsense","jsonrpc":"2.0"}` + "\n")
	}
	in.WriteString(`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","id":[1],"method":"ping"}` + "\n")
	var out bytes.Buffer
	if err := mcpapi.Serve(t.Context(), mcpapi.New(v, quiet()), strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	for _, id := range odd {
		for _, rest := range []string{`,"result":{}}`, `,"error":{"code":-32601,`} {
			if n := strings.Count(out.String(), `{"jsonrpc":"2.0","id":`+id+rest); n != 1 {
				t.Errorf("%s%s is there %d times in\n%s", id, rest, n, out.String())
			}
		}
	}
	if n := strings.Count(out.String(), `"code":-32600`); n != 2 || strings.Count(out.String(), `"id":null`) != 2 {
		t.Errorf("%d requests are refused in\n%s", n, out.String())
	}
}

// A cancellation names its request by an id that no float64 holds, and no other request
// stops: its id would be the same to one who rounds.
func TestCancelledIDs(t *testing.T) {
	_, v, long, _ := folded(t)
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpapi.Serve(t.Context(), mcpapi.New(v, quiet()), in, out)
		out.Close()
	}()
	go func() {
		defer client.Close()
		for _, line := range []string{`{"jsonrpc":"2.0","id":"first",` + hello,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"context_list","arguments":{"conversation":"` +
				string(long) + `"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740992}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"two is ours"}}`} {
			if _, err := io.WriteString(client, line+"\n"); err != nil {
				return // the server has ended, which the test sees
			}
		}
	}()
	said, err := io.ReadAll(answers)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || !strings.Contains(string(said), `"id":9007199254740993,"result":`) {
		t.Errorf("%v, answered:\n%s", err, said)
	}
}

// The same over HTTP, alone and in a list, as older clients send them.
func TestIDsOverHTTP(t *testing.T) {
	e, _, _, _ := folded(t)
	h := server.Handler(e, nil, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true)
	post := func(body string) (int, string) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	var batch []string
	for _, id := range odd {
		one := `{"jsonrpc":"2.0", "id": ` + id + `, "method":"ping"}`
		batch = append(batch, one)
		if status, body := post(one); status != http.StatusOK ||
			strings.TrimSpace(body) != `{"jsonrpc":"2.0","id":`+id+`,"result":{}}` {
			t.Errorf("%s: %d %s", id, status, body)
		}
	}
	status, body := post("[" + strings.Join(batch, ", ") + "]")
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || len(list) != len(odd) {
		t.Fatalf("a list: %d %s", status, body)
	}
	for _, id := range odd {
		if n := strings.Count(body, `"id":`+id+`,"result"`); n != 1 {
			t.Errorf("%s is answered %d times in %s", id, n, body)
		}
	}
	status, body = post(`{"jsonrpc":"2.0","id":null,"method":"ping"}`)
	if status != http.StatusBadRequest || !strings.Contains(body, "-32600") {
		t.Errorf("null: %d %s", status, body)
	}
}
