package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/seal"
)

const (
	main   = scrollback.ConversationID("01a1fd70-0000-7000-8000-000000000001")
	parent = scrollback.ConversationID("01a1fd70-0000-7000-8000-000000000002")
	note   = "some bytes"
)

// plain renders without any format, for both kinds.
var plain = Renderer{
	Leaf: func(w io.Writer, s scrollback.Segment, ms []scrollback.Message) error {
		if s.Renderer != 1 {
			return errors.New("no such renderer")
		}
		_, err := fmt.Fprint(w, s.ID, len(ms), ms[0].Parts.Text())
		return err
	},
	Table: func(w io.Writer, s scrollback.Segment, children []scrollback.Segment) error {
		_, err := fmt.Fprint(w, s.ID, len(children), children[0].Summary)
		return err
	},
}

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// story is a small conversation that continues another: two branches, two leaves, a
// roll-up, an artifact and a receipt.
type story struct {
	conversations []Conversation
	segments      [2][]scrollback.Segment
	branches      [2][]Branch
	messages      [2][]scrollback.Message
	mentions      [2][]scrollback.Artifact
	artifacts     map[string]string
	folds         []scrollback.StoredReceipt
	kept          []KeptChange
	plain         bool // it says that it holds none of these
}

func tell(t testing.TB) *story {
	t.Helper()
	s := &story{artifacts: map[string]string{sha([]byte(note)): note}}
	s.conversations = []Conversation{{Inherited: true}, {Ancestors: []scrollback.ConversationID{parent}}}
	s.conversations[0].ID = parent
	s.conversations[1].ID = main
	s.conversations[1].Branch = "b3"
	branch := func(id scrollback.BranchID, of scrollback.ConversationID, p scrollback.BranchID, at, head int64) Branch {
		return Branch{Branch: scrollback.Branch{ID: id, Conversation: of, Parent: p, AtSeq: at, HeadSeq: head}}
	}
	s.branches = [2][]Branch{{branch("b1", parent, "", 0, 3)},
		{branch("b2", main, "b1", 3, 5), branch("b3", main, "b2", 4, 6)}}
	for i, list := range s.branches {
		for _, b := range list {
			for seq := b.AtSeq + 1; seq <= b.HeadSeq; seq++ {
				m := scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("m-%s-%d", b.ID, seq)), ConversationID: b.Conversation,
					Branch: b.ID,
					Seq:    seq,
					Role:   scrollback.RoleUser, Status: scrollback.StatusComplete, CreatedAt: 1000 + seq,
					Parts: scrollback.Parts{scrollback.Text{Text: fmt.Sprint("said ", seq)}}}
				if b.ID == "b2" {
					m.Parts = append(m.Parts, scrollback.File{Artifact: scrollback.ArtifactID(sha([]byte(note))),
						MediaType: "text/plain",
						Size:      int64(len(note))})
				}
				s.messages[i] = append(s.messages[i], m)
			}
		}
	}
	s.mentions[1] = []scrollback.Artifact{{ID: scrollback.ArtifactID(sha([]byte(note))), MediaType: "text/plain",
		Size:      int64(len(note)),
		CreatedAt: 5}}
	one := s.leaf(t, "0a-1", 0, s.messages[0])
	two := s.leaf(t, "0a-2", 1, s.messages[1][:1])
	roll := scrollback.Segment{ID: "0a-3", Conversation: main, Branch: "b2", FirstSeq: 1, LastSeq: 4, Messages: 4,
		Level:    1,
		Children: []scrollback.SegmentID{"0a-1", "0a-2"},
		Hash:     scrollback.HashChildren([]string{one.Hash, two.Hash}), Renderer: 1}
	s.measure(t, &roll, func(w io.Writer) error { return plain.Table(w, roll, []scrollback.Segment{one, two}) })
	s.segments = [2][]scrollback.Segment{{one}, {roll, two}}
	s.branches[1][1].View = scrollback.View{Boundary: 4,
		Segments: []scrollback.ViewItem{{ID: "0a-3", FirstSeq: 1, LastSeq: 4, Level: 1}},
		Carried:  []int64{2}}
	s.folds = []scrollback.StoredReceipt{{Branch: "b3", Folded: true, Before: scrollback.View{Boundary: 3,
		Segments: []scrollback.ViewItem{{ID: "0a-1", FirstSeq: 1, LastSeq: 3}}}}}
	return s
}

func (s *story) leaf(t testing.TB, id scrollback.SegmentID, i int, ms []scrollback.Message) scrollback.Segment {
	hash, err := scrollback.HashMessages(ms)
	if err != nil {
		t.Fatal(err)
	}
	g := scrollback.Segment{ID: id, Conversation: s.conversations[i].ID, Branch: ms[0].Branch, FirstSeq: ms[0].Seq,
		LastSeq:  ms[len(ms)-1].Seq,
		Messages: len(ms), Hash: hash, Renderer: 1, Summary: "about " + string(id), SummaryOf: ms[0].Seq}
	s.measure(t, &g, func(w io.Writer) error { return plain.Leaf(w, g, ms) })
	return g
}

func (s *story) measure(t testing.TB, g *scrollback.Segment, render func(io.Writer) error) {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		t.Fatal(err)
	}
	g.Bytes = int64(text.Len())
	g.SHA256 = sha(text.Bytes())
}

// bundle writes the story.
func (s *story) bundle(t testing.TB, limits Limits) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, main, limits)
	if err == nil && len(s.kept) > 0 && !s.plain {
		w.ExpectKept()
	}
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	ok(err)
	for _, id := range sortedNames(s.artifacts) {
		ok(w.AddArtifact(scrollback.ArtifactID(id), int64(len(s.artifacts[id])), strings.NewReader(s.artifacts[id])))
	}
	for i, c := range s.conversations {
		ok(w.BeginConversation(c))
		for _, g := range s.segments[i] {
			ok(w.AddSegment(g))
		}
		for _, b := range s.branches[i] {
			ok(w.AddBranch(b))
		}
		for _, a := range s.mentions[i] {
			ok(w.AddMention(a))
		}
		for _, m := range s.messages[i] {
			ok(w.AddMessage(m))
		}
	}
	for _, f := range s.folds {
		ok(w.AddReceipt(f))
	}
	for _, k := range s.kept {
		ok(w.AddKept(k))
	}
	ok(w.Close())
	return out.Bytes()
}

func sortedNames(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	// Insertion is enough for a handful.
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

func check(file []byte, limits Limits) error {
	_, err := Check(bytes.NewReader(file), limits, plain, Visit{})
	return err
}

// refuses wants a file to be invalid, with a reason that says so.
func refuses(t testing.TB, err error, says string) {
	t.Helper()
	if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v (%s), want invalid about %q", err, scrollback.CodeOf(err), says)
	}
}

func TestRoundTrip(t *testing.T) {
	s := tell(t)
	file := s.bundle(t, Limits{})
	if !bytes.Equal(file, s.bundle(t, Limits{})) {
		t.Fatal("the same records give another file")
	}
	var got story
	n := -1
	m, err := Check(bytes.NewReader(file), Limits{}, plain, Visit{
		Conversation: func(c Conversation) error { n++; got.conversations = append(got.conversations, c); return nil },
		Segment:      func(g scrollback.Segment) error { got.segments[n] = append(got.segments[n], g); return nil },
		Branch:       func(b Branch) error { got.branches[n] = append(got.branches[n], b); return nil },
		Mention:      func(a scrollback.Artifact) error { got.mentions[n] = append(got.mentions[n], a); return nil },
		Message:      func(m scrollback.Message) error { got.messages[n] = append(got.messages[n], m); return nil },
		Fold:         func(f scrollback.StoredReceipt) error { got.folds = append(got.folds, f); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	got.artifacts = s.artifacts
	if again := got.bundle(t, Limits{}); !bytes.Equal(file, again) {
		t.Fatal("what was read gives another file")
	}
	if c := m.Conversations; len(c) != 2 || c[0].Messages != 3 || c[1].Messages != 4 || c[1].Segments != 2 ||
		c[1].Branches != 2 {
		t.Errorf("the manifest counts %+v", c)
	}
}

// No byte of a file can be changed, and none left out, unnoticed.
func TestDamaged(t *testing.T) {
	file := tell(t).bundle(t, Limits{})
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1 << (i % 8)
		if err := check(bad, Limits{}); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Fatalf("byte %d of %d flipped: %v", i, len(file), err)
		}
		if err := check(file[:i], Limits{}); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Fatalf("cut off after %d of %d: %v", i, len(file), err)
		}
	}
	refuses(t, check(append(bytes.Clone(file), 0), Limits{}), "damaged")
	refuses(t, check(append(bytes.Clone(file), file...), Limits{}), "damaged")
}

// item is a file of a tar, as a forger makes it.
type item struct {
	name string
	text []byte
	kind byte
}

// open returns the tar of a bundle.
func open(t testing.TB, file []byte) (out []item) {
	t.Helper()
	zip, err := zstd.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	r := tar.NewReader(zip)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item{h.Name, text, h.Typeflag})
	}
}

// forge makes a bundle of any entries; its manifest, if it has none, and its seal fit.
func forge(t testing.TB, items []item) []byte {
	t.Helper()
	var out bytes.Buffer
	sealed := seal.NewWriter(&out)
	zip, err := zstd.NewWriter(sealed)
	if err != nil {
		t.Fatal(err)
	}
	archived(t, zip, items)
	for _, err := range []error{zip.Close(), writeSeal(sealed, 0, DefaultLimits())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// Names are compared with what may come, and kinds with plain files.
func TestForgedNames(t *testing.T) {
	items := open(t, tell(t).bundle(t, Limits{}))
	plant := func(at int, it item) []byte {
		out := append(append([]item{}, items[:at]...), it)
		return forge(t, append(out, items[at:]...))
	}
	if err := check(forge(t, items), Limits{}); err != nil {
		t.Fatalf("the forger cannot even copy: %v", err)
	}
	inside := conversationPath + string(main)
	for _, name := range []string{"../../etc/passwd", "/etc/passwd", "artifacts/../../x",
		"artifacts/" + strings.Repeat("Z", 64),
		inside + "/history/../../../x.md",
		inside + "/history/1-3-0a-9.md", inside + "/messages/000002.jsonl", inside + "/messages/../messages/000001.jsonl",
		inside + "/notes.txt",
		conversationPath + "../conversation.json", `artifacts\x`, "", "bundle.json", "readme.md",
		conversationPath + string(main) + "/conversation.json"} {
		for _, at := range []int{1, 2, len(items) / 2, len(items) - 1} {
			if name == inside+"/messages/000002.jsonl" && at == len(items)-1 {
				continue // behind receipts, where a name like this is refused as well
			}
			refuses(t, check(plant(at, item{name, nil, tar.TypeReg}), Limits{}), "the bundle")
		}
	}
	refuses(t, check(plant(1, item{"artifacts/" + strings.Repeat("a", 64), nil, tar.TypeSymlink}), Limits{}),
		"not a plain file")
	refuses(t, check(plant(1, item{"artifacts/" + strings.Repeat("a", 64), nil, tar.TypeDir}), Limits{}),
		"not a plain file")
	refuses(t, check(plant(len(items), item{"more", []byte("x"), tar.TypeReg}), Limits{}), "comes after")
	refuses(t, check(forge(t, items[:len(items)-1]), Limits{}), "ends before its manifest")
	refuses(t, check(forge(t, items[1:]), Limits{}), "not a scrollback bundle")
}
