package sqlite

import (
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// boundLimit finds a limit that is a parameter.
var boundLimit = lazyregexp.New(`LIMIT (\$\d+)`)

// keepPlan writes a statement so that it is compiled once. SQLite plans by the value of a limit that is a bare
// parameter, and so compiles the statement again each time it is bound, which takes longer than most of them run.
func keepPlan(query string) string { return boundLimit().ReplaceAllString(query, "LIMIT ($1 + 0)") }

// newestMessage is the number of the newest message.
const newestMessage = `coalesce((SELECT max(n) FROM messages), 0)`

// What goes on where [sqlstore.Path] ends: the messages of the path. The order of joins is fixed,
// where it matters: left to choose, SQLite looks at every message for a list.
const (
	pathMessages = ` FROM (SELECT branch AS of, first, last FROM path) p
		JOIN messages m ON m.branch = p.of AND m.seq BETWEEN p.first AND p.last`
	pathMessagesListed = ` FROM (SELECT branch AS of, first, last FROM path) p CROSS JOIN (SELECT value AS at FROM json_each($4)) w
		CROSS JOIN messages m WHERE m.branch = p.of AND m.seq = w.at AND m.seq BETWEEN p.first AND p.last`
	// An index has which rows they are; the rows themselves are all over the table. Without the fixed order SQLite
	// reads the rows of all conversations.
	pathRuled = ` FROM (SELECT branch AS of, first, last FROM path) p CROSS JOIN kept k
		WHERE k.branch = p.of AND k.seq BETWEEN p.first AND p.last AND k.change = '' ORDER BY k.seq DESC, k.id DESC LIMIT $4`
)

// lineColumns are those of a [driver.IndexedBranch].
const lineColumns = `b.n, b.id, b.conversation_id, coalesce((SELECT p.n FROM branches p WHERE p.id = b.parent_branch), 0),
	b.at_seq + 1, b.head_seq`

// workedOn begins a statement about the conversations in the JSON list $1 and their sub-agents.
const workedOn = `WITH RECURSIVE here (id) AS (
		SELECT value FROM json_each($1)
		UNION SELECT a.id FROM here CROSS JOIN conversations a WHERE a.agent_of = here.id AND a.agent_of <> ''
	) `

// The atoms of each of some threads, or of a scope, that have each of some hashes, the newest of each. The name of the
// column with the hash follows, then the end.
const (
	atomsInThreads = ` FROM (SELECT value FROM json_each($1)) o CROSS JOIN (SELECT value FROM json_each($2)) h CROSS JOIN thread_atoms a WHERE a.rowid IN
		(SELECT x.rowid FROM thread_atoms x WHERE x.conversation_id = o.value AND x.`
	atomsInScope = ` FROM (SELECT value FROM json_each($2)) h CROSS JOIN thread_atoms a WHERE a.rowid IN
		(SELECT x.rowid FROM thread_atoms x WHERE x.scope = $1 AND x.`
	newestAtoms = ` = unhex(h.value) ORDER BY x.n DESC LIMIT $3)`
)

// statements are [sqlstore.Statements] of SQLite. One transaction writes at a time, so that nothing
// needs to be held.
var statements = sqlstore.Statements{
	Probe: `PRAGMA user_version`,
	Tried: `UPDATE numbers SET last = last WHERE name = 'branch'`,
	Check: `PRAGMA quick_check(100)`,

	HoldConversation: `SELECT ` + sqlstore.ConversationColumns + ` FROM conversations WHERE id = $1`,
	HoldBranch:       `SELECT ` + sqlstore.BranchColumns + ` FROM branches WHERE id = $1`,
	HoldTurn:         `SELECT ` + sqlstore.TurnColumns + ` FROM turns WHERE id = $1`,

	// The number is NULL, and SQLite's own choice, unless that would be one that came before.
	InsertMessage: `INSERT INTO messages (` + sqlstore.StoredColumns + `, n)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
			(SELECT last + 1 FROM numbers WHERE name = 'message' AND last >= ` + newestMessage + `))`,
	KeepNumbers: `INSERT INTO numbers (name, last) SELECT 'message', ` + newestMessage + ` WHERE true
		ON CONFLICT (name) DO UPDATE SET last = CASE WHEN excluded.last > numbers.last THEN excluded.last ELSE numbers.last END`,

	MessagesOnPath:       sqlstore.Path + ` SELECT ` + sqlstore.MessageColumnsOf("m") + pathMessages,
	MessagesOnPathListed: sqlstore.Path + ` SELECT ` + sqlstore.MessageColumnsOf("m") + pathMessagesListed,
	PartsOnPath:          sqlstore.Path + ` SELECT m.seq, CAST(m.parts AS BLOB)` + pathMessages,
	RuledOnPath:          sqlstore.Path + ` SELECT ` + sqlstore.RuledColumns + pathRuled,
	RuledPlacesOnPath:    sqlstore.Path + ` SELECT ` + sqlstore.RuledPlaces + pathRuled,
	StoredOnPath:         sqlstore.Path + ` SELECT ` + sqlstore.MessageColumnsOf("m") + `, m.hash` + pathMessages,

	// Beside min, SQLite takes a plain column from the row that has the minimum.
	ShapeOfPath: sqlstore.Path + ` SELECT min(m.seq), count(*), m.created_at, sum(m.own_bytes),
			count(*) FILTER (WHERE m.role = 'user'), count(*) FILTER (WHERE m.role = 'assistant')` + pathMessages + `
		GROUP BY floor(CAST((m.seq - 1) * $4 AS DOUBLE PRECISION) / CAST($3 AS DOUBLE PRECISION)) ORDER BY 1`,

	InsertReceipt: `INSERT INTO receipts (` + sqlstore.ReceiptColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
	InsertUsage: `INSERT INTO usage_records (` + sqlstore.UsageColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,

	UsageDays: `SELECT ` + sqlstore.UsageDayColumns + ` FROM usage_days WHERE day >= $1 AND day <= $2
		ORDER BY day, model, project, currency`,
	UsageDaysOfModel: `SELECT ` + sqlstore.UsageDayColumns + ` FROM usage_days WHERE day = $1 AND model = $2
		ORDER BY day, model, project, currency`,
	AllUsageDays: `SELECT ` + sqlstore.UsageDayColumns + ` FROM usage_days ORDER BY day, model, project, currency`,
	StoreUsageDay: `INSERT INTO usage_days (` + sqlstore.UsageDayColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (day, model, project, currency) DO UPDATE SET calls = excluded.calls,
		estimated_calls = excluded.estimated_calls, input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens,
		cache_write_tokens = excluded.cache_write_tokens, output_tokens = excluded.output_tokens,
		reasoning_tokens = excluded.reasoning_tokens, total_tokens = excluded.total_tokens, cost = excluded.cost`,

	InsertText: `INSERT INTO sent_texts (sha256, text) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
	InsertArtifact: `INSERT INTO artifacts (` + sqlstore.ArtifactColumns + `) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`,
	StoreStep: `INSERT INTO turn_steps (turn_id, step, conversation_id, sent) VALUES ($1, $2, $3, $4)
		ON CONFLICT (turn_id, step) DO UPDATE SET sent = excluded.sent`,
	StoreFactor: `INSERT INTO models_learned (model, factor, facts) VALUES ($1, $2, '')
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor`,
	InsertChange: `INSERT INTO changes (` + sqlstore.ChangeColumns + `, k)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, random())`,
	HoldTally:    `SELECT count FROM tallies WHERE actor = $1 AND start = $2 AND until = $3`,
	PruneTallies: `DELETE FROM tallies WHERE actor IN (SELECT actor FROM tallies WHERE until <= $1 ORDER BY until LIMIT $2)`,

	CallsListed:   `SELECT DISTINCT call FROM imported_calls WHERE call IN (SELECT value FROM json_each($1))`,
	NewestMessage: `SELECT ` + newestMessage,
	MessagesBehind: `SELECT ` + sqlstore.MessageColumns + `, n, coalesce((SELECT b.n FROM branches b WHERE b.id = messages.branch), 0)
		FROM messages WHERE n > $1 ORDER BY n LIMIT $2`,
	NumbersBehind: `SELECT id, seq, n, coalesce((SELECT b.n FROM branches b WHERE b.id = messages.branch), 0)
		FROM messages WHERE n > $1 ORDER BY n LIMIT $2`,
	SeqsBehind: `SELECT seq FROM messages WHERE branch = (SELECT b.id FROM branches b WHERE b.n = $1)
		AND seq BETWEEN $2 AND $3 AND n <= $4`,
	MessagesAtPlaces: `SELECT ` + sqlstore.MessageColumnsOf("m") + `, l.value FROM (SELECT value FROM json_each($1)) l
		CROSS JOIN messages m WHERE m.branch = (SELECT b.id FROM branches b WHERE b.n = l.value >> 32)
		AND m.seq = (l.value & 4294967295)`,
	VectorsAtPlaces: `SELECT v.branch, v.seq, v.scale, v.data FROM (SELECT value FROM json_each($1)) l
		CROSS JOIN vectors v WHERE v.branch = l.value >> 32 AND v.seq = (l.value & 4294967295)`,
	LinesNumbered: `SELECT ` + lineColumns + `, c.project, c.deleted_at FROM branches b
		JOIN conversations c ON c.id = b.conversation_id WHERE b.n IN (SELECT value FROM json_each($1))`,
	ForksBelow: `WITH RECURSIVE below (id, parent_branch, at_seq, conversation_id) AS (
			SELECT p.id, p.parent_branch, p.at_seq, p.conversation_id FROM branches p
				WHERE p.n IN (SELECT value FROM json_each($1))
			UNION SELECT b.id, b.parent_branch, b.at_seq, b.conversation_id FROM below CROSS JOIN conversations c CROSS JOIN branches b
				WHERE c.id = below.conversation_id AND c.deleted_at <> 0 AND b.parent_branch = below.id AND b.parent_branch <> '')
		SELECT below.parent_branch, below.id, below.at_seq, below.conversation_id, c.project, c.deleted_at <> 0
		FROM below CROSS JOIN conversations c WHERE c.id = below.conversation_id`,
	LinesWorkedOn: workedOn + `SELECT ` + lineColumns + `, c.project, c.agent_of <> '', c.branch = b.id,
			coalesce((SELECT m.created_at FROM messages m WHERE m.branch = b.id AND m.seq = b.head_seq), 0)
		FROM here CROSS JOIN conversations c CROSS JOIN branches b
		WHERE c.id = here.id AND c.deleted_at = 0 AND b.conversation_id = c.id`,
	WorkedParts: `coalesce(group_concat(part || ' ' || bits), '')`,
	ListedIDs:   `json_group_array(listed.id)`,
	LastBlocks: `SELECT b.segment, b.first_term, b.start, b.data FROM index_segments s
		JOIN index_blocks b ON b.id = (SELECT x.id FROM index_blocks x WHERE x.segment = s.id AND x.first_term <= $1
			ORDER BY x.first_term DESC, x.start DESC LIMIT 1)
		WHERE s.state = 1`,
	ThreadAtomsByKey:          `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInThreads + `key_hash` + newestAtoms,
	ThreadAtomsByCall:         `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInThreads + `call_hash` + newestAtoms,
	ThreadAtomsByQuote:        `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInThreads + `quote_hash` + newestAtoms,
	ThreadAtomsByKeyInScope:   `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInScope + `key_hash` + newestAtoms,
	ThreadAtomsByCallInScope:  `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInScope + `call_hash` + newestAtoms,
	ThreadAtomsByQuoteInScope: `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInScope + `quote_hash` + newestAtoms,
	ThreadRequestsRolled: sqlstore.SelectThreadRequests + `(SELECT value FROM json_each($2)) h CROSS JOIN thread_requests r` +
		sqlstore.JoinRunningTurns + `WHERE r.rowid IN (SELECT x.rowid FROM thread_requests x
			WHERE x.scope = $1 AND x.rolling = unhex(h.value) AND x.side = '' ORDER BY x.n DESC LIMIT $3)`,
	MarksListed: `SELECT m.start, m.data FROM (SELECT value FROM json_each($2)) l
		CROSS JOIN index_marks m WHERE m.segment = $1 AND m.start = l.value`,
}
