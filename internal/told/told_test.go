package told

import "testing"

const given = Head + "\n" + `[{"when":"2026-11-20","says":"x"}]` + "\n" + Tail

func TestWithout(t *testing.T) {
	for in, want := range map[string]string{
		given: "",
		"<hook_context>" + given + "</hook_context>\n\nDelegate.":                                    "Delegate.",
		"<hook_context>" + given + "\n\n" + given + "</hook_context>\n\nDelegate.":                   "Delegate.",
		"Fix it.\n\n<system_reminder>" + given + "</system_reminder>":                                "Fix it.",
		"Fix it.\n" + given + "\nand more":                                                           "Fix it.\nand more",
		"SessionStart hook additional context: " + given:                                             "",
		"<hook_context>of others</hook_context>\n" + given:                                           "<hook_context>of others</hook_context>",
		"I saw \"" + Head + "\" in the log":                                                          "I saw \"" + Head + "\" in the log",
		"Nothing of ours.  ":                                                                         "Nothing of ours.  ",
		Head + "\nno data\n" + Tail:                                                                  Head + "\nno data\n" + Tail,
		"<system-reminder>\n" + given + "\n</system-reminder>\n<system-reminder>b</system-reminder>": "<system-reminder>b</system-reminder>",
	} {
		if got := Without(in); got != want {
			t.Errorf("%q\nbecame %q\nnot    %q", in, got, want)
		}
	}
}

func FuzzWithout(f *testing.F) {
	f.Add("a"+given+"b", 3)
	f.Fuzz(func(t *testing.T, s string, _ int) {
		out := Without(s)
		if len(out) > len(s) || Without(out) != out && !Has(out) {
			t.Errorf("%q became %q", s, out)
		}
	})
}
