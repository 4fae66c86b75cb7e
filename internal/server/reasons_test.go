package server_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Why a summary was not used is said in the reader's language, also where it is stored.
func TestWhyInTheLanguage(t *testing.T) {
	rig := enginetest.New(t, enginetest.Options{Summaries: true, NoFolds: true}, modeltest.Say("noted"))
	o := server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(server.Handler(rig.Engine, rig.Transfer, o, true))
	t.Cleanup(srv.Close)
	id := rig.NewConversation()
	for range 4 {
		rig.Ask(id, strings.Repeat("the tide at the lighthouse was low. ", 100))
	}
	ask := func(method, path, body, language string, into any) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), method, srv.URL+"/api/conversations/"+string(id)+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Accept-Language", language)
		q.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", path, res.Status, err)
		}
	}
	const english, chinese = "the answer did not have the form of a summary", "回答不符合摘要的格式"
	var r scrollback.Receipt
	ask("POST", "/compact", `{"policy":"snapshot","force":true}`, "zh-CN", &r)
	if r.SummaryWhy != chinese || r.SummaryBy != scrollback.SummaryExtractive {
		t.Errorf("a compaction says %+v", r)
	}
	for language, want := range map[string]string{"zh-CN": chinese, "en": english, "": english} {
		var all struct{ Receipts []scrollback.Receipt }
		ask("GET", "/receipts", "", language, &all)
		if len(all.Receipts) == 0 {
			t.Error("no receipt")
		}
		for _, r := range all.Receipts {
			if r.SummaryWhy != want || len(r.Tries) == 0 || r.Tries[0].Why != want {
				t.Errorf("in %q a receipt says %+v", language, r)
			}
		}
	}
}
