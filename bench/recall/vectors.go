package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// standIn stands in for a model of embeddings: the offline model, which also knows the words that were made up for
// questions.
type standIn struct {
	*offline.Model
	known *strings.Replacer
}

// EmbedTexts implements [model.Embedder].
func (m *standIn) EmbedTexts(ctx context.Context, texts []string) (model.Embeddings, error) {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = m.known.Replace(texts[i])
	}
	return m.Model.EmbedTexts(ctx, texts)
}

// madeUp are words that stand in no talk, each for one that does.
type madeUp struct {
	words map[string]string
	runes map[rune]rune
}

// firstMadeUp is the first of the characters that no text has: rare ones, and still Chinese.
const firstMadeUp = '\u3400'

// askingRunes and joining words are left: what they stand for is not what is looked for.
const askingRunes = "的了是我你他她它这那在吗呢么什谁哪里几多少怎为何时候有没不上下个啥嗎麼誰裡"

// reword returns a question without the words that it shares with its evidence, but for names: others that mean the
// same stand in their place.
func (m *madeUp) reword(q question) string {
	held := map[string]bool{}
	for _, s := range q.sentences {
		terms.EachTerm(s, func(t string) bool { held[t] = true; return true })
	}
	evidence := strings.Join(q.sentences, "")
	var out strings.Builder
	word := ""
	flush := func() {
		shared := false
		terms.EachTerm(word, func(t string) bool { shared = shared || held[t]; return true })
		first := []rune(word)
		if shared && !terms.OnlyJoins(word) && (!unicode.IsUpper(first[0]) || out.Len() == 0) {
			if m.words[word] == "" {
				m.words[word] = fmt.Sprintf("qz%dx%s", len(m.words), strings.Repeat("o", len(m.words)%3))
			}
			word = m.words[word]
		}
		out.WriteString(word)
		word = ""
	}
	for _, r := range q.text {
		switch {
		case terms.IsDense(r) && strings.ContainsRune(evidence, r) && !strings.ContainsRune(askingRunes, r):
			flush()
			if m.runes[r] == 0 {
				m.runes[r] = firstMadeUp + rune(len(m.runes))
			}
			out.WriteRune(m.runes[r])
		case !terms.IsDense(r) && unicode.IsLetter(r):
			word += string(r)
		default:
			flush()
			out.WriteRune(r)
		}
	}
	flush()
	return out.String()
}

// replacer returns what turns them back.
func (m *madeUp) replacer() *strings.Replacer {
	var pairs []string
	for was, now := range m.words {
		pairs = append(pairs, now, was)
	}
	for was, now := range m.runes {
		pairs = append(pairs, string(now), string(was))
	}
	return strings.NewReplacer(pairs...)
}

// vectorWays are what is compared: how a question is asked, and whether there are vectors.
var vectorWays = []string{"as asked, by words", "as asked, with vectors", "in other words, by words",
	"in other words, with vectors"}

// compareVectors compares what is found of some sets by words alone and with the vectors of a stand-in: the Markdown of
// a report.
func compareVectors(ctx context.Context, of []set, forms []form) (string, error) {
	var b strings.Builder
	b.WriteString(`
## With vectors

What context_search finds by words alone, and with the vectors of a stand-in for a model of embeddings: hashed words, so
that it knows less of the language than any such model. In other words are the same questions without the words that they
share with their evidence, names left: words that were made up stand for them, which only the stand-in knows. So this
shows what search makes of vectors, and not what a model knows.

| | questions | @5 | @10 | @20 | in 2,000 | in 4,000 |
|---|---|---|---|---|---|---|
`)
	for _, s := range of {
		rows, err := vectorScores(ctx, s, (&run{forms: forms}).formsOf(s))
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		for i, name := range vectorWays {
			fmt.Fprintf(&b, "| %s: %s %s", s.name, name, rows[i].tableRow())
		}
	}
	return b.String(), nil
}

// vectorScores asks the questions of a set in the ways of vectorWays.
func vectorScores(ctx context.Context, s set, forms []form) ([4]score, error) {
	var out [4]score
	kept, stop, err := newStore(ctx)
	if err != nil {
		return out, err
	}
	defer stop()
	made := madeUp{map[string]string{}, map[rune]rune{}}
	var talks []talk
	var plain []product
	var others [][]string
	for _, f := range forms {
		t, err := s.makeTalk(f)
		if err != nil {
			return out, err
		}
		p, err := newProduct(ctx, kept.Store, t)
		if err != nil {
			return out, err
		}
		talks = append(talks, t)
		plain = append(plain, p)
		var reworded []string
		for _, q := range t.questions {
			reworded = append(reworded, made.reword(q))
		}
		others = append(others, reworded)
	}
	m := &standIn{offline.New(nil), made.replacer()}
	e := engine.New(kept.Store, archive.New(kept.Store, blob.NewMemory(), nil), engine.Options{Model: "none",
		Embeddings: "stand-in", Models: func(string) (model.Model, error) { return m, nil }})
	if err := kept.indexAll(ctx); err != nil {
		return out, err
	}
	if _, err := e.FillVectors(ctx); err != nil {
		return out, err
	}
	for i, t := range talks {
		near := product{e.As(scrollback.Operator()), plain[i].id}
		for n, q := range t.questions {
			for at, asked := range []string{q.text, others[i][n]} {
				for with, p := range []product{plain[i], near} {
					a, err := p.find(ctx, asked)
					if err != nil {
						return out, fmt.Errorf("%q: %w", asked, err)
					}
					out[2*at+with].addScore(scoreAnswer(q, a))
				}
			}
		}
	}
	return out, e.Settle(ctx)
}
