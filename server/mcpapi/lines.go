package mcpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine bounds what a client says in one line, in bytes.
const maxLine = 16 << 20

// lines hands a client's lines on to the protocol. One that is no message is answered
// here and goes no further: the protocol's library would end for it.
type lines struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil {
			return 0, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		code, what := fault(line)
		if code == 0 {
			l.rest = line
			break
		}
		answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": what}})
		if err == nil {
			_, err = l.out.Write(append(answer, '\n'))
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line is the next line with its end; of one that is too long only the beginning, which
// is no JSON.
func (l *lines) line() ([]byte, error) {
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

// fault is the protocol's error for a line, or 0. A batch is judged by the library,
// which knows what was agreed.
func fault(line []byte) (code int, what string) {
	switch body := bytes.TrimSpace(line); {
	case !json.Valid(body):
		return jsonrpc.CodeParseError, "Parse error"
	case body[0] == '[':
		return 0, ""
	default:
		if _, err := jsonrpc.DecodeMessage(body); err != nil {
			return jsonrpc.CodeInvalidRequest, "Invalid Request"
		}
	}
	return 0, ""
}

// whole writes one thing at a time, for two who write.
type whole struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close implements io.Closer; the end of the stream is not the protocol's business.
func (w *whole) Close() error { return nil }
