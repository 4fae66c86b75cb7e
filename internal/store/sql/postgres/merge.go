package postgres

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// mergeablePart is a statement that may be a part of another one: what comes before it in a WITH, the
// statement itself, and the tables that it reads or writes, no others.
type mergeablePart struct {
	with, main string
	tables     []string
}

// Statements of one row each that touch no other table.
var (
	plainInsert = lazyregexp.New(`^INSERT INTO (\w+) \([\w, ]+\) VALUES \([$\d, ]+\)$`)
	plainUpdate = lazyregexp.New(`^UPDATE (\w+) SET \w+ = \$\d+(?:, \w+ = \$\d+)* WHERE id = \$1$`)
)

// ownParts are those of our own statements that a turn runs.
var ownParts = map[string]*mergeablePart{
	statements.InsertMessage: {addMessage, addPendingMessage, []string{"messages", "pending_messages"}},
	statements.InsertUsage:   {"", statements.InsertUsage, []string{"usage_records"}},
	statements.StoreUsageDay: {"", statements.StoreUsageDay, []string{"usage_days"}},
	statements.InsertChange:  {"", statements.InsertChange, []string{"pending_changes"}},
}

// knownParts has for each statement that was looked at its *mergeablePart, nil for those that stay by
// themselves; mergedTexts has the merged statement of each list of texts. Both are bounded by the
// statements that the program has.
var knownParts, mergedTexts sync.Map

// asPart returns a statement as a part of another one, or nil.
func asPart(text string) *mergeablePart {
	if known, ok := knownParts.Load(text); ok {
		return known.(*mergeablePart)
	}
	part := ownParts[text]
	for _, form := range []*regexp.Regexp{plainInsert(), plainUpdate()} {
		if found := form.FindStringSubmatch(text); found != nil {
			part = &mergeablePart{"", text, found[1:2]}
		}
	}
	knownParts.Store(text, part)
	return part
}

// mergeStatements returns statements that do the same, as few as possible. Those that follow each other
// become one where none reads or writes a table that another one writes: all parts of a statement see
// the tables as they were before it.
func mergeStatements(all []waitingStatement) []waitingStatement {
	var out, group []waitingStatement
	var tables []string
	end := func() {
		out = append(out, mergeGroup(group)...)
		group = nil
		tables = nil
	}
	for _, s := range all {
		part := asPart(s.text)
		if part == nil || s.changed != nil || s.each != nil {
			end()
			out = append(out, s)
			continue
		}
		if slices.ContainsFunc(part.tables, func(t string) bool { return slices.Contains(tables, t) }) {
			end()
		}
		group = append(group, s)
		tables = append(tables, part.tables...)
	}
	end()
	return out
}

// mergeGroup makes one statement of several.
func mergeGroup(group []waitingStatement) []waitingStatement {
	if len(group) < 2 {
		return group
	}
	var merged waitingStatement
	texts := make([]string, len(group))
	for i, s := range group {
		texts[i] = s.text
		merged.args = append(merged.args, s.args...)
		if s.refused != nil {
			merged.refused = s.refused
		}
	}
	key := strings.Join(texts, ";")
	text, ok := mergedTexts.Load(key)
	if !ok {
		text = mergeTexts(group)
		mergedTexts.Store(key, text)
	}
	merged.text = text.(string)
	return []waitingStatement{merged}
}

// mergeTexts writes the statement: the last part is it, and the others are in its WITH.
func mergeTexts(group []waitingStatement) string {
	var with []string
	var main string
	args := 0
	for i, s := range group {
		part := asPart(s.text)
		if part.with != "" {
			with = append(with, shiftParameters(part.with, args))
		}
		main = shiftParameters(part.main, args)
		if i < len(group)-1 {
			with = append(with, "part"+strconv.Itoa(i+1)+" AS ("+main+")")
		}
		args += len(s.args)
	}
	return "WITH " + strings.Join(with, ", ") + " " + main
}

var parameterMark = lazyregexp.New(`\$\d+`)

// shiftParameters adds to the numbers of a statement's parameters.
func shiftParameters(text string, by int) string {
	return parameterMark().ReplaceAllStringFunc(text, func(mark string) string {
		n, _ := strconv.Atoi(mark[1:]) // it is digits
		return "$" + strconv.Itoa(n+by)
	})
}
