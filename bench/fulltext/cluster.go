//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a PostgreSQL: one of our own that is durable and thrown away, or a given one.
type cluster struct {
	bin, dir string
	as       *syscall.SysProcAttr
	server   *exec.Cmd // nil for a given one
	admin    *pgx.Conn
	dsn      *url.URL
	made     string
}

func startCluster(ctx context.Context, dsn, bin string) (c *cluster, err error) {
	c = &cluster{bin: bin, as: &syscall.SysProcAttr{}}
	if dsn != "" {
		if c.dsn, err = url.Parse(dsn); err != nil {
			return nil, errors.New("the URL of the PostgreSQL cannot be read")
		}
		return c, c.connectAdmin(ctx)
	}
	if c.bin == "" {
		found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
		if err != nil || len(found) == 0 {
			return nil, errors.New("PostgreSQL's programs are missing: apt-get install postgresql, or -bin FOLDER, or -dsn URL")
		}
		c.bin = found[len(found)-1]
	}
	if err = c.makeCluster(ctx); err == nil {
		err = c.startServer(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.closeCluster())
	}
	return c, nil
}

// makeCluster makes an own cluster, as user postgres when root. A socket's path must be short.
func (c *cluster) makeCluster(ctx context.Context) (err error) {
	if c.dir, err = os.MkdirTemp("/tmp", "scrollback-pg-"); err != nil {
		return err
	}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		uid, errU := strconv.Atoi(u.Uid)
		gid, errG := strconv.Atoi(u.Gid)
		if err := errors.Join(errU, errG, os.Chown(c.dir, uid, gid)); err != nil {
			return err
		}
		c.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"), "-D", filepath.Join(c.dir, "data"), "-U",
		"postgres", "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-instructions")
	initdb.Dir = c.dir
	initdb.SysProcAttr = c.as
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	q := url.Values{"host": {c.dir}, "port": {"5432"}}
	c.dsn = &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}
	return nil
}

// startServer starts the server, durable as it is unless told otherwise.
func (c *cluster) startServer(ctx context.Context) error {
	c.server = exec.Command(filepath.Join(c.bin, "postgres"), "-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-c",
		"listen_addresses=",
		"-c", "shared_buffers=1GB", "-c", "max_wal_size=8GB", "-c", "log_min_messages=fatal")
	die := *c.as
	die.Pdeathsig = syscall.SIGINT
	c.server.Dir = c.dir
	c.server.SysProcAttr = &die
	if err := c.server.Start(); err != nil {
		return err
	}
	return c.connectAdmin(ctx)
}

func (c *cluster) connectAdmin(ctx context.Context) (err error) {
	for range 100 {
		if c.admin, err = pgx.Connect(ctx, c.dsn.String()); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the PostgreSQL does not take connections")
}

// stopServer ends the server.
func (c *cluster) stopServer() error {
	if c.server == nil || c.server.Process == nil {
		return nil
	}
	err := c.server.Process.Signal(syscall.SIGINT)
	_ = c.server.Wait() // ended by us
	c.server = nil
	return err
}

// createDatabase makes an empty database and returns its URL.
func (c *cluster) createDatabase(ctx context.Context) (string, error) {
	c.made = fmt.Sprintf("bench_fulltext_%d", time.Now().UnixNano())
	if _, err := c.admin.Exec(ctx, `CREATE DATABASE `+c.made+` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
		return "", err
	}
	u := *c.dsn
	u.Path = "/" + c.made
	return u.String(), nil
}

// closeCluster drops what was made, and ends the server if it is ours.
func (c *cluster) closeCluster() (err error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if c.admin != nil {
		if c.made != "" {
			_, err = c.admin.Exec(ctx, `DROP DATABASE IF EXISTS `+c.made+` WITH (FORCE)`)
		}
		err = errors.Join(err, c.admin.Close(ctx))
	}
	err = errors.Join(err, c.stopServer())
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
