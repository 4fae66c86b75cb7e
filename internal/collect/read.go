package collect

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// sessionJob is a session to be brought.
type sessionJob struct {
	tool     transcript.Tool
	place    openedPlace
	session  transcript.Session
	shares   bool                 // other sessions are in the same file
	progress func(messages int64) // may be nil
	begun    *begunJob            // may be nil
}

// begunJob is a session that is being read before its turn has come.
type begunJob struct {
	only    *filteredTool
	reading *transfer.Reading
}

// maxBegun is how big a session may be, in bytes, that is read while another is written.
const maxBegun = 32 << 20

// beginReading begins to read a session; nil for one that is not to be read beside another.
func (c *Collector) beginReading(ctx context.Context, j sessionJob) *begunJob {
	if j.session.Bytes > maxBegun || j.session.Bad != "" {
		return nil
	}
	only := &filteredTool{Tool: j.tool, c: c}
	return &begunJob{only, transfer.BeginReading(ctx, j.forImport(only), c.o.Import)}
}

// close ends the reading of a session that was not imported.
func (b *begunJob) close() {
	if b != nil {
		b.reading.Close()
	}
}

// forImport returns the session as it is imported.
func (j sessionJob) forImport(only *filteredTool) transfer.Session {
	return transfer.Session{Tool: only, Place: j.place.Place, Session: j.session, Shares: j.shares}
}

// jobOutcome is what came of it.
type jobOutcome struct {
	Change
	was      sessionState
	excluded bool
	deleted  error // why it stays away: it was deleted here, after it was brought
}

// How long a session that failed, or of which something was held back, is left alone: twice
// as long each time in a row.
const (
	leastWait = time.Second
	mostWait  = 10 * time.Minute
)

// readSession brings a session, and remembers what its origins will not say.
func (c *Collector) readSession(ctx context.Context, k *knownOrigins, j sessionJob) jobOutcome {
	key := sessionKey(j.tool, j.place.Place, j.session)
	only := &filteredTool{Tool: j.tool, c: c}
	s := j.forImport(only)
	if j.begun != nil {
		only = j.begun.only
		s = j.forImport(only)
		s.Begun = j.begun.reading
	}
	q := c.o.Import
	q.Progress = j.progress
	out := jobOutcome{was: k.stateOf(key, j.session.Stamp, j.shares),
		Change: Change{Tool: key.tool, Place: key.place, Session: j.session.Name}}
	out.ImportResult, out.Err = c.transfer.ImportSession(ctx, c.view, s, q)
	if ctx.Err() != nil && out.Err != nil {
		return out
	}
	for _, folder := range only.folders {
		k.addFolder(folder)
		out.Folder = only.folders[0]
	}
	if out.excluded = only.isEmpty(); out.excluded {
		out.Err = nil // there was nothing to bring
	}
	if errors.Is(out.Err, transfer.ErrDeleted) {
		out.deleted = out.Err
		out.Err = nil
	}
	if n := len(out.Skipped); out.Err == nil && !out.excluded && len(out.Conversations) == 0 && n > 0 {
		out.Err = scrollback.ParamErrorf(op, "file", i18n.NothingCouldBeRead, out.Skipped[0].Line,
			out.Skipped[0].Reason)
	}
	was := c.judged[key]
	switch now := (judgement{stamp: j.session.Stamp, held: out.Held, failed: out.Err != nil}); {
	case out.Err != nil || out.Held:
		if out.Held && was.stamp != now.stamp { // it is being written
			was.wait = 0
		}
		now.wait = min(max(2*was.wait, leastWait), mostWait)
		now.again = c.o.Now().Add(now.wait)
		c.judged[key] = now
	case out.excluded, len(out.Conversations) == 0:
		c.judged[key] = now
	default:
		delete(c.judged, key)
		k.noteImported(key, j.session.Stamp, j.shares)
	}
	if c.o.Told != nil && !out.excluded && out.deleted == nil {
		c.o.Told(out.Change)
	}
	return out
}

// sessionKey names a session.
func sessionKey(tool transcript.Tool, p transcript.Place, s transcript.Session) session {
	return session{tool.Name(), transfer.PlaceName(p), s.Name, s.ID}
}

// sessionPath returns where the file of a session is on this machine, or empty.
func sessionPath(p transcript.Place, s transcript.Session) string {
	if p.Path == "" {
		return ""
	}
	return filepath.Join(p.Path, filepath.FromSlash(s.Name))
}
