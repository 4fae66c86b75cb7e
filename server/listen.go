package server

import (
	"net"
	"sync"
)

// connectionsMax bounds the connections that are open at once; more wait until one ends.
// Each costs some 10 to 20 KB. Those that say nothing end after the time for headers.
const connectionsMax = 4096

// bounded is a listener with a bound on its open connections.
type bounded struct {
	net.Listener
	open   chan struct{} // holds one for each
	closed chan struct{}
	once   sync.Once
}

func bound(l net.Listener, n int) *bounded {
	return &bounded{Listener: l, open: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept implements [net.Listener].
func (l *bounded) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &counted{Conn: c, done: func() { <-l.open }}, nil
}

// Close implements [net.Listener].
func (l *bounded) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// counted is a connection that makes room when it is closed.
type counted struct {
	net.Conn
	once sync.Once
	done func()
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	defer c.once.Do(c.done)
	return c.Conn.Close()
}
