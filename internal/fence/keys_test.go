package fence

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// tables are the columns of each table that migrations have made so far.
type tables map[string][]string

// fault is what a migration breaks.
type fault struct {
	of     string // the table, or what the statement makes
	line   int
	broken [2]string
}

// sharedKeys are unique keys of tables of a conversation that do not begin with its id, each
// as "table(columns)", with the reason.
var sharedKeys = map[string]string{}

// read follows one migration and lists what it breaks; its way back is not read.
func (t tables) read(text string) []fault {
	text, _, _ = strings.Cut(text, "-- +goose Down")
	var out []fault
	for _, s := range readSQL(text) {
		if len(s) == 0 {
			continue
		}
		line := 1 + strings.Count(text[:s[0].offset], "\n")
		of := subject(s)
		end := min(len(text), s[len(s)-1].offset+len(s[len(s)-1].text))
		for _, b := range breaks(text[s[0].offset:end]) {
			out = append(out, fault{of, line, b})
		}
		for _, key := range t.keys(s) {
			out = append(out, fault{of, line, [2]string{"key", key}})
		}
	}
	return out
}

// subject is what a statement makes or changes.
func subject(s []sqlToken) string {
	for i, t := range s {
		if slices.Contains([]string{"table", "index", "trigger", "function", "into", "update", "on"}, t.text) && !t.quoted {
			for i++; i < len(s) && slices.Contains([]string{"if", "not", "exists", "concurrently", "only"}, s[i].text); i++ {
			}
			if i < len(s) {
				return s[i].text
			}
		}
	}
	return s[0].text
}

// keys notes the table that a statement makes, and returns the unique keys which do not
// begin with the id of a conversation.
func (t tables) keys(s []sqlToken) []string {
	name := subject(s)
	var unique [][]string
	switch {
	case next(s, 0, "create", "table"), next(s, 0, "create", "unlogged", "table"):
		open := slices.IndexFunc(s, func(t sqlToken) bool { return t.text == "(" })
		if open < 0 {
			return nil
		}
		in, _ := inner(s, open)
		t[name] = nil
		for _, item := range commas(in) {
			unique = append(unique, t.item(name, item)...)
		}
	case next(s, 0, "alter", "table"):
		for _, part := range commas(s) {
			for i := range part {
				if next(part, i, "add") {
					item := part[i+1:]
					for len(item) > 0 && slices.Contains([]string{"column", "if", "not", "exists"}, item[0].text) {
						item = item[1:]
					}
					unique = append(unique, t.item(name, item)...)
				}
			}
		}
	case next(s, 0, "create", "unique", "index"):
		on := slices.IndexFunc(s, func(t sqlToken) bool { return t.text == "on" })
		if on < 0 || on+1 >= len(s) {
			return nil
		}
		name = s[on+1].text
		open := slices.IndexFunc(s[on:], func(t sqlToken) bool { return t.text == "(" })
		if open < 0 {
			return nil
		}
		in, _ := inner(s, on+open)
		unique = append(unique, firsts(in))
	}
	return t.across(name, unique)
}

// across returns those unique keys of a table which are over all conversations.
func (t tables) across(name string, unique [][]string) []string {
	begins := ""
	if name == "conversations" {
		begins = "id"
	} else if slices.Contains(t[name], "conversation_id") {
		begins = "conversation_id"
	}
	var out []string
	for _, key := range unique {
		if begins == "" || len(key) > 0 && key[0] == begins {
			continue
		}
		said := name + "(" + strings.Join(key, ", ") + ")"
		if _, ok := sharedKeys[said]; !ok {
			out = append(out, said)
		}
	}
	return out
}

// item is a column or a constraint of a table: it notes the column, and returns unique keys.
func (t tables) item(name string, item []sqlToken) [][]string {
	if len(item) == 0 {
		return nil
	}
	if next(item, 0, "constraint") {
		item = item[min(2, len(item)):]
	}
	for i := range item {
		isKey := next(item, i, "primary", "key") || next(item, i, "unique")
		if !isKey {
			continue
		}
		if i == 0 { // of the table
			open := slices.IndexFunc(item, func(t sqlToken) bool { return t.text == "(" })
			if open < 0 {
				return nil
			}
			in, _ := inner(item, open)
			return [][]string{firsts(in)}
		}
		t[name] = append(t[name], item[0].text)
		return [][]string{{item[0].text}}
	}
	if !slices.Contains([]string{"check", "foreign", "exclude", "like"}, item[0].text) {
		t[name] = append(t[name], item[0].text)
	}
	return nil
}

// firsts are the first words of the parts of a key: its columns.
func firsts(in []sqlToken) []string {
	var out []string
	for _, part := range commas(in) {
		if len(part) > 0 {
			out = append(out, part[0].text)
		}
	}
	return out
}

func TestSharedKeysAreNeeded(t *testing.T) {
	for _, key := range slices.Sorted(maps.Keys(sharedKeys)) {
		table, _, _ := strings.Cut(key, "(")
		if table == "" || sharedKeys[key] == "" {
			t.Errorf("%q has no table or no reason", key)
		}
	}
}
