package kept

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// TestClauses reads each clause by itself, and nothing that is quoted or told in a story.
func TestClauses(t *testing.T) {
	for s, want := range map[string]bool{
		"It's snowing today, and I never wear gloves.":             true,
		"The lift is broken again, so remember I can't do stairs.": true,
		"Shakespeare has a fool say \"I never eat pork.\"":         false,
		"The hero says he never eats pork, and I like him.":        false,
		"I work at the shelter.":                                   true,
		"I work at the shelter!":                                   false,
		"I work at the shelter, what do I wear?":                   false,
		"My father has spondylitis.":                               true,
		"I have a bored cat.":                                      false,
		"今天下雪，我从来不戴手套。":                                            true,
		"我住六楼。":                                                    true,
		"我住哪儿？":                                                    false,
		"我妈说我不吃辣，真烦。":                                              false,
	} {
		if got := IsTrait(s); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}

// TestAnswers takes what a person answers about themselves, and not what they answer about the work.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		offer, text string
		want        int
	}{
		{"Does your mother mind stairs?", "She does, her knees are bad.", 1},
		{"Shall I run the tests?", "Not yet, the build is red.", 0},
		{"Do you eat fish?", "Thanks, go ahead.", 0},
		{"您吃海鲜吗？", "不吃，一吃就起疹子。", 1},
		{"要我现在运行吗？", "好的。", 0},
	} {
		if got := Find(scrollback.RoleUser, c.text, c.offer); len(got) != c.want {
			t.Errorf("%s %s: %v", c.offer, c.text, got)
		}
	}
}
