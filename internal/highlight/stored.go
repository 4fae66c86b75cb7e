package highlight

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"slices"

	"github.com/alecthomas/chroma/v2"
)

// archive has the rules of chroma's lexers as XML, a file each, and a list of what they are called. The test
// TestStoredLexers makes it, and compares it with chroma's.
//
//go:embed lexers.zip
var archive []byte

// listName is that of the list in the archive: the settings of each lexer, in the order of its files.
const listName = "lexers.json"

// storedLexers returns the lexers of the archive. The rules of each are read when it is first used.
func storedLexers() []*chroma.RegexLexer {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil // a test reads it
	}
	var settings []chroma.Config
	if json.Unmarshal(readStored(files, listName), &settings) != nil {
		return nil
	}
	out := make([]*chroma.RegexLexer, 0, len(settings))
	for i := range settings {
		l, err := chroma.NewLexer(&settings[i], func() chroma.Rules { return readRules(files, settings[i].Name) })
		if err == nil {
			out = append(out, l)
		}
	}
	return out
}

// readStored returns a file of the archive; nil if it cannot be read.
func readStored(files *zip.Reader, name string) []byte {
	f, err := files.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return text
}

// fileOf returns the name of a lexer's file.
func fileOf(language string) string {
	name := []rune(language)
	for i, r := range name {
		if r == '/' || r == '\\' || r == ':' {
			name[i] = '_'
		}
	}
	return string(name) + ".xml"
}

// readRules returns the rules of a language; of one that cannot be read they know plain text only.
func readRules(files *zip.Reader, language string) chroma.Rules {
	plain := chroma.Rules{"root": {{Pattern: `(?s).+`, Type: chroma.Text}}}
	l, err := chroma.Unmarshal(readStored(files, fileOf(language)))
	if err != nil {
		return plain
	}
	rules, err := l.Rules()
	if err != nil {
		return plain
	}
	if language == "Haxe" {
		restoreConditions(rules)
	}
	return rules
}

// haxeCondition is the rule of Haxe that needs a function: chroma cannot store it.
const haxeCondition = `(#)(if|elseif|else|end|error)\b`

// restoreConditions gives the rules of Haxe back what follows its conditions: each branch begins in the state before
// #if.
func restoreConditions(rules chroma.Rules) {
	for _, list := range rules {
		for i, r := range list {
			if r.Pattern == haxeCondition {
				list[i].Mutator = chroma.MutatorFunc(followCondition)
			}
		}
	}
}

// followCondition moves on behind a condition.
func followCondition(state *chroma.LexerState) error {
	const key = "conditions"
	open, _ := state.Get(key).([][]string)
	switch state.Groups[2] {
	case "if":
		open = append(open, slices.Clone(state.Stack))
	case "else", "elseif":
		if n := len(open); n > 0 {
			state.Stack = slices.Clone(open[n-1])
		}
	case "end":
		open = open[:max(0, len(open)-1)]
	}
	switch state.Groups[2] {
	case "if", "elseif":
		state.Stack = append(state.Stack, "preproc-expr")
	case "error":
		state.Stack = append(state.Stack, "preproc-error")
	}
	state.Set(key, open)
	return nil
}
