//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a PostgreSQL: one of our own that is durable and thrown away, or a given one.
type cluster struct {
	bin, dir string
	server   *exec.Cmd // nil for a given one
	admin    *pgx.Conn
	dsn      *url.URL
	made     []string
	counts   bool // statements are counted
}

func startCluster(ctx context.Context, dsn, bin string) (c *cluster, err error) {
	c = &cluster{bin: bin}
	if c.bin == "" {
		found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
		if err != nil || len(found) == 0 {
			return nil, errors.New("PostgreSQL's programs are missing: apt-get install postgresql, or -bin FOLDER, or -without postgres")
		}
		c.bin = found[len(found)-1]
	}
	if dsn == "" {
		if dsn, err = c.startServer(ctx); err != nil {
			return nil, errors.Join(err, c.closeCluster())
		}
	}
	if c.dsn, err = url.Parse(dsn); err != nil {
		return nil, errors.Join(errors.New("the URL of the PostgreSQL cannot be read"), c.closeCluster())
	}
	for range 100 {
		if c.admin, err = pgx.Connect(ctx, dsn); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(errors.New("the PostgreSQL does not take connections"), c.closeCluster())
	}
	_, err = c.admin.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	c.counts = err == nil && c.admin.QueryRow(ctx, `SELECT count(*) FROM pg_stat_statements`).Scan(new(int64)) == nil
	return c, nil
}

// startServer makes a cluster and starts its server, as user postgres when root.
func (c *cluster) startServer(ctx context.Context) (dsn string, err error) {
	if c.dir, err = os.MkdirTemp("/tmp", "scrollback-pg-"); err != nil { // a socket's path is short
		return "", err
	}
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return "", err
		}
		uid, errU := strconv.Atoi(u.Uid)
		gid, errG := strconv.Atoi(u.Gid)
		if err := errors.Join(errU, errG, os.Chown(c.dir, uid, gid)); err != nil {
			return "", err
		}
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	data := filepath.Join(c.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E",
		"UTF8",
		"--locale=C", "--no-instructions")
	initdb.Dir = c.dir
	initdb.SysProcAttr = as
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	args := []string{"-D", data, "-k", c.dir, "-c", "listen_addresses=", "-c", "max_connections=200", "-c",
		"shared_buffers=1GB",
		"-c", "max_wal_size=8GB", "-c", "log_min_messages=fatal"}
	if found, err := filepath.Glob(filepath.Join(c.bin, "..", "lib", "pg_stat_statements.so")); err == nil &&
		len(found) > 0 {
		args = append(args, "-c", "shared_preload_libraries=pg_stat_statements")
	}
	c.server = exec.Command(filepath.Join(c.bin, "postgres"), args...)
	die := *as
	die.Pdeathsig = syscall.SIGINT
	c.server.Dir = c.dir
	c.server.SysProcAttr = &die
	q := url.Values{"host": {c.dir}, "port": {"5432"}}
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: "", Path: "/postgres",
		RawQuery: q.Encode()}).String(), c.server.Start()
}

// createDatabase makes an empty database and returns its URL.
func (c *cluster) createDatabase(ctx context.Context, name string) (string, error) {
	name = fmt.Sprintf("bench_%s_%d", name, time.Now().UnixNano())
	if _, err := c.admin.Exec(ctx, `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
		return "", err
	}
	c.made = append(c.made, name)
	u := *c.dsn
	u.Path = "/" + name
	return u.String(), nil
}

// closeCluster drops what was made, and ends the server if it is ours.
func (c *cluster) closeCluster() error {
	var err error
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if c.admin != nil {
		for _, name := range c.made {
			_, dropped := c.admin.Exec(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`)
			err = errors.Join(err, dropped)
		}
		err = errors.Join(err, c.admin.Close(ctx))
	}
	if c.server != nil && c.server.Process != nil {
		err = errors.Join(err, c.server.Process.Signal(syscall.SIGINT))
		_ = c.server.Wait() // ended by us
	}
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}

// counters are what a PostgreSQL has done so far.
type counters struct {
	wal, commits, statements int64
	cpu                      float64 // milliseconds of all its processes; 0 where they cannot be seen
}

func (a counters) differenceTo(b counters) counters {
	return counters{a.wal - b.wal, a.commits - b.commits, a.statements - b.statements, a.cpu - b.cpu}
}

// readCounters reads the counters of a database. Processes tell what they did once a second at most.
func (c *cluster) readCounters(ctx context.Context, place string) (n counters, err error) {
	time.Sleep(1500 * time.Millisecond)
	u, err := url.Parse(place)
	if err != nil {
		return n, err
	}
	name := strings.TrimPrefix(u.Path, "/")
	err = c.admin.QueryRow(ctx,
		`SELECT CAST(pg_current_wal_lsn() - '0/0' AS BIGINT), xact_commit FROM pg_stat_database WHERE datname = $1`,
		name).Scan(&n.wal, &n.commits)
	if err == nil && c.counts {
		err = c.admin.QueryRow(ctx, `SELECT CAST(coalesce(sum(calls), 0) AS BIGINT) FROM pg_stat_statements s
			JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`, name).Scan(&n.statements)
	}
	n.cpu = c.processorTime()
	return n, err
}

// listStatements shows which statements a database has run, and how often for each of n turns.
func (c *cluster) listStatements(ctx context.Context, place string, n int) error {
	u, err := url.Parse(place)
	if err != nil || !c.counts {
		return err
	}
	rows, err := c.admin.Query(ctx, `SELECT CAST(calls AS BIGINT), mean_exec_time, left(regexp_replace(query, '\s+', ' ', 'g'), 110)
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1 AND calls > $2
		ORDER BY calls DESC LIMIT 60`, strings.TrimPrefix(u.Path, "/"), n/20)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var calls int64
		var mean float64
		var query string
		if err := rows.Scan(&calls, &mean, &query); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "   %6.2f × %7.3f ms  %s\n", float64(calls)/float64(n), mean, query)
	}
	return rows.Err()
}

// processorTime returns what the server's processes have used, in milliseconds. Those that ended
// are counted by the server itself.
func (c *cluster) processorTime() float64 {
	if c.server == nil {
		return 0
	}
	ticks := 0.0
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid := strings.Split(name, "/")[2]
		own := pid == strconv.Itoa(c.server.Process.Pid)
		if !own && (len(f) < 15 || f[1] != strconv.Itoa(c.server.Process.Pid)) {
			continue
		}
		used := f[11:13] // utime, stime
		if own {
			used = f[11:15] // and those of its children that ended
		}
		for _, u := range used {
			n, err := strconv.ParseFloat(u, 64)
			if err == nil {
				ticks += n
			}
		}
	}
	return ticks * 10 // a tick is a hundredth of a second
}
