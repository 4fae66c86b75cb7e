package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// An error that a server puts into a stream that began well is shown in its words, in whatever
// form: as an event, as JSON by itself, as plain words or as a page.
func TestComplaintsInStreams(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"quota is gone","code":1}}`,
		"{\n  \"error\": {\n    \"message\": \"quota is gone\"\n  }\n}\n",
		"[{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"quota is gone\"\n  }\n}\n]",
		`{"detail":"quota is gone"}`, `{"error":"quota is gone"}`, `{"code":1302,"message":"quota is gone"}`,
		`{"error_code":3,"error_msg":"quota is gone"}`, `{"error_message":"quota is gone"}`,
		`{"code":7,"msg":"quota is gone"}`,
		`{"success":false,"msg":"quota is gone"}`,
		`{"choices":null,"base_resp":{"status_code":1004,"status_msg":"quota is gone"}}`,
		"data: {\"detail\":\"quota is gone\"}\n\n",
		"data: {\"error_code\":3,\"error_msg\":\"quota is gone\"}\n\ndata: [DONE]\n\n",
		"event: error\ndata: {\"message\":\"quota is gone\"}\n\n", "event: error\ndata: quota is gone\n\n",
		"error: {\"message\":\"quota is gone\"}\n\n", "data: error: quota is gone\n\n", "quota is gone\n",
		"<html><body>\nquota is gone</body></html>", ": hi\n\n{\"error\":{\"message\":\"quota is gone\"}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n{\"error\":{\"message\":\"quota is gone\"}}\n",
	} {
		m := respServe(t, "custom", "m", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, body) // the client may be gone
		}))
		_, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if err == nil || !strings.Contains(err.Error(), "quota is gone") {
			t.Errorf("%q: %v", body, err)
		}
	}
	fine := "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\nodd line\n" +
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"base_resp\":{\"status_code\":0}}\n\ndata: [DONE]\n\n"
	m := respServe(t, "custom", "m", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, fine) // the client may be gone
	}))
	if a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest())); err != nil || a.Text != "hi" {
		t.Errorf("%q, %v", a.Text, err)
	}
}
