package postgres

import (
	"context"
	sqlfault "database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
)

// The SQLSTATEs that matter here.
const (
	codeUniqueViolation = "23505"
	codeNotNull         = "23502"
	codeSerialization   = "40001" // also what CockroachDB and YugabyteDB return for "begin again"
	codeDeadlock        = "40P01"
	codeDiskFull        = "53100"
	codeTooMany         = "53300"
	codeReadOnly        = "25006"
	codeStarting        = "57P03"
	codeNoDatabase      = "3D000"
	codePassword        = "28P01"
	codeNoEntry         = "28000"
	codeForbidden       = "42501"
	codeNoTable         = "42P01"
	codeTableExists     = "42P07"
	codeTypeExists      = "42710"
	codeNoSetting       = "42704"
	codeNoColumn        = "42703"
	codeIdle            = "25P03" // a transaction that said nothing for too long
	codeDamaged         = "XX001"
	codeIndexDamaged    = "XX002"
	codeLocked          = "55P03" // lock_timeout
)

// sqlStateOf returns the SQLSTATE of an error of the server, or empty.
func sqlStateOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// classifyError sorts errors of the database: what may be temporary is unavailable.
func classifyError(err error) scrollback.Code {
	state := sqlStateOf(err)
	switch {
	case errors.Is(err, context.Canceled):
		return scrollback.Canceled
	case isRetryable(err), isConnectionLost(err), pgconn.Timeout(err):
		return scrollback.Unavailable
	case state == "":
		return sqlstore.ClassifyError(err)
	case state == codeForbidden:
		return scrollback.Refused
	case state == codeClosed:
		return scrollback.Unavailable
	}
	switch state[:2] {
	case "28", "3D", "53", "55", "57", "58": // who may come in; resources; objects in use; operators; the system
		return scrollback.Unavailable
	}
	return scrollback.Internal
}

// findMoveTarget implements [sqlstore.Dialect]'s Moving.
func findMoveTarget(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != codeClosed {
		return ""
	}
	return strings.TrimPrefix(e.Message, move.Closed)
}

// isDiskFull reports whether the server's disk has no room.
func isDiskFull(err error) bool { return sqlStateOf(err) == codeDiskFull }

// isKeyTaken reports whether a key already exists.
func isKeyTaken(err error) bool { return sqlStateOf(err) == codeUniqueViolation }

// isRefusedMessage reports whether a message was not inserted because its id is taken: it then got no seq.
func isRefusedMessage(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == codeNotNull && e.TableName == "messages" && e.ColumnName == "seq"
}

// isRetryable reports whether the transaction was undone only because of others, and may
// succeed when it is run again.
func isRetryable(err error) bool {
	state := sqlStateOf(err)
	return state == codeSerialization || state == codeDeadlock
}

// isConnectionLost reports whether the connection is gone, or of no use any more. Whether a
// commit that was under way has happened is then not known.
func isConnectionLost(err error) bool {
	if state := sqlStateOf(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") || state == codeReadOnly ||
			state == codeIdle || state == codeTooMany
	}
	var network net.Error
	var connecting *pgconn.ConnectError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false // the caller's doing
	case errors.Is(err, sqlfault.ErrBadConn), errors.Is(err, pgconn.ErrConnClosed), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed):
		return true
	}
	return errors.As(err, &network) || errors.As(err, &connecting)
}
