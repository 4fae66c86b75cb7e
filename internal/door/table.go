package door

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

// lookEvery is how often a file is looked at, at most: a change holds within that time.
const lookEvery = time.Second

// TableFile is a table of side calls in a file, which is read again when the file has changed. It is safe for
// concurrent use.
type TableFile struct {
	name string
	log  *slog.Logger

	mu     sync.Mutex
	table  *threading.Table // the newest that could be read
	stamp  fileStamp        // of what was read, or could not be
	looked time.Time
}

// fileStamp tells whether a file has changed; the zero value is that of one that is not there.
type fileStamp struct {
	changed time.Time
	bytes   int64
}

// OpenTable reads a table. It fails if the file cannot be read, or is no table; the error names the line.
func OpenTable(name string, log *slog.Logger) (*TableFile, error) {
	f := &TableFile{name: name, log: log, looked: time.Now(), stamp: stampOf(name)}
	var err error
	f.table, err = readTable(name)
	return f, err
}

func readTable(name string) (*threading.Table, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return threading.ReadTable(text)
}

// stampOf returns the stamp of a file as it is now, before it is read: what is written meanwhile changes it.
func stampOf(name string) fileStamp {
	info, err := os.Stat(name)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// Table returns the table as the file has it; where that cannot be read any more, as it had it last, and the log says
// so once.
func (f *TableFile) Table() *threading.Table {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < lookEvery {
		return f.table
	}
	f.looked = time.Now()
	now := stampOf(f.name)
	if now == f.stamp {
		return f.table
	}
	f.stamp = now
	table, err := readTable(f.name)
	if err != nil {
		f.log.Warn("the table of side calls cannot be read; what it said before still holds", "file", f.name, "error", err)
		return f.table
	}
	f.table = table
	f.log.Info("the table of side calls was read again", "file", f.name)
	return f.table
}
