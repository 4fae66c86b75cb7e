package transfer

import (
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/told"
	"github.com/scrollback-ai/scrollback/transcript"
)

// leaveOutTold yields entries without what this program told an agent: some agents keep it in the text of a prompt, in
// a part of its own beside it, or as a message that a person never wrote.
func leaveOutTold(entries iter.Seq2[transcript.Entry, error]) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		paths := map[string][]bool{} // of each source's current path: which messages stay
		for e, err := range entries {
			if err != nil {
				if !yield(e, err) {
					return
				}
				continue
			}
			path := paths[e.Source]
			switch {
			case e.Bad != nil, e.End != nil:
			case e.Conversation != nil:
				if strings.Contains(e.Conversation.Title, told.Head[:titleHead]) {
					about := *e.Conversation
					about.Title = "" // the first prompt makes one
					e.Conversation = &about
				}
			case e.Rewind != nil:
				path = path[:min(max(*e.Rewind, 0), len(path))]
				n := *e.Rewind - len(path) + countStaying(path)
				e.Rewind = &n
				paths[e.Source] = path
			case e.Without != nil:
				var without []int
				for _, n := range *e.Without {
					if n < 1 || n > len(path) || path[n-1] {
						without = append(without, n-min(max(n, 0), len(path))+countStaying(path[:min(max(n, 0), len(path))]))
					}
				}
				e.Without = &without
			default:
				stays := takeOutTold(&e)
				if paths[e.Source] = append(path, stays); !stays {
					continue
				}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// titleHead is how much of what texts begin with is in a title that was made of one.
const titleHead = 40

func countStaying(path []bool) (n int) {
	for _, stays := range path {
		if stays {
			n++
		}
	}
	return n
}

// takeOutTold takes what was told out of what a person said. It reports whether anything is left.
func takeOutTold(e *transcript.Entry) (stays bool) {
	if e.Message.Role != scrollback.RoleUser || !hasTold(e.Message.Parts) {
		return true
	}
	var parts scrollback.Parts
	var bytes map[int][]byte
	for i, p := range e.Message.Parts {
		if t, ok := p.(scrollback.Text); ok && told.Has(t.Text) {
			rest := told.Without(t.Text)
			if rest == "" {
				continue
			}
			t.Text = rest
			p = t
		}
		if b := e.Bytes[i]; b != nil {
			if bytes == nil {
				bytes = map[int][]byte{}
			}
			bytes[len(parts)] = b
		}
		parts = append(parts, p)
	}
	e.Message.Parts = parts
	e.Bytes = bytes
	return len(parts) > 0
}

func hasTold(parts scrollback.Parts) bool {
	for _, p := range parts {
		if t, ok := p.(scrollback.Text); ok && told.Has(t.Text) {
			return true
		}
	}
	return false
}
