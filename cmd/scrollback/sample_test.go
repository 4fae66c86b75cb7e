package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSampleConfigurationWins: the complete file of the guide is taken by the program without
// a word, and what it says counts.
func TestSampleConfigurationWins(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/config.md")
	if err != nil {
		t.Fatal(err)
	}
	sample := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(guide)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	// What stands on other machines is here instead.
	text := strings.NewReplacer("/srv/scrollback", dir+"/data", `store = "postgres:`, `# store = "postgres:`,
		"s3://history/team?region=eu-central-1", "file://"+dir+"/objects",
		"/home/me/work", dir).Replace(string(sample[1]))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := func(into any, args ...string) {
		t.Helper()
		unset := []string{"SCROLLBACK_DATA=", "SCROLLBACK_TITLES=", "SCROLLBACK_LIMIT=", "SCROLLBACK_MODEL="}
		cmd := command(t, "", unset, append([]string{"--config", file, "--json"}, args...)...)
		var complaints strings.Builder
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil || complaints.Len() > 0 {
			t.Fatalf("%v: %v\n%s", args, err, complaints.String())
		}
		if err := json.Unmarshal(out, into); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	var models struct {
		Models []struct {
			Name      string
			Limit     int64
			LimitFrom string `json:"limit_from"`
			MaxOutput int64  `json:"max_output"`
			Factor    float64
			Default   bool
			WebSearch string `json:"web_search"`
			Price     struct {
				Input  float64
				Cached float64 `json:"cached_input"`
				Output float64
			}
		}
	}
	asked(&models, "models")
	limits := map[string]int64{}
	for _, m := range models.Models {
		limits[m.Name] = m.Limit
		if m.Name != "deepseek/deepseek-chat" {
			continue
		}
		if !m.Default || m.Limit != 128000 || m.LimitFrom != "config" || m.MaxOutput != 8000 || m.Factor != 1.1 ||
			m.Price.Input != 0.28 ||
			m.Price.Cached != 0.028 || m.Price.Output != 0.42 {
			t.Errorf("the model of the sample is %+v", m)
		}
	}
	if limits["deepseek/deepseek-chat"] == 0 || limits["offline"] != 64000 {
		t.Errorf("the windows are %v", limits)
	}
	talk := filepath.Join(dir, "talk.jsonl")
	write(t, talk, []byte(`{"role":"user","content":"a question"}`+"\n"+`{"role":"assistant","content":"an answer"}`+"\n"))
	asked(new(any), "import", talk)
	var shown struct {
		Model, Policy string
		Limit         int64
	}
	asked(&shown, "context", "latest")
	if shown.Model != "deepseek/deepseek-chat" || shown.Policy != "snapshot" || shown.Limit != 128000 {
		t.Errorf("the next request of a conversation is %+v", shown)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "scrollback.db")); err != nil {
		t.Errorf("the data is not in the folder of the sample: %v", err)
	}
}
