package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// What runs is counted by route, traces reach a collector, the log has a line a request,
// and none of the three has what was said.
func TestMetricsTracesAndLog(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent bytes.Buffer
	got := make(chan struct{}, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := io.Copy(&sent, r.Body); err == nil {
			got <- struct{}{}
		}
	}))
	defer collector.Close()
	s := serve(t, t.TempDir(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_BSP_SCHEDULE_DELAY=50",
		"SCROLLBACK_LOG_LEVEL=info", "SCROLLBACK_LOG_FORMAT=json"})
	id := s.conversation()
	s.chat(id, "What about the tulips?")
	s.do(http.MethodPost, "/api/conversations/"+string(id)+"/clear", nil, nil)
	s.do(http.MethodGet, "/api/search?q=tulips", nil, nil)
	s.do(http.MethodGet, "/api/nothing/tulips", nil, nil)

	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	shown, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`http_route="/api/conversations/{id}/chat"`,
		`scrollback_turns_total{scrollback_turn_status="complete"} 1`,
		"gen_ai_client_token_usage_sum",
		"go_goroutines", "process_resident_memory_bytes"} {
		if !strings.Contains(string(shown), part) {
			t.Errorf("the metrics have no %s", part)
		}
	}
	for name, labels := range documentedMetrics(t) {
		line := regexp.MustCompile(`(?m)^` + name + `(_count)?[{ ].*$`).FindString(string(shown))
		if line == "" {
			t.Errorf("the metrics have no %s", name)
		}
		for _, label := range labels {
			if label != "error_type" && !strings.Contains(line, label+`="`) {
				t.Errorf("%s has no label %s: %s", name, label, line)
			}
		}
	}
	deadline := time.After(time.Minute)
	for told := ""; !strings.Contains(told, "invoke_agent scrollback"); {
		select {
		case <-got:
			mu.Lock()
			told = sent.String()
			mu.Unlock()
		case <-deadline:
			t.Fatal("no trace of the turn arrived")
		}
	}
	s.stop()
	mu.Lock()
	traces := sent.String()
	mu.Unlock()
	log := s.stderr.String()
	if !strings.Contains(log, `"method":"POST","route":"/api/conversations/{id}/chat","status":200`) {
		t.Errorf("the log has no line for the chat:\n%s", log)
	}
	for name, text := range map[string]string{"metrics": string(shown), "traces": traces, "log": log} {
		if strings.Contains(text, "tulips") {
			t.Errorf("the %s have what was said", name)
		}
	}
}

// documentedMetrics returns the metrics that the guide lists, with their labels.
func documentedMetrics(t *testing.T) map[string][]string {
	guide, err := os.ReadFile("../../docs/guides/watching.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([a-z_]+)`")
	out := map[string][]string{}
	rows := regexp.MustCompile("(?m)^\\| `((?:http|scrollback|gen_ai)_[a-z_]+)` \\|([^|]*)\\|")
	for _, row := range rows.FindAllStringSubmatch(string(guide), -1) {
		labels := []string{}
		for _, l := range quoted.FindAllStringSubmatch(row[2], -1) {
			if l[1] != "input" && l[1] != "output" {
				labels = append(labels, l[1])
			}
		}
		out[row[1]] = labels
	}
	if len(out) != 7 {
		t.Fatalf("the guide lists %d metrics", len(out))
	}
	return out
}
