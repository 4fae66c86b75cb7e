package evidence_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// BenchmarkFind gives prompts of different kinds in a place that has a third of a store's conversations, one of them
// with a tenth of its messages. A store of 100,000 messages takes a minute to make.
func BenchmarkFind(b *testing.B) {
	for _, messages := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			e, speak := fillStore(b, messages)
			prompts := map[string]string{
				"short": "when does the " + speak(3) + " end?",
				"long":  speak(400) + " did we decide that?",
				"error": "E0412 03:11:09 sync.go:190] failed to change " + speak(20) + " AccessDenied sts::4471 seen that before?",
				"中文":    "新加的优惠券接口金额字段怎么定义来着,元还是分",
			}
			for name, prompt := range prompts {
				b.Run(name, func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						begin := time.Now()
						if _, err := e.Find(b.Context(), evidence.Query{Prompt: prompt,
							Place: evidence.Place{Folders: []string{"/shop"}}}); err != nil {
							b.Fatal(err)
						}
						took = append(took, time.Since(begin))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
				})
			}
		})
	}
}

func readText(_ context.Context, m scrollback.Message) (string, error) {
	return search.IndexedText(m.Parts), nil
}

// fillStore makes a store of so many messages, and what makes up sentences of the words in it: few are common, most
// are rare.
func fillStore(b *testing.B, messages int) (*evidence.Store, func(words int) string) {
	b.Helper()
	d, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), &sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.New(d, func(s string) int { return len(s) / 4 }, &store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 8, 40_000)
	speak := func(words int) string {
		var out strings.Builder
		for range words {
			fmt.Fprintf(&out, "w%so ", strings.Map(func(r rune) rune { return r - '0' + 'b' }, fmt.Sprint(zipf.Uint64())))
		}
		return out.String()
	}
	for n := 0; messages > 0; n++ {
		length := min(messages, 20)
		if n == 0 {
			length = messages / 10
		}
		messages -= length
		var begins []store.IncomingMessage
		for i := range length {
			role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
			begins = append(begins, store.IncomingMessage{Message: scrollback.Message{Role: role,
				Parts: scrollback.Say(speak(60)), CreatedAt: int64(n*1000 + i), Status: scrollback.StatusComplete}})
		}
		c, _, err := s.CreateConversation(b.Context(), scrollback.Conversation{Project: "default"}, begins...)
		if err == nil {
			err = d.Log.PutOrigin(b.Context(), scrollback.Origin{Conversation: c.ID, Tool: "codex", ID: fmt.Sprint(n),
				Folder: []string{"/shop", "/farm", "/rig"}[n%3]}, "")
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for x, more := index.New(d.Index, readText), true; more; {
		if more, err = x.CatchUp(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { _ = s.Close() })
	return evidence.New(d), speak
}
