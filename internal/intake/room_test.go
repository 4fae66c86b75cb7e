package intake_test

import (
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// Outputs may take three quarters of the budget without what stands beside them, and
// a sixteenth however little that leaves.
func TestOutputs(t *testing.T) {
	for _, c := range []struct {
		room intake.Room
		want int64
	}{
		{intake.Room{}, 0},
		{intake.Room{Budget: 16_000}, 12_000 - window.FoldTokens},
		{intake.Room{Budget: 16_000, Fixed: 2000}, 10_000 - window.FoldTokens},
		{intake.Room{Budget: 16_000, Asked: 2000}, 10_000 - window.FoldTokens},
		{intake.Room{Budget: 16_000, Fixed: 3000, Asked: 5000}, 4000 - window.FoldTokens},
		{intake.Room{Budget: 16_000, Fixed: 11_000}, 1000},
		{intake.Room{Budget: 16_000, Asked: 1 << 40}, 1000},
		{intake.Room{Budget: 16_000, Fixed: 12_000 - window.FoldTokens - 1001}, 1001},
	} {
		if got := c.room.OutputTokens(); got != c.want {
			t.Errorf("%+v: %d tokens for outputs, want %d", c.room, got, c.want)
		}
	}
}

// Nothing of a text is lost: what is cut is whole behind an artifact that the message
// mentions, in its place among the rest.
func TestNothingOfATextIsLost(t *testing.T) {
	s, err := store.New(oracle.New(), token.Count, &store.Options{Image: token.ImageTokens})
	if err != nil {
		t.Fatal(err)
	}
	bucket := blob.NewMemory()
	defer bucket.Close()
	kept := archive.New(s, bucket, nil)
	in := intake.New(s, kept, intake.MessageLimits{})
	c, _, err := s.CreateConversation(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	cut := map[scrollback.Role]int{}
	rapid.Check(t, func(p *rapid.T) {
		m := scrollback.Message{Role: rapid.SampledFrom([]scrollback.Role{scrollback.RoleUser, scrollback.RoleTool}).Draw(p,
			"role")}
		for n := range rapid.IntRange(1, 8).Draw(p, "parts") {
			piece := rapid.SampledFrom([]string{"word ", "潮汐表", "🌊\n", "x", "…left out here. "}).Draw(p, "piece")
			text := strings.Repeat(piece, rapid.SampledFrom([]int{1, 50, 900, 4000, 9000}).Draw(p, "times"))
			if m.Role == scrollback.RoleUser {
				m.Parts = append(m.Parts, scrollback.Text{Text: text})
			} else {
				m.Parts = append(m.Parts, scrollback.ToolResult{CallID: string(rune('a' + n)), Name: "look", Text: text})
			}
		}
		room := intake.Room{Budget: rapid.Int64Range(0, 20_000).Draw(p, "budget"),
			Fixed: rapid.Int64Range(0, 5000).Draw(p, "fixed"),
			Asked: rapid.Int64Range(0, 5000).Draw(p, "asked")}
		got, err := in.Admit(t.Context(), c.ID, m, room, nil)
		if err != nil {
			p.Fatal(err)
		}
		mentions := map[scrollback.ArtifactID]bool{}
		for _, a := range got.Mentions {
			mentions[a.ID] = true
		}
		behind := func(id scrollback.ArtifactID) string {
			cut[m.Role]++
			if !mentions[id] {
				p.Errorf("the message does not mention %s", id)
			}
			body, _, err := kept.OpenArtifact(t.Context(), id)
			if err != nil {
				p.Fatal(err)
			}
			defer body.Close()
			b, err := io.ReadAll(body)
			if err != nil {
				p.Fatal(err)
			}
			return string(b)
		}
		var whole, want scrollback.Parts
		for i := 0; i < len(got.Parts); i++ {
			switch part := got.Parts[i].(type) {
			case scrollback.Text:
				whole = append(whole, part)
			case scrollback.File: // its ends follow
				whole = append(whole, scrollback.Text{Text: behind(part.Artifact)})
				i++
			case scrollback.ToolResult:
				if part.Artifact != "" {
					part.Text = behind(part.Artifact)
				}
				whole = append(whole, scrollback.Text{Text: part.CallID + part.Text})
			}
		}
		for _, p := range m.Parts {
			if res, ok := p.(scrollback.ToolResult); ok {
				p = scrollback.Text{Text: res.CallID + res.Text}
			}
			want = append(want, p)
		}
		if whole.Text() != want.Text() {
			p.Errorf("%d bytes are kept of %d", len(whole.Text()), len(want.Text()))
		}
	})
	if cut[scrollback.RoleUser] == 0 || cut[scrollback.RoleTool] == 0 {
		t.Errorf("nothing was cut: %v", cut)
	}
}

// Nothing of a message is counted twice on its way in, whether it stays as it is or is cut.
func TestNothingIsCountedTwice(t *testing.T) {
	counts := map[string]int{}
	count := func(text string) int { counts[text]++; return token.Count(text) }
	s, err := store.New(oracle.New(), count, &store.Options{Image: token.ImageTokens})
	if err != nil {
		t.Fatal(err)
	}
	bucket := blob.NewMemory()
	defer bucket.Close()
	in := intake.New(s, archive.New(s, bucket, nil), intake.MessageLimits{})
	c, _, err := s.CreateConversation(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	long := func(word string, n int) scrollback.Text { return scrollback.Text{Text: strings.Repeat(word+" ", n)} }
	admitted, err := in.Admit(t.Context(), c.ID, scrollback.Message{Role: scrollback.RoleUser,
		Parts: scrollback.Parts{long("stays", 600), long("cut", 9000), long("stays too", 300)}}, intake.Room{Budget: 8000},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.ReadHead(t.Context(), c.ID)
	if err == nil {
		_, err = s.AppendMessages(t.Context(), head, []store.IncomingMessage{admitted})
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(admitted.Parts) != 4 || len(counts) < 4 {
		t.Fatalf("%d parts, and %d texts that were counted", len(admitted.Parts), len(counts))
	}
	for text, n := range counts {
		if n > 1 {
			t.Errorf("%.20q… of %d bytes was counted %d times", text, len(text), n)
		}
	}
}

// An imported image that cannot be read costs the picture alone: its bytes are kept as a
// file, and what was said beside it stays.
func TestImportedImageThatCannotBeRead(t *testing.T) {
	s, err := store.New(oracle.New(), token.Count, &store.Options{Image: token.ImageTokens})
	if err != nil {
		t.Fatal(err)
	}
	bucket := blob.NewMemory()
	defer bucket.Close()
	in := intake.New(s, archive.New(s, bucket, nil), intake.MessageLimits{})
	c, _, err := s.CreateConversation(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant} {
		m := scrollback.Message{Role: role, Parts: scrollback.Parts{scrollback.Text{Text: "look"},
			scrollback.Image{MediaType: "image/png", Name: "torn.png"}}}
		got, err := in.Admit(t.Context(), c.ID, m, intake.Room{Budget: 8000}, map[int][]byte{1: []byte("no image at all")})
		if err != nil || len(got.Parts) != 2 || got.Parts.Text() != "look" || len(got.Mentions) != 1 {
			t.Fatalf("%s: %+v, %v", role, got, err)
		}
		if f, ok := got.Parts[1].(scrollback.File); !ok || f.Name != "torn.png" || f.Size != 15 || f.Artifact == "" {
			t.Errorf("%s: %+v", role, got.Parts[1])
		}
	}
}
