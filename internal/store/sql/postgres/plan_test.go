package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// statementTracer are the statements that a driver ran, each with what it was given the last time.
type statementTracer struct {
	mu        sync.Mutex
	all       map[string][]any
	ran       []string
	exchanges int // batches, but for those that number what was committed
}

// TraceQueryStart implements [pgx.QueryTracer].
func (h *statementTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	var args []any
	for _, a := range d.Args {
		switch a.(type) {
		case pgx.QueryResultFormats, pgx.QueryResultFormatsByOID, pgx.QueryExecMode:
		default:
			args = append(args, a)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all[d.SQL] = args
	h.ran = append(h.ran, d.SQL)
	return ctx
}

// TraceBatchStart implements [pgx.BatchTracer].
func (h *statementTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	if d.Batch.QueuedQueries[0].SQL == holdNumbers {
		return ctx
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges++
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (h *statementTracer) TraceBatchQuery(ctx context.Context, c *pgx.Conn, d pgx.TraceBatchQueryData) {
	h.TraceQueryStart(ctx, c, pgx.TraceQueryStartData{SQL: d.SQL, Args: d.Args})
}

// TraceBatchEnd implements [pgx.BatchTracer].
func (h *statementTracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryEnd implements [pgx.QueryTracer].
func (h *statementTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// openTraced opens a database so that its statements are heard.
func openTraced(t *testing.T, dsn string) (*driver.Driver, *statementTracer) {
	t.Helper()
	c, err := openConnection(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := parseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	h := &statementTracer{all: map[string][]any{}}
	config.ConnConfig.Tracer = h
	err = errors.Join(c.readers.Close(), c.writers.Close())
	if err == nil {
		c.readers, err = openPool(configurePool(config, false), "read")
	}
	if err == nil {
		c.writers, err = openPool(configurePool(config, true), "write")
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := c.makeDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := sqlstore.New(db)
	t.Cleanup(func() { d.Close() })
	return d, h
}

// multiplyRows makes rows of a table like its first one, but for what set says, one for each row of from.
func multiplyRows(table, from, set string) string {
	return `INSERT INTO ` + table + ` SELECT y.* FROM (SELECT t AS first FROM ` + table +
		` AS t LIMIT 1) AS x CROSS JOIN ` + from +
		` CROSS JOIN LATERAL jsonb_populate_record(x.first, jsonb_build_object(` + set + `)) AS y`
}

// What there is many times.
const (
	severalRows = `generate_series(1, 30000) AS i` // conversations, with a turn of two messages
	some        = `generate_series(1, 3000) AS i`
	long        = `generate_series(2, 20000) AS k` // turns in the one conversation there is
	hashed      = `md5(i::text) || md5(i::text)`
)

// growConversation makes the one conversation have 40,000 messages.
var growConversation = []string{
	multiplyRows("messages", long+` CROSS JOIN generate_series(0, 1) AS j`,
		`'id', 'm' || 2 * k - j, 'seq', 2 * k - j, 'turn_id', 't' || k`),
	multiplyRows("turns", long, `'id', 't' || k, 'seq', 2 * k, 'last_seq', 2 * k, 'started_at', k, 'idem_key', 'k' || k,
		'state', CASE WHEN k % 100 = 0 THEN 'failed' ELSE 'complete' END`),
	`UPDATE branches SET head_seq = 40000 WHERE id = 'branch of long'`,
	`UPDATE conversations SET messages = 40000, updated_at = 999999, turn = 't20000' WHERE id = 'long'`,
	`UPDATE numbers SET last = CASE name WHEN 'message' THEN 200000 ELSE 31000 END WHERE name IN ('message', 'change')`,
	multiplyRows("message_runs", long,
		`'first_seq', 2 * k - 1, 'last_seq', 2 * k, 'first_n', 99999 + 2 * k, 'last_n', 100000 + 2 * k`),
	`INSERT INTO kept (conversation_id, id, change, branch, seq, message_id, role, kind, text, kept_by, said_by, state,
		created_at) SELECT 'long', 'k' || k, '', 'branch of long', 2 * k - 1, 'm' || 2 * k - 1, 'user', 'trait',
		'I prefer tea.', 'rule', '', 'open', k FROM ` + long,
}

// growStore makes a store with 100,000 messages of one with a turn: 40,000 of them in one conversation.
var growStore = strings.Join(slices.Concat([]string{
	multiplyRows("conversations", severalRows, `'id', 'c' || i, 'branch', 'b' || i, 'updated_at', i, 'messages', 2, 'project', 'p' || i % 50,
		'deleted_at', CASE WHEN i % 10 = 0 THEN i ELSE 0 END, 'agent_of', CASE WHEN i % 7 = 0 THEN 'c' || i - i % 70 ELSE '' END`),
	multiplyRows("branches", severalRows, `'id', 'b' || i, 'conversation_id', 'c' || i, 'n', 1000 + i, 'head_seq', 2`),
	multiplyRows("messages", severalRows+` CROSS JOIN generate_series(1, 2) AS k`, `'id', 'm' || i || '-' || k, 'conversation_id', 'c' || i, 'branch', 'b' || i, 'seq', k,
		'turn_id', 't' || i || '-1'`),
	multiplyRows("turns", severalRows, `'id', 't' || i || '-1', 'conversation_id', 'c' || i, 'branch', 'b' || i, 'seq', 2, 'last_seq', 2, 'started_at', 1,
		'idem_key', 'k', 'state', CASE WHEN i % 30 = 3 THEN 'failed' ELSE 'complete' END`),
	multiplyRows("message_runs", severalRows, `'conversation_id', 'c' || i, 'branch', 'b' || i, 'first_seq', 1, 'last_seq', 2,
		'first_n', 99 + 2 * i, 'last_n', 100 + 2 * i`),
	multiplyRows("changes", severalRows, `'conversation_id', 'c' || i, 'n', 99 + i`),
	multiplyRows("usage_records", severalRows, `'conversation_id', 'c' || i, 'n', 99 + i, 'at', i, 'key_id', 'key' || i % 100`),
	multiplyRows("usage_records", long, `'n', 99999 + k, 'at', k, 'key_id', 'key' || k % 100`),
	multiplyRows("artifacts", some, `'id', `+hashed),
	multiplyRows("mentions", some, `'conversation_id', 'c' || i, 'artifact', `+hashed),
	multiplyRows("mentions", some, `'artifact', `+hashed+`, 'created_at', i`),
	multiplyRows("origins", some,
		`'conversation_id', 'c' || i, 'id', 'o' || i, 'root', 'r' || i, 'folder', '/f/' || i % 300, 'name', 'n' || i`),
	multiplyRows("message_sources", severalRows, `'conversation_id', 'c' || i`),
	multiplyRows("index_segments", `generate_series(1000, 1100) AS i`, `'id', i, 'state', 2`), // that nobody reads any more
	multiplyRows("index_blocks", `generate_series(1000, 1100) AS i CROSS JOIN generate_series(1, 200) AS k`,
		`'segment', i, 'first_term', 'w' || k`),
	multiplyRows("index_marks", `generate_series(1000, 1100) AS i CROSS JOIN generate_series(1, 50) AS k`,
		`'segment', i, 'start', k`),
}, growThreads, growConversation, []string{`ANALYZE`}), "; ")

// growThreads makes a store of threads: of one 20,000 requests and atoms, 30,000 of others, all in one scope, with the
// same name and the same words.
var growThreads = []string{
	multiplyRows("threads", severalRows, `'conversation_id', 'c' || i`),
	multiplyRows("thread_names", severalRows, `'conversation_id', 'c' || i, 'n', i`),
	multiplyRows("thread_requests", severalRows, `'conversation_id', 'c' || i, 'id', 't' || i || '-1', 'n', i`),
	multiplyRows("thread_requests", long, `'id', 't' || k, 'n', 50000 + k, 'base_seq', 2 * k,
		'state', CASE WHEN k % 1000 = 0 THEN 'running' ELSE 'finished' END`),
	multiplyRows("thread_atoms", severalRows, `'conversation_id', 'c' || i, 'branch', '\x' || md5(i::text), 'n', i`),
	multiplyRows("thread_atoms", long, `'seq', k, 'n', 50000 + k`),
	multiplyRows("thread_summaries", severalRows, `'conversation_id', 'c' || i, 'request_id', 't' || i, 'n', i`),
	multiplyRows("thread_answers", severalRows, `'conversation_id', 'c' || i, 'id', 'answer ' || i, 'n', i`),
	multiplyRows("thread_asked", severalRows, `'n', i, 'at', i`),
}

// seedStore makes one of everything, in the conversation "long".
func seedStore(t *testing.T, d *driver.Driver) {
	t.Helper()
	ctx := t.Context()
	mustSucceed(t, createConversation(ctx, d, "long"))
	image := scrollback.Artifact{ID: scrollback.ArtifactID(strings.Repeat("0", 64)), MediaType: "image/png", Size: 1}
	mustSucceed(t, d.Log.PutArtifact(ctx, image, "long"))
	runTurn(t, d, "t1", 0)
	origin := scrollback.Origin{Tool: "codex", ID: "o", Conversation: "long", Root: "r", Folder: "/f", Place: "/p",
		Name: "n"}
	mustSucceed(t, d.Log.PutOrigin(ctx, origin, ""))
	_, err := d.Log.ListChanges(ctx, 0, 1)
	mustSucceed(t, err)
	s, err := d.Index.ReadState(ctx)
	mustSucceed(t, err)
	docs := []driver.Document{{Mark: driver.Mark{Place: driver.NewPlace(1, 1), Role: scrollback.RoleUser, Length: 1},
		Terms: []string{"word"}}}
	_, err = d.Index.PutDocuments(ctx, driver.DocumentBatch{From: s.Watermark, To: s.Newest, All: docs})
	mustSucceed(t, err)
	rows := threading.Rows{Thread: &threading.ThreadRow{ID: "long", Scope: threadScope},
		Name:    &threading.NameRow{Scope: threadScope, Name: "name", Thread: "long"},
		Summary: &threading.SummaryRow{Scope: threadScope, Name: "name", Request: "t1", Thread: "long"},
		Answer:  &threading.AnswerRow{Scope: threadScope, ID: "answer", Thread: "long"},
		Request: &threading.RequestRow{ID: "t1", Scope: threadScope, Thread: "long", Rolling: threadHash, Body: threadHash,
			Base: threading.Place{Branch: "of the thread"}, State: threading.Finished},
		Atoms: []threading.AtomRow{{Place: threading.Place{Branch: "of the thread", Seq: 1}, Thread: "long",
			Parent: threading.Place{Branch: "of the thread"}, Key: threadHash, Call: threadHash,
			Quote: threading.Quote{Anchor: threadHash}}}}
	mustSucceed(t, d.Threads.WriteThread(ctx, rows))
	mustSucceed(t, d.Threads.CountAsked(ctx, threadScope, threadHash, 1))
}

// What the threads of the seeded store have.
var (
	threadScope = threading.Scope{Project: "p", Caller: "c"}
	threadHash  = threading.HashOf("what everybody says")
)

// runLookUps asks everything that a matcher does, and writes a turn's rows.
func runLookUps(t *testing.T, d *driver.Driver) {
	t.Helper()
	ctx := t.Context()
	x := d.Threads.IndexAt(1)
	far := threading.Place{Branch: "of the thread", Seq: 10_000}
	many := []threading.Hash{threadHash, threading.HashOf("nobody"), threading.HashOf("nobody else")}
	for what, do := range map[string]func() error{
		"thread":  func() error { _, err := x.Thread(ctx, "c77"); return err },
		"named":   func() error { _, err := x.Named(ctx, threadScope, "name", 64); return err },
		"request": func() error { _, err := x.Request(ctx, "t77"); return err },
		"rolled":  func() error { _, err := x.Rolled(ctx, threadScope, many, 8); return err },
		"same":    func() error { _, _, err := x.Same(ctx, threadScope, threadHash, time.UnixMilli(1), 30); return err },
		"beside":  func() error { _, err := x.Beside(ctx, "long", far, 32); return err },
		"anchored": func() error {
			_, err := x.Anchored(ctx, threading.AnchorQuery{Scope: threadScope, Threads: []threading.ThreadID{"long", "c7"},
				Anchors: many, Limit: 32})
			return err
		},
		"anchored in scope": func() error {
			_, err := x.Anchored(ctx, threading.AnchorQuery{Scope: threadScope, Anchors: many, Limit: 8})
			return err
		},
		"at":           func() error { _, err := x.At(ctx, far); return err },
		"lineage":      func() error { _, err := x.Lineage(ctx, far.Branch); return err },
		"following":    func() error { _, err := x.Following(ctx, far, 64); return err },
		"partials":     func() error { _, err := x.Partials(ctx, []threading.ThreadID{"long"}, 32); return err },
		"summaries":    func() error { _, err := x.Summaries(ctx, threadScope, "", 16); return err },
		"summaries of": func() error { _, err := x.Summaries(ctx, threadScope, "name", 16); return err },
		"leaves":       func() error { _, err := d.Threads.ListLeaves(ctx, "c5"); return err },
		"answer":       func() error { _, err := x.Answer(ctx, threadScope, "answer 77"); return err },
		"asked":        func() error { return d.Threads.CountAsked(ctx, threadScope, threadHash, 99_000) },
		"end of a thread": func() error {
			return d.Threads.WriteThread(ctx, threading.Rows{Thread: &threading.ThreadRow{ID: "c5", Scope: threadScope},
				Request: &threading.RequestRow{ID: "t5-1", Scope: threadScope, Thread: "c5"}, Leaves: []threading.RequestID{"t6-1"},
				Atoms: []threading.AtomRow{{Place: threading.Place{Branch: "another", Seq: 1}, Thread: "c5", Key: threadHash}}})
		},
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// runTurn has a whole turn in "long", which ends at head so far.
func runTurn(t *testing.T, d *driver.Driver, id scrollback.TurnID, head int64) {
	t.Helper()
	ctx := t.Context()
	message := func(role scrollback.Role, of string) driver.Entry {
		return driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(of + string(id)), Role: role,
			Status: scrollback.StatusComplete,
			Parts:  scrollback.Parts{scrollback.Text{Text: "word"}}}, Sources: []driver.SourceVersion{{Name: "s", Version: 1}}}
	}
	turn := scrollback.Turn{ID: id, Conversation: "long", State: scrollback.TurnOpen, Owner: "o", LeaseUntil: 2000 + head,
		StartedAt:   head + 1,
		Idempotency: scrollback.Idempotency{Key: "key of " + string(id), Hash: "h"}}
	_, err := d.Turns.Begin(ctx, driver.BeginRequest{Turn: turn, Now: 1000 + head, IfHead: head, KeysSince: 1,
		Entries: []driver.Entry{message(scrollback.RoleUser, "q ")}})
	mustSucceed(t, err)
	_, err = d.Turns.SaveDraft(ctx, driver.SavedDraft{Turn: id, Owner: "o", Draft: scrollback.Draft{Content: "w"},
		LeaseUntil: 2000 + head})
	mustSucceed(t, err)
	_, err = d.Turns.FinishStep(ctx,
		driver.FinishedStep{Turn: id, Owner: "o", Now: 1001 + head, State: scrollback.TurnComplete,
			Entries: []driver.Entry{message(scrollback.RoleAssistant, "a ")}, Sent: &scrollback.SentRequest{Step: 1},
			Texts: map[string]string{"h": "x"},
			Usage: []scrollback.UsageRecord{{Conversation: "long", TurnID: id, Key: "key1", Model: "m", At: 1001}}})
	mustSucceed(t, err)
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runOperations does what servers do all the time.
func runOperations(t *testing.T, d *driver.Driver) {
	t.Helper()
	ctx := t.Context()
	runTurn(t, d, "t20001", 40_000)
	before := &driver.ListKey{At: 1500, ID: "c1500"}
	for what, do := range map[string]func() error{
		"append":   func() error { return appendMessage(ctx, d, "c2", 2, "more") },
		"head":     func() error { _, err := d.Log.ReadHead(ctx, "long"); return err },
		"branches": func() error { _, err := d.Log.ListBranches(ctx, "c2"); return err },
		"list": func() error {
			_, err := d.Log.ListConversations(ctx, driver.ListQuery{Before: before, Limit: 20})
			return err
		},
		"trash": func() error {
			_, err := d.Log.ListConversations(ctx, driver.ListQuery{Trash: true, Before: before, Limit: 20})
			return err
		},
		"of projects": func() error {
			_, err := d.Log.ListConversations(ctx, driver.ListQuery{Projects: []string{"p3", "p5"}, Limit: 20})
			return err
		},
		"trash of projects": func() error {
			_, err := d.Log.ListConversations(ctx, driver.ListQuery{Trash: true, Projects: []string{"p0"}, Limit: 20})
			return err
		},
		"agents": func() error {
			_, err := d.Log.ListConversations(ctx, driver.ListQuery{AgentOf: []scrollback.ConversationID{"c70"}, Limit: 20})
			return err
		},
		"prefix": func() error {
			_, err := d.Log.ListConversations(ctx, driver.ListQuery{Prefix: "c12", Limit: 20})
			return err
		},
		"messages": func() error {
			_, err := d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: "branch of long", From: 20_000, To: 20_100})
			return err
		},
		"wanted messages": func() error {
			_, err := d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: "branch of long", From: 20_000, To: 20_100,
				Wanted: func([]byte) bool { return true }})
			return err
		},
		"turn":  func() error { _, err := d.Turns.Get(ctx, "t7-1"); return err },
		"last":  func() error { _, err := d.Turns.GetLast(ctx, "c7"); return err },
		"steps": func() error { _, err := d.Turns.ReadSteps(ctx, "t20001"); return err },
		"texts": func() error { _, err := d.Turns.ReadTexts(ctx, "long", []string{"h"}); return err },
		"meta":  func() error { _, err := d.Turns.ReadMeta(ctx, []scrollback.TurnID{"t7-1"}); return err },
		"troubled": func() error {
			_, err := d.Turns.ListUnsuccessful(ctx, driver.TurnQuery{Branch: "branch of long", From: 1000, To: 1200, Limit: 9})
			return err
		},
		"refs": func() error {
			_, err := d.Log.ListRefs(ctx, driver.RefQuery{Conversations: []scrollback.ConversationID{"long"}, Limit: 20,
				Before: &driver.ListKey{At: 500}})
			return err
		},
		"who has it": func() error {
			_, err := d.Log.ListRefs(ctx, driver.RefQuery{Ref: scrollback.Ref("artifact:" + strings.Repeat("0", 64)), Limit: 20})
			return err
		},
		"sources": func() error {
			_, err := d.Log.FindSources(ctx, []scrollback.ConversationID{"c9"}, []string{"s"})
			return err
		},
		"changes": func() error { _, err := d.Log.ListChanges(ctx, 20_000, 50); return err },
		"span":    func() error { _, _, err := d.Log.ReadChangeSpan(ctx); return err },
		"state":   func() error { _, err := d.Index.ReadState(ctx); return err },
		"behind": func() error {
			_, err := d.Index.ReadUnindexed(ctx, driver.UnindexedQuery{After: 90_000, Limit: 64})
			return err
		},
		"postings": func() error {
			_, err := d.Index.FindPostings(ctx, driver.PostingQuery{Terms: []string{"word", "wo*"}, Role: scrollback.RoleUser})
			return err
		},
		"marks": func() error { _, err := d.Index.ReadMarks(ctx, []driver.Place{driver.NewPlace(1, 1)}); return err },
		"lines": func() error {
			_, err := d.Index.FindBranches(ctx, driver.IndexedBranchQuery{Numbers: []int64{1001, 1002}})
			return err
		},
		"located": func() error {
			_, err := d.Index.ReadMessagesAt(ctx, []driver.Place{driver.NewPlace(1001, 1)})
			return err
		},
		"lines worked": func() error {
			_, err := d.Index.ListWorkedNumbers(ctx, driver.FolderQuery{Folders: []string{"/f/7"}})
			return err
		},
		"worked": func() error {
			_, err := d.Index.FindWorkedBranches(ctx, driver.FolderQuery{Folders: []string{"/f/7"}})
			return err
		},
		"tend":    func() error { _, err := d.Index.Maintain(ctx); return err },
		"spent":   func() error { _, err := d.Access.SumSpending(ctx, driver.SpendingQuery{Key: "key7"}); return err },
		"origins": func() error { _, err := d.Log.ListOrigins(ctx, driver.OriginQuery{Folder: "/f/7"}); return err },
		"taken":   func() error { _, err := d.Log.FindOwners(ctx, []scrollback.MessageID{"m7-1"}); return err },
		"folds":   func() error { _, err := d.Views.ListStoredReceipts(ctx, "long", 0, 9); return err },
		"claim": func() error {
			_, err := d.Turns.ClaimWork(ctx, driver.Claim{Conversation: "long", Work: "w", Owner: "o", Now: 1, Until: 9})
			return err
		},
		"purge": func() error {
			_, err := d.Log.PurgeConversation(ctx, driver.Purge{Conversation: "c3", Now: 1, Limit: 100})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// planNode is a step of a plan that was run.
type planNode struct {
	Type  string  `json:"Node Type"`
	Table string  `json:"Relation Name"`
	Rows  float64 `json:"Actual Rows"`
	Loops float64 `json:"Actual Loops"`
	Left  float64 `json:"Rows Removed by Filter"`
	Again float64 `json:"Rows Removed by Index Recheck"`
	Hit   int64   `json:"Shared Hit Blocks"`
	Read  int64   `json:"Shared Read Blocks"`
	Plans []planNode
}

// countRead returns how many rows of tables a step and those below it have read, and from which table most.
func (n planNode) countRead() (rows float64, table string) {
	if n.Table != "" && strings.Contains(n.Type, "Scan") {
		rows = (n.Rows + n.Left + n.Again) * n.Loops
		table = n.Type + " of " + n.Table
	}
	for _, p := range n.Plans {
		more, of := p.countRead()
		if rows += more; more > rows/2 {
			table = of
		}
	}
	return rows, table
}

// explainStatement runs a statement and undoes it, and returns what it did. A row that is there already
// is none that it could have read. The stores that the test has open go on with their upkeep, and a
// deadlock with it ends one of both: like the writer of a store, it begins again.
func explainStatement(ctx context.Context, conn *pgx.Conn, query string, args []any) (planNode, error) {
	// A message that is there already is refused before its statement has done anything: it is taken away first.
	first := ""
	for {
		n, err := explainOnce(ctx, conn, first, query, args)
		switch sqlStateOf(err) {
		case codeDeadlock:
			continue
		case codeNotNull:
			if first == "" {
				first = `DELETE FROM messages WHERE id = $1`
				continue
			}
		case codeUniqueViolation:
			return n, nil
		}
		return n, err
	}
}

// explainOnce runs first, if it is something, with the first of the arguments.
func explainOnce(ctx context.Context, conn *pgx.Conn, first, query string, args []any) (n planNode, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	if first != "" {
		if _, err := tx.Exec(ctx, first, args[0]); err != nil {
			return n, err
		}
	}
	var text []byte
	err = tx.QueryRow(ctx, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) `+query, args...).Scan(&text)
	var all []struct{ Plan planNode }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil {
		n = all[0].Plan
	}
	return n, err
}

// What servers do all the time reads a bounded number of rows and pages of a store with
// 100,000 messages.
func TestPlans(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dsn)
	mustSucceed(t, err)
	defer conn.Close(context.Background())
	seedStore(t, joinServer(t, dsn).Driver)
	_, err = conn.Exec(ctx, growStore)
	mustSucceed(t, err)
	d, h := openTraced(t, dsn)
	runOperations(t, d)
	runLookUps(t, d)
	judged := checkBounds(t, conn, h)
	checkPendingPlans(t, conn)
	if judged["SELECT"] < 30 || judged["UPDATE"] < 5 || judged["WITH"] < 5 {
		t.Errorf("too few statements were judged: %v", judged)
	}
}

// One long conversation is nearly all that there is, and nobody has counted it: the planner knows
// neither how few branches a path has nor how many messages are behind each.
func TestPlansOfOneConversation(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dsn)
	mustSucceed(t, err)
	defer conn.Close(context.Background())
	seedStore(t, joinServer(t, dsn).Driver)
	_, err = conn.Exec(ctx, `ALTER TABLE messages SET (autovacuum_enabled = off); `+strings.Join(growConversation, "; "))
	mustSucceed(t, err)
	for i, counted := range []string{"SELECT 1", "ANALYZE"} {
		_, err = conn.Exec(ctx, counted)
		mustSucceed(t, err)
		d, h := openTraced(t, dsn)
		runTurn(t, d, scrollback.TurnID(fmt.Sprint("t2000", i+1)), 40_000+2*int64(i))
		for what, do := range map[string]func() error{
			"messages": func() error {
				_, err := d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: "branch of long", From: 20_000, To: 20_100})
				return err
			},
			"wanted messages": func() error {
				_, err := d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: "branch of long", From: 20_000, To: 20_100,
					Wanted: func([]byte) bool { return true }})
				return err
			},
			"troubled": func() error {
				_, err := d.Turns.ListUnsuccessful(ctx, driver.TurnQuery{Branch: "branch of long", From: 1000, To: 1200, Limit: 9})
				return err
			},
			"kept": func() error {
				q := driver.KeptQuery{Branch: "branch of long", To: 40_000, Limit: 300,
					Conversations: []scrollback.ConversationID{"long"}}
				all, err := d.Log.ReadKept(ctx, q)
				if err == nil && len(all) != q.Limit {
					err = fmt.Errorf("%d rows", len(all))
				}
				if err == nil {
					q.Known = all[:q.Limit-1]
					_, err = d.Log.ReadKept(ctx, q)
				}
				return err
			},
			"refs": func() error {
				_, err := d.Log.ListRefs(ctx, driver.RefQuery{Conversations: []scrollback.ConversationID{"long"}, Limit: 20})
				return err
			},
			"behind": func() error {
				_, err := d.Index.ReadUnindexed(ctx, driver.UnindexedQuery{After: 130_000, Limit: 64})
				return err
			},
			"located": func() error {
				_, err := d.Index.ReadMessagesAt(ctx, []driver.Place{driver.NewPlace(1, 300)})
				return err
			},
			"last":  func() error { _, err := d.Turns.GetLast(ctx, "long"); return err },
			"meta":  func() error { _, err := d.Turns.ReadMeta(ctx, []scrollback.TurnID{"t77"}); return err },
			"taken": func() error { _, err := d.Log.FindOwners(ctx, []scrollback.MessageID{"m77"}); return err },
		} {
			if err := do(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if judged := checkBounds(t, conn, h); judged["SELECT"] < 10 || judged["WITH"] < 4 {
			t.Errorf("too few statements were judged: %v", judged)
		}
	}
}

// checkBounds wants each statement that was heard to read a bounded number of rows and pages. It
// returns how many there were of each kind.
func checkBounds(t *testing.T, conn *pgx.Conn, h *statementTracer) map[string]int {
	t.Helper()
	ctx := t.Context()
	h.mu.Lock()
	defer h.mu.Unlock()
	judged := map[string]int{}
	for query, args := range h.all {
		verb, _, _ := strings.Cut(query, " ")
		if !strings.Contains("SELECT INSERT UPDATE DELETE WITH", verb) {
			continue
		}
		judged[verb]++
		n, err := explainStatement(ctx, conn, query, args)
		if err != nil {
			t.Errorf("%v\nin %s", err, query)
		}
		rows, table := n.countRead()
		if pages := n.Hit + n.Read; rows > 1000 || pages > 1000 {
			t.Errorf("%.0f rows and %d pages are read, most by a %s\nin %s\nof %v", rows, pages, table, query, args)
		}
	}
	return judged
}

// checkPendingPlans holds that numbering reads what has no number yet, and nothing else.
func checkPendingPlans(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	ctx := t.Context()
	_, err := conn.Exec(ctx, `INSERT INTO pending_messages SELECT conversation_id, branch, seq, seq FROM messages WHERE seq BETWEEN 1001 AND 3000;
		INSERT INTO pending_changes SELECT conversation_id, n, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref FROM changes
			WHERE n BETWEEN 1001 AND 3000; ANALYZE pending_messages, pending_changes`)
	mustSucceed(t, err)
	for query, args := range map[string][]any{anyPending: nil, numberMessages: {1000}, numberChanges: {1000, "nobody"}} {
		n, err := explainStatement(ctx, conn, query, args)
		mustSucceed(t, err)
		if rows, _ := n.countRead(); rows < 1 || rows > 3*2000 {
			t.Errorf("with 2,000 that are pending %.0f rows are read\nin %s", rows, query)
		}
	}
}
