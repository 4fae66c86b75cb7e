package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/zipped"
)

// findTool finds the tool that keeps conversations in such a file, and the file as a place of
// it; nil if none does.
func findTool(ctx context.Context, t *Transfer, f *upload, q ImportRequest) (transcript.Tool, transcript.Place, error) {
	place := transcript.Place{FS: f, Name: f.name, Now: t.store.Now()}
	zip := zipped.Sniff(f.head)
	if zip && len(t.o.Tools) > 0 {
		var err error
		if place, err = zipped.Open(f, f.size, place.Now); err != nil {
			return nil, place, err
		}
	}
	place.FS = transcript.DecodeUTF8FS(place.FS)
	for _, tool := range t.o.Tools {
		named := tool.Name() == q.Format
		if q.Format != "" && !named || !named && !zip && !tool.Sniff(f.name, f.head) {
			continue
		}
		if named {
			return tool, place, nil
		}
		for s, err := range tool.Sessions(ctx, place) {
			if err == nil && (s.Bad == "" || !zip) {
				return tool, place, nil
			}
			break // of this archive it knows nothing
		}
	}
	return nil, place, nil
}

// importTool reads all sessions of a file of a tool.
func importTool(ctx context.Context, im *importer, tool transcript.Tool, place transcript.Place) (ImportResult, error) {
	out := im.out
	q := im.q
	var trashed error
	if q.AsCopy {
		return out, scrollback.ParamErrorf("transfer.Import", "as_copy", i18n.OnlyBundleBringsIDs)
	}
	for s, err := range tool.Sessions(ctx, place) {
		if err != nil {
			return out, scrollback.Wrap(scrollback.Unavailable, "transfer.Import", err)
		}
		if s.Bad != "" {
			out.Add(ImportResult{Skipped: []transcript.Bad{{Reason: path.Base(s.Name) + ": " + s.Bad}}})
			continue
		}
		if before := countMessages(out); im.q.Progress != nil {
			q.Progress = func(n int64) { im.q.Progress(before + n) }
		}
		one, err := im.ImportSession(ctx, im.view, Session{Tool: tool, Place: place, Session: s}, q)
		for i := range one.Conversations {
			one.Conversations[i].Tool = tool.Name()
			one.Conversations[i].Source = s.Name
		}
		out.Add(one)
		if errors.Is(err, ErrDeleted) {
			trashed = err
		} else if err != nil {
			return out, err
		}
	}
	if len(out.Conversations) == 0 && trashed != nil {
		return out, trashed
	}
	if len(out.Conversations) == 0 && q.Into == "" {
		if len(out.Skipped) > 0 {
			return out, scrollback.ParamErrorf("transfer.Import", "file", i18n.NothingCouldBeRead,
				out.Skipped[0].Line, out.Skipped[0].Reason)
		}
		return out, scrollback.ParamErrorf("transfer.Import", "file", i18n.FileHasNoConversation)
	}
	return out, nil
}

// countMessages returns how many messages were written.
func countMessages(r ImportResult) (n int64) {
	for _, c := range r.Conversations {
		n += c.Messages
	}
	return n
}

// Add adds what another session or file brought.
func (r *ImportResult) Add(o ImportResult) {
	r.Conversations = append(r.Conversations, o.Conversations...)
	for _, b := range o.Skipped {
		if len(r.Skipped) < maxSkipped {
			r.Skipped = append(r.Skipped, b)
		} else {
			r.MoreSkipped++
		}
	}
	for kind, n := range o.Left {
		if r.Left == nil {
			r.Left = map[string]int{}
		}
		r.Left[kind] += n
	}
	r.MoreSkipped += o.MoreSkipped
	r.Masked += o.Masked
	r.Deleted += o.Deleted
	r.Held = r.Held || o.Held
	r.Unsealed = r.Unsealed || o.Unsealed
	if len(o.IDs) > 0 && r.IDs == nil {
		r.IDs = map[string]string{}
	}
	maps.Copy(r.IDs, o.IDs)
	if o.Asked != nil {
		sum := *o.Asked
		if r.Asked != nil {
			sum = addAsked(*r.Asked, sum)
		}
		r.Asked = &sum
	}
}

// upload is a file system with one file, that a seeker reads.
type upload struct {
	name string
	head []byte
	size int64

	mu sync.Mutex
	r  io.ReadSeeker
}

// newUpload looks at a file.
func newUpload(r io.ReadSeeker, name string, head []byte) (*upload, error) {
	if name = path.Base(name); !fs.ValidPath(name) || name == "." {
		name = "file"
	}
	size, err := r.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = r.Seek(0, io.SeekStart)
	}
	return &upload{name: name, head: head, size: size, r: r}, scrollback.Wrap(scrollback.Unavailable, "transfer.Import",
		err)
}

// ReadAt implements io.ReaderAt.
func (u *upload) ReadAt(b []byte, at int64) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, err := u.r.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n := 0
	for n < len(b) {
		some, err := u.r.Read(b[n:])
		if n += some; err != nil && n < len(b) {
			return n, err // of io.ReadFull it could not be told from an end
		}
	}
	return n, nil
}

// Open implements fs.FS.
func (u *upload) Open(name string) (fs.File, error) {
	if name != u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &uploaded{u, io.NewSectionReader(u, 0, u.size)}, nil
}

// uploaded is the file, open.
type uploaded struct {
	of *upload
	*io.SectionReader
}

func (f *uploaded) Stat() (fs.FileInfo, error) { return uploadInfo{f.of}, nil }
func (f *uploaded) Close() error               { return nil }

// uploadInfo is what is known of the file.
type uploadInfo struct{ of *upload }

func (i uploadInfo) Name() string       { return i.of.name }
func (i uploadInfo) Size() int64        { return i.of.size }
func (i uploadInfo) Mode() fs.FileMode  { return 0o400 }
func (i uploadInfo) ModTime() time.Time { return time.UnixMilli(0) }
func (i uploadInfo) IsDir() bool        { return false }
func (i uploadInfo) Sys() any           { return nil }
