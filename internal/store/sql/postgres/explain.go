package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// explainFailure says in words why a database could not be opened. Neither the words nor what they
// wrap have the password: errors of the library carry its whole configuration.
func explainFailure(op string, c *pgx.ConnConfig, err error) error {
	var known *scrollback.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return scrollback.Wrap(scrollback.Canceled, op, context.Canceled)
	}
	said := explainServerError(op, c, err)
	if said == nil {
		said = explainNetworkError(op, c, err)
	}
	if said == nil {
		said = scrollback.Errorf(classifyError(err), op, i18n.DatabaseCannotBeOpened, describePlace(c))
	}
	said.Detail = strings.ReplaceAll(err.Error(), "\n", " ")
	if c.Password != "" {
		said.Detail = strings.ReplaceAll(said.Detail, c.Password, "…")
	}
	return said
}

// describePlace returns where a database is: host and port, or the socket's folder.
func describePlace(c *pgx.ConnConfig) string {
	if strings.HasPrefix(c.Host, "/") {
		return c.Host
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

// ErrReadOnly is the reason of an error about a database that may only be read.
var ErrReadOnly = errors.New("the database may only be read")

func readOnlyError(op string) *scrollback.Error {
	return scrollback.Errorf(scrollback.Refused, op,
		i18n.PostgreSQLIsReplica).WithReason(ErrReadOnly)
}

// explainServerError is for what PostgreSQL itself said.
func explainServerError(op string, c *pgx.ConnConfig, err error) *scrollback.Error {
	if errors.Is(err, pgconn.ErrReadOnlyConnection) {
		return readOnlyError(op)
	}
	state := sqlStateOf(err)
	switch {
	case state == "":
		return nil
	case state == codePassword:
		return scrollback.Errorf(scrollback.Refused, op, i18n.DatabaseRefusesPassword, describePlace(c),
			c.User)
	case state == codeNoEntry && c.TLSConfig == nil:
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.DatabaseRefusesUserWithoutTLS, describePlace(c), c.User)
	case state == codeNoEntry:
		return scrollback.Errorf(scrollback.Refused, op, i18n.DatabaseRefusesUser, describePlace(c),
			c.User)
	case state == codeNoDatabase:
		return scrollback.Errorf(scrollback.Refused, op, i18n.ServerHasNoDatabase, describePlace(c),
			cmp.Or(c.Database, c.User))
	case state == codeStarting:
		return scrollback.Errorf(scrollback.Unavailable, op,
			i18n.DatabaseIsStarting, describePlace(c))
	case state == codeTooMany:
		return scrollback.Errorf(scrollback.Unavailable, op,
			i18n.DatabaseHasNoConnectionLeft, describePlace(c))
	case state == codeReadOnly:
		return readOnlyError(op)
	case state == codeNoSetting:
		var e *pgconn.PgError
		errors.As(err, &e)
		return scrollback.Errorf(scrollback.Invalid, op, i18n.DatabaseURLSettingUnknown,
			e.Message)
	case isDiskFull(err):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.DatabaseDiskFull,
			describePlace(c)).WithReason(scrollback.ErrNoRoom)
	}
	return nil
}

// explainNetworkError is for what happened before PostgreSQL said anything.
func explainNetworkError(op string, c *pgx.ConnConfig, err error) *scrollback.Error {
	var unknown *net.DNSError
	var network net.Error
	var record tls.RecordHeaderError
	text := err.Error()
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.DatabaseHostUnknown, c.Host)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.NothingListensAt, describePlace(c))
	case isCertificateError(err):
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.DatabaseCertificateDoesNotFit,
			describePlace(c))
	case strings.Contains(text, "server refused TLS connection") && c.TLSConfig != nil && len(c.Fallbacks) == 0:
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.DatabaseSpeaksNoTLS, describePlace(c))
	case errors.As(err, &record), strings.Contains(text, "unknown message type"),
		strings.Contains(text, "invalid message length"), strings.Contains(text, "invalid body length"),
		strings.Contains(text, "unexpected message"), strings.Contains(text, "server refused TLS connection"):
		return scrollback.Errorf(scrollback.Refused, op, i18n.ListensButNotPostgreSQL, describePlace(c))
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.DatabaseDoesNotReply, describePlace(c),
			c.ConnectTimeout)
	case isConnectionLost(err):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.DatabaseClosedConnection, describePlace(c))
	}
	return nil
}

func isCertificateError(err error) bool {
	var failed *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	return errors.As(err, &failed) || errors.As(err, &authority) || errors.As(err, &name)
}
