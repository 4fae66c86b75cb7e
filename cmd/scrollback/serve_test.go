package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestServeSaysWhatModelsLack: a server says, in a line each, which of its models cannot be
// asked, and serves.
func TestServeSaysWhatModelsLack(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.toml")
	write(t, config, []byte(`model = "nosuch/x"
title_model = "openai/gpt-5"
summary_model = ["offline", "custom/x"]
`))
	s := serve(t, t.TempDir(), []string{"OPENAI_API_KEY=", "SCROLLBACK_BASE_URL="}, "--config", config)
	if status := s.do("GET", "/api/models", nil, nil); status != 200 {
		t.Errorf("the server answers %d", status)
	}
	s.stop()
	var said []string
	for line := range strings.SplitSeq(s.stderr.String(), "\n") {
		if strings.HasPrefix(line, "scrollback: ") {
			said = append(said, line)
		}
	}
	if len(said) != 3 {
		t.Fatalf("it says %q", said)
	}
	says(t, said[0], `model = "nosuch/x": `, "unknown model")
	says(t, said[1], `title_model = "openai/gpt-5": `, "set OPENAI_API_KEY")
	says(t, said[2], `summary_model = "custom/x": `, "set SCROLLBACK_BASE_URL")

	s = serve(t, t.TempDir(), nil)
	if s.stop(); strings.Contains(s.stderr.String(), "scrollback: ") {
		t.Errorf("a server whose model is there says\n%s", s.stderr.String())
	}
}
