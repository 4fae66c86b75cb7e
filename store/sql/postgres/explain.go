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
)

// explain says in words why a database could not be opened. Neither the words nor what they
// wrap have the password: errors of the library carry its whole configuration.
func explain(op string, c *pgx.ConnConfig, err error) error {
	var known *scrollback.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return scrollback.Wrap(scrollback.Canceled, op, context.Canceled)
	}
	said := fromServer(op, c, err)
	if said == nil {
		said = fromNetwork(op, c, err)
	}
	if said == nil {
		said = scrollback.Errorf(classify(err), op, "the database at %s cannot be opened", place(c))
	}
	said.Detail = strings.ReplaceAll(err.Error(), "\n", " ")
	if c.Password != "" {
		said.Detail = strings.ReplaceAll(said.Detail, c.Password, "…")
	}
	return said
}

// place is where a database is: host and port, or the socket's folder.
func place(c *pgx.ConnConfig) string {
	if strings.HasPrefix(c.Host, "/") {
		return c.Host
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

// ErrReadOnly is the reason of an error about a database that may only be read.
var ErrReadOnly = errors.New("the database may only be read")

func readOnlyReplica(op string) *scrollback.Error {
	return scrollback.Errorf(scrollback.Refused, op,
		"this PostgreSQL is a read-only replica; scrollback needs the primary").Because(ErrReadOnly)
}

// fromServer is for what PostgreSQL itself said.
func fromServer(op string, c *pgx.ConnConfig, err error) *scrollback.Error {
	if errors.Is(err, pgconn.ErrReadOnlyConnection) {
		return readOnlyReplica(op)
	}
	state := stateOf(err)
	switch {
	case state == "":
		return nil
	case state == codePassword:
		return scrollback.Errorf(scrollback.Refused, op, "the database at %s does not take the password of user %s", place(c),
			c.User)
	case state == codeNoEntry && c.TLSConfig == nil:
		return scrollback.Errorf(scrollback.Refused, op,
			"the database at %s does not let user %s in without TLS, or not from here: sslmode=require in the database's URL asks for TLS", place(c), c.User)
	case state == codeNoEntry:
		return scrollback.Errorf(scrollback.Refused, op, "the database at %s does not let user %s in from here", place(c),
			c.User)
	case state == codeNoDatabase:
		return scrollback.Errorf(scrollback.Refused, op, "the server at %s has no database %s; createdb makes it", place(c),
			cmp.Or(c.Database, c.User))
	case state == codeStarting:
		return scrollback.Errorf(scrollback.Unavailable, op,
			"the database at %s is starting or ending; try again in a moment", place(c))
	case state == codeTooMany:
		return scrollback.Errorf(scrollback.Unavailable, op,
			"the database at %s has no connection left (max_connections); pool_max_conns in the database's URL lets each server take fewer", place(c))
	case state == codeReadOnly:
		return readOnlyReplica(op)
	case state == codeNoSetting:
		var e *pgconn.PgError
		errors.As(err, &e)
		return scrollback.Errorf(scrollback.Invalid, op, "the database's URL has a setting that PostgreSQL does not know: %s",
			e.Message)
	case full(err):
		return scrollback.Errorf(scrollback.Unavailable, op, "the database at %s has no room left on its disk",
			place(c)).Because(scrollback.ErrNoRoom)
	}
	return nil
}

// fromNetwork is for what happened before PostgreSQL said anything.
func fromNetwork(op string, c *pgx.ConnConfig, err error) *scrollback.Error {
	var unknown *net.DNSError
	var network net.Error
	var record tls.RecordHeaderError
	text := err.Error()
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return scrollback.Errorf(scrollback.Unavailable, op, "the database's host %s is not known", c.Host)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return scrollback.Errorf(scrollback.Unavailable, op, "nothing listens at %s: is PostgreSQL running there?", place(c))
	case badCertificate(err):
		return scrollback.Errorf(scrollback.Refused, op,
			"the certificate of the database at %s does not fit: it is for another name, or signed by nobody in sslrootcert",
			place(c))
	case strings.Contains(text, "server refused TLS connection") && c.TLSConfig != nil && len(c.Fallbacks) == 0:
		return scrollback.Errorf(scrollback.Refused, op,
			"the database at %s does not speak TLS, and sslmode in the database's URL demands it", place(c))
	case errors.As(err, &record), strings.Contains(text, "unknown message type"),
		strings.Contains(text, "invalid message length"), strings.Contains(text, "invalid body length"),
		strings.Contains(text, "unexpected message"), strings.Contains(text, "server refused TLS connection"):
		return scrollback.Errorf(scrollback.Refused, op, "what listens at %s is not PostgreSQL", place(c))
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return scrollback.Errorf(scrollback.Unavailable, op, "the database at %s does not reply within %s", place(c),
			c.ConnectTimeout)
	case lostConnection(err):
		return scrollback.Errorf(scrollback.Unavailable, op, "the database at %s closed the connection", place(c))
	}
	return nil
}

func badCertificate(err error) bool {
	var failed *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	return errors.As(err, &failed) || errors.As(err, &authority) || errors.As(err, &name)
}
