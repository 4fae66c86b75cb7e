package language

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// reason is why something of a file was skipped, in Chinese, and how its English is told.
type reason struct {
	english *regexp.Regexp
	chinese string
}

// Reason says why something of a file was skipped, or why a model gave no summary. What has no sentence in the language
// stands as it is.
func (l Language) Reason(english string) string {
	if l.Tag != Chinese.Tag {
		return english
	}
	if said, ok := reasonIn(chineseReasons, english, l.Reason); ok {
		return said
	}
	said, _ := reasonIn(chineseErrors(), english, l.Reason)
	return said
}

// Receipt says in the language why models gave no summary.
func (l Language) Receipt(r scrollback.Receipt) scrollback.Receipt {
	r.SummaryWhy = l.Reason(r.SummaryWhy)
	r.Tries = slices.Clone(r.Tries)
	for i := range r.Tries {
		r.Tries[i].Why = l.Reason(r.Tries[i].Why)
	}
	return r
}

// reasonIn finds a text in a table, and says it with its values, each said by value.
func reasonIn(table []reason, english string, value func(string) string) (string, bool) {
	for _, r := range table {
		found := r.english.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		s := scrollback.Sentence{Format: r.chinese}
		for _, part := range found[1:] {
			s.Args = append(s.Args, scrollback.Sentence{Value: value(part)})
		}
		return s.String(), true
	}
	return english, false
}

// leastWords is how many bytes of its own the format of an error has by which a stored text is
// recognised: one of little else than values would be found in any text.
const leastWords = 12

// chineseErrors are the sentences of errors, for those that were stored in English, such as a
// model's failure in the receipt of a compaction. The longest come first.
var chineseErrors = sync.OnceValue(func() []reason {
	var pairs [][2]string
	for english, chinese := range joined(chinese, chineseDatabase) {
		if len(verbs.ReplaceAllString(english, "")) >= leastWords {
			pairs = append(pairs, [2]string{verbs.ReplaceAllStringFunc(english, plainVerb), chinese})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return cmp.Or(len(b[0])-len(a[0]), strings.Compare(a[0], b[0]))
	})
	return reasonsOf(pairs...)
})

// verbs are what stands for values in a format.
var verbs = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// plainVerb makes %s of a verb, and %d of one for numbers.
func plainVerb(verb string) string {
	if verb == "%d" {
		return verb
	}
	return "%s"
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
