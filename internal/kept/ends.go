package kept

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// withdrawals finds what takes back what was said before.
var withdrawals = lazyregexp.New(`(?i)\b(?:again|after all|no longer|not any ?more)\b|^(?:actually|update)\b|还是|不用再|可以不`)

// ListEnds lists the sentences of a message that may end something which was said before: news that
// something is done, or a change of mind.
func ListEnds(role scrollback.Role, text string) (out []string) {
	if role != scrollback.RoleUser && role != scrollback.RoleAssistant {
		return nil
	}
	for _, s := range SplitSentences(firstPart(text)) {
		if len(s) <= maxSentence && (len(doneCores(s)) > 0 || role == scrollback.RoleUser && mayWithdraw(s)) {
			out = append(out, s)
		}
	}
	return out
}

// mayWithdraw reports whether a sentence may take back what was said before.
func mayWithdraw(s string) bool { return withdrawals().MatchString(s) }

// Replaces reports whether a later sentence of the same kind of person withdraws an earlier one.
func Replaces(later, earlier string) bool {
	return withdrawals().MatchString(later) && sharesContent(later, earlier)
}

// sharesContent reports whether two sentences name the same thing.
func sharesContent(a, b string) bool {
	there := map[string]bool{}
	for _, t := range terms.SplitTerms(a) {
		there[t] = true
	}
	return slices.ContainsFunc(terms.SplitTerms(b), func(t string) bool { return there[t] && !fillers[t] })
}
