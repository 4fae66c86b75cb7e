package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/token"
)

var (
	//go:embed texts/hooks.en.txt
	hooksEnglish string
	//go:embed texts/hooks.zh.txt
	hooksChinese string
	// By another author, who knew what is wanted and neither the rule nor the sets above.
	//go:embed texts/hooks.held.en.txt
	hooksHeldEnglish string
	//go:embed texts/hooks.held.zh.txt
	hooksHeldChinese string
	// By a third author; nothing is learned from these.
	//go:embed texts/hooks.last.en.txt
	hooksLastEnglish string
	//go:embed texts/hooks.last.zh.txt
	hooksLastChinese string
	// By a fourth: prompts that name somebody or something; nothing is learned from these either.
	//go:embed texts/hooks.names.en.txt
	hooksNamesEnglish string
	//go:embed texts/hooks.names.zh.txt
	hooksNamesChinese string

	//go:embed texts/hooks.fresh.en.txt
	hooksFreshEnglish string
	//go:embed texts/hooks.fresh.zh.txt
	hooksFreshChinese string
)

// hookTalk is a session that was held in a folder.
type hookTalk struct {
	place string
	said  []said
}

// hookPrompt is a prompt that is given in a folder: one that is answered by evidence (ask), one that only shares
// words with what was said (near), or one that nothing helps with (none).
type hookPrompt struct {
	kind, place, text, evidence string
}

// hookSet are talks and prompts of one language.
type hookSet struct {
	name    string
	talks   []hookTalk
	prompts []hookPrompt
}

// readHookSet reads a set; a line that is none of its forms is an error.
func readHookSet(name, text string) (s hookSet, err error) {
	s.name = name
	for i, line := range strings.Split(text, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "", "#":
		case "@":
			s.talks = append(s.talks, hookTalk{place: rest})
		case ">", "<":
			if len(s.talks) == 0 {
				return s, fmt.Errorf("%s, line %d: before the first talk", name, i+1)
			}
			t := &s.talks[len(s.talks)-1]
			role := "user"
			if mark == "<" {
				role = "assistant"
			}
			t.said = append(t.said, said{role: role, text: rest})
		case "ask", "near", "none":
			f := strings.Split(rest, " | ")
			if len(f) < 2 || (mark == "ask") != (len(f) == 3) {
				return s, fmt.Errorf("%s, line %d: not a place, a prompt and its evidence", name, i+1)
			}
			p := hookPrompt{kind: mark, place: strings.TrimSpace(f[0]), text: strings.TrimSpace(f[1])}
			if mark == "ask" {
				p.evidence = strings.TrimSpace(f[2])
			}
			s.prompts = append(s.prompts, p)
		default:
			return s, fmt.Errorf("%s, line %d: %q begins nothing", name, i+1, mark)
		}
	}
	return s, nil
}

// hookFigures are what became of prompts of a kind.
type hookFigures struct{ asked, spoke, right int }

func (f hookFigures) add(spoke, right bool) hookFigures {
	f.asked++
	if spoke {
		f.spoke++
	}
	if spoke && right {
		f.right++
	}
	return f
}

// hookSets are all sets. What the weights were learned from is measured by what was learned from the other places.
var hookSets = []struct {
	name, text string
	learned    bool
}{
	{"English", hooksEnglish, true},
	{"Chinese", hooksChinese, true},
	{"English, held", hooksHeldEnglish, true},
	{"Chinese, held", hooksHeldChinese, true},
	{"English, last", hooksLastEnglish, false},
	{"Chinese, last", hooksLastChinese, false},
	{"English, names", hooksNamesEnglish, false},
	{"Chinese, names", hooksNamesChinese, false},
	{"English, fresh", hooksFreshEnglish, false},
	{"Chinese, fresh", hooksFreshChinese, false},
}

// measureHooks gives each prompt as the first of a new session and looks what is told. wrong gets a line for each
// that is not answered as it should be, unless it is nil.
func measureHooks(ctx context.Context, w, wrong io.Writer) error {
	lessons, err := readHookLessons(ctx)
	if err != nil {
		return err
	}
	scores := scoreHooks(lessons)
	figures := countHooks(scores, wrong)
	fmt.Fprintf(w, "%-19s %5s %6s %6s\n", "", "asked", "spoke", "right")
	for _, from := range hookSets {
		of := figures[from.name]
		if !from.learned {
			set, err := readHookSet(from.name, from.text)
			if err == nil {
				of, err = set.measure(ctx, wrong)
			}
			if err != nil {
				return err
			}
		}
		for _, kind := range []string{"ask", "near", "none"} {
			f := of[kind]
			fmt.Fprintf(w, "%-13s %-5s %5d %5.1f%%", from.name, kind, f.asked, percent(f.spoke, f.asked))
			if kind == "ask" {
				fmt.Fprintf(w, " %5.1f%%", percent(f.right, f.asked))
			}
			fmt.Fprintln(w)
		}
	}
	writeHookLine(w, scores)
	return nil
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// measure gives each prompt and counts.
func (s hookSet) measure(ctx context.Context, wrong io.Writer) (map[string]hookFigures, error) {
	e, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }() // it lives in memory, and only as long as this
	out := map[string]hookFigures{}
	for _, p := range s.prompts {
		a, err := e.Find(ctx, p.query())
		if err != nil {
			return nil, err
		}
		right := slices.ContainsFunc(a.Found, func(m evidence.Found) bool { return p.isAnswer(m.Text) })
		out[p.kind] = out[p.kind].add(len(a.Found) > 0, right)
		if wrong != nil && right != (p.kind == "ask") {
			fmt.Fprintf(wrong, "%s %s %s: %q %s", s.name, p.kind, p.place, p.text, a.Why)
			p.writeFound(wrong, a.Terms, a.Found)
		}
	}
	return out, nil
}

// isAnswer reports whether a message has what a prompt asks for.
func (p hookPrompt) isAnswer(text string) bool {
	return p.kind == "ask" && strings.Contains(text, p.evidence)
}

// writeFound ends a line of what went wrong with the words that fitted and what was found.
func (p hookPrompt) writeFound(w io.Writer, fitted []string, found []evidence.Found) {
	fmt.Fprint(w, " ", fitted)
	for _, m := range found {
		fmt.Fprintf(w, "\n    %s: %.120q", m.Role, m.Text)
	}
	fmt.Fprintln(w)
}

// open puts the talks into a store of their own.
func (s hookSet) open(ctx context.Context) (*evidence.Store, error) {
	d, err := sqlite.OpenMemory(ctx, &sqlite.Options{})
	if err != nil {
		return nil, err
	}
	st, err := store.New(d, token.Count, &store.Options{})
	if err != nil {
		return nil, err
	}
	at := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	for i, t := range s.talks {
		at = at.Add(31 * time.Hour)
		if err := t.put(ctx, st, d, i, at); err != nil {
			return nil, err
		}
	}
	for i, t := range s.chatter() {
		if err := t.put(ctx, st, d, len(s.talks)+i, at.Add(time.Duration(i)*time.Hour)); err != nil {
			return nil, err
		}
	}
	// The index follows by itself, when it may be too late for the first prompts.
	if err := st.Audit.RebuildIndex(ctx, func(int64, int64) {}); err != nil {
		return nil, err
	}
	return evidence.New(d), nil
}

// query returns what a hook asks for a prompt.
func (p hookPrompt) query() evidence.Query {
	folder := "/work/" + p.place
	return evidence.Query{Prompt: p.text, Place: evidence.Place{Folders: []string{folder},
		Has: func(f string) bool { return f == folder }}}
}

// chatterReplies are what an agent says to the work of any day.
var chatterReplies = map[string][]string{
	"English": {"Done.", "I changed it and ran the tests: all green.", "Here is the diff; the function is shorter now and has a test.",
		"It fails because the import is missing. I added it and the build passes again.", "Updated, and I cleaned up the names on the way."},
	"Chinese": {"好了。", "改好了，测试全部通过。", "这是差异，函数更短了，也加了测试。", "失败是因为少了导入，补上之后构建通过。", "已更新，顺便整理了命名。"},
}

// chatter are sessions of the work of any day: in each place the prompts of the others that nothing helps with, as
// somebody gave them before.
func (s hookSet) chatter() (out []hookTalk) {
	var places []string
	for _, t := range s.talks {
		if !slices.Contains(places, t.place) {
			places = append(places, t.place)
		}
	}
	language, _, _ := strings.Cut(s.name, ",")
	replies := chatterReplies[language]
	for _, place := range places {
		t := hookTalk{place: place}
		n := 0
		for _, p := range s.prompts {
			if p.kind != "none" || p.place == place {
				continue
			}
			t.said = append(t.said, said{role: "user", text: p.text}, said{role: "assistant", text: replies[n%len(replies)]})
			if n++; n%4 == 0 {
				out = append(out, t)
				t = hookTalk{place: place}
			}
		}
		out = append(out, t)
	}
	return out
}

// put stores a talk as an import does.
func (t hookTalk) put(ctx context.Context, s *store.Store, d *driver.Driver, n int, at time.Time) error {
	var begins []store.IncomingMessage
	for i, line := range t.said {
		begins = append(begins, store.IncomingMessage{Message: scrollback.Message{Role: scrollback.Role(line.role),
			Parts: scrollback.Say(line.text), Status: scrollback.StatusComplete,
			CreatedAt: at.Add(time.Duration(i) * time.Minute).UnixMilli()}})
	}
	c, _, err := s.CreateConversation(ctx, scrollback.Conversation{Project: scrollback.DefaultProject,
		CreatedAt: at.UnixMilli()}, begins...)
	if err != nil {
		return err
	}
	return d.Log.PutOrigin(ctx, scrollback.Origin{Conversation: c.ID, Tool: "codex", ID: fmt.Sprint("s", n),
		Folder: "/work/" + t.place}, "")
}
