package drivertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunIndex runs the suite. Each call of open returns an empty driver.
//
// Where the contract leaves a choice the suite leaves it too: an index may know of purged messages
// until it was maintained to the end.
func RunIndex(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*indexHarness){
		"IndexEmpty": testEmpty, "Behind": testBehind, "BehindIsAtomic": testBehindIsAtomic,
		"Put": testPut, "PutOnce": testPutOnce, "PutNothing": testPutNothing, "PutConcurrently": testPutConcurrently,
		"Reset": testReset, "Tend": testTend, "Postings": testPostings, "PostingsOfPrefixes": testPrefixes,
		"PostingsNarrowed": testNarrowed, "PostingsAtMost": testMost, "PostingsOfLongDocuments": testLong,
		"PostingsAgree": testAgree,
		"Lines":         testLines, "LinesOfForks": testLinesOfForks, "Worked": testWorked, "Marks": testMarks,
		"WorkedMoves": testWorkedMoves,
		"Located":     testLocated,
		"IndexPurged": testPurged, "IndexPurgedShared": testPurgedShared, "IndexPurgedBehind": testPurgedBehind,
		"IndexPurgedNewest": testPurgedNewest,
		"IndexClosed":       testClosed,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(newIndexHarness(t, d))
		})
	}
}

// RunIndexReopen runs what only a persistent driver can pass. open opens the database
// in dir, which is empty at first.
func RunIndexReopen(t *testing.T, open func(t *testing.T, dir string) *driver.Driver) {
	t.Run("IndexReopened", func(t *testing.T) {
		dir := t.TempDir()
		w := newIndexHarness(t, open(t, dir))
		id := w.addConversation("one").ID
		for range 40 {
			w.appendMessages(id, w.randomTexts(6)...)
			w.catchUp(0)
		}
		w.appendMessages(id, "behind it")
		before := w.readState()
		w.wantOK(w.Close())

		w.Driver = open(t, dir)
		defer w.Close()
		w.wantSame("the state after opening again", before, w.readState())
		w.checkAll()
		w.catchUp(0)
		w.maintainAll()
		w.checkAll()
	})
}

// cutName names the way in which the suite cuts terms: at spaces.
const cutName = 3

// indexHarness is a driver under test, with a clock, a count of ids, and what its index has to
// have.
type indexHarness struct {
	driverHarness
	random   uint64
	expected map[driver.Place]driver.Document
}

func newIndexHarness(t *testing.T, d *driver.Driver) *indexHarness {
	return &indexHarness{driverHarness: newDriverHarness(t, d, 1_700_000_000_000), random: 1,
		expected: map[driver.Place]driver.Document{}}
}

// randomBelow returns a number under n, the same in every run.
func (w *indexHarness) randomBelow(n int) int {
	w.random = w.random*6364136223846793005 + 1442695040888963407
	return int(w.random>>33) % n
}

// addConversation creates one in a project.
func (w *indexHarness) addConversation(project string) scrollback.Conversation {
	w.t.Helper()
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch"))}
	return w.createConversation(scrollback.Conversation{Project: project}, b)
}

// createConversation creates a conversation on its first branch.
func (w *indexHarness) createConversation(c scrollback.Conversation, b scrollback.Branch) scrollback.Conversation {
	w.t.Helper()
	c.ID = scrollback.ConversationID(w.newID("conversation"))
	c.Model = "offline"
	c.Policy = "auto"
	c.Version = 1
	c.Branch = b.ID
	c.CreatedAt = w.advanceClock()
	c.UpdatedAt = w.now
	c.Meta = json.RawMessage(`{}`)
	b.Conversation = c.ID
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	return c
}

// addFork creates a conversation that continues another one after a message.
func (w *indexHarness) addFork(parent scrollback.Conversation, at scrollback.Message) scrollback.Conversation {
	w.t.Helper()
	return w.createConversation(scrollback.Conversation{Project: parent.Project, Messages: at.Seq,
		Parent:    &scrollback.ParentRef{ID: parent.ID, Branch: parent.Branch, Seq: at.Seq},
		Ancestors: append([]scrollback.ConversationID{parent.ID}, parent.Ancestors...)},
		scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Parent: at.Branch, AtSeq: at.Seq, HeadSeq: at.Seq,
			Sum: at.Sum})
}

// makeEntry returns a message with a text.
func (w *indexHarness) makeEntry(role scrollback.Role, text string) driver.Entry {
	id := scrollback.MessageID(w.newID("message"))
	return driver.Entry{Message: scrollback.Message{ID: id, Role: role,
		Parts: scrollback.Parts{scrollback.Text{Text: text}}, Tokens: w.n,
		Status: scrollback.StatusComplete, CreatedAt: w.advanceClock(),
		Weight: scrollback.Weight{Tokens: int64(w.n), Bytes: int64(len(text) + 1)}}}
}

// appendMessages appends a message for each text, by a person and a model in turn.
func (w *indexHarness) appendMessages(id scrollback.ConversationID, texts ...string) []scrollback.Message {
	w.t.Helper()
	var entries []driver.Entry
	for i, text := range texts {
		entries = append(entries, w.makeEntry([]scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2], text))
	}
	got, err := w.Log.AppendEntries(w.ctx,
		driver.Append{Conversation: id, Now: w.advanceClock(), IfHead: -1, Entries: entries})
	w.wantOK(err)
	return got.Messages
}

// indexVocabulary has terms that are beginnings of others, and words of query languages.
var indexVocabulary = []string{"red", "redder", "re", "blue", "blueish", "and", "or", "not", "near", "7077", "70", "数据",
	"据库", "库", "库房",
	"端口", "口", "ｅ", "z", "zz", "zebra"}

// randomTexts returns n texts of a few words each.
func (w *indexHarness) randomTexts(n int) []string {
	out := make([]string, n)
	for i := range out {
		var words []string
		for range w.randomBelow(7) {
			words = append(words, indexVocabulary[w.randomBelow(len(indexVocabulary))])
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

func (w *indexHarness) readState() driver.IndexState {
	w.t.Helper()
	s, err := w.Index.ReadState(w.ctx)
	w.wantOK(err)
	return s
}

// makeDocument returns what an index holds of a message.
func makeDocument(m driver.NumberedMessage) driver.Document {
	terms := strings.Fields(textOf(m.Message))
	return driver.Document{Mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: len(terms)},
		Terms: terms}
}

func textOf(m scrollback.Message) string {
	for _, p := range m.Parts {
		if t, ok := p.(scrollback.Text); ok {
			return t.Text
		}
	}
	return ""
}

// readUnindexed reads what is behind the index.
func (w *indexHarness) readUnindexed(limit int) (driver.IndexState, []driver.NumberedMessage) {
	w.t.Helper()
	s := w.readState()
	got, err := w.Index.ReadUnindexed(w.ctx, driver.UnindexedQuery{After: s.Watermark, Limit: limit})
	w.wantOK(err)
	return s, got
}

// catchUp puts what is behind the index: at most limit messages, 0 for all.
func (w *indexHarness) catchUp(limit int) {
	w.t.Helper()
	if w.readState().Cut != cutName {
		w.wantOK(w.Index.Reset(w.ctx, cutName))
		w.expected = map[driver.Place]driver.Document{}
	}
	s, got := w.readUnindexed(cmp.Or(limit, 1<<20))
	if len(got) == 0 {
		return
	}
	d := driver.DocumentBatch{Cut: cutName, From: s.Watermark, To: got[len(got)-1].Number}
	for _, m := range got {
		if one := makeDocument(m); len(one.Terms) > 0 {
			d.All = append(d.All, one)
		}
	}
	put, err := w.Index.PutDocuments(w.ctx, d)
	w.wantOK(err)
	if !put {
		w.t.Fatalf("documents after %d up to %d were not put; the state is %+v", d.From, d.To, w.readState())
	}
	w.expectDocuments(d.All...)
}

// expectDocuments notes documents that were put.
func (w *indexHarness) expectDocuments(all ...driver.Document) {
	for _, d := range all {
		w.expected[d.Place] = d
	}
}

// maintainAll maintains the index to the end.
func (w *indexHarness) maintainAll() {
	w.t.Helper()
	for range 10_000 {
		more, err := w.Index.Maintain(w.ctx)
		w.wantOK(err)
		if !more {
			return
		}
	}
	w.t.Fatal("tending never ends")
}

// findPostings looks terms up.
func (w *indexHarness) findPostings(q driver.PostingQuery) []driver.Postings {
	w.t.Helper()
	got, err := w.Index.FindPostings(w.ctx, q)
	w.wantOK(err)
	return got
}

// expectedPlaces returns the places that the index has to have, ascending.
func (w *indexHarness) expectedPlaces() []driver.Place {
	var out []driver.Place
	for p := range w.expected {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// expectedPostings returns what a query has to find.
func (w *indexHarness) expectedPostings(q driver.PostingQuery) []driver.Postings {
	out := make([]driver.Postings, len(q.Terms))
	for _, p := range w.expectedPlaces() {
		d := w.expected[p]
		for i, term := range q.Terms {
			n := 0
			begin, prefix := strings.CutSuffix(term, "*")
			for _, t := range d.Terms {
				if t == term || prefix && strings.HasPrefix(t, begin) {
					n++
				}
			}
			if n == 0 {
				continue
			}
			if out[i].Holding++; q.Matches(d.Mark) {
				out[i].Places = append(out[i].Places, p)
				out[i].Counts = append(out[i].Counts, uint8(min(n, 255)))
			}
		}
	}
	for i := range out {
		if q.Most > 0 && out[i].Holding > int64(q.Most) {
			out[i] = driver.Postings{Holding: out[i].Holding}
		}
	}
	return out
}

// checkQuery wants a query to find what it has to.
func (w *indexHarness) checkQuery(q driver.PostingQuery) {
	w.t.Helper()
	w.wantSame(fmt.Sprintf("postings of %+v", q), w.expectedPostings(q), w.findPostings(q))
}

// checkAll wants the index to have what it has to: its counts, its marks, and every word.
func (w *indexHarness) checkAll() {
	w.t.Helper()
	terms := int64(0)
	var marks []driver.Mark
	for _, p := range w.expectedPlaces() {
		terms += int64(w.expected[p].Length)
		marks = append(marks, w.expected[p].Mark)
	}
	s := w.readState()
	w.wantSame("documents and terms", []int64{int64(len(w.expected)), terms}, []int64{s.Documents, s.Terms})
	got, err := w.Index.ReadMarks(w.ctx, w.expectedPlaces())
	w.wantOK(err)
	w.wantSame("marks", marks, got)
	q := driver.PostingQuery{Terms: slices.Clone(indexVocabulary)}
	for _, v := range indexVocabulary {
		q.Terms = append(q.Terms, v+"*")
	}
	w.checkQuery(q)
}
