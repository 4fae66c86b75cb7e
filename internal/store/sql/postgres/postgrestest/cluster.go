package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Options say what a cluster is like; the zero value is one on a Unix socket that
// survives a kill of its processes but not of the machine.
type Options struct {
	Fsync          bool     // as in production
	TCP            bool     // listens on 127.0.0.1 too, where it wants a password
	TLS            bool     // over TCP, and there only with TLS; its certificate is localhost's
	MaxConnections int      // 0 means 200
	Bin            string   // the folder with PostgreSQL's programs; "" finds one
	Settings       []string // more of them, as in "work_mem=1MB"
}

// Cluster is a PostgreSQL that is thrown away.
type Cluster struct {
	Options
	folder   string // with data, the socket, the log and the certificates
	port     int
	password string
	running  *process // nil when it is stopped
	keeper   *keeper
}

// Start makes a cluster that ends with the test. Without PostgreSQL's programs the test is
// skipped.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := startCluster(o)
	if err != nil {
		skipMissing(t, err)
	}
	t.Cleanup(c.endCluster)
	return c
}

// startCluster makes a cluster, which its keeper ends with the process at the latest.
func startCluster(o Options) (*Cluster, error) {
	if o.MaxConnections == 0 {
		o.MaxConnections = 200
	}
	o.TCP = o.TCP || o.TLS
	if o.Bin == "" {
		found, err := findPrograms()
		if err != nil {
			return nil, err
		}
		o.Bin = found
	}
	c := &Cluster{Options: o, port: 5432, password: randomName()}
	err := c.initData()
	if err == nil {
		err = c.launchServer()
	}
	if err != nil {
		c.endCluster()
		return nil, err
	}
	return c, nil
}

// findPrograms finds a folder with PostgreSQL's programs.
func findPrograms() (string, error) {
	if named := os.Getenv(FolderVariable); named != "" {
		if _, err := os.Stat(filepath.Join(named, "initdb")); err != nil {
			return "", fmt.Errorf("no initdb in %s: %w", FolderVariable, err)
		}
		return named, nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path) // the others are beside it
		return filepath.Dir(path), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	best := ""
	newest := -1
	for _, path := range found {
		folder := filepath.Dir(path)
		if version, err := strconv.Atoi(filepath.Base(filepath.Dir(folder))); err == nil && version > newest {
			best = folder
			newest = version
		}
	}
	if best == "" {
		return "", errors.Join(errors.New("initdb was not found"), err)
	}
	return best, nil
}

// makeFolder makes the cluster's folder and starts its keeper. A socket's path must be short.
func (c *Cluster) makeFolder() error {
	var err error
	if c.folder, err = os.MkdirTemp("/tmp", "scrollback-pg"); err == nil {
		c.keeper, err = startKeeper(c.folder)
	}
	return err
}

// initData runs initdb in a folder of its own.
func (c *Cluster) initData() error {
	if err := c.makeFolder(); err != nil {
		return err
	}
	secret := filepath.Join(c.folder, "password")
	if err := os.WriteFile(secret, []byte(c.password), 0o600); err != nil {
		return err
	}
	if c.TLS {
		if err := writeCertificates(c.folder); err != nil {
			return err
		}
	}
	if err := giveToOwner(c.folder); err != nil {
		return err
	}
	return c.runProgram("initdb", "--pgdata", c.dataFolder(), "--username=postgres", "--pwfile", secret, "--auth-local=trust",
		"--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
}

func (c *Cluster) dataFolder() string { return filepath.Join(c.folder, "data") }

// runProgram waits for one of PostgreSQL's programs.
func (c *Cluster) runProgram(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.Bin, program), args...)
	cmd.Dir = c.folder
	if err := asOwner(cmd); err != nil {
		return err
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(said))
	}
	return nil
}

// launchServer starts the server and waits until it takes a connection. After a kill its
// predecessor's processes may still be ending, and another program may take the port.
func (c *Cluster) launchServer() error {
	var err error
	fresh := c.TCP && c.port == 5432
	for range 20 {
		if fresh {
			if c.port, err = freePort(); err != nil {
				return err
			}
		}
		if err = c.launchOnce(); err == nil {
			return nil
		}
		<-time.After(250 * time.Millisecond)
	}
	return err
}

func (c *Cluster) launchOnce() error {
	args := []string{"-D", c.dataFolder(), "-k", c.folder, "-p", strconv.Itoa(c.port)}
	set := []string{"listen_addresses=", "max_connections=" + strconv.Itoa(c.MaxConnections)}
	if c.TCP {
		set[0] += "127.0.0.1"
	}
	if !c.Fsync {
		set = append(set, "fsync=off", "full_page_writes=off")
	}
	if c.TLS {
		set = append(set, "ssl=on", "ssl_cert_file="+filepath.Join(c.folder, "server.crt"),
			"ssl_key_file="+filepath.Join(c.folder, "server.key"),
			"hba_file="+filepath.Join(c.folder, "hba.conf"))
	}
	for _, s := range append(set, c.Settings...) {
		args = append(args, "-c", s)
	}
	running, err := launchProcess(filepath.Join(c.Bin, "postgres"), c.folder, args)
	if err != nil {
		return err
	}
	// A server of another process says only to whom asks that it is ready.
	for began := time.Now(); !canConnect(c.DSN("postgres")); <-time.After(10 * time.Millisecond) {
		if running.hasEnded() || time.Since(began) > time.Minute {
			running.killAll()
			said, _ := os.ReadFile(filepath.Join(c.folder, "log"))
			return fmt.Errorf("postgres does not start: %s", bytes.TrimSpace(said))
		}
	}
	c.running = running
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// DSN returns the URL of a database of the cluster, by TCP if it listens there.
func (c *Cluster) DSN(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database}
	q := url.Values{}
	switch {
	case c.TLS:
		u.User = url.UserPassword("postgres", c.password)
		u.Host = net.JoinHostPort("localhost", strconv.Itoa(c.port))
		q.Set("sslmode", "verify-full")
		q.Set("sslrootcert", c.CA())
	case c.TCP:
		u.User = url.UserPassword("postgres", c.password)
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
		q.Set("sslmode", "disable")
	default:
		q.Set("host", c.folder)
		q.Set("port", strconv.Itoa(c.port))
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// CA returns the path of the certificate that signed the server's.
func (c *Cluster) CA() string { return filepath.Join(c.folder, "ca.crt") }

// CreateDatabase returns the DSN of an empty database of the cluster.
func (c *Cluster) CreateDatabase(t testing.TB) string {
	t.Helper()
	return createDatabase(t, c.DSN("postgres"))
}

// Stop ends the server as an administrator does who is in a hurry: what runs is undone.
func (c *Cluster) Stop() {
	if c.running != nil {
		c.running.stopFast()
		c.running = nil
	}
}

// Kill ends the server's processes where they are.
func (c *Cluster) Kill() {
	if c.running != nil {
		c.running.killAll()
		c.running = nil
	}
}

// Pause halts every process of the server: connections stay open and nothing replies.
func (c *Cluster) Pause() {
	if c.running != nil {
		c.running.pauseAll()
	}
}

// Resume continues after Pause.
func (c *Cluster) Resume() {
	if c.running != nil {
		c.running.resumeAll()
	}
}

// Restart starts the server on its data after Stop or Kill, on the same address, and
// stops it before if it runs. It returns when the server takes connections.
func (c *Cluster) Restart() error {
	c.Stop()
	return c.launchServer()
}

// StartStandby makes a read-only replica that follows the cluster and ends with the test. The
// cluster is restarted for it: the replica begins with a copy of its files.
func (c *Cluster) StartStandby(t testing.TB) *Cluster {
	t.Helper()
	s := &Cluster{Options: c.Options, port: 5432}
	s.TCP = false
	s.TLS = false
	s.Settings = append(s.Settings[:len(s.Settings):len(s.Settings)],
		fmt.Sprintf("primary_conninfo=host=%s port=%d user=postgres", c.folder, c.port))
	t.Cleanup(s.endCluster)
	if err := s.copyFrom(c); err != nil {
		t.Fatalf("making a replica: %v", err)
	}
	return s
}

func (c *Cluster) copyFrom(from *Cluster) error {
	from.Stop()
	err := c.makeFolder()
	if err == nil {
		err = os.CopyFS(c.dataFolder(), os.DirFS(from.dataFolder()))
	}
	if err == nil {
		err = os.Chmod(c.dataFolder(), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.dataFolder(), "standby.signal"), nil, 0o600)
	}
	if err == nil {
		err = giveToOwner(c.folder)
	}
	if err == nil {
		err = from.launchServer()
	}
	if err == nil {
		err = c.launchServer()
	}
	return err
}

// endCluster ends the cluster and removes its folder.
func (c *Cluster) endCluster() {
	c.Kill()
	if c.keeper != nil {
		c.keeper.endKeeper()
	}
}
