package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/toolcall"
	"github.com/scrollback-ai/scrollback/window"
)

// Work is what tools did in a run of messages. A placeholder says it in one line; roll-ups
// read the lines of what they stand for, and add them up. The zero value is nothing.
type Work struct {
	tools []toolWork
	wrote []string // oldest first
	more  bool     // more was written
}

// toolWork is what was done with one tool.
type toolWork struct {
	name          string
	calls, failed int
	subjects      []callSubject // what the calls were about, oldest first
	more          bool          // there were others
}

// callSubject is what calls were about: a path, a command. Failed is what the last of them
// failed with, or empty.
type callSubject struct{ text, failed string }

// Bounds of what is kept of the calls of one tool, and of the files written.
const (
	maxSubjects     = 64
	maxWrote        = 128
	maxSubjectRunes = 120
)

// otherTools stands for tools that a line has no room for.
const otherTools = "other"

// CollectWork collects what tools did in a run, look-ups of the log itself apart.
func CollectWork(ms []scrollback.Message) *Work {
	type waiting struct {
		tool  string
		call  toolcall.Call
		about string
	}
	var w Work
	open := map[string]waiting{}
	for i := range ms {
		for _, c := range ms[i].Parts.Calls() {
			if ms[i].Role != scrollback.RoleAssistant || c.IsRecall() {
				continue
			}
			read := toolcall.ReadCall(c.Arguments)
			one := waiting{cmp.Or(toolcall.CleanName(c.Name), "tool"), read, clip.ClipLine(read.Subject, maxSubjectRunes)}
			w.addTool(toolWork{name: one.tool, calls: 1, subjects: []callSubject{{text: one.about}}})
			open[c.ID] = one
		}
		for _, r := range ms[i].Parts.Results() {
			one, ok := open[r.CallID]
			if !ok {
				continue
			}
			delete(open, r.CallID)
			if why, failed := findFailure(r); failed {
				w.addTool(toolWork{name: one.tool, failed: 1, subjects: []callSubject{{one.about, why}}})
				continue
			}
			w.addWritten(one.call.Wrote...)
			// it is newest, and no longer failing
			w.addTool(toolWork{name: one.tool, subjects: []callSubject{{text: one.about}}})
		}
	}
	return &w
}

// addTool adds what was done with a tool.
func (w *Work) addTool(t toolWork) {
	i := slices.IndexFunc(w.tools, func(o toolWork) bool { return o.name == t.name })
	if i < 0 {
		w.tools = append(w.tools, toolWork{name: t.name})
		i = len(w.tools) - 1
	}
	have := &w.tools[i]
	have.calls += t.calls
	have.failed += t.failed
	have.more = have.more || t.more
	for _, s := range t.subjects {
		if s.text == "" && s.failed == "" {
			continue
		}
		have.subjects = slices.DeleteFunc(have.subjects, func(o callSubject) bool { return o.text == s.text })
		if have.subjects = append(have.subjects, s); len(have.subjects) > maxSubjects {
			have.subjects = have.subjects[1:]
			have.more = true
		}
	}
}

// addWritten adds files that were written.
func (w *Work) addWritten(paths ...string) {
	for _, p := range paths {
		w.wrote = append(slices.DeleteFunc(w.wrote, func(o string) bool { return o == p }), p)
		if len(w.wrote) > maxWrote {
			w.wrote = w.wrote[1:]
			w.more = true
		}
	}
}

// Join adds what was done later.
func (w *Work) Join(later *Work) {
	for _, t := range later.tools {
		w.addTool(t)
	}
	w.addWritten(later.wrote...)
	w.more = w.more || later.more
}

// workDetail says how much of the work a line tells.
type workDetail struct{ tools, subjects, wrote, subjectRunes, failureRunes int }

// workDetails are tried in order until one fits.
var workDetails = []workDetail{{10, 5, 16, 100, 100}, {8, 4, 12, 80, 80}, {8, 3, 8, 60, 80}, {6, 2, 6, 60, 60},
	{6, 1, 5, 48, 48}, {5, 1, 3, 32, 40},
	{4, 0, 3, 0, 0}, {3, 0, 1, 0, 0}, {2, 0, 0, 0, 0}}

// Line returns what was done in at most room tokens; it is empty if nothing was, or if there
// is no room to say it.
func (w *Work) Line(room int64, count func(string) int) string {
	if len(w.tools) == 0 || room <= 0 {
		return ""
	}
	for _, d := range workDetails {
		if text := w.renderDetail(d); int64(count(text)) <= room {
			return text
		}
	}
	return ""
}

// renderDetail returns what was done in as much detail, the tools that were called most first.
func (w *Work) renderDetail(d workDetail) string {
	tools := slices.Clone(w.tools)
	slices.SortStableFunc(tools, func(a, b toolWork) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name))
	})
	var out []string
	rest := toolWork{name: otherTools}
	for _, t := range tools {
		if len(out) == d.tools || t.name == otherTools {
			rest.calls += t.calls
			rest.failed += t.failed
			continue
		}
		out = append(out, t.renderTool(d, w.wrote))
	}
	if rest.calls > 0 {
		out = append(out, rest.renderTool(d, nil))
	}
	text := window.WorkMark + strings.Join(out, ", ")
	if len(w.wrote) == 0 || d.wrote == 0 {
		return text
	}
	var wrote []string
	for _, p := range w.wrote[max(0, len(w.wrote)-d.wrote):] {
		wrote = append(wrote, quoteSubject(p))
	}
	if w.more || len(wrote) < len(w.wrote) {
		wrote = append(wrote, "…")
	}
	return text + wroteMark + strings.Join(wrote, ", ")
}

const (
	wroteMark  = " · wrote: "
	failedMark = ` failed: "`
)

// renderTool returns what was done with a tool: what failed and the newest of the rest. Files that
// were written are said at the end of the line.
func (t toolWork) renderTool(d workDetail, wrote []string) string {
	text := t.name
	if t.calls != 1 {
		text += fmt.Sprintf(" ×%d", t.calls)
	}
	shown := slices.DeleteFunc(slices.Clone(t.subjects),
		func(s callSubject) bool { return s.failed == "" && slices.Contains(wrote, s.text) })
	more := t.more
	for len(shown) > d.subjects {
		drop := max(0, slices.IndexFunc(shown, func(s callSubject) bool { return s.failed == "" }))
		shown = slices.Delete(shown, drop, drop+1)
		more = true
	}
	var said []string
	failing := 0
	for _, s := range shown {
		one := quoteSubject(clip.ClipLine(s.text, d.subjectRunes))
		if s.failed != "" {
			failing++
			one += failedMark + strings.ReplaceAll(clip.ClipLine(s.failed, d.failureRunes), `"`, "'") + `"`
		}
		said = append(said, one)
	}
	if more {
		said = append(said, "…")
	}
	inside := strings.Join(said, ", ")
	if t.failed > failing {
		inside = fmt.Sprintf("%d failed; %s", t.failed, cmp.Or(inside, "…"))
	}
	if inside == "" || inside == "…" {
		return text
	}
	return text + " (" + inside + ")"
}

// quoteSubject puts a text between marks if it could be taken for what follows it.
func quoteSubject(s string) string {
	s = strings.ReplaceAll(s, "`", "'")
	if s == "" || s == "…" || strings.ContainsAny(s, `,;()"·`) || strings.Contains(s, " failed: ") {
		return "`" + s + "`"
	}
	return s
}

// ParseWork reads the line of a placeholder that says what tools did. A line that it
// cannot read says nothing.
func ParseWork(placeholder string) *Work {
	for line := range strings.SplitSeq(placeholder, "\n") {
		if rest, ok := strings.CutPrefix(line, window.WorkMark); ok {
			w := Work{}
			p := workParser{rest}
			if p.readTools(&w) && p.readWritten(&w) {
				return &w
			}
		}
	}
	return &Work{}
}

type workParser struct{ rest string }

func (p *workParser) takePrefix(s string) (ok bool) {
	p.rest, ok = strings.CutPrefix(p.rest, s)
	return ok
}

// readNumber reads digits.
func (p *workParser) readNumber() int {
	i := 0
	for i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(p.rest[:i])
	if p.rest = p.rest[i:]; err != nil || n > 1<<30 {
		return 0
	}
	return n
}

// readUntil reads up to the first of some marks.
func (p *workParser) readUntil(marks ...string) string {
	end := len(p.rest)
	for _, m := range marks {
		if i := strings.Index(p.rest, m); i >= 0 {
			end = min(end, i)
		}
	}
	s := p.rest[:end]
	p.rest = p.rest[end:]
	return s
}

// readQuoted reads what quote writes; more says that it is an ellipsis.
func (p *workParser) readQuoted(marks ...string) (s string, more bool) {
	if p.takePrefix("`") {
		s = p.readUntil("`")
		return s, !p.takePrefix("`")
	}
	s = p.readUntil(marks...)
	return s, s == "…"
}

var countsFailed = lazyregexp.New(`^(\d{1,9}) failed; `)

func (p *workParser) readTools(w *Work) bool {
	for {
		t := toolWork{name: p.readUntil(" ", ",", "("), calls: 1}
		if t.name == "" || toolcall.CleanName(t.name) != t.name {
			return false
		}
		if p.takePrefix(" ×") {
			t.calls = p.readNumber()
		}
		if p.takePrefix(" (") && !p.readSubjects(&t) {
			return false
		}
		w.addTool(t)
		if !p.takePrefix(", ") {
			return true
		}
	}
}

func (p *workParser) readSubjects(t *toolWork) bool {
	counted := 0
	if m := countsFailed().FindStringSubmatch(p.rest); m != nil {
		counted = p.readNumber()
		p.takePrefix(" failed; ")
	}
	for {
		text, more := p.readQuoted(", ", ")", failedMark)
		s := callSubject{text: text}
		if p.takePrefix(failedMark) {
			s.failed = p.readUntil(`"`)
			t.failed++
			if !p.takePrefix(`"`) {
				return false
			}
		}
		if t.more = t.more || more; !more {
			t.subjects = append(t.subjects, s)
		}
		if p.takePrefix(")") {
			t.failed = max(t.failed, counted)
			return true
		}
		if !p.takePrefix(", ") {
			return false
		}
	}
}

func (p *workParser) readWritten(w *Work) bool {
	if p.rest == "" {
		return true
	}
	if !p.takePrefix(wroteMark) {
		return false
	}
	for {
		path, more := p.readQuoted(", ")
		if w.more = w.more || more; !more {
			w.addWritten(path)
		}
		if !p.takePrefix(", ") {
			return p.rest == ""
		}
	}
}

// exitCode finds that a command ended with another code than 0, as agents report it, and
// errorStart that an output begins as an error does.
var (
	exitCode   = lazyregexp.New(`(?i)\bexit(?:ed)?(?: with)?[ _]?(?:code|status)"?\s*[:=]?\s*[1-9]`)
	errorStart = lazyregexp.New(
		`(?i)^\s*(?:<tool_use_error>|<error>|(?:fatal|\w*error|panic)\b\s*[:(]|Traceback \(most recent)`,
	)
	errorLine = lazyregexp.New(
		`(?i)\b(?:\w*error|undefined|panic|fatal|cannot|can't|denied|failed|not found|no such|exception|unable)\b|\bFAIL\b|错误|失败|无法|找不到`,
	)
	errorTags = lazyregexp.New(`</?[a-z_]+>`)
)

// Bounds of where an output is searched for signs of a failure, in bytes.
const (
	failureEnds = 400
	failureText = 16 << 10
)

// findFailure says whether a result is a failure, and returns the line that says why.
func findFailure(r scrollback.ToolResult) (string, bool) {
	text := r.Text
	var wrapped struct { // as Codex records what a shell printed
		Output   string
		Metadata struct {
			ExitCode int `json:"exit_code"`
		}
	}
	if strings.HasPrefix(text, `{"output":`) && json.Unmarshal([]byte(text), &wrapped) == nil {
		text = wrapped.Output
		r.IsError = r.IsError || wrapped.Metadata.ExitCode != 0
	}
	ends := clip.HeadBytes(text, failureEnds) + "\n" + clip.TailBytes(text, failureEnds)
	if !r.IsError && !exitCode().MatchString(ends) && !errorStart().MatchString(text) {
		return "", false
	}
	first := ""
	for line := range strings.SplitSeq(clip.HeadBytes(text, failureText), "\n") {
		line = strings.Join(strings.Fields(errorTags().ReplaceAllString(line, " ")), " ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if first == "" || exitCode().MatchString(first) {
			first = line
		}
		if errorLine().MatchString(line) && !exitCode().MatchString(line) {
			first = line
			break
		}
	}
	return clip.ClipLine(strings.ToValidUTF8(cmp.Or(first, "no output"), ""), maxSubjectRunes), true
}
