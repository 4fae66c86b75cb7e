package fullcopy

import (
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// mostLeftOut bounds how many messages of a branch are left out of requests.
const mostLeftOut = 1000

// left is what the branches of a file leave out of requests. It is told while the messages
// are read, because what is folded on the way depends on it.
type left struct {
	by      map[scrollback.BranchID][]int64 // ascending; also of branches that leave nothing out
	current scrollback.BranchID
	told    []int // of the path so far, as last told: positions from 1
}

// branch takes a branch of the file.
func (l *left) branch(raw json.RawMessage) error {
	var b scrollback.BranchEntry
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	if b.Current {
		l.current = b.ID
	}
	slices.Sort(b.Without)
	out := slices.Compact(b.Without)
	if l.by == nil {
		l.by = map[scrollback.BranchID][]int64{}
	}
	l.by[b.ID] = out[:min(len(out), mostLeftOut)]
	return nil
}

// of returns what a branch leaves out. One that is not in the file is inherited by the current one.
func (l *left) of(id scrollback.BranchID) []int64 {
	if out, known := l.by[id]; known {
		return out
	}
	return l.by[l.current]
}

// leaves reports whether a branch leaves out a message.
func (l *left) leaves(id scrollback.BranchID, seq int64) bool {
	_, found := slices.BinarySearch(l.of(id), seq)
	return found
}

// cut forgets what was told of what comes after the first n messages of the path.
func (l *left) cut(n int) {
	at, _ := slices.BinarySearch(l.told, n+1)
	l.told = l.told[:at]
}

// leaveOut tells what a branch leaves out of the path so far, if that is something else than
// what was told.
func (f *file) leaveOut(id scrollback.BranchID) error {
	out := []int{}
	for _, seq := range f.left.of(id) {
		if at, found := slices.BinarySearch(f.path, seq); found {
			out = append(out, at+1)
		}
	}
	if slices.Equal(out, f.left.told) {
		return nil
	}
	f.left.told = out
	told := slices.Clone(out)
	return f.emit(transcript.Entry{Source: f.source, Without: &told})
}
