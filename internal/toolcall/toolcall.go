// Package toolcall reads from the arguments of a tool call what it was about: a command,
// a query, an address, a path, and which files it wrote. It decides by the names of the
// arguments, which the tools of different agents share more than their own names.
//
// It may not know anything but the call.
package toolcall

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Call is what a call was about. Subject is its main argument on one line, or empty;
// Paths are all that it names, and Wrote those among them that it wrote.
type Call struct {
	Subject      string
	Paths, Wrote []string
	looks        bool // for something, at its paths
}

// The names that tools give to their arguments, in lower case and without marks, those
// that say most first.
var (
	commandKeys = []string{"command", "cmd", "commands", "script", "commandline"}
	subjectKeys = []string{"query", "q", "pattern", "regex", "regexp", "searchquery", "searchterm", "keywords", "url",
		"urls", "uri", "href"}
	pathKeys = []string{"path", "paths", "file", "files", "filepath", "filepaths", "filename", "absolutepath",
		"notebookpath", "targetfile",
		"relativepath", "relativeworkspacepath"}
	placeKeys = []string{"dirpath", "directory", "dir", "folder", "description", "title", "name", "id", "task", "prompt",
		"question", "code", "input"}
	lookKeys = []string{"query", "q", "pattern", "patterns", "globpattern", "regex", "regexp", "searchquery", "searchterm",
		"keywords"}
	writeKeys = []string{"content", "contents", "newstring", "newstr", "newtext", "newsource", "filetext", "edits",
		"codeedit", "replacement",
		"replace", "diff", "inserttext"}
)

// notName finds the first character that the name of a tool cannot contain, and
// everything after it.
var notName = lazyregexp.New(`(?s)[^\pL\pN_.:/-].*`)

// CleanName returns the name of a tool as far as it is one; a model, or a bundle, may name anything.
func CleanName(called string) string { return notName().ReplaceAllString(called, "") }

// patchPattern finds the files of a patch in the form that Codex's apply_patch takes.
var patchPattern = lazyregexp.New(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$`)

// heading says that a text is such a patch.
const heading = "*** Begin Patch"

// maxPath bounds a path, in characters.
const maxPath = 200

// ReadCall reads the arguments of a call: JSON, or the bare text of a tool that takes one.
func ReadCall(arguments []byte) Call {
	var named map[string]any
	var bare string
	if json.Unmarshal(arguments, &named) != nil && json.Unmarshal(arguments, &bare) != nil {
		return Call{}
	}
	if strings.Contains(bare, heading) {
		return readPatch(bare)
	}
	values := map[string]any{} // by plain name
	for _, name := range slices.Sorted(maps.Keys(named)) {
		values[plainName(name)] = named[name]
		for _, s := range listTexts(named[name]) {
			if strings.Contains(s, heading) {
				return readPatch(s)
			}
		}
	}
	c := Call{Paths: listPaths(named)}
	if isWriting(values) {
		c.Wrote = c.Paths
	}
	c.looks = slices.ContainsFunc(lookKeys, func(k string) bool { return len(listTexts(values[k])) > 0 })
	c.Subject = c.findSubject(values, named, bare)
	return c
}

// lookWords are the words in the name of a tool that looks for something, or lists what is there: the path that it
// is given is where it looks.
var lookWords = []string{"grep", "rg", "ripgrep", "glob", "globs", "find", "search", "searches", "list", "ls", "dir", "dirs",
	"directory", "folder", "tree", "walk", "browse"}

// wordPattern finds the words in the name of a tool: list_dir, ListDir and listDir have two.
var wordPattern = lazyregexp.New(`\p{Lu}?\p{Ll}+|\p{Lu}+`)

// ListTouched returns the files that a call of a tool opened or changed. A folder, and a file that was only searched
// in, are none.
func ListTouched(tool string, arguments []byte) []string {
	c := ReadCall(arguments)
	if len(c.Wrote) > 0 {
		return c.Wrote
	}
	if c.looks || slices.ContainsFunc(wordPattern().FindAllString(CleanName(tool), -1), func(word string) bool {
		return slices.Contains(lookWords, strings.ToLower(word))
	}) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Paths), isPlace)
}

// isPlace reports whether a path is written as a folder, or as a pattern of names.
func isPlace(path string) bool {
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, `\`) || strings.ContainsAny(path, "*?") ||
		strings.Trim(path, "./~") == ""
}

func readPatch(text string) (c Call) {
	for _, m := range patchPattern().FindAllStringSubmatch(text, -1) {
		if p := clip.JoinLines(m[1]); p != "" && len([]rune(p)) <= maxPath && !slices.Contains(c.Paths, p) {
			c.Paths = append(c.Paths, p)
		}
	}
	c.Wrote = c.Paths
	c.Subject = strings.Join(c.Paths, " ")
	return c
}

// plainName returns the name of an argument however it is spelled.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// listPaths lists the arguments whose names say that they are paths.
func listPaths(named map[string]any) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(pathKeys, plainName(name)) {
			continue
		}
		for _, s := range listTexts(named[name]) {
			s = strings.TrimSpace(s)
			if s != "" && len([]rune(s)) <= maxPath && !strings.ContainsAny(s, "\n\r") && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// isWriting reports whether a call with these arguments, besides a path, changes a file.
func isWriting(values map[string]any) bool {
	return slices.ContainsFunc(writeKeys, func(k string) bool { _, ok := values[k]; return ok })
}

func (c *Call) findSubject(values, named map[string]any, bare string) string {
	for _, k := range commandKeys {
		s := commandLine(listTexts(values[k]))
		if s != "" && (len(c.Paths) == 0 || strings.Contains(s, " ")) { // else it names what is done to a file
			return s
		}
	}
	for _, k := range subjectKeys {
		if s := clip.JoinLines(strings.Join(listTexts(values[k]), " ")); s != "" {
			return s
		}
	}
	if len(c.Paths) > 0 {
		return strings.Join(c.Paths, " ")
	}
	for _, k := range append(placeKeys, commandKeys...) {
		if s := clip.JoinLines(strings.Join(listTexts(values[k]), " ")); s != "" {
			return s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if s, ok := named[name].(string); ok && clip.JoinLines(s) != "" {
			return clip.JoinLines(s)
		}
	}
	return clip.JoinLines(bare)
}

// commandLine returns the line that a shell was given, however it was wrapped.
func commandLine(words []string) string {
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		words = words[2:] // bash -lc
	}
	return clip.JoinLines(strings.Join(words, " "))
}

// listTexts lists a string, or the strings of a list.
func listTexts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
