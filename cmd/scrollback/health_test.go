package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A server is asked how it is: while it is well, when its database is gone, in both
// languages, and when it has ended.
func TestHealth(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data, nil)
	at := strings.TrimPrefix(s.url, "http://")
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{at, ":" + port, "0.0.0.0:" + port} {
		if code, out, errs := inside(t, data, "health", "--addr", addr); code != 0 || out != "ready\n" {
			t.Errorf("%s: exit %d: %s%s", addr, code, out, errs)
		}
	}
	t.Setenv("SCROLLBACK_ADDR", at)
	if code, out, _ := inside(t, data, "health", "--json"); code != 0 ||
		strings.Join(strings.Fields(out), "") != `{"ok":true}` {
		t.Errorf("exit %d: %s", code, out)
	}
	if err := os.Rename(filepath.Join(data, "scrollback.db"), filepath.Join(data, "elsewhere.db")); err != nil {
		t.Fatal(err)
	}
	// What was found is good for a second.
	until(t, 20*time.Second, func() bool { code, _, _ := inside(t, data, "health"); return code == 6 })
	if _, out, errs := inside(t, data, "health"); out != "" ||
		!strings.Contains(errs, "until scrollback is started again") {
		t.Errorf("%s%s", out, errs)
	}
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	if _, _, errs := inside(t, data, "health"); !strings.Contains(errs, "在 scrollback 重新启动之前") {
		t.Error(errs)
	}
	s.kill()
	if code, _, errs := inside(t, data, "health"); code != 6 || !strings.Contains(errs, "没有服务器响应") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// What is not scrollback, or no address, is said to be that.
func TestHealthElsewhere(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.Write([]byte("<p>hello"))
	}))
	t.Cleanup(other.Close)
	code, _, errs := inside(t, t.TempDir(), "health", "--addr", strings.TrimPrefix(other.URL, "http://"))
	if code != 6 || !strings.Contains(errs, "is not scrollback (status 200)") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := inside(t, t.TempDir(), "health", "--addr", "7077"); code != 2 ||
		!strings.Contains(errs, "is not HOST:PORT") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// systemd is told when the server listens, and when it ends.
func TestToldToSystemd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no systemd, and no such sockets
	}
	dir, err := os.MkdirTemp("", "told") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := serve(t, t.TempDir(), []string{"NOTIFY_SOCKET=" + socket})
	heard := func() string {
		buf := make([]byte, 1000)
		if err := l.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := l.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	if got, want := heard(), "READY=1\nSTATUS=Serving at "+s.url; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	s.stop()
	if got := heard(); got != "STOPPING=1" {
		t.Errorf("%q", got)
	}
}
