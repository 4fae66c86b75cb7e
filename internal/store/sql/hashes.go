package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	sqldriver "database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// hashSize is how many bytes of a SHA-256 are kept for each message: enough to notice damage. It
// is no protection against somebody who can write to the database, and so change the hash too.
const hashSize = 16

// insertHashes keeps hashes of a run of messages that have none in their rows.
const insertHashes = `INSERT INTO message_hashes (conversation_id, branch, first_seq, last_seq, hashes) VALUES ($1, $2, $3, $4, $5)`

// RestartHashing lets the making of hashes begin again.
const RestartHashing = `UPDATE message_hashing SET conversation_id = '', branch = '', seq = 0, ended = 0 WHERE id = 1`

// HashColumn is where a row of [StoredColumns] has its hash, behind what that covers.
var HashColumn = len(messageTable.columns)

// Where rows of messages have what is looked at without reading them as messages.
var (
	messageID     = messageTable.columnIndex("id")
	messageBranch = messageTable.columnIndex("branch")
	messageSeq    = messageTable.columnIndex("seq")
)

// isPlace says which columns of a row say where a message is: those are known in the transaction
// that stores it, and the others before.
var isPlace = func() []bool {
	out := make([]bool, HashColumn)
	for _, at := range messagePlaces {
		out[at] = true
	}
	return out
}()

// hashMessage is what a row of [MessageColumns] hashes to: all of its columns. It is made of the
// columns as they are stored, and not of what a program makes of them, so that no later program
// can come to another one.
func hashMessage(row Row) ([]byte, error) {
	body, err := hashColumns(make([]byte, 0, 512), row, false)
	if err != nil {
		return nil, err
	}
	return bodyHash(sha256.Sum256(body)).atPlace(row)
}

// bodyHash is the hash of the columns of a message that do not say where it is.
type bodyHash [sha256.Size]byte

// hashBody hashes what is known of a message before the transaction that stores it: one
// goroutine writes, and many wait for it. It takes the values of its row.
func hashBody(values []any) (bodyHash, error) {
	row, err := storedRow(values)
	if err != nil {
		return bodyHash{}, err
	}
	text, err := hashColumns(make([]byte, 0, 512), row, false)
	return sha256.Sum256(text), err
}

// at is the hash of the message at its place. It takes the same values once they say where that is.
func (b bodyHash) at(values []any) ([]byte, error) {
	row, err := storedRow(values)
	if err != nil {
		return nil, err
	}
	return b.atPlace(row)
}

func (b bodyHash) atPlace(row Row) ([]byte, error) {
	text, err := hashColumns(append(make([]byte, 0, 256), b[:]...), row, true)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return sum[:hashSize:hashSize], nil
}

// hashColumns appends the columns that say where a message is, or the others.
func hashColumns(to []byte, row Row, place bool) ([]byte, error) {
	for i, v := range row[:HashColumn] {
		if isPlace[i] != place {
			continue
		}
		var err error
		if to, err = appendHashed(to, v); err != nil {
			return nil, err
		}
	}
	return to, nil
}

const (
	walkBytes  = 4 << 20 // that one step reads, if no message is larger
	hashesEach = 256     // messages whose hashes one row has
	walkHops   = 1000    // branches and conversations that one step looks into
)

// VerifyHashes implements [driver.Admin].
func (db admin) VerifyHashes(ctx context.Context, q driver.MessageQuery) (driver.HashComparison, error) {
	var c hashCheck
	err := db.Readers.Query(ctx, c.checkRow, db.Dialect.StoredOnPath, q.Branch, q.From, q.To)
	if err == nil {
		err = c.checkBeside(ctx, db.Readers)
	}
	if err != nil {
		return driver.HashComparison{}, db.wrapError("sqlstore.VerifyHashes", err)
	}
	slices.SortFunc(c.damaged, func(a, b driver.DamagedMessage) int { return cmp.Compare(a.Seq, b.Seq) })
	return driver.HashComparison{Damaged: c.damaged, Without: int64(len(c.without))}, nil
}

// RefillHashes implements [driver.Admin].
func (db admin) RefillHashes(ctx context.Context) error {
	return db.write(ctx, "sqlstore.RefillHashes", func(ctx context.Context, w *writeTx) error {
		return w.tx.Queue(ctx, RestartHashing)
	})
}

// walkPlace is how far the whole log was walked: up to a message of a branch of a conversation.
type walkPlace struct {
	conversation scrollback.ConversationID
	branch       scrollback.BranchID
	seq          int64
	ended        bool
}

func (p *walkPlace) scan(r Row) error {
	return r.Scan(&p.conversation, &p.branch, &p.seq, &p.ended)
}

// logWalk walks the messages of all branches, of one conversation after the other.
type logWalk struct {
	db   admin
	at   walkPlace
	left int // messages that may still be read
	room int // bytes
}

// hashStep is a step under way: what it has read, to be written in one transaction.
type hashStep struct {
	logWalk
	runs []newHashes
}

// newHashes are hashes of messages that follow each other.
type newHashes struct {
	conversation scrollback.ConversationID
	branch       scrollback.BranchID
	first, last  int64
	hashes       []byte
}

// FillHashes implements [driver.Admin]. What is hashed is read before the transaction, because it
// never changes; what a purge has taken away meanwhile is noticed in it.
func (db admin) FillHashes(ctx context.Context, limit int) (driver.FillResult, error) {
	const op = "sqlstore.FillHashes"
	var from walkPlace
	err := QueryRow(ctx, db.Readers, from.scan, `SELECT conversation_id, branch, seq, ended FROM message_hashing WHERE id = 1`)
	if err != nil || from.ended {
		return driver.FillResult{Done: true}, db.wrapError(op, err)
	}
	h := &hashStep{logWalk: logWalk{db: db, at: from, left: limit, room: walkBytes}}
	if err := h.readStep(ctx, h.hashNext); err != nil {
		return driver.FillResult{}, db.wrapError(op, err)
	}
	out := driver.FillResult{Done: h.at.ended}
	for _, run := range h.runs {
		out.Made += run.last - run.first + 1
	}
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) error { return h.storeHashes(ctx, w, from) })
	if scrollback.CodeOf(err) == scrollback.Conflict {
		return driver.FillResult{}, nil // somebody else was here, or a purge was: the next step looks again
	}
	if err != nil {
		return driver.FillResult{}, err
	}
	return out, nil
}

// readStep reads until enough is read. read reads messages behind the place, moves it behind them and
// says how many those were.
func (h *logWalk) readStep(ctx context.Context, read func(context.Context) (int, error)) (err error) {
	for hops := 0; err == nil && h.left > 0 && h.room > 0 && hops < walkHops && !h.at.ended; hops++ {
		err = h.goOn(ctx, read)
	}
	return err
}

// goOn reads some messages of a branch or, at its end, goes on to the next one.
func (h *logWalk) goOn(ctx context.Context, read func(context.Context) (int, error)) error {
	if h.at.branch != "" {
		n, err := read(ctx)
		if err != nil || n > 0 {
			return err
		}
	}
	if h.at.conversation != "" {
		found, err := h.moveNext(ctx, &h.at.branch,
			`SELECT id FROM branches WHERE conversation_id = $1 AND id > $2 ORDER BY id LIMIT 1`,
			h.at.conversation, h.at.branch)
		if err != nil || found {
			return err
		}
	}
	h.at.branch = ""
	found, err := h.moveNext(ctx, &h.at.conversation, `SELECT id FROM conversations WHERE id > $1 ORDER BY id LIMIT 1`,
		h.at.conversation)
	h.at.ended = err == nil && !found
	return err
}

// moveNext moves to the id that a query finds, and to the beginning of what it names.
func (h *logWalk) moveNext(ctx context.Context, to any, query string, args ...any) (found bool, err error) {
	err = h.db.Readers.Query(ctx, func(r Row) error {
		found = true
		h.at.seq = 0
		return r.Scan(to)
	}, query, args...)
	return found, err
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough was read")

// hashNext hashes messages behind the place, and moves it behind them.
func (h *hashStep) hashNext(ctx context.Context) (n int, err error) {
	var rows hashCheck
	last := h.at.seq
	err = h.db.Readers.Query(ctx, func(r Row) error {
		if h.room <= 0 {
			return errEnough
		}
		before := len(rows.without)
		if err := rows.checkRow(r); err != nil {
			return err
		}
		n++
		if h.left--; len(rows.without) > before {
			h.room -= rows.without[before].bytes
		}
		if seq, whole := r[messageSeq].(int64); whole {
			last = max(last, seq)
		}
		return nil
	}, `SELECT `+StoredColumns+` FROM messages WHERE branch = $1 AND seq > $2 ORDER BY seq LIMIT $3`, h.at.branch,
		h.at.seq, h.left)
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil {
		err = rows.checkBeside(ctx, h.db.Readers)
	}
	if err != nil || last == h.at.seq { // without progress, as where seqs cannot be read, it would never end
		return 0, err
	}
	h.at.seq = last
	for _, one := range rows.without {
		if one.branch != h.at.branch {
			continue // it is damaged already; the doctor says so
		}
		if k := len(h.runs) - 1; k >= 0 && h.runs[k].branch == one.branch && h.runs[k].last+1 == one.seq &&
			one.seq-h.runs[k].first < hashesEach {
			h.runs[k].last = one.seq
			h.runs[k].hashes = append(h.runs[k].hashes, one.hash...)
			continue
		}
		h.runs = append(h.runs, newHashes{h.at.conversation, one.branch, one.seq, one.seq, one.hash})
	}
	return n, nil
}

// storeHashes writes the hashes, unless another server has gone on from there or a conversation is gone.
// The conversations are locked first, as a purge does, so that one waits for the other.
func (h *hashStep) storeHashes(ctx context.Context, w *writeTx, from walkPlace) error {
	gone := scrollback.Errorf(scrollback.Conflict, "sqlstore.FillHashes", i18n.NothingToHashAnyMore)
	var locked scrollback.ConversationID
	for _, run := range h.runs {
		if run.conversation != locked {
			if err := w.holdConversation(ctx, run.conversation, new(conversationRow)); err != nil {
				return scrollback.Wrap(scrollback.Conflict, "sqlstore.FillHashes", err)
			}
			locked = run.conversation
		}
		var n int64
		err := QueryRow(ctx, w.tx, scanInto(&n),
			`SELECT count(*) FROM messages WHERE branch = $1 AND seq >= $2 AND seq <= $3`, run.branch, run.first, run.last)
		if err != nil {
			return err
		}
		if n != run.last-run.first+1 {
			return gone
		}
	}
	n, err := w.tx.Exec(ctx, `UPDATE message_hashing SET conversation_id = $1, branch = $2, seq = $3, ended = $4
		WHERE id = 1 AND conversation_id = $5 AND branch = $6 AND seq = $7 AND ended = 0`,
		h.at.conversation, h.at.branch, h.at.seq, h.at.ended, from.conversation, from.branch, from.seq)
	if err != nil {
		return err
	}
	if n == 0 {
		return gone
	}
	for _, run := range h.runs {
		err := w.tx.Queue(ctx, insertHashes, run.conversation, run.branch, run.first, run.last, run.hashes)
		if err != nil {
			return err
		}
	}
	return nil
}

// appendHashed appends a column so that no two rows give the same text. What this form is must
// never change.
func appendHashed(to []byte, v sqldriver.Value) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(to, 'n'), nil
	case int64:
		return binary.BigEndian.AppendUint64(append(to, 'i'), uint64(v)), nil
	case float64: // what no column holds, but damage may make of one
		return binary.BigEndian.AppendUint64(append(to, 'f'), math.Float64bits(v)), nil
	case string:
		return append(binary.BigEndian.AppendUint64(append(to, 't'), uint64(len(v))), v...), nil
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(to, 't'), uint64(len(v))), v...), nil
	}
	return nil, fmt.Errorf("sqlstore: a column of a message is %T", v)
}

// unhashedMessage is a message without a hash in its row, and what that hashes to now.
type unhashedMessage struct {
	id     scrollback.MessageID
	branch scrollback.BranchID
	seq    int64
	hash   []byte
	bytes  int
}

// hashCheck is what comparing rows of messages with their hashes has found so far.
type hashCheck struct {
	damaged []driver.DamagedMessage
	without []unhashedMessage // whose hash is to be looked for beside the rows
}

// checkRow compares a row of [StoredColumns] with the hash in it.
func (c *hashCheck) checkRow(row Row) error {
	if len(row) <= HashColumn {
		return errors.New("sqlstore: a row is not as it was read")
	}
	var one unhashedMessage
	one.id = scrollback.MessageID(plainText(row[messageID]))
	one.branch = scrollback.BranchID(plainText(row[messageBranch]))
	one.seq, _ = row[messageSeq].(int64) // anything else does not hash to what it did
	var err error
	if one.hash, err = hashMessage(row); err != nil {
		return err
	}
	for _, v := range row {
		if s, ok := v.(string); ok {
			one.bytes += len(s)
		}
	}
	switch stored := plainText(row[HashColumn]); {
	case stored == "":
		c.without = append(c.without, one)
	case stored != string(one.hash):
		c.damaged = append(c.damaged, driver.DamagedMessage{ID: one.id, Branch: one.branch, Seq: one.seq})
	}
	return nil
}

// plainText is a column that holds bytes, whether as text or not.
func plainText(v sqldriver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// checkBeside compares the rows without a hash with those that are kept beside them, and leaves in
// without those that have none there either.
func (c *hashCheck) checkBeside(ctx context.Context, r Reader) error {
	left := c.without
	c.without = nil
	for len(left) > 0 {
		n := 1
		low := left[0].seq
		high := left[0].seq
		for n < len(left) && left[n].branch == left[0].branch {
			low = min(low, left[n].seq)
			high = max(high, left[n].seq)
			n++
		}
		runs, err := readHashRuns(ctx, r, left[0].branch, low, high)
		if err != nil {
			return err
		}
		for _, one := range left[:n] {
			switch stored, found := findHash(runs, one.seq); {
			case !found:
				c.without = append(c.without, one)
			case !bytes.Equal(stored, one.hash):
				c.damaged = append(c.damaged, driver.DamagedMessage{ID: one.id, Branch: one.branch, Seq: one.seq})
			}
		}
		left = left[n:]
	}
	return nil
}

// hashRun is a row of message_hashes.
type hashRun struct {
	first, last int64
	hashes      []byte
}

// readHashRuns reads those that have hashes of messages of a branch from one seq to another.
func readHashRuns(ctx context.Context, r Reader, branch scrollback.BranchID,
	from, to int64) (out []hashRun, err error) {
	err = r.Query(ctx, func(r Row) error {
		var run hashRun
		if err := r.Scan(&run.first, &run.last, &run.hashes); err != nil {
			return err
		}
		run.hashes = bytes.Clone(run.hashes)
		out = append(out, run)
		return nil
	}, `SELECT h.first_seq, h.last_seq, h.hashes FROM branches b JOIN message_hashes h ON h.conversation_id = b.conversation_id AND h.branch = b.id
		WHERE b.id = $1 AND h.last_seq >= $2 AND h.first_seq <= $3`, branch, from, to)
	return out, err
}

// findHash finds the hash of a message. A run that is too short, or too long for its hashes, has
// none that hold.
func findHash(runs []hashRun, seq int64) ([]byte, bool) {
	for _, run := range runs {
		if seq < run.first || seq > run.last {
			continue
		}
		at := (seq - run.first) * hashSize
		if at+hashSize > int64(len(run.hashes)) {
			return nil, true
		}
		return run.hashes[at : at+hashSize], true
	}
	return nil, false
}

// dropHashes forgets the hashes of a branch's messages from a seq on.
func (w *writeTx) dropHashes(ctx context.Context, id scrollback.ConversationID, branch scrollback.BranchID,
	from int64) error {
	err := w.tx.Queue(ctx, `DELETE FROM message_hashes WHERE conversation_id = $1 AND branch = $2 AND first_seq >= $3`,
		id, branch, from)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, fmt.Sprintf(`UPDATE message_hashes SET hashes = substr(hashes, 1, CAST(($3 - first_seq) * %d AS INTEGER)), last_seq = $3 - 1
		WHERE conversation_id = $1 AND branch = $2 AND first_seq < $3 AND last_seq >= $3`, hashSize), id, branch, from)
}
