package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

const (
	// healthTime is how long a server may take to say how it is: a little more than it gives
	// its store.
	healthTime = 6 * time.Second

	// maxHealthBody bounds what is read of an answer, in bytes.
	maxHealthBody = 64 << 10
)

// askHealth asks the server that listens on addr (HOST:PORT, as serve takes it) whether it can keep
// what it is given. Its reason, if it cannot, is in the language of the tag. Errors are invalid
// for an address that is none, and otherwise unavailable.
func askHealth(ctx context.Context, addr, language string) error {
	const op = "upkeep.Ask"
	at, err := localAddress(addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/readyz", nil)
	if err != nil {
		return scrollback.ParamErrorf(op, "addr", i18n.NotHostAndPort, addr)
	}
	r.Header.Set("Accept-Language", language)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.NoServerRespondsAt, at)
	}
	defer resp.Body.Close()
	var said struct {
		OK    bool `json:"ok"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxHealthBody)).Decode(&said)
	switch {
	case err == nil && resp.StatusCode == http.StatusOK && said.OK:
		return nil
	case err == nil && said.Error.Message != "":
		return scrollback.Errorf(scrollback.Unavailable, op, "%s", said.Error.Message)
	}
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.RespondsButNotScrollback, at,
		resp.StatusCode)
}

// localAddress returns where a server that listens on addr is reached from its own machine.
func localAddress(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", scrollback.ParamErrorf("upkeep.Ask", "addr", i18n.NotHostAndPort, addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "::1"
		if ip.Is4() {
			host = "127.0.0.1"
		}
	}
	return net.JoinHostPort(host, port), nil
}
