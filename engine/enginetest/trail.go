package enginetest

import (
	"bytes"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Trail reads a format of the tests' own: a word is a message, a number goes back to so
// many messages. The first word is "trail", the next names the source too.
type Trail struct{}

// Name returns the name of the format.
func (Trail) Name() string { return "trail" }

// Sniff recognizes its first word.
func (Trail) Sniff(head []byte) bool { return bytes.HasPrefix(head, []byte("trail ")) }

// Read yields an entry for each word behind the first.
func (Trail) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		b, err := io.ReadAll(r)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		words := strings.Fields(string(b))[1:]
		for _, word := range words {
			e := transcript.Entry{Source: "of " + words[0]}
			if n, err := strconv.Atoi(word); err == nil {
				e.Rewind = &n
			} else {
				e.Message = scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: word}}}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
