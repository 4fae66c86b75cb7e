// Package wordtable reads tables of the words and patterns of other languages: data beside the package
// that looks for them, a pattern a row, with what it means and an example.
//
// Words it adds: row, rule (what the patterns of some rows are for), part (which piece of the rule, or
// what the words mean to the program), piece (a part of other patterns, where they say {its rule}).
//
// It may not know anything but text.
package wordtable

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Row is one pattern: what it is for, what it means, and a text in which it is found.
type Row struct{ Rule, Part, Pattern, Meaning, Example string }

// Read reads the rows of a file. The files are part of the program, so a fault in one is a panic.
func Read(name, text string) []Row {
	pieces := map[string]string{}
	var out []Row
	headed := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			panic(fmt.Sprintf("%s has a row of %d fields: %s", name, len(f), line))
		}
		if !headed {
			headed = true
			continue
		}
		r := Row{f[0], f[1], f[2], f[3], f[4]}
		for rule, piece := range pieces {
			r.Pattern = strings.ReplaceAll(r.Pattern, "{"+rule+"}", piece)
		}
		if r.Part == "piece" {
			pieces[r.Rule] = r.Pattern
		}
		out = append(out, r)
	}
	return out
}

// Table is a file that is read when it is first needed.
type Table struct {
	name string
	read func() contents
}

// contents are the rows of a file, and by rule its patterns as alternatives and the part of each of them.
type contents struct {
	rows     []Row
	patterns map[string]string
	parts    map[string]map[string]string
}

// New returns the table of a file's text; name tells it from others when it is at fault.
func New(name, text string) *Table {
	return &Table{name, sync.OnceValue(func() contents {
		c := contents{Read(name, text), map[string]string{}, map[string]map[string]string{}}
		for _, r := range c.rows {
			if c.parts[r.Rule] == nil {
				c.parts[r.Rule] = map[string]string{}
				c.patterns[r.Rule] = r.Pattern
			} else {
				c.patterns[r.Rule] += "|" + r.Pattern
			}
			for word := range strings.SplitSeq(r.Pattern, "|") {
				c.parts[r.Rule][word] = r.Part
			}
		}
		return c
	})}
}

// Rows returns all rows, in the order of the file.
func (t *Table) Rows() []Row { return t.read().rows }

// Pattern returns the patterns of a rule as alternatives, in the order of the file. A rule that the table
// does not have is a panic.
func (t *Table) Pattern(rule string) string {
	pattern, ok := t.read().patterns[rule]
	if !ok {
		panic(t.name + " has no rule " + rule)
	}
	return pattern
}

// Words returns the words of a rule whose patterns are words with | between them.
func (t *Table) Words(rule string) []string { return strings.Split(t.Pattern(rule), "|") }

// PartOf returns the part of a word of such a rule, or nothing for another word.
func (t *Table) PartOf(rule, word string) string { return t.read().parts[rule][word] }

// slot is where a pattern takes the patterns of a rule.
var slot = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([a-z-]+)\}`) })

// Regexp returns a function that returns a compiled pattern, always the same, as lazyregexp.New does. Where
// the pattern says {rule}, it has the patterns of that rule as alternatives.
func (t *Table) Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(slot().ReplaceAllStringFunc(pattern, func(s string) string {
			return t.Pattern(strings.Trim(s, "{}"))
		}))
	})
}
