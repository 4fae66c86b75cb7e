package archive

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/scrollback-ai/scrollback"
)

const (
	cacheDefault = 1 << 30  // bytes on disk
	memoryMax    = 64 << 20 // bytes in memory
	sweepShare   = 16       // a sweep is due after this part of the bound was added
	leftoverAge  = time.Hour
)

// renderCache keeps rendered files, on disk or in memory. It may lose any of them at
// any time, even to other processes that share the folder; what cannot be
// written to disk is kept in memory.
type renderCache struct {
	dir string
	max int64

	mu    sync.Mutex
	added int64 // bytes put on disk since the last sweep; at first unknown

	order   *list.List                           // of kept, most recently used first
	checked map[scrollback.SegmentID]fs.FileInfo // files found to be what they should
	byID    map[scrollback.SegmentID]*list.Element
	held    int64
}

type cachedFile struct {
	id   scrollback.SegmentID
	of   scrollback.ConversationID
	text []byte
}

func (c *renderCache) initialize(dir string, bound int64) {
	if bound <= 0 {
		bound = cacheDefault
	}
	c.dir = dir
	c.max = bound
	c.added = bound
	c.order = list.New()
	c.byID = map[scrollback.SegmentID]*list.Element{}
	c.checked = map[scrollback.SegmentID]fs.FileInfo{}
}

// segmentPath returns where a segment's file goes; the conversation's id was checked.
func (c *renderCache) segmentPath(seg scrollback.Segment) string {
	return filepath.Join(c.dir, string(seg.Conversation), "history", "archive",
		fmt.Sprintf("%d-%d-%d.md", seg.CreatedAt, seg.FirstSeq, seg.LastSeq))
}

// openSegment returns a cached file, or nil. A file with another length, or with contents
// that do not match the segment's hash, does not count.
func (c *renderCache) openSegment(seg scrollback.Segment) *refBody {
	if text := c.lookupMemory(seg.ID); text != nil {
		return memoryBody(text)
	}
	if c.dir == "" {
		return nil
	}
	path := c.segmentPath(seg)
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != seg.Bytes || !c.isTrusted(seg, f, info) {
		f.Close()
		return nil
	}
	if now := time.Now(); now.Sub(info.ModTime()) > usedEvery {
		_ = os.Chtimes(path, now, now) // the time of use; a lost one only makes it leave earlier
	}
	return fileBody(f, info.Size())
}

const (
	// maxTrusted bounds how many files are remembered as checked.
	maxTrusted = 10_000
	// settled is the age from which a file that is written to again shows another
	// time: a younger one is checked each time.
	settled = 100 * time.Millisecond
	// usedEvery is how precisely the time of use is kept.
	usedEvery = time.Minute
)

// isTrusted reports whether a file matches the segment's hash. It is read through
// once by each process, and again whenever it was replaced or written to.
func (c *renderCache) isTrusted(seg scrollback.Segment, f io.ReaderAt, info fs.FileInfo) bool {
	c.mu.Lock()
	known := c.checked[seg.ID]
	c.mu.Unlock()
	if known != nil && os.SameFile(known, info) && known.ModTime().Equal(info.ModTime()) {
		return true
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, seg.Bytes)); err != nil ||
		hex.EncodeToString(h.Sum(nil)) != seg.SHA256 {
		return false
	}
	if time.Since(info.ModTime()) < settled {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.checked) >= maxTrusted {
		clear(c.checked)
	}
	c.checked[seg.ID] = info
	return true
}

func (c *renderCache) putSegment(seg scrollback.Segment, text []byte) {
	if c.dir == "" {
		c.putMemory(seg, text)
		return
	}
	path := c.segmentPath(seg)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = maybe.WriteFile(path, text, 0o600)
	}
	if err != nil {
		c.putMemory(seg, text)
		return
	}
	c.mu.Lock()
	c.added += int64(len(text))
	due := c.added > c.max/sweepShare
	if due {
		c.added = 0
	}
	c.mu.Unlock()
	if due { // it looks at every file, and nobody need wait for that
		c.sweepOld(path)
	}
}

// sweepOld removes the least recently used files until the rest fits, except the one
// just written, and the remains of crashes.
func (c *renderCache) sweepOld(except string) {
	type file struct {
		path string
		size int64
		used time.Time
	}
	var files []file
	var sum int64
	_ = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !inArchive(path) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if !strings.HasSuffix(path, ".md") {
			if time.Since(info.ModTime()) > leftoverAge {
				_ = os.Remove(path)
			}
			return nil
		}
		sum += info.Size()
		if path != except {
			files = append(files, file{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if sum <= c.max {
			return
		}
		if os.Remove(f.path) == nil {
			sum -= f.size
		}
	}
}

// inArchive reports whether path is in a folder that holds only our files.
func inArchive(path string) bool {
	dir := filepath.Dir(path)
	return filepath.Base(dir) == "archive" && filepath.Base(filepath.Dir(dir)) == "history"
}

func (c *renderCache) lookupMemory(id scrollback.SegmentID) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byID[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedFile).text
}

func (c *renderCache) putMemory(seg scrollback.Segment, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	bound := min(c.max, memoryMax)
	if int64(len(text)) > bound || c.byID[seg.ID] != nil {
		return
	}
	c.byID[seg.ID] = c.order.PushFront(cachedFile{seg.ID, seg.Conversation, text})
	c.held += int64(len(text))
	for c.held > bound {
		c.dropElement(c.order.Back())
	}
}

func (c *renderCache) dropElement(e *list.Element) {
	k := c.order.Remove(e).(cachedFile)
	delete(c.byID, k.id)
	c.held -= int64(len(k.text))
}

// listConversations returns those that something is kept of.
func (c *renderCache) listConversations() (out []scrollback.ConversationID) {
	c.mu.Lock()
	for _, e := range c.byID {
		out = append(out, e.Value.(cachedFile).of)
	}
	c.mu.Unlock()
	if c.dir != "" {
		dirs, _ := os.ReadDir(c.dir) // what cannot be read holds nothing for us
		for _, d := range dirs {
			if d.IsDir() && checkName(d.Name()) == nil {
				out = append(out, scrollback.ConversationID(d.Name()))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *renderCache) forgetConversation(id scrollback.ConversationID) error {
	c.mu.Lock()
	for e := c.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(cachedFile).of == id {
			c.dropElement(e)
		}
		e = next
	}
	c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	home := filepath.Join(c.dir, string(id))
	err := os.RemoveAll(filepath.Join(home, "history", "archive"))
	_ = os.Remove(filepath.Join(home, "history")) // unless something else is in them
	_ = os.Remove(home)
	return err
}
