package registered_test

import (
	"strings"
	"testing"
)

// Settings that are nested as deep as a file may be end with an error, and not with the program; so do
// those whose aliases multiply.
func TestHostileSettings(t *testing.T) {
	const large = 30 << 20
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 9), ", ") +
			"]\n"
	}
	for _, c := range []struct{ tool, file, text, says string }{
		{"claude-code", "here/.mcp.json", strings.Repeat("[", large), "too large"},
		{"claude-code", "here/.mcp.json", "// \" mine\n" + strings.Repeat(`{"a":`, large/5), "too large"},
		{"claude-code", "here/.mcp.json", strings.Repeat("[", 256<<10), "form"},
		{"claude-code", "here/.mcp.json", `{"mcpServers": "` + strings.Repeat("a", 64<<20) + `"}`, "too large"},
		{"opencode", "here/opencode.jsonc", "// \" mine\n" + strings.Repeat(`{"a":`, 50_000), "form"},
		{"codex", ".codex/config.toml", "a = " + strings.Repeat("[", large), "too large"},
		{"codex", ".codex/config.toml", "a = " + strings.Repeat("[", 256<<10-4), "form"},
		{"codex", ".codex/config.toml", strings.Repeat("a.", 1<<17-3) + "a=1", ""},
		{"goose", ".config/goose/config.yaml", "a: " + strings.Repeat("[", large), "too large"},
		{"goose", ".config/goose/config.yaml", "a: " + strings.Repeat("[", 256<<10-3), "form"},
		{"goose", ".config/goose/config.yaml", bomb, "form"},
	} {
		r := look(t, c.tool, c.file, c.text)
		if said := strings.Join(r.Problems, "\n"); c.says == "" != (said == "") || !strings.Contains(said, c.says) ||
			r.Registered {
			t.Errorf("%s of %d bytes, %.20q: %q, want %q", c.file, len(c.text), c.text, said, c.says)
		}
	}
	plain := `{"mcpServers": {"memory": {"command": "scrollback"}}, "history": "` + strings.Repeat("a", 2<<20) + `"}`
	if r := look(t, "claude-code", ".claude.json", plain); !r.Registered {
		t.Errorf("large settings in plain JSON: %+v", r)
	}
}
