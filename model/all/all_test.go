package all_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/redact"
	"github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/remote"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// A name leads to the provider it names, or to what a person should set.
func TestFind(t *testing.T) {
	set := map[string]string{"OPENAI_API_KEY": "k", "SCROLLBACK_BASE_URL": "http://127.0.0.1:1/v1",
		"OLLAMA_HOST":        "127.0.0.1:2",
		"GOOGLE_API_KEY":     "k",
		"CLOUDFLARE_API_KEY": "k", "MOONSHOT_BASE_URL": "moon"}
	for name, want := range map[string]struct {
		code scrollback.Code
		says string
	}{
		"openai/gpt-5":              {},
		"openai/org/gpt":            {},
		"custom/llama":              {},
		"ollama/llama3.2:3b":        {},
		"vllm/m":                    {},
		"gemini/gemini-2.5-pro":     {},
		"anthropic/claude":          {scrollback.Refused, "ANTHROPIC_API_KEY"},
		"deepseek/deepseek-chat":    {scrollback.Refused, "DEEPSEEK_API_KEY"},
		"workers-ai/@cf/meta/llama": {scrollback.Refused, "CLOUDFLARE_ACCOUNT_ID"},
		"moonshot/kimi-k3":          {scrollback.Invalid, "MOONSHOT_BASE_URL is not an address"},
		"openai/":                   {scrollback.Invalid, "names no model"},
		"openai":                    {scrollback.Invalid, "names no model"},
		"gpt-5":                     {scrollback.Invalid, "PROVIDER/NAME"},
		"":                          {scrollback.Invalid, "PROVIDER/NAME"},
	} {
		m, err := all.FindModel(name, env(set), remote.Options{})
		if err == nil {
			err = m.Facts().Unready // its facts are known all the same
		}
		if scrollback.CodeOf(err) != want.code || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("%q: %v, want %s with %q", name, err, want.code, want.says)
		}
		if m != nil && m.Facts().Name != name {
			t.Errorf("%q is called %q", name, m.Facts().Name)
		}
		if unknown := name == "gpt-5" || name == ""; errors.Is(err, scrollback.ErrNoModel) != unknown {
			t.Errorf("%q: %v; whether it is an unknown model", name, err)
		}
	}
	want := []string{"custom", "gemini", "ollama", "openai"}
	delete(set, "OLLAMA_HOST")
	set["OLLAMA_BASE_URL"] = "http://127.0.0.1:2"
	delete(set, "MOONSHOT_BASE_URL")
	if got := all.ReadyProviders(env(set)); !slices.Equal(got, want) {
		t.Errorf("ready are %v, want %v", got, want)
	}
}

// Each provider can be given another address and a key by variables of its own.
func TestEachProviderCanBeMoved(t *testing.T) {
	seen := map[string]string{}
	for _, p := range all.Providers() {
		if p.Key == "" || p.Base == "" || seen[p.Base] != "" {
			t.Errorf("%s has variables %q and %q, the latter of %q", p.Name, p.Key, p.Base, seen[p.Base])
		}
		seen[p.Base] = p.Name
		at, err := p.Endpoint("m", env(map[string]string{p.Base: "http://127.0.0.1:9/there/"}), remote.Options{})
		if err != nil || at.BaseURL != "http://127.0.0.1:9/there" || !at.Custom || at.Options.Key != "" {
			t.Errorf("%s: %+v, %v", p.Name, at, err)
		}
	}
}

// The guide lists the providers that there are.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/models.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, p := range all.Providers() {
		fmt.Fprintf(&rows, "| %s | `%s` | `%s` |\n", p.Name, p.Key, p.Base)
	}
	if want := "<!-- providers -->\n" + rows.String() + "<!-- end of providers -->"; !strings.Contains(string(text),
		want) {
		t.Errorf("the guide does not have\n%s", want)
	}
}

// The READMEs name some providers, and none that there is not; the guide names all.
func TestReadme(t *testing.T) {
	known := map[string]bool{}
	for _, p := range all.Providers() {
		known[p.Name] = true
	}
	for _, file := range []string{"../../README.md", "../../README.zh-CN.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list := regexp.MustCompile(`[(（](?:还有 )?(xai[^)）]*)[)）]`).FindStringSubmatch(string(text))
		if list == nil {
			t.Errorf("%s has no list of providers that begins with xai", file)
			continue
		}
		for _, name := range regexp.MustCompile(`[, 、]+`).Split(list[1], -1) {
			if !known[name] {
				t.Errorf("%s names the provider %q, and there is none", file, name)
			}
		}
	}
}

// The guide has the budget of each effort.
func TestGuideToEfforts(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/models.md")
	if err != nil {
		t.Fatal(err)
	}
	names := "| effort |"
	rule := "|---|"
	tokens := "| as a budget, in tokens |"
	for _, e := range scrollback.Efforts() {
		n := scrollback.Thinking{Effort: e}.BudgetTokens(0)
		names = names + " " + e + " |"
		rule = rule + "---|"
		if n >= 1000 {
			tokens += fmt.Sprintf(" %d,%03d |", n/1000, n%1000)
		} else {
			tokens += fmt.Sprintf(" %d |", n)
		}
	}
	if want := names + "\n" + rule + "\n" + tokens + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("the guide does not have\n%s", want)
	}
}

// A key of any provider's form is taken out of what a server writes, also where
// it is not the one that was sent.
func TestKeysOfEachForm(t *testing.T) {
	for provider, key := range map[string]string{
		"openai": "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34", "deepseek": "sk-0123456789abcdef0123456789abcdef",
		"xai": "xai-0123456789abcdefghijklmnop",
		"poe": "poe-0123456789abcdefghij", "ark": "01234567-89ab-cdef-0123-456789abcdef",
		"openrouter": "sk-or-v1-0123456789abcdef0123456789abcdef",
		"dashscope":  "sk-0123456789abcdef", "moonshot": "sk-AbCdEfGhIjKlMnOpQrStUvWx",
		"workers-ai": "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_abc",
		"anthropic":  "sk-ant-api03-AbCdEf-GhIjKl_MnOpQr", "gemini": "AIzaSyA0123456789abcdefghijklmnopqrstu",
		"ollama": "Bearer 0123456789abcdef.0123",
	} {
		for _, form := range []string{"%s", "Incorrect API key provided: %s.", `{"key":"%s"}`, "https://host/v1?key=%s&x=1",
			"the key %s, is wrong"} {
			if got := redact.RedactLine(fmt.Sprintf(form, key)); strings.Contains(got, key[len(key)-8:]) ||
				strings.Contains(got, key[:12]) {
				t.Errorf("%s: %q becomes %q", provider, fmt.Sprintf(form, key), got)
			}
		}
	}
}
