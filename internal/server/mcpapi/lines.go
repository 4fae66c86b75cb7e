package mcpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine bounds what a client says in one line, in bytes.
const maxLine = 16 << 20

// clientLines hands a client's lines on to the protocol. One that is not a message is rejected
// here and goes no further, because the protocol's library would end the session.
// Requests made before the input ends are completed, which the library would drop.
type clientLines struct {
	ctx  context.Context // of the whole conversation
	in   *bufio.Reader
	out  *messageWriter
	rest []byte
}

// Read implements io.Reader.
func (l *clientLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.readLine()
		if err != nil {
			l.out.waitWritten(l.ctx)
			return 0, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		code, what := lineFault(line)
		if code == 0 {
			l.rest, _ = l.out.asked.mapIncoming(line)
			break
		}
		if _, err := l.out.Write(append(newRefusal(code, what), '\n')); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// readLine returns the next line with its end; of one that is too long only the beginning, which
// is not JSON.
func (l *clientLines) readLine() ([]byte, error) {
	var out []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(out) <= maxLine {
			out = append(out, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(out) > 0:
			return append(out, '\n'), nil
		}
		return out[:min(len(out), maxLine)], err
	}
}

// lineFault returns the protocol's error for a line, or 0. Batches were taken out of the
// protocol, and the library ends for one.
func lineFault(line []byte) (code int, what string) {
	switch body := bytes.TrimSpace(line); {
	case !json.Valid(body):
		return jsonrpc.CodeParseError, "Parse error"
	case body[0] == '[':
		return jsonrpc.CodeInvalidRequest, "Invalid Request: one message a line, no batches"
	default:
		if _, err := jsonrpc.DecodeMessage(body); err != nil {
			return jsonrpc.CodeInvalidRequest, "Invalid Request"
		}
		if hasNullID(parseMembers(body)) {
			return jsonrpc.CodeInvalidRequest, noNull
		}
	}
	return 0, ""
}

const noNull = "Invalid Request: an id may not be null"

// newRefusal returns the answer to something that is not a request, and so has no id.
func newRefusal(code int, what string) []byte {
	// plain values
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": what}})
	return b
}

// settleTime bounds the wait for responses once the input has ended. A cancelled
// request may never get one.
const settleTime = 15 * time.Second

// messageWriter writes one message at a time, for two who write, and knows which requests are
// not answered yet.
type messageWriter struct {
	asked requestIDs

	mu   sync.Mutex
	out  io.Writer
	even chan struct{} // closed when nothing is owed any more; nil unless somebody waits
}

// waitWritten waits until everything that is owed was written.
func (w *messageWriter) waitWritten(ctx context.Context) {
	w.mu.Lock()
	even := make(chan struct{})
	if w.even = even; w.asked.countOpen() == 0 {
		close(even)
	}
	w.mu.Unlock()
	late := time.NewTimer(settleTime)
	defer late.Stop()
	select {
	case <-even:
	case <-late.C:
	case <-ctx.Done():
	}
}

// Write implements io.Writer, for one message.
func (w *messageWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	message, answered := w.asked.mapOutgoing(p)
	if _, err := w.out.Write(message); err != nil {
		return 0, err
	}
	if answered != "" && w.even != nil && w.asked.countOpen() == 0 {
		close(w.even)
		w.even = nil
	}
	return len(p), nil
}

// Close implements io.Closer; closing the stream is not up to the protocol.
func (w *messageWriter) Close() error { return nil }
