package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// seedsFolder is where the five documents behind this project lie in a workplace
// that has them; they are no part of the repository.
const seedsFolder = "../../../shared/seeds"

// Real texts in Chinese, pasted as messages, folded, and asked about.
func TestSeeds(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(seedsFolder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Skipf("no documents in %s; put texts there to run this", seedsFolder)
	}
	slices.Sort(files)
	s := serve(t, t.TempDir(), nil, "--limit", "8000")
	id := s.conversation()
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for piece := range slices.Chunk([]rune(string(text)), 2500) {
			s.chat(id, "请保存这一段资料：\n"+string(piece))
		}
	}
	s.settled(id)
	m := get[scrollback.Manifest](s, fmt.Sprintf("/api/conversations/%s/context", id))
	if len(m.Excluded) == 0 || m.Tokens > m.Budget {
		t.Fatalf("the window has %d of %d tokens and leaves %d runs out", m.Tokens, m.Budget, len(m.Excluded))
	}
	for question, want := range map[string]string{
		"上下文占用了模型总容量的多少以上时，压缩流程被激活？":      "70%",
		"占位消息应尽量怎样，避免再占用上下文？":             "尽量小",
		"保存逻辑在哪里运行，避免阻塞 SSE？":             "ctx.waitUntil",
		"每个 Cell 的 role 元数据默认为什么？":        "'user'",
		"首次 read/tail/grep 访问时从哪里导出该段历史？": "SQLite",
	} {
		got := answer(t, s.chat(id, question))
		if !strings.Contains(got, "[#") || !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("asked %q: %s", question, got)
		}
	}
	hits := get[scrollback.SearchResult](s, "/api/search", "q", "占位消息", "conversation", string(id), "role", "user")
	if !slices.ContainsFunc(hits.Hits, func(h scrollback.Hit) bool {
		return h.Ref != nil && strings.Contains(h.Content, "占位消息")
	}) {
		t.Errorf("searching a Chinese word finds %d messages, none of them folded and with the word", len(hits.Hits))
	}
}
