package postgres

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// What a DSN may leave out.
const (
	// poolSize is how many connections a server holds besides the one that listens: half of
	// them write, half read. Four servers fit PostgreSQL's own bound of 100.
	poolSize       = 20
	connectTimeout = 5 * time.Second

	// lockTimeout bounds the wait for a row that somebody else holds; the caller may try
	// again. It is below idleWriting: who waits does not learn sooner that the holder is gone.
	lockTimeout = 10 * time.Second
	// idleWriting ends a transaction whose server says nothing: it was halted, or its
	// machine is gone, and must not keep its rows for ever. Transactions that write are
	// never idle for longer than a round trip; a server that was silent for this long has
	// lost its turns anyway (store.Lease).
	idleWriting = 15 * time.Second
	// idleReading is the same for transactions that read. They hold no rows, only back what
	// vacuum can remove, and a check of everything pauses between pages.
	idleReading = 10 * time.Minute
)

// oldestVersion is the first PostgreSQL that is supported.
const oldestVersion = 13

// parameterName is what the name of a parameter can be.
var parameterName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_.]*$`)

// parseDSN reads a DSN. Its errors repeat nothing of it: a password whose characters are not
// encoded may be taken for any other part.
func parseDSN(dsn string) (*pgxpool.Config, error) {
	const op = "postgres.Open"
	malformed := scrollback.Errorf(scrollback.Invalid, op, i18n.DatabaseURLUnreadable)
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Opaque != "" || u.Fragment != "" ||
		strings.ContainsAny(strings.TrimPrefix(u.Path, "/"), "/@") {
		return nil, malformed
	}
	asked, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, malformed
	}
	for name := range asked {
		if !parameterName().MatchString(name) {
			return nil, malformed
		}
	}
	config, err := pgxpool.ParseConfig(dsn)
	var file *fs.PathError
	switch {
	case err != nil && asked.Get("sslmode") != "" && !slices.Contains(sslModes, asked.Get("sslmode")):
		return nil, scrollback.Errorf(scrollback.Invalid, op, i18n.DatabaseURLSslmodeWrong,
			strings.Join(sslModes, ", "))
	case errors.As(err, &file):
		return nil, scrollback.Errorf(scrollback.Invalid, op, i18n.DatabaseURLFileUnreadable,
			file.Path, file.Err)
	case err != nil && strings.Contains(err.Error(), "unable to add CA to cert pool"):
		return nil, scrollback.Errorf(scrollback.Invalid, op,
			i18n.SslrootcertHoldsNoCertificate)
	case err != nil && asked.Get("pool_max_conns") != "" && !isPositive(asked.Get("pool_max_conns")):
		return nil, scrollback.Errorf(scrollback.Invalid, op,
			i18n.DatabaseURLPoolWrong)
	case err != nil:
		return nil, malformed
	}
	if asked.Get("pool_max_conns") == "" {
		config.MaxConns = poolSize
	}
	if config.MaxConns < 2 {
		return nil, scrollback.Errorf(scrollback.Invalid, op,
			i18n.DatabaseURLPoolWrong)
	}
	// a connection is made when it is needed
	config.MinConns = 0
	config.MinIdleConns = 0
	setDefaults(config.ConnConfig)
	if cmp.Or(asked.Get("target_session_attrs"), os.Getenv("PGTARGETSESSIONATTRS")) == "read-write" {
		// The pool that reads makes its sessions read only itself, and would never find one.
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	config.PingTimeout = connectTimeout
	return config, nil
}

var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

func isPositive(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && n > 0
}

// setDefaults sets what the DSN leaves out.
func setDefaults(c *pgx.ConnConfig) {
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = connectTimeout
	}
	c.DialFunc = newDialer().DialContext
	if _, ok := c.RuntimeParams["application_name"]; !ok {
		c.RuntimeParams["application_name"] = "scrollback"
	}
}

// usesPooler reports whether the DSN is for a pooler that hands a connection on after each
// transaction, such as pgbouncer: it asks for a mode without prepared statements.
// Settings of a session would not stay with it there, or be refused.
func usesPooler(c *pgx.ConnConfig) bool {
	return c.DefaultQueryExecMode == pgx.QueryExecModeExec || c.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol
}

// configurePool returns the configuration of one of the two pools.
func configurePool(from *pgxpool.Config, writing bool) *pgxpool.Config {
	c := from.Copy()
	c.MaxConns = from.MaxConns / 2
	set := map[string]string{"lock_timeout": formatMillis(lockTimeout),
		"idle_in_transaction_session_timeout": formatMillis(idleReading),
		"default_transaction_isolation":       "repeatable read", "default_transaction_read_only": "on"}
	if writing {
		c.MaxConns = from.MaxConns - c.MaxConns
		set = map[string]string{"lock_timeout": formatMillis(lockTimeout),
			"idle_in_transaction_session_timeout": formatMillis(idleWriting),
			"default_transaction_isolation":       "read committed"}
		closeWhenReadOnly(c.ConnConfig)
	}
	if usesPooler(c.ConnConfig) {
		return c
	}
	set["jit"] = "off" // it compiles for longer than what is read here takes
	for name, value := range set {
		if _, ok := c.ConnConfig.RuntimeParams[name]; !ok {
			c.ConnConfig.RuntimeParams[name] = value
		}
	}
	return c
}

// closeWhenReadOnly lets a connection go when the server behind it can no longer be written to,
// because another one has become the primary: the next connection may be to that one. Of
// several hosts, the one that can be written to is chosen.
func closeWhenReadOnly(c *pgx.ConnConfig) {
	fatal := c.OnPgError
	c.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		return err.Code != codeReadOnly && fatal(conn, err)
	}
	if c.ValidateConnect == nil && namesSeveralServers(c) {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

// namesSeveralServers reports whether more than one server is named.
func namesSeveralServers(c *pgx.ConnConfig) bool {
	return slices.ContainsFunc(c.Fallbacks,
		func(other *pgconn.FallbackConfig) bool { return other.Host != c.Host || other.Port != c.Port })
}

// requirePrimary lets every connection of a store that is written to be to the server that takes the
// writes: what is read from a replica may be older than what was written.
func requirePrimary(c *pgx.ConnConfig) {
	if c.ValidateConnect == nil && namesSeveralServers(c) {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
}

func formatMillis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// silenceTimeout is after how long a peer that acknowledges nothing is gone. Without it a
// connection to a machine that vanished would wait for a quarter of an hour.
const silenceTimeout = 30 * time.Second

// newDialer connects so that a machine that vanished is noticed, whether the connection is idle
// or has sent something.
func newDialer() *net.Dialer {
	return &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second,
		Interval: 5 * time.Second, Count: 3},
		Control: boundSilence}
}
