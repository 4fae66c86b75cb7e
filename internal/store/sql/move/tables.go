package move

import (
	"fmt"
	"strings"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// table is one that is carried: its columns without the numbers that each database gives itself.
type table struct {
	name    string
	columns []string
	key     int    // the first columns are the key; 0 for a list, whose order is all that tells its rows apart
	of      string // the condition on the conversation's id, $1; empty for a table that is compared as a whole
	branch  bool   // rows get a number from [sqlstore.Dialect]
	sums    bool   // rows are sums, which a database may spread over several
}

func splitColumns(text string) []string {
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

const ofConversation = "conversation_id = $1"

// messages are carried branch by branch, because they are only ever added and, by a purge,
// removed from the end.
var messages = &table{name: "messages", columns: splitColumns(sqlstore.StoredColumns), key: 1}

// conversations are the row of a conversation. Where it is, something was copied before.
var conversations = &table{name: "conversations", key: 1, of: "id = $1",
	columns: splitColumns(sqlstore.ConversationColumns)}

var branches = &table{name: "branches", key: 2, of: ofConversation, branch: true, columns: splitColumns(`conversation_id, id, parent_branch, at_seq,
	head_seq, sum_tokens, sum_bytes, sum_images, view, view_version, updated_at, elsewhere`)}

// conversationTables are the other tables with rows of a conversation, in the order in which they are
// carried: what steps sent is found through the turns that are there already.
var conversationTables = []*table{
	branches,
	{name: "turn_steps", key: 2, of: "turn_id IN (SELECT id FROM turns WHERE conversation_id = $1)",
		columns: splitColumns(`turn_id, step, conversation_id, sent`)},
	{name: "turns", key: 2, of: ofConversation, columns: splitColumns(`conversation_id, id, branch, seq, user_message, state, owner, lease_until,
		cancel, draft, open_calls, reply, finish_reason, failure, idem_key, idem_hash, window_mark, started_at, ended_at, last_seq, meta, sent`)},
	{name: "segments", key: 2, of: ofConversation, columns: splitColumns(`conversation_id, id, branch, first_seq, last_seq, level, messages,
		children, hash, from_time, to_time, summary, summary_by, summary_of, prompt_version, placeholder, tokens_before, tokens_after,
		renderer, bytes, sha256, created_at`)},
	{name: "receipts", of: ofConversation,
		columns: splitColumns(`conversation_id, branch, segments, receipt, view_before, undone_at, created_at, view_after`)},
	{name: "mentions", key: 2, of: ofConversation, columns: splitColumns(`conversation_id, artifact, name, created_at`)},
	{name: "message_sources", key: 2, of: ofConversation,
		columns: splitColumns(`conversation_id, source, version, sha256, branch, seq`)},
	{name: "kept", key: 3, of: ofConversation, columns: splitColumns(sqlstore.KeptColumns)},
	{name: "message_hashes", key: 3, of: ofConversation,
		columns: splitColumns(`conversation_id, branch, first_seq, last_seq, hashes`)},
	{name: "sent_text_uses", key: 2, of: ofConversation, columns: splitColumns(`conversation_id, sha256`)},
	{name: "origins", key: 3, of: ofConversation, columns: splitColumns(`conversation_id, tool, id, root, folder, git_branch, place, name, stamp, shared,
		imported_at, gone_at`)},
	{name: "readings", key: 3, of: ofConversation, columns: splitColumns(sqlstore.ReadingColumns)},
	{name: "imported_calls", key: 2, of: ofConversation, columns: splitColumns(sqlstore.ImportedColumns)},
	{name: "threads", key: 1, of: ofConversation, columns: splitColumns(sqlstore.ThreadColumns)},
	{name: "thread_names", key: 3, of: ofConversation, columns: splitColumns(`conversation_id, scope, name, n`)},
	{name: "thread_requests", key: 2, of: ofConversation, columns: splitColumns(sqlstore.ThreadRequestColumns)},
	{name: "thread_atoms", key: 3, of: ofConversation, columns: splitColumns(sqlstore.ThreadAtomColumns)},
	{name: "thread_summaries", key: 2, of: ofConversation, columns: splitColumns(sqlstore.ThreadSummaryColumns)},
	{name: "thread_answers", key: 3, of: ofConversation, columns: splitColumns(sqlstore.ThreadAnswerColumns)},
	{name: usageRecords, of: ofConversation, columns: splitColumns(`conversation_id, turn_id, model, purpose, request_id, at, input_tokens,
		cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated, project, total_tokens, key_id`)},
}

// wholeTables are the tables that are compared as a whole.
var wholeTables = []*table{
	{name: "artifacts", key: 1, columns: splitColumns(`id, media_type, name, size, created_at`)},
	{name: "sent_texts", key: 1, columns: splitColumns(`sha256, text`)},
	{name: "usage_days", key: 4, sums: true, columns: splitColumns(sqlstore.UsageDayColumns)},
	{name: "models_learned", key: 1, columns: splitColumns(sqlstore.LearnedColumns)},
	{name: "keys", key: 1,
		columns: splitColumns(`id, hash, name, role, projects, created_at, expires_at, revoked_at, last_used_at, door`)},
	{name: "sign_ins", key: 1, columns: splitColumns(`hash, key_id, created_at, expires_at`)},
	{name: "key_limits", key: 1, columns: splitColumns(`key_id, limits`)},
	{name: "projects", key: 1, columns: splitColumns(sqlstore.ProjectColumns)},
	{name: "purged_origins", key: 2, columns: splitColumns(`origin, project`)},
	{name: "clocks", key: 2, columns: splitColumns(sqlstore.ClockColumns)},
	{name: "stones", key: 1, columns: splitColumns(sqlstore.StoneColumns)},
	{name: "aliases", key: 2, columns: splitColumns(sqlstore.AliasColumns)},
}

// NotedTable is a table whose changes a source notes while it is copied. Of is the column with the
// conversation's id; empty for a table that is compared as a whole.
type NotedTable struct{ Table, Of string }

// NotedTables returns the tables whose changes a source notes, and that it refuses to change when it is closed.
func NotedTables() []NotedTable {
	out := []NotedTable{{"conversations", "id"}, {"messages", "conversation_id"}}
	for _, t := range conversationTables {
		out = append(out, NotedTable{t.name, "conversation_id"})
	}
	for _, t := range wholeTables {
		out = append(out, NotedTable{t.name, ""})
	}
	return out
}

// usageRecords are the records of usage, which a database may find by their conversation in another way.
const usageRecords = "usage_records"

// conversationCondition returns the condition on the conversation's id, $1, of the rows of a table.
func (s *Side) conversationCondition(t *table) string {
	if t.name == usageRecords && s.Usage != usageRecords {
		return `n IN (SELECT u.n FROM ` + s.Usage + ` u WHERE u.conversation_id = $1)`
	}
	return t.of
}

// rowsQuery returns the query for rows, in the order of a list.
func (s *Side) rowsQuery(t *table) string {
	if t.sums {
		return s.Dialect.AllUsageDays
	}
	query := t.allRowsQuery()
	if t.of != "" {
		query += ` WHERE ` + s.conversationCondition(t)
	}
	if t.key == 0 {
		query += ` ORDER BY n`
	}
	return query
}

// allRowsQuery returns the query for all rows.
func (t *table) allRowsQuery() string {
	return `SELECT ` + strings.Join(t.columns, ", ") + ` FROM ` + t.name
}

// insertStatement returns the statement that inserts rows; with more columns than the table's own.
func (t *table) insertStatement(rows int, more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `INSERT INTO %s (%s) VALUES `, t.name,
		strings.Join(append(t.columns[:len(t.columns):len(t.columns)], more...), ", "))
	width := len(t.columns) + len(more)
	for r := range rows {
		if r > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(")
		for c := range width {
			if c > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "$%d", r*width+c+1)
		}
		b.WriteString(")")
	}
	return b.String()
}

// keyCondition returns the condition on a row's key, whose columns are the first arguments.
func (t *table) keyCondition() string {
	var b strings.Builder
	for i, name := range t.columns[:t.key] {
		if i > 0 {
			b.WriteString(` AND `)
		}
		fmt.Fprintf(&b, `%s = $%d`, name, i+1)
	}
	return b.String()
}

// updateStatement returns the statement that changes a row to what it is given whole.
func (t *table) updateStatement() string {
	var b strings.Builder
	fmt.Fprintf(&b, `UPDATE %s SET `, t.name)
	for i, name := range t.columns[t.key:] {
		if i > 0 {
			b.WriteString(`, `)
		}
		fmt.Fprintf(&b, `%s = $%d`, name, t.key+i+1)
	}
	return b.String() + ` WHERE ` + t.keyCondition()
}

func (t *table) deleteStatement() string {
	return `DELETE FROM ` + t.name + ` WHERE ` + t.keyCondition()
}
