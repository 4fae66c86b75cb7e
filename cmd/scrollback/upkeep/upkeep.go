// Package upkeep is what those who keep a server running learn of it: a container runtime asks
// with a command, systemd is told.
//
// Words it adds: state (a line for systemd).
//
// Invariants: asking goes to the server itself, never through a proxy, and ends in bounded
// time; where nobody wants to be told, telling does nothing.
//
// It knows HTTP and the sockets of this machine, and nothing of what a server holds.
package upkeep

import (
	"context"
	"log/slog"
	"net"
)

// Told is systemd, where it started the program as a service of type notify.
type Told struct {
	Socket string // as in NOTIFY_SOCKET; empty: nobody wants to be told
	Log    *slog.Logger
}

// Tell sends a state, such as READY=1. What fails is logged.
func (t Told) Tell(state string) {
	if t.Socket == "" {
		return
	}
	if err := t.send(state); err != nil {
		t.Log.Warn("systemd could not be told", "state", state, "error", err)
	}
}

func (t Told) send(state string) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: t.Socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	if closed := c.Close(); err == nil {
		err = closed
	}
	return err
}

// TellEnd waits until over ends, and says so if that is because the program was asked to end.
func (t Told) TellEnd(over, asked context.Context) {
	<-over.Done()
	if asked.Err() != nil {
		t.Tell("STOPPING=1")
	}
}
