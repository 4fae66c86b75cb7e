package transfer_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// retold is a file with one question that was answered n times, or with n edits of it, each
// one message longer than the one before, if deep.
type retold func(n int, deep bool) string

// parentOf returns what the i-th answer stands below.
func parentOf(i int, deep bool) string {
	if deep && i > 0 {
		return fmt.Sprintf("q%d", i)
	}
	return "q0"
}

var retellings = map[string]retold{
	"chatgpt": func(n int, deep bool) string {
		var nodes []string
		node := func(id, parent, role, text string, at int) {
			nodes = append(nodes, fmt.Sprintf(`%q:{"id":%q,"parent":%q,"children":[],"message":{"id":%q,"author":{"role":%q},`+
				`"create_time":%d,"content":{"content_type":"text","parts":[%q]}}}`, id, id, parent, id, role, 1700000000+at, text))
		}
		node("q0", "", "user", "why", 0)
		for i := range n {
			if deep && i > 0 {
				node(parentOf(i, deep), parentOf(i-1, deep), "user", fmt.Sprint("and ", i), 2*i)
			}
			node(fmt.Sprint("a", i), parentOf(i, deep), "assistant", fmt.Sprint("because ", i), 2*i+1)
		}
		return fmt.Sprintf(`[{"title":"t","create_time":1700000000,"conversation_id":"c1","current_node":"a%d","mapping":{%s}}]`,
			n-1, strings.Join(nodes, ","))
	},
	"open-webui": func(n int, deep bool) string {
		var nodes []string
		node := func(id, parent, role, text string, at int) {
			nodes = append(nodes,
				fmt.Sprintf(`%q:{"id":%q,"parentId":%q,"childrenIds":[],"role":%q,"content":%q,"timestamp":%d}`,
					id, id, parent, role, text, 1700000000+at))
		}
		node("q0", "", "user", "why", 0)
		for i := range n {
			if deep && i > 0 {
				node(parentOf(i, deep), parentOf(i-1, deep), "user", fmt.Sprint("and ", i), 2*i)
			}
			node(fmt.Sprint("a", i), parentOf(i, deep), "assistant", fmt.Sprint("because ", i), 2*i+1)
		}
		return fmt.Sprintf(`[{"id":"c1","user_id":"u","title":"t","chat":{"history":{"currentId":"a%d","messages":{%s}}}}]`,
			n-1, strings.Join(nodes, ","))
	},
	"librechat": func(n int, deep bool) string {
		var nodes []string
		node := func(id, parent, role, text string, at int) {
			nodes = append(nodes, fmt.Sprintf(`{"messageId":%q,"parentMessageId":%q,"isCreatedByUser":%v,"text":%q,`+
				`"createdAt":"2024-01-01T%02d:%02d:%02dZ"}`,
				id, parent, role == "user", text, at/3600, at/60%60, at%60))
		}
		node("q0", "00000000-0000-0000-0000-000000000000", "user", "why", 0)
		for i := range n {
			if deep && i > 0 {
				node(parentOf(i, deep), parentOf(i-1, deep), "user", fmt.Sprint("and ", i), 2*i)
			}
			node(fmt.Sprint("a", i), parentOf(i, deep), "assistant", fmt.Sprint("because ", i), 2*i+1)
		}
		return fmt.Sprintf(`{"conversationId":"c1","title":"t","exportAt":"x","branches":true,"messages":[%s]}`,
			strings.Join(nodes, ","))
	},
}

// What an import costs grows with the branches of its file, and not with their square: whether
// a message was answered over and over, or each question of a long path once more. So does
// importing the file again.
func TestImportCostsAsManyBranchesAsThereAre(t *testing.T) {
	testlength.SkipShort(t)
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	for name, file := range retellings {
		for _, deep := range []bool{false, true} {
			cost := func(n int) (out [2]uint64) {
				r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 400_000}, modeltest.Say("x"))
				text := file(n, deep)
				messages := int64(n + 1)
				if deep {
					messages = int64(2 * n)
				}
				for i, want := range []int64{messages, 0} {
					before := used()
					got, err := r.ImportText(text)
					out[i] = used() - before
					if err != nil || len(got.Conversations) != 1 || got.Conversations[0].Messages != want ||
						got.Conversations[0].Tool != name {
						t.Fatalf("%s, %d branches: %+v, %v", name, n, got, err)
					}
				}
				return out
			}
			cost(2) // what is made once
			few := cost(60)
			many := cost(240)
			for range 2 { // others who work in this process only ever add to it
				for i, again := range cost(240) {
					many[i] = min(many[i], again)
				}
			}
			for i, what := range []string{"first", "again"} {
				if times := float64(many[i]) / float64(few[i]); times > 6 {
					t.Errorf("%s, deep %v, %s: 4 times the branches cost %.1f times as much (%d and %d KB)",
						name, deep, what, times, few[i]>>10, many[i]>>10)
				}
			}
		}
	}
}
