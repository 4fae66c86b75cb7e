package collect_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/transcript"
)

// diary is a tool for tests: each file *.diary is a conversation, its first line the folder
// that was worked in, each other line a message.
type diary struct {
	name  string
	homes func(m transcript.Machine) []string
	reads *atomic.Int64 // files that were read
	fault error         // ends each listing
}

func (d diary) Name() string { return d.name }

func (d diary) Homes(m transcript.Machine) []string { return d.homes(m) }

func (d diary) Sniff(name string, _ []byte) bool { return strings.HasSuffix(name, ".diary") }

func (d diary) Sessions(_ context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		root := p.Name
		stopped := false
		err := fs.WalkDir(p.FS, root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".diary") {
				return nil
			}
			s := transcript.Session{ID: strings.TrimSuffix(filepath.Base(name), ".diary"), Name: name}
			info, err := fs.Stat(p.FS, name)
			if err != nil {
				s.Bad = err.Error()
			} else {
				s.Bytes = info.Size()
				s.Changed = info.ModTime().UnixMilli()
				s.Stamp = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
			}
			if stopped = !yield(s, nil); stopped {
				return fs.SkipAll
			}
			return nil
		})
		if err = cmpErr(err, d.fault); err != nil && !stopped {
			yield(transcript.Session{}, err)
		}
	}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (d diary) Read(_ context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		d.reads.Add(1)
		text, err := fs.ReadFile(p.FS, s.Name)
		if err == nil && strings.Contains(string(text), "FAULT") {
			err = errors.New("the page is torn out")
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		held := false
		lines := strings.SplitAfter(string(text), "\n")
		if last := lines[len(lines)-1]; last != "" {
			settled := strings.HasSuffix(last, ".") && p.Now-s.Changed >= 500 // it is whole if nothing follows for a moment
			lines = lines[:len(lines)-1]
			held = p.IsLive(s) && !settled
			if !held {
				lines = append(lines, last)
			}
		} else {
			lines = lines[:len(lines)-1]
		}
		if len(lines) == 0 {
			return
		}
		folder := strings.TrimSpace(lines[0])
		all := []transcript.Entry{{Source: s.ID, Conversation: &scrollback.Conversation{Title: s.ID},
			Origin: &scrollback.Origin{ID: s.ID, Folder: folder}}}
		for i, line := range lines[1:] {
			all = append(all, transcript.Entry{Source: s.ID, Line: i + 2, Message: scrollback.Message{
				ID: scrollback.MessageID(fmt.Sprint(s.ID, "-", i)), Role: scrollback.RoleUser,
				Parts: scrollback.Say(strings.TrimSpace(line)), CreatedAt: int64(1_700_000_000_000 + i)}})
		}
		all = append(all, transcript.Entry{Source: s.ID, End: &transcript.End{Held: held, Left: map[string]int{"blank": 1}}})
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// testMachine is a machine with a diary on it, and a store.
type testMachine struct {
	*testing.T
	home  string
	tool  diary
	sb    *local.Scrollback
	o     collect.Options
	reads *atomic.Int64
}

func newDesk(t *testing.T) *testMachine {
	t.Helper()
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	})
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &testMachine{T: t, home: home, sb: sb, reads: new(atomic.Int64)}
	d.tool = diary{name: "diary", reads: d.reads, homes: func(m transcript.Machine) []string {
		return []string{filepath.Join(m.Home, "diaries")}
	}}
	d.o = collect.Options{Tools: []transcript.Tool{d.tool}, Machine: collect.ThisMachine(home)}
	return d
}

// write puts a file below the home folder.
func (d *testMachine) write(name string, lines ...string) string {
	d.Helper()
	name = filepath.Join(d.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		d.Fatal(err)
	}
	return name
}

// add writes to the end of a file.
func (d *testMachine) add(name, text string) {
	d.Helper()
	f, err := os.OpenFile(filepath.Join(d.home, filepath.FromSlash(name)), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		d.Fatal(err)
	}
	if _, err = f.WriteString(text); err != nil {
		d.Error(err)
	}
	if err := f.Close(); err != nil {
		d.Fatal(err)
	}
}

func (d *testMachine) collector() *collect.Collector {
	d.Helper()
	c, err := collect.New(d.sb.Transfer, d.sb.View, d.o)
	if err != nil {
		d.Fatal(err)
	}
	return c
}

// bring brings everything, and returns what was found of the diary.
func (d *testMachine) bring() collect.Found {
	d.Helper()
	r, err := d.collector().Import(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	if len(r.Tools) == 0 {
		return collect.Found{}
	}
	return r.Tools[0]
}

// said returns the messages that a word is found in.
func (d *testMachine) said(word string) int {
	d.Helper()
	found, err := d.sb.Recall().Search(d.Context(), scrollback.SearchQuery{Query: word})
	if err != nil {
		d.Fatal(err)
	}
	return len(found.Hits)
}

func (d *testMachine) origins() []scrollback.Origin {
	d.Helper()
	o, err := d.sb.Transfer.Origins(d.Context(), d.sb.View, transfer.OriginQuery{})
	if err != nil {
		d.Fatal(err)
	}
	return o
}

// What is here already is only listed; what grew is read again, and nothing else.
func TestWhatIsHereIsNotReadAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 3 {
		d.write(fmt.Sprintf("diaries/y/%d.diary", i), "/work", "monday", "tuesday")
	}
	d.write("diaries/y/notes.txt", "nothing of the diary's")
	if f := d.bring(); f.New != 3 || f.Sessions != 3 || f.Messages != 6 || f.Conversations != 3 || f.Left["blank"] != 3 {
		t.Errorf("the first time: %+v", f)
	}
	if f := d.bring(); f.Unchanged != 3 || f.Messages != 0 || d.reads.Load() != 3 {
		t.Errorf("the second time, after %d reads: %+v", d.reads.Load(), f)
	}
	d.add("diaries/y/1.diary", "wednesday\n")
	if f := d.bring(); f.Unchanged != 2 || f.Changed != 1 || f.Messages != 1 || d.reads.Load() != 4 {
		t.Errorf("grown, after %d reads: %+v", d.reads.Load(), f)
	}
	if d.said("wednesday") != 1 || d.said("monday") != 3 {
		t.Error("what was brought is not found")
	}
}

// A survey reads what is not here, and writes nothing.
func TestSurveyWritesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday", "tuesday")
	for range 2 {
		r, err := d.collector().SurveyAll(t.Context())
		if err != nil || !r.DryRun || len(r.Tools) != 1 || r.Tools[0].New != 1 || r.Tools[0].Messages != 2 ||
			r.Tools[0].Bytes == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if list, _, err := d.sb.List(t.Context(), scrollback.ListQuery{}); err != nil || len(list) != 0 {
		t.Errorf("there are %d conversations, %v", len(list), err)
	}
}

// What vanished is marked and stays; it is marked no longer when it is there again. Nothing
// is marked if a place could not be listed to its end.
func TestWhatVanishedIsMarked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	kept := d.write("diaries/a.diary", "/work", "monday")
	d.write("diaries/b.diary", "/work", "tuesday")
	d.bring()
	if err := os.Rename(kept, kept+".away"); err != nil {
		t.Fatal(err)
	}
	d.o.Tools = []transcript.Tool{diary{"diary", d.tool.homes, d.reads, errors.New("the drawer is stuck")}}
	if f := d.bring(); f.Gone != 0 || f.Failed != 1 || !strings.Contains(f.Problems[0].Reason, "stuck") {
		t.Errorf("half listed: %+v", f)
	}
	d.o.Tools = []transcript.Tool{d.tool}
	if f := d.bring(); f.Gone != 1 {
		t.Errorf("vanished: %+v", f)
	}
	if f := d.bring(); f.Gone != 0 {
		t.Errorf("it is marked again: %+v", f)
	}
	var gone []string
	for _, o := range d.origins() {
		if o.GoneAt != 0 {
			gone = append(gone, o.ID)
		}
	}
	if !slices.Equal(gone, []string{"a"}) || d.said("monday") != 1 {
		t.Errorf("%v are gone", gone)
	}
	if err := os.Rename(kept+".away", kept); err != nil {
		t.Fatal(err)
	}
	d.bring()
	for _, o := range d.origins() {
		if o.GoneAt != 0 {
			t.Errorf("%s is there again, and marked", o.ID)
		}
	}
	if err := os.RemoveAll(filepath.Join(d.home, "diaries")); err != nil {
		t.Fatal(err)
	}
	if d.bring(); d.origins()[0].GoneAt != 0 {
		t.Error("a place that is not there says that its sessions are gone")
	}
}

// What was worked on in an excluded folder, or is kept in one, stays away, and so does a
// tool.
func TestExcluded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work/private/deep", "monday")
	d.write("diaries/b.diary", "/work/privately", "tuesday")
	d.write("diaries/closed/c.diary", "/work", "wednesday")
	d.o.Exclude = []string{"/work/private", filepath.Join(d.home, "diaries", "closed")}
	if f := d.bring(); f.Excluded != 2 || f.New != 1 || f.Messages != 1 {
		t.Errorf("%+v", f)
	}
	if d.said("monday") != 0 || d.said("wednesday") != 0 || d.said("tuesday") != 1 {
		t.Error("what is excluded is here")
	}
	d.o.Exclude = []string{"diary"}
	if f := d.bring(); f.Sessions != 0 {
		t.Errorf("the tool is excluded: %+v", f)
	}
	for _, bad := range []string{"dairy", "work/private"} {
		d.o.Exclude = []string{bad}
		if _, err := collect.New(d.sb.Transfer, d.sb.View, d.o); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("excluding %s: %v", bad, err)
		}
	}
}

// One session that fails is reported, and the rest go on. It is read again when it changes.
func TestOneThatFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "FAULT")
	d.write("diaries/b.diary", "/work", "tuesday")
	f := d.bring()
	if f.Failed != 1 || f.New != 1 || len(f.Problems) != 1 ||
		f.Problems[0].Session != "a.diary" || !strings.Contains(f.Problems[0].Reason, "torn") {
		t.Errorf("%+v", f)
	}
	d.write("diaries/a.diary", "/work", "monday")
	if f := d.bring(); f.New != 1 || f.Failed != 0 || d.said("monday") != 1 {
		t.Errorf("repaired: %+v", f)
	}
}

// No link leads out of a place.
func TestLinksDoNotLeadOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	secret := d.write("elsewhere/secret.diary", "/work", "hidden")
	d.write("diaries/a.diary", "/work", "monday")
	if err := os.Symlink(secret, filepath.Join(d.home, "diaries", "b.diary")); err != nil {
		t.Skip("no links here: ", err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(d.home, "diaries", "sub")); err != nil {
		t.Fatal(err)
	}
	if f := d.bring(); f.New != 1 || f.Failed != 1 {
		t.Errorf("%+v", f)
	}
	if d.said("hidden") != 0 {
		t.Error("a link was followed")
	}
}

// A tool that keeps its files in the folders that are worked in is found in the folders that others name.
func TestSecondRound(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{true, false} {
		d := newDesk(t)
		d.write("diaries/a.diary", filepath.Join(d.home, "project"), "monday")
		d.write("project/.log/b.diary", "/elsewhere", "tuesday")
		d.o.Tools = append([]transcript.Tool{diary{name: "log", reads: d.reads,
			homes: func(m transcript.Machine) (homes []string) {
				for _, f := range m.Folders {
					homes = append(homes, filepath.Join(f, ".log"))
				}
				return homes
			}}}, d.o.Tools...)
		c := d.collector()
		do := map[bool]func(context.Context) (collect.Report, error){true: c.SurveyAll, false: c.Import}[dry]
		r, err := do(t.Context())
		if err != nil || len(r.Tools) != 2 || r.Tools[1].Tool != "log" || r.Tools[1].Messages != 1 {
			t.Errorf("dry %v: %+v, %v", dry, r, err)
		}
	}
}

// What is named is read where it is: a folder, a file or a zip. What is not there is
// not_found, and a damaged zip is reported.
func TestNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := d.write("there/a.diary", "/work", "monday")
	d.write("there/b.diary", "/work", "tuesday")
	zipped := filepath.Join(d.home, "c.zip")
	w, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(w)
	inner, err := z.Create("in/c.diary")
	if err == nil {
		_, err = inner.Write([]byte("/work\nwednesday\n"))
	}
	if err = errors.Join(err, z.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path     string
		messages int64
	}{{file, 1}, {filepath.Dir(file), 1}, {zipped, 1}, {zipped, 0}} {
		if d.o.Path = c.path; d.bring().Messages != c.messages {
			t.Errorf("%s brought something else", c.path)
		}
	}
	tool, isZip, err := collect.RecognizeTool(d.o.Tools, file)
	if err != nil || isZip || tool == nil {
		t.Errorf("the file is recognised as %v, %v, %v", tool, isZip, err)
	}
	if _, isZip, err := collect.RecognizeTool(d.o.Tools, zipped); err != nil || !isZip {
		t.Errorf("the zip is none: %v", err)
	}
	text, err := os.ReadFile(zipped)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(zipped, text[:len(text)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	d.o.Path = zipped
	if _, err := d.collector().Import(t.Context()); scrollback.CodeOf(err) != scrollback.Invalid ||
		!strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged zip: %v", err)
	}
	d.o.Path = filepath.Join(d.home, "nowhere")
	if _, err := d.collector().Import(t.Context()); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("what is not there: %v", err)
	}
}

// What was deleted here is not brought again.
func TestDeletedHereStaysAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	d.bring()
	if _, err := d.sb.Trash(t.Context(), d.origins()[0].Conversation); err != nil {
		t.Fatal(err)
	}
	d.add("diaries/a.diary", "tuesday\n")
	if f := d.bring(); f.Deleted != 1 || f.Failed != 0 || d.said("tuesday") != 0 {
		t.Errorf("%+v", f)
	}
}

// What is left out from now on is not marked as gone.
func TestExcludedLater(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	d.bring()
	d.add("diaries/a.diary", "tuesday\n")
	d.o.Exclude = []string{"/work"}
	if f := d.bring(); f.Excluded != 1 || f.Gone != 0 || d.origins()[0].GoneAt != 0 {
		t.Errorf("%+v, %+v", f, d.origins())
	}
}

// An import that is told to end says what it has done, and goes on the next time.
func TestCanceled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 5 {
		d.write(fmt.Sprintf("diaries/%d.diary", i), "/work", "monday")
	}
	ctx, stop := context.WithCancel(t.Context())
	d.o.Told = func(collect.Change) { stop() }
	r, err := d.collector().Import(ctx)
	if scrollback.CodeOf(err) != scrollback.Canceled || r.Tools[0].New == 0 || r.Tools[0].New == 5 {
		t.Errorf("%+v, %v", r, err)
	}
	d.o.Told = nil
	if d.bring(); d.said("monday") != 5 {
		t.Error("something was lost")
	}
}

// What changed last is read first.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	began := time.Now().Add(-24 * time.Hour)
	for i, name := range []string{"b", "d", "a", "c"} {
		file := filepath.Join("diaries", name+".diary")
		d.write(file, "/work", "monday "+name)
		at := began.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(d.home, file), at, at); err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	d.o.Told = func(c collect.Change) { order = append(order, strings.TrimSuffix(filepath.Base(c.Session), ".diary")) }
	d.bring()
	if got := strings.Join(order, " "); got != "c a d b" {
		t.Errorf("they are read in the order %s", got)
	}
}

// Many sessions that are here cost a listing, and the report is JSON without surprises.
func TestManySessions(t *testing.T) {
	t.Parallel()
	n := testlength.Choose(60, 300, 300)
	d := newDesk(t)
	for i := range n {
		d.write(fmt.Sprintf("diaries/%d/%d.diary", i%7, i), "/work", "monday")
	}
	d.bring()
	d.reads.Store(0)
	f := d.bring()
	if f.Unchanged != n || d.reads.Load() != 0 || f.Bytes != 0 {
		t.Errorf("%d were read: %+v", d.reads.Load(), f)
	}
	if b, err := json.Marshal(f); err != nil || !strings.Contains(string(b), fmt.Sprintf(`"unchanged":%d`, n)) {
		t.Errorf("%s, %v", b, err)
	}
}

// What waits because it is not complete is read again after a moment, then more and more
// seldom, and when it has settled; after that no more.
func TestHeldUntilItSettles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	d.add("diaries/a.diary", "tues")
	start := time.Now()
	now := start
	d.o.Now = func() time.Time { return now }
	c := d.collector()
	for i, want := range []struct {
		later time.Duration
		reads int64
		said  int64
	}{{0, 1, 1}, {time.Second / 2, 1, 0}, {2 * time.Second, 2, 0}, {3 * time.Second, 2, 0},
		{9*time.Minute + 59*time.Second, 3, 0},
		{11 * time.Minute, 4, 1}, {12 * time.Minute, 4, 0}} {
		now = start.Add(want.later)
		r, err := c.Import(t.Context())
		if err != nil || d.reads.Load() != want.reads || r.Tools[0].Messages != want.said {
			t.Errorf("%d: after %d reads %+v, %v", i, d.reads.Load(), r, err)
		}
	}
}

// Each tool is looked for, and how far behind it is here is told; of what is not here no more is read than its first
// message.
func TestAgents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	d.bring()
	d.write("diaries/b.diary", "/work", "tuesday")
	d.reads.Store(0)
	agents, err := d.collector().ListAgents(t.Context(), d.home)
	if err != nil || len(agents) != 1 {
		t.Fatal(agents, err)
	}
	a := agents[0]
	if a.Sessions != 2 || a.Here != 1 || a.Behind != 1 || a.Newest == 0 || a.NewestHere == 0 || !a.Places[0].Found ||
		d.reads.Load() != 1 {
		t.Errorf("%+v", a)
	}
}
