package sqlrow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/scrollback-ai/scrollback"
	storedriver "github.com/scrollback-ai/scrollback/store/driver"
)

// HashSize is how many bytes of a SHA-256 are kept for each message: enough to notice damage. It
// is no protection against somebody who can write to the database, and so change the hash too.
const HashSize = 16

// StoredColumns are those of messages with their hash.
const StoredColumns = MessageColumns + `, hash`

// InsertHashes keeps hashes of a run of messages that have none in their rows.
const InsertHashes = `INSERT INTO message_hashes (conversation_id, branch, first_seq, last_seq, hashes) VALUES ($1, $2, $3, $4, $5)`

// restartHashing lets the making of hashes begin again.
const restartHashing = `UPDATE message_hashing SET conversation_id = '', branch = '', seq = 0, ended = 0 WHERE id = 1`

// RestartHashing lets the making of hashes begin again.
func RestartHashing(ctx context.Context, tx *Session) error { return tx.Run(ctx, restartHashing) }

// HashColumn is where a row of [StoredColumns] has its hash, behind what that covers.
const HashColumn = 20

// Which columns of a row say where a message is: those are known in the transaction that stores
// it, and the others before.
var isPlace = [HashColumn]bool{1: true, 2: true, 3: true, 14: true, 15: true, 16: true}

// MessageHash is what a row of [MessageColumns] hashes to: all of its columns. It is made of the
// columns as they are stored, and not of what a program makes of them, so that no later program
// can come to another one.
func MessageHash(row []driver.Value) ([]byte, error) {
	body, err := bodyHash(row)
	if err != nil {
		return nil, err
	}
	return placeHash(body, row)
}

// Body is the hash of the columns of a message that do not say where it is.
type Body [sha256.Size]byte

// MessageBody hashes what is known of a message before the transaction that stores it: one
// goroutine writes, and many wait for it. It takes [MessageValues].
func MessageBody(values []any) (Body, error) {
	row, err := bound(values)
	if err != nil {
		return Body{}, err
	}
	return bodyHash(row)
}

// At is the hash of the message at its place. It takes the same values once they say where that is.
func (b Body) At(values []any) ([]byte, error) {
	row, err := bound(values)
	if err != nil {
		return nil, err
	}
	return placeHash(b, row)
}

func bound(values []any) ([]driver.Value, error) {
	row := make([]driver.Value, len(values))
	for i, v := range values {
		var err error
		if row[i], err = value(v); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func bodyHash(row []driver.Value) (Body, error) {
	text := make([]byte, 0, 512)
	for i, v := range row[:HashColumn] {
		if isPlace[i] {
			continue
		}
		var err error
		if text, err = appendHashed(text, v); err != nil {
			return Body{}, err
		}
	}
	return sha256.Sum256(text), nil
}

func placeHash(b Body, row []driver.Value) ([]byte, error) {
	text := append(make([]byte, 0, 256), b[:]...)
	for i, v := range row[:HashColumn] {
		if !isPlace[i] {
			continue
		}
		var err error
		if text, err = appendHashed(text, v); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(text)
	return sum[:HashSize:HashSize], nil
}

// appendHashed appends a column so that no two rows give the same text. What this form is must
// never change.
func appendHashed(to []byte, v driver.Value) ([]byte, error) {
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
	return nil, fmt.Errorf("sqlrow: a column of a message is %T", v)
}

// Unhashed is a message without a hash in its row, and what that hashes to now.
type Unhashed struct {
	ID     scrollback.MessageID
	Branch scrollback.BranchID
	Seq    int64
	Hash   []byte
	Bytes  int
}

// Checked is what comparing rows of messages with their hashes has found so far.
type Checked struct {
	Damaged []storedriver.Damaged
	Without []Unhashed // whose hash is to be looked for beside the rows
}

// Check compares a row of [StoredColumns] with the hash in it.
func (c *Checked) Check(r Scanner) error {
	row, ok := r.(Row)
	if !ok || len(row) <= HashColumn {
		return errors.New("sqlrow: a row is not as it was read")
	}
	var one Unhashed
	one.ID = scrollback.MessageID(plainText(row[0]))
	one.Branch = scrollback.BranchID(plainText(row[2]))
	one.Seq, _ = row[3].(int64) // anything else does not hash to what it did
	var err error
	if one.Hash, err = MessageHash(row); err != nil {
		return err
	}
	for _, v := range row {
		if s, ok := v.(string); ok {
			one.Bytes += len(s)
		}
	}
	switch stored := plainText(row[HashColumn]); {
	case stored == "":
		c.Without = append(c.Without, one)
	case stored != string(one.Hash):
		c.Damaged = append(c.Damaged, storedriver.Damaged{ID: one.ID, Branch: one.Branch, Seq: one.Seq})
	}
	return nil
}

// plainText is a column that holds bytes, whether as text or not.
func plainText(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// Beside compares the rows without a hash with those that are kept beside them, and leaves in
// Without those that have none there either.
func (c *Checked) Beside(ctx context.Context, read *Session) error {
	left := c.Without
	c.Without = nil
	for len(left) > 0 {
		n := 1
		low := left[0].Seq
		high := left[0].Seq
		for n < len(left) && left[n].Branch == left[0].Branch {
			low = min(low, left[n].Seq)
			high = max(high, left[n].Seq)
			n++
		}
		runs, err := hashRuns(ctx, read, left[0].Branch, low, high)
		if err != nil {
			return err
		}
		for _, one := range left[:n] {
			switch stored, found := hashAt(runs, one.Seq); {
			case !found:
				c.Without = append(c.Without, one)
			case !bytes.Equal(stored, one.Hash):
				c.Damaged = append(c.Damaged, storedriver.Damaged{ID: one.ID, Branch: one.Branch, Seq: one.Seq})
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

// hashRuns reads those that have hashes of messages of a branch from one seq to another.
func hashRuns(ctx context.Context, read *Session, branch scrollback.BranchID,
	from, to int64) (out []hashRun, err error) {
	err = read.Rows(ctx, func(r Scanner) error {
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

// hashAt finds the hash of a message. A run that is too short, or too long for its hashes, has
// none that hold.
func hashAt(runs []hashRun, seq int64) ([]byte, bool) {
	for _, run := range runs {
		if seq < run.first || seq > run.last {
			continue
		}
		at := (seq - run.first) * HashSize
		if at+HashSize > int64(len(run.hashes)) {
			return nil, true
		}
		return run.hashes[at : at+HashSize], true
	}
	return nil, false
}

// DropHashes forgets the hashes of a branch's messages from a seq on.
func DropHashes(ctx context.Context, tx *Session, conversation scrollback.ConversationID, branch scrollback.BranchID,
	from int64) error {
	err := tx.Run(ctx, `DELETE FROM message_hashes WHERE conversation_id = $1 AND branch = $2 AND first_seq >= $3`,
		conversation, branch, from)
	if err != nil {
		return err
	}
	return tx.Run(ctx, fmt.Sprintf(`UPDATE message_hashes SET hashes = substr(hashes, 1, CAST(($3 - first_seq) * %d AS INTEGER)), last_seq = $3 - 1
		WHERE conversation_id = $1 AND branch = $2 AND first_seq < $3 AND last_seq >= $3`, HashSize), conversation, branch, from)
}

// Verify compares the messages of a run of the path of a branch with their hashes.
func Verify(ctx context.Context, read *Session, q storedriver.MessageQuery) (Checked, error) {
	var c Checked
	err := read.Rows(ctx, c.Check, Path+` SELECT `+StoredColumns+ofPath, q.Branch, q.From, q.To)
	if err == nil {
		err = c.Beside(ctx, read)
	}
	return c, err
}
