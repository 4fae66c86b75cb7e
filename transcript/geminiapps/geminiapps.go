// Package geminiapps reads what Google Takeout hands out of Gemini Apps: MyActivity.json, a list of what was asked.
//
// Words it adds: activity (a prompt with its answer, as Google's list has it).
//
// Invariants: the file does not say which activities belong to one chat, so that each is a conversation; HTML of an
// answer becomes its text.
//
// It may not know the store or the network.
package geminiapps

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name.
const Name = "gemini-apps"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: an export may lie anywhere.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements [transcript.Tool]. Activities of other products are kept in files of the same name.
func (Tool) Sniff(_ string, head []byte) bool {
	seen := transcript.ItemHeadFields(head)
	return seen["header"] && seen["title"] && seen["time"] && strings.Contains(string(head), "Gemini")
}

var format = exported.Format{Depth: 1, Sniff: Tool{}.Sniff, Talk: readTalk}

// Sessions implements [transcript.Tool]: each file is one.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// activity is an item of a file.
type activity struct {
	Header   string   `json:"header"`
	Title    string   `json:"title"`
	Time     string   `json:"time"`
	Products []string `json:"products"`
	Answers  []struct {
		HTML string `json:"html"`
	} `json:"safeHtmlItem"`
	Attached []string `json:"attachedFiles"`
}

// prompted begins the title of a prompt, in English.
const prompted = "Prompted "

// readTalk implements exported.Format.
func readTalk(_ *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var a activity
	if err := exported.DecodeJSON(raw, &a); err != nil {
		return nil, err
	}
	if !strings.Contains(a.Header+strings.Join(a.Products, " "), "Gemini") {
		return nil, exported.ErrOther
	}
	t := &exported.Talk{ID: exported.HashValues(a.Time, a.Title)}
	if len(a.Answers) == 0 && !strings.HasPrefix(a.Title, prompted) {
		return nil, nil //nolint:nilnil // a setting was changed, or a canvas made: nothing is said
	}
	at := exported.ParseMoment(a.Time)
	asked := strings.TrimPrefix(a.Title, prompted)
	t.About = scrollback.Conversation{Title: sessionlog.FirstLine(asked), CreatedAt: at, UpdatedAt: at}
	q := &exported.Pieces{ID: t.ID + "-asked", Role: scrollback.RoleUser, At: at}
	q.AddText(asked)
	for _, name := range a.Attached {
		exported.MentionMissing(q.OwnEntry(), "file", name, exported.NotThere)
	}
	r := &exported.Pieces{ID: t.ID + "-answered", Role: scrollback.RoleAssistant, At: at}
	for _, answer := range a.Answers {
		r.AddText(textOf(answer.HTML))
	}
	t.Nodes = []tree.Node{{ID: "asked", Entries: q.Entries}, {ID: "answered", Parent: "asked", Entries: r.Entries}}
	t.Leaf = "answered"
	return t, nil
}

// breaks are the elements before which a line ends.
var breaks = map[atom.Atom]bool{atom.P: true, atom.Br: true, atom.Li: true, atom.H1: true, atom.H2: true, atom.H3: true,
	atom.H4: true, atom.Pre: true, atom.Tr: true, atom.Div: true, atom.Ul: true, atom.Ol: true, atom.Blockquote: true}

// textOf returns the text of HTML.
func textOf(source string) string {
	var b strings.Builder
	in := html.NewTokenizer(strings.NewReader(source))
	for {
		switch in.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.TextToken:
			b.WriteString(html.UnescapeString(strings.ToValidUTF8(string(in.Raw()), "�")))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := in.TagName()
			tag := atom.Lookup(name)
			if breaks[tag] && b.Len() > 0 {
				b.WriteByte('\n')
			}
			if tag == atom.Li {
				b.WriteString("- ")
			}
		case html.EndTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}
