package meet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// The mark is a line of its own with the number of the protocol. Nothing that a login prints looks like it.
const (
	markBegins = "\nscrollback-sync "
	markEnds   = " begins here\n"
)

// maxNoise bounds what may come before the mark, in bytes.
const maxNoise = 64 << 10

// ServePipe answers the questions of one other program that come in, until it ends. The mark goes out before anything
// else. Whatever else this process prints to out breaks the talk.
func ServePipe(ctx context.Context, in io.Reader, out io.Writer, h http.Handler) error {
	if _, err := fmt.Fprintf(out, "%s%d%s", markBegins, Protocol, markEnds); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	conn, copied := overPipe(in, out, func() {})
	l := &oneConn{conn: conn, ended: make(chan struct{})}
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r)
			// What is left of a question would end the connection, and there is no other one.
			_, _ = io.Copy(io.Discard, r.Body)
		}),
		ErrorLog: log.New(io.Discard, "", 0),
		ConnState: func(_ net.Conn, to http.ConnState) {
			if to == http.StateClosed {
				l.end()
			}
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := s.Serve(l)
	_ = s.Close()
	<-copied // what was answered has gone out
	if ctx.Err() != nil {
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrServerClosed) {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	return nil
}

// overPipe makes a connection of two pipes, with the deadlines that a server sets. Closed is called when the connection
// has ended on either side; the channel is closed when everything has gone out.
func overPipe(in io.Reader, out io.Writer, closed func()) (net.Conn, <-chan struct{}) {
	near, far := net.Pipe()
	copied := make(chan struct{})
	go func() {
		_, _ = io.Copy(far, in)
		_ = far.Close()
	}()
	go func() {
		_, _ = io.Copy(out, far)
		_ = far.Close()
		closed()
		close(copied)
	}()
	return near, copied
}

// oneConn is a listener with one connection, which ends with it.
type oneConn struct {
	conn  net.Conn
	ended chan struct{}
	once  sync.Once
	mu    sync.Mutex
}

func (l *oneConn) take() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	conn := l.conn
	l.conn = nil
	return conn
}

// Accept implements [net.Listener].
func (l *oneConn) Accept() (net.Conn, error) {
	if conn := l.take(); conn != nil {
		return conn, nil
	}
	<-l.ended
	return nil, io.EOF
}

func (l *oneConn) end() { l.once.Do(func() { close(l.ended) }) }

// Close implements [net.Listener].
func (l *oneConn) Close() error {
	l.end()
	return nil
}

// Addr implements [net.Listener].
func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// noMark is the error of a pipe on which no mark came. Noise is what came instead.
type noMark struct{ noise string }

func (e *noMark) Error() string { return "no mark" }

// DialPipe returns the peer at the other end of two pipes, which [ServePipe] serves. What comes before the mark is left
// out. Closed is called when the connection ends. Shown is what a person knows the other side by.
func DialPipe(in io.Reader, out io.Writer, shown string, closed func()) (Peer, error) {
	r := bufio.NewReader(in)
	if err := skipToMark(r); err != nil {
		return nil, err
	}
	conn, _ := overPipe(r, out, closed)
	l := &oneConn{conn: conn}
	t := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			if conn := l.take(); conn != nil {
				return conn, nil
			}
			return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New(i18n.SyncEnded.String())}
		},
		MaxConnsPerHost:    1,
		DisableCompression: true,
	}
	base := &url.URL{Scheme: "http", Host: "pipe"}
	return newRemote(&http.Client{Transport: t}, base, shown, ""), nil
}

// skipToMark reads up to the mark, which may be the first line.
func skipToMark(r *bufio.Reader) error {
	noise := []byte("\n")
	for {
		line, err := r.ReadSlice('\n')
		noise = append(noise, line...)
		if at := bytes.LastIndex(noise, []byte(markBegins)); at >= 0 && bytes.HasSuffix(noise[at:], []byte(markEnds)) {
			given := string(noise[at+len(markBegins) : len(noise)-len(markEnds)])
			if given != strconv.Itoa(Protocol) {
				return differs(given)
			}
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || len(noise) > maxNoise {
			return &noMark{string(noise[1:])}
		}
	}
}
