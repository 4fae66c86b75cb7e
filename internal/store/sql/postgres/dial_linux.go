package postgres

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall lacks.
const tcpUserTimeout = 0x12

// boundSilence bounds how long sent bytes may stay unacknowledged; keepalives are not sent
// while some are. Where the system cannot do it, its own bound holds.
func boundSilence(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	return c.Control(func(fd uintptr) {
		ms := int(silenceTimeout.Milliseconds())
		syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, ms) //nolint:errcheck // see above
	})
}
