package postgres

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

func TestMergeStatements(t *testing.T) {
	t.Parallel()
	const (
		insertA = `INSERT INTO a (id, n) VALUES ($1, $2)`
		updateB = `UPDATE b SET n = $2, m = $3 WHERE id = $1`
		updateA = `UPDATE a SET n = $2 WHERE id = $1`
		deleteC = `DELETE FROM c WHERE id = $1`
	)
	waiting := func(text string, args ...any) waitingStatement { return waitingStatement{text: text, args: args} }
	for _, c := range []struct {
		name string
		all  []waitingStatement
		want []string
	}{
		{"one", []waitingStatement{waiting(insertA, "x", 1)}, []string{insertA}},
		{"two tables", []waitingStatement{waiting(insertA, "x", 1), waiting(updateB, "y", 2, 3)},
			[]string{`WITH part1 AS (INSERT INTO a (id, n) VALUES ($1, $2)) UPDATE b SET n = $4, m = $5 WHERE id = $3`}},
		{"a table twice", []waitingStatement{waiting(insertA, "x", 1), waiting(updateA, "x", 2)}, []string{insertA, updateA}},
		{"another form between",
			[]waitingStatement{waiting(insertA, "x", 1), waiting(deleteC, "z"), waiting(updateB, "y", 2, 3)},
			[]string{insertA, deleteC, updateB}},
		{"one that is judged", []waitingStatement{waiting(insertA, "x", 1),
			{text: updateB, args: []any{"y", 2, 3}, changed: func(int64) error { return nil }}}, []string{insertA, updateB}},
	} {
		var got []string
		var given, kept []any
		for _, s := range c.all {
			given = append(given, s.args...)
		}
		for _, s := range mergeStatements(c.all) {
			got = append(got, s.text)
			kept = append(kept, s.args...)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(kept, given) {
			t.Errorf("%s: %q of %v, wanted %q of %v", c.name, got, kept, c.want, given)
		}
	}
}

// A turn is four exchanges with the server, and as few statements as there are things to ask between.
func TestStatementsOfATurn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d, heard := openTraced(t, postgrestest.NewDatabase(t))
	c := scrollback.Conversation{ID: "c", Branch: "b"}
	if _, _, err := d.Log.CreateConversation(ctx, c, scrollback.Branch{ID: "b", Conversation: "c"}); err != nil {
		t.Fatal(err)
	}
	entry := func(id string, role scrollback.Role) []driver.Entry {
		return []driver.Entry{{Message: scrollback.Message{ID: scrollback.MessageID(id), Role: role,
			Parts: scrollback.Parts{scrollback.Text{Text: id}}}}}
	}
	takeTurn := func(name string) {
		t.Helper()
		turn := scrollback.Turn{ID: scrollback.TurnID(name), Conversation: "c", Owner: "o", LeaseUntil: 1 << 50}
		_, err := d.Turns.Begin(ctx, driver.BeginRequest{Turn: turn, Now: 1,
			Entries: entry("ask "+name, scrollback.RoleUser)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Turns.FinishStep(ctx, driver.FinishedStep{Turn: turn.ID, Owner: "o", Now: 2,
			Entries: entry("reply "+name, scrollback.RoleAssistant), State: scrollback.TurnComplete,
			Sent:  &scrollback.SentRequest{Step: 1, Instructions: "hash"},
			Texts: map[string]string{"hash": "instructions"},
			Usage: []scrollback.UsageRecord{{Conversation: "c", TurnID: turn.ID, Model: "m", WindowTokens: 1,
				Usage: scrollback.Usage{InputTokens: 1, TotalTokens: 1}}},
			Learn: func(factor float64, _ scrollback.UsageRecord) float64 { return factor }})
		if err != nil {
			t.Fatal(err)
		}
	}
	takeTurn("1") // a text becomes known
	takeTurn("2") // and is found
	count := func() (ran []string, exchanges int) {
		heard.mu.Lock()
		defer heard.mu.Unlock()
		for _, text := range heard.ran {
			if text != anyPending && text != holdNumbers && text != numberMessages && text != numberChanges {
				ran = append(ran, text)
			}
		}
		return ran, heard.exchanges
	}
	ran, exchanges := count()
	takeTurn("3")
	ranNow, exchangesNow := count()
	if n := exchangesNow - exchanges; n != 4 {
		t.Errorf("a turn took %d exchanges, not 4", n)
	}
	if of := ranNow[len(ran):]; len(of) != 11 {
		t.Errorf("a turn took %d statements, not 11:\n%s", len(of), strings.Join(of, "\n"))
	}
	if _, err := d.Turns.Begin(ctx, driver.BeginRequest{Turn: scrollback.Turn{ID: "4", Conversation: "c"}, Now: 3,
		Entries: entry("ask 3", scrollback.RoleUser)}); scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("a message whose id is taken gave %v", err)
	}
	ms, err := d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: "b", From: 1, To: 100})
	if err != nil || len(ms) != 6 {
		t.Errorf("there are %d messages, %v", len(ms), err)
	}
	if _, err := d.Turns.Get(ctx, "4"); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("the turn that was refused gave %v", err)
	}
}
