package bundle

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
)

// What records say is judged, however well their checksums fit.
func TestForgedRecords(t *testing.T) {
	other := scrollback.ArtifactID(strings.Repeat("ab", 32))
	for name, c := range map[string]struct {
		says  string
		forge func(s *story)
	}{
		"hash of a leaf": {"does not match the messages",
			func(s *story) { s.segments[0][0].Hash = strings.Repeat("0", 64) }},
		"hash of a roll-up": {"does not match the segments",
			func(s *story) { s.segments[1][0].Hash = strings.Repeat("0", 64) }},
		"file of a leaf": {"is not the one that was folded",
			func(s *story) { s.segments[1][1].SHA256 = strings.Repeat("0", 64) }},
		"size of a file": {"is not the one that was folded", func(s *story) { s.segments[1][0].Bytes++ }},
		"renderer":       {"renderer 9, which this program does not have", func(s *story) { s.segments[1][1].Renderer = 9 }},
		"text of a message": {"does not match the messages",
			func(s *story) { s.messages[0][1].Parts = scrollback.Parts{scrollback.Text{Text: "forged"}} }},
		"segment of another":   {"another conversation", func(s *story) { s.segments[1][1].Conversation = parent }},
		"segment of no branch": {"branch that does not exist", func(s *story) { s.segments[1][1].Branch = "elsewhere" }},
		"segment twice": {"is listed twice",
			func(s *story) { s.segments[1] = append(s.segments[1], s.segments[1][1]) }},
		"segment id": {"malformed id", func(s *story) { s.segments[1][1].ID = "../x" }},
		"segment beyond": {"covers more than", func(s *story) {
			s.segments[1][1].LastSeq = 6
			s.segments[1][1].Messages = 3
			s.segments[1] = s.segments[1][1:]
			s.branches[1][1].View = scrollback.View{}
			s.folds = nil
		}},
		"too many messages": {"could not have been made", func(s *story) {
			s.segments[1][1].LastSeq = 1000
			s.segments[1][1].Messages = 997
		}},
		"child that is not there": {"does not hold", func(s *story) { s.segments[1][0].Children[1] = "0a-9" }},
		"child that is itself":    {"does not hold", func(s *story) { s.segments[1][0].Children[0] = "0a-3" }},
		"view of another": {"has an impossible view",
			func(s *story) { s.branches[1][1].View.Segments[0].ID = "0a-9" }},
		"view with a gap": {"has an impossible view", func(s *story) { s.branches[1][1].View.Boundary = 5 }},
		"view off the path": {"has an impossible view", func(s *story) {
			s.branches[1][0].View = s.branches[1][1].View
			s.branches[1][0].HeadSeq = 3
		}},
		"carried beyond":        {"has an impossible view", func(s *story) { s.branches[1][1].View.Carried = []int64{5} }},
		"receipt of another":    {"receipt is of branch", func(s *story) { s.folds[0].Branch = "b1" }},
		"receipt's view":        {"has an impossible view", func(s *story) { s.folds[0].Before.Segments[0].ID = "0a-9" }},
		"branch without parent": {"is not there", func(s *story) { s.branches[1][0].Parent = "elsewhere" }},
		"branch beyond its parent": {"at a message that is not there", func(s *story) {
			s.branches[1][0].AtSeq = 4
			s.branches[1][0].HeadSeq = 5
		}},
		"branch of another":       {"another conversation", func(s *story) { s.branches[1][0].Conversation = parent }},
		"parent that is no one's": {"inherits from others", func(s *story) { s.conversations[1].Ancestors = nil }},
		"ancestor not in it": {"inherits from", func(s *story) {
			s.conversations[1].Ancestors = append(s.conversations[1].Ancestors, "01a1fd70-0000-7000-8000-000000000009")
		}},
		"ancestor that is seen": {"not the one in the bundle's header",
			func(s *story) { s.conversations[0].Inherited = false }},
		"current branch":     {"current branch", func(s *story) { s.conversations[1].Branch = "elsewhere" }},
		"seq":                {"is in the place of", func(s *story) { s.messages[1][1].Seq = 9 }},
		"message of another": {"is in the place of", func(s *story) { s.messages[1][3].ConversationID = parent }},
		"message too few":    {"ends with #5", func(s *story) { s.messages[1] = s.messages[1][:3] }},
		"message too many": {"more messages than",
			func(s *story) { s.messages[1] = append(s.messages[1], s.messages[1][3]) }},
		"role":                     {"unknown role", func(s *story) { s.messages[1][3].Role = "robot" }},
		"status":                   {"unknown status", func(s *story) { s.messages[1][3].Status = "" }},
		"time":                     {"no time", func(s *story) { s.messages[1][3].CreatedAt = 0 }},
		"message id":               {"malformed id", func(s *story) { s.messages[1][3].ID = "a b" }},
		"artifact of nobody":       {"mentioned nowhere", func(s *story) { s.artifacts[sha([]byte("more"))] = "more" }},
		"artifact without bytes":   {"bytes of artifact", func(s *story) { s.mentions[1][0].ID = other }},
		"artifact of another size": {"bytes of artifact", func(s *story) { s.mentions[1][0].Size++ }},
		"artifact not mentioned":   {"names an artifact", func(s *story) { s.mentions[1] = nil }},
		"artifact mentioned twice": {"twice", func(s *story) { s.mentions[1] = append(s.mentions[1], s.mentions[1][0]) }},
		"image's size": {"has an image of another size", func(s *story) {
			s.messages[1][1].Parts[1] = scrollback.Image{Artifact: scrollback.ArtifactID(sha([]byte(note))), Size: 1 << 60,
				Width: 1, Height: 1}
		}},
		"image's negative size": {"has an image of another size", func(s *story) {
			s.messages[1][1].Parts[1] = scrollback.Image{Artifact: scrollback.ArtifactID(sha([]byte(note))), Size: -1, Width: 1,
				Height: 1}
		}},
		"image's width": {"has an image of another size", func(s *story) {
			s.messages[1][1].Parts[1] = scrollback.Image{Artifact: scrollback.ArtifactID(sha([]byte(note))),
				Size: int64(len(note)), Width: -1,
				Height: 1}
		}},
		"image's height": {"has an image of another size", func(s *story) {
			s.messages[1][1].Parts[1] = scrollback.Image{Artifact: scrollback.ArtifactID(sha([]byte(note))),
				Size: int64(len(note)), Width: 1,
				Height: -1}
		}},
		"image too wide": {"has an image of another size", func(s *story) {
			s.messages[1][1].Parts[1] = scrollback.Image{Artifact: scrollback.ArtifactID(sha([]byte(note))),
				Size: int64(len(note)), Width: 1 << 31,
				Height: 1}
		}},
		"image of nothing": {"has an image of another size",
			func(s *story) { s.messages[1][3].Parts = append(s.messages[1][3].Parts, scrollback.Image{}) }},
		"file's size": {"has a file of another size", func(s *story) {
			s.messages[1][1].Parts[1] = scrollback.File{Artifact: scrollback.ArtifactID(sha([]byte(note))), Size: -1}
		}},
		"hash that is none":        {"has no hashes", func(s *story) { s.segments[1][1].Hash = "x" }},
		"file's hash that is none": {"has no hashes", func(s *story) { s.segments[1][1].SHA256 = "x" }},
		"child that is no id":      {"does not hold", func(s *story) { s.segments[1][0].Children[0] = "../x" }},
		"artifact of other bytes":  {"has the SHA-256", func(s *story) { s.artifacts[sha([]byte(note))] = "other byte" }},
		"pin":                      {"pins message", func(s *story) { s.conversations[1].PinnedSeqs = []int64{0} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			c.forge(s)
			refuses(t, check(s.bundle(t, Limits{}), Limits{}), c.says)
		})
	}
}

// replace returns a bundle with one entry changed, and a manifest that fits.
func replace(t *testing.T, name string, change func(string) string) []byte {
	t.Helper()
	items := open(t, tell(t).bundle(t, Limits{}))
	found := false
	for i := range items {
		if items[i].name == name {
			found = true
			items[i].text = []byte(change(string(items[i].text)))
		}
	}
	if !found {
		t.Fatalf("no entry %q", name)
	}
	if name != manifestName {
		fit(t, items)
	}
	return forge(t, items)
}

func TestForgedEntries(t *testing.T) {
	swap := func(a, b string) func(string) string {
		return func(s string) string { return strings.Replace(s, a, b, 1) }
	}
	messages := conversationPath + string(main) + "/messages/000001.jsonl"
	for name, c := range map[string]struct {
		entry, says string
		change      func(string) string
	}{
		"newer": {headerName, "has version 3, and this program reads up to version 2",
			swap(`"version":1`, `"version":3`)},
		"version 0":           {headerName, "version 0", swap(`"version":1`, `"version":0`)},
		"another format":      {headerName, "not a scrollback bundle", swap(Format, "other")},
		"of another":          {headerName, "not the one in the bundle's header", swap(string(main), string(parent))},
		"no record":           {messages, "cannot be read", swap(`{"id"`, `{id`)},
		"cut line":            {messages, "cut off", func(s string) string { return strings.TrimSuffix(s, "\n") }},
		"part of no type":     {messages, "cannot be read", swap(`"type":"text"`, `"type":"spell"`)},
		"manifest's checksum": {manifestName, "does not match the manifest", swap(`"sha256":"`, `"sha256":"f`)},
		"manifest's count":    {manifestName, "not match the manifest", swap(`"messages":4`, `"messages":5`)},
		"manifest's log":      {manifestName, "not match the manifest", swap(`"log":"`, `"log":"0`)},
		"another's name": {conversationPath + string(main) + "/conversation.json", "belongs to conversation",
			swap(string(main), string(parent))},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, check(replace(t, c.entry, c.change), Limits{}), c.says)
		})
	}
}

// Other files of the same kind are told apart from damaged ones.
func TestForeign(t *testing.T) {
	pack := func(text []byte) []byte {
		var out bytes.Buffer
		zip, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := zip.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "readme.md", Size: 0}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"text": pack([]byte("hello\n")), "tar": pack(archive.Bytes()),
		"nothing": pack(nil),
		"empty":   nil,
		"magic":   zstdMagic, "plain tar": archive.Bytes(), "zeros": make([]byte, 100)} {
		t.Run(name, func(t *testing.T) { refuses(t, check(file, Limits{}), "not a scrollback bundle") })
	}
	if !Sniff(pack(nil)) || Sniff(archive.Bytes()) || Sniff([]byte("{}")) {
		t.Error("the beginning of a file is misjudged")
	}
}

// Each limit is held when a file is read, and when it is written.
func TestLimits(t *testing.T) {
	s := tell(t)
	big := strings.Repeat("a", 3<<20)
	s.artifacts[sha([]byte(big))] = big
	s.mentions[1] = append(s.mentions[1], scrollback.Artifact{ID: scrollback.ArtifactID(sha([]byte(big))),
		Size: int64(len(big))})
	file := s.bundle(t, Limits{})
	if len(file) > 10_000 || check(file, Limits{}) != nil {
		t.Fatalf("%d bytes: %v", len(file), check(file, Limits{}))
	}
	for name, l := range map[string]Limits{"entries": {Entries: 5}, "records": {Records: 5}, "bytes": {Bytes: 1 << 20},
		"entry": {Entry: 1 << 20},
		"text":  {Text: 100}, "ratio": {Ratio: 10, RatioFrom: 1 << 10}} {
		t.Run(name, func(t *testing.T) {
			refuses(t, check(file, l), "too large")
			if name == "ratio" || name == "records" {
				return // a writer pads, and remembers nothing
			}
			w, err := NewWriter(&bytes.Buffer{}, main, l)
			for id, text := range s.artifacts {
				if err == nil {
					err = w.AddArtifact(scrollback.ArtifactID(id), int64(len(text)), strings.NewReader(text))
				}
			}
			if err == nil {
				err = w.BeginConversation(s.conversations[1])
			}
			for _, m := range s.messages[1] {
				if err == nil {
					err = w.AddMessage(m)
				}
			}
			if err == nil {
				err = w.Close()
			}
			refuses(t, err, "too large")
		})
	}
	// What shrinks too well is padded, so that it can be read again.
	tight := Limits{Ratio: 10, RatioFrom: 1 << 10}
	padded := s.bundle(t, tight)
	if err := check(padded, tight); err != nil || len(padded) < len(big)/20 {
		t.Fatalf("%d bytes: %v", len(padded), err)
	}
}
