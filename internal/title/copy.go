package title

import "strings"

// The titles of forks, in English and Chinese, by that of what was forked.
const (
	CopyOf        = "copy of %s"
	CopyOfChinese = "%s的副本"
)

// copyRunes is how much of a title is kept in that of a fork.
const copyRunes = 480

// CopyTitle returns the title of a fork in one of these forms. A fork of a fork is not called a
// copy twice, and what has no title gets none.
func CopyTitle(form, title string) string {
	title = strings.TrimSuffix(strings.TrimPrefix(title, "copy of "), "的副本")
	if title == "" {
		return ""
	}
	if r := []rune(title); len(r) > copyRunes {
		title = string(r[:copyRunes-1]) + "…"
	}
	return strings.Replace(form, "%s", title, 1)
}
