package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// placeReading is what a place gave.
type placeReading struct {
	sessions []transcript.Session
	entries  [][]transcript.Entry // of each session
	errs     []error              // of each session
	err      error                // of the list
}

// maxRead bounds what a fixture and its mutants may give.
const maxRead = 20_000

// readPlace reads all sessions of a place; a live one as if it had changed a moment ago.
func (v variant) readPlace(p transcript.Place, live bool) (r placeReading) {
	ctx := context.Background()
	for s, err := range v.Tool.Sessions(ctx, p) {
		if err != nil {
			r.err = err
			break
		}
		r.sessions = append(r.sessions, s)
		if len(r.sessions) > maxRead {
			r.err = fmt.Errorf("more than %d sessions", maxRead)
			break
		}
	}
	n := 0
	for _, s := range r.sessions {
		var entries []transcript.Entry
		var failed error
		if live {
			p.Now = s.Changed + 1
		} else {
			p.Now = max(s.Changed+day, written+day)
		}
		if s.Bad == "" {
			for e, err := range v.Tool.Read(ctx, p, s) {
				if failed != nil {
					failed = fmt.Errorf("%w: something follows an error: %w", errBroken, failed)
					break
				}
				if failed = err; err == nil {
					entries = append(entries, e)
				}
				if n++; n > maxRead {
					failed = fmt.Errorf("%w: more than %d entries", errBroken, maxRead)
					break
				}
			}
		}
		r.entries = append(r.entries, entries)
		r.errs = append(r.errs, failed)
	}
	return r
}

// String returns a reading in full, one line an entry.
func (r placeReading) String() string {
	var b strings.Builder
	for i, s := range r.sessions {
		fmt.Fprintf(&b, "session %+v: %v\n", s, r.errs[i])
		for _, e := range r.entries[i] {
			b.WriteString(entryLine(e) + "\n")
		}
	}
	fmt.Fprintf(&b, "%v", r.err)
	return b.String()
}

// entryLine returns an entry in full.
func entryLine(e transcript.Entry) string {
	raw, err := json.Marshal(e)
	return fmt.Sprintf("%s %v", raw, err)
}

// firstDifference returns where two texts part, line by line.
func firstDifference(a, b string) string {
	as := strings.Split(a, "\n")
	bs := strings.Split(b, "\n")
	for i := range as {
		if i >= len(bs) || as[i] != bs[i] {
			return fmt.Sprintf("line %d: %.300s\nor %.300s", i+1, as[i], slices.Concat(bs, make([]string, len(as)))[i])
		}
	}
	return "more lines"
}
