package redact_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/redact"
)

// forms are those of the providers' keys, and how much of the beginning of one
// says only whose it is.
var forms = map[string]*rapid.Generator[string]{
	"openai":       rapid.StringMatching(`sk-[A-Za-z0-9]{48}`),
	"openai proj":  rapid.StringMatching(`sk-proj-[A-Za-z0-9_-]{80,130}[A-Za-z0-9]`),
	"anthropic":    rapid.StringMatching(`sk-ant-api03-[A-Za-z0-9_-]{90}-[A-Za-z0-9]{4}AA`),
	"gemini":       rapid.StringMatching(`AIza[A-Za-z0-9_-]{34}[A-Za-z0-9]`),
	"xai":          rapid.StringMatching(`xai-[A-Za-z0-9]{80}`),
	"ark":          rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	"cloudflare":   rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{38}[A-Za-z0-9]`),
	"openrouter":   rapid.StringMatching(`sk-or-v1-[0-9a-f]{64}`),
	"groq":         rapid.StringMatching(`gsk_[A-Za-z0-9]{52}`),
	"deepseek":     rapid.StringMatching(`sk-[0-9a-f]{32}`),
	"hugging face": rapid.StringMatching(`hf_[A-Za-z]{34}`),
	"nvidia":       rapid.StringMatching(`nvapi-[A-Za-z0-9_-]{63}[A-Za-z0-9]`),
}

// echoes are how servers repeat a key.
var echoes = map[string]func(key string) string{
	"whole":       func(k string) string { return "Incorrect API key provided: " + k + ". You can find your key at x" },
	"quoted":      func(k string) string { return `no such key '` + k + `'` },
	"in brackets": func(k string) string { return "unauthorized (" + k + ")" },
	"masked": func(k string) string {
		return "Incorrect API key provided: " + k[:8] + strings.Repeat("*", 30) + k[len(k)-4:] + "."
	},
	"masked more": func(k string) string { return "Incorrect key " + k[:5] + "***" + k[len(k)-2:] },
	"cut":         func(k string) string { return "key begins with " + k[:len(k)/2] + "…" },
	"the end":     func(k string) string { return "key ends with ..." + k[len(k)-12:] },
	"bearer":      func(k string) string { return "header Authorization: Bearer " + k + " is not valid" },
	"header":      func(k string) string { return "x-api-key: " + k },
	"JSON": func(k string) string {
		b, _ := json.Marshal(map[string]string{"api_key": k})
		return string(b)
	},
	"JSON in JSON": func(k string) string {
		b, _ := json.Marshal(map[string]string{"api_key": k})
		b, _ = json.Marshal(string(b))
		return string(b)
	},
	"address":    func(k string) string { return "no route for https://host.test/v1/models?key=" + k + "&alt=sse" },
	"user":       func(k string) string { return "https://me:" + k + "@host.test/" },
	"lower case": func(k string) string { return "unknown key " + strings.ToLower(k) },
	"upper case": func(k string) string { return "UNKNOWN KEY " + strings.ToUpper(k) },
	"two":        func(k string) string { return k + " " + k },
	"far away":   func(k string) string { return strings.Repeat("word ", 90) + k + " end" },
	"very far":   func(k string) string { return strings.Repeat("https://x.test/"+strings.Repeat("y", 80)+" ", 104) + k },
	"on lines":   func(k string) string { return "bad\r\n\tkey:\n" + k + "\x1b[0m" },
}

// left returns the longest piece of the beginning or the end of a key that a text holds,
// in whatever case, from 8 characters on.
func left(text, key string) string {
	text = strings.ToLower(text)
	key = strings.ToLower(key)
	for n := len(key); n >= 8; n-- {
		for _, piece := range []string{key[:n], key[len(key)-n:]} {
			if strings.Contains(text, piece) {
				return piece
			}
		}
	}
	return ""
}

// checkEchoes repeats keys of every form in one of some ways, and fails when a piece
// is left.
func checkEchoes(t *testing.T, ways []string, words func(text, key string) string) {
	for name, form := range forms {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			key := form.Draw(rt, "key")
			how := rapid.SampledFrom(ways).Draw(rt, "how")
			if got := words(echoes[how](key), key); left(got, key) != "" {
				rt.Errorf("%q gives %q away", got, left(got, key))
			}
		}))
	}
}

// A key that is known is taken out however it is repeated.
func TestKnownKeys(t *testing.T) {
	checkEchoes(t, slices.Sorted(maps.Keys(echoes)),
		func(text, key string) string { return redact.RedactLine(text, "", "other", key) })
}

// One that is not known is taken out by its form, where it stands whole.
func TestUnknownKeys(t *testing.T) {
	checkEchoes(t, []string{"whole", "quoted", "in brackets", "bearer", "header", "JSON", "JSON in JSON", "address",
		"user", "two", "far away",
		"on lines"},
		func(text, _ string) string { return redact.RedactLine(text) })
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"plain words stay":      "plain words stay",
		" a\nb\t\x00c\u2028d ":  "a b c d",
		"模型不存在":                 "模型不存在",
		"model gpt-5.1-codex":   "model gpt-5.1-codex",
		"max_tokens: 128000":    "max_tokens: 128000",
		"see https://x.test/ya": "see [redacted]",
		"token: abcd efgh":      "[redacted] efgh",
		"see x.test/keys?k=1 !": "see [redacted] !",
		"www.x.test":            "[redacted]",
		"dial 127.0.0.1:8080":   "dial [redacted]",
		"gpt-4.1 and v1.2/3":    "gpt-4.1 and v1.2/3",
	} {
		if got := redact.RedactLine(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := redact.RedactLine(strings.Repeat("ab ", 1000)); utf8.RuneCountInString(got) != 501 ||
		!strings.HasSuffix(got, "…") {
		t.Errorf("%d characters are left", utf8.RuneCountInString(got))
	}
	if got := redact.RedactLine("abc or abcd", "abc", " "); got != "abc or abcd" {
		t.Errorf("a secret of no length makes it %q", got)
	}
	if got := redact.RedactLine("my ABCD-efg", "abcd-EFG"); got != "my [redacted]" {
		t.Errorf("a short secret makes it %q", got)
	}
}

func TestCause(t *testing.T) {
	got := redact.RedactCause(strings.Repeat("模型 ", 200) + "sk-aaaaaaaaaaaa")
	if utf8.RuneCountInString(got) != 301 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters are shown", utf8.RuneCountInString(got))
	}
	if got := redact.RedactCause("no key my-own-secret here", "my-own-secret"); got != "no key [redacted] here" {
		t.Errorf("a secret makes it %q", got)
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{"Incorrect API key provided: sk-proj-aaaaaaaaaaaaaaaa.", "k\n\r\t\x1b[31mk",
		"Bearer abcdefgh", "\xff\xfe",
		"İ sk-aaaaaaaa", "https://u:p@h/?key=1", strings.Repeat("a", 60_000)} {
		f.Add(text, "sk-proj-aaaaaaaaaaaaaaaa")
		f.Add(text, "İİİİİİİİ")
	}
	f.Fuzz(func(t *testing.T, text, secret string) {
		if len(text) > 1<<18 || len(secret) > 1<<9 {
			t.Skip("longer than anything that is kept")
		}
		got := redact.RedactLine(text, secret)
		if n := utf8.RuneCountInString(got); n > 501 || strings.ContainsAny(got, "\n\r\t\x00\x1b\x7f") {
			t.Errorf("%d characters: %q", n, got)
		}
		if strings.ContainsAny(secret, " […]") || strings.TrimSpace(secret) != secret || len(secret) < 4 ||
			!utf8.ValidString(secret) ||
			strings.Contains("[redacted]", strings.ToLower(secret)) {
			return // nothing that could be a key
		}
		if strings.Contains(got, secret) {
			t.Errorf("%q holds %q", got, secret)
		}
	})
}

// A secret may hold what an address cannot, and come back as it stands in one.
func TestEscapedSecret(t *testing.T) {
	const secret = "zq-Super Secret+Key/123456=="
	for _, text := range []string{"no route for /v1?x=" + url.QueryEscape(secret),
		strings.ToLower("u=" + url.QueryEscape(secret)),
		"it is " + secret} {
		if got := redact.RedactLine(text, secret); strings.Contains(strings.ToLower(got), "key") ||
			strings.Contains(got, "123456") {
			t.Errorf("%q became %q", text, got)
		}
	}
}
