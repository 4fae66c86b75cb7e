// Package standing finds what a person wants an assistant to keep to from now on:
// rules, preferences, decisions, in a sentence of any language it knows.
//
// It may not know anything but text.
package standing

import (
	"regexp"
	"slices"
	"strings"
)

// wording finds what a person wants to be remembered.
var wording = regexp.MustCompile(`(?i)\b(always|never|must|remember|prefer|decided?|deadline|important|don['’]t|do not|todo|from now on)\b` +
	`|记住|必须|总是|永远|不要|以后|决定|重要|截止|待办|务必|偏好`)

// cues are strings, in lower case, one of which is in everything that wording finds.
var cues = []string{"always", "never", "must", "remember", "prefer", "decide", "deadline", "important", "don", "do not", "todo", "from now on",
	"记住", "必须", "总是", "永远", "不要", "以后", "决定", "重要", "截止", "待办", "务必", "偏好"}

// Instruction says whether a person wants s to be remembered. Most sentences have no cue,
// and looking for one costs a tenth of what the expression does.
func Instruction(s string) bool {
	lower := strings.ToLower(s)
	return slices.ContainsFunc(cues, func(cue string) bool { return strings.Contains(lower, cue) }) && wording.MatchString(s)
}
