package bundle

import (
	"regexp"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// What is wrong with a record of a bundle is said in Chinese as a whole, also behind its id.
func TestDamageInChinese(t *testing.T) {
	english := regexp.MustCompile(`[a-z]{2,} [a-z]+`)
	c := &checker{}
	for name, err := range map[string]error{
		"branch":  c.checkBranch(Branch{}),
		"segment": c.checkSegment(scrollback.Segment{}),
		"message": c.judgeMessage(scrollback.Message{}),
	} {
		if said := scrollback.SentenceOf(err).In(i18n.Chinese); err == nil || english.MatchString(said) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
