package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/server"
)

// The numbers of a policy are described wherever they can be given, under their new name.
func TestCompactionIsDescribed(t *testing.T) {
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close()
	w := httptest.NewRecorder()
	handler := server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test"}, true)
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil))
	var api struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ChatBody", "CompactRequest", "SettingsBody", "Settings"} {
		of := api.Components.Schemas[name].Properties
		if of["compaction"] == nil || of["folding"] != nil {
			t.Errorf("%s: compaction is %s, folding %s", name, of["compaction"], of["folding"])
		}
	}
}
