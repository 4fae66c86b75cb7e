package secrets_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/secrets"
)

// What was found once is masked where only a piece of it is left, and what is no piece of it stays.
func TestFinder(t *testing.T) {
	const key = "ghp" + "_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
	var f secrets.Finder
	if got := f.MaskText("it is " + key + "."); strings.Contains(got, key) || f.Count != 1 {
		t.Errorf("%q, %d", got, f.Count)
	}
	if got := string(f.MaskJSON([]byte(`{"password": "pine-49-Cone"}`))); strings.Contains(got, "pine") || f.Count != 2 {
		t.Errorf("%q, %d", got, f.Count)
	}
	var other secrets.Finder
	other.Remember(&f)
	for text, want := range map[string]string{
		"it is " + key[:15] + "…":                             "it is [masked: secret]…",
		"…" + key[len(key)-13:] + "!":                         "…[masked: secret]!",
		"say pine-49-Cone to it":                              "say [masked: secret] to it",
		"a pine and a cone, " + key[:8] + " begins like many": "a pine and a cone, " + key[:8] + " begins like many",
		"": "",
	} {
		got := other.MaskDerived(text)
		if got != want {
			t.Errorf("%q became %q", text, got)
		}
		if again := other.MaskDerived(got); again != got {
			t.Errorf("%q became %q when masked again", got, again)
		}
	}
}
