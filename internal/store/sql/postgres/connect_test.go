package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// changeDSN changes a DSN.
func changeDSN(t *testing.T, dsn string, change func(u *url.URL, q url.Values)) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	change(u, q)
	u.RawQuery = q.Encode()
	return u.String()
}

func setParameter(t *testing.T, dsn, name, value string) string {
	return changeDSN(t, dsn, func(_ *url.URL, q url.Values) { q.Set(name, value) })
}

func mustConnect(t *testing.T, dsn string) *connection {
	t.Helper()
	c, err := openConnection(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.closePools() })
	return c
}

func showSetting(t *testing.T, db *sql.DB, name string) (s string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT current_setting($1)", name).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConnect(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	c := mustConnect(t, dsn)
	for _, s := range []struct {
		db         *sql.DB
		name, want string
	}{
		{c.writers, "transaction_isolation", "read committed"}, {c.writers, "transaction_read_only", "off"},
		{c.writers, "idle_in_transaction_session_timeout", "15s"}, {c.writers, "lock_timeout", "10s"},
		{c.writers, "statement_timeout", "0"},
		{c.readers, "transaction_isolation", "repeatable read"}, {c.readers, "transaction_read_only", "on"},
		{c.readers, "idle_in_transaction_session_timeout", "10min"}, {c.readers, "application_name", "scrollback"},
	} {
		if got := showSetting(t, s.db, s.name); got != s.want {
			t.Errorf("%s is %q, not %q", s.name, got, s.want)
		}
	}
	if _, err := c.readers.ExecContext(t.Context(), "CREATE TABLE t (id int)"); sqlStateOf(err) != codeReadOnly {
		t.Errorf("a reader wrote: %v", err)
	}
	if own := mustConnect(t, setParameter(t, dsn, "lock_timeout", "7000")); showSetting(t, own.writers,
		"lock_timeout") != "7s" {
		t.Error("the DSN's own setting does not count")
	}
	for _, mode := range []string{"exec", "simple_protocol"} {
		p := mustConnect(t, setParameter(t, dsn, "default_query_exec_mode", mode))
		if got := showSetting(t, p.writers, "lock_timeout"); !p.pooled || got != "0" {
			t.Errorf("%s: pooled is %v, lock_timeout %s: a pooler refuses settings of a session", mode, p.pooled, got)
		}
	}
}

func TestConnectReadOnly(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{})
	replica := cluster.StartStandby(t)
	c, err := openReadOnlyConnection(t.Context(), replica.DSN("postgres"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.writers != nil {
		t.Error("it has connections that write")
	}
	c.closePools()
	_, err = openConnection(t.Context(), replica.DSN("postgres"), nil)
	wantError(t, err, scrollback.Refused, "this PostgreSQL is a read-only replica; scrollback needs the primary")
}

// wantError checks an error's code and a part of its words.
func wantError(t *testing.T, err error, code scrollback.Code, words string) {
	t.Helper()
	if scrollback.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%q (%s) is not %q (%s)", err, scrollback.CodeOf(err), words, code)
	}
}

func TestBadDatabases(t *testing.T) {
	t.Parallel()
	const secret = "hunter2secret"
	plain := postgrestest.Start(t, postgrestest.Options{TCP: true, MaxConnections: 5,
		Settings: []string{"superuser_reserved_connections=1", "max_wal_senders=0"}})
	tls := postgrestest.Start(t, postgrestest.Options{TLS: true})
	dsn := plain.DSN("postgres")
	secure := tls.DSN("postgres")
	if err := execAll(t, dsn, "CREATE DATABASE latin TEMPLATE template0 ENCODING 'SQL_ASCII'",
		"CREATE ROLE nobody LOGIN PASSWORD '"+secret+"'",
		"ALTER DATABASE latin SET search_path = nowhere"); err != nil {
		t.Fatal(err)
	}
	listening := serveTCP(t, func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); c.Close() })
	other := func(host string) string {
		return changeDSN(t, dsn, func(u *url.URL, _ url.Values) { u.Host = host })
	}
	user := func(user *url.Userinfo) string {
		return changeDSN(t, dsn, func(u *url.URL, _ url.Values) { u.User = user })
	}
	base := func(dsn, name string) string {
		return changeDSN(t, dsn, func(u *url.URL, _ url.Values) { u.Path = "/" + name })
	}
	for name, test := range map[string]struct {
		dsn   string
		code  scrollback.Code
		words string
	}{
		"password": {user(url.UserPassword("postgres", secret)), scrollback.Refused,
			"does not take the password of user postgres"},
		"no such user": {user(url.UserPassword("stranger", secret)), scrollback.Refused,
			"does not take the password of user stranger"},
		"no database":    {base(user(url.UserPassword("nobody", secret)), ""), scrollback.Refused, "has no database nobody"},
		"database":       {base(dsn, "missing"), scrollback.Refused, "has no database missing"},
		"port":           {other(closedPort(t)), scrollback.Unavailable, "nothing listens at 127.0.0.1:"},
		"host":           {other("nowhere.invalid"), scrollback.Unavailable, "nowhere.invalid"},
		"not PostgreSQL": {other(listening), scrollback.Refused, "is not PostgreSQL"},
		"not with TLS":   {setParameter(t, other(listening), "sslmode", "require"), scrollback.Refused, "does not speak TLS"},
		"encoding":       {base(dsn, "latin"), scrollback.Refused, "encoding is SQL_ASCII"},
		"read only": {setParameter(t, dsn, "default_transaction_read_only", "on"), scrollback.Refused,
			"only lets its user read"},
		"setting":     {setParameter(t, dsn, "no_such_setting", "1"), scrollback.Invalid, "no_such_setting"},
		"schema":      {setParameter(t, dsn, "search_path", "nowhere"), scrollback.Refused, "search_path does not exist"},
		"TLS refused": {setParameter(t, dsn, "sslmode", "require"), scrollback.Refused, "does not speak TLS"},
		"TLS required": {setParameter(t, secure, "sslmode", "disable"), scrollback.Refused,
			"sslmode=require in the database's URL asks for TLS"},
		"TLS authority": {changeDSN(t, secure, func(_ *url.URL, q url.Values) { q.Del("sslrootcert") }), scrollback.Refused,
			"the certificate of the database"},
		"TLS name": {changeDSN(t, secure, func(u *url.URL, _ url.Values) { u.Host = "127.0.0.1:" + u.Port() }),
			scrollback.Refused,
			"the certificate of the database"},
		"TLS file": {setParameter(t, secure, "sslrootcert", "/nowhere/ca.crt"), scrollback.Invalid,
			"cannot be read: /nowhere/ca.crt"},
		"sslmode": {setParameter(t, dsn, "sslmode", "yes"), scrollback.Invalid, "wrong sslmode"},
		"pool":    {setParameter(t, dsn, "pool_max_conns", "1"), scrollback.Invalid, "at least 2"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := openConnection(t.Context(), test.dsn, nil)
			if err == nil {
				c.closePools()
				t.Fatal("it was opened")
			}
			wantError(t, err, test.code, test.words)
			if u, _ := url.Parse(test.dsn); u != nil {
				if p, _ := u.User.Password(); p != "" && strings.Contains(err.Error(), p) {
					t.Errorf("the password is in %q", err)
				}
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), secret) {
					t.Errorf("the password is in %q", e)
				}
			}
		})
	}
	t.Run("no connection left", func(t *testing.T) {
		c := mustConnect(t, dsn)
		for range 4 {
			conn, err := c.readers.Conn(t.Context())
			if err != nil {
				break // the bound is reached
			}
			defer conn.Close()
		}
		limited := user(url.UserPassword("nobody", secret))
		_, err := openConnection(t.Context(), limited, nil)
		wantError(t, err, scrollback.Unavailable, "has no connection left")
	})
}

// A password whose characters are not encoded looks like any other part of the URL.
func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"", "nonsense", "mysql://root:SeCrEt9@127.0.0.1/x", "postgres:SeCrEt9",
		"postgres://u:SeCrEt9#@127.0.0.1/x",
		"postgres://u:SeCrEt9/@127.0.0.1/x", "postgres://u:1/SeCrEt9@127.0.0.1/x", "postgres://u:1#SeCrEt9@127.0.0.1/x",
		"postgres://u:1?SeCrEt9@127.0.0.1/x", "postgres://u:%zzSeCrEt9@127.0.0.1/x", "postgres://u:SeCrEt9@127.0.0.1:port/x",
		"host=127.0.0.1 password=SeCrEt9", "postgres://u:SeCrEt9@127.0.0.1/x?pool_max_conns=SeCrEt9",
		"postgres://u:SeCrEt9@127.0.0.1/x?connect_timeout=SeCrEt9",
		"postgres://u:SeCrEt9@127.0.0.1/x?sslmode=SeCrEt9", "postgres://u:SeCrEt9@[127.0.0.1/x",
		"postgres://u:Se%00CrEt9\x00SeCrEt9@127.0.0.1/x"} {
		_, err := openConnection(t.Context(), dsn, nil)
		if scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%q is %v", dsn, err)
		}
		if err != nil && strings.Contains(err.Error(), "SeCrEt9") {
			t.Errorf("%q is in %q", "SeCrEt9", err)
		}
	}
}

func TestNoCertificate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := parseDSN("postgres://u:SeCrEt9@127.0.0.1/x?sslmode=verify-ca&sslrootcert=" + url.QueryEscape(file))
	wantError(t, err, scrollback.Invalid, "holds no certificate")
}

func TestAllConnectionsInUse(t *testing.T) {
	t.Parallel()
	config, err := parseDSN(setParameter(t, postgrestest.NewDatabase(t), "pool_max_conns", "2"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := openPool(configurePool(config, true), "write")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := db.Conn(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's own end is %v", err)
	}
	// The wait is the one part that is shortened.
	own, err := pgxpool.NewWithConfig(t.Context(), configurePool(config, true))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	b := &boundedConnector{Connector: stdlib.GetPoolConnector(own), pool: own, does: "write", wait: time.Minute}
	first, err := b.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.wait = 20 * time.Millisecond
	_, err = b.Connect(t.Context())
	wantError(t, err, scrollback.Unavailable, "all 1 connections that write are in use")
	first.Close()
	held.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

// A primary that became a replica is let go: the next connection may reach the new one.
func TestLetsReadOnlyGo(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	c := mustConnect(t, setParameter(t, dsn, "pool_max_conns", "2"))
	pid := func() (n int) {
		if err := c.writers.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := pid()
	if pid() != before {
		t.Fatal("a connection is not used again")
	}
	tx, err := c.writers.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(t.Context(), "CREATE TABLE t (id int)")
	tx.Rollback()
	if sqlStateOf(err) != codeReadOnly || classifyError(err) != scrollback.Unavailable || !isConnectionLost(err) {
		t.Errorf("it is %v", err)
	}
	if pid() == before {
		t.Error("the connection is still used")
	}
}

func TestKilledAndPaused(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{TCP: true})
	c := mustConnect(t, cluster.DSN("postgres"))
	conn, err := c.writers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cluster.Kill()
	_, err = conn.ExecContext(t.Context(), "SELECT 1")
	if !isConnectionLost(err) || classifyError(err) != scrollback.Unavailable {
		t.Errorf("a killed server is %v (%s)", err, classifyError(err))
	}
	conn.Close()
	err = c.writers.PingContext(t.Context())
	if !isConnectionLost(err) || classifyError(err) != scrollback.Unavailable {
		t.Errorf("a server that is down is %v (%s)", err, classifyError(err))
	}
	if err := cluster.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := c.writers.PingContext(t.Context()); err != nil {
		t.Errorf("it does not come back by itself: %v", err)
	}
	cluster.Pause()
	defer cluster.Resume()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.writers.ExecContext(short, "SELECT 1"); classifyError(err) != scrollback.Unavailable {
		t.Errorf("a paused server is %v (%s)", err, classifyError(err))
	}
	_, err = openConnection(t.Context(), setParameter(t, cluster.DSN("postgres"), "connect_timeout", "1"), nil)
	wantError(t, err, scrollback.Unavailable, "does not reply within 1s")
}

func TestPasswordNotLogged(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	cluster := postgrestest.Start(t, postgrestest.Options{TCP: true})
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c, err := openConnection(t.Context(), cluster.DSN("postgres"), log)
	if err != nil {
		t.Fatal(err)
	}
	defer c.closePools()
	cluster.Kill()
	err = explainFailure("x", c.config, c.writers.PingContext(t.Context()))
	c.log.Error("it failed", "error", err)
	if said.Len() == 0 || strings.Contains(said.String(), c.config.Password) {
		t.Errorf("it said %q", said.String())
	}
}

func execAll(t *testing.T, dsn string, statements ...string) error {
	t.Helper()
	c, err := openConnection(t.Context(), dsn, nil)
	if err != nil {
		return err
	}
	defer c.closePools()
	for _, s := range statements {
		if _, err := c.writers.ExecContext(t.Context(), s); err != nil {
			return err
		}
	}
	return nil
}

// serveTCP takes connections on loopback until the test ends.
func serveTCP(t *testing.T, says func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			says(c)
		}
	}()
	return l.Addr().String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// What is read right after the database was started again, or while it is, is read: the pool's
// connections are all lost, and nobody is told.
func TestReadsOverARestart(t *testing.T) {
	testlength.SkipShort(t)
	cluster := postgrestest.Start(t, postgrestest.Options{Fsync: true})
	d, err := openDatabase(t.Context(), cluster.CreateDatabase(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := sqlstore.New(d)
	defer s.Close()
	if err := createConversation(t.Context(), s, "c"); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{
		"a head": func() error { _, err := s.Log.ReadHead(t.Context(), "c"); return err },
		"the index": func() error {
			_, err := s.Index.FindPostings(t.Context(), driver.PostingQuery{Terms: []string{"a"}})
			return err
		},
		"the feed":   func() error { _, err := s.Log.ListChanges(t.Context(), 0, 10); return err },
		"what is up": func() error { return s.Ready(t.Context()) },
	}
	for name, read := range reads {
		var held []*sql.Conn
		for len(held) < poolSize/2 {
			conn, err := d.Readers.(*readers).db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if conn.PingContext(t.Context()) == nil { // else one of the restart before
				held = append(held, conn)
				continue
			}
			conn.Close()
		}
		for _, conn := range held {
			conn.Close()
		}
		cluster.Kill()
		down := make(chan error, 1)
		began := time.Now()
		go func() { down <- read() }()
		if err := cluster.Restart(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if err := <-down; err != nil && (took < maxConnectWait || scrollback.CodeOf(err) != scrollback.Unavailable) {
			t.Errorf("%s, while the database was down for %v: %v", name, took, err)
		}
		if err := read(); err != nil {
			t.Errorf("%s, after it was back: %v", name, err)
		}
	}
}
