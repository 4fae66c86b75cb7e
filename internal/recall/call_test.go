package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func TestRecallAnswersAreBounded(t *testing.T) {
	long := strings.Repeat(strings.Repeat("the needle lies in line after line of hay and hay 针 ", 12)+"\n", 40)
	steps := []modeltest.Step{modeltest.Say("ok"), modeltest.Say("ok"), modeltest.Say("ok")}
	for _, c := range []scrollback.ToolCall{
		enginetest.Call("r1", "context_search", `{"query":"needle","limit":20,"around":5}`),
		enginetest.Call("r2", "context_grep", `{"pattern":"needle","max_results":200,"context_lines":20}`),
		enginetest.Call("r3", "context_list", `{}`),
		enginetest.Call("r4", "context_search", `{"query":"needle","bogus":1}`),
		enginetest.Call("r5", "context_read", `{"ref":"history:00000000-0000-7000-8000-000000000000"}`),
		enginetest.Call("r6", "nonsense", `{}`),
	} {
		steps = append(steps, modeltest.Call(c))
	}
	r := enginetest.New(t, enginetest.Options{}, append(steps, modeltest.Say("done"))...)
	id := r.NewConversation()
	for range 3 {
		r.Ask(id, strings.ToValidUTF8(long[:4000], "")).WantDone(t, scrollback.TurnComplete, "stop")
	}
	r.Ask(id, "look it up").WantDone(t, scrollback.TurnComplete, "stop")
	failed := map[string]bool{}
	for _, m := range r.Log(id) {
		for _, res := range m.Parts.Results() {
			failed[res.CallID] = res.IsError
			if w := r.Store.WeighParts(scrollback.Parts{res}, nil); len(res.Text) > 16<<10 || w.Tokens > 6000*15/100+40 {
				t.Errorf("%s is %d bytes and %d tokens", res.CallID, len(res.Text), w.Tokens)
			}
			if !res.IsError && !json.Valid([]byte(res.Text)) {
				t.Errorf("%s is no JSON: %.80s", res.CallID, res.Text)
			}
		}
	}
	for id, want := range map[string]bool{"r1": false, "r2": false, "r3": false, "r4": true, "r5": true, "r6": true} {
		if failed[id] != want {
			t.Errorf("%s failed: %v, want %v", id, failed[id], want)
		}
	}
}

// A model that reads a big original gets pages within its room, whatever it asks for,
// and by their offsets they join to the exact bytes; so does the end of it. Eight
// look-ups are no more than it may make: the turn ends as any other.
func TestRecallPagesJoin(t *testing.T) {
	whole := strings.Repeat("行 line of output, \"quoted\" & <marked>\n", 400)
	var ref scrollback.Ref
	var pages []scrollback.Page
	var tail scrollback.Tail
	step := modeltest.Step{Reply: func(r model.Request) []model.Delta {
		last := r.Items[len(r.Items)-1]
		ask := func(name, args string) []model.Delta {
			c := enginetest.Call(fmt.Sprint("r", len(pages)), name, args)
			return []model.Delta{{Call: &c}}
		}
		if res := last.Parts.Results(); len(res) == 1 && res[0].Name == "context_read" {
			var p scrollback.Page
			if err := json.Unmarshal([]byte(res[0].Text), &p); err != nil || res[0].IsError {
				t.Errorf("a page is %s (%v)", res[0].Text, err)
				return []model.Delta{{Text: "no page"}}
			}
			if pages = append(pages, p); len(pages) == 7 || p.Done {
				return ask("context_tail", fmt.Sprintf(`{"ref":%q,"lines":2000}`, ref))
			}
			return ask("context_read", fmt.Sprintf(`{"ref":%q,"offset":%d,"limit":65536}`, ref, p.NextOffset))
		} else if len(res) == 1 && res[0].Name == "context_tail" {
			if err := json.Unmarshal([]byte(res[0].Text), &tail); err != nil {
				t.Errorf("the end is %s", res[0].Text)
			}
			return []model.Delta{{Text: "read"}}
		}
		return ask("context_read", fmt.Sprintf(`{"ref":%q,"limit":65536}`, ref))
	}}
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	a, err := r.Upload(context.Background(), id, strings.NewReader(whole), "out.txt")
	if err != nil {
		t.Fatal(err)
	}
	ref = scrollback.ArtifactRef(a.ID)
	r.Ask(id, "read it all").WantDone(t, scrollback.TurnComplete, "stop")
	joined := ""
	for _, p := range pages {
		joined += p.Content
	}
	if len(pages) != 7 || !strings.HasPrefix(whole, joined) || len(joined) < 7*500 ||
		pages[6].NextOffset != int64(len(joined)) {
		t.Errorf("%d pages of %d bytes do not begin the original", len(pages), len(joined))
	}
	if tail.Content == "" || !strings.HasSuffix(whole, tail.Content) || strings.Count(tail.Content, "\n") != tail.Lines {
		t.Errorf("the end has %d lines, %d bytes", tail.Lines, len(tail.Content))
	}
	for _, m := range r.Log(id) {
		for _, res := range m.Parts.Results() {
			if w := r.Store.WeighParts(scrollback.Parts{res}, nil); len(res.Text) > 16<<10 || w.Tokens > 6000*15/100+40 ||
				!res.Recall {
				t.Errorf("a look-up's answer has %d bytes and %d tokens", len(res.Text), w.Tokens)
			}
		}
	}
}

// A model gets hits in few tokens: no message twice, the stretch of a long one that
// matches, and more of it the fewer it asks for.
func TestRecallSearchIsBrief(t *testing.T) {
	long := strings.Repeat("hay and hay and hay. ", 150) + "The needle is under the blue mat. " +
		strings.Repeat("More hay. ", 150)
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("The needle it is."), modeltest.Say("A needle again."),
		modeltest.Say("ok"))
	id := r.NewConversation()
	for _, text := range []string{"a needle", long, "straw"} {
		r.Ask(id, text).WantDone(t, scrollback.TurnComplete, "stop")
	}
	search := func(args string) (out struct {
		Hits []struct {
			Seq           int64
			Role          scrollback.Role
			Date, Content string
			Before, After []struct {
				Seq     int64
				Content string
			}
			MessageID string `json:"message_id"`
		}
	}) {
		t.Helper()
		text, err := r.RunTool(context.Background(), id, "context_search", json.RawMessage(args), recall.RoomMax)
		if err == nil {
			err = json.Unmarshal([]byte(text), &out)
		}
		if err != nil {
			t.Fatalf("%s: %v in %s", args, err, text)
		}
		return out
	}
	seen := map[int64]int{}
	for _, h := range search(`{"query":"needle"}`).Hits {
		if seen[h.Seq]++; h.Date == "" || h.MessageID != "" || len([]rune(h.Content)) > 801 {
			t.Errorf("a hit is %+v", h)
		}
		if h.Seq == 3 && !strings.Contains(h.Content, "under the blue mat") {
			t.Errorf("of a long message there is %q", h.Content)
		}
		for _, n := range append(h.Before, h.After...) {
			seen[n.Seq]++
		}
	}
	for seq := int64(1); seq <= 5; seq++ {
		if seen[seq] != 1 {
			t.Errorf("message %d is told %d times", seq, seen[seq])
		}
	}
	if one := search(`{"query":"\"blue mat\"","limit":1,"around":0}`).Hits; len(one) != 1 ||
		len([]rune(one[0].Content)) < 3000 {
		t.Errorf("of the only one that is asked for there is %+v", one)
	}
	var seqs []int64
	for _, h := range search(`{"query":"needle","order":"time","around":0}`).Hits {
		seqs = append(seqs, h.Seq)
	}
	if !slices.IsSorted(seqs) || len(seqs) != 4 {
		t.Errorf("in order of time: %v", seqs)
	}
	_, err := r.RunTool(context.Background(), id, "context_search", json.RawMessage(`{"query":"needle","order":"size"}`),
		recall.RoomMax)
	enginetest.WantCode(t, err, scrollback.Invalid, "order must be")
	_, err = r.RunTool(context.Background(), id, "context_search", json.RawMessage(`{"query":"needle after:2026-02-31"}`),
		recall.RoomMax)
	enginetest.WantCode(t, err, scrollback.Invalid, "names no day")
}

// By their offsets the pages of an original join to it, of characters of any length.
func TestReadPagesJoin(t *testing.T) {
	whole := strings.Repeat("a行🌊\"\\\n<b>\x01", 150)
	r := enginetest.New(t, enginetest.Options{})
	id := r.NewConversation()
	a, err := r.Upload(t.Context(), id, strings.NewReader(whole), "out.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []recall.Room{{Bytes: 300, Tokens: 1 << 20}, {Bytes: 1 << 20, Tokens: 170},
		{Bytes: 1000, Tokens: 1000},
		recall.RoomMax} {
		joined := ""
		pages := 0
		for page := (scrollback.Page{}); !page.Done; pages++ {
			args := fmt.Sprintf(`{"ref":%q,"offset":%d,"limit":65536}`, scrollback.ArtifactRef(a.ID), page.NextOffset)
			text, err := r.RunTool(t.Context(), id, "context_read", json.RawMessage(args), room)
			page = scrollback.Page{}
			if err == nil {
				err = json.Unmarshal([]byte(text), &page)
			}
			if err != nil || len(text) > room.Bytes || page.Content == "" || page.Offset != int64(len(joined)) {
				t.Fatalf("%+v at %d: %s, %v", room, len(joined), text, err)
			}
			joined += page.Content
		}
		if joined != whole || (pages == 1) != (room == recall.RoomMax) {
			t.Errorf("%+v: %d pages join to %d bytes of %d", room, pages, len(joined), len(whole))
		}
	}
}

// Where there is little room, the best hit is shortened around what was asked for rather than
// refused.
func TestTheBestHitFits(t *testing.T) {
	long := strings.Repeat("一段关于天气和道路的长长的记录，写了很多行。\n", 80) + "钥匙藏在蓝色的垫子下面。" +
		strings.Repeat("后面还有别的事情要记下来。\n", 80)
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("好"))
	id := r.NewConversation()
	r.Ask(id, long).WantDone(t, scrollback.TurnComplete, "stop")
	for _, tokens := range []int64{120, 300, 900} {
		room := recall.Room{Bytes: 16 << 10, Tokens: tokens}
		text, err := r.RunTool(t.Context(), id, "context_search", json.RawMessage(`{"query":"钥匙 垫子","limit":5}`), room)
		var out struct{ Hits []struct{ Content string } }
		if err == nil {
			err = json.Unmarshal([]byte(text), &out)
		}
		if err != nil || len(out.Hits) != 1 || !strings.Contains(out.Hits[0].Content, "蓝色的垫子") {
			t.Errorf("in %d tokens: %s, %v", tokens, text, err)
		}
	}
}

// A model lists what is kept, page by page where it has no room for all, and cannot change it.
func TestModelListsWhatIsKept(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("noted"))
	id := r.NewConversation()
	r.Ask(id, "Never push to main. TODO: water the plants.").WantDone(t, scrollback.TurnComplete, "stop")
	type entry struct {
		Kind, Text, State string
		Seq               int64
	}
	list := func(args string, room recall.Room) (out []entry, next string) {
		t.Helper()
		text, err := r.Recall().RunTool(t.Context(), id, "context_kept", json.RawMessage(args), room)
		must(t, err)
		var got struct {
			Kept []entry
			Next string
		}
		must(t, json.Unmarshal([]byte(text), &got))
		return got.Kept, got.Next
	}
	same := func(got []entry, want ...entry) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("kept is %+v, want %+v", got, want)
		}
	}
	todo := entry{"todo", "TODO: water the plants.", "", 1}
	rule := entry{"instruction", "Never push to main.", "", 1}
	all, next := list(`{}`, recall.RoomMax)
	if same(all, todo, rule); next != "" {
		t.Errorf("there is a next page at %q", next)
	}
	small := recall.Room{Bytes: 100, Tokens: 100}
	first, next := list(`{}`, small)
	same(first, todo)
	second, next := list(`{"cursor":"`+next+`"}`, small)
	if same(second, rule); next != "" {
		t.Errorf("behind the last page there is one at %q", next)
	}
	kept, err := r.Kept().List(t.Context(), id, false)
	must(t, err)
	_, err = r.Kept().SetState(t.Context(), id, kept[0].ID, scrollback.KeptDone)
	must(t, err)
	left, _ := list(`{}`, recall.RoomMax)
	same(left, rule)
	whole, _ := list(`{"all":true}`, recall.RoomMax)
	todo.State = "done"
	same(whole, todo, rule)
	for _, args := range []string{`{"kind":"todo"}`, `{"cursor":"x"}`, `{"drop":"k_1"}`} {
		_, err := r.Recall().RunTool(t.Context(), id, "context_kept", json.RawMessage(args), recall.RoomMax)
		if scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v", args, err)
		}
	}
}
