package config

import (
	"bytes"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// configured settles flags over a file of the given text.
func configured(t *testing.T, text string, flags Flags) (Settings, string, error) {
	t.Helper()
	var warned bytes.Buffer
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(file, flags, &warned)
	return s, warned.String(), err
}

// The complete file of the guide parses, and says what the guide says.
func TestConfigGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guides/config.md")
	if err != nil {
		t.Fatal(err)
	}
	sample := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(guide)
	if sample == nil {
		t.Fatal("the guide has no sample")
	}
	got, warned, err := configured(t, string(sample[1]), Flags{})
	if err != nil || warned != "" {
		t.Fatal(err, warned)
	}
	want := Settings{Data: "/srv/scrollback", Store: "postgres://scrollback@db.example.org/scrollback?sslmode=verify-full",
		Objects: "s3://history/team?region=eu-central-1", Model: "deepseek/deepseek-chat", DefaultLimit: 64000,
		Addr: "127.0.0.1:7077",
		Compaction: engine.PolicySettings{Policy: "snapshot",
			Numbers: map[string]float64{"keep_share": 0.4, "check_calls": 1}},
		Projects: map[string]engine.PolicySettings{"support": {Policy: "rolling",
			Numbers: map[string]float64{"trigger_messages": 20}}},
		SummaryModels: []string{"openai/gpt-5-mini", "moonshot/kimi-k2"}, SummaryTimeout: 45 * time.Second,
		Roots:       []string{"/home/me/work"},
		MemoryFiles: []string{"AGENTS.md", "NOTES.md"}, Setup: "Everything is set up.", Eager: true, TrashDays: 30,
		TrustedProxies: access.Proxies{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")},
		Hosts:          []string{"chat.example.org"},
		LogLevel:       slog.LevelInfo, LogJSON: true, Traces: true,
		SearXNG: "http://127.0.0.1:8888", WebSearch: "auto", Embeddings: "ollama/nomic-embed-text",
		Titles: engine.TitlesModel, TitleModel: "openai/gpt-5-nano",
		Grace:      5 * time.Second,
		Rate:       scrollback.Rate{Chats: 100, PerMS: time.Hour.Milliseconds()},
		Keep:       map[string]string{"support": "project"},
		Allowances: map[string]scrollback.SpendLimit{"support": {Tokens: 2_000_000, Money: 5, Currency: "EUR"}},
		Models: map[string]token.Facts{"deepseek/deepseek-chat": {Limit: 128000, MaxOutput: 8000, Factor: 1.1,
			Price: &token.Price{Input: 0.28, CachedInput: 0.028, Output: 0.42, Currency: "USD"}}},
		Strict:      map[string]scrollback.Strictness{"custom/gemma-3-12b": scrollback.StrictNoSystem},
		ReplyBounds: model.Bounds{}.WithDefaults(),
		Watch:       true, Import: Import{From: []string{"claude-code", "codex"}, Exclude: []string{"/home/me/private"},
			Mask:      true,
			ProjectBy: "folder", Poll: time.Minute},
		Hooks: Hooks{Exclude: []string{"/home/me/diary"}, Quiet: true, Tokens: 300},
		Sync: Sync{Remotes: []string{"~/Sync/scrollback", "ssh://desk", "https://notes.example.org"},
			RemoteProgram: "/opt/scrollback/bin/scrollback", KeyEnv: map[string]string{"https://notes.example.org": "NOTES_KEY"}},
		Backup: Backup{To: "s3://history/backups?region=eu-central-1", Keep: 14 * 24 * time.Hour, At: 4*time.Hour + 30*time.Minute,
			Encrypt: true},
		Recipients: []string{"age1enmvqf7tyalsccuh6ll7sje9lyqyy929kpgwskxh59qek8vx8p3sxusnx7"},
		Agents:     engine.AgentOptions{Depth: 2, PerTurn: 8, PerTree: 32, Steps: 20, Tokens: 200_000},
		Limits: IntakeLimits{Body: 1 << 20, MessageChars: 200_000, Parts: 100, Attachment: 20 << 20, Import: 4 << 30,
			Images:       20,
			RemoteImages: true, Door: 32 << 20},
		Door: Door{Mode: "faithful", BodyBytes: 32 << 20,
			PassCredentials: new(bool), SideCalls: "side_calls.toml", Recall: "auto",
			Models: map[string]string{"claude-haiku-*": "deepseek/deepseek-chat"}},
		variables: map[string]string{"DEEPSEEK_API_KEY": "sk-of-deepseek", "OPENAI_API_KEY": "sk-of-openai",
			"OPENAI_BASE_URL": "https://gateway.example/v1", "SCROLLBACK_BASE_URL": "http://127.0.0.1:8000/v1"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the sample says\n%+v, want\n%+v", got, want)
	}
	for key := range keys {
		last := key[strings.LastIndexByte(key, '.')+1:]
		if last == "*" { // any name, in a table
			table := key[:len(key)-2]
			last = table[strings.LastIndexByte(table, '.')+1:] + "]\n"
		} else {
			last += " = "
		}
		if !strings.Contains(string(sample[1]), last) {
			t.Errorf("the sample does not show %s", key)
		}
	}
}

// Flag before environment before file before default.
func TestConfigPrecedence(t *testing.T) {
	const file = "data = '/file'\nmodel = 'openai/file'\nlimit = 3000\naddr = '127.0.0.1:3'\npolicy = 'segments'\nsummary_model = " +
		"'offline'\n[providers.openai]\napi_key = 'file-key'\n"
	s, _, err := configured(t, file, Flags{})
	if err != nil || s.Data != "/file" || s.Model != "openai/file" || s.DefaultLimit != 3000 || s.Addr != "127.0.0.1:3" ||
		s.Compaction.Policy != "segments" || len(s.SummaryModels) != 1 {
		t.Errorf("the file alone: %+v %v", s, err)
	}
	t.Setenv("OPENAI_API_KEY", "")
	if key := s.Env("OPENAI_API_KEY"); key != "file-key" {
		t.Errorf("the key is %q", key)
	}
	for name, value := range map[string]string{"DATA": "/env", "MODEL": "openai/env", "LIMIT": "4000",
		"ADDR": "127.0.0.1:4", "POLICY": "auto",
		"SUMMARY_MODEL": "offline,openai/x", "SUMMARY_TIMEOUT": "1m"} {
		t.Setenv("SCROLLBACK_"+name, value)
	}
	t.Setenv("OPENAI_API_KEY", "env-key")
	s, _, err = configured(t, file, Flags{})
	if err != nil || s.Data != "/env" || s.Model != "openai/env" || s.Limit != 4000 || s.Addr != "127.0.0.1:4" ||
		s.Compaction.Policy != "auto" || len(s.SummaryModels) != 2 || s.SummaryTimeout != time.Minute ||
		s.Env("OPENAI_API_KEY") != "env-key" {
		t.Errorf("with the environment: %+v %v", s, err)
	}
	s, _, err = configured(t, file, Flags{Data: "/flag", Model: "openai/flag", Limit: 5000, SummaryTimeout: "0s"})
	if err != nil || s.SummaryTimeout >= 0 || s.Data != "/flag" || s.Model != "openai/flag" || s.Limit != 5000 {
		t.Errorf("with flags: %+v %v", s, err)
	}
	for _, bad := range []string{"soon", "-1s", "30"} {
		if _, _, err := configured(t, "", Flags{SummaryTimeout: bad}); err == nil ||
			!strings.Contains(err.Error(), "summary_timeout") {
			t.Errorf("a timeout of %q: %v", bad, err)
		}
	}
	t.Setenv("SCROLLBACK_LIMIT", "many")
	if _, _, err := configured(t, file, Flags{}); err == nil || !strings.Contains(err.Error(), "SCROLLBACK_LIMIT") {
		t.Errorf("a limit that is none: %v", err)
	}
}

// Numbers of the policy stand in compaction, or under its old name, folding; the new
// name wins.
func TestConfigCompaction(t *testing.T) {
	for text, want := range map[string]float64{
		"[compaction]\nkeep_share = 0.4":                               0.4,
		"[folding]\nkeep_share = 0.3":                                  0.3,
		"[folding]\nkeep_share = 0.3\n[compaction]\nkeep_share = 0.4":  0.4,
		"[folding]\nkeep_share = 0.3\n[compaction]\ncheck_calls = 1.0": 0,
	} {
		s, _, err := configured(t, text, Flags{})
		if err != nil || s.Compaction.Numbers["keep_share"] != want {
			t.Errorf("%s\nsays %v, %v, want %v", text, s.Compaction.Numbers, err, want)
		}
		ofProject := strings.NewReplacer("[folding]", "[projects.folding.folding]", "[compaction]",
			"[projects.folding.compaction]").Replace(text)
		s, _, err = configured(t, ofProject, Flags{})
		if err != nil || s.Projects["folding"].Numbers["keep_share"] != want {
			t.Errorf("%s\nsays %v, %v, want %v", ofProject, s.Projects, err, want)
		}
	}
}

// What is wrong is named by key and file; a secret is never shown.
func TestConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"modell_ = 'x'":                                "unknown key modell_",
		"[providers.openai]\napikey = 'SECRET'":        `unknown key providers."openai".apikey`,
		"[providers.openai]\napi_key = 42":             `providers."openai".api_key must be a text`,
		"providers = 'SECRET'":                         "providers must be a table",
		"[providers.nobody]\napi_key = 'SECRET'":       `providers."nobody": there is no such provider`,
		"[reply]\nchars = -1":                          "reply.chars is a number from 0",
		"[limits]\nparts = -1":                         "limits.parts is a number from 0",
		"[limits]\nbytes = 1":                          "unknown key limits.bytes",
		"[reply]\nwords = 1":                           "unknown key reply.words",
		"[models.'a/b.c']\nstrict = 'very'":            `models."a/b.c": strict is turns or no_system, not "very"`,
		"limit = '64k'":                                "limit must be a whole number",
		"keep = 'all'":                                 "keep is conversation or project, not \"all\"",
		"[projects.a]\nkeep = 'all'":                   "keep is conversation or project, not \"all\"",
		"limit = 1.5":                                  "limit must be a whole number",
		"limit = -1":                                   "limit is a number of tokens",
		"policy = 'magic'":                             `unknown policy "magic"`,
		"[compaction]\nkeep_shere = 1":                 `unknown number "keep_shere"`,
		"[compaction]\nkeep_share = 'SECRET'":          `compaction."keep_share" must be a number`,
		"[folding]\nkeep_share = 'SECRET'":             `folding."keep_share" must be a number`,
		"[folding]\nkeep_shore = 1":                    `unknown number "keep_shore"`,
		"[compaction]\nafter_share = 0.95":             "policy auto: after_share (0.95) must be less than trigger_share (0.9)",
		"[compaction]\nkeep_messages = 1.5":            "keep_messages is a whole number from 0 to 100000, not 1.5",
		"[projects.a]\npolicy = 'magic'":               `project "a", policy magic: unknown policy`,
		"[projects.a.folding.b]\nc = 1":                `projects."a".folding."b" must be a number`,
		"[models.folding]\nlimit = 1":                  `models."folding" is not named provider/name`,
		"[projects.a.compaction]\nsummary_share = 0.2": "summary_share (0.2) and placeholders_share (0.1) are at most 0.25 together",
		"[projects.a.folding]\nsummary_share = 0.2":    "summary_share (0.2) and placeholders_share (0.1) are at most 0.25 together",
		"[projects.a]\npolicies = 'x'":                 `unknown key projects."a".policies`,
		"summary_model = [1]":                          "summary_model must be a text or list of texts",
		"[models.gpt]\nlimit = 1":                      `models."gpt" is not named provider/name`,
		"[models.'a/b.c']\nlimit = -1":                 `models."a/b.c": a number is below zero`,
		"[models.'a/b.c']\nprize_input = 1":            `unknown key models."a/b.c".prize_input`,
		"model = 'x'\nkey = = 'SECRET'":                "line 2, column",
	} {
		_, _, err := configured(t, text, Flags{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config.toml: ") ||
			strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s\nsays %v, want %q", text, err, want)
		}
	}
}

// Keys that others can read draw a warning, without the keys.
func TestConfigWarns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file's mode says nothing about its rights on Windows")
	}
	for text, warns := range map[string]bool{"[providers.openai]\napi_key = 'SECRET'": true, "model = 'offline'": false} {
		var warned bytes.Buffer
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file, Flags{}, &warned); err != nil || strings.Contains(warned.String(), "chmod 600") != warns ||
			strings.Contains(warned.String(), "SECRET") {
			t.Errorf("%s: %v, warned %q", text, err, warned.String())
		}
	}
}
