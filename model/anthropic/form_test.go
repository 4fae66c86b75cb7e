package anthropic

import (
	"strings"
	"testing"
)

func TestHabits(t *testing.T) {
	for name, want := range map[string]string{
		"claude-opus-5-5":                           "adaptive always low medium high xhigh max",
		"claude-sonnet-5-5-20260928":                "adaptive always low medium high xhigh max",
		"claude-haiku-5-5":                          "adaptive low medium high xhigh max",
		"claude-opus-5":                             "adaptive low medium high xhigh max",
		"claude-opus-5-20260701":                    "adaptive low medium high xhigh max",
		"claude-fable-5-2":                          "adaptive always low medium high xhigh max",
		"claude-mythos-preview":                     "adaptive always low medium high xhigh max",
		"claude-opus-4-7":                           "adaptive low medium high xhigh max",
		"claude-sonnet-4-6":                         "adaptive low medium high max",
		"anthropic/claude-opus-4.6":                 "adaptive low medium high max",
		"us.anthropic.claude-opus-4-6-v1:0":         "adaptive low medium high max",
		"claude-sonnet-4-5-20250929":                "enabled",
		"claude-haiku-4-5":                          "enabled",
		"claude-sonnet-4@20250514":                  "enabled",
		"claude-opus-4-1-20250805":                  "enabled",
		"claude-opus-4-20250514":                    "enabled",
		"claude-3-7-sonnet-latest":                  "enabled",
		"claude-3-5-haiku-20241022":                 "",
		"claude-3-opus-20240229":                    "",
		"claude-2.1":                                "",
		"claude-next":                               "adaptive low medium high",
		"deepseek-chat":                             "enabled",
		"anthropic.claude-3-5-sonnet-20241022-v2:0": "",
	} {
		h := findHabit(name)
		got := string(h.form)
		if h.always {
			got += " always"
		}
		if len(h.efforts) > 0 {
			got += " " + strings.Join(h.efforts, " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
