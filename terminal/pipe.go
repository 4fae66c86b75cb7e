package terminal

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// maxLine bounds one line of a pipe, in bytes; the engine judges the message.
const maxLine = 4 << 20

// pipe is a face without a screen.
type pipe struct {
	lines      *bufio.Scanner
	out, notes io.Writer
}

func newPipe(in io.Reader, out, notes io.Writer) *pipe {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	return &pipe{lines: lines, out: out, notes: notes}
}

// next implements face. A line that ends in a backslash continues on the next.
func (p *pipe) next(context.Context) (string, error) {
	var b strings.Builder
	for p.lines.Scan() {
		head, more := strings.CutSuffix(p.lines.Text(), `\`)
		b.WriteString(head)
		if !more {
			return b.String(), nil
		}
		b.WriteByte('\n')
	}
	if err := p.lines.Err(); err != nil {
		return "", scrollback.Wrap(scrollback.Invalid, "terminal.Pipe", err)
	}
	if b.Len() > 0 {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	return "", io.EOF
}

func (p *pipe) busy(func())   {}
func (p *pipe) status(string) {}

func (p *pipe) writers() faceWriters {
	return faceWriters{answer: p.out, notes: p.notes, faults: p.notes}
}
