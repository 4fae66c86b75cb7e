package evidence

import (
	"slices"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// correctionCue is what a message says that takes back what was said before, in a text whose characters are folded.
// Whether an instruction stands is judged by grammars (package kept), which take longer to read than a hook has: here
// words of the prompt that come again with such a cue are enough, since both messages are told.
var correctionCue = lazyregexp.New(`(?i)^\W*no\b[,.:;]|\b(no longer|not any ?more|any ?more|instead of|` +
	`(moved|switched|migrated|changed) .{0,40}\b(from|to|over|off|away)|replaced (by|with)|` +
	`(is|are|it'?s|runs|lives|uses?) now|now (is|are|it'?s|on|at|runs|lives|uses?)|` +
	`as of (now|today)|from now on|correction|actually|scratch that|forget (that|what)|turns? out|(was|were|is) wrong|wrong about|` +
	`superseded|obsolete|renamed to|since then|new (one|value|port|date|limit|address) is)\b|\bnow[.!]?\s*$|` +
	`不对|不是.{0,12}[而，,]是|改成|改为|改到|改用|换成|换到|换用|现在(是|用|改|在|走)|不再|更正|作废|搬到|迁到|迁移到|已经?(改|换|搬|迁)|从今`)

const (
	correctionFit  = 0.5 // of the weight of what it corrects, that a correction in another conversation has at least
	leastCorrected = 2   // or so many words that say something
)

// addCorrection returns what is told with the newest message that corrects the first of it, if there is one: what is
// outdated is never told alone, and both are told in the order in which they were said.
func (s *Stretch) addCorrection(found []Found, all []*Stretch) []Found {
	if len(found) == 0 {
		return found
	}
	var by Found
	for _, other := range all {
		for _, m := range other.messages {
			if m.CreatedAt <= max(found[0].At, by.At) || !s.mayCorrect(found[0], other, m) ||
				!correctionCue().MatchString(foldCues(m.text)) || isQuestion(m.text) {
				continue
			}
			by = Found{Conversation: other.conversation, Seq: m.Seq, At: m.CreatedAt, Tool: other.tool, Role: m.Role,
				Text: m.text}
		}
	}
	if by.Seq == 0 || slices.ContainsFunc(found, func(f Found) bool {
		return f.Conversation == by.Conversation && f.Seq == by.Seq
	}) {
		return found
	}
	return []Found{found[0], by}
}

// mayCorrect reports whether a message of a stretch is about the same as what is told: words of the prompt in both.
func (s *Stretch) mayCorrect(told Found, in *Stretch, m heard) bool {
	i := slices.IndexFunc(s.messages, func(t heard) bool { return t.Seq == told.Seq })
	if i < 0 || s.f.told[Seen{in.conversation, m.Seq}] {
		return false
	}
	if in == s {
		return s.f.countInformative(m.words) > 0
	}
	return m.weight >= correctionFit*s.Facts.weight || s.f.countInformative(m.words) >= leastCorrected
}
