package language

import (
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// reason is why something of a file was skipped, in Chinese, and how its English is told.
type reason struct {
	english *regexp.Regexp
	chinese string
}

// Reason says why something of a file was skipped. What has no sentence in the language stands
// as it is.
func (l Language) Reason(english string) string {
	if l.Tag != Chinese.Tag {
		return english
	}
	for _, r := range chineseReasons {
		found := r.english.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		s := scrollback.Sentence{Format: r.chinese}
		for _, value := range found[1:] {
			s.Args = append(s.Args, scrollback.Sentence{Value: l.Reason(value)})
		}
		return s.String()
	}
	return english
}

// reasonsOf makes the table of pairs of an English format, whose %s stands for any text and
// whose %d stands for a number, and its Chinese. The first that fits counts.
func reasonsOf(pairs ...[2]string) (out []reason) {
	for _, p := range pairs {
		pattern := strings.NewReplacer("%d", "([0-9]+)", "%s", "(.+)").Replace(regexp.QuoteMeta(p[0]))
		out = append(out, reason{regexp.MustCompile("^(?s:" + pattern + ")$"), strings.ReplaceAll(p[1], "%d", "%s")})
	}
	return out
}
