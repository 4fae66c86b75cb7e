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

// TestServeSaysItsLimits: a server says in a line of its log what it takes, and only if that is asked for.
func TestServeSaysItsLimits(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, args := range []string{"keys add --name laptop --role write", "keys limit laptop --tokens-per-day 500",
		"projects set port --tokens 70", "projects set quay --title Quay"} {
		if code, _, errs := inside(t, data, strings.Fields(args)...); code != 0 {
			t.Fatal(errs)
		}
	}
	config := filepath.Join(t.TempDir(), "config.toml")
	write(t, config, []byte("log_level = \"info\"\nrate_limit = \"9/h\"\n[door]\nmode = \"window\"\nrecall = \"off\"\n"+
		"[limits]\ndoor_body_bytes = 1234567\n[projects.port]\nmoney_per_day = 5\n[projects.dock]\nmoney_per_day = 2.5\n"))
	s := serve(t, data, nil, "--config", config)
	s.stop()
	log := s.stderr.String()
	for _, want := range []string{"msg=limits chats=9/h", `project dock: 2.5 USD; project port: 70 tokens; key laptop: 500`,
		" body_bytes=1048576", "door=window", "door_recall=off", "door_chats=9/h", "door_body_bytes=1234567"} {
		says(t, log, want)
	}
	s = serve(t, data, nil)
	if s.stop(); strings.Contains(s.stderr.String(), "limits") {
		t.Errorf("without being asked it says\n%s", s.stderr.String())
	}
}
