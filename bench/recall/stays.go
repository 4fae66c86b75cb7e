package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// The conversations in which sentences are to stay: how many stand at the beginning of each, and how many
// turns of small talk follow.
const (
	staysTogether = 10
	staysTurns    = 300
)

// staysAt are the turns after which the request is looked at, beside those after the first and the third
// compaction.
var staysAt = []int{30, 150, 300}

// forgetful is a model whose summaries mention nothing of what was said.
type forgetful struct{}

// forgetfulSummary has every section and no fact.
const forgetfulSummary = "## Goal\n- Talk goes on.\n## Constraints\n- none\n## Knowledge\n- Several things were talked about.\n" +
	"## Artifacts\n- none\n## Files\n- none\n## Recent actions\n- Questions were answered.\n## Tasks\n- none"

// Facts implements model.Model.
func (*forgetful) Facts() model.Facts { return model.Facts{Name: "forgetful", Limit: policyLimit} }

// Stream implements model.Model.
func (*forgetful) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		yield(model.Delta{Text: forgetfulSummary, Finish: scrollback.FinishStop}, nil)
	}
}

// staysWay is who writes summaries, and under which policy.
type staysWay struct {
	name, policy string
	model        model.Model
}

func staysWays() []staysWay {
	return []staysWay{{"no model (segments)", compact.Segments, &listener{}},
		{"a model that forgets (snapshot)", compact.Snapshot, &forgetful{}}}
}

// lastLook is the last of a conversation.
const lastLook = "turn 300"

// staysSum is what comes of what was said in one way: how much of it stands in the request at each look, by kind; the
// tokens of requests and of the kept lines in them; and how many of those lines nobody wants.
type staysSum struct {
	looked, stood map[string]map[string]int // by kind, by look
	whole         map[string]int            // by kind: with every sentence of it, at the last look
	tokens, kept  int64
	lines, idle   int
	requests      int
}

// staysTalk is one conversation: sentences that are to stay, and what is said behind them.
type staysTalk struct {
	sentences []keptCase
	small     []string // of the person
	pages     []string // of the assistant
}

// makeStaysTalks makes the conversations of a file of cases: its traits and instructions that answer no offer, a
// few of one language together, and its small talk behind them, which comes again after a while.
func makeStaysTalks(all []keptCase) ([]staysTalk, error) {
	pages := map[string][]string{}
	for _, lang := range []string{"en", "zh"} {
		t, err := sets[1].makeTalk(form{lang: lang, messages: 600})
		if err != nil {
			return nil, err
		}
		for _, m := range t.said {
			if m.role == string(scrollback.RoleAssistant) && len(m.text) > 200 {
				pages[lang] = append(pages[lang], m.text)
			}
		}
	}
	var out []staysTalk
	sentences := map[string][]keptCase{}
	small := map[string][]string{}
	for _, c := range all {
		lang := c.lang[:2]
		switch {
		case c.kind == "talk" && !strings.Contains(c.text, "TODO"):
			small[lang] = append(small[lang], c.text)
		case c.context == "" && (c.kind == "trait" || c.kind == "instruction"):
			sentences[lang] = append(sentences[lang], c)
		}
	}
	for _, lang := range []string{"en", "zh"} {
		for some := range slices.Chunk(sentences[lang], staysTogether) {
			out = append(out, staysTalk{some, small[lang], pages[lang]})
		}
	}
	return out, nil
}

// hold holds one conversation and looks at its requests.
func (k *staysSum) hold(ctx context.Context, s *store.Store, way staysWay, t staysTalk) error {
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }() // in memory
	eng := engine.New(s, archive.New(s, bucket, nil),
		engine.Options{NoBackgroundFolds: true, Models: func(string) (model.Model, error) { return way.model, nil }})
	e := eng.As(scrollback.Operator())
	defer func() { _ = eng.Close(ctx) }() // it runs nothing
	c, _, err := e.Create(ctx, scrollback.Conversation{Policy: way.policy})
	if err != nil {
		return err
	}
	head, err := s.ReadHead(ctx, c.ID)
	if err != nil {
		return err
	}
	compactions := 0
	for turn := 1 - len(t.sentences); turn <= staysTurns; turn++ {
		text := t.small[(turn+len(t.sentences))*7%len(t.small)]
		if turn <= 0 {
			text = t.sentences[-turn].text
		}
		in := []store.IncomingMessage{
			{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: text}}}},
			{Message: scrollback.Message{Role: scrollback.RoleAssistant,
				Parts: scrollback.Parts{scrollback.Text{Text: t.pages[(turn+staysTogether)%len(t.pages)]}}}}}
		if _, err := s.AppendMessages(ctx, head, in); err != nil {
			return err
		}
		if head, err = s.ReadHead(ctx, c.ID); err != nil {
			return err
		}
		if turn%3 != 0 { // a look at whether one is due costs most of a turn
			continue
		}
		receipt, err := e.Compact(ctx, c.ID, engine.CompactRequest{})
		if err != nil {
			return err
		}
		if head, err = s.ReadHead(ctx, c.ID); err != nil {
			return err
		}
		var looks []string
		if receipt.Result == scrollback.ResultCompacted {
			if compactions++; compactions == 1 || compactions == 3 {
				looks = append(looks, fmt.Sprintf("compaction %d", compactions))
			}
		}
		if slices.Contains(staysAt, turn) {
			looks = append(looks, fmt.Sprintf("turn %d", turn))
		}
		if len(looks) > 0 {
			if err := k.look(ctx, e, c.ID, t, looks); err != nil {
				return err
			}
		}
	}
	return nil
}

// look counts what stands in the next request.
func (k *staysSum) look(ctx context.Context, e *engine.View, id scrollback.ConversationID, t staysTalk,
	looks []string) error {
	m, err := e.Context(ctx, id, engine.ContextRequest{Content: true})
	if err != nil {
		return err
	}
	var shown strings.Builder
	for _, it := range m.Items {
		shown.WriteString(it.Parts.Text() + "\n")
	}
	entries, err := e.Kept().List(ctx, id, false)
	if err != nil {
		return err
	}
	window := strings.Join(strings.Fields(shown.String()), " ")
	for _, c := range t.sentences {
		whole := strings.Contains(window, strings.Join(strings.Fields(c.text), " "))
		stands := whole || slices.ContainsFunc(entries, func(entry scrollback.Kept) bool {
			return strings.Contains(c.text, entry.Text) && strings.Contains(window, entry.Text)
		})
		if whole && slices.Contains(looks, lastLook) {
			k.whole[c.kind]++
		}
		for _, look := range looks {
			if k.looked[c.kind] == nil {
				k.looked[c.kind] = map[string]int{}
				k.stood[c.kind] = map[string]int{}
			}
			k.looked[c.kind][look]++
			if stands {
				k.stood[c.kind][look]++
			}
		}
	}
	k.requests++
	k.tokens += m.Tokens
	for _, entry := range entries {
		if !strings.Contains(window, ": "+entry.Text) { // not among the lines that are carried
			continue
		}
		k.lines++
		k.kept += int64(token.Count("- #100 user: " + entry.Text + "\n"))
		if !slices.ContainsFunc(t.sentences, func(c keptCase) bool { return strings.Contains(c.text, entry.Text) }) {
			k.idle++
		}
	}
	return nil
}

// staysReport measures each way with the sentences that are held out, and returns its table.
func staysReport(ctx context.Context, say func(string)) (string, error) {
	all, err := readHeld()
	if err != nil {
		return "", err
	}
	talks, err := makeStaysTalks(all)
	if err != nil {
		return "", err
	}
	kept, stop, err := newStore(ctx)
	if err != nil {
		return "", err
	}
	defer stop()
	looks := []string{"compaction 1", "compaction 3", "turn 30", "turn 150", lastLook}
	var b strings.Builder
	fmt.Fprintf(&b, `
## Does it stay?

The traits and instructions of the sentences that are held out, %d at the beginning of a conversation, and behind them %d
turns of the small talk of the same file, each with a page of an assistant, in a window of %d tokens. In percent, of how many
the sentence that says it stands word for word in the next request; whole is with each sentence beside it, at turn 300.
Crossed out are lines among those that are carried that are small talk.

| | | of | `, staysTogether, staysTurns, policyLimit)
	b.WriteString(strings.Join(looks, " | ") + " | whole | tokens of a request | of them kept | crossed out |\n|---|---|---|" +
		strings.Repeat("---|", len(looks)+4) + "\n")
	for _, way := range staysWays() {
		say(way.name)
		sum := &staysSum{looked: map[string]map[string]int{}, stood: map[string]map[string]int{}, whole: map[string]int{}}
		for _, t := range talks {
			if err := sum.hold(ctx, kept.Store, way, t); err != nil {
				return "", err
			}
		}
		for _, kind := range []string{"trait", "instruction"} {
			fmt.Fprintf(&b, "| %s | %s | %d |", way.name, kind, sum.looked[kind]["turn 30"])
			for _, look := range looks {
				fmt.Fprintf(&b, " %.1f |", 100*float64(sum.stood[kind][look])/float64(max(1, sum.looked[kind][look])))
			}
			fmt.Fprintf(&b, " %.1f | %d | %d | %.0f |\n",
				100*float64(sum.whole[kind])/float64(max(1, sum.looked[kind][lastLook])), sum.tokens/int64(sum.requests),
				sum.kept/int64(sum.requests),
				100*float64(sum.idle)/float64(max(1, sum.lines)))
		}
	}
	return b.String(), nil
}
