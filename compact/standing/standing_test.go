package standing

import (
	"testing"

	"pgregory.net/rapid"
)

// Looking for cues first finds what the expression finds, and nothing else.
func TestCuesMissNothing(t *testing.T) {
	word := rapid.OneOf(rapid.SampledFrom([]string{"Always", "NEVER", "must", "Remember", "prefer", "decide", "decided", "Deadline",
		"important", "don't", "DON’T", "do not", "Do", "todo",
		"From now on", "from now", "记住", "必须", "总是", "永远", "不要", "以后", "决定", "重要", "截止", "待办", "务必", "偏好", "mustard", "tide", "中"}),
		rapid.StringN(0, 6, -1))
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		s := ""
		for range rapid.IntRange(0, 5).Draw(t, "words") {
			s += word.Draw(t, "word") + rapid.SampledFrom([]string{" ", "", ", ", "。"}).Draw(t, "gap")
		}
		if got, want := Instruction(s), wording.MatchString(s); got != want {
			t.Fatalf("%q: %v, want %v", s, got, want)
		} else if want {
			found++
		}
	})
	if found == 0 {
		t.Error("nothing was found at all")
	}
}
