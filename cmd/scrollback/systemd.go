package main

import (
	"context"
	"log/slog"
	"net"
)

// systemdNotifier is systemd, where it started the program as a service of type notify. Where
// nobody wants to be told, notify does nothing.
type systemdNotifier struct {
	socket string // as in NOTIFY_SOCKET; empty: nobody wants to be told
	log    *slog.Logger
}

// sendState sends a state, such as READY=1. What fails is logged.
func (t systemdNotifier) sendState(state string) {
	if t.socket == "" {
		return
	}
	if err := t.writeState(state); err != nil {
		t.log.Warn("systemd could not be told", "state", state, "error", err)
	}
}

func (t systemdNotifier) writeState(state string) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: t.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	if closed := c.Close(); err == nil {
		err = closed
	}
	return err
}

// notifyEnd waits until over ends, and says so if that is because the program was asked to end.
func (t systemdNotifier) notifyEnd(over, asked context.Context) {
	<-over.Done()
	if asked.Err() != nil {
		t.sendState("STOPPING=1")
	}
}
