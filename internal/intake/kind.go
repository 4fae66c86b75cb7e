package intake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/toolcall"
)

// Bounds of a hint, in characters, and of what is read of a text to describe it.
const (
	hintRunes    = 200
	subjectRunes = 80
	namesRunes   = 60
	namesMost    = 6
	kindBytes    = 256 << 10
	kindLines    = 40 // from the beginning
)

// describeCall names the call that a result belongs to: its tool and its main argument.
func (a *admission) describeCall(r scrollback.ToolResult) string {
	tool := r.Name
	subject := ""
	for _, c := range slices.Backward(a.room.Calls) {
		if c.ID == r.CallID {
			tool = cmp.Or(tool, c.Name)
			subject = toolcall.ReadCall(c.Arguments).Subject
			break
		}
	}
	text := "output of " + cmp.Or(clip.JoinLines(tool), "a tool")
	if subject = clip.JoinLines(subject); subject != "" {
		text += ` "` + clip.ClipLine(subject, subjectRunes) + `"`
	}
	return text
}

// makeHint returns where a text is from, and what it is as far as that is seen at a glance.
func makeHint(origin, text string) string {
	return clip.ClipLine(origin+" · "+recognizeKind(text, origin), hintRunes)
}

// recognizeKind returns what a text is. The origin may have the name of a file in it.
func recognizeKind(text, origin string) string {
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	head := textSample{text: strings.TrimSpace(strings.ToValidUTF8(clip.HeadBytes(text, kindBytes), "")), origin: origin,
		cut: len(text) > kindBytes}
	for line := range strings.SplitSeq(head.text, "\n") {
		if line = strings.TrimRight(numbered().ReplaceAllString(line, ""), "\r "); line != "" {
			head.lines = append(head.lines, line)
		}
		if len(head.lines) == kindLines {
			break
		}
	}
	counted := fmt.Sprintf("%d lines", lines)
	if lines == 1 {
		counted = "1 line"
	}
	if len(head.lines) == 0 {
		return "only white space, " + counted
	}
	for _, look := range []func(*textSample) string{(*textSample).describeJSON, (*textSample).describeMarkup,
		(*textSample).describeDiff, (*textSample).describeTests,
		(*textSample).describeMatches, (*textSample).describeTable,
		(*textSample).describeLog, (*textSample).describePaths, (*textSample).describeSource} {
		if kind := look(&head); kind != "" {
			before, after, _ := strings.Cut(kind, "|")
			return before + ", " + counted + after
		}
	}
	return "text, " + counted + `: "` + clip.ClipLine(clip.JoinLines(head.lines[0]), subjectRunes) + `"`
}

// numbered finds the number in front of a line, as tools that show files write it.
var numbered = lazyregexp.New(`^\s{0,6}\d{1,6}(?:→|\t| {2})`)

// textSample is what is looked at of a text: a kind is recognized from it, and told as words
// before and, behind a bar, after the number of lines; empty means another kind.
type textSample struct {
	text   string
	lines  []string // the first that are not empty, without line numbers
	origin string
	cut    bool
}

func (g *textSample) describeJSON() string {
	switch g.text[0] {
	case '{':
		keys, ok, rest := listKeys(g.text, g.cut)
		switch {
		case !ok:
			return ""
		case strings.HasPrefix(rest, "{"):
			return "JSON lines|" + withNames(", keys ", keys)
		case rest != "":
			return ""
		}
		return "JSON|" + withNames(", keys ", keys)
	case '[':
		inner := strings.TrimSpace(g.text[1:])
		if strings.HasPrefix(inner, "{") {
			if keys, ok, _ := listKeys(inner, true); ok {
				return "JSON|" + withNames(", a list of objects with keys ", keys)
			}
		} else if json.Valid([]byte(g.text)) || g.cut && strings.HasPrefix(inner, `"`) {
			return "JSON|, a list"
		}
	}
	return ""
}

// listKeys lists the keys of the object that a text begins with, and returns what follows
// it. Where the text was cut off, the object need not end.
func listKeys(text string, cut bool) (keys []string, ok bool, rest string) {
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, false, ""
	}
	for d.More() {
		key, err := d.Token()
		name, isName := key.(string)
		var skipped json.RawMessage
		if err != nil || !isName || d.Decode(&skipped) != nil {
			return append(keys, name), cut && len(keys) > 0, ""
		}
		keys = append(keys, name)
	}
	if _, err := d.Token(); err != nil {
		return keys, cut && len(keys) > 0, ""
	}
	return keys, true, strings.TrimSpace(text[d.InputOffset():])
}

var (
	title   = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)
	heading = lazyregexp.New(`(?m)^#{1,3} (.+)$`)
)

func (g *textSample) describeMarkup() string {
	start := strings.ToLower(clip.HeadBytes(g.text, 200))
	switch {
	case strings.Contains(start, "<!doctype html") || strings.HasPrefix(start, "<html"):
		if m := title().FindStringSubmatch(g.text); m != nil && clip.JoinLines(m[1]) != "" {
			return `HTML page "` + clip.ClipLine(clip.JoinLines(m[1]), subjectRunes) + `"|`
		}
		return "HTML page|"
	case strings.HasPrefix(start, "<?xml"):
		return "XML|"
	case strings.HasPrefix(start, "# ") && !strings.HasPrefix(g.text, "#!"):
		if m := heading().FindStringSubmatch(g.text); m != nil && len(heading().FindAllString(g.text, 3)) > 1 {
			return `Markdown "` + clip.ClipLine(clip.JoinLines(m[1]), subjectRunes) + `"|`
		}
	}
	return ""
}

var changed = lazyregexp.New(`(?m)^\+\+\+ (?:b/)?(\S+)|^\*\*\* (?:Add|Update|Delete) File: (\S+)`)

func (g *textSample) describeDiff() string {
	if !strings.Contains(g.text, "\n@@") && !strings.HasPrefix(g.text, "*** Begin Patch") {
		return ""
	}
	var files []string
	for _, m := range changed().FindAllStringSubmatch(g.text, -1) {
		files = append(files, m[1]+m[2])
	}
	if len(files) == 0 {
		return ""
	}
	return "diff|" + withNames(", of ", files)
}

var (
	goTest   = lazyregexp.New(`(?m)^(?:=== RUN|--- (?:PASS|FAIL|SKIP): |ok  \t|FAIL\t)`)
	goFailed = lazyregexp.New(`(?m)^\s*--- FAIL: `)
	goBroken = lazyregexp.New(`(?m)^FAIL\t`)
	sums     = lazyregexp.New(`(?m)\b\d+ (?:failed|passed|errors?)\b[^\n]{0,60}`)
)

// What the patterns cannot do without is looked for first: that takes a tenth of the time.
var (
	goWords  = []string{"=== RUN", "--- PASS: ", "--- FAIL: ", "--- SKIP: ", "ok  \t", "FAIL\t"}
	sumWords = []string{" failed", " passed", " error"}
)

// containsAny reports whether a text contains one of some words.
func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

func (g *textSample) describeTests() string {
	if containsAny(g.text, goWords) && goTest().MatchString(g.text) {
		return fmt.Sprintf("Go test log|, %d FAIL",
			max(len(goFailed().FindAllString(g.text, -1)), len(goBroken().FindAllString(g.text, -1))))
	}
	end := clip.TailBytes(g.text, 4<<10)
	if !containsAny(end, sumWords) {
		return ""
	}
	if all := sums().FindAllString(end, -1); len(all) > 0 && strings.Contains(strings.ToLower(g.text), "test") {
		return "test log|, " + strings.Trim(clip.JoinLines(all[len(all)-1]), " =")
	}
	return ""
}

var match = lazyregexp.New(`^([\w./@-]+[./]\w+):\d+:`)

func (g *textSample) describeMatches() string {
	var files []string
	n := 0
	for _, line := range g.lines {
		if m := match().FindStringSubmatch(line); m != nil {
			files = append(files, m[1])
			n += 1
		}
	}
	if !g.isMost(n) {
		return ""
	}
	return "matches|" + withNames(" in ", slices.Compact(files))
}

func (g *textSample) describeTable() string {
	for _, one := range []struct{ name, sep string }{{"CSV", ","}, {"TSV", "\t"}, {"CSV", ";"}} {
		columns := strings.Split(g.lines[0], one.sep)
		if len(columns) < 2 || len(g.lines) < 3 {
			continue
		}
		same := 0
		for _, line := range g.lines {
			if strings.Count(line, one.sep) == len(columns)-1 || strings.Contains(line, `"`) {
				same++
			}
		}
		named := !slices.ContainsFunc(columns, func(c string) bool { return len(c) > 60 || strings.ContainsAny(c, "{}();=") })
		if same == len(g.lines) && named {
			return one.name + "|" + withNames(", columns ", columns)
		}
	}
	return ""
}

var (
	stamped = lazyregexp.New(`^\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:|(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL)\b)|\blevel=\w+`)
	severe  = lazyregexp.New(`(?m)^.*\b(?:ERROR|FATAL|CRITICAL|level=error)\b`)
)

func (g *textSample) describeLog() string {
	if !g.mostLines(stamped().MatchString) {
		return ""
	}
	return fmt.Sprintf("log|, %d with errors", len(severe().FindAllString(g.text, -1)))
}

var listed = lazyregexp.New(`^(?:\S+\s+){0,8}\.{0,2}[\w@.-]*(?:/[\w@.-]+)+/?$|^[\w@-]+(?:\.[\w@-]+)+$`)

// isListed tries the pattern only on lines with a slash, or with a dot and no space: no
// others match.
func isListed(line string) bool {
	return (strings.Contains(line, "/") || strings.Contains(line, ".") && !strings.ContainsAny(line, " \t")) &&
		listed().MatchString(line)
}

func (g *textSample) describePaths() string {
	if !g.mostLines(isListed) {
		return ""
	}
	return "list of paths|, the first " + clip.ClipLine(clip.JoinLines(g.lines[0]), namesRunes)
}

// mostLines reports whether most of the lines looked at match.
func (g *textSample) mostLines(is func(line string) bool) bool {
	n := 0
	for _, line := range g.lines {
		if is(line) {
			n++
		}
	}
	return g.isMost(n)
}

// isMost reports whether n lines are most of those looked at.
func (g *textSample) isMost(n int) bool { return len(g.lines) >= 3 && n*3 >= len(g.lines)*2 }

// languages are the names of programming languages by the end of a file's name.
var languages = map[string]string{".go": "Go", ".py": "Python", ".js": "JavaScript", ".mjs": "JavaScript",
	".ts": "TypeScript", ".tsx": "TypeScript",
	".jsx": "JavaScript", ".rs": "Rust", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".java": "Java",
	".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP",
	".cs": "C#", ".swift": "Swift", ".sh": "shell", ".sql": "SQL", ".css": "CSS", ".yaml": "YAML", ".yml": "YAML",
	".toml": "TOML", ".proto": "protobuf"}

// openings tell a language by how a line begins.
var openings = []struct {
	language string
	line     func() *regexp.Regexp
}{
	{"Go", lazyregexp.New(`^package \w+$`)}, {"C", lazyregexp.New(`^#include [<"]`)},
	{"shell", lazyregexp.New(`^#!.*sh$`)},
	{"Python", lazyregexp.New(`^(?:from [\w.]+ import |def \w+\(.*:$|class \w+.*:$|#!.*python)`)},
	{"JavaScript",
		lazyregexp.New(`^(?:import .* from ['"]|export (?:default |const |function )|const \w+ = require\()`)},
	{"Rust", lazyregexp.New(`^(?:use [\w:]+.*;$|pub (?:fn|struct|mod) |fn \w+\()`)},
	{"Java", lazyregexp.New(`^(?:package [\w.]+;|public class )`)},
}

func (g *textSample) describeSource() string {
	for _, word := range strings.FieldsFunc(g.origin, func(r rune) bool { return strings.ContainsRune(" \"'`", r) }) {
		if name := languages[strings.ToLower(path.Ext(word))]; name != "" && !strings.ContainsAny(word, "*?") {
			return name + " source|"
		}
	}
	for _, line := range g.lines {
		for _, o := range openings {
			if o.line().MatchString(line) {
				return o.language + " source|"
			}
		}
	}
	return ""
}

// withNames lists names after a word, as far as there is room.
func withNames(word string, names []string) string {
	var out []string
	runes := 0
	for i, n := range names {
		n = clip.ClipLine(clip.JoinLines(n), namesRunes)
		if runes += len([]rune(n)); n == "" || i == namesMost || runes > 2*namesRunes {
			out = append(out, "…")
			break
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return ""
	}
	return word + strings.Join(out, ", ")
}
