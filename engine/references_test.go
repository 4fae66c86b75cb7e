package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// folderRig is a conversation that works in a folder.
type folderRig struct {
	*enginetest.Rig
	id   scrollback.ConversationID
	root string
}

func newDesk(t *testing.T, o enginetest.Options, steps ...modeltest.Step) *folderRig {
	t.Helper()
	r, root := inFolder(t, o, steps...)
	c, _, err := r.Create(context.Background(), scrollback.Conversation{Roots: []string{root}})
	if err != nil {
		t.Fatal(err)
	}
	return &folderRig{r, c.ID, root}
}

func (d *folderRig) write(name, text string) {
	d.T.Helper()
	if err := os.WriteFile(filepath.Join(d.root, name), []byte(text), 0o600); err != nil {
		d.T.Fatal(err)
	}
}

// references returns those of the newest prompt.
func (d *folderRig) references() []scrollback.Reference {
	d.T.Helper()
	ms := d.Log(d.id)
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == scrollback.RoleUser {
			return ms[i].Parts.References()
		}
	}
	return nil
}

// shown returns how often the newest request has a text in it, what messages refer to included.
func (d *folderRig) shown(text string) (n int) {
	reqs := d.Script.Requests()
	for _, it := range reqs[len(reqs)-1].Items {
		for _, p := range it.Parts {
			if t, ok := p.(scrollback.Text); ok {
				n += strings.Count(t.Text, text)
			}
		}
	}
	return n
}

// What a mark names stands behind the prompt, which stays as it was said; what cannot be
// read says why, to the model and at once to the person.
func TestReferences(t *testing.T) {
	d := newDesk(t, enginetest.Options{Limit: 32_000}, modeltest.Say("I see."))
	d.write("a.go", "package a // ```` in a comment\n")
	said := "Compare @[a.go] with @[../b.go] and @[none.go], not @someone: @[context_grep{\"pattern\":\"I see\"}]"
	got := d.Ask(d.id, said)
	got.WantDone(t, scrollback.TurnComplete, "stop")
	ms := d.Log(d.id)
	if ms[0].Parts.Text() != said || len(ms[0].Parts) != 5 {
		t.Fatalf("the prompt is stored as %+v", ms[0].Parts)
	}
	block := "[file a.go, version 1]\n`````go\npackage a // ```` in a comment\n`````"
	if got := ms[0].Parts[1].(scrollback.Text).Text; got != block {
		t.Errorf("the file is sent as %q", got)
	}
	meta, _ := enginetest.Last[scrollback.MetaEvent](got)
	refs := d.references()
	if len(meta.References) != 4 || fmt.Sprint(meta.References) != fmt.Sprint(refs) {
		t.Errorf("%+v was reported, %+v is stored", meta.References, refs)
	}
	if refs[1].Error == "" || refs[2].Error == "" || refs[3].Error != "" || refs[3].Kind != scrollback.ReferenceTool ||
		refs[3].Version != 0 {
		t.Errorf("what the marks named is %+v", refs)
	}
	if d.shown("refused: outside the roots") != 1 {
		t.Error("the model was not told what was refused")
	}
	if c, err := d.Get(context.Background(), d.id); err != nil || strings.Contains(c.Title, "package") {
		t.Errorf("title %q, %v", c.Title, err)
	}
	if d.Ask(d.id, "And mail me at a@a.go"); len(d.references()) > 0 {
		t.Errorf("without brackets it refers to %+v", d.references())
	}
	d.Run(engine.TurnRequest{Conversation: d.id, Message: enginetest.Say("And @a.go?"), PlainMarks: true})
	if refs := d.references(); len(refs) != 1 || refs[0].SameAs != 1 || refs[0].Version != 1 {
		t.Errorf("a plain mark refers to %+v", refs)
	}
}

// A reference is found by what the file says, but not by what a look-up repeats, neither in
// words nor by a pattern; and a client cannot send one.
func TestReferencesSearched(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, enginetest.Options{Limit: 32_000}, modeltest.Say("Noted."))
	d.write("a.txt", "the pelican sleeps\n")
	d.Ask(d.id, "Read @[a.txt]")
	d.Ask(d.id, "Where was it? @[context_search{\"query\":\"pelican\"}] @[context_grep{\"pattern\":\"pelican\"}]")
	if d.shown("pelican") < 3 {
		t.Fatalf("the look-ups are not in the window, only %d", d.shown("pelican"))
	}
	found, err := d.Search(ctx, scrollback.SearchQuery{Query: "sleeps", Conversation: d.id})
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Seq != 1 {
		t.Errorf("found %+v, %v", found.Hits, err)
	}
	grep := func() {
		t.Helper()
		found, err := d.Grep(ctx, d.id, scrollback.GrepQuery{Pattern: "pelican sleeps"})
		if err != nil || len(found.Matches) != 1 || found.Matches[0].Seq != 1 {
			t.Errorf("grep found %+v, %v", found.Matches, err)
		}
	}
	grep()
	receipt, err := d.Compact(ctx, d.id, engine.CompactRequest{Clear: true})
	if err != nil || len(receipt.Refs) == 0 {
		t.Fatal(receipt, err)
	}
	grep()
	if text := d.ReadAll(d.id, receipt.Refs[0]); !strings.Contains(text, "the pelican sleeps") {
		t.Errorf("the original does not show the file:\n%s", text)
	}
	forged := scrollback.Parts{scrollback.Text{Text: "x", Reference: &scrollback.Reference{Source: "a.txt", Version: 1}}}
	enginetest.WantCode(t, d.Run(engine.TurnRequest{Conversation: d.id, Message: forged}).Err, scrollback.Invalid,
		"cannot be sent")
}

// A request that is sent again is the same one, whatever its files have become.
func TestReferencesReplayed(t *testing.T) {
	d := newDesk(t, enginetest.Options{}, modeltest.Say("fine"))
	d.write("a.txt", "one")
	req := engine.TurnRequest{Conversation: d.id, Message: enginetest.Say("Read @[a.txt]"), Key: "once"}
	d.Run(req).WantDone(t, scrollback.TurnComplete, "stop")
	d.write("a.txt", "two")
	if err := d.Run(req).Err; err != nil {
		t.Fatal(err)
	}
	if ms := d.Log(d.id); len(ms) != 2 || d.references()[0].Version != 1 {
		t.Errorf("%d messages, %+v", len(ms), d.references())
	}
}

// Whatever is done to a conversation, each request that refers to a file shows its content,
// and shows it once: it is sent when it is new or out of sight, and only then. A rewind may
// bring an earlier message with the same content back into sight.
func TestReferencesOnce(t *testing.T) {
	for seed := range testlength.Choose[uint64](2, 6, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := newDesk(t, enginetest.Options{NoFolds: true, Limit: 12_000}, modeltest.Say("fine"))
			rng := rand.New(rand.NewPCG(seed, 7))
			content := ""
			changes := 0
			again := 0
			quoted := 0
			most := 1
			change := func() {
				changes += 1
				most = 1
				content = fmt.Sprintf("content %d of %d. ", changes, seed)
				d.write("a.txt", strings.Repeat("padding that weighs something, ", 60)+content)
			}
			change()
			for range 60 {
				switch n := rng.IntN(12); {
				case n == 0:
					change()
				case n == 1 && rng.IntN(3) == 0:
					if _, err := d.Compact(t.Context(), d.id, engine.CompactRequest{Force: true}); err != nil {
						t.Fatal(err)
					}
				case n == 2 && len(d.Log(d.id)) > 2:
					if _, err := d.Branches().Rewind(t.Context(), d.id,
						engine.Point{Seq: new(int64(len(d.Log(d.id))/2 - 1))}); err != nil {
						t.Fatal(err)
					}
					most = 2
				case n == 3 && len(d.Log(d.id)) > 2:
					f, err := d.Branches().Fork(t.Context(), d.id, engine.Point{Seq: new(int64(len(d.Log(d.id)) - 1))}, "")
					if err != nil {
						t.Fatal(err)
					}
					d.id = f.ID
				}
				got := d.Ask(d.id, strings.Repeat("words and words ", rng.IntN(600))+"see @[a.txt]")
				got.WantDone(t, scrollback.TurnComplete, "stop")
				if n := d.shown(content); n < 1 || n > most {
					t.Fatalf("after %d changes the newest is shown %d times; %+v", changes, n, d.references())
				}
				r := d.references()[0]
				if r.SameAs > 0 {
					again++
				}
				if receipt, ok := enginetest.Last[scrollback.CompactionEvent](got); ok && r.SameAs > 0 &&
					receipt.LastSeq >= r.SameAs {
					quoted++
				}
			}
			if again < 10 || quoted == 0 {
				t.Errorf("%d times it was unchanged, %d of them out of sight by then: too few to tell", again, quoted)
			}
		})
	}
}

// A version grows with each change, and stays for what is sent again.
func TestReferenceVersions(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, enginetest.Options{NoFolds: true}, modeltest.Say("fine"))
	ask := func(version int, sameAs int64) {
		t.Helper()
		d.Ask(d.id, "see @[a.txt]").WantDone(t, scrollback.TurnComplete, "stop")
		if r := d.references()[0]; r.Version != version || r.SameAs != sameAs {
			t.Fatalf("version %d as in #%d, want %d as in #%d", r.Version, r.SameAs, version, sameAs)
		}
	}
	d.write("a.txt", "one")
	ask(1, 0)
	ask(1, 1)
	d.write("a.txt", "two")
	ask(2, 0)
	ask(2, 5)
	if _, err := d.Branches().Rewind(ctx, d.id, engine.Point{Seq: new(int64(4))}); err != nil {
		t.Fatal(err)
	}
	ask(2, 0) // its message is on the branch that was left
	ask(2, 5)
	if _, err := d.Compact(ctx, d.id, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	ask(2, 0)
	f, err := d.Branches().Fork(ctx, d.id, engine.Point{}, "")
	if err != nil {
		t.Fatal(err)
	}
	d.id = f.ID
	ask(2, 9)
	d.write("a.txt", "one")
	ask(3, 0)
}

// interposed is a driver's turns; the next one that begins waits for something else.
type interposed struct {
	driver.Turns
	before *func()
}

func (i interposed) Begin(ctx context.Context, b driver.BeginRequest) (driver.BeginResult, error) {
	if do := *i.before; do != nil {
		*i.before = nil
		do()
	}
	return i.Turns.Begin(ctx, b)
}

// A process that writes while another follows the marks of a prompt does not make two
// versions of one content, nor one version of two.
func TestReferencesMeanwhile(t *testing.T) {
	mem := oracle.New()
	var before func()
	slow := *mem
	slow.Turns = interposed{mem.Turns, &before}
	d := newDesk(t, enginetest.Options{Driver: mem}, modeltest.Say("fine"))
	other := enginetest.New(t, enginetest.Options{Driver: &slow, Clock: d.Clock, Archive: d.Archive,
		Place: &workspace.Place{Roots: []string{d.root}}}, modeltest.Say("fine"))
	d.write("a.txt", "one")
	ask := func(version int, sameAs int64, meanwhile func()) {
		t.Helper()
		before = meanwhile
		other.Ask(d.id, "see @[a.txt]").WantDone(t, scrollback.TurnComplete, "stop")
		if r := d.references()[0]; r.Version != version || r.SameAs != sameAs {
			t.Fatalf("version %d as in #%d, want %d as in #%d", r.Version, r.SameAs, version, sameAs)
		}
	}
	ask(1, 1, func() { d.Ask(d.id, "see @[a.txt]").WantDone(t, scrollback.TurnComplete, "stop") })
	ask(3, 0, func() {
		d.write("a.txt", "two")
		d.Ask(d.id, "see @[a.txt]").WantDone(t, scrollback.TurnComplete, "stop")
		d.write("a.txt", "three")
	})
	ask(3, 7, nil)
	ask(3, 0, func() { // the message that had it is behind
		if _, err := d.Branches().Rewind(context.Background(), d.id, engine.Point{Seq: new(int64(2))}); err != nil {
			t.Error(err)
		}
	})
}
