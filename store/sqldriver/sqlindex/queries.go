package sqlindex

import "github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"

// What a database may say in its own way, because it numbers messages otherwise.
const (
	// Newest is the number of the newest message.
	Newest = `coalesce((SELECT max(n) FROM messages), 0)`

	// Numbered are messages with the numbers of each and of its branch, after number $1.
	Numbered = `, n, coalesce((SELECT b.n FROM branches b WHERE b.id = messages.branch), 0)
		FROM messages WHERE n > $1 ORDER BY n LIMIT $2`

	// Early is the condition that a message of the branch with number $1 has no later number than $4.
	Early = `messages.n <= $4`

	// Listed are the numbers in the JSON list $1.
	Listed = `(SELECT value FROM json_each($1))`

	// MessagesListed joins the messages at the places of [Listed] l, and MarksListed the marks of
	// segment $2 that begin there.
	MessagesListed = `CROSS JOIN messages WHERE messages.branch = (SELECT b.id FROM branches b WHERE b.n = l.value >> 32)
		AND messages.seq = (l.value & 4294967295)`
	MarksListed = `CROSS JOIN index_marks m WHERE m.segment = $2 AND m.start = l.value`

	// KeepNewest remembers the number of the newest message, before those of branch $1 are
	// deleted from seq $2 on.
	KeepNewest = `INSERT INTO numbers (name, last) SELECT 'message', ` + Newest + ` WHERE true
		ON CONFLICT (name) DO UPDATE SET last = CASE WHEN excluded.last > numbers.last THEN excluded.last ELSE numbers.last END`

	// LastBlock joins the block b of segment s that term $1 is in, if it is there.
	LastBlock = `JOIN index_blocks b
		ON b.id = (SELECT x.id FROM index_blocks x WHERE x.segment = s.id AND x.first_term <= $1 ORDER BY x.first_term DESC, x.start DESC LIMIT 1)`

	// AgentsHere, BranchesHere and LinesHere read what belongs to the conversations of the table
	// here, one after the other: CROSS says that tables are read in this order.
	AgentsHere   = `SELECT a.id FROM here CROSS JOIN conversations a WHERE a.agent_of = here.id AND a.agent_of <> ''`
	BranchesHere = `FROM here CROSS JOIN branches b WHERE b.conversation_id = here.id AND b.n > 0`
	LinesHere    = `FROM here CROSS JOIN conversations c CROSS JOIN branches b
		WHERE c.id = here.id AND c.deleted_at = 0 AND b.conversation_id = c.id`

	// ForksBelow are the branches that were forked from those of the table below that are in
	// the trash, and ConversationsBelow the conversation of each.
	ForksBelow = `FROM below CROSS JOIN conversations c CROSS JOIN branches b
		WHERE c.id = below.conversation_id AND c.deleted_at <> 0 AND b.parent_branch = below.id AND b.parent_branch <> ''`
	ConversationsBelow = `FROM below CROSS JOIN conversations c WHERE c.id = below.conversation_id`

	// forksBelow reads all of them, and those that they were forked from.
	forksBelow = `WITH RECURSIVE below (id, parent_branch, at_seq, conversation_id) AS (
			SELECT p.id, p.parent_branch, p.at_seq, p.conversation_id FROM branches p WHERE p.n IN ` + Listed + `
			UNION SELECT b.id, b.parent_branch, b.at_seq, b.conversation_id ` + ForksBelow + `)
		SELECT below.parent_branch, below.id, below.at_seq, below.conversation_id, c.project, c.deleted_at <> 0 ` + ConversationsBelow

	// nextMessage is the number of the next message, where the database would give one that
	// came before, and NULL elsewhere.
	nextMessage = `(SELECT last + 1 FROM numbers WHERE name = 'message' AND last >= ` + Newest + `)`

	messagesFrom = `SELECT ` + sqlrow.MessageColumns + Numbered
	messagesAt   = `SELECT ` + sqlrow.MessageColumns + `, l.value FROM ` + Listed + ` l ` + MessagesListed
)

// InsertMessage inserts a message with its hash, and with the next number.
var InsertMessage = `INSERT INTO messages (` + sqlrow.StoredColumns + `, n) VALUES (` + sqlrow.Marks(21) + `, ` +
	nextMessage + `)`

// The statements of a [snapshot].
const (
	theState = `SELECT cut, watermark, dropped, forgotten FROM index_state WHERE id = 1`

	droppedRuns = `SELECT n, branch, first_seq FROM index_dropped WHERE n > $1 ORDER BY n`

	liveSegments = `SELECT id, tier, documents, terms, clean, places FROM index_segments WHERE state = 1 ORDER BY id`

	// lastBlocks finds in each segment the block that a term is in, if it is there: the last one
	// that begins at it or before.
	lastBlocks = `SELECT b.segment, b.first_term, b.start, b.data FROM index_segments s ` + LastBlock + `
		WHERE s.state = 1`

	// blocksFrom finds the blocks that begin with a term, or after it and before another.
	blocksFrom = `SELECT b.segment, b.first_term, b.start, b.data FROM index_segments s JOIN index_blocks b
			ON b.segment = s.id AND b.first_term >= $1 AND b.first_term < $2 WHERE s.state = 1`

	// partsOf finds the parts of a term that have documents from one to before another.
	partsOf = `SELECT segment, first_term, start, data FROM index_blocks WHERE segment = $1 AND first_term = $2 AND start < $4
		AND start >= coalesce((SELECT max(x.start) FROM index_blocks x WHERE x.segment = $1 AND x.first_term = $2 AND x.start <= $3), 0)
		ORDER BY start`

	// marksAt finds the marks of documents in a stretch of time, marksFrom those of some rows.
	marksAt   = `SELECT start, from_time, to_time, data FROM index_marks WHERE segment = $1 AND to_time >= $2 AND from_time < $3`
	marksFrom = `SELECT m.start, m.data FROM ` + Listed + ` l ` + MarksListed
)

// prepared are all of them: they are prepared before a transaction has the last connection.
var prepared = []string{theState, droppedRuns, liveSegments, lastBlocks, blocksFrom, partsOf, marksAt, marksFrom}
