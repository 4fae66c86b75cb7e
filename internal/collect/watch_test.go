package collect_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/transcript"
)

// watching is a watch that runs beside a test.
type watching struct {
	*testMachine
	changes chan collect.Change
	reports chan collect.Report
	log     *safeBuffer
	stop    func()
}

// safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// watch begins to watch, and waits until everything was looked at once.
func (d *testMachine) watch(poll time.Duration) *watching {
	d.Helper()
	w := &watching{testMachine: d, changes: make(chan collect.Change, 1000), reports: make(chan collect.Report, 10_000),
		log: &safeBuffer{}}
	o := d.o
	o.Told = func(ch collect.Change) { w.changes <- ch }
	c, err := collect.New(d.sb.Transfer, d.sb.View, o)
	if err != nil {
		d.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- c.Watch(ctx, &collect.WatchOptions{Poll: poll, Log: slog.New(slog.NewTextHandler(w.log, nil)),
			Report: func(r collect.Report) {
				select {
				case w.reports <- r:
				default: // nobody waits for that many
				}
			}})
	}()
	w.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			d.Error(err)
		}
	})
	d.Cleanup(w.stop)
	<-w.reports
	return w
}

// until waits for changes until a word is found in n messages.
func (w *watching) until(word string, n int) {
	w.Helper()
	deadline := time.After(20 * time.Second)
	for w.said(word) != n {
		select {
		case <-w.changes:
		case <-w.reports:
		case <-deadline:
			w.Fatalf("%q is found %d times, not %d; the log: %s", word, w.said(word), n, w.log)
		}
	}
}

// What is written is here soon: in a session that grows, in a new one, and in one whose
// folder is new. The poll is so slow that only notices can tell of it.
func TestWatchFollowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/y/a.diary", "/work", "monday")
	d.write("diaries/y/b.diary", "/work", "monday")
	w := d.watch(time.Hour)
	w.until("monday", 2)
	before := d.reads.Load()
	d.add("diaries/y/a.diary", "tuesday\n")
	w.until("tuesday", 1)
	d.write("diaries/y/c.diary", "/work", "wednesday")
	w.until("wednesday", 1)
	d.write("diaries/new/deep/d.diary", "/work", "thursday")
	w.until("thursday", 1)
	d.add("diaries/new/deep/d.diary", "friday\n")
	w.until("friday", 1)
	if n := d.reads.Load() - before; n > 8 { // four changes; a file may be seen half written
		t.Errorf("%d sessions were read for four changes", n)
	}
	if got := d.said("monday"); got != 2 {
		t.Errorf("monday is found %d times", got)
	}
}

// A place that appears later, and one that is replaced, are followed too.
func TestWatchSeesPlacesComeAndGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.watch(20 * time.Millisecond)
	d.write("diaries/a.diary", "/work", "monday")
	w.until("monday", 1)
	if err := os.Rename(filepath.Join(d.home, "diaries"), filepath.Join(d.home, "old")); err != nil {
		t.Fatal(err)
	}
	d.write("diaries/b.diary", "/work", "tuesday")
	w.until("tuesday", 1)
	d.add("diaries/b.diary", "wednesday\n")
	w.until("wednesday", 1)
}

// A line that is being written waits until it is whole.
func TestWatchWaitsForTheEndOfALine(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	w := d.watch(time.Hour)
	d.add("diaries/a.diary", "tues")
	ch := <-w.changes // of the beginning, or of the first sweep
	for !ch.Held {
		ch = <-w.changes
	}
	if d.said("tues") != 0 {
		t.Error("half a line is here")
	}
	d.add("diaries/a.diary", "day\n")
	w.until("tuesday", 1)
	c, err := d.sb.Get(t.Context(), d.origins()[0].Conversation)
	if err != nil || c.Messages != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// What is complete once nothing follows it for a moment is here soon, though no notice tells
// that nothing came.
func TestWatchLooksAgainAtWhatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	w := d.watch(time.Hour)
	d.add("diaries/a.diary", "tuesday.")
	w.until("tuesday", 1)
}

// What cannot be read is told once, however often it is looked at, and read when it can be.
func TestWatchTellsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "FAULT")
	w := d.watch(5 * time.Millisecond)
	for range 20 {
		<-w.reports
	}
	for d.reads.Load() < 2 { // it is left alone for a second, and then tried again
		<-w.reports
	}
	<-w.reports
	if n := strings.Count(w.log.String(), "torn out"); n != 1 {
		t.Errorf("it is told %d times: %s", n, w.log)
	}
	if n := d.reads.Load(); n > 3 {
		t.Errorf("it is read %d times", n)
	}
	d.write("diaries/a.diary", "/work", "monday")
	w.until("monday", 1)
}

// Two watches at once bring everything once.
func TestTwoWatches(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one := d.watch(50 * time.Millisecond)
	two := d.watch(50 * time.Millisecond)
	n := 8
	for i := range n {
		d.write(fmt.Sprintf("diaries/%d.diary", i), "/work", "monday")
	}
	for i := range n {
		d.add(fmt.Sprintf("diaries/%d.diary", i), "tuesday\n")
	}
	one.until("tuesday", n)
	for range 3 { // both have looked at everything since
		<-one.reports
		<-two.reports
	}
	one.stop()
	two.stop()
	list, _, err := d.sb.List(t.Context(), scrollback.ListQuery{})
	if err != nil || len(list) != n {
		t.Fatalf("%d conversations, %v", len(list), err)
	}
	for _, c := range list {
		branches, err := d.sb.Branches().List(t.Context(), c.ID)
		if err != nil || c.Messages != 2 || len(branches) != 1 {
			t.Errorf("%s has %d messages on %d branches, %v", c.ID, c.Messages, len(branches), err)
		}
	}
}

// A single file is followed through the folder that it is in, and its log beside it.
func TestWatchOneFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.o.Path = d.write("there/a.diary", "/work", "monday")
	d.write("there/b.diary", "/work", "hidden")
	w := d.watch(time.Hour)
	w.until("monday", 1)
	d.add("there/b.diary", "tuesday\n")
	d.add("there/a.diary", "wednesday\n")
	w.until("wednesday", 1)
	if d.said("hidden")+d.said("tuesday") != 0 {
		t.Error("another file was read")
	}
	d.add("there/a.diary", "thursday\n")
	w.until("thursday", 1)
}

var _ transcript.Tool = diary{}

// A watch asks the system for at most 4,096 watches, and says once that it looks at the other folders now and then;
// what is written there is found by that.
func TestWatchTakesSoManyWatches(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fdinfo"); err != nil {
		t.Skip("this system does not say what is watched")
	}
	const most = 4096
	d := newDesk(t)
	old := d.write("diaries/old/a.diary", "/work", "monday")
	long := time.Now().Add(-time.Hour)
	for i := range most + 50 {
		if err := os.Mkdir(filepath.Join(d.home, "diaries", fmt.Sprint("f", i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Dir(old), long, long); err != nil { // the newest are watched first
		t.Fatal(err)
	}
	w := d.watch(50 * time.Millisecond)
	d.add("diaries/old/a.diary", "tuesday\n")
	w.until("tuesday", 1)
	d.write("diaries/f7/b.diary", "/work", "wednesday")
	w.until("wednesday", 1)
	for range 3 {
		<-w.reports
	}
	if n := strings.Count(w.log.String(), "too many folders"); n != 1 {
		t.Errorf("it is said %d times: %s", n, w.log)
	}
	all, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		t.Fatal(err)
	}
	top := 0
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it was closed meanwhile
		}
		top = max(top, strings.Count(string(text), "inotify wd:"))
	}
	if top != most {
		t.Errorf("%d folders are watched, not %d", top, most)
	}
}
