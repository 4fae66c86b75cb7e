package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
)

func TestAdhoc(t *testing.T) {
	for _, p := range []string{compact.Segments, compact.Snapshot} {
		s := newSighted(t, 5, p, scrollback.Dialect{}, enginetest.Options{NoFolds: true, Limit: 9000, Summaries: p != compact.Segments})
		for range 120 {
			s.foreseen(enginetest.Say(s.words(200)))
		}
		n, sum, most := 0, 0, 0
		var last string
		for turn := range s.turns {
			steps, _ := s.r.Store.Turns.Steps(context.Background(), turn)
			for _, st := range steps {
				b, _ := json.Marshal(st)
				n++
				sum += len(b)
				if len(b) > most {
					most, last = len(b), string(b)
				}
			}
		}
		tt, _ := s.r.Store.Turns.Last(context.Background(), s.id)
		b, _ := json.Marshal(tt.Window)
		fmt.Println(p, n, sum/n, most, len(b), last)
	}
}
