package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// archived is a served folder with one conversation whose past is folded, with a big
// text behind an artifact, and one that mentions none of it.
type archived struct {
	*served
	data                  string
	id, other             scrollback.ConversationID
	history, big, picture scrollback.Ref
}

func anArchive(t *testing.T) *archived {
	t.Helper()
	a := &archived{data: t.TempDir()}
	a.served = serve(t, a.data, nil, "--limit", "8000")
	a.id = a.conversation()
	a.other = a.conversation()
	a.chat(a.id, "The access code of the blue depot is 7F3K-221. 蓝色仓库的门禁码。")
	a.chat(a.id, strings.Repeat("Line of the harbour's log: 潮汐表 under the third bollard.\n", 2000))
	a.chat(a.other, "Nothing of it here.")
	a.settled(a.id)
	if status := a.do("POST", "/api/conversations/"+string(a.id)+"/clear", nil, nil); status != 200 {
		t.Fatalf("clear: %d", status)
	}
	var art scrollback.Artifact
	if status := a.do("POST", "/api/artifacts?name=x.png&conversation="+string(a.id),
		strings.NewReader("\x89PNG\r\n\x1a\n and no more"),
		&art); status != 201 {
		t.Fatalf("upload: %d", status)
	}
	a.picture = scrollback.ArtifactRef(art.ID)
	for _, r := range allRefs(a.served, a.id) {
		switch {
		case r.Kind == scrollback.RefHistory:
			a.history = r.Ref
		case r.Ref != a.picture:
			a.big = r.Ref
		}
	}
	return a
}

// overMCP calls a tool over MCP and answers its text.
func (a *archived) overMCP(tool string, args map[string]any) (text string, failed bool) {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args}})
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, a.url+"/mcp", bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	var out struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err != nil || json.Unmarshal(b, &out) != nil || len(out.Result.Content) != 1 {
		a.t.Fatalf("%s: %s %s, %v", tool, resp.Status, b, err)
	}
	return out.Result.Content[0].Text, out.Result.IsError
}

// answerOf returns an answer to be compared. A model gets hits in few tokens: of a search
// it is what was found, in order, and where it is read.
func answerOf(t *testing.T, tool, text string) any {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	switch tool {
	case "context_search":
	case "context_list":
		return refsIn(text)
	default:
		return whole
	}
	var found struct {
		Hits []struct {
			Seq           int64
			Role          string
			Content       string
			Ref           string
			Before, After []struct{ Seq int64 }
		}
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Hits) == 0 {
		t.Fatalf("%v in %s", err, text)
	}
	return found
}

// shownRef finds a ref in a list, whole or by its end.
var shownRef = regexp.MustCompile(`"((?:history|artifact):)[0-9a-f-]*([0-9a-f]{6})[" ]`)

// refsIn returns the refs of a list by their ends, sorted: models get them in another order,
// as lines.
func refsIn(text string) (out []string) {
	for _, m := range shownRef.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1]+m[2])
	}
	slices.Sort(out)
	return out
}

// The five operations answer the same JSON on the command line, over HTTP and over MCP;
// a search over MCP the same hits, and a list the same refs.
func TestSameOnEveryFace(t *testing.T) {
	t.Parallel()
	a := anArchive(t)
	id := string(a.id)
	at := "/api/conversations/" + id
	for _, c := range []struct {
		tool, path string
		cli        []string
		args       map[string]any
	}{
		{"context_list", at + "/refs?limit=2", []string{"context", "list", id, "--limit", "2"}, map[string]any{"limit": 2}},
		{"context_list", at + "/refs?kind=history", []string{"context", "list", id, "--kind", "history"},
			map[string]any{"kind": "history"}},
		{"context_read", at + "/refs/" + string(a.history) + "?offset=40&limit=500",
			[]string{"context", "read", string(a.history), "--offset", "40", "--bytes", "500"},
			map[string]any{"ref": a.history, "offset": 40, "limit": 500}},
		{"context_read", at + "/refs/" + string(a.big) + "?offset=31&limit=1000",
			[]string{"context", "read", string(a.big), "--offset", "31", "--limit", "1000"},
			map[string]any{"ref": a.big, "offset": 31, "limit": 1000}},
		{"context_tail", at + "/refs/" + string(a.big) + "/tail?lines=3",
			[]string{"context", "tail", string(a.big), "--lines", "3"},
			map[string]any{"ref": a.big, "lines": 3}},
		{"context_read", at + "/refs/1", []string{"context", "read", id, "1", "--limit", "8192"},
			map[string]any{"ref": 1}},
		{"context_read", at + "/refs/%231-%233?offset=40&limit=500",
			[]string{"context", "read", id, "#1-#3", "--offset", "40", "--bytes", "500"},
			map[string]any{"ref": "#1–#3", "offset": 40, "limit": 500}},
		{"context_tail", at + "/refs/2-3/tail?lines=3", []string{"context", "tail", id, "2-3", "--lines", "3"},
			map[string]any{"ref": "2-3", "lines": 3}},
		{"context_grep", at + "/grep?pattern=.&max_results=2&ref=%232-3",
			[]string{"context", "grep", id, ".", "--max", "2", "--ref", "2-3"},
			map[string]any{"pattern": ".", "max_results": 2, "ref": "#2-#3"}},
		{"context_grep", at + "/grep?pattern=7f3k&context_lines=1", []string{"context", "grep", id, "7f3k", "--lines", "1"},
			map[string]any{"pattern": "7f3k", "context_lines": 1}},
		{"context_grep", at + "/grep?pattern=third+bollard&max_results=2",
			[]string{"context", "grep", id, "third bollard", "--max", "2"},
			map[string]any{"pattern": "third bollard", "max_results": 2}},
		{"context_grep", at + "/grep?case_sensitive=true&pattern=LINE&ref=" + string(a.big),
			[]string{"context", "grep", id, "LINE", "--case-sensitive", "--ref", string(a.big)},
			map[string]any{"pattern": "LINE", "case_sensitive": true, "ref": a.big}},
		{"context_search", "/api/search?q=access+code&limit=2&conversation=" + id,
			[]string{"search", "access code", "--limit", "2", "--conversation", id},
			map[string]any{"query": "access code", "limit": 2}},
	} {
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(a.raw(c.path))); err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		want := compact.String()
		if strings.Contains(want, `"error"`) || len(want) < 20 {
			t.Fatalf("%s answers %s", c.path, want)
		}
		if got := strings.TrimSpace(output(t, a.data, append(c.cli, "--json")...)); got != want {
			t.Errorf("%v answers otherwise than %s:\n%s", c.cli, c.path, cmp.Diff(want, got))
		}
		c.args["conversation"] = id
		got, failed := a.overMCP(c.tool, c.args)
		plain := answerOf(t, c.tool, got)
		other := answerOf(t, c.tool, want)
		if failed || cmp.Diff(other, plain) != "" {
			t.Errorf("%s answers otherwise than %s:\n%s", c.tool, c.path, cmp.Diff(want, got))
		}
	}
}

// Bad input is told in the same words by every face, with the code of each.
func TestBadInputOnEveryFace(t *testing.T) {
	t.Parallel()
	a := anArchive(t)
	id := string(a.id)
	other := string(a.other)
	typo := string(a.history[:len(a.history)-1]) + "0"
	if typo == string(a.history) {
		typo = string(a.history[:len(a.history)-1]) + "1"
	}
	const nobody = "history:00000000-0000-4000-8000-000000000000"
	for _, c := range []struct {
		what   string
		status int
		exit   int // of the command; -1 where the operator's command does not tell conversations apart
		says   string
		path   string
		cli    []string
		tool   string
		args   map[string]any
	}{
		{"an unknown ref", 404, 3, "mentions", "/refs/" + nobody, []string{"context", "read", nobody}, "context_read",
			map[string]any{"ref": nobody}},
		{"a ref that is nearly known", 404, 3, "the nearest is " + string(a.history), "/refs/" + typo,
			[]string{"context", "read", typo},
			"context_read", map[string]any{"ref": typo}},
		{"a ref that is nearly known, its end", 404, 3, "the nearest is " + string(a.history), "/refs/" + typo + "/tail",
			[]string{"context", "tail", typo}, "context_tail", map[string]any{"ref": typo}},
		{"a ref that is nearly known, grepped", 404, 3, "the nearest is " + string(a.history), "/grep?pattern=x&ref=" + typo,
			[]string{"context", "grep", id, "x", "--ref", typo},
			"context_grep", map[string]any{"pattern": "x", "ref": typo}},
		{"no ref", 400, 2, "is not a ref", "/refs/nonsense", []string{"context", "read", "nonsense"}, "context_read",
			map[string]any{"ref": "nonsense"}},
		{"a number past the end", 404, 3, "there is no message #999: this conversation has the messages #1 to #",
			"/refs/999", []string{"context", "read", id, "999"}, "context_read", map[string]any{"ref": "#999"}},
		{"a range past the end", 404, 3, "there is no message #999: this conversation has the messages #1 to #",
			"/refs/2-999/tail", []string{"context", "tail", id, "2-999"}, "context_tail", map[string]any{"ref": "2-999"}},
		{"a range past the end, grepped", 404, 3, "there is no message #999", "/grep?pattern=x&ref=2-999",
			[]string{"context", "grep", id, "x", "--ref", "2-999"},
			"context_grep", map[string]any{"pattern": "x", "ref": "2-999"}},
		{"no number", 400, 2, `"#0" is not a ref (history:<id>, artifact:<id>), and names no messages (392, 392-410): ` +
			"this conversation has #1 to #", "/refs/%230", []string{"context", "read", id, "#0"},
			"context_read", map[string]any{"ref": "#0"}},
		{"a range that goes backwards", 400, 2, "names no messages", "/refs/3-1", []string{"context", "read", id, "3-1"},
			"context_read", map[string]any{"ref": "3-1"}},
		{"an offset past the end", 400, 2, "past the end", "/refs/" + string(a.history) + "?offset=999999",
			[]string{"context", "read", string(a.history), "--offset", "999999"},
			"context_read", map[string]any{"ref": a.history, "offset": 999999}},
		{"a negative offset", 400, 2, "negative", "/refs/" + string(a.history) + "?offset=-1",
			[]string{"context", "read", string(a.history), "--offset=-1"},
			"context_read", map[string]any{"ref": a.history, "offset": -1}},
		{"a page too long", 400, 2, "limit must be 1 to 65536", "/refs/" + string(a.history) + "?limit=65537",
			[]string{"context", "read", string(a.history), "--bytes", "65537"},
			"context_read", map[string]any{"ref": a.history, "limit": 65537}},
		{"a page of less than nothing", 400, 2, "limit must be 1 to 65536", "/refs/" + string(a.history) + "?limit=-1",
			[]string{"context", "read", string(a.history), "--bytes=-1"},
			"context_read", map[string]any{"ref": a.history, "limit": -1}},
		{"too many lines", 400, 2, "lines must be 1 to 2000", "/refs/" + string(a.history) + "/tail?lines=2001",
			[]string{"context", "tail", string(a.history), "--lines", "2001"},
			"context_tail", map[string]any{"ref": a.history, "lines": 2001}},
		{"no regular expression", 400, 2, "missing closing )", "/grep?pattern=a%28b", []string{"context", "grep", id, "a(b"},
			"context_grep",
			map[string]any{"pattern": "a(b"}},
		{"what RE2 has not", 400, 2, "invalid or unsupported Perl syntax: `(?=`", "/grep?pattern=a%28%3F%3Db%29",
			[]string{"context", "grep", id, "a(?=b)"}, "context_grep", map[string]any{"pattern": "a(?=b)"}},
		{"a pattern too long", 400, 2, "at most 1000", "/grep?pattern=" + strings.Repeat("a", 1001),
			[]string{"context", "grep", id, strings.Repeat("a", 1001)},
			"context_grep", map[string]any{"pattern": strings.Repeat("a", 1001)}},
		{"too many matches", 400, 2, "max_results must be 1 to 200", "/grep?pattern=x&max_results=201",
			[]string{"context", "grep", id, "x", "--max", "201"},
			"context_grep", map[string]any{"pattern": "x", "max_results": 201}},
		{"too many lines around", 400, 2, "context_lines must be 0 to 20", "/grep?pattern=x&context_lines=21",
			[]string{"context", "grep", id, "x", "--lines", "21"},
			"context_grep", map[string]any{"pattern": "x", "context_lines": 21}},
		{"a list too long", 400, 2, "limit must be 1 to 200", "/refs?limit=201",
			[]string{"context", "list", id, "--max", "201"}, "context_list",
			map[string]any{"limit": 201}},
		{"a kind there is not", 400, 2, "history or artifact", "/refs?kind=page",
			[]string{"context", "list", id, "--kind", "page"},
			"context_list", map[string]any{"kind": "page"}},
		{"a cursor of nobody's", 400, 2, "cursor", "/refs?cursor=zzz", []string{"context", "list", id, "--cursor", "zzz"},
			"context_list",
			map[string]any{"cursor": "zzz"}},
		{"no text", 400, 2, "not text: image/png", "/refs/" + string(a.picture),
			[]string{"context", "read", string(a.picture)}, "context_read",
			map[string]any{"ref": a.picture}},
	} {
		a.refused(c.what, "/api/conversations/"+id+c.path, c.status, c.says)
		code, _, errs := inside(t, a.data, c.cli...)
		if code != c.exit || !strings.Contains(errs, c.says) {
			t.Errorf("%s: %v exits %d, want %d: %s", c.what, c.cli, code, c.exit, errs)
		}
		c.args["conversation"] = id
		if text, failed := a.overMCP(c.tool, c.args); !failed || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s answers (failed: %v) %s", c.what, c.tool, failed, text)
		}
	}
	// What another conversation mentions does not exist, and is not hinted at.
	for _, ref := range []scrollback.Ref{a.history, a.big, a.picture, scrollback.Ref(typo)} {
		for _, path := range []string{"/refs/" + string(ref), "/refs/" + string(ref) + "/tail",
			"/grep?pattern=x&ref=" + string(ref)} {
			if told := a.refused("another conversation's", "/api/conversations/"+other+path, 404,
				"mentions no "+string(ref)); strings.Contains(told,
				"nearest") {
				t.Errorf("%s hints at what another conversation mentions: %s", path, told)
			}
		}
		if text, failed := a.overMCP("context_read", map[string]any{"conversation": other, "ref": ref}); !failed ||
			!strings.Contains(text, "mentions no") || strings.Contains(text, "nearest") {
			t.Errorf("over MCP another conversation's %s is %s", ref, text)
		}
		if code, _, errs := inside(t, a.data, "context", "grep", other, "x", "--ref", string(ref)); code != 3 ||
			strings.Contains(errs, "nearest") {
			t.Errorf("on the command line another conversation's %s: exit %d, %s", ref, code, errs)
		}
	}
	_, sha, _ := a.picture.Split()
	a.refused("another conversation's artifact", "/api/artifacts/"+sha+"?conversation="+other, 404, "mentions no")
	if told := a.refused("an unknown artifact", "/api/artifacts/"+sha[:63]+"g", 400,
		"is not a ref"); strings.Contains(told, sha) {
		t.Errorf("an artifact of some conversation is hinted at: %s", told)
	}
	if told := a.refused("an unknown artifact", "/api/artifacts/"+strings.Repeat("0", 64), 404,
		"no such artifact"); strings.Contains(told,
		sha) {
		t.Errorf("an artifact of some conversation is hinted at: %s", told)
	}
}

// refused gets a path that must be answered by an error, and answers its message.
func (a *archived) refused(what, path string, status int, says string) string {
	a.t.Helper()
	var e struct {
		Error struct{ Code, Message string }
	}
	if got := a.do("GET", path, nil, &e); got != status || !strings.Contains(e.Error.Message, says) {
		a.t.Errorf("%s: %s answers %d %+v, want %d about %q", what, path, got, e.Error, status, says)
	}
	return e.Error.Message
}

// An attachment over the limit is refused with the limit, and nothing of it stays; the
// same bytes are kept once, no matter who attaches them.
func TestAttachmentOverTheLimit(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	s := serve(t, data, nil)
	id := s.conversation()
	var e struct {
		ID    string
		Error struct{ Code, Message string }
	}
	big := make([]byte, 20<<20+1)
	if status := s.do("POST", "/api/artifacts?conversation="+string(id), bytes.NewReader(big), &e); status != 413 ||
		!strings.Contains(e.Error.Message, "20971520") {
		t.Errorf("over HTTP: %d %+v", status, e.Error)
	}
	if status := s.do("POST", "/api/artifacts?conversation="+string(id), bytes.NewReader(big[1:]), &e); status != 201 ||
		e.ID == "" {
		t.Errorf("one byte less: %d %+v", status, e)
	}
	if status := s.do("POST", "/api/artifacts?name=again&conversation="+string(s.conversation()), bytes.NewReader(big[1:]),
		nil); status != 201 {
		t.Errorf("the same for another conversation: %d", status)
	}
	if kept := objectFiles(t, data); len(kept) != 1 {
		t.Errorf("%d objects are kept", len(kept))
	}
	file := filepath.Join(t.TempDir(), "big.jsonl")
	var b strings.Builder
	b.WriteString(`{"role":"user","content":"before"}` + "\n" +
		`{"role":"user","content":[{"type":"file","name":"big","data":"`)
	b.WriteString(strings.Repeat("AAAA", 7<<20))
	b.WriteString("\"}]}\n")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := inside(t, data, "import", file, "--json")
	if !strings.Contains(out+errs, "20971520") {
		t.Errorf("on the command line: exit %d, %.300s%.300s", code, out, errs)
	}
	if kept := objectFiles(t, data); len(kept) != 1 {
		t.Errorf("%d objects are kept", len(kept))
	}
}

// A message that was changed behind our back makes its segment unreadable on every
// face, and the doctor names it; what is next to it is served as ever.
func TestChangedBehindOurBack(t *testing.T) {
	t.Parallel()
	a := anArchive(t)
	at := "/api/conversations/" + string(a.id)
	a.chat(a.id, "Something said later.")
	if status := a.do("POST", at+"/clear", nil, nil); status != 200 {
		t.Fatalf("clear: %d", status)
	}
	var hit, sound scrollback.Ref
	for _, r := range allRefs(a.served, a.id) {
		if r.Kind == scrollback.RefHistory && r.FirstSeq == 1 {
			hit = r.Ref
		} else if r.Kind == scrollback.RefHistory {
			sound = r.Ref
		}
	}
	raw(t, a.data,
		`UPDATE messages SET parts = replace(parts, '7F3K-221', '7F3K-222') WHERE seq = 1 AND conversation_id = '`+
			string(a.id)+`'`)
	if err := os.RemoveAll(filepath.Join(a.data, "context")); err != nil {
		t.Fatal(err)
	}
	a.refused("the segment", at+"/refs/"+string(hit), 500, "internal error")
	a.refused("its end", at+"/refs/"+string(hit)+"/tail", 500, "internal error")
	a.refused("a grep of it", at+"/grep?pattern=7F3K&ref="+url.QueryEscape(string(hit)), 500, "internal error")
	if code, out, errs := inside(t, a.data, "context", "read", string(hit)); code != 1 || out != "" {
		t.Errorf("the command exits %d: %s%s", code, out, errs)
	}
	if text, failed := a.overMCP("context_read", map[string]any{"conversation": a.id, "ref": hit}); !failed ||
		strings.Contains(text, "7F3K") {
		t.Errorf("over MCP: %s", text)
	}
	if page := get[scrollback.Page](a.served, at+"/refs/"+string(sound)); !strings.Contains(page.Content,
		"Something said later") {
		t.Errorf("its neighbour reads %q", page.Content)
	}
	code, c := checkup(t, a.data)
	_, seg, _ := hit.Split()
	named := false
	for _, p := range c.Problems {
		named = named || strings.Contains(fmt.Sprint(p.Where, p.Detail), seg)
	}
	if code != 1 || c.OK || !named {
		t.Errorf("doctor exits %d and finds %+v", code, c.Problems)
	}
}
