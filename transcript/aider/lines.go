package aider

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// readLines reads a file to its end.
func (r *historyReader) readLines(ctx context.Context, in *bufio.Reader) {
	for !r.gone {
		line, dropped, whole, err := readLine(in)
		r.at++
		if dropped > 0 {
			r.emitEntry(transcript.Entry{Bad: &transcript.Bad{Line: r.at,
				Reason: fmt.Sprintf("%d NUL bytes were dropped", dropped)}})
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil && !transcript.IsEnd(err) {
			if !errors.Is(err, errLong) {
				r.failWith(err)
				return
			}
			r.emitEntry(transcript.Entry{Bad: &transcript.Bad{Line: r.at, Reason: err.Error()}})
			continue
		}
		switch {
		case len(line) == 0 && err != nil:
		case !whole && r.live:
			r.torn = true
		default:
			r.takeLine(strings.ToValidUTF8(strings.TrimPrefix(string(line), "\uFEFF"), "�"))
		}
		if err != nil {
			r.endSection(true)
			return
		}
	}
}

var errLong = fmt.Errorf("longer than %d bytes", transcript.MaxLine)

// readLine reads a line without its end and without NUL bytes, which a crash leaves in a file that
// was being written; it returns how many these were, and whether the line has an end. A long one
// is skipped.
func readLine(in *bufio.Reader) (line []byte, dropped int, whole bool, err error) {
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if n := bytes.Count(piece, []byte{0}); n > 0 {
			dropped += n
			piece = bytes.ReplaceAll(piece, []byte{0}, nil)
		}
		if long = long || len(line)+len(piece) > transcript.MaxLine; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || transcript.IsEnd(err)):
			return nil, dropped, true, errLong
		}
		whole = bytes.HasSuffix(line, []byte("\n"))
		return bytes.TrimRight(line, "\r\n"), dropped, whole, err
	}
}

// historyReader reads one history.
type historyReader struct {
	yield   func(transcript.Entry, error) bool
	live    bool
	changed int64
	folder  string
	gone    bool
	torn    bool           // the last line is being written
	at      int            // the line
	seen    map[string]int // how many sections began at a time
	marked  bool           // the file has marked lines

	source   string
	begun    int64 // Unix ms
	told     bool  // the section was described
	asked    bool  // the banner is over
	index    int   // messages of the section
	model    string
	version  string
	banner   int
	kind     lineKind
	buffer   []string
	from     int // the line that the buffer begins at
	blank    bool
	waiting  []transcript.Entry // what follows the last prompt
	lastText int                // where in waiting the last answer is, or -1
}

// lineKind is who a line is of.
type lineKind int

const (
	nobody lineKind = iota
	user
	output
	answer
)

func (r *historyReader) emitEntry(e transcript.Entry) {
	if !r.gone && !r.yield(e, nil) {
		r.gone = true
	}
}

func (r *historyReader) failWith(err error) {
	if !r.gone {
		r.yield(transcript.Entry{}, err)
		r.gone = true
	}
}

// beginSection begins one.
func (r *historyReader) beginSection(start string) {
	name := start
	if start == "" {
		name = "beginning"
	}
	r.seen[name]++
	sum := sha256.Sum256([]byte(r.folder))
	r.source = name + " " + hex.EncodeToString(sum[:4])
	if n := r.seen[name]; n > 1 {
		r.source += fmt.Sprintf(" %d", n)
	}
	r.begun = 0
	r.told = false
	r.asked = false
	r.index = 0
	r.model = ""
	r.version = ""
	r.banner = 0
	r.kind = nobody
	r.buffer = nil
	r.blank = false
	r.waiting = nil
	r.lastText = -1
	if at, err := time.ParseInLocation(time.DateTime, start, time.Local); err == nil && at.UnixMilli() > 0 {
		r.begun = at.UnixMilli()
	}
}

// endSection ends a section; that of the file waits for more while it is live.
func (r *historyReader) endSection(file bool) {
	waits := file && r.live
	if !waits {
		r.flushMessage()
		r.yieldWaiting()
	}
	end := &transcript.End{Held: waits && (r.torn || len(r.waiting) > 0 || len(r.buffer) > 0)}
	switch {
	case r.told:
	case !end.Held:
		return
	default:
		r.describeSection("") // its first prompt waits too
	}
	if r.banner > 0 {
		end.Left = map[string]int{"banner": r.banner}
	}
	r.emitEntry(transcript.Entry{Source: r.source, End: end})
}

// takeLine takes a line.
func (r *historyReader) takeLine(s string) {
	if m := started().FindStringSubmatch(s); m != nil {
		r.endSection(false)
		r.beginSection(m[1])
		return
	}
	who, words := r.classifyLine(s)
	if who == nobody { // blank
		r.blank = true
		if r.kind == answer {
			r.buffer = append(r.buffer, "")
		}
		return
	}
	if !r.asked && who != user {
		r.banner++
		r.takeNote(words)
		return
	}
	if who != r.kind || who == user && r.blank {
		r.flushMessage()
		r.kind = who
		r.from = r.at
		if who == user {
			r.yieldWaiting() // what came before is complete
		}
	}
	r.asked = true
	r.blank = false
	if who == output && r.takeNote(words) {
		return
	}
	r.buffer = append(r.buffer, words)
}

// classifyLine returns who a line is of, and its words.
func (r *historyReader) classifyLine(s string) (lineKind, string) {
	bare := strings.TrimRight(s, " \t")
	if bare == "" {
		return nobody, ""
	}
	isMarked := strings.HasSuffix(s, "  ")
	who := answer
	if rest, ok := strings.CutPrefix(s, "#### "); ok {
		who = user
		bare = strings.TrimRight(rest, " \t")
	} else if rest, ok := strings.CutPrefix(s, "> "); ok {
		who = output
		bare = strings.TrimRight(rest, " \t")
	}
	if who == answer {
		return answer, s
	}
	if r.marked = r.marked || isMarked; r.marked && !isMarked {
		return answer, s // a heading, or a quotation
	}
	return who, bare
}
