package postgres

import sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"

// nowMicros is the time in microseconds, by which rows are put in order that have no number yet.
const nowMicros = `CAST(floor(extract(epoch FROM clock_timestamp()) * 1000000) AS BIGINT)`

// randomBits is twelve bits.
const randomBits = `CAST(floor(random() * 4096) AS BIGINT)`

// What goes on where [sqlstore.Path] ends: the messages of the path, branch by branch. The offset
// keeps the rows of messages from being joined with a table that is read as a whole, because nobody
// knows how many branches come before.
const (
	pathMessages = ` FROM (SELECT branch AS of, first, last FROM path) p
		CROSS JOIN LATERAL (SELECT x.* FROM messages x WHERE x.branch = p.of AND x.seq BETWEEN p.first AND p.last OFFSET 0) m`
	pathMessagesListed = ` FROM (SELECT branch AS of, first, last FROM path) p
		CROSS JOIN (SELECT CAST(value AS BIGINT) AS at FROM json_array_elements_text(CAST(CAST($4 AS TEXT) AS JSON)) AS list (value)) w
		CROSS JOIN LATERAL (SELECT x.* FROM messages x
			WHERE x.branch = p.of AND x.seq = w.at AND x.seq BETWEEN p.first AND p.last OFFSET 0) m`
	pathRuled = ` FROM (SELECT branch AS of, first, last FROM path) p
		CROSS JOIN LATERAL (SELECT x.* FROM kept x
			WHERE x.branch = p.of AND x.seq BETWEEN p.first AND p.last AND x.change = '' OFFSET 0) k
		ORDER BY k.seq DESC, k.id DESC LIMIT $4`
)

// lineColumns are those of a [driver.IndexedBranch].
const lineColumns = `b.n, b.id, b.conversation_id, coalesce((SELECT p.n FROM branches p WHERE p.id = b.parent_branch), 0),
	b.at_seq + 1, b.head_seq`

// workedOn begins a statement about the conversations in the JSON list $1 and their sub-agents.
const workedOn = `WITH RECURSIVE here (id) AS (
		SELECT value COLLATE "C" FROM json_array_elements_text(CAST(CAST($1 AS TEXT) AS JSON)) AS list (value)
		UNION SELECT a.id FROM here
			CROSS JOIN LATERAL (SELECT x.* FROM conversations x WHERE x.agent_of = here.id AND x.agent_of <> '' OFFSET 0) a
	) `

// hashesListed are the hashes h in the JSON list $2.
const hashesListed = `(SELECT decode(value, 'hex') AS value
	FROM json_array_elements_text(CAST(CAST($2 AS TEXT) AS JSON)) AS list (value)) h`

// The atoms of each of some threads, or of a scope, that have each of some hashes, the newest of each. The name of the
// column with the hash follows, then the end.
const (
	atomsInThreads = ` FROM (SELECT value FROM json_array_elements_text(CAST(CAST($1 AS TEXT) AS JSON)) AS list (value)) o
		CROSS JOIN ` + hashesListed + ` CROSS JOIN LATERAL (SELECT x.* FROM thread_atoms x
			WHERE x.conversation_id = o.value COLLATE "C" AND x.`
	atomsInScope = ` FROM ` + hashesListed + ` CROSS JOIN LATERAL (SELECT x.* FROM thread_atoms x
			WHERE x.scope = $1 AND x.`
	newestAtoms = ` = h.value ORDER BY x.n DESC LIMIT $3) a`
)

// numbersListed are the numbers in the JSON list $1.
const numbersListed = `(SELECT CAST(value AS BIGINT) AS value FROM json_array_elements_text(CAST(CAST($1 AS TEXT) AS JSON)) AS list (value))`

// The greatest that sums can be.
const (
	maxCalls  = `1099511627776`
	maxTokens = `9007199254740992`
	maxCost   = `1000000000000000`
)

// laneSums are the sums of all lanes; in their order, because a sum of real numbers depends on it.
const laneSums = `(SELECT day, model, project, currency, CAST(least(sum(calls), ` + maxCalls + `) AS BIGINT) AS calls,
		CAST(least(sum(estimated_calls), ` + maxCalls + `) AS BIGINT) AS estimated_calls,
		CAST(least(sum(input_tokens), ` + maxTokens + `) AS BIGINT) AS input_tokens,
		CAST(least(sum(cached_tokens), ` + maxTokens + `) AS BIGINT) AS cached_tokens,
		CAST(least(sum(cache_write_tokens), ` + maxTokens + `) AS BIGINT) AS cache_write_tokens,
		CAST(least(sum(output_tokens), ` + maxTokens + `) AS BIGINT) AS output_tokens,
		CAST(least(sum(reasoning_tokens), ` + maxTokens + `) AS BIGINT) AS reasoning_tokens,
		CAST(least(sum(total_tokens), ` + maxTokens + `) AS BIGINT) AS total_tokens,
		least(sum(cost ORDER BY lane), ` + maxCost + `) AS cost
	FROM usage_days GROUP BY day, model, project, currency) AS sums`

// The two parts of InsertMessage. A message whose id is taken gets no seq, which the table refuses: so
// nobody needs to wait for what became of it before the commit is sent.
const addPendingMessage = `INSERT INTO pending_messages (conversation_id, branch, seq, k)
		SELECT conversation_id, branch, seq, ` + nowMicros + ` FROM added`

var addMessage = `added AS (INSERT INTO messages (` + sqlstore.StoredColumns + `)
			VALUES ($1, $2, $3, CASE WHEN EXISTS (SELECT 1 FROM messages WHERE id = $1) THEN NULL ELSE CAST($4 AS BIGINT) END,
			$5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) RETURNING conversation_id, branch, seq)`

// statements are [sqlstore.Statements] of PostgreSQL. Rows of many servers are numbered after they
// are committed, and what a transaction judges by it locks.
var statements = sqlstore.Statements{
	Probe: `SELECT last FROM numbers WHERE name = 'probe'`,
	Check: `SELECT 'ok'`,

	HoldConversation: `SELECT ` + sqlstore.ConversationColumns + ` FROM conversations WHERE id = $1 FOR UPDATE`,
	HoldBranch:       `SELECT ` + sqlstore.BranchColumns + ` FROM branches WHERE id = $1 FOR UPDATE`,
	HoldTurn:         `SELECT ` + sqlstore.TurnColumns + ` FROM turns WHERE id = $1 FOR UPDATE`,
	ReadHead: `SELECT ` + sqlstore.ColumnsOf("b", sqlstore.BranchColumns) + `, ` + sqlstore.ColumnsOf("t", sqlstore.TurnColumns) + ` FROM conversations c LEFT JOIN branches b ON b.id = c.branch
		LEFT JOIN turns t ON t.id = c.turn WHERE c.id = $1`,
	HoldConversationOfTurn: `SELECT ` + sqlstore.ConversationColumns + ` FROM conversations
		WHERE id = (SELECT conversation_id FROM turns WHERE id = $1) FOR UPDATE`,
	ReadHeadOfTurn: `SELECT ` + sqlstore.ColumnsOf("t", sqlstore.TurnColumns) + `, ` + sqlstore.ColumnsOf("b", sqlstore.BranchColumns) + `
		FROM (SELECT ` + sqlstore.TurnColumns + ` FROM turns WHERE id = $1 FOR UPDATE) t
		LEFT JOIN conversations c ON c.id = t.conversation_id LEFT JOIN branches b ON b.id = c.branch`,
	HoldModel: `SELECT model FROM models_learned WHERE model = $1 FOR UPDATE`,
	HoldTexts: `SELECT sha256 FROM sent_texts WHERE sha256 IN (SELECT sha256 FROM sent_text_uses WHERE conversation_id = $1)
		ORDER BY sha256 FOR UPDATE`,
	HoldArtifact:      `SELECT id FROM artifacts WHERE id = $1 FOR UPDATE`,
	HoldNewestMessage: `SELECT last FROM numbers WHERE name = 'message' FOR UPDATE`,
	HoldIndexState:    `SELECT cut, watermark, dropped, forgotten FROM index_state WHERE id = 1 FOR UPDATE`,
	HoldVectorState:   `SELECT model FROM vector_state WHERE id = 1 FOR UPDATE`,
	HoldName:          `INSERT INTO numbers (name, last) VALUES ($1, 0) ON CONFLICT (name) DO UPDATE SET last = numbers.last`,

	InsertMessage: `WITH ` + addMessage + ` ` + addPendingMessage,
	KeepNumbers: `WITH later AS (DELETE FROM message_runs WHERE branch = $1 AND first_seq >= $2),
			unnumbered AS (DELETE FROM pending_messages WHERE branch = $1 AND seq >= $2)
		UPDATE message_runs SET last_n = last_n - (last_seq - $2 + 1), last_seq = $2 - 1
		WHERE branch = $1 AND first_seq < $2 AND last_seq >= $2`,

	MessagesOnPath:       sqlstore.Path + ` SELECT ` + sqlstore.MessageColumnsOf("m") + pathMessages,
	MessagesOnPathListed: sqlstore.Path + ` SELECT ` + sqlstore.MessageColumnsOf("m") + pathMessagesListed,
	PartsOnPath:          sqlstore.Path + ` SELECT m.seq, m.parts` + pathMessages,
	RuledOnPath:          sqlstore.Path + ` SELECT ` + sqlstore.RuledColumns + pathRuled,
	RuledPlacesOnPath:    sqlstore.Path + ` SELECT ` + sqlstore.RuledPlaces + pathRuled,
	StoredOnPath:         sqlstore.Path + ` SELECT ` + sqlstore.MessageColumnsOf("m") + `, m.hash` + pathMessages,
	ShapeOfPath: sqlstore.Path + ` SELECT min(m.seq), count(*), (array_agg(m.created_at ORDER BY m.seq))[1], sum(m.own_bytes),
			count(*) FILTER (WHERE m.role = 'user'), count(*) FILTER (WHERE m.role = 'assistant')` + pathMessages + `
		GROUP BY floor(CAST((m.seq - 1) * $4 AS DOUBLE PRECISION) / CAST($3 AS DOUBLE PRECISION)) ORDER BY 1`,

	// The number of a row is above those of its conversation, and that of no row of another one: it has
	// the time in it, and some bits by chance.
	InsertReceipt: `INSERT INTO receipts (` + sqlstore.ReceiptColumns + `, n) VALUES ($1, $2, $3, $4, $5, $6, $7,
		(SELECT greatest(coalesce(max(n), 0) + 1, ` + nowMicros + ` * 4096 + ` + randomBits + `) FROM receipts WHERE conversation_id = $1))`,
	InsertUsage: `INSERT INTO usage_records (` + sqlstore.UsageColumns + `, n)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
		(SELECT greatest(coalesce(max(n), 0) + 1, ` + nowMicros + ` * 4096 + ` + randomBits + `) FROM usage_records WHERE conversation_id = $1))`,

	UsageDays: `SELECT ` + sqlstore.UsageDayColumns + ` FROM ` + laneSums + ` WHERE day >= $1 AND day <= $2
		ORDER BY day, model, project, currency`,
	UsageDaysOfModel: `SELECT ` + sqlstore.UsageDayColumns + ` FROM ` + laneSums + ` WHERE day = $1 AND model = $2
		ORDER BY day, model, project, currency`,
	AllUsageDays: `SELECT ` + sqlstore.UsageDayColumns + ` FROM ` + laneSums + ` ORDER BY day, model, project, currency`,
	// The sums of one day, model, project and currency have as many rows as there are lanes, so that as many
	// transactions can add to them at once. The lane ($14) is that of the connection.
	StoreUsageDay: `INSERT INTO usage_days (` + sqlstore.UsageDayColumns + `, lane)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (day, model, project, currency, lane) DO UPDATE SET
		calls = least(usage_days.calls + excluded.calls, ` + maxCalls + `),
		estimated_calls = least(usage_days.estimated_calls + excluded.estimated_calls, ` + maxCalls + `),
		input_tokens = least(usage_days.input_tokens + excluded.input_tokens, ` + maxTokens + `),
		cached_tokens = least(usage_days.cached_tokens + excluded.cached_tokens, ` + maxTokens + `),
		cache_write_tokens = least(usage_days.cache_write_tokens + excluded.cache_write_tokens, ` + maxTokens + `),
		output_tokens = least(usage_days.output_tokens + excluded.output_tokens, ` + maxTokens + `),
		reasoning_tokens = least(usage_days.reasoning_tokens + excluded.reasoning_tokens, ` + maxTokens + `),
		total_tokens = least(usage_days.total_tokens + excluded.total_tokens, ` + maxTokens + `),
		cost = least(usage_days.cost + excluded.cost, ` + maxCost + `)`,

	// What may be there is locked: somebody who would delete it waits, and then sees what refers to it.
	InsertText: `WITH added AS (INSERT INTO sent_texts (sha256, text) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1)
		SELECT 1 FROM sent_texts WHERE sha256 = $1 FOR SHARE`,
	InsertArtifact: `WITH added AS (INSERT INTO artifacts (` + sqlstore.ArtifactColumns + `) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING RETURNING 1)
		SELECT 1 FROM artifacts WHERE id = $1 FOR SHARE`,
	StoreStep: `INSERT INTO turn_steps (turn_id, step, conversation_id, sent) VALUES ($1, $2, $3, $4)
		ON CONFLICT (conversation_id, turn_id, step) DO UPDATE SET sent = excluded.sent`,
	StoreFactor: `WITH free AS (SELECT model FROM models_learned WHERE model = $1 FOR UPDATE SKIP LOCKED),
			learned AS (UPDATE models_learned SET factor = $2 WHERE model IN (SELECT model FROM free))
		INSERT INTO models_learned (model, factor, facts) SELECT CAST($1 AS TEXT), $2, ''
		WHERE NOT EXISTS (SELECT 1 FROM models_learned WHERE model = $1) ON CONFLICT DO NOTHING`,
	InsertChange: `INSERT INTO pending_changes (` + sqlstore.ChangeColumns + `, k) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
		(SELECT greatest(coalesce(max(k), 0) + 1, ` + nowMicros + `) FROM pending_changes WHERE conversation_id = $1))`,
	PendingChanges: `SELECT DISTINCT conversation_id FROM pending_changes`,
	HoldTally: `INSERT INTO tallies (actor, start, until, count) VALUES ($1, $2, $3, 0)
		ON CONFLICT (actor) DO UPDATE SET start = tallies.start
		RETURNING CASE WHEN start = $2 AND until = $3 THEN count ELSE 0 END`,
	PruneTallies: `DELETE FROM tallies WHERE actor IN
		(SELECT actor FROM tallies WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED)`,

	CallsListed: `SELECT DISTINCT call FROM imported_calls WHERE call IN (SELECT value FROM
		json_array_elements_text(CAST(CAST($1 AS TEXT) AS JSON)) AS list (value))`,
	NewestMessage: `SELECT last FROM numbers WHERE name = 'message'`,
	MessagesBehind: `SELECT ` + sqlstore.MessageColumns + `, n, coalesce((SELECT b.n FROM branches b WHERE b.id = messages.branch), 0)
		FROM (SELECT m.*, r.first_n + m.seq - r.first_seq AS n, r.last_n FROM message_runs r JOIN messages m
			ON m.conversation_id = r.conversation_id AND m.branch = r.branch AND m.seq <= r.last_seq
			AND m.seq >= r.first_seq + greatest($1 + 1 - r.first_n, 0) WHERE r.last_n > $1) AS messages
		ORDER BY last_n, seq LIMIT $2`,
	NumbersBehind: `SELECT id, seq, n, coalesce((SELECT b.n FROM branches b WHERE b.id = messages.branch), 0)
		FROM (SELECT m.id, m.seq, m.branch, r.first_n + m.seq - r.first_seq AS n, r.last_n
			FROM message_runs r JOIN messages m
			ON m.conversation_id = r.conversation_id AND m.branch = r.branch AND m.seq <= r.last_seq
			AND m.seq >= r.first_seq + greatest($1 + 1 - r.first_n, 0) WHERE r.last_n > $1) AS messages
		ORDER BY last_n, seq LIMIT $2`,
	SeqsBehind: `SELECT seq FROM messages WHERE branch = (SELECT b.id FROM branches b WHERE b.n = $1)
		AND seq BETWEEN $2 AND $3 AND EXISTS (SELECT 1 FROM message_runs r WHERE r.branch = messages.branch
			AND messages.seq BETWEEN r.first_seq AND r.last_seq AND r.first_n + messages.seq - r.first_seq <= $4)`,
	MessagesAtPlaces: `SELECT ` + sqlstore.MessageColumnsOf("m") + `, l.value FROM ` + numbersListed + ` l
		CROSS JOIN LATERAL (SELECT x.* FROM messages x WHERE x.branch = (SELECT b.id FROM branches b WHERE b.n = l.value >> 32)
			AND x.seq = (l.value & 4294967295) OFFSET 0) m`,
	VectorsAtPlaces: `SELECT m.branch, m.seq, m.scale, m.data FROM ` + numbersListed + ` l
		CROSS JOIN LATERAL (SELECT x.* FROM vectors x WHERE x.branch = l.value >> 32
			AND x.seq = (l.value & 4294967295) OFFSET 0) m`,
	LinesNumbered: `SELECT ` + lineColumns + `, c.project, c.deleted_at FROM branches b
		JOIN conversations c ON c.id = b.conversation_id WHERE b.n IN ` + numbersListed,
	ForksBelow: `WITH RECURSIVE below (id, parent_branch, at_seq, conversation_id) AS (
			SELECT p.id, p.parent_branch, p.at_seq, p.conversation_id FROM branches p WHERE p.n IN ` + numbersListed + `
			UNION SELECT b.id, b.parent_branch, b.at_seq, b.conversation_id FROM below
				CROSS JOIN LATERAL (SELECT x.* FROM conversations x
					WHERE x.id = below.conversation_id AND x.deleted_at <> 0 OFFSET 0) c
				CROSS JOIN LATERAL (SELECT x.* FROM branches x
					WHERE x.parent_branch = below.id AND x.parent_branch <> '' OFFSET 0) b)
		SELECT below.parent_branch, below.id, below.at_seq, below.conversation_id, c.project, c.deleted_at <> 0 FROM below
		CROSS JOIN LATERAL (SELECT x.* FROM conversations x WHERE x.id = below.conversation_id OFFSET 0) c`,
	LinesWorkedOn: workedOn + `SELECT ` + lineColumns + `, c.project, c.agent_of <> '', c.branch = b.id,
			coalesce((SELECT m.created_at FROM messages m WHERE m.branch = b.id AND m.seq = b.head_seq), 0)
		FROM here CROSS JOIN LATERAL (SELECT x.* FROM conversations x WHERE x.id = here.id AND x.deleted_at = 0 OFFSET 0) c
		CROSS JOIN LATERAL (SELECT x.* FROM branches x WHERE x.conversation_id = c.id OFFSET 0) b`,
	ListedIDs: `coalesce(CAST(json_agg(listed.id) AS TEXT), '[]')`,
	BranchesWorkedOn: workedOn + `SELECT coalesce(string_agg(CAST(b.n AS TEXT), ','), '') FROM here
		CROSS JOIN LATERAL (SELECT x.* FROM branches x WHERE x.conversation_id = here.id AND x.n > 0 OFFSET 0) b`,
	LastBlocks: `SELECT b.segment, b.first_term, b.start, b.data FROM index_segments s
		JOIN LATERAL (SELECT x.segment, x.first_term, x.start, x.data FROM index_blocks x
			WHERE x.segment = s.id AND x.first_term <= $1 ORDER BY x.first_term DESC, x.start DESC LIMIT 1) b ON true
		WHERE s.state = 1`,
	ThreadAtomsByKey:          `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInThreads + `key_hash` + newestAtoms,
	ThreadAtomsByCall:         `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInThreads + `call_hash` + newestAtoms,
	ThreadAtomsByQuote:        `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInThreads + `quote_hash` + newestAtoms,
	ThreadAtomsByKeyInScope:   `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInScope + `key_hash` + newestAtoms,
	ThreadAtomsByCallInScope:  `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInScope + `call_hash` + newestAtoms,
	ThreadAtomsByQuoteInScope: `SELECT ` + sqlstore.ThreadAtomColumnsOf("a") + atomsInScope + `quote_hash` + newestAtoms,
	ThreadRequestsRolled: sqlstore.SelectThreadRequests + hashesListed + ` CROSS JOIN LATERAL (SELECT x.* FROM thread_requests x
			WHERE x.scope = $1 AND x.rolling = h.value AND x.side = '' ORDER BY x.n DESC LIMIT $3) r` +
		sqlstore.JoinRunningTurns,
	MarksListed: `SELECT m.start, m.data
		FROM (SELECT CAST(value AS BIGINT) AS value FROM json_array_elements_text(CAST(CAST($2 AS TEXT) AS JSON)) AS list (value)) l
		CROSS JOIN LATERAL (SELECT x.* FROM index_marks x WHERE x.segment = $1 AND x.start = l.value OFFSET 0) m`,
}
