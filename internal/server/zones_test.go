package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// TestZones: the days of a search and of usage are those of the caller's zone.
func TestZones(t *testing.T) {
	rig := enginetest.New(t, enginetest.Options{}, modeltest.Say("noted"))
	o := server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(server.Handler(rig.Engine, rig.Transfer, o, true))
	t.Cleanup(srv.Close)
	file := `{"role":"user","content":"a heron at the weir","created_at":"2026-03-05T07:30:00Z"}
{"role":"assistant","content":"the heron flew","created_at":"2026-03-05T10:30:00Z"}
`
	res, err := http.Post(srv.URL+"/api/import?from=jsonl", "application/octet-stream", strings.NewReader(file))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	res.Body.Close()
	get := func(path string, into any) {
		t.Helper()
		res, err := http.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", path, res.Status, err)
		}
	}
	found := func(query, zone string) string {
		var r scrollback.SearchResult
		get("/api/search?around=0&q="+url.QueryEscape(query)+"&tz="+url.QueryEscape(zone), &r)
		var roles []string
		for _, h := range r.Hits {
			roles = append(roles, string(h.Role))
		}
		slices.Sort(roles)
		return strings.Join(roles, " ")
	}
	for _, c := range []struct{ query, zone, want string }{
		{"heron on:2026-03-05", "", "assistant user"},
		{"heron on:2026-03-05", "UTC", "assistant user"},
		{"heron on:2026-03-04", "America/Los_Angeles", "user"},
		{"heron after:2026-03-05", "America/Los_Angeles", "assistant"},
		{"heron on:2026-03-06", "Pacific/Kiritimati", "assistant"},
		{"heron before:2026-03-06", "Pacific/Kiritimati", "user"},
		{"heron on:2026-03-06", "", ""},
	} {
		if got := found(c.query, c.zone); got != c.want {
			t.Errorf("%s in %q finds %q, want %q", c.query, c.zone, got, c.want)
		}
	}

	conversation, _, err := rig.Create(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	asked := scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "ask"}}}
	begun, err := rig.Store.Turns.Begin(t.Context(), store.BeginRequest{Conversation: conversation.ID, Owner: "o",
		Messages: []store.IncomingMessage{{Message: asked}}})
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2026, 3, 5, 7, 30, 0, 0, time.UTC).UnixMilli()
	var calls []scrollback.UsageRecord
	for i, at := range []int64{midnight, midnight + 3*time.Hour.Milliseconds()} {
		calls = append(calls, scrollback.UsageRecord{Conversation: conversation.ID, Model: "p/m", Purpose: "turn", At: at,
			Usage: scrollback.Usage{InputTokens: int64(i + 1), TotalTokens: int64(i + 1)}})
	}
	finish := store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnOpen, Usage: calls}
	if _, err = rig.Store.Turns.FinishStep(t.Context(), finish); err != nil {
		t.Fatal(err)
	}
	used := func(from, to int64, more string) string {
		var r struct{ Usage, Total []scrollback.UsageSum }
		get(fmt.Sprintf("/api/usage?group_by=day&from=%d&to=%d%s", from, to, more), &r)
		var out []string
		for _, u := range r.Usage {
			out = append(out, fmt.Sprintf("%s %d", u.Day, u.InputTokens))
		}
		return strings.Join(out, ", ")
	}
	later := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct {
		from, to   int64
		more, want string
	}{
		{0, later, "", "2026-03-05 3"},
		{0, later, "&tz=UTC", "2026-03-05 3"},
		{0, later, "&tz=America/Los_Angeles", "2026-03-04 1, 2026-03-05 2"},
		{0, later, "&tz=Pacific/Kiritimati", "2026-03-05 1, 2026-03-06 2"},
		{midnight, midnight, "&tz=America/Los_Angeles", "2026-03-04 1"},
		{midnight, midnight, "", "2026-03-05 3"},
	} {
		if got := used(c.from, c.to, c.more); got != c.want {
			t.Errorf("usage from %d to %d%s is %q, want %q", c.from, c.to, c.more, got, c.want)
		}
	}
	path := "/api/conversations/" + string(conversation.ID) + "/context?tz="
	for _, path := range []string{"/api/search?q=heron&tz=", "/api/usage?tz=", path} {
		for _, zone := range []string{"Mars/Olympus", "Local", "../../etc/passwd"} {
			res, err := http.Get(srv.URL + path + url.QueryEscape(zone))
			if err != nil {
				t.Fatal(err)
			}
			if res.Body.Close(); res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s%s: %s", path, zone, res.Status)
			}
		}
	}
}
