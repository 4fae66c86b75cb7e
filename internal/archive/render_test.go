package archive_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const sha = scrollback.ArtifactID("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")

// everything returns a log with every kind of part in it.
func everything() *book {
	b := &book{}
	b.say(text("Fix the 日志 rotation.\n\n```\nunclosed"),
		scrollback.Image{Artifact: sha, MediaType: "image/png", Name: "a\nb.png", Size: 12,
			Width: 3, Height: 4})
	m := b.say(scrollback.Reasoning{Text: "think ```` hard"}, text("I look."),
		scrollback.ToolCall{ID: "call_1", Name: "read", Arguments: json.RawMessage(`{"path": "a.go",  "n":1}`)})
	m.Model = "openai/gpt-x"
	m.Status = scrollback.StatusInterrupted
	b.say(scrollback.ToolResult{CallID: "call_1", Name: "read", Text: "package a\n", IsError: true},
		scrollback.ToolResult{CallID: "call_2", Name: "make", Text: "head…tail", Artifact: sha},
		scrollback.ToolResult{CallID: "call_3", Name: "context_grep", Text: "needle", Recall: true})
	b.say(scrollback.File{Artifact: sha, MediaType: "text/csv", Name: "t.csv", Size: 99}).Name = "ann"
	return b
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("%s differs; this renderer may never change:\n%s", name, got)
	}
}

func TestRenderingOneIsForEver(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 3)
	b.fold(t, "0b", 4, 4)
	b.roll(t, "0c", 1, "0a", "0b")
	golden(t, "leaf.md", b.file(t, "0a"))
	golden(t, "file.md", b.file(t, "0b"))
	golden(t, "table.md", b.file(t, "0c"))
}

// What a table says of its segments tells them apart, whatever their summaries have in common.
func TestTableTellsSegmentsApart(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 3)
	b.fold(t, "0b", 4, 4)
	for id, said := range map[scrollback.SegmentID]string{"0a": "the first | of all", "0b": "the second"} {
		seg := b.segs[id]
		seg.Summary = "## Goal\nthe same goal"
		seg.Placeholder = "Messages #1–#4 are folded\nTools: read\n- #3 user: " + said + "\n- #3 user: more"
		b.segs[id] = seg
	}
	b.roll(t, "0c", 1, "0a", "0b")
	got := b.file(t, "0c")
	for _, want := range []string{`| #3 user: the first \| of all |`, `| #3 user: the second |`} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q: %s", want, got)
		}
	}
	var old bytes.Buffer
	must(t, archive.RenderTable(&old, 1, b.segs["0c"], []scrollback.Segment{b.segs["0a"], b.segs["0b"]}))
	if strings.Count(old.String(), "| the same goal |") != 2 {
		t.Errorf("the table by renderer 1 has changed: %s", old.String())
	}
}

func TestRenderAgreesWithMeasure(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 4)
	b.roll(t, "0c", 1, "0a")
	var leaf, table bytes.Buffer
	must(t, archive.Render(&leaf, 1, b.segs["0a"], b.ms))
	must(t, archive.RenderTable(&table, 1, b.segs["0c"], []scrollback.Segment{b.segs["0a"]}))
	if leaf.String() != b.file(t, "0a") || table.String() != b.file(t, "0c") {
		t.Error("Render and the file differ")
	}
	wantCode(t, archive.Render(&leaf, 99, b.segs["0a"], b.ms), scrollback.Internal, "no renderer 99")
	wantCode(t, archive.RenderTable(&leaf, 99, b.segs["0a"], nil), scrollback.Internal, "no renderer 99")
}

func TestEveryKindOfPartIsRendered(t *testing.T) {
	for _, kind := range scrollback.PartTypes() {
		var ps scrollback.Parts
		must(t, json.Unmarshal([]byte(`[{"type":"`+kind+`","text":"marker","name":"marker","arguments":{}}]`), &ps))
		b := &book{}
		b.say(ps...)
		b.fold(t, "0a", 1, 1)
		if !strings.Contains(b.file(t, "0a"), "marker") {
			t.Errorf("%s leaves no trace", kind)
		}
	}
}

func TestTextsAreVerbatim(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringMatching("[a`~#\\n\\r中 |]{0,60}").Draw(r, "text")
		b := &book{}
		args, _ := json.Marshal(s)
		b.say(text(s), scrollback.ToolCall{Name: "f", Arguments: args}, scrollback.Reasoning{Text: s},
			scrollback.ToolResult{Text: s})
		var buf bytes.Buffer
		if err := archive.Render(&buf, 1, scrollback.Segment{}, b.ms); err != nil {
			r.Fatal(err)
		}
		if strings.Count(buf.String(), s) < 3 || !strings.Contains(buf.String(), string(args)) {
			r.Fatalf("%q is not verbatim in\n%s", s, buf.String())
		}
	})
}

// Arguments are shown as they read, in files, live and by number, and are found so; what was folded before keeps
// its bytes.
func TestArgumentsAreShownPlainly(t *testing.T) {
	b := &book{}
	m := b.say(scrollback.ToolCall{ID: "c", Name: "sh", Arguments: json.RawMessage(
		`{"cmd":"a \u0026\u0026 b \u003e\/c \u4e2d\""}`)},
		scrollback.ToolCall{ID: "d", Name: "context_grep", Arguments: json.RawMessage(`{"pattern":"x\u0026y"}`)})
	m.Role = scrollback.RoleAssistant
	b.fold(t, "0a", 1, 1)
	const shown, stored = `{"cmd":"a && b >/c 中\""}`, `{"cmd":"a \u0026\u0026 b \u003e\/c \u4e2d\""}`
	if got := b.file(t, "0a"); !strings.Contains(got, shown) || strings.Contains(got, `\u0026`) ||
		!strings.Contains(got, `{"pattern":"x&y"}`) {
		t.Errorf("the file has %s", got)
	}
	var old bytes.Buffer
	must(t, archive.Render(&old, 1, b.segs["0a"], b.ms))
	if !strings.Contains(old.String(), stored) {
		t.Errorf("the file by renderer 1 has changed: %s", old.String())
	}
	a := archive.New(b, bucket(t), nil)
	page, err := a.ReadNumbered(t.Context(),
		archive.Numbered{Branch: branch, Numbers: scrollback.Numbers{First: 1, Last: 1}}, 0, 0)
	if err != nil || !strings.Contains(page.Content, shown) || page.Ref != "#1" {
		t.Errorf("#1 reads %+v, %v", page, err)
	}
	for _, scope := range []archive.Scope{{Stretches: []archive.Stretch{{Segment: "0a"}}},
		{Stretches: []archive.Stretch{{Branch: branch, From: 1, To: 1}}}} {
		for range 2 {
			found, err := a.Grep(t.Context(), scope, scrollback.GrepQuery{Pattern: `a && b >/c 中`})
			if err != nil || found.Total != 1 || !strings.Contains(found.Matches[0].Content, "a && b") {
				t.Errorf("%+v finds %+v, %v", scope, found, err)
			}
		}
	}
}
