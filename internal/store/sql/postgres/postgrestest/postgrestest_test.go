package postgrestest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func connectTo(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func queryValue(t *testing.T, conn *pgx.Conn, query string) (s string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&s); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return s
}

func TestDatabaseOfItsOwn(t *testing.T) {
	var dsn string
	t.Run("in a test", func(t *testing.T) {
		dsn = NewDatabase(t)
		a := connectTo(t, dsn)
		b := connectTo(t, NewDatabase(t))
		if _, err := a.Exec(t.Context(), "CREATE TABLE only_here (id int)"); err != nil {
			t.Fatal(err)
		}
		if got := queryValue(t, b, "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'"); got != "0" {
			t.Errorf("another database has %s tables", got)
		}
		if got := queryValue(t, a, "SHOW server_encoding"); got != "UTF8" {
			t.Errorf("its encoding is %s", got)
		}
	})
	conn, err := pgx.Connect(t.Context(), dsn)
	if err == nil {
		conn.Close(t.Context())
		t.Error("the database is still there after its test")
	}
}

func TestStopKillRestart(t *testing.T) {
	c := Start(t, Options{TCP: true})
	dsn := c.CreateDatabase(t)
	before := c.DSN("postgres")
	if _, err := connectTo(t, dsn).Exec(t.Context(), "CREATE TABLE kept AS SELECT 'yes' AS kept"); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func(){c.Stop, c.Kill} {
		end()
		if canConnect(dsn) {
			t.Error("it takes a connection although it was ended")
		}
		if err := c.Restart(); err != nil {
			t.Fatal(err)
		}
		if got := queryValue(t, connectTo(t, dsn), "SELECT kept FROM kept"); got != "yes" {
			t.Errorf("kept is %q", got)
		}
	}
	if c.DSN("postgres") != before {
		t.Error("it has another address after a restart")
	}
	wrong, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	wrong.User = url.UserPassword("postgres", "wrong")
	if canConnect(wrong.String()) {
		t.Error("it takes a wrong password")
	}
}

func TestPause(t *testing.T) {
	testlength.SkipShort(t)
	c := Start(t, Options{})
	conn := connectTo(t, c.DSN("postgres"))
	c.Pause()
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT 1")
		answered <- err
	}()
	if canConnect(c.DSN("postgres")) { // waits a second
		t.Error("a paused server takes a connection")
	}
	select {
	case err := <-answered:
		t.Errorf("a paused server replied: %v", err)
	default:
	}
	c.Resume()
	if err := <-answered; err != nil {
		t.Errorf("after it went on: %v", err)
	}
}

func TestTLS(t *testing.T) {
	c := Start(t, Options{TLS: true})
	conn := connectTo(t, c.DSN("postgres"))
	if got := queryValue(t, conn, "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != "true" {
		t.Errorf("ssl is %s", got)
	}
	if canConnect(strings.Replace(c.DSN("postgres"), "verify-full", "disable", 1)) {
		t.Error("it takes a connection without TLS")
	}
}

func TestStandby(t *testing.T) {
	testlength.SkipShort(t)
	c := Start(t, Options{})
	s := c.StartStandby(t)
	if got := queryValue(t, connectTo(t, s.DSN("postgres")), "SELECT pg_is_in_recovery()::text"); got != "true" {
		t.Errorf("pg_is_in_recovery is %s", got)
	}
}

// The test's process is killed with a cluster running, as a time limit of "go test" does
// it: nothing may be left.
func TestNothingLeftBehind(t *testing.T) {
	testlength.SkipShort(t)
	const inside = "SCROLLBACK_TEST_LEFT_BEHIND"
	if os.Getenv(inside) != "" {
		c := Start(t, Options{})
		c.Pause()
		os.Stdout.WriteString("folder " + c.folder + "\n")
		select {}
	}
	Start(t, Options{}).Stop() // skips where there is none
	cmd := exec.Command(os.Args[0], "-test.run=^TestNothingLeftBehind$")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 200)
	n, err := out.Read(said)
	folder, found := strings.CutPrefix(strings.TrimSpace(string(said[:n])), "folder ")
	if err != nil || !found {
		t.Fatalf("it said %q: %v", said[:n], err)
	}
	pid, err := os.ReadFile(folder + "/data/postmaster.pid")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	first, _, _ := strings.Cut(string(pid), "\n")
	for deadline := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
		_, err := os.Stat(folder)
		_, running := os.Stat("/proc/" + first + "/exe")
		if errors.Is(err, os.ErrNotExist) && running != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the folder: %v; process %s: %v", err, first, running)
		}
	}
}

// What is not held any more is collected, and a pipe that is collected is closed.
func TestSharedClusterIsHeld(t *testing.T) {
	dsn := NewDatabase(t)
	for range 5 {
		runtime.GC()
	}
	if !canConnect(dsn) {
		t.Error("the shared cluster is gone")
	}
}
