package server_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

var quotedCode = regexp.MustCompile("`([^`]+)`")

// The guide to the API lists every operation with all its parameters and fields, every field of a chat
// and every code of an error.
func TestGuideOfTheAPI(t *testing.T) {
	r := newStrictRig(t)
	file, err := os.ReadFile("../../docs/guides/api.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(file)
	listed, turn, ok := strings.Cut(guide, "## A turn")
	if !ok {
		t.Fatal("the guide has no part about a turn")
	}
	for path, item := range r.api.Paths {
		for method, op := range item {
			var names []string
			for _, p := range op.Parameters {
				if p.In == "query" {
					names = append(names, p.Name)
				}
			}
			if op.RequestBody != nil && !strings.HasSuffix(path, "/chat") {
				if s := op.RequestBody.Content["application/json"].Schema; s != nil {
					names = append(names, slices.Sorted(maps.Keys(r.object(s).Properties))...)
				}
			}
			if row, missing := guideRow(listed, path, names); row == "" || len(missing) > 0 {
				t.Errorf("%s %s: the guide lacks %q in the row\n%sone that would do:\n| `%s %s` | %s: `{%s}` |", method, path, missing,
					row, strings.ToUpper(method), strings.Replace(path, "/api/conversations/{id}", "…/{id}", 1), op.Summary,
					strings.Join(names, ", "))
			}
		}
	}
	example, _, _ := strings.Cut(turn, "\n```\n")
	chat := r.object(r.api.Paths["/api/conversations/{id}/chat"]["post"].RequestBody.Content["application/json"].Schema)
	for name := range chat.Properties {
		if !strings.Contains(example, `"`+name+`"`) {
			t.Errorf("the example of a turn lacks %q", name)
		}
	}
	_, errors, _ := strings.Cut(guide, "## Errors")
	for _, c := range []scrollback.Code{scrollback.Invalid, scrollback.NotFound, scrollback.Conflict,
		scrollback.OverBudget,
		scrollback.Refused, scrollback.RateLimited, scrollback.Unavailable, scrollback.Canceled, scrollback.Internal} {
		if !strings.Contains(errors, "| `"+string(c)+"` |") {
			t.Errorf("the guide has no status of %s", c)
		}
	}
}

// The guide to the page lists every key of the page's own table, and no other.
func TestGuideOfThePage(t *testing.T) {
	table, err := os.ReadFile("webui/assets/state/keyboard.js")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../../docs/guides/page.md")
	if err != nil {
		t.Fatal(err)
	}
	_, guide, ok := strings.Cut(string(file), "## Keys")
	guide, _, ended := strings.Cut(guide, "\n## ")
	if !ok || !ended {
		t.Fatal("the guide has no part about keys")
	}
	want := map[string]bool{}
	entry := regexp.MustCompile(`\{ name: '\w+', (key|said): '([^']+)'(, mod: true)?(, shift: true)?`)
	for _, k := range entry.FindAllStringSubmatch(string(table), -1) {
		key := strings.ToUpper(k[2])
		switch {
		case k[1] == "said":
			key = strings.ReplaceAll(k[2], " ", "+")
		case k[4] != "":
			key = "Ctrl Shift " + key
		case k[3] != "":
			key = "Ctrl " + key
		}
		want[key] = true
	}
	if len(want) < 15 {
		t.Fatalf("the page's table has %d keys", len(want))
	}
	for row := range strings.Lines(guide) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for key := range strings.FieldsFuncSeq(cell, func(r rune) bool { return r == '`' || r == ',' || r == ' ' }) {
			if strings.HasPrefix(row, "| ") && key != "Ctrl" && key != "Shift" && key != "and" && key != "a" &&
				key != "number" &&
				key != "key" && key != "---" && !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(k string) bool {
				return k == key || strings.HasSuffix(k, " "+key)
			}) {
				t.Errorf("the page has no key %q: %s", key, row)
			}
		}
	}
	for key := range want {
		if !strings.Contains(guide, "`"+key+"`") && !strings.Contains(guide, key+",") && !strings.Contains(guide, ", "+key) {
			t.Errorf("the guide lacks the key %s", key)
		}
	}
}

// object returns the schema that another one may name.
func (r *strictRig) object(s *schema) *schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return r.api.Components.Schemas[name]
	}
	return s
}

// guideRow returns the row of a table that is about a path and names most, and what it does not name. A
// conversation's path is shortened there, and so is one that follows another.
func guideRow(listed, path string, names []string) (best string, missing []string) {
	short := strings.Replace(path, "/api/conversations/{id}", "…/{id}", 1)
	var spelled []string
	for p := short; ; {
		spelled = append(spelled, p)
		_, rest, _ := strings.Cut(strings.TrimPrefix(p, "…"), "/")
		_, rest, ok := strings.Cut(rest, "/")
		if !ok || rest == "" {
			break
		}
		p = "…/" + rest
	}
	missing = append(slices.Clone(names), path)
	for row := range strings.Lines(listed) {
		var codes []string
		for _, c := range quotedCode.FindAllStringSubmatch(row, -1) {
			codes = append(codes, c[1])
		}
		at := func(c string) bool {
			words := strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == '?' })
			return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(spelled, w) })
		}
		if !slices.ContainsFunc(codes, at) && !strings.Contains(row, path+"`") {
			continue
		}
		lacks := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			return regexp.MustCompile(`\b` + n + `\b`).MatchString(row)
		})
		if len(lacks) < len(missing) {
			best = row
			missing = lacks
		}
	}
	return best, missing
}
