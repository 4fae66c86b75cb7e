package postgres

import (
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlindex"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlmove"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// micros is the time in microseconds, by which rows are put in order that have no number yet.
const micros = `CAST(floor(extract(epoch FROM clock_timestamp()) * 1000000) AS BIGINT)`

// next is a number for a row of a table that is above those of its conversation, and of no
// other one: it has the time in it, and twelve bits by chance.
func next(table string) string {
	return `(SELECT greatest(coalesce(max(n), 0) + 1, ` + micros +
		` * 4096 + CAST(floor(random() * 4096) AS BIGINT)) FROM ` +
		table + ` WHERE conversation_id = $1)`
}

// list are the numbers in a JSON list.
func list(mark, name string) string {
	return `(SELECT CAST(value AS BIGINT) AS ` + name + ` FROM json_array_elements_text(CAST(CAST(` + mark +
		` AS TEXT) AS JSON)) AS list (value))`
}

// oneByOne are the rows of a table for each row before it. The offset keeps them from being
// joined with a table that is read as a whole, because nobody knows how many rows come before.
func oneByOne(table, where string) string {
	return `LATERAL (SELECT x.* FROM ` + table + ` x WHERE ` + where + ` OFFSET 0)`
}

// variants are what PostgreSQL says in its own way: because it has another function for it,
// because rows of many servers are numbered later, or because what a transaction has read must
// not change before it ends.
var variants = []sqlrow.Variant{
	{
		Of: sqlindex.InsertMessage,
		Is: `WITH added AS (INSERT INTO messages (` + sqlrow.StoredColumns + `) SELECT ` + sqlrow.Marks(21) + `
			WHERE NOT EXISTS (SELECT 1 FROM messages WHERE id = $1) RETURNING conversation_id, branch, seq)
		INSERT INTO pending_messages (conversation_id, branch, seq, k) SELECT conversation_id, branch, seq, ` + micros + ` FROM added`,
	},
	{Of: sqlindex.KeepNewest, Is: `WITH later AS (DELETE FROM message_runs WHERE branch = $1 AND first_seq >= $2),
		unnumbered AS (DELETE FROM pending_messages WHERE branch = $1 AND seq >= $2)
		UPDATE message_runs SET last_n = last_n - (last_seq - $2 + 1), last_seq = $2 - 1 WHERE branch = $1 AND first_seq < $2 AND last_seq >= $2`},
	{Of: sqlindex.Newest, Is: `(SELECT last FROM numbers WHERE name = 'message')`},
	{Of: sqlindex.Numbered, Is: `, n, coalesce((SELECT b.n FROM branches b WHERE b.id = messages.branch), 0)
		FROM (SELECT m.*, r.first_n + m.seq - r.first_seq AS n, r.last_n FROM message_runs r JOIN messages m
			ON m.conversation_id = r.conversation_id AND m.branch = r.branch AND m.seq <= r.last_seq
			AND m.seq >= r.first_seq + greatest($1 + 1 - r.first_n, 0) WHERE r.last_n > $1) AS messages
		ORDER BY last_n, seq LIMIT $2`},
	{Of: sqlindex.Early, Is: `EXISTS (SELECT 1 FROM message_runs r WHERE r.branch = messages.branch
			AND messages.seq BETWEEN r.first_seq AND r.last_seq AND r.first_n + messages.seq - r.first_seq <= $4)`},
	{Of: sqlindex.Listed, Is: list("$1", "value")},
	{Of: sqlindex.MessagesListed, Is: `CROSS JOIN ` + oneByOne("messages",
		"x.branch = (SELECT b.id FROM branches b WHERE b.n = l.value >> 32) AND x.seq = (l.value & 4294967295)") +
		` messages`},
	{Of: sqlindex.MarksListed, Is: `CROSS JOIN ` + oneByOne("index_marks", "x.segment = $2 AND x.start = l.value") + ` m`},
	{Of: sqlindex.LastBlock, Is: `JOIN LATERAL (SELECT x.segment, x.first_term, x.start, x.data FROM index_blocks x
		WHERE x.segment = s.id AND x.first_term <= $1 ORDER BY x.first_term DESC, x.start DESC LIMIT 1) b ON true`},
	{Of: sqlindex.AgentsHere, Is: `SELECT a.id FROM here CROSS JOIN ` +
		oneByOne("conversations", "x.agent_of = here.id AND x.agent_of <> ''") + ` a`},
	{Of: sqlindex.BranchesHere, Is: `FROM here CROSS JOIN ` +
		oneByOne("branches", "x.conversation_id = here.id AND x.n > 0") + ` b`},
	{Of: sqlindex.LinesHere, Is: `FROM here CROSS JOIN ` +
		oneByOne("conversations", "x.id = here.id AND x.deleted_at = 0") + ` c CROSS JOIN ` +
		oneByOne("branches", "x.conversation_id = c.id") + ` b`},
	{Of: sqlindex.ForksBelow, Is: `FROM below CROSS JOIN ` +
		oneByOne("conversations", "x.id = below.conversation_id AND x.deleted_at <> 0") +
		` c CROSS JOIN ` + oneByOne("branches", "x.parent_branch = below.id AND x.parent_branch <> ''") + ` b`},
	{Of: sqlindex.ConversationsBelow, Is: `FROM below CROSS JOIN ` +
		oneByOne("conversations", "x.id = below.conversation_id") + ` c`},
	{Of: sqlmove.TheRun, Is: shared(sqlmove.TheRun)},
	{Of: sqlrow.Wanted, Is: list("$4", "at")},
	{Of: sqlrow.MessagesOfPath, Is: `CROSS JOIN ` +
		oneByOne("messages", "x.branch = p.of AND x.seq BETWEEN p.first AND p.last") + ` m`},
	{Of: sqlrow.MessagesOfList, Is: `CROSS JOIN ` +
		oneByOne("messages", "x.branch = p.of AND x.seq = w.at AND x.seq BETWEEN p.first AND p.last") +
		` m`},
	{Of: sqlrow.PartsAsBytes, Is: `m.parts`},
	{Of: sqlrow.TimeOfFirst, Is: `(array_agg(m.created_at ORDER BY m.seq))[1], sum(m.own_bytes)`},
	{
		Of: sqlrow.InsertReceipt,
		Is: `INSERT INTO receipts (conversation_id, branch, segments, receipt, view_before, undone_at, created_at, n)
		VALUES (` + sqlrow.Marks(7) + `, ` + next("receipts") + `)`,
	},
	{
		Of: sqlrow.InsertUse,
		Is: `INSERT INTO usage_records (conversation_id, turn_id, model, purpose, request_id, at, input_tokens,
		cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated, project, total_tokens, key_id, n)
		VALUES (` + sqlrow.Marks(17) + `, ` + next("usage_records") + `)`,
	},
	{Of: sqlrow.DaySums, Is: `SELECT ` + sqlrow.DayColumns + ` FROM ` + days() + ` WHERE `},
	{Of: sqlrow.StoreSums, Is: addSums()},
	{Of: sqlrow.InsertText, Is: stays("sent_texts", "sha256",
		`INSERT INTO sent_texts (sha256, text) VALUES ($1, $2) ON CONFLICT DO NOTHING`)},
	{Of: sqlrow.OfStep, Is: `ON CONFLICT (conversation_id, turn_id, step)`},
	{Of: sqldriver.InsertArtifact, Is: stays("artifacts", "id", sqldriver.InsertArtifact)},
	{
		Of: sqldriver.LearnFactor,
		Is: `WITH free AS (SELECT model FROM models_learned WHERE model = $1 FOR UPDATE SKIP LOCKED),
		learned AS (UPDATE models_learned SET factor = $2 WHERE model IN (SELECT model FROM free))
		INSERT INTO models_learned (model, factor, facts) SELECT CAST($1 AS TEXT), $2, ''
		WHERE NOT EXISTS (SELECT 1 FROM models_learned WHERE model = $1) ON CONFLICT DO NOTHING`,
	},
	{
		Of: sqldriver.InsertChange,
		Is: `INSERT INTO pending_changes (` + sqldriver.ChangeColumns + `, k) VALUES (` + sqlrow.Marks(9) + `,
		(SELECT greatest(coalesce(max(k), 0) + 1, ` + micros + `) FROM pending_changes WHERE conversation_id = $1))`,
	},
	{
		Of: sqldriver.Tallied,
		Is: `INSERT INTO tallies (actor, start, until, count) VALUES ($1, $2, $3, 0) ON CONFLICT (actor) DO UPDATE SET start = tallies.start
		RETURNING CASE WHEN start = $2 AND until = $3 THEN count ELSE 0 END`,
	},
	{
		Of: sqldriver.PruneTallies,
		Is: `DELETE FROM tallies WHERE actor IN (SELECT actor FROM tallies WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED)`,
	},
}

// stays is an insert of what may be there already, and what is there stays until the
// transaction ends: whoever would delete it waits, and then sees what refers to it.
func stays(table, key, insert string) string {
	return `WITH added AS (` + insert + ` RETURNING 1) ` + shared(`SELECT 1 FROM `+table+` WHERE `+key+` = $1`)
}

// shared lets the row of a query stay as it is until the transaction ends; others may do the same.
func shared(query string) string { return query + ` FOR SHARE` }

// lanes are how many rows the sums of one day, model, project and currency have, so that as
// many transactions can add to them at once.
const lanes = 16

// summed are the whole numbers among the columns of usage_days, and the greatest that each can be.
var summed = []struct {
	column string
	most   int64
}{{"calls", maxCalls}, {"estimated_calls", maxCalls}, {"input_tokens", maxTokens}, {"cached_tokens", maxTokens},
	{"cache_write_tokens", maxTokens},
	{"output_tokens", maxTokens}, {"reasoning_tokens", maxTokens}, {"total_tokens", maxTokens}}

const (
	maxCalls  = 1 << 40
	maxTokens = scrollback.MaxSumTokens
)

// days are the sums of all lanes; in their order, because a sum of real numbers depends on it.
func days() string {
	var b strings.Builder
	for _, s := range summed {
		fmt.Fprintf(&b, `CAST(least(sum(%s), %d) AS BIGINT) AS %s, `, s.column, s.most, s.column)
	}
	return `(SELECT day, model, project, currency, ` + b.String() + `least(sum(cost ORDER BY lane), ` + fmt.Sprint(
		int64(scrollback.MaxSumCost),
	) + `) AS cost
		FROM usage_days GROUP BY day, model, project, currency) AS sums`
}

// addSums adds to the sums of a lane.
func addSums() string {
	var b strings.Builder
	for _, s := range summed {
		fmt.Fprintf(&b, `%s = least(usage_days.%s + excluded.%s, %d), `, s.column, s.column, s.column, s.most)
	}
	return `INSERT INTO usage_days (` + sqlrow.DayColumns + `, lane) VALUES (` + sqlrow.Marks(
		13,
	) + `, CAST(floor(random() * ` + fmt.Sprint(
		lanes,
	) + `) AS BIGINT))
		ON CONFLICT (day, model, project, currency, lane) DO UPDATE SET ` + b.String() +
		`cost = least(usage_days.cost + excluded.cost, ` + fmt.Sprint(
		int64(scrollback.MaxSumCost),
	) + `)`
}
