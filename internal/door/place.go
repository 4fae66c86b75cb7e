package door

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// The ways in which agents tell their model where they work: in a block of settings, a line of it, or a sentence.
var (
	folderTold = lazyregexp.New(`<cwd>\s*([^<\n]+?)\s*</cwd>` +
		`|(?mi)^\W*(?:primary |current )?working directory:[*\s]*([/~\\][^\n]*|[A-Z]:\\[^\n]*)` +
		`|(?i)\bworking in the directory:?\s+([/~]\S*|[A-Z]:\\[^\n]*)` +
		`|(?i)workspace directories:[*\s]*-\s+([/~]\S*|[A-Z]:\\[^\n]*)` +
		`|(?i)current working directory \(([^)\n]+)\)`)
	branchTold = lazyregexp.New(`(?mi)^\W*(?:current |git )*branch:[*\s]*([^\s<]+)`)
)

// placeTold is the most that is read of a text to find out where an agent works.
const placeTold = 64 << 10

// readPlace returns the folder and the git branch in which an agent works, as its instructions and what it tells its
// model beside the history say it.
func readPlace(asked *threading.Request) (folder, branch string) {
	texts := append([]string{}, asked.System...)
	for _, it := range asked.Items {
		if it.Kind == threading.Text && it.Role != threading.Assistant {
			texts = append(texts, it.Text)
		}
		if len(texts) > len(asked.System)+4 { // it stands at the beginning
			break
		}
	}
	for _, text := range texts {
		text = text[:min(len(text), placeTold)]
		if m := folderTold().FindStringSubmatch(text); m != nil && folder == "" {
			folder = strings.TrimSpace(strings.Join(m[1:], ""))
		}
		if m := branchTold().FindStringSubmatch(text); m != nil && branch == "" {
			branch = m[1]
		}
	}
	return folder, branch
}
