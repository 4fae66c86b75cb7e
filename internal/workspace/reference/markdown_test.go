package reference

import (
	"fmt"
	"strings"
	"testing"
)

func TestMarkdownIsFollowed(t *testing.T) {
	root := top(t)
	fill(t, root, map[string]string{
		"a.md":          "@[docs/b.md] `@[no]` ![x](y.png) @[context_list{}] @c.txt",
		"docs/b.md":     "@[near.txt] @[c.txt] @[../up.md:1]",
		"docs/near.txt": "near",
		"c.txt":         "c @[docs/near.txt]", "up.md": "up @[c.txt]\n@[gone]", "docs/c.txt": "not this",
	})
	o := Options{Roots: []string{root}, Plain: true}
	want(t, "@[a.md] then @[c.txt]", o, fmt.Sprintf("file a.md = %q",
		"@[docs/b.md] `@[no]` ![x](y.png) @[context_list{}] @c.txt"),
		`file docs/b.md = "@[near.txt] @[c.txt] @[../up.md:1]"`, `file docs/near.txt @[near.txt] = "near"`,
		`file c.txt = "c @[docs/near.txt]"`,
		`file up.md:1 @[../up.md:1] = "up @[c.txt]"`)
}

func TestCircles(t *testing.T) {
	root := top(t)
	fill(t, root, map[string]string{"a.md": "A @[b.md]", "b.md": "B @[c.md] @[a.md] @[a.md:1]", "c.md": "C @[./b.md]",
		"self.md": "@[self.md]",
		"d1.md":   "@[d3.md]", "d2.md": "@[d3.md]", "d3.md": "3"})
	o := Options{Roots: []string{root}}
	want(t, "@[a.md] @[b.md]", o, `file a.md = "A @[b.md]"`,
		`file b.md = "B @[c.md] @[a.md] @[a.md:1]" (a circle: @[a.md] leads back to a.md and is not followed; `+
			`a circle: @[a.md:1] leads back to a.md and is not followed)`,
		`file c.md = "C @[./b.md]" (a circle: @[./b.md] leads back to b.md and is not followed)`)
	want(t, "@[self.md]", o,
		`file self.md = "@[self.md]" (a circle: @[self.md] leads back to self.md and is not followed)`)
	want(t, "@[d1.md] @[d2.md]", o, `file d1.md = "@[d3.md]"`, `file d3.md = "3"`, `file d2.md = "@[d3.md]"`)
}

func TestDepth(t *testing.T) {
	root := top(t)
	files := map[string]string{}
	for i := range 9 {
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("@[%d.md]", i+1)
	}
	fill(t, root, files)
	found := resolve(t, "@[0.md]", Options{Roots: []string{root}})
	if len(found) != 6 || found[5].Note != "its own references are not followed: more than 5 deep" || found[4].Note != "" {
		t.Errorf("found\n%s", shown(found))
	}
	found = resolve(t, "@[0.md]", Options{Roots: []string{root}, Limits: MarkLimits{Depth: 1}})
	if len(found) != 2 || !strings.Contains(found[1].Note, "more than 1 deep") {
		t.Errorf("found\n%s", shown(found))
	}
}

// What is too much is left out and said, once, however much it is.
func TestTooMany(t *testing.T) {
	root := top(t)
	files := map[string]string{}
	var text strings.Builder
	for i := range 12 {
		files[fmt.Sprintf("f%02d", i)] = "12345"
		fmt.Fprintf(&text, "@[f%02d] ", i)
	}
	files["many.md"] = text.String()
	fill(t, root, files)
	o := Options{Roots: []string{root}, Limits: MarkLimits{Files: 3}}
	want(t, text.String(), o, `file f00 = "12345"`, `file f01 = "12345"`, `file f02 = "12345"`,
		"file f03 ERROR left out, with 8 more: the limit of references is 3")
	want(t, "@[f11] @[many.md]", o, `file f11 = "12345"`, fmt.Sprintf("file many.md = %q", text.String()),
		`file f00 = "12345"`,
		"file f01 ERROR left out, with 10 more: the limit of references is 3")
	o.Limits = MarkLimits{TotalBytes: 12}
	want(t, "@[f00] @[f01] @[f02] @[f03]", o, `file f00 = "12345"`, `file f01 = "12345"`,
		"file f02 ERROR too large: 5 bytes, and of the 12 bytes for all references 2 bytes are left",
		"file f03 ERROR too large: 5 bytes, and of the 12 bytes for all references 2 bytes are left")
	// Names that are none are not looked for without end.
	o = Options{Roots: []string{root}, Plain: true, Limits: MarkLimits{Files: 1}}
	var names strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&names, "@nobody%d ", i)
	}
	want(t, names.String()+"@f00", o)
	want(t, "@f00 "+names.String(), o, `file f00 = "12345"`)
	want(t, names.String()+"@[f00]", o, "file f00 ERROR left out: the limit of references is 1")
	want(t, strings.Repeat("@[f00] @f00 ", 50_000), o, `file f00 = "12345"`)
}
