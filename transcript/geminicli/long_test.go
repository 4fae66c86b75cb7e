package geminicli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript"
)

// A document that is longer than is read says so, and does not look cut off.
func TestLongDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n" + `"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z",` +
		`"lastUpdated":"2026-01-01T00:00:00Z","messages":[` + "\n")
	for i := range 20 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id":"m%d","timestamp":"2026-01-01T00:00:%02dZ","type":"user","content":"say %d"}`, i, i, i)
	}
	b.WriteString("\n]}")
	for _, most := range []int{b.Len(), b.Len() / 2} {
		said := 0
		bad := []string{}
		s := &sessionReader{most: most, header: map[string]json.RawMessage{}, at: map[string]int{},
			yield: func(e transcript.Entry, err error) bool {
				if err != nil {
					t.Error(err)
				}
				if e.Bad != nil {
					bad = append(bad, e.Bad.Reason)
				}
				if len(e.Message.Parts) > 0 {
					said++
				}
				return true
			}}
		s.readLines(bufio.NewReader(strings.NewReader(b.String())))
		s.endSession()
		whole := most == b.Len()
		if whole != (said == 20 && len(bad) == 0) ||
			!whole && (said == 0 || len(bad) != 1 || !strings.Contains(bad[0], "longer than")) {
			t.Errorf("of %d bytes: %d messages, %q", most, said, bad)
		}
	}
}
